import numpy as np
import pytest
from numpy.testing import assert_array_equal

from netbo.errors import GraphError, PointError
from netbo.geometry import MetricGraph, cut_at, star


def crossing() -> MetricGraph:
    return MetricGraph(
        [0, 0, 3, 0],
        [1, 2, 0, 0],
        [1.0, 1.0, 1.0, 2.0],
        positions=[[0, 0], [1, 0], [0, 1], [-1, 0]],
        curves=[None, None, None, [[0, 0], [0, -1], [0, 0]]],
        edge_ids=["east", "north", "west", "loop"],
        vertex_ids=["x", "e", "n", "w"],
    )


def test_a_cut_parts_the_named_edges_from_the_others():
    graph = crossing().cut("x", ["east", "west"])

    assert graph.n_components == 2
    assert graph.distance(graph.points("east", 1.0), graph.points("west", 0.0))[0, 0] == 2.0
    assert np.isinf(graph.distance(graph.points("east", 1.0), graph.points("north", 1.0)))[0, 0]


def test_the_new_vertex_lies_at_the_old_place_and_has_a_name():
    graph = crossing().cut("x", "east")

    assert graph.vertex_ids == ("x", "e", "n", "w", ("x", 1))
    assert_array_equal(graph.positions[-1], [0, 0])
    assert graph.cut("x", "north").vertex_ids[-1] == ("x", 2)
    assert star(3).cut(0, [1]).vertex_ids == range(5)


def test_a_loop_goes_with_both_ends():
    graph = crossing().cut("x", "loop")

    assert graph.n_components == 2
    assert graph.tails[3] == graph.heads[3] == 4


def test_edges_and_points_stay_as_they_are():
    graph = crossing()
    cut = cut_at(graph, "x", ["loop"])
    x = graph.points(["east", "loop"], [0.5, 0.5])

    assert cut.graph.edge_ids == graph.edge_ids
    assert cut.transfer(x) == x
    assert_array_equal(cut.graph.embed(cut.transfer(x)), graph.embed(x))


@pytest.mark.parametrize(
    ("vertex", "edges", "error", "match"),
    [
        ("y", "east", GraphError, "no vertex has the id 'y'; try one of"),
        ("x", "nort", PointError, "no edge has the id 'nort'; did you mean 'north'"),
        (
            "e",
            "north",
            GraphError,
            "must meet vertex 'e', got edge 'north' that does not; name edges with an end",
        ),
        ("e", "east", GraphError, "must part its 1 edges, got 1 to cut; name some of them, not all"),
        ("x", [], GraphError, "must part its 4 edges, got 0 to cut"),
    ],
)
def test_impossible_cuts_are_refused(vertex, edges, error, match):
    with pytest.raises(error, match=match):
        crossing().cut(vertex, edges)


def test_an_edge_in_pieces_is_cut_by_its_own_id():
    """Of its two pieces the one that ends at the vertex is detached."""
    whole = MetricGraph(
        [0, 1, 1], [1, 2, 3], [2.0, 1.0, 1.0], edge_ids=["a", "b", "c"], vertex_ids=["w", "x", "y", "z"]
    )
    graph = whole.split(whole.points("a", 1.5)).cut("x", "a")

    assert graph.n_components == 2
    assert np.isinf(graph.distance(graph.points("a", 1.0), graph.points("b", 0.5)))[0, 0]
    assert graph.distance(graph.points("a", 0.25), graph.points("a", 1.75))[0, 0] == 1.5
