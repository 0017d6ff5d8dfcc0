"""Values and noise of any finite size: nothing that can be told stops an optimizer."""

import math
import sys

import numpy as np
import pytest
from numpy.testing import assert_allclose

import netbo
from netbo import Matern, Observations
from netbo.errors import ObservationError
from netbo.optimize import Given, Known
from netbo.optimize.learning import unit_of

GRAPH = netbo.star(3, length=2.0)
LARGEST = sys.float_info.max
SMALLEST = 5e-324
SIZES = {
    "one of 1e155": [1e155],
    "a penalty": [1.0, 2.0, -LARGEST, 0.5, 3.0],
    "largest of both signs": [LARGEST, -LARGEST, LARGEST, -LARGEST, 0.0],
    "1e300 all over": [1e300, -2e300, 3e299, 0.0, 1e300],
    "1e300 late": [1.0, 2.0, 3.0, 0.5, 1e300],
    "1e-200": [1e-200, 3e-200, 2e-200, -1e-200, 0.0],
    "the smallest": [SMALLEST, 0.0, 3 * SMALLEST, 0.0, SMALLEST],
    "equal, 1e300": [1e300] * 5,
    "equal, 1e-300": [1e-300] * 5,
    "1e300 beside 1e-300": [1e300, 1e-300, 1.0, 0.0, 1e300],
}
MODEL = {"calibrated": {}, "exact": {"noise": 0.0}, "given": {"noise": 0.01}, "paper": {"preset": "paper"}}


def told(values, own=(None,), **options):
    optimizer = netbo.Optimizer(GRAPH, seed=1, max_cell=0.25, **{"design": 3, **options})
    for index, value in enumerate(values):
        optimizer.tell(optimizer.ask(), value, own[index % len(own)])
    return optimizer


def require_answers(optimizer):
    found = optimizer.recommend()
    optimizer.ask()

    assert math.isfinite(found.mean)
    assert 0 <= found.std < math.inf
    assert str(optimizer.summary())
    assert optimizer.modes(draws=10)
    assert np.isfinite(optimizer.posterior.mean(optimizer.search.points)).all()
    return found


@pytest.mark.parametrize("direction", ["maximize", "minimize"])
@pytest.mark.parametrize("model", MODEL)
@pytest.mark.parametrize("size", SIZES)
def test_every_finite_value_is_modelled(size, model, direction):
    require_answers(told(SIZES[size], direction=direction, **MODEL[model]))


@pytest.mark.parametrize("noise", [[1e-300, None, 1.0], [1e300], [1e308, SMALLEST]])
@pytest.mark.parametrize("values", [[1.0, 0.0, 2.0, 3.0], [1e300, 1.0, -1e300, 2.0], [0.0] * 4], ids=range(3))
def test_noise_of_every_size_is_modelled(noise, values):
    require_answers(told(values, noise))


@pytest.mark.parametrize("size", [1e-250, 1e155, 1e300])
def test_the_unit_of_the_values_changes_no_suggestion(size):
    """A model whose amplitude is learned knows no unit: powers of two are exact."""
    factor = 2.0 ** round(math.log2(size))
    values = np.sin(np.arange(8.0))
    usual, scaled = told(values), told(factor * values)
    answer, expected = scaled.recommend(), usual.recommend()

    assert [t.point for t in scaled.history] == [t.point for t in usual.history]
    assert answer.point == expected.point
    assert (answer.mean / factor, answer.std / factor) == pytest.approx(
        (expected.mean, expected.std), rel=1e-6
    )
    assert_allclose(scaled.check().std / factor, usual.check().std, rtol=1e-6)


def test_a_known_kernel_predicts_large_values_in_proportion():
    """The mean is linear in the values, also where their squares are no numbers."""
    prior = netbo.whittle_matern(GRAPH, Matern(alpha=1.0, range=1.0))
    means = []
    for factor in (1.0, 2.0**1000):
        known = told(factor * np.array([1.0, -2.0, 0.5, 1.5]), fit=Known(Given(prior)), noise=0.1, design=8)
        means.append(known.posterior.mean(GRAPH.points([0, 1, 2], [0.3, 1.0, 2.0])) / factor)

    assert_allclose(means[1], means[0], rtol=1e-12)


def test_ordinary_values_are_left_alone():
    data = Observations(GRAPH.points([0, 1], [0.5, 0.5]), [1e50, -1e-50])

    assert unit_of(data) == 1
    assert unit_of(Observations(data.points, [0.0, 0.0])) == 1
    assert unit_of(Observations(data.points, [0.0, 1e100])) == 2.0 ** math.floor(math.log2(1e100))
    assert unit_of(Observations(data.points, [0.0, 1e-100]), 1.0) == 1


def test_a_fit_of_ones_own_refuses_values_whose_squares_are_no_numbers():
    prior = netbo.whittle_matern(GRAPH, Matern(alpha=1.0, range=1.0))
    x = GRAPH.points([0, 1], [0.5, 0.5])
    for value in (1e155, 1e-155):
        with pytest.raises(ObservationError, match=r"values must be of ordinary size, .* got .*another unit"):
            netbo.fit_parameters(prior, Observations(x, [value, 2 * value]))


def test_values_that_claim_to_be_exact_between_nodes_are_believed_only_so_far():
    """Two nodes tied by an all but exact value between them keep no digit of their difference."""
    rng = np.random.default_rng(0)
    optimizer = netbo.Optimizer(GRAPH, seed=1, max_cell=0.25)
    for _ in range(9):
        z = float(rng.uniform(0.0, 2.0))
        place = GRAPH.points(int(rng.integers(3)), z)
        optimizer.tell(optimizer.ask(), 0.96 * abs(math.sin(z)), noise=1e-20, at=place)
    found = optimizer.recommend()
    warnings = optimizer.summary().warnings

    assert 0.5 < found.mean < 1.2
    assert any("9 values told with less noise than exact values have, 1e-10" in text for text in warnings)
