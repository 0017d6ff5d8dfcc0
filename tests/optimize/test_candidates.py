import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from numpy.testing import assert_allclose, assert_array_equal

from netbo import FiniteElementSpace, MetricGraph, Points, circle, interval, star, uniform_points
from netbo.errors import NumericalError, ParameterError, PointError
from netbo.optimize.search_space import Forbidden, Nodes, Places
from support.strategies import metric_graphs, seeds


@st.composite
def graphs_with_forbidden(draw):
    """A graph, and some of its edges and stretches, touching and overlapping ones among them."""
    graph = draw(metric_graphs())
    edge = st.integers(0, graph.n_edges - 1)
    fraction = st.one_of(st.sampled_from([0.0, 0.25, 0.5, 1.0]), st.floats(0.0, 1.0))
    stretches = []
    for e, a, b in draw(st.lists(st.tuples(edge, fraction, fraction), max_size=4)):
        stretches.append((e, min(a, b) * float(graph.lengths[e]), max(a, b) * float(graph.lengths[e])))
    return graph, Forbidden(draw(st.lists(edge, max_size=2)), stretches)


def is_forbidden(forbidden: Forbidden, graph: MetricGraph, edge: int, z: float) -> bool:
    """Slow twin for one address on one edge."""
    slack = 1e-9 * graph.lengths[edge]
    return edge in forbidden.edges or any(
        e == edge and a - slack <= z <= b + slack for e, a, b in forbidden.stretches
    )


def everywhere(search) -> np.ndarray:
    return np.ones(len(search.points), dtype=bool)


def test_nodes_stand_for_the_whole_network():
    space = FiniteElementSpace.build(star(3, 2.0), max_cell=0.5)
    search = Nodes(space)

    assert search.points is space.nodes
    assert search.graph is space.graph
    assert_allclose(search.weights, space.lumped_mass, rtol=1e-14)


@given(metric_graphs(), st.floats(0.05, 2.0))
def test_weights_sum_to_the_length_of_the_network(graph, max_cell):
    search = Nodes(FiniteElementSpace.build(graph, max_cell=max_cell))

    assert_allclose(search.weights.sum(), graph.total_length, rtol=1e-12)
    assert_allclose(search.weights, search.space.lumped_mass, rtol=1e-11)


@given(graphs_with_forbidden(), seeds())
def test_a_point_is_allowed_unless_all_its_addresses_are_forbidden(case, seed):
    graph, forbidden = case
    inside = uniform_points(graph, 10, np.random.default_rng(seed))
    vertices = graph.vertex_points()
    ends = [
        [
            is_forbidden(forbidden, graph, e, z)
            for e in range(graph.n_edges)
            for end, z in ((graph.tails[e], 0.0), (graph.heads[e], float(graph.lengths[e])))
            if end == vertex
        ]
        for vertex in range(graph.n_vertices)
    ]

    assert forbidden.allows(vertices).tolist() == [not all(each) for each in ends]
    assert forbidden.allows(inside).tolist() == [
        not is_forbidden(forbidden, graph, e, z)
        for e, z in zip(inside.edge.tolist(), inside.z.tolist(), strict=True)
    ]


@given(graphs_with_forbidden())
def test_pieces_avoid_what_is_forbidden_and_lie_beside_their_node(case):
    graph, forbidden = case
    space = FiniteElementSpace.build(graph, max_cell=1.0)
    if not forbidden.allows(space.nodes).any():
        return
    search = Nodes(space, forbidden)
    pieces = search.pieces
    middle = Points(pieces.edge, (pieces.start + pieces.end) / 2, graph=graph)
    long = pieces.lengths > 1e-6
    reach = graph.distance(search.points, middle)[pieces.owner, np.arange(len(middle))]

    assert (pieces.lengths > 0).all()
    assert (search.weights > 0).all()
    assert forbidden.allows(middle)[long].all()
    assert (reach <= space.cell_lengths[pieces.edge] / 2 * (1 + 1e-9)).all()


