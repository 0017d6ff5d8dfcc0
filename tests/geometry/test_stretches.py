import numpy as np
from hypothesis import given
from numpy.testing import assert_array_equal

from netbo import MetricGraph
from netbo.geometry.places import corners_within
from support.strategies import metric_graphs, seeds


def test_corners_strictly_inside_are_found_in_order():
    bent = [[0, 0], [1, 0], [1, 1], [2, 1], [2, 2]]
    graph = MetricGraph([0, 0], [1, 1], None, curves=[bent, bent])
    row, corner = corners_within(
        graph.drawing, np.array([1, 0, 1]), np.array([0.1, 0.25, 0.25]), np.array([0.6, 0.5, 0.8])
    )

    assert_array_equal(row, [0, 0, 2, 2])
    assert_array_equal(corner, [6, 7, 7, 8])


@given(metric_graphs(is_drawn=True), seeds())
def test_it_agrees_with_looking_at_every_corner(graph, seed):
    rng = np.random.default_rng(seed)
    edge = rng.integers(graph.n_edges, size=5)
    start, stop = np.sort(rng.random((2, 5)), axis=0)
    row, corner = corners_within(graph.drawing, edge, start, stop)
    starts, fractions = graph.drawing.starts, graph.drawing.fractions
    expected = [
        (i, c)
        for i in range(5)
        for c in range(starts[edge[i]], starts[edge[i] + 1])
        if start[i] < fractions[c] < stop[i]
    ]

    assert list(zip(row.tolist(), corner.tolist(), strict=True)) == expected
