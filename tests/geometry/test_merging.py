from dataclasses import replace

import numpy as np
from numpy.testing import assert_allclose, assert_array_equal

from netbo.geometry import MetricGraph, circle, grid, merge_degree_two, star


def zigzag() -> MetricGraph:
    """Path 3 - 0 - 1 - 2, its middle edge drawn backwards and listed first."""
    return MetricGraph(
        [1, 3, 1],
        [0, 0, 2],
        [2.0, 1.0, 4.0],
        positions=[[1, 0], [1, 2], [5, 2], [0, 0]],
        edge_ids=["middle", "left", "right"],
        edge_attributes={"rank": [1, 2, 3]},
    )


def test_a_path_becomes_one_edge_named_and_directed_as_its_first():
    merged = zigzag().merge()

    assert merged.edge_ids == ("middle",)
    assert merged.edge_attributes["rank"] == [1]
    assert merged.total_length == 7.0
    assert merged.vertex_ids == (2, 3)
    assert_array_equal(merged.positions[[merged.tails[0], merged.heads[0]]], [[5, 2], [0, 0]])


def test_transfer_runs_along_the_path():
    merged = merge_degree_two(zigzag())
    moved = merged.transfer(zigzag().points(["right", "right", "middle", "left"], [4.0, 1.0, 0.5, 0.25]))

    assert_allclose(moved.z, [0.0, 3.0, 4.5, 6.75])


def test_the_drawing_stays_where_it_was_even_if_not_to_scale():
    graph = replace(zigzag(), lengths=[9.0, 1.0, 1.0])
    x = graph.points(np.repeat(["middle", "left", "right"], 5), fraction=np.tile(np.linspace(0, 1, 5), 3))
    merged = merge_degree_two(graph)

    assert_allclose(merged.graph.embed(merged.transfer(x)), graph.embed(x), atol=1e-14)


def test_a_cycle_keeps_its_first_vertex():
    cycle = MetricGraph([0, 1, 2], [1, 2, 0], [1.0, 2.0, 3.0])
    merged = cycle.merge()

    assert (merged.n_vertices, merged.n_edges, merged.total_length) == (1, 1, 6.0)
    assert merged.vertex_ids == (0,)


def test_a_lone_loop_and_true_crossings_stay():
    for graph in (circle(), star(3), star(1), grid(2, 3).merge()):
        assert graph.merge() is graph


def test_a_chain_back_to_its_start_becomes_a_loop():
    lollipop = MetricGraph([0, 1, 2, 0], [1, 2, 0, 3], [1.0, 1.0, 1.0, 5.0])
    merged = lollipop.merge()

    assert_array_equal(merged.tails == merged.heads, [True, False])
    assert_array_equal(merged.lengths, [3.0, 5.0])


def test_long_chains_keep_their_digits():
    n = 10_000
    graph = MetricGraph(np.arange(n), np.arange(1, n + 1), np.full(n, 0.1))
    merged = merge_degree_two(graph)
    ends = merged.transfer(graph.vertex_points())

    assert merged.graph.n_edges == 1
    assert_allclose(np.sort(ends.z), 0.1 * np.arange(n + 1), rtol=1e-13)
