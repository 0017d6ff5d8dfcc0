"""Methods compared on problems: pairs, ranks, significance, runs that are kept."""

import inspect
from dataclasses import replace

import matplotlib.pyplot as plt
import numpy as np
import pandas as pd
import pytest

import netbo
from netbo.experiments import Comparison, compare
from netbo.experiments.cell import COLUMNS, NO_LABEL
from netbo.experiments.searcher import Pairing, answers_of, share_better
from netbo.problems import suite_problem

PROBLEM = "road-50/narrow-bump"


class Sure:
    """Asks for the maximizer at once, or never."""

    def __init__(self, problem, *, knows):
        graph = problem.graph
        self.points = (
            problem.maximizers if knows else netbo.Points(np.array([0]), np.array([0.0]), graph=graph)
        )
        self.told = []

    def ask(self):
        return self.points[0]

    def tell(self, suggestion, value):
        self.told.append((suggestion, value))


def oracle(problem, seed):
    return Sure(problem, knows=True)


def fool(problem, seed):
    return Sure(problem, knows=False)


def table_of(needed, *, budget=60):
    """Runs that arrive after so many evaluations (None: never): {(problem, method): [one a seed]}."""
    rows = []
    for (problem, method), each in needed.items():
        for seed, arrival in enumerate(each):
            for query in range(budget):
                found = arrival is not None and query + 1 >= arrival
                labels = {"cell": f"{problem} {method}", "problem": problem, "method": method, "seed": seed}
                places = {"query": query, "iteration": query + 1, "is_design": False}
                rows.append({**NO_LABEL, **labels, **places, "regret": 0.0 if found else 0.5})
    return pd.DataFrame(rows, columns=list(COLUMNS))


def comparison_of(needed, budget=60):
    return Comparison(table_of(needed, budget=budget), pd.DataFrame(), budget)


def test_who_knows_the_maximum_wins():
    found = compare({"fool": fool, "oracle": oracle}, [PROBLEM], repetitions=2, budget=4)
    board = found.leaderboard().set_index("method")

    assert board.loc["oracle", ["reached", "evaluations", "rank"]].tolist() == [1.0, 1.0, 1.0]
    assert board.loc["fool", ["reached", "evaluations", "rank"]].tolist() == pytest.approx([0.0, 8.0, 2.0])


def test_methods_share_measurement_errors_and_the_first_places_if_wanted():
    ways = {"random": {"acquisition": "random"}, "fool": fool}
    found = compare(ways, ["river/plume"], repetitions=1, budget=5, shared=3)
    first, second = (rows for _, rows in found.table.groupby("method", sort=False))

    assert first["distance"].tolist()[:3] == second["distance"].tolist()[:3]
    np.testing.assert_allclose(
        (first["measured"] - first["value"]).to_numpy(), (second["measured"] - second["value"]).to_numpy(),
        atol=1e-12,
    )  # fmt: skip


def test_unknown_noise_is_not_told():
    hidden, known = suite_problem("wheel/levy"), suite_problem("river/plume")
    told = [Pairing("default", {}, entry, 1)._start(0).noise for entry in (hidden, known)]

    assert told == [None, known.build().noise]


def test_runs_that_are_there_are_not_made_again(tmp_path):
    compare({"oracle": oracle}, [PROBLEM], repetitions=2, budget=3, out=tmp_path)
    parts = sorted(tmp_path.rglob("parts/**/*.json"))
    before = [part.stat().st_mtime_ns for part in parts]
    more = compare({"oracle": oracle, "fool": fool}, [PROBLEM], repetitions=2, budget=3, out=tmp_path)

    assert len(parts) == 2
    assert [part.stat().st_mtime_ns for part in parts] == before
    assert more.methods == ["oracle", "fool"]
    assert len(pd.read_parquet(tmp_path / "table.parquet")) == 2 * 2 * 3


@pytest.mark.slow
@pytest.mark.parametrize("executor", ["processes", "dask"])
def test_runs_are_the_same_wherever_they_are_made(executor):
    ways = {"random": {"acquisition": "random"}, "default": {}}
    here = compare(ways, ["river/plume"], repetitions=2, budget=10)
    there = compare(ways, ["river/plume"], repetitions=2, budget=10, jobs=2, executor=executor)

    pd.testing.assert_frame_equal(here.table, there.table)


