"""Telling: what is recorded, what is refused, what can be taken back."""

import math

import numpy as np
import pytest
from numpy.testing import assert_allclose, assert_array_equal

from netbo import Optimizer, Point, Points, star
from netbo.acquisition import MaxVariance
from netbo.errors import ObservationError, PointError
from netbo.geometry import distinct_places
from netbo.optimize import (
    Status,
)
from support.optimizers import SPACE, advance, places, quick, statuses

# Telling


def test_values_may_be_told_in_any_order_and_in_every_way():
    optimizer = quick()
    a, b, c, d, e = optimizer.ask(5)

    assert optimizer.tell(c, 3.0) == [2]
    assert optimizer.tell(a.id, 1.0) == [0]
    assert optimizer.tell([e, b], [5.0, 2.0]) == [4, 1]
    assert optimizer.tell([d.id], np.array([4.0])) == [3]
    assert [trial.value for trial in optimizer.history] == [1.0, 2.0, 3.0, 4.0, 5.0]
    assert [trial.id for trial in optimizer.history.observed] == [2, 0, 4, 1, 3]
    assert optimizer.observations.values.tolist() == [3.0, 1.0, 5.0, 2.0, 4.0]
    assert optimizer.observations.points == places([c, a, e, b, d])


def test_a_list_of_ids_and_numbers_of_numpy_are_told():
    optimizer = quick()
    optimizer.ask(3)

    assert optimizer.tell([2, 0], [2.0, 0.0]) == [2, 0]
    assert optimizer.tell(np.int64(1), np.float32(0.5)) == [1]


def test_points_that_were_never_asked_for_are_told():
    optimizer = quick()
    asked = optimizer.ask()
    points = SPACE.graph.points([0, 3], [0.3, 0.7])

    assert optimizer.tell(points, [1.0, 2.0], noise=[0.1, None]) == [1, 2]
    assert optimizer.tell(points[0], 3.0) == [3]
    assert optimizer.tell([points[1], asked], [4.0, 5.0]) == [4, 0]
    assert [trial.asked is None for trial in optimizer.history] == [False, True, True, True, True]
    assert_allclose(optimizer.observations.noise, [0.1, math.nan, math.nan, math.nan, math.nan])
    assert optimizer.history.n_asked == 1


def test_a_value_measured_elsewhere_counts_there():
    optimizer = quick()
    one, two, three = optimizer.ask(3)
    there = SPACE.graph.points([0, 3], [0.3, 0.7])
    optimizer.tell(one, 1.0, at=there[0])
    optimizer.tell([two, three], [2.0, 3.0], at=[None, there[1:]])

    assert optimizer.observations.points == Points.concatenate([there[:1], places([two]), there[1:]])
    assert optimizer.history[0].asked == one.point
    assert optimizer.history[0].point == there[0]


def test_a_repeat_is_told_by_its_point_and_both_values_count():
    optimizer = advance(quick(), 4)
    optimizer.tell(optimizer.history[0].point, 0.5)

    assert len(optimizer.posterior.observations) == 5
    assert optimizer.history[4].asked is None


def test_variances_of_their_own_replace_the_common_one():
    optimizer = quick(noise=0.01)
    asked = optimizer.ask(3)
    optimizer.tell(asked[:2], [1.0, 2.0], noise=0.5)
    optimizer.tell(asked[2], 3.0)

    assert_allclose(optimizer.posterior.noise, [0.5, 0.5, 0.01])


def test_failures_are_recorded_and_not_modelled():
    optimizer = advance(quick(), 4)
    before = optimizer.posterior
    asked = optimizer.ask(3)
    optimizer.tell(asked, [math.nan, None, "failed"], note="no access")
    optimizer.tell(SPACE.graph.points(0, 0.3), ["failed"])

    assert statuses(optimizer)[4:] == ["failed"] * 4
    assert optimizer.history[5].note == "no access"
    assert optimizer.posterior is before
    assert len(optimizer.observations) == 4


def test_places_that_failed_are_not_asked_for_again():
    """Though the same place stays the best of a rule that learns nothing from a failure."""
    optimizer = advance(quick(acquisition=MaxVariance()), 6)
    failed = []
    for _ in range(10):
        suggestion = optimizer.ask()
        failed.append(suggestion)
        optimizer.tell(suggestion, "failed")

    assert len(distinct_places(SPACE.graph, places(failed))) == 10


def test_failed_and_cancelled_suggestions_may_be_told_later():
    optimizer = quick()
    failed, cancelled = optimizer.ask(2)
    optimizer.tell(failed, "failed")
    optimizer.cancel(cancelled)
    optimizer.tell([cancelled, failed], [1.0, 2.0])

    assert optimizer.observations.values.tolist() == [1.0, 2.0]


def test_a_suggestion_is_told_once():
    optimizer = quick()
    suggestion = optimizer.ask()
    optimizer.tell(suggestion, 1.0)
    with pytest.raises(ObservationError, match=r"trial 0 is already told \(observed, value 1\.0\)"):
        optimizer.tell(suggestion, 2.0)
    optimizer.withdraw(suggestion)
    with pytest.raises(ObservationError, match=r"trial 0 is already told \(withdrawn, value 1\.0\)"):
        optimizer.tell(suggestion, 2.0)


