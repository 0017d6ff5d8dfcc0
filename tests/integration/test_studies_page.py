"""docs/studies.md prints what it shows, and leads somewhere."""

import doctest
import re
from pathlib import Path

import optuna

from support.printed_pages import UpToLastDigits

ROOT = Path(__file__).parents[2]
PAGE = ROOT / "docs" / "studies.md"


def test_the_page_prints_what_it_shows(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    verbosity = optuna.logging.get_verbosity()
    text = PAGE.read_text(encoding="utf-8")
    blocks = re.findall(r"^```pycon\n(.*?)^```", text, re.MULTILINE | re.DOTALL)
    examples = doctest.DocTestParser().get_doctest("\n".join(blocks), {}, PAGE.name, str(PAGE), 0)
    runner = doctest.DocTestRunner(UpToLastDigits(), verbose=False, optionflags=doctest.ELLIPSIS)
    outcome = runner.run(examples)
    optuna.logging.set_verbosity(verbosity)

    assert outcome.attempted >= 30
    assert outcome.failed == 0


def test_links_and_programs_of_the_page_exist():
    text = PAGE.read_text(encoding="utf-8")

    for target in re.findall(r"\]\(([^)#]+)\)", text):
        assert (PAGE.parent / target).exists(), target
    for path in re.findall(r"`((?:tests|benchmarks|docs)/[\w/.-]+)`", text):
        assert (ROOT / path).exists(), path
