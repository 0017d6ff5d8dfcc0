"""The pages of docs/guides: what they print, where their links lead, and which programs they name."""

import doctest
import re
from pathlib import Path

import matplotlib as mpl
import matplotlib.pyplot as plt
import pytest

from support.printed_pages import UpToLastDigits

ROOT = Path(__file__).parents[2]
GUIDES = ROOT / "docs" / "guides"
EXAMPLES = {  # at least so many statements
    "streets.md": 35,
    "water.md": 20,
    "power.md": 20,
    "pictures.md": 30,
    "your-own-function.md": 12,
    "your-own-measurements.md": 12,
}
SHELL = {"studies-shell.md"}  # run by tests/cli/test_study.py


@pytest.mark.filterwarnings("ignore:tap_dependency_table is missing:DeprecationWarning")  # an old stored net
@pytest.mark.filterwarnings("ignore::netbo.errors.NetworkWarning")  # the pages print what they need of it
@pytest.mark.parametrize("name", EXAMPLES)
def test_a_guide_prints_what_it_shows(name, tmp_path, monkeypatch):
    """Its files are written to the folder in which it runs."""
    monkeypatch.chdir(tmp_path)
    mpl.use("agg")
    page = GUIDES / name
    blocks = re.findall(r"^```pycon\n(.*?)^```", page.read_text(encoding="utf-8"), re.MULTILINE | re.DOTALL)
    examples = doctest.DocTestParser().get_doctest("\n".join(blocks), {}, name, str(page), 0)
    runner = doctest.DocTestRunner(UpToLastDigits(), verbose=False, optionflags=doctest.ELLIPSIS)
    outcome = runner.run(examples)
    plt.close("all")

    assert outcome.attempted >= EXAMPLES[name]
    assert outcome.failed == 0


def test_every_guide_is_run_and_listed():
    index = (GUIDES / "README.md").read_text(encoding="utf-8")
    pages = {page.name for page in GUIDES.glob("*.md")} - {"README.md"}

    assert pages == EXAMPLES.keys() | SHELL
    for name in sorted(pages):
        assert f"({name})" in index


@pytest.mark.parametrize("page", sorted(GUIDES.glob("*.md")), ids=lambda page: page.name)
def test_links_and_programs_of_a_guide_exist(page):
    text = page.read_text(encoding="utf-8")

    for target in re.findall(r"\]\(([^)#]+)\)", text):
        assert (page.parent / target).exists(), target
    for path in re.findall(r"`((?:examples|tests|benchmarks|docs)/[\w/.-]+)`", text):
        assert (ROOT / path).exists(), path
