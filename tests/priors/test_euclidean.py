import numpy as np
import pytest
from numpy.testing import assert_allclose, assert_array_equal

import netbo
from netbo import MetricGraph
from netbo.errors import GraphError, ParameterError
from support.reference import contract_graph, contract_points, matern_correlation

NUS = (0.5, 1.5, 2.5)


@pytest.mark.parametrize("nu", NUS)
def test_the_kernel_is_a_matern_correlation_of_straight_distance(nu):
    """Along a straight interval, from Bessel functions."""
    graph = netbo.interval(5.0)
    prior = netbo.euclidean_matern(graph, nu=nu, range=2.0, sigma=1.4)
    z = np.linspace(0.0, 5.0, 11)
    d = np.sqrt(8 * nu) * z / 2.0

    assert_allclose(
        prior.covariance(graph.points(0, 0.0), graph.points(0, z))[0],
        1.4**2 * matern_correlation(d, nu),
        rtol=1e-12,
    )
    assert_array_equal(prior.variance(graph.points(0, z)), 1.4**2)


def test_the_rough_kernel_is_the_papers_baseline():
    """equa: eucl baseline: sigma^2 exp(-|x - x'| / ell), ell = range / 2."""
    graph = netbo.open_rectangle()
    prior = netbo.euclidean_matern(graph, nu=0.5, range=4.0)
    ends = graph.vertex_points([0, 5])  # one apart in the plane, 75 along the network

    assert prior.length_scale == pytest.approx(2.0)
    assert prior.covariance(ends, ends)[0, 1] == pytest.approx(np.exp(-0.5))


@pytest.mark.parametrize("nu", NUS)
def test_derivatives_in_the_range_are_those_of_differences(nu):
    prior = netbo.euclidean_matern(contract_graph(), nu=nu, range=1.0, sigma=1.2)
    x, step = contract_points(), 1e-5
    up, down = (prior.rescaled(range=np.exp(s)) for s in (step, -step))
    slope = (up.covariance(x, x) - down.covariance(x, x)) / (2 * step)

    assert_allclose(prior.range_derivative(x, x), slope, rtol=1e-6, atol=1e-9)
    assert_array_equal(prior.range_derivative_of_variance(x), 0.0)


@pytest.mark.parametrize("nu", [0.0, 1.0, 0.75, np.nan])
def test_only_three_smoothnesses_have_closed_forms(nu):
    with pytest.raises(
        ParameterError, match=r"nu must be 1/2, 3/2 or 5/2, got .*; 1/2 is the paper's baseline"
    ):
        netbo.euclidean_matern(netbo.interval(), nu=nu, range=1.0)


@pytest.mark.parametrize("name", ["range", "sigma"])
@pytest.mark.parametrize("value", [0.0, -1.0, np.inf, np.nan])
def test_scales_are_positive_and_finite(name, value):
    with pytest.raises(ParameterError, match=rf"{name} must be positive and finite, got .* diameter / 4"):
        netbo.euclidean_matern(netbo.interval(), **({"nu": 0.5, "range": 1.0} | {name: value}))


def test_a_network_without_places_has_no_straight_distance():
    with pytest.raises(GraphError, match=r"a Euclidean prior needs places, .*; pass positions="):
        netbo.euclidean_matern(MetricGraph([0], [1], [1.0]), nu=0.5, range=1.0)
