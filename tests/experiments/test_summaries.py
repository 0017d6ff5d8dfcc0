import numpy as np
import pytest
from numpy.testing import assert_allclose

from netbo.experiments import Spec
from netbo.experiments.statistics import (
    horizon_of,
    mean_iterations,
    rate_difference,
    reach_rate,
    regret_array,
    regret_curves,
    runs_of,
    wilson_interval,
)
from support.tables import HORIZON, both_kernels, cell_rows, table_of


def test_each_run_has_its_labels_and_its_iterations():
    runs = runs_of(cell_rows([3, None, 1]), 1e-6)

    assert_allclose(runs["iterations"], [3, np.nan, 1])
    assert set(runs["method"]) == {"SPDE, IGP-UCB"}


def test_regret_of_all_runs_at_once_equals_that_of_each():
    table = both_kernels()
    slow = regret_curves(table).pivot(index=["cell", "seed"], columns="iteration", values="simple_regret")

    assert_allclose(regret_array(table, HORIZON), slow.ffill(axis=1), rtol=1e-15)


def test_a_run_that_stopped_keeps_its_regret_up_to_the_horizon():
    curves = regret_array(cell_rows([2, None]), HORIZON)

    assert_allclose(curves[0], [1 / 2] + 9 * [0.0])
    assert_allclose(curves[1], 1 / np.arange(2, 12))


@pytest.mark.parametrize(
    ("first", "second", "low", "high"),
    [((56, 70), (48, 80), 0.0524, 0.3339), ((9, 10), (3, 10), 0.1705, 0.8090)],
)
def test_the_interval_of_a_difference_is_newcombes(first, second, low, high):
    """Newcombe, Statistics in Medicine 17 (1998) 873-890, table II, method 10."""
    gap = rate_difference(*first, *second)

    assert_allclose([gap.low, gap.high], [low, high], atol=5e-5)


def test_one_source_gives_wilsons_interval():
    rate = reach_rate(runs_of(cell_rows([1, None, 2, 3], source="5"), 1e-6))

    assert (rate.value, rate.low, rate.high) == (0.75, *wilson_interval(3, 4))


def test_sources_that_disagree_widen_the_interval_beyond_wilsons():
    found = {"5": [1] * 20, "6": [None] * 20, "7": [1] * 20}
    table = table_of(*(cell_rows(runs, source=name) for name, runs in found.items()))
    rate, (low, high) = reach_rate(runs_of(table, 1e-6)), wilson_interval(40, 60)

    assert rate.low < low
    assert rate.high > high
    assert 0 <= rate.low < rate.high <= 1


def test_mean_iterations_have_no_interval_below_one():
    mean = mean_iterations(runs_of(cell_rows([1, 1, 9]), 1e-6))

    assert mean.value == pytest.approx(11 / 3)
    assert mean.low == 1.0


def test_nothing_found_has_no_mean():
    mean = mean_iterations(runs_of(cell_rows([None, None]), 1e-6))

    assert mean.n == 0
    assert np.isnan(mean.value)


def test_only_gp_ts_has_a_horizon_of_its_own():
    spec = Spec("benchmarks", horizon_ucb=40, horizon_ts=60)

    assert [horizon_of(spec, rule) for rule in ("IGP-UCB", "GP-TS", "random")] == [40, 60, 40]
