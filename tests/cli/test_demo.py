"""The demonstration, in its quick form: what it prints, what it draws, and that the numbers are true."""

import struct
import sys

import numpy as np
import pytest
from click.testing import CliRunner

from netbo import FiniteElementSpace, Optimizer, open_rectangle
from netbo.cli import main
from netbo.optimize import EuclideanMatern, Learned
from netbo.optimize.presets import STEADY
from netbo.problems import ACKLEY, Placement, open_rectangle_benchmark

RECTANGLES = ["Rectangle, gap end", "Rectangle, inside"]
NEW_YORK = "New York, hidden source"
PRIORS = ["network", "straight line", "none (random)"]
SEED = 3


def png_size(path):
    """Width and height in pixels, from the header."""
    head = path.read_bytes()[:24]
    assert head[:8] == b"\x89PNG\r\n\x1a\n"
    return struct.unpack(">II", head[16:24])


def rows_of(output, problems):
    """Regret, found and needed of every row of the table, by problem and prior."""
    found = {}
    for line in output.splitlines():
        for problem in problems:
            for prior in PRIORS:
                head, _, rest = line.partition(f" {problem} ")
                if not head.strip() and rest.strip().startswith(prior):
                    regret, *hits, needed = rest.strip().removeprefix(prior).split()
                    found[problem, prior] = (regret, " ".join(hits).rstrip("> "), needed)
    return found


@pytest.fixture(scope="module")
def quick(tmp_path_factory):
    pytest.importorskip("topohub")
    out = tmp_path_factory.mktemp("demo") / "new" / "folder"
    return CliRunner().invoke(main, ["demo", "--quick", "--seed", str(SEED), "--out", str(out)]), out


def test_every_problem_and_prior_has_its_row(quick):
    shown, _ = quick
    rows = rows_of(shown.stdout, [*RECTANGLES, NEW_YORK])

    assert shown.exit_code == 0, shown.stderr
    assert set(rows) == {(problem, prior) for problem in [*RECTANGLES, NEW_YORK] for prior in PRIORS}
    assert {hits for _, hits, _ in rows.values()} <= {"0 of 1", "1 of 1"}
    assert "1 repetition, seed 3, of 12 measurements" in " ".join(shown.stdout.split())


def test_what_is_piped_is_plain_text_of_80_columns(quick):
    shown, out = quick
    lines = [line for line in shown.stdout.splitlines() if str(out) not in line]

    assert "\x1b" not in shown.output
    assert max(map(len, lines)) <= 80
    assert "…" not in shown.stdout  # nothing was cut off


def test_three_pictures_of_readable_size_are_written(quick):
    shown, out = quick

    assert {path.name for path in out.iterdir()} == {
        "demo_newyork.png",
        "demo_rectangle.png",
        "demo_regret.png",
    }
    for path in out.iterdir():
        assert min(png_size(path)) >= 350
        assert 10_000 < path.stat().st_size < 300_000
        assert f"picture: {path}" in shown.stdout


@pytest.mark.parametrize("problem", RECTANGLES)
def test_a_row_tells_what_the_same_search_by_hand_finds(quick, problem):
    """The straight-line prior, with the loop of the README instead of ours."""
    placement = {"Rectangle, gap end": Placement.GAP_END, "Rectangle, inside": Placement.INTERIOR}[problem]
    space = FiniteElementSpace.build(open_rectangle(), max_cell=1.0)
    objective = open_rectangle_benchmark(ACKLEY, placement, space=space)
    fit = Learned(models=(EuclideanMatern(nu=1.5),), beliefs=STEADY)
    optimizer = Optimizer(space, preset="calibrated", fit=fit, noise=0.05**2, seed=SEED)
    rng, best, needed = np.random.default_rng(SEED), np.inf, np.inf
    for count in range(1, 13):
        suggestion = optimizer.ask()
        optimizer.tell(suggestion, objective(suggestion.point) + 0.05 * rng.standard_normal())
        best = min(best, -objective(suggestion.point))
        needed = min(needed, count if best <= 0.01 else np.inf)
    regret, hits, printed = rows_of(quick[0].stdout, RECTANGLES)[problem, "straight line"]

    assert regret == f"{best:.3f}"
    assert hits == ("1 of 1" if needed < np.inf else "0 of 1")
    assert printed == (f"{needed}" if needed < np.inf else "12")  # "> 12"
    assert f"{int(needed <= 8)} of 1 ({problem})" in " ".join(quick[0].stdout.split())  # by the design alone


def test_without_topohub_the_rectangle_is_searched_and_the_extra_named(tmp_path, monkeypatch):
    monkeypatch.setitem(sys.modules, "topohub", None)
    shown = CliRunner().invoke(main, ["demo", "--quick", "--out", str(tmp_path)])
    (line,) = [line for line in shown.stdout.splitlines() if line.startswith("without New York")]

    assert shown.exit_code == 0, shown.stderr
    assert "pip install 'topohub>=" in line
    assert len(rows_of(shown.stdout, [*RECTANGLES, NEW_YORK])) == 6
    assert {path.name for path in tmp_path.iterdir()} == {"demo_rectangle.png", "demo_regret.png"}


def test_a_folder_that_cannot_be_made_is_refused_before_any_work(tmp_path):
    (tmp_path / "file").touch()
    shown = CliRunner().invoke(main, ["demo", "--out", str(tmp_path / "file")])

    assert shown.exit_code == 2
    assert shown.stderr.startswith("error: --out must be a folder that can be written to, got ")
    assert shown.stdout == ""
