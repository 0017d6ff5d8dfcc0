import math

import numpy as np
import pytest

from netbo import Optimizer, interval
from netbo.errors import ParameterError
from netbo.optimize.design import Maximin
from netbo.optimize.stopping import BoundGap, Budget, NoProgress, Target


def told(values, direction="maximize", **settings):
    """An optimizer told these values at even distances of an interval; NaN is a failure."""
    graph = interval(10.0)
    optimizer = Optimizer(graph, max_cell=0.25, direction=direction, **settings)
    optimizer.tell(graph.points(0, np.linspace(0, 10, max(len(values), 1)))[: len(values)], values)
    return optimizer


def test_the_budget_counts_failures_and_withdrawn_values_but_not_what_is_pending():
    optimizer = told([1.0, math.nan, 2.0])
    optimizer.withdraw(0)
    optimizer.ask()

    assert Budget(4).left(optimizer) == 1
    assert Budget(4)(optimizer) is None
    assert Budget(3)(optimizer) == "the budget of 3 evaluations is spent"


@pytest.mark.parametrize(
    ("direction", "target", "reached"),
    [("maximize", 3.0, True), ("maximize", 3.1, False), ("minimize", 1.0, True), ("minimize", 0.9, False)],
)
def test_a_target_is_reached_at_or_beyond_it_in_the_direction_of_the_search(direction, target, reached):
    reason = Target(target)(told([1.0, 3.0, 2.0, math.nan], direction))

    assert reason == (f"the target {target:g} is reached" if reached else None)


def test_a_withdrawn_value_reaches_no_target():
    optimizer = told([1.0, 3.0])
    optimizer.withdraw(1)

    assert Target(3.0)(optimizer) is None


@pytest.mark.parametrize(
    ("values", "stops"),
    [
        ([5, 1, 2], False),  # three values say nothing of the last three
        ([5, 1, 2, 3], True),
        ([5, 1, 2, 5], True),  # an equal value is no progress
        ([5, 1, 2, 5.1], False),
        ([5, 5.1, 1, 2, 3], True),
        ([5, 1, 5.1, 2, 3], False),
        ([5, math.nan, 1, 2], False),  # failures are no values
    ],
)
def test_no_progress_means_that_the_last_three_values_are_not_better(values, stops):
    negative = [-value for value in values]

    assert bool(NoProgress(3)(told(values))) is stops
    assert bool(NoProgress(3)(told(negative, "minimize"))) is stops


def test_progress_within_the_tolerance_is_none():
    optimizer = told([5.0, 1.0, 5.5])

    assert NoProgress(2, tolerance=0.5)(optimizer) == "the last 2 values brought no progress"
    assert NoProgress(2, tolerance=0.49)(optimizer) is None


def test_the_order_told_counts_not_the_order_asked():
    optimizer = told([])
    first, second = optimizer.ask(2)
    optimizer.tell(second, 2.0)
    optimizer.tell(first, 1.0)

    assert NoProgress(1)(optimizer)


@pytest.mark.parametrize("direction", ["maximize", "minimize"])
def test_the_bound_gap_is_that_of_the_posterior_over_the_candidates(direction):
    """Slow twin: both bounds from the posterior of f itself, in the direction of the search."""
    optimizer = told([0.0, 1.0, 3.0, 1.0, 0.5], direction, design=Maximin(5), noise=0.01)
    x, posterior = optimizer.search.points, optimizer.posterior
    low, high = posterior.mean(x) - 3 * posterior.std(x), posterior.mean(x) + 3 * posterior.std(x)
    gap = high.max() - low.max() if direction == "maximize" else high.min() - low.min()

    assert gap > 0
    assert BoundGap(gap * 1.001, width=3.0)(optimizer) == f"no candidate can be better by more than {gap:.3g}"
    assert BoundGap(gap * 0.999, width=3.0)(optimizer) is None


def test_the_bound_gap_waits_for_the_design():
    assert BoundGap(1e9)(told([0.0, 1.0, 2.0], design=Maximin(4))) is None
    assert BoundGap(1e9)(told([0.0, 1.0, 2.0], design=Maximin(3)))


@pytest.mark.parametrize("rule", [Target(0.0), NoProgress(1), BoundGap(1e9), Budget(1)])
def test_without_values_there_is_no_reason_to_stop(rule):
    assert rule(told([])) is None


@pytest.mark.parametrize(
    ("make", "message"),
    [
        (lambda: Budget(0), "budget must be a whole number of at least one, got 0"),
        (lambda: Budget(2.5), "budget must be a whole number"),
        (lambda: Target(math.nan), "a target must be finite, got nan"),
        (lambda: NoProgress(0), "n must be a whole number of at least one"),
        (lambda: NoProgress(3, -1.0), "tolerance must be .* not negative, got -1"),
        (lambda: BoundGap(-0.1), "gap must be .* not negative, got -0.1"),
        (lambda: BoundGap(0.1, width=0.0), "width counts .* must be positive, got 0"),
    ],
)
def test_rules_refuse_what_means_nothing(make, message):
    with pytest.raises(ParameterError, match=message):
        make()
