import numpy as np
import pytest
from numpy.testing import assert_allclose

from netbo.errors import ParameterError
from netbo.geometry import MetricGraph, uniform_points


def test_points_fall_on_edges_in_proportion_to_length():
    graph = MetricGraph([0, 1, 2], [1, 2, 2], [1.0, 2.0, 5.0])
    x = uniform_points(graph, 20_000, np.random.default_rng(0))
    share = np.bincount(x.edge) / len(x)

    assert_allclose(share, [1 / 8, 2 / 8, 5 / 8], atol=0.02)
    assert_allclose(np.quantile(x.z[x.edge == 2], [0.25, 0.5, 0.75]), [1.25, 2.5, 3.75], atol=0.15)


def test_the_same_seed_gives_the_same_points():
    graph = MetricGraph([0], [1], [1.0])

    assert uniform_points(graph, 5, np.random.default_rng(3)) == uniform_points(
        graph, 5, np.random.default_rng(3)
    )


def test_a_count_is_not_negative():
    with pytest.raises(ParameterError, match="n counts points, got -1; ask for 0 or more"):
        uniform_points(MetricGraph([0], [1], [1.0]), -1, np.random.default_rng(0))
