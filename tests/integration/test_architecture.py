"""The map of the house is the house: docs/architecture.md against the tree."""

import re
from collections import Counter
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[2]
SOURCE = ROOT / "src" / "netbo"
PAGE = (ROOT / "docs" / "architecture.md").read_text(encoding="utf-8")


def modules_on_the_page():
    """Dotted names below netbo, as the sections of "Modules" list them."""
    text = PAGE.partition("## Modules")[2].partition("## Five walks")[0]
    for section in text.split("\n### ")[1:]:
        package, _, body = section.partition("\n")
        for name in re.findall(r"`([a-z_.]+)`", body):
            yield f"{package}.{name}"


def modules_in_the_tree():
    for path in SOURCE.rglob("*.py"):
        if path.name not in ("__init__.py", "__main__.py"):
            yield ".".join(("netbo", *path.relative_to(SOURCE).with_suffix("").parts))


def test_every_module_stands_on_the_page_once():
    assert Counter(modules_on_the_page()) == Counter(modules_in_the_tree())


def test_every_package_is_a_layer():
    layers = PAGE.partition("## Layers")[2].partition("## Modules")[0]
    named = set(re.findall(r"`([a-z]+)`", layers))

    assert {path.name for path in SOURCE.iterdir() if (path / "__init__.py").exists()} <= named


@pytest.mark.parametrize("path", sorted(set(re.findall(r"`([a-z_]+/[a-z_/]+\.py)`", PAGE))))
def test_every_file_of_a_walk_exists(path):
    assert (SOURCE / path).exists()


def test_no_word_of_the_glossary_stands_twice():
    glossary = (ROOT / "docs" / "glossary.md").read_text(encoding="utf-8")
    rows = re.findall(r"(?m)^\| ([^|]+) \| ", glossary)

    assert len(rows) > 20
    assert max(Counter(rows).values()) == 1


def test_no_module_is_named_by_an_activity():
    """A noun a file; terms of art may end in -ing."""
    terms = {"fitting", "noding", "plotting", "learning", "stopping", "ordering", "testing", "wording"}
    named = {part for module in modules_in_the_tree() for part in module.split(".") if part.endswith("ing")}

    assert named <= terms