def test_evaluations_are_a_geometric_mean_and_runs_that_fail_count_twice_the_budget():
    found = comparison_of({("a", "x"): [4, None], ("b", "x"): [10, 10]}, budget=20)
    row = found.leaderboard().iloc[0]

    assert row["evaluations"] == pytest.approx(np.exp((np.log(4 * 40) / 2 + np.log(10)) / 2))
    assert row["reached"] == pytest.approx(0.75)
    assert row["regret after 10"] == pytest.approx(0.0)


def test_losses_are_exact_tests_adjusted_for_their_number():
    """5 of 5 discordant pairs lost: p = 2^-5; the smallest of two is doubled."""
    arrived, missed = [1] * 5, [None] * 5
    found = comparison_of(
        {("a", "us"): missed, ("a", "rival"): arrived, ("b", "us"): arrived, ("b", "rival"): arrived}
    ).losses("us")

    assert found["problem"].tolist() == ["a", "b"]
    assert found["difference"].tolist() == [-1.0, 0.0]
    assert found["p"].tolist() == pytest.approx([2**-5, 1.0])
    assert found["p_holm"].tolist() == pytest.approx([2**-4, 1.0])


def test_ranks_of_equal_runs_are_shared():
    found = comparison_of({("a", "x"): [3], ("a", "y"): [3], ("a", "z"): [None]})

    assert found.ranks().set_index("method")["rank"].to_dict() == {"x": 1.5, "y": 1.5, "z": 3.0}


def test_answers_of_an_optimizer_are_judged_by_the_truth():
    found = compare({"default": {}}, ["open-rectangle/levy-interior"], repetitions=1, budget=20)
    answer = found.answers.iloc[0]

    assert 0 <= answer["recommended"] <= 1
    assert answer["covers"] in (0.0, 1.0)


def test_answers_hold_the_truth_when_everything_is_known():
    """Exact values at every candidate: no doubt is left, so place, value and list are right."""
    problem = suite_problem("open-rectangle/levy-interior").build()
    optimizer = netbo.Optimizer(netbo.FiniteElementSpace.build(problem.graph, n_nodes=60), noise=0.0)
    problem = problem.on(optimizer.search.points)
    optimizer.tell(optimizer.search.points, problem(optimizer.search.points))
    found = answers_of(optimizer, problem)

    assert found["recommended"] == pytest.approx(0.0, abs=1e-6)
    assert found["listed"] == 1.0
    assert found["distance"] == found["best_distance"] == 0.0


def test_processor_time_is_kept_with_every_run():
    found = compare({"oracle": oracle}, [PROBLEM], repetitions=2, budget=3)

    assert (found.answers["cpu"] >= 0).all()
    assert found.answers["covers"].isna().all()
    assert "ms an ask" in found.leaderboard()


def test_the_share_of_the_length_that_is_better_is_measured_along_the_network():
    """f = distance on an interval of length 4: above f(x) lies (4 - x) / 4."""
    line = netbo.interval(4.0)
    problem = netbo.problems.Problem("line", line, Rising(), 4.0, line.points(0, 4.0))
    shares = share_better(problem, np.array([0.0, 1.0, 3.99, 4.0]))

    np.testing.assert_allclose(shares, [1.0, 0.75, 0.0025, 0.0], atol=1 / 4000)


class Rising:
    def __call__(self, x):
        return x.z


def test_visits_count_evaluations_until_less_of_the_length_is_better():
    table = table_of({("a", "x"): [3, None]}, budget=5)
    table["better"] = np.where(table["regret"] == 0, 0.004, 0.3)
    found = Comparison(table, pd.DataFrame(), 5)

    assert found.visits()["evaluations"].tolist() == [3.0, pytest.approx(np.nan, nan_ok=True)]
    assert found.visits(0.5)["evaluations"].tolist() == [1.0, 1.0]


def test_ranks_and_rates_count_only_pairs_that_all_methods_have():
    """A method that ran on the easy problem alone does not win by that."""
    needed = {("easy", "x"): [5, 5], ("hard", "x"): [None, None], ("easy", "y"): [4]}
    found = comparison_of(needed)
    board = found.leaderboard().set_index("method")

    assert board["reached"].tolist() == [1.0, 1.0]
    assert board["rank"].to_dict() == {"y": 1.0, "x": 2.0}
    assert len(found.paired().needed) == 2


