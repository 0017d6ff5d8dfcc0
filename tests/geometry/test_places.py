import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from numpy.testing import assert_array_equal

from netbo.errors import PointError
from netbo.geometry import (
    PLACE_TOLERANCE,
    PlaceIndex,
    Points,
    circle,
    distinct_places,
    grid,
    interval,
    place_keys,
    place_vertices,
    star,
    uniform_points,
)
from support.strategies import metric_graphs, points_on


@st.composite
def graphs_and_two_sets(draw):
    graph = draw(metric_graphs())
    return graph, draw(points_on(graph, max_size=12)), draw(points_on(graph, max_size=6))


def same_place(graph, x: Points, y: Points) -> np.ndarray:
    """Slow twin: at the same vertex, or on one edge within the tolerance, pair by pair, (n, m)."""
    same = np.zeros((len(x), len(y)), dtype=bool)
    for i, (e, z) in enumerate(zip(x.edge.tolist(), x.z.tolist(), strict=True)):
        for j, (f, w) in enumerate(zip(y.edge.tolist(), y.z.tolist(), strict=True)):
            one, two = vertex_of(graph, e, z), vertex_of(graph, f, w)
            is_near = e == f and abs(z - w) <= PLACE_TOLERANCE * graph.lengths[e]
            same[i, j] = one == two if one >= 0 or two >= 0 else is_near
    return same


def vertex_of(graph, edge: int, z: float) -> int:
    length = graph.lengths[edge]
    if z >= length - PLACE_TOLERANCE * length:
        return int(graph.heads[edge])
    return int(graph.tails[edge]) if z <= PLACE_TOLERANCE * length else -1


@given(graphs_and_two_sets())
def test_the_index_finds_what_a_comparison_of_all_pairs_finds(case):
    graph, candidates, x = case
    index = PlaceIndex(graph, candidates)
    expected = same_place(graph, x, candidates)

    assert [found.tolist() for found in index.find(x)] == [np.flatnonzero(row).tolist() for row in expected]
    assert_array_equal(index.mask(x), expected.any(axis=0))


@given(graphs_and_two_sets())
def test_points_of_one_key_are_no_distance_apart(case):
    graph, x, y = case
    both = Points.concatenate([x, y])
    edge, z = place_keys(graph, both)
    is_equal = (edge[:, None] == edge) & (z[:, None] == z)
    distance = graph.distance(both, both)

    assert (distance[is_equal] <= 2 * PLACE_TOLERANCE * graph.lengths.max()).all()
    assert_array_equal(is_equal[distance == 0], True)


@given(graphs_and_two_sets())
def test_one_point_of_every_place_is_kept_and_it_is_the_first(case):
    graph, x, _ = case
    kept = distinct_places(graph, x)
    same = same_place(graph, x, x)

    assert kept.tolist() == [i for i in range(len(x)) if not same[i, :i].any()]


def test_a_vertex_has_one_key_whatever_edge_names_it():
    graph = star(5, 2.0)
    edge, z = place_keys(graph, graph.points(range(5), 0.0))

    assert len({*zip(edge.tolist(), z.tolist(), strict=True)}) == 1


def test_both_ends_of_a_loop_are_its_vertex():
    graph = circle(8.0)

    assert PlaceIndex(graph, graph.points(0, [0.0, 4.0, 8.0])).find(graph.points(0, 8.0))[0].tolist() == [
        0,
        2,
    ]


def test_the_tolerance_is_relative_to_the_edge():
    graph = interval(1e6)
    near, far = 0.5e-9 * 1e6, 2e-9 * 1e6
    index = PlaceIndex(graph, graph.points(0, [0.0, 3.0, 1e6]))

    assert_array_equal(index.mask(graph.points(0, [near, 3.0 - near, 1e6 - near])), [True] * 3)
    assert_array_equal(index.mask(graph.points(0, [far, 3.0 + far, 1e6 - far])), [False] * 3)
    assert place_vertices(graph, graph.points(0, [near, far, 1e6 - near])).tolist() == [0, -1, 1]


def test_no_places_and_no_candidates_are_fine():
    graph = interval()
    none, some = Points([], [], graph=graph), graph.points(0, [0.0, 0.3])

    assert PlaceIndex(graph, some).find(none) == []
    assert_array_equal(PlaceIndex(graph, some).mask(none), [False, False])
    assert [found.tolist() for found in PlaceIndex(graph, none).find(some)] == [[], []]
    assert PlaceIndex(graph, none).mask(some).shape == (0,)
    assert distinct_places(graph, none).tolist() == []


def test_many_edges_lose_no_digits():
    """The edge number and the distance are sorted apart: their sum would round the distance away."""
    graph = grid(300, 300)
    x = uniform_points(graph, 1000, np.random.default_rng(3))
    shifted = Points(x.edge, np.minimum(x.z + 1e-8, 1.0), graph=graph)
    index = PlaceIndex(graph, x)

    assert [found.tolist() for found in index.find(x)] == [[i] for i in range(1000)]
    assert not index.mask(shifted).any()


def test_points_of_another_network_are_not_found():
    with pytest.raises(PointError, match=r"points must lie on MetricGraph"):
        PlaceIndex(star(3), star(3).points(0, 0.5)).find(star(4).points(0, 0.5))
