"""What is said of the package in several places is the same everywhere, and holds on an index."""

import re
import tomllib
from pathlib import Path

import pytest

import netbo

ROOT = Path(__file__).parents[2]
PYPROJECT = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))
ADDRESS = PYPROJECT["project"]["urls"]["Homepage"]
CITATION = (ROOT / "CITATION.cff").read_text(encoding="utf-8")


def readme_of_an_index():
    """The README as the build writes it into the package."""
    text = (ROOT / "README.md").read_text(encoding="utf-8")
    for each in PYPROJECT["tool"]["hatch"]["metadata"]["hooks"]["fancy-pypi-readme"]["substitutions"]:
        text = re.sub(each["pattern"], each["replacement"], text)
    return text


def test_the_version_is_the_same_everywhere():
    assert PYPROJECT["project"]["version"] == netbo.__version__
    assert f"\nversion: {netbo.__version__}\n" in CITATION


def test_the_paper_is_linked_from_readme_citation_and_metadata():
    paper = "https://arxiv.org/abs/2510.27643"

    assert paper in (ROOT / "README.md").read_text(encoding="utf-8")
    assert paper in CITATION
    assert PYPROJECT["project"]["urls"]["Paper"] == paper


def test_the_future_address_stands_in_two_files_and_is_the_same_in_both():
    """Releasing replaces one text: pages and programs must not repeat it."""
    urls = [url for name, url in PYPROJECT["project"]["urls"].items() if name != "Paper"]
    folders = ("src", "docs", "examples", "tools", "benchmarks")
    texts = [path for folder in folders for path in (ROOT / folder).rglob("*.[mp][dy]")]
    texts += [ROOT / "README.md", ROOT / "CHANGELOG.md"]

    assert all(url.startswith(ADDRESS) for url in urls)
    assert f'url: "{ADDRESS}"' in CITATION
    assert not [path for path in texts if ADDRESS in path.read_text(encoding="utf-8")]


def test_links_and_pictures_of_the_readme_hold_on_an_index():
    """All are absolute, and those to the site are pages and pictures that it has."""
    targets = re.findall(r"\]\(([^)]+)\)", readme_of_an_index())
    ours = [target.removeprefix(ADDRESS) for target in targets if target.startswith(ADDRESS)]

    assert all(target.startswith("https://") for target in targets)
    assert any(target.startswith("/_static/") for target in ours)
    for target in ours:
        folder, _, rest = target.removeprefix("/").partition("/")
        made_from = {"_static": f"docs/pictures/{rest}", "source": rest}
        assert (ROOT / made_from.get(folder, f"docs{target}".replace(".html", ".md"))).exists(), target


@pytest.mark.parametrize("name", ["src", "tests", "docs", "examples", "CHANGELOG.md", "LICENSE"])
def test_the_source_distribution_has_what_a_packager_needs(name):
    assert f"/{name}" in PYPROJECT["tool"]["hatch"]["build"]["targets"]["sdist"]["include"]
    assert (ROOT / name).exists()
