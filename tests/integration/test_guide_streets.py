"""docs/guides/streets.md: what it prints, and where it leads."""

import doctest
import re
from pathlib import Path

import pytest

from printed_pages import UpToLastDigits

ROOT = Path(__file__).parents[2]
PAGE = ROOT / "docs" / "guides" / "streets.md"


def test_the_guide_to_streets_prints_what_it_shows(tmp_path, monkeypatch):
    """Its files are written to the folder in which it runs."""
    monkeypatch.chdir(tmp_path)
    blocks = re.findall(r"^```pycon\n(.*?)^```", PAGE.read_text(encoding="utf-8"), re.MULTILINE | re.DOTALL)
    page = doctest.DocTestParser().get_doctest("\n".join(blocks), {}, PAGE.name, str(PAGE), 0)
    outcome = doctest.DocTestRunner(UpToLastDigits(), verbose=False, optionflags=doctest.ELLIPSIS).run(page)

    assert outcome.attempted >= 35
    assert outcome.failed == 0


@pytest.mark.parametrize("path", re.findall(r"`(examples/[\w.]+)`", PAGE.read_text(encoding="utf-8")))
def test_examples_named_in_the_guide_exist(path):
    assert (ROOT / path).exists()