def test_a_vertex_is_forbidden_only_with_all_edges_that_meet_it():
    graph = star(3)
    centre = graph.points([0, 1, 2], 0.0)

    assert_array_equal(Forbidden(edges=[0, 1]).allows(centre), [True] * 3)
    assert_array_equal(Forbidden(edges=[0, 1], stretches=[(2, 0.0, 0.1)]).allows(centre), [False] * 3)
    assert_array_equal(Forbidden(edges=[0, 1], stretches=[(2, 0.1, 0.2)]).allows(centre), [True] * 3)


def test_a_loop_meets_its_vertex_with_both_ends():
    graph = circle(4.0)
    vertex = graph.points(0, [0.0, 4.0])

    assert_array_equal(Forbidden(stretches=[(0, 0.0, 1.0)]).allows(vertex), [True, True])
    assert_array_equal(Forbidden(stretches=[(0, 0.0, 1.0), (0, 3.5, 4.0)]).allows(vertex), [False, False])


def test_stretches_are_closed_up_to_rounding():
    graph = interval()
    forbidden = Forbidden(stretches=[(0, 0.2, 0.3)])
    x = graph.points(0, [0.19999, 0.2, 0.25, 0.1 * 3, 0.30001])  # 0.1 * 3 > 0.3

    assert_array_equal(forbidden.allows(x), [True, False, False, False, True])


def test_forbidden_nodes_are_left_out_and_cells_are_cut():
    """Nodes 0, 1, ..., 4 on an edge of length 4; the stretch takes node 2 and half of the cell of node 3."""
    search = Nodes(
        FiniteElementSpace.build(interval(4.0), max_cell=1.0), Forbidden(stretches=[(0, 1.25, 3 - 0.25)])
    )

    assert sorted(search.points.z.tolist()) == [0.0, 1.0, 3.0, 4.0]
    assert_allclose(search.weights[np.argsort(search.points.z)], [0.5, 0.75, 0.75, 0.5], rtol=1e-14)


def test_a_stretch_within_a_cell_leaves_both_sides():
    search = Nodes(
        FiniteElementSpace.build(interval(2.0), max_cell=1.0), Forbidden(stretches=[(0, 1.1, 1.2)])
    )

    assert_allclose(search.weights.sum(), 1.9, rtol=1e-14)
    assert np.count_nonzero(search.pieces.owner == 2) == 3


def test_edges_are_named_by_the_users_ids():
    graph = MetricGraph([0, 1, 2], [1, 2, 3], [1.0] * 3, edge_ids=["a", "b", ("c", 1)])
    middles = graph.points(["a", "b", ("c", 1)], 0.5)

    assert Forbidden(edges="a").allows(middles).tolist() == [False, True, True]
    assert Forbidden(edges=("c", 1)).allows(middles).tolist() == [True, True, False]
    assert Forbidden(edges=["b", ("c", 1)]).allows(middles).tolist() == [True, False, False]
    assert Forbidden(edges={"a"}, stretches=[("b", 0, 1)]).allows(middles).tolist() == [False, False, True]
    with pytest.raises(PointError, match=r"no edge has the id 'd'"):
        Forbidden(edges=["d"]).allows(middles)


def test_places_at_one_place_are_merged_into_the_first():
    graph = star(3)
    search = Places(graph, graph.points([0, 1, 1, 2, 1], [0.5, 0.0, 0.5, 0.0, 0.5]))

    assert search.points == graph.points([0, 1, 1], [0.5, 0.0, 0.5])
    assert search.points.graph is graph
    assert_array_equal(search.weights, np.zeros(3))


def test_places_may_be_forbidden_too():
    graph = star(3)
    search = Places(graph, Points([0, 1, 2], [0.5, 0.5, 0.5]), Forbidden(edges=[1]))

    assert search.points.edge.tolist() == [0, 2]


