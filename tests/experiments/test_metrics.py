"""Metrics of tables made by hand."""

import numpy as np
import pandas as pd
import pytest
from scipy.optimize import brentq
from scipy.stats import norm

from netbo.errors import ParameterError
from netbo.experiments.statistics import (
    curve_bands,
    effects,
    iterations_to,
    mean_interval,
    regret_curves,
    summarize,
    wilson_interval,
)


def runs(design, *later, cell="a", **labels):
    """One run for each sequence of regrets after the design; seeds 0, 1, ..."""
    rows = []
    for seed, regrets in enumerate(later):
        for query, regret in enumerate([*design, *regrets]):
            iteration = max(query - len(design) + 1, 0)
            rows.append(
                {"cell": cell, "seed": seed, "query": query, "iteration": iteration,
                 "is_design": query < len(design), "regret": regret, "method": cell, "problem": "p",
                 "placement": "", "source": "", **labels}
            )  # fmt: skip
    return pd.DataFrame(rows)


TABLE = runs([0.5, 0.0], [0.4, 0.6, 0.1, 0.0], [0.3, 0.0], [0.9, 0.8, 0.7, 0.6])


def test_simple_regret_is_the_best_so_far_and_stays_when_a_run_stops():
    curves = regret_curves(TABLE)
    found = curves.pivot(index="seed", columns="iteration", values="simple_regret").to_numpy()

    assert found.tolist() == [[0.4, 0.4, 0.1, 0.0], [0.3, 0.0, 0.0, 0.0], [0.9, 0.8, 0.7, 0.6]]


def test_cumulative_regret_adds_the_queries_after_the_design():
    curves = regret_curves(TABLE)
    found = curves.pivot(index="seed", columns="iteration", values="cumulative_regret").to_numpy()

    assert found == pytest.approx(
        np.array([[0.4, 1.0, 1.1, 1.1], [0.3, 0.3, 0.3, 0.3], [0.9, 1.7, 2.4, 3.0]])
    )


def test_counting_the_design_starts_the_curve_with_its_best_query():
    curves = regret_curves(TABLE, count_init=True)
    found = curves.pivot(index="seed", columns="iteration", values="simple_regret")

    assert list(found.columns) == [0, 1, 2, 3, 4]
    assert (found.to_numpy() == 0.0).all()
    assert curves.loc[curves["iteration"] == 0, "cumulative_regret"].tolist() == [0.0, 0.0, 0.0]


def test_iterations_count_from_the_end_of_the_design():
    assert iterations_to(TABLE, 1e-6)["iterations"].tolist()[:2] == [4.0, 2.0]
    assert iterations_to(TABLE, 1e-6)["iterations"].isna().tolist() == [False, False, True]
    assert iterations_to(TABLE, 0.35)["iterations"].tolist()[:2] == [3.0, 1.0]


def test_a_design_that_found_it_needs_no_iteration_if_it_counts():
    assert iterations_to(TABLE, 1e-6, count_init=True)["iterations"].tolist() == [0.0, 0.0, 0.0]


@pytest.mark.parametrize(("found", "n"), [(0, 10), (3, 10), (57, 60), (60, 60)])
def test_wilson_bounds_solve_the_equation_of_the_score_test(found, n):
    """|share - p| = z sqrt(p (1 - p) / n) at both ends, unless the end is 0 or 1."""
    z = norm.ppf(0.975)

    def score(p):
        return (found / n - p) ** 2 - z**2 * p * (1 - p) / n

    low, high = wilson_interval(found, n)
    expected = (
        0.0 if found == 0 else brentq(score, 1e-12, found / n - 1e-12),
        1.0 if found == n else brentq(score, found / n + 1e-12, 1 - 1e-12),
    )

    assert (low, high) == pytest.approx(expected, abs=1e-9)


