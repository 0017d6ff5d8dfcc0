import numpy as np
import pytest
from numpy.testing import assert_allclose, assert_array_equal

import netbo
from netbo import Observations, Points
from netbo.errors import ObservationError
from netbo.posterior.observations import Distinct


def two_points() -> Points:
    return Points([0, 0], [0.1, 0.2])


def test_the_noise_of_an_observation_is_its_own_or_the_common_one():
    data = Observations(two_points(), [1.0, 2.0], [0.3, np.nan])

    assert len(data) == 2
    assert_array_equal(data.has_own_noise, [True, False])
    assert_array_equal(data.noise_variances(0.5), [0.3, 0.5])


def test_one_noise_variance_is_for_all():
    data = Observations(two_points(), [1.0, 2.0], 0.3)

    assert_array_equal(data.noise_variances(None), [0.3, 0.3])


def test_observations_are_joined_in_order():
    first = Observations(two_points(), [1.0, 2.0], [0.3, np.nan])
    joined = first.joined(Observations(Points([1], [0.5]), [3.0]))

    assert_array_equal(joined.values, [1.0, 2.0, 3.0])
    assert_array_equal(joined.points.edge, [0, 0, 1])
    assert_array_equal(joined.noise, [0.3, np.nan, np.nan])


def test_observations_keep_a_locked_copy():
    values = np.array([1.0, 2.0])
    data = Observations(two_points(), values)
    values[0] = 9.0

    assert_array_equal(data.values, [1.0, 2.0])
    assert not data.values.flags.writeable
    assert not data.noise.flags.writeable


def test_values_and_points_correspond():
    with pytest.raises(
        ObservationError, match=r"one value per point, got 2 points and 3 values; repeat a point"
    ):
        Observations(two_points(), [1.0, 2.0, 3.0])


@pytest.mark.parametrize("bad", [np.nan, np.inf, -np.inf])
def test_failed_measurements_are_refused(bad):
    with pytest.raises(ObservationError, match=r"observed values must be finite, got .* at index 1; leave"):
        Observations(two_points(), [1.0, bad])


def test_values_are_numbers_in_a_row():
    with pytest.raises(ObservationError, match=r"observed values must be numbers, got \['a', 'b'\]"):
        Observations(two_points(), ["a", "b"])
    with pytest.raises(
        ObservationError, match=r"observed values must be one-dimensional, got shape \(1, 2\)"
    ):
        Observations(two_points(), [[1.0, 2.0]])


@pytest.mark.parametrize("bad", [0.0, -0.1, np.inf])
def test_noise_is_a_positive_variance(bad):
    with pytest.raises(
        ObservationError, match=r"noise variances must be positive and finite, got .*1e-10 of"
    ):
        Observations(two_points(), [1.0, 2.0], [0.1, bad])


def test_noise_is_one_or_one_each():
    with pytest.raises(ObservationError, match=r"one variance or one for each of 2 observations, got 3"):
        Observations(two_points(), [1.0, 2.0], [0.1, 0.1, 0.1])


@pytest.mark.parametrize("bad", [0.0, -1.0, np.nan, np.inf])
def test_the_common_noise_is_a_positive_variance(bad):
    data = Observations(two_points(), [1.0, 2.0])

    with pytest.raises(
        ObservationError, match=r"regularization must be a positive variance, got .*1e-10 of the"
    ):
        data.noise_variances(bad)


def test_every_observation_needs_some_noise():
    data = Observations(two_points(), [1.0, 2.0], [0.1, np.nan])

    with pytest.raises(ObservationError, match=r"1 of 2 observations have no noise variance, .*=variance"):
        data.noise_variances(None)


def test_coinciding_observations_are_merged_by_their_precisions():
    """T^-1 y of all from that of the merged ones, against the full matrix."""
    rng = np.random.default_rng(0)
    place = np.array([2, 0, 1, 0, 2, 0])
    variances, y = rng.uniform(0.1, 1.0, 6), rng.standard_normal(6)
    root = rng.standard_normal((3, 3))
    kernel = root @ root.T
    merged = Distinct.of(place)
    at = place[merged.first]
    means = merged.mean(y, variances)
    inner = np.linalg.solve(kernel[np.ix_(at, at)] + np.diag(1 / merged.precisions(variances)), means)
    full = np.linalg.solve(kernel[np.ix_(place, place)] + np.diag(variances), y)

    assert_array_equal(place[merged.first][merged.group], place)
    assert_allclose(merged.precisions(variances), [np.sum(1 / variances[place == p]) for p in at])
    assert_allclose(means, [np.average(y[place == p], weights=1 / variances[place == p]) for p in at])
    assert_allclose(merged.spread(inner, y, variances), full, rtol=1e-11)


def test_the_precision_of_the_others_keeps_its_digits():
    """Beside a nearly exact value, subtracting from the sum would leave nothing of the others."""
    place = np.array([1, 0, 1, 0, 1, 2])
    variances = np.array([1e-20, 0.5, 2.0, 0.25, 4.0, 3.0])
    others = Distinct.of(place).other_precisions(variances)

    assert_allclose(others, [0.75, 4.0, 1e20, 2.0, 1e20, 0.0], rtol=1e-14)
    assert len(Distinct.of(np.empty(0)).other_precisions(np.empty(0))) == 0


def test_places_differ_if_any_key_differs():
    keys = np.array([0.5, 0.5, 0.5, 0.2]), np.array([1, 1, 2, 1]), np.array([0, 0, 0, 0])
    merged = Distinct.of(*keys)

    assert len(merged.first) == 3
    assert merged.group[0] == merged.group[1]
    assert len(set(merged.group[[0, 2, 3]].tolist())) == 3


def test_no_observations_have_no_places():
    merged = Distinct.of(np.empty(0))

    assert len(merged.first) == len(merged.group) == len(merged.precisions(np.empty(0))) == 0


def test_a_vertex_observed_from_two_edges_is_one_place():
    """The head of edge 0 is the tail of edge 1: one node, one merged observation."""
    graph = netbo.MetricGraph([0, 1], [1, 2], [1.0, 1.0])
    space = netbo.FiniteElementSpace.build(graph, max_cell=0.25)
    prior = netbo.whittle_matern(space, netbo.Matern(alpha=1.0, range=1.0))
    data = Observations(graph.points([0, 1], fraction=[1.0, 0.0]), [1.0, 3.0])
    once = Observations(graph.points(1, 0.0), [2.0])
    two = netbo.condition(prior, data, regularization=0.2)
    one = netbo.condition(prior, once, regularization=0.1)

    assert_allclose(two.mean(space.nodes), one.mean(space.nodes), rtol=1e-12)
    assert_allclose(two.std(space.nodes), one.std(space.nodes), rtol=1e-12)
