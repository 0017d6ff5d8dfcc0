"""`netbo compare`: who wins on which problems, from the shell."""

import pandas as pd
import pytest
from click.testing import CliRunner

from netbo.cli import main
from netbo.cli.compare import problems_of
from netbo.problems import SUITE


def invoke(*arguments):
    return CliRunner().invoke(main, ["compare", *map(str, arguments)])


def test_two_methods_on_one_problem(tmp_path):
    problem = ["--problem", "road-50/queues", "--reps", 2, "--budget", 10]
    shown = invoke("random", "max-variance", *problem, "--out", tmp_path)

    assert shown.exit_code == 0, shown.output
    assert {line.split()[0] for line in shown.stdout.splitlines()[1:3]} == {"random", "max-variance"}
    assert len(pd.read_parquet(tmp_path / "table.parquet")) == 2 * 2 * 10
    assert len(pd.read_parquet(tmp_path / "answers.parquet")) == 2 * 2
    assert (tmp_path / "leaderboard.png").read_bytes().startswith(b"\x89PNG")


def test_a_method_of_ones_own_is_a_function_that_makes_it(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    (tmp_path / "own_way.py").write_text(
        "import netbo\n"
        "def spread(problem, seed):\n"
        "    return netbo.Optimizer(problem.graph, seed=seed, acquisition='max-variance')\n"
    )
    shown = invoke("own_way:spread", "--problem", "wheel/jumps", "--reps", 1, "--budget", 9, "--out", "out")

    assert shown.exit_code == 0, shown.output
    assert "own_way:spread" in shown.stdout


def test_locked_problems_take_part_only_when_they_are_named():
    locked = next(each for each in SUITE if each.is_locked)

    assert not any(each.is_locked for each in problems_of((), locked=False))
    assert problems_of((locked.name,), locked=False) == [locked]
    assert len(problems_of((), locked=True)) == len(SUITE)


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (["guess"], "METHOD must be default, calibrated, paper"),
        (["nothing:here"], "METHOD must name a module that can be imported"),
        (["random", "--problem", "moon/*"], "--problem must fit a problem of the suite, got moon"),
    ],
)
def test_what_is_unknown_is_refused(arguments, message, tmp_path):
    shown = invoke(*arguments, "--out", tmp_path)

    assert shown.exit_code == 2
    assert message in shown.stderr
