import doctest
import re
import runpy
from pathlib import Path

import matplotlib
import matplotlib.pyplot as plt
import pytest

from support.printed_pages import UpToLastDigits

matplotlib.use("Agg")

ROOT = Path(__file__).parents[2]


def blocks(page, language):
    """Fenced blocks of one language."""
    text = page.read_text(encoding="utf-8")
    return re.findall(rf"^```{language}\n(.*?)^```", text, re.MULTILINE | re.DOTALL)


@pytest.mark.parametrize("page", ["README.md", "docs/index.md"])
def test_the_ten_lines_run(page, capsys):
    (example,) = blocks(ROOT / page, "python")
    exec(compile(example, page, "exec"), {})

    printed = capsys.readouterr().out
    place = re.search(r"recommend  edge 'west', ([\d.]+) km: ([\d.]+) ", printed)

    assert float(place[1]) == pytest.approx(3.2, abs=0.01)  # where the example puts the maximum, 60
    assert float(place[2]) == pytest.approx(60.0, abs=0.05)
    assert re.search(r"% of the probability of the maximum on [\d.]+ of 12 km", printed)


@pytest.mark.slow
def test_the_example_of_the_page_on_comparisons_runs(capsys):
    example = "\n".join(blocks(ROOT / "docs" / "compare.md", "python"))
    exec(compile(example, "compare.md", "exec"), {})
    plt.close("all")

    assert re.search(r"default +\d\.\d+ +\d\.\d+", capsys.readouterr().out)


@pytest.mark.parametrize("name", ["model.md", "optimizer.md"])
def test_the_pages_print_what_they_show(name):
    page = ROOT / "docs" / name
    text = "\n".join(blocks(page, "pycon"))
    examples = doctest.DocTestParser().get_doctest(text, {}, page.name, str(page), 0)
    outcome = doctest.DocTestRunner(UpToLastDigits(), verbose=False).run(examples)
    plt.close("all")

    assert outcome.attempted > 10
    assert outcome.failed == 0


def test_decimals_of_a_page_are_compared_up_to_their_last_digits():
    check = UpToLastDigits().check_output

    assert check("sd 0.5012 at 3 km\n", "sd 0.5013 at 3 km\n", 0)
    assert not check("sd 0.5012 at 3 km\n", "sd 0.51 at 3 km\n", 0)
    assert not check("sd 0.5012 at 3 km\n", "sd 0.5012 at 4 km\n", 0)


BOARD = pytest.param("leaderboard.md", marks=pytest.mark.slow)


@pytest.mark.parametrize("name", ["optimizer.md", BOARD, "benchmarks.md", "results.md", "page.md"])
def test_the_tables_of_a_page_are_those_of_the_records(name, monkeypatch):
    """If a record is made anew: python benchmarks/tables.py --write."""
    monkeypatch.syspath_prepend(str(ROOT / "benchmarks"))
    tables = runpy.run_path(str(ROOT / "benchmarks" / "tables.py"))
    page = (ROOT / "docs" / name).read_text(encoding="utf-8")

    assert tables["MARKED"].search(page)
    assert tables["filled"](page) == page


@pytest.mark.parametrize(
    "page",
    [
        "README.md",
        "docs/compare.md",
        "docs/demo.md",
        "docs/model.md",
        "docs/notation.md",
        "docs/optimizer.md",
        "docs/leaderboard.md",
        "docs/benchmarks.md",
        "docs/results.md",
        "docs/studies.md",
        "docs/botorch.md",
        "CHANGELOG.md",
    ],
)
def test_links_of_the_pages_lead_somewhere(page):
    path = ROOT / page
    targets = re.findall(r"\]\((?!https:)([^)#]+)\)", path.read_text(encoding="utf-8"))

    for target in targets:
        assert (path.parent / target).exists(), target


@pytest.mark.parametrize(
    "page", sorted((ROOT / "docs" / "results").glob("*/report.md")), ids=lambda page: page.parent.name
)
def test_figures_of_the_published_reports_are_there(page):
    targets = re.findall(r"\]\(([^)#]+)\)", page.read_text(encoding="utf-8"))

    assert targets
    for target in targets:
        assert (page.parent / target).exists(), target


def test_changelog_fragments_are_named_and_short():
    fragments = [path for path in (ROOT / "changelog.d").iterdir() if path.name != "README.md"]

    for fragment in fragments:
        assert re.fullmatch(r"[a-z0-9-]+\.(added|changed|fixed|removed)\.md", fragment.name)
        assert 0 < len(fragment.read_text(encoding="utf-8").strip().splitlines()) <= 2
