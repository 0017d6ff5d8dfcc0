import numpy as np
import pytest

from netbo.errors import GraphError
from netbo.geometry import MetricGraph

LINE = [[0.0, 0.0], [1.0, 0.0]]


@pytest.mark.parametrize(
    ("length", "match"),
    [
        (
            0.0,
            r"got 0.0 on edge 'b'; merge coincident vertices first with merge_vertices\(graph, tolerance\)",
        ),
        (-1.0, "got -1.0 on edge 'b'; measure the edge or drop it"),
        (np.nan, "got nan on edge 'b'"),
        (np.inf, "got inf on edge 'b'"),
    ],
)
def test_lengths_are_positive_and_finite(length, match):
    with pytest.raises(GraphError, match=match):
        MetricGraph([0, 1], [1, 2], [1.0, length], edge_ids=["a", "b"])


def test_an_edge_drawn_as_a_dot_has_no_drawn_length():
    with pytest.raises(GraphError, match=r"got 0.0 on edge 0; merge coincident vertices first"):
        MetricGraph([0], [0], None, positions=[[1.0, 1.0]])


@pytest.mark.parametrize(
    ("tails", "heads", "lengths", "options", "match"),
    [
        ([], [], [], {}, "at least one edge, got none; check the filter"),
        ([0, 1], [1], [1, 1], {}, "one entry per edge, got 2 and 1; pass two sequences"),
        ([0], [1], [1, 1], {}, "lengths must match 1 edges, got 2; give one length per edge"),
        ([0], [1], None, {}, "got neither lengths nor a drawing; pass lengths="),
        ([0], [1.5], [1], {}, "heads must be whole numbers"),
        ([0], [1], ["long"], {}, "edge lengths must be numbers"),
        ([-1], [0], [1], {}, "must lie in 0..0, got -1; pass indices into vertex_ids"),
        ([0], [2], [1], {"vertex_ids": ["a", "b"]}, "must lie in 0..1, got 2"),
        ([0], [2], [1], {"positions": LINE}, "must lie in 0..1, got 2"),
        ([0], [2], [1], {}, "every vertex needs an edge, got 1 without, the first is 1; drop them"),
        ([0], [1], [1], {"vertex_ids": ["a", "b", "c"]}, "every vertex needs an edge, .* the first is 2"),
        ([0], [1], [1], {"vertex_ids": ["a"], "positions": LINE}, "must match, got 1 and 2; give one row"),
        (
            [0],
            [1],
            [1],
            {"vertex_ids": ["a", "a"]},
            "vertex ids must be unique, got 'a' twice; add a counter",
        ),
        ([0], [1], [1], {"edge_ids": ["a", "b"]}, "edge ids must be 1, got 2; give one per edge"),
        ([0], [1], [1], {"edge_ids": [["a"]]}, "edge ids must be hashable, got .*; use strings or tuples"),
        ([0], [1], [1], {"edge_attributes": {"k": [1, 2]}}, "must have 1 values, got 2 in 'k'; give one"),
    ],
)
def test_arrays_that_do_not_fit_are_refused(tails, heads, lengths, options, match):
    with pytest.raises(GraphError, match=match):
        MetricGraph(tails, heads, lengths, **options)


@pytest.mark.parametrize(
    ("options", "match"),
    [
        ({"positions": ["here", "there"]}, "positions must be numbers, got .*; pass an"),
        (
            {"positions": [0.0, 1.0]},
            r"positions must have shape \(n_vertices, 2\) .* got \(2,\); give one row",
        ),
        ({"positions": [[0, 0], [0, np.nan]]}, "positions must be finite, got .* at vertex 1; fill or drop"),
        ({"curves": [LINE, LINE]}, "curves must draw 1 edges, got 2; use None"),
        ({"curves": ["line"]}, "curves must be numbers, got 'line' on edge 0; pass"),
        (
            {"curves": [[[0.0, 0.0]]]},
            r"shape \(k, 2\) or \(k, 3\) with k >= 2, got \(1, 2\) on edge 0; give both",
        ),
        ({"curves": [np.zeros((2, 4))]}, r"got \(2, 4\) on edge 0"),
        (
            {"curves": [[[0.0, 0.0], [np.nan, 1.0]]]},
            "curves must be finite, got NaN or infinity on edge 0; drop",
        ),
        ({"curves": [None]}, "needs positions, got neither on edge 0; pass positions="),
        (
            {"curves": [np.eye(3)], "positions": LINE},
            "must share one dimension, got 3 and 2; drop or add heights",
        ),
        (
            {"curves": [LINE[::-1]], "positions": LINE},
            "from tail to head, got 1 the other way, .* edge 0; reverse",
        ),
    ],
)
def test_drawings_that_do_not_fit_are_refused(options, match):
    with pytest.raises(GraphError, match=match):
        MetricGraph([0], [1], [1.0], **options)


def test_curves_may_miss_their_vertices_a_little():
    """A gap larger than a tiny edge says nothing about its direction."""
    positions = [[0.0, 0.0], [1e-9, 0.0]]
    graph = MetricGraph([0], [1], [1.0], curves=[[[1e-6, 0.0], [0.9e-6, 0.0]]], positions=positions)

    assert graph.n_edges == 1


def test_curves_share_one_dimension():
    with pytest.raises(
        GraphError, match=r"curves must share one dimension, got \[2, 3\]; drop or add heights"
    ):
        MetricGraph([0, 0], [1, 1], [1.0, 1.0], curves=[LINE, np.eye(3)])
