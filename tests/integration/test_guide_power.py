"""docs/guides/power.md: what it prints, and where it leads."""

import doctest
import re
from pathlib import Path

import pytest

from printed_pages import UpToLastDigits

ROOT = Path(__file__).parents[2]
PAGE = ROOT / "docs" / "guides" / "power.md"


@pytest.mark.filterwarnings(
    "ignore:tap_dependency_table is missing:DeprecationWarning"
)  # the stored net is old
def test_the_guide_to_power_prints_what_it_shows():
    blocks = re.findall(r"^```pycon\n(.*?)^```", PAGE.read_text(encoding="utf-8"), re.MULTILINE | re.DOTALL)
    page = doctest.DocTestParser().get_doctest("\n".join(blocks), {}, PAGE.name, str(PAGE), 0)
    outcome = doctest.DocTestRunner(UpToLastDigits(), verbose=False, optionflags=doctest.ELLIPSIS).run(page)

    assert outcome.attempted >= 20
    assert outcome.failed == 0


@pytest.mark.parametrize("path", re.findall(r"`(examples/[\w.]+)`", PAGE.read_text(encoding="utf-8")))
def test_examples_named_in_the_guide_exist(path):
    assert (ROOT / path).exists()