def test_a_method_is_behind_where_its_regret_is_larger_in_pairs():
    """Five of five pairs, Wilcoxon: p = 2^-5; four tests on a problem, those of Holm come first."""
    late, soon = [15] * 5, [5] * 5
    found = comparison_of({("a", "us"): late, ("a", "random"): soon}).behind("us", "random")
    first = found.iloc[0]

    assert (first["evaluations"], first["difference"]) == (10, 0.5)
    assert first["p"] == pytest.approx(2**-5)
    assert first["p_holm"] == pytest.approx(2**-3)
    assert found["p"].tolist()[1:] == [1.0, 1.0, 1.0]


def test_a_duel_says_the_worst_problem_and_the_ratio_of_evaluations():
    needed = {
        ("a", "us"): [10, 10], ("a", "them"): [20, 20], ("b", "us"): [None, 30], ("b", "them"): [30, 30],
    }  # fmt: skip
    [row] = comparison_of(needed).duels("us").to_dict("records")

    assert (row["rival"], row["problems"], row["pairs"]) == ("them", 2, 4)
    assert row["effect"] == pytest.approx(-0.25)
    assert (row["worst"], row["on"]) == (-0.5, "b")
    assert row["evaluations"] == pytest.approx(np.exp((np.log(1 / 2) + np.log(120 / 30) / 2) / 2))


def test_what_is_written_is_read_as_the_same_comparison(tmp_path):
    ways = {"oracle": oracle, "random": {"acquisition": "random"}}
    found = compare(ways, [PROBLEM, "river/plume"], repetitions=2, budget=12)
    for method in found.methods:  # one file each, so that methods may come from different places
        found.among([method]).write(tmp_path)
    again = Comparison.read(tmp_path)
    both, run = (found, again), ["problem", "method", "seed"]
    board, same = (each.leaderboard().set_index("method") for each in both)

    assert sorted(path.name for path in tmp_path.iterdir()) == ["oracle.parquet", "random.parquet"]
    pd.testing.assert_frame_equal(board, same, rtol=1e-6)
    pd.testing.assert_frame_equal(*(each.visits().sort_values(run, ignore_index=True) for each in both))
    pd.testing.assert_frame_equal(found.answered(), again.answered(), rtol=1e-6)


def test_a_picture_has_a_bar_and_a_line_for_every_method():
    figure = comparison_of({("a", "x"): [3, 9], ("a", "y"): [None, 5], ("a", "random"): [3, 4]}).plot()
    rates, regrets = figure.axes
    plt.close(figure)

    assert [label.get_text().split()[0] for label in rates.get_yticklabels()] == ["random", "x", "y"]
    assert [line.get_label() for line in regrets.get_lines()][:3] == ["random", "x", "y"]


def test_a_default_that_changes_makes_its_runs_anew(monkeypatch):
    """Options name only what differs from the preset: runs of an earlier one are not its own."""
    before = Pairing("default", {}, suite_problem(PROBLEM), 5).fingerprint()
    defaults = inspect.unwrap(netbo.Optimizer.__init__).__kwdefaults__
    usual = defaults["preset"]
    other = replace(usual, acquisition=usual.acquisition.__class__(None))
    monkeypatch.setitem(defaults, "preset", other)

    assert Pairing("default", {}, suite_problem(PROBLEM), 5).fingerprint() != before


def test_a_function_that_wants_to_know_the_noise_is_told_what_is_known():
    told = []

    def way(problem, seed, noise):
        told.append(noise)

    for name in ("wheel/levy", "river/plume"):
        Pairing("way", way, suite_problem(name), 1)._start(0)

    assert told == [None, suite_problem("river/plume").build().noise]


@pytest.mark.parametrize(
    ("question", "message"),
    [
        (lambda found: found.losses("z"), "a method must be one of x, y, got 'z'"),
        (lambda found: found.behind("x", "z"), "a method must be one of x, y, got 'z'"),
        (lambda found: found.among(["z"]), "some runs must be left, got none of"),
        (lambda found: Comparison.read("nowhere"), "holds Parquet files, got none in nowhere"),
    ],
)
def test_what_is_not_there_is_refused(question, message):
    with pytest.raises(netbo.errors.ParameterError, match=message):
        question(comparison_of({("a", "x"): [3], ("a", "y"): [3]}))


def test_without_methods_or_problems_there_is_nothing_to_compare():
    with pytest.raises(netbo.errors.ParameterError, match="needs methods, got none"):
        compare({}, [PROBLEM])
    with pytest.raises(netbo.errors.ParameterError, match="needs problems, got none"):
        compare({"oracle": oracle}, [])