def test_wilson_agrees_with_a_published_example():
    """Newcombe, Statistics in Medicine 17 (1998), Table I, method 3: 81 of 263 is 0.2553 to 0.3662."""
    assert wilson_interval(81, 263) == pytest.approx((0.2553, 0.3662), abs=5e-5)


@pytest.mark.parametrize(("found", "n"), [(1, 0), (-1, 5), (6, 5)])
def test_impossible_counts_are_refused(found, n):
    with pytest.raises(ParameterError, match="successes must be 0 to n"):
        wilson_interval(found, n)


def test_the_mean_has_students_interval():
    """Of 1, 2, 3: sd 1, so half the interval is 4.3027 / sqrt(3), 4.3027 being t(2) at 97.5 %."""
    mean, low, high = mean_interval([1.0, 2.0, 3.0])

    assert (mean, low, high) == pytest.approx((2.0, 2 - 4.30265 / 3**0.5, 2 + 4.30265 / 3**0.5), abs=1e-4)
    assert mean_interval([5.0])[0] == 5.0
    assert np.isnan(mean_interval([5.0])[1:]).all()
    assert np.isnan(mean_interval([])).all()


def test_a_summary_has_a_row_for_each_group():
    table = pd.concat([TABLE, runs([0.5], [0.0], [0.5], cell="b")])
    rows = summarize(table, 1e-6).set_index("cell")

    assert rows["runs"].to_dict() == {"a": 3, "b": 2}
    assert rows["reached"].to_dict() == {"a": 2, "b": 1}
    assert rows["rate"].to_dict() == pytest.approx({"a": 2 / 3, "b": 0.5})
    assert rows.loc["a", ["rate_low", "rate_high"]].tolist() == pytest.approx(wilson_interval(2, 3))
    assert rows["iterations"].to_dict() == {"a": 3.0, "b": 1.0}


def test_groups_may_span_cells():
    table = pd.concat([TABLE, runs([0.5], [0.0], [0.5], cell="b")]).assign(preset="paper")
    (row,) = summarize(table, 1e-6, by=["preset"]).to_dict("records")

    assert (row["preset"], row["runs"], row["reached"]) == ("paper", 5, 3)


def test_bands_hold_the_central_half():
    bands = curve_bands(regret_curves(runs([1.0], [0.0], [1.0], [2.0], [3.0], [4.0])))

    assert bands[["mean", "median", "low", "high"]].iloc[0].tolist() == [2.0, 2.0, 1.0, 3.0]


def test_an_effect_is_the_mean_difference_of_pairs():
    """On two problems: found by both, and by one of two seeds of the new method alone."""
    first = [runs([1.0], [0.0], [0.0], cell=f"{m}1", method=m, problem="one") for m in ("old", "new")]
    second = [
        runs([1.0], [1.0], [1.0], cell="old2", method="old", problem="two"),
        runs([1.0], [0.0], [1.0], cell="new2", method="new", problem="two"),
    ]
    table = pd.concat([*first, *second])
    (row,) = effects(table, "old", 1e-6).to_dict("records")

    assert (row["method"], row["reference"], row["pairs"]) == ("new", "old", 4)
    assert row["effect"] == pytest.approx(0.25)
    assert 0.0 <= row["low"] <= 0.25 <= row["high"] <= 1.0
    assert effects(table, "old", 1e-6).equals(effects(table, "old", 1e-6))  # seeded


def test_an_effect_needs_its_reference():
    with pytest.raises(ParameterError, match="the reference must be one of a, got 'b'"):
        effects(TABLE, "b", 1e-6)


def test_methods_without_pairs_have_no_effect():
    table = pd.concat([runs([1.0], [0.0], cell="a"), runs([1.0], [0.0], cell="b", problem="q")])
    (row,) = effects(table, "a", 1e-6).to_dict("records")

    assert row["pairs"] == 0
    assert np.isnan([row["effect"], row["low"], row["high"]]).all()


def test_a_table_without_rows_has_no_curves():
    assert regret_curves(TABLE.iloc[:0]).empty
