"""The guide to pictures prints what it shows."""

import doctest
import re
from pathlib import Path

import matplotlib as mpl
import matplotlib.pyplot as plt

from printed_pages import UpToLastDigits

PAGE = Path(__file__).parents[2] / "docs" / "guides" / "pictures.md"

mpl.use("Agg")


def test_the_guide_to_pictures_prints_what_it_shows():
    blocks = re.findall(r"^```pycon\n(.*?)^```", PAGE.read_text(encoding="utf-8"), re.MULTILINE | re.DOTALL)
    page = doctest.DocTestParser().get_doctest("\n".join(blocks), {}, PAGE.name, str(PAGE), 0)
    outcome = doctest.DocTestRunner(UpToLastDigits(), verbose=False).run(page)
    plt.close("all")

    assert outcome.attempted >= 30
    assert outcome.failed == 0
