import pickle

import numpy as np
import pytest
from numpy.testing import assert_allclose

import netbo
from netbo import Matern
from netbo.errors import ParameterError
from netbo.priors.edgewise import LARGEST_NETWORK, RANGES
from support.exact_kernel import exact_kernel
from support.reference import contract_graph, contract_points, matern_correlation

GRAPH = contract_graph()


def test_at_the_range_of_a_table_levels_are_the_exact_field_at_the_middles():
    """The contract has the ranges between them."""
    range_ = RANGES[9] * GRAPH.diameter
    prior = netbo.edgewise_matern(GRAPH, range=range_, sigma=2.0, profile=1e9)
    exact = exact_kernel(GRAPH, Matern(0.5, range=range_, sigma=1.0), constant=True)
    middles = GRAPH.points(range(6), GRAPH.lengths / 2)

    assert_allclose(prior.covariance(middles, middles), 4 * exact(middles, middles), rtol=1e-9)


def test_a_profile_is_one_function_of_the_share_of_the_edge():
    """nu = 3/2 in shares, whatever the length of the edge."""
    prior = netbo.edgewise_matern(GRAPH, range=1.0, profile=0.5)
    lengths = GRAPH.lengths[[0, 3]]

    for edge, length in zip((0, 3), lengths, strict=True):
        x = GRAPH.points([edge, edge], [0.1 * length, 0.7 * length])
        assert prior.covariance(x, x)[0, 1] == pytest.approx(
            matern_correlation(np.array([np.sqrt(12) * 0.6 / 0.5]), 1.5)[0], rel=1e-9
        )


def test_values_jump_where_edges_meet_and_edges_far_apart_have_little_in_common():
    street = netbo.MetricGraph([0, 1, 2, 3], [1, 2, 3, 4], [1.0, 1.0, 1.0, 1.0])
    prior = netbo.edgewise_matern(street, range=2.0)
    ends = street.points([0, 1, 1, 3], [1 - 1e-9, 1e-9, 1 - 1e-9, 1 - 1e-9])
    k = prior.covariance(ends, ends)

    assert k[0, 1] < 0.2  # a hair apart
    assert k[0, 2] > 0.3  # both at the end of their edge
    assert k[2, 3] < k[0, 2]


def test_it_does_not_depend_on_what_was_asked_before():
    x = contract_points()
    fresh = netbo.edgewise_matern(GRAPH, range=1.3)
    used = netbo.edgewise_matern(GRAPH, range=5.0)
    used.covariance(x, x)

    assert_allclose(used.rescaled(range=1.3).covariance(x, x), fresh.covariance(x, x), rtol=0)
    assert_allclose(pickle.loads(pickle.dumps(used)).covariance(x, x), used.covariance(x, x), rtol=0)


@pytest.mark.parametrize("share", [RANGES[0] / 3, RANGES[-1] * 3])
def test_beyond_the_tables_the_range_changes_nothing(share):
    prior = netbo.edgewise_matern(GRAPH, range=share * GRAPH.diameter)
    x = contract_points()
    nearest = RANGES[0] if share < 1 else RANGES[-1]

    assert_allclose(
        prior.covariance(x, x), prior.rescaled(range=nearest * GRAPH.diameter).covariance(x, x), rtol=1e-12
    )
    assert not prior.range_derivative(x, x).any()


def test_large_networks_are_refused():
    path = netbo.MetricGraph(range(LARGEST_NETWORK + 1), range(1, LARGEST_NETWORK + 2), [1.0] * 701)

    with pytest.raises(ParameterError, match=r"at most 700 edges, got 701; use whittle_matern with a junc"):
        netbo.edgewise_matern(path, range=1.0)


@pytest.mark.parametrize("name", ["range", "sigma", "profile"])
@pytest.mark.parametrize("value", [0.0, -1.0, np.inf, np.nan])
def test_numbers_are_positive_and_finite(name, value):
    with pytest.raises(ParameterError, match=rf"{name} must be positive and finite, got {value}"):
        netbo.edgewise_matern(GRAPH, **{"range": 1.0, name: value})
