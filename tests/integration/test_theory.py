"""The pages of docs/theory: what they print, where their links lead, and the length of the examples."""

import doctest
import re
from pathlib import Path

import pytest

from support.printed_pages import UpToLastDigits

THEORY = Path(__file__).parents[2] / "docs" / "theory"
EXAMPLES = {"corrections.md": 30, "widths.md": 8, "conversion.md": 20, "your-own.md": 20}


def examples(name):
    """The doctest of a page: all its blocks, in order."""
    page = THEORY / name
    blocks = re.findall(r"^```pycon\n(.*?)^```", page.read_text(encoding="utf-8"), re.MULTILINE | re.DOTALL)
    return doctest.DocTestParser().get_doctest("\n".join(blocks), {}, name, str(page), 0)


@pytest.mark.parametrize("name", EXAMPLES)
def test_the_pages_of_the_theory_print_what_they_show(name):
    runner = doctest.DocTestRunner(UpToLastDigits(), verbose=False, optionflags=doctest.ELLIPSIS)
    outcome = runner.run(examples(name))

    assert outcome.attempted >= EXAMPLES[name]
    assert outcome.failed == 0


@pytest.mark.parametrize("page", sorted(THEORY.glob("*.md")), ids=lambda page: page.name)
def test_links_of_the_theory_lead_somewhere(page):
    targets = re.findall(r"\]\(([^)#]+)\)", page.read_text(encoding="utf-8"))

    for target in targets:
        assert (page.parent / target).exists(), target


def test_the_index_names_every_page():
    index = (THEORY / "README.md").read_text(encoding="utf-8")

    for page in THEORY.glob("*.md"):
        assert page.name == "README.md" or f"({page.name})" in index, page.name


@pytest.mark.parametrize("page", sorted(THEORY.glob("*.md")), ids=lambda page: page.name)
def test_tests_and_benchmarks_named_in_the_theory_exist(page):
    """A figure in the documentation has the program that makes it."""
    named = re.findall(r"`((?:tests|benchmarks|docs)/[\w/.-]+)`", page.read_text(encoding="utf-8"))

    for path in named:
        assert (THEORY.parents[1] / path).exists(), path


def test_a_kernel_and_an_acquisition_of_ones_own_take_twenty_lines_each():
    classes = [e for e in examples("your-own.md").examples if re.search(r"^class ", e.source, re.MULTILINE)]
    lengths = [len([line for line in e.source.splitlines() if line.strip()]) for e in classes]

    assert len(classes) == 2
    assert max(lengths) <= 20