@pytest.mark.parametrize(
    ("subject", "values", "options", "error", "match"),
    [
        ([0, 1], [1.0, math.inf], {}, ObservationError, "a value must be finite"),
        ([0, 1], [1.0, "bad"], {}, ObservationError, "a value must be a number"),
        ([0, 1], [1.0], {}, ObservationError, "values must be one for each of 2 trials, got 1"),
        ([0, 1], 1.0, {}, ObservationError, "values must be one for each of 2 trials"),
        ([0, 1], [1.0, 2.0], {"noise": [0.1, -1.0]}, ObservationError, "noise must be a positive variance"),
        ([0, 1], [1.0, 2.0], {"noise": [0.1]}, ObservationError, "noise must be one for each of 2 trials"),
        ([0, 1], [1.0, 2.0], {"at": [None, Point(0, 99.0)]}, PointError, "must lie within the edge"),
        ([0, 1], [1.0, 2.0], {"at": [None, "here"]}, PointError, "a place must be a Point or Points"),
        ([0, 0], [1.0, 2.0], {}, ObservationError, r"each trial is told once, got the ids \[0, 0\]"),
        ([0, 9], [1.0, 2.0], {}, ObservationError, r"trials are 0\.\.2, got 9"),
        ([0, 2], [1.0, 2.0], {}, ObservationError, "trial 2 is already told"),
        ([Point(0, 0.1), 2], [1.0, 2.0], {}, ObservationError, "trial 2 is already told"),
        ([0, Point(0, 99.0)], [1.0, 2.0], {}, PointError, "must lie within the edge"),
        ([0, "1"], [1.0, 2.0], {}, PointError, "a place must be a Point or Points"),
        ("0", 1.0, {}, ObservationError, "tell needs a suggestion, its id or a point"),
        (Points([0, 9], [0.1, 0.1]), [1.0, 2.0], {}, PointError, r"edges must lie in 0\.\.5"),
    ],
)
def test_an_error_in_one_of_several_records_nothing(subject, values, options, error, match):
    optimizer = quick()
    optimizer.ask(3)
    optimizer.tell(2, 0.0)
    before = list(optimizer.history)
    with pytest.raises(error, match=match):
        optimizer.tell(subject, values, **options)

    assert list(optimizer.history) == before
    assert optimizer.tell(0, 1.0) == [0]
    assert optimizer.history[0].order == 1


def test_points_of_another_network_are_refused():
    with pytest.raises(PointError, match="points must lie on"):
        quick().tell(star(3).points(0, 0.5), [1.0])


# Taking back


def test_a_corrected_value_counts_in_its_place():
    optimizer = advance(quick(), 5)
    optimizer.correct(1, 7.0, noise=0.3)
    twin = quick()
    for trial in optimizer.history.observed:
        twin.tell(trial.point, trial.value, noise=trial.noise)

    assert optimizer.history[1].value == 7.0
    assert optimizer.observations.values[1] == 7.0
    assert_array_equal(optimizer.posterior.mean(SPACE.nodes), twin.posterior.mean(SPACE.nodes))


def test_a_withdrawn_value_no_longer_counts_and_stays_on_record():
    optimizer = advance(quick(), 5)
    value = optimizer.history[2].value
    optimizer.withdraw(2)

    assert optimizer.history[2].status is Status.WITHDRAWN
    assert optimizer.history[2].value == value
    assert len(optimizer.posterior.observations) == 4
    optimizer.correct(2, 1.0)
    assert len(optimizer.posterior.observations) == 5


@pytest.mark.parametrize("noise", [None, 0.0, 0.01])
def test_after_corrections_it_is_a_fresh_optimizer_with_the_corrected_record(noise):
    """Parameters, posterior and next suggestion; 11 values are no milestone, nor are 10."""
    optimizer = advance(Optimizer(SPACE, noise=noise, seed=3), 11)
    optimizer.outcome  # noqa: B018 - learned from the wrong record first
    optimizer.correct(5, 2.0)
    optimizer.outcome  # noqa: B018
    optimizer.withdraw(10)
    fresh = Optimizer(SPACE, noise=noise, seed=3, history=optimizer.history)

    assert optimizer.outcome.fits[0].parameters == fresh.outcome.fits[0].parameters
    assert_array_equal(optimizer.posterior.mean(SPACE.nodes), fresh.posterior.mean(SPACE.nodes))
    assert optimizer.ask() == fresh.ask()


@pytest.mark.parametrize("value", [math.nan, None, "failed"])
def test_a_correction_is_a_number(value):
    optimizer = advance(quick(), 1)
    with pytest.raises(ObservationError, match=r"a correction must be a number, got .* withdraw\(id\)"):
        optimizer.correct(0, value)


def test_what_cannot_be_taken_back_is_refused():
    optimizer = advance(quick(), 1)
    pending = optimizer.ask()
    with pytest.raises(ObservationError, match="only told trials can be corrected, got trial 1, pending"):
        optimizer.correct(pending, 1.0)
    with pytest.raises(ObservationError, match="only observed values can be withdrawn, got trial 1, pending"):
        optimizer.withdraw(pending)
    with pytest.raises(ObservationError, match="only pending trials can be cancelled, got trial 0, observed"):
        optimizer.cancel(0)
    with pytest.raises(ObservationError, match=r"trials are 0\.\.1, got 5"):
        optimizer.cancel(5)
