import math

import numpy as np
import pytest

from netbo import Point, Points, Suggestion, star
from netbo.errors import ObservationError, PointError
from netbo.optimize.arguments import as_place, as_subjects, as_told, spread
from netbo.optimize.trials import Told

GRAPH = star(3, 2.0)


@pytest.mark.parametrize("value", [2, 2.0, np.float32(2.0), np.int64(2), np.array(2.0)])
def test_any_real_number_is_a_value(value):
    told = as_told(value)

    assert told == Told(2.0, None)
    assert type(told.value) is float


@pytest.mark.parametrize("value", [None, "failed", math.nan, np.float64("nan")])
def test_missing_values_are_failures(value):
    assert as_told(value, note="pump broke") == Told(None, None, "pump broke")


@pytest.mark.parametrize("value", [math.inf, -math.inf])
def test_infinities_are_refused(value):
    with pytest.raises(ObservationError, match=r"a value must be finite, got -?inf; tell NaN or 'failed'"):
        as_told(value)


@pytest.mark.parametrize("value", ["0.3", True, np.True_, [0.3], 1j, b"1", {}])
def test_what_is_no_number_is_refused(value):
    with pytest.raises(ObservationError, match=r"a value must be a number, NaN or 'failed', got"):
        as_told(value)


def test_noise_is_a_positive_variance_and_nan_is_none():
    assert as_told(1.0, 0.25).noise == 0.25
    assert as_told(1.0, math.nan).noise is None
    assert as_told("failed", 0.25) == Told(None, 0.25)


@pytest.mark.parametrize("noise", [0.0, -1.0, math.inf])
def test_noise_that_is_no_variance_is_refused(noise):
    with pytest.raises(ObservationError, match="noise must be a positive variance, got"):
        as_told(1.0, noise)


@pytest.mark.parametrize("noise", ["0.1", True, [0.1], 1j])
def test_noise_that_is_no_number_is_refused(noise):
    with pytest.raises(ObservationError, match=r"noise must be a variance, got .* pass a float"):
        as_told(1.0, noise)


def test_subjects_are_ids_or_places():
    point, points = Point(1, 0.5), GRAPH.points([0, 2], [0.25, 2.0])
    bound = GRAPH.points(1, 0.5)[0]

    assert as_subjects(Suggestion(3, point), GRAPH) == ([3], True)
    assert as_subjects(np.int64(3), GRAPH) == ([3], True)
    assert as_subjects([Suggestion(3, point), 1], GRAPH) == ([3, 1], False)
    assert as_subjects((np.int64(1), point), GRAPH) == ([1, bound], False)
    assert as_subjects(np.array([2, 0]), GRAPH) == ([2, 0], False)
    assert as_subjects(points, GRAPH) == (list(points), False)
    assert as_subjects(point, GRAPH) == ([bound], True)
    assert as_subjects((each for each in [0, 1]), GRAPH) == ([0, 1], False)


@pytest.mark.parametrize("subject", ["0", None, True, 1.5])
def test_other_subjects_are_refused(subject):
    with pytest.raises(ObservationError, match="tell needs a suggestion, its id or a point, got"):
        as_subjects(subject, GRAPH)


@pytest.mark.parametrize("subject", [["0"], [0, None], [True]])
def test_other_subjects_in_a_list_are_refused(subject):
    with pytest.raises(PointError, match=r"a place must be a Point or Points, got .* graph\.points"):
        as_subjects(subject, GRAPH)


def test_a_place_has_its_whole_address():
    drawn = star(3, 2.0)
    place = as_place(Point(1, 0.5), drawn)

    assert (place.edge_id, place.fraction) == (1, 0.25)
    assert place.xy == pytest.approx(tuple(drawn.embed(drawn.points(1, 0.5))[0]))
    assert as_place(drawn.points(1, 0.5), drawn) == place


def test_a_measurement_has_one_place():
    with pytest.raises(PointError, match="a measurement has one place, got 2; pass one of them"):
        as_place(GRAPH.points([0, 1], 0.5), GRAPH)


def test_places_off_the_network_are_refused():
    with pytest.raises(PointError, match="distances must lie within the edge"):
        as_place(Point(1, 2.5), GRAPH)
    with pytest.raises(PointError, match=r"edges must lie in 0\.\.2"):
        as_subjects(Points([7], [0.5]), GRAPH)


@pytest.mark.parametrize("value", [0.3, None, "failed", np.float64(0.3), np.array(0.3), Point(0, 0.1)])
def test_one_thing_stands_for_itself(value):
    assert spread(value, 1, True, "values") == [value]


def test_sequences_are_one_for_each():
    assert spread([0.3], 1, True, "values") == [0.3]
    assert spread(np.array([0.3, 0.5]), 2, False, "values") == [0.3, 0.5]
    assert spread((v for v in [1, 2]), 2, False, "values") == [1, 2]
    assert spread(GRAPH.points([0, 1], 0.5), 2, False, "at") == list(GRAPH.points([0, 1], 0.5))


def test_noise_and_places_may_be_common_to_all():
    assert spread(0.1, 3, False, "noise") == [0.1] * 3
    assert spread(np.array(0.1), 3, False, "noise") == [0.1] * 3
    assert spread(None, 3, False, "at") == [None] * 3
    assert spread(Point(0, 0.1), 2, False, "at") == [Point(0, 0.1)] * 2


@pytest.mark.parametrize("value", [0.3, None, "failed", np.array(0.3)])
def test_one_value_for_several_is_refused(value):
    with pytest.raises(ObservationError, match=r"values must be one for each of 2 trials, got .* sequence"):
        spread(value, 2, False, "values")


@pytest.mark.parametrize("name", ["values", "noise", "at"])
def test_too_few_or_too_many_are_refused(name):
    with pytest.raises(ObservationError, match=f"{name} must be one for each of 2 trials, got 3"):
        spread([1, 2, 3], 2, False, name)