@pytest.mark.parametrize("kind", ["nodes", "places"])
def test_the_largest_allowed_score_wins(kind):
    graph = interval()
    space = FiniteElementSpace.build(graph, max_cell=0.25)
    search = Nodes(space) if kind == "nodes" else Places(graph, space.nodes)
    allowed = search.points.z != 1.0
    best = search.maximize(lambda x: x.z, allowed)

    assert len(best) == 1
    assert best.graph is graph
    assert best.z[0] == 0.75


@pytest.mark.parametrize(
    ("scores", "winner"),
    [
        ([1.0, 3.0, 3.0, 2.0], 1),
        ([np.nan, 3.0, np.nan, 4.0], 3),
        ([-np.inf, np.nan, -np.inf, -np.inf], 0),
        ([np.nan, -np.inf, -1e300, np.nan], 2),
        ([0.0, np.inf, 1.0, np.inf], 1),
    ],
)
def test_the_first_of_equals_wins_and_nan_never(scores, winner):
    graph = interval()
    search = Places(graph, graph.points(0, [0.0, 0.1, 0.2, 0.3]))

    assert search.maximize(lambda x: np.array(scores), everywhere(search)) == search.points[[winner]]


def test_nothing_but_nan_is_an_error():
    graph = interval()
    search = Places(graph, graph.points(0, [0.0, 0.5]))

    with pytest.raises(NumericalError, match=r"the scores of all 1 allowed candidates are NaN; check"):
        search.maximize(lambda x: np.array([1.0, np.nan]), np.array([False, True]))


@pytest.mark.parametrize("allowed", [[False, False], [True]])
def test_something_has_to_be_allowed(allowed):
    graph = interval()
    search = Places(graph, graph.points(0, [0.0, 0.5]))

    with pytest.raises(ParameterError, match=r"one of the 2 candidates must be allowed, got"):
        search.maximize(lambda x: x.z, np.array(allowed))


def test_scores_are_one_number_a_candidate():
    graph = interval()
    search = Places(graph, graph.points(0, [0.0, 0.5]))

    with pytest.raises(
        ParameterError, match=r"scores must be one number for each of 2 points, got shape \(\)"
    ):
        search.maximize(lambda x: np.float64(1.0), everywhere(search))


def test_a_search_without_candidates_is_refused():
    graph = interval()
    everything = Forbidden(edges=[0])

    with pytest.raises(ParameterError, match=r"all 3 candidates are forbidden; forbid less or refine"):
        Nodes(FiniteElementSpace.build(graph, max_cell=0.5), everything)
    with pytest.raises(ParameterError, match=r"all 1 candidates are forbidden; forbid less or refine"):
        Places(graph, graph.points(0, 0.5), everything)
    with pytest.raises(ParameterError, match=r"a search needs at least one place, got none"):
        Places(graph, Points([], []))


@pytest.mark.parametrize("stretch", [(0, 0.5), 0, (0, "a", 1.0), (0, None, 1.0)])
def test_a_stretch_has_an_edge_and_two_ends(stretch):
    with pytest.raises(ParameterError, match=r"a stretch must be \(edge id, from, to\), got"):
        Forbidden(stretches=[stretch])


@pytest.mark.parametrize("ends", [(0.5, 0.4), (-0.1, 0.4), (0.1, np.inf), (np.nan, 0.4)])
def test_a_stretch_runs_from_the_tail(ends):
    with pytest.raises(ParameterError, match=r"a stretch must run from 0 or more upwards, got"):
        Forbidden(stretches=[(0, *ends)])


def test_a_stretch_lies_within_its_edge():
    graph = interval()

    with pytest.raises(ParameterError, match=r"a stretch must lie within its edge, got 0.5 to 1.5 on edge 0"):
        Forbidden(stretches=[(0, 0.5, 1.5)]).allows(graph.points(0, 0.5))


def test_points_without_a_graph_cannot_be_judged():
    with pytest.raises(PointError, match=r"forbidden edges need a graph, got points without one; bind them"):
        Forbidden(edges=[0]).allows(Points([0], [0.5]))
