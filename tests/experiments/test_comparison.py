"""Methods compared on problems: pairs, ranks, significance, runs that are kept."""

import numpy as np
import pandas as pd
import pytest

import netbo
from netbo.experiments import Comparison, compare
from netbo.experiments.cell import COLUMNS, NO_LABEL
from netbo.experiments.comparison import Pairing
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


def test_without_methods_there_is_nothing_to_compare():
    with pytest.raises(netbo.errors.ParameterError, match="needs methods, got none"):
        compare({}, [PROBLEM])
