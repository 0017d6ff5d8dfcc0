import numpy as np
import pytest
from hypothesis import given, settings
from numpy.testing import assert_allclose, assert_array_equal

import netbo
from netbo import FiniteElementSpace, MetricGraph, Points
from netbo.errors import ParameterError, PointError
from netbo.problems import ACKLEY, OUTER_FUNCTIONS, RASTRIGIN, composed, placed_anchors
from support.strategies import metric_graphs, seeds


def evenly(graph, n):
    """n points on each edge, ends included."""
    edge = np.repeat(np.arange(graph.n_edges), n)
    return Points(edge, np.tile(np.linspace(0.0, 1.0, n), graph.n_edges) * graph.lengths[edge])


@settings(max_examples=40, deadline=None)
@given(metric_graphs(), seeds())
def test_values_agree_where_edges_meet(graph, seed):
    """The same vertex reached as tail and as head of any edge: g at the anchor itself."""
    anchors = np.random.default_rng(seed).uniform(-3, 3, graph.n_vertices)
    for outer in OUTER_FUNCTIONS.values():
        problem = composed(graph, outer, anchors, scale=False)
        edges = np.arange(graph.n_edges)

        assert_array_equal(problem(Points(edges, 0 * graph.lengths)), -outer(anchors)[graph.tails])
        assert_array_equal(problem(Points(edges, graph.lengths)), -outer(anchors)[graph.heads])


@settings(max_examples=30, deadline=None)
@given(metric_graphs(), seeds())
def test_scaled_values_fill_the_interval_from_minus_one_to_zero(graph, seed):
    """A grid of 2,001 points an edge has steps of at most 3e-3: it misses a wave of height 20 by 5e-4."""
    anchors = np.random.default_rng(seed).uniform(-3, 3, graph.n_vertices)
    if (anchors[graph.tails] == anchors[graph.heads]).all() and graph.n_components == 1:
        return  # only loops at one vertex: constant
    problem = composed(graph, RASTRIGIN, anchors)
    values = problem(evenly(graph, 2001))

    assert values.max() <= 1e-14 / problem.objective.spread  # values of g up to 30, in rounding
    assert -1 - 1e-12 <= values.min() <= -1 + 5e-4
    assert problem.maximum == 0.0
    assert_allclose(problem(problem.maximizers), 0.0, atol=1e-13 / problem.objective.spread)


@pytest.mark.parametrize("outer", OUTER_FUNCTIONS.values(), ids=OUTER_FUNCTIONS)
def test_both_ends_of_the_scale_are_attained(outer):
    """10^5 points an edge: crests are missed by 1e-8, the cusp by 1e-4."""
    problem = composed(netbo.star(3), outer, [0.3, -1.7, 2.1, 1.4])
    values = problem(evenly(problem.graph, 100_001))

    assert values.min() == pytest.approx(-1.0, abs=1e-7)
    assert -1e-4 <= values.max() <= 0.0
    assert problem(problem.maximizers).max() == pytest.approx(0.0, abs=1e-14)


def test_unscaled_values_are_the_negative_function():
    graph = MetricGraph([0, 1, 1], [1, 2, 2], [1.0, 2.0, 3.0])
    problem = composed(graph, ACKLEY, [0.5, 1.5, 2.5], scale=False)
    x = graph.points([0, 1, 2], fraction=[0.5, 0.25, 1.0])

    assert_allclose(problem(x), -ACKLEY(np.array([1.0, 1.75, 2.5])))
    assert problem.maximum == pytest.approx(-ACKLEY(np.linspace(0.5, 2.5, 200_001)).min(), abs=1e-7)


def test_maximizers_are_all_places_of_the_optimum():
    """Anchors -1, 1, 0 on a triangle: 0 is met at vertex 2 and in the middle of edge (0, 1), no more."""
    graph = MetricGraph([0, 1, 2], [1, 2, 0], [2.0, 1.0, 1.0])
    best = composed(graph, ACKLEY, [-1.0, 1.0, 0.0]).maximizers

    assert len(best) == 2
    assert_allclose(graph.distance(best, graph.vertex_points([2]))[:, 0], [0.0, 2.0])


def test_a_component_away_from_the_optimum_does_not_count():
    """Anchors jump from 0.4 to 0.8 between components: 0.5 to 0.7 is no value of a."""
    graph = MetricGraph([0, 2], [1, 3], [1.0, 1.0])
    problem = composed(graph, RASTRIGIN, [0.3, 0.4, 0.8, 0.9], scale=False)
    values = problem(evenly(graph, 10_001))

    assert problem.maximum == values.max()
    assert problem.maximum == -RASTRIGIN(np.array([0.3, 0.4, 0.8, 0.9])).min()
    assert_array_equal(problem.maximizers.edge, [1])


def test_loops_are_constant():
    graph = MetricGraph([0, 0], [0, 1], [1.0, 1.0])
    problem = composed(graph, ACKLEY, [0.0, 1.0])
    x = graph.points(0, [0.0, 0.3, 1.0])

    assert_allclose(problem(x), 0.0, atol=1e-15)


def test_a_space_leaves_the_maximum_of_the_continuum():
    """Optimum in the middle of one edge, nodes at thirds: the best node has |a| = 1/3."""
    graph = netbo.interval(3.0)
    space = FiniteElementSpace.build(graph, max_cell=1.0)
    problem = composed(graph, ACKLEY, [-1.0, 1.0], space=space, scale=False)

    assert problem.maximum == 0.0
    assert problem.reachable_regret(space.nodes) == pytest.approx(float(ACKLEY(np.array(1 / 3))))


def test_flipping_an_edge_changes_no_value():
    anchors, lengths = [0.4, -0.7, 1.9], np.array([1.0, 2.0, 3.0])
    here = composed(MetricGraph([0, 1, 1], [1, 2, 2], lengths), ACKLEY, anchors)
    flipped = composed(MetricGraph([0, 2, 1], [1, 1, 2], lengths), ACKLEY, anchors)
    z = np.linspace(0, 2, 11)

    assert_allclose(here(here.graph.points(1, z)), flipped(flipped.graph.points(1, 2 - z)), atol=1e-14)


@pytest.mark.parametrize("outer", OUTER_FUNCTIONS.values(), ids=OUTER_FUNCTIONS)
def test_placed_anchors_put_the_optimum_at_a_vertex(outer):
    graph = netbo.road(25, seed=1)
    place = graph.vertex_points([7])
    anchors = placed_anchors(graph, place, optimum=outer.minimizer)
    problem = composed(graph, outer, anchors)
    x = evenly(graph, 2001)
    values, distance = problem(x), graph.distance(x, place)[:, 0]

    assert problem.maximizers[0] == place[0]
    assert len(problem.maximizers) == 1
    assert distance[np.argmax(values)] == 0.0
    assert (values[distance > 0] < 0).all()
    assert anchors.max() - outer.minimizer <= 3.0


def test_placed_anchors_follow_the_distance_between_vertices():
    """On a path of lengths 1 and 3, the diameter is 4."""
    graph = MetricGraph([0, 1], [1, 2], [1.0, 3.0])

    assert_allclose(placed_anchors(graph, graph.vertex_points([1]), optimum=1.0, scale=2.0), [1.5, 1.0, 2.5])


def test_a_place_inside_an_edge_can_be_made_a_vertex():
    graph = netbo.interval(2.0)
    place = graph.points(0, 0.5)
    with pytest.raises(PointError, match=r"placed at a vertex, got a point 0\.5 away.*graph\.split\(place\)"):
        placed_anchors(graph, place)
    split = graph.split(place)
    anchors = placed_anchors(split, split.vertex_points([2]))

    assert_allclose(anchors, [0.75, 2.25, 0.0])


def test_placed_anchors_need_one_place_that_reaches_all():
    graph = MetricGraph([0, 2], [1, 3], [1.0, 1.0])
    with pytest.raises(PointError, match=r"one place, got 2; pass points\[:1\]"):
        placed_anchors(graph, graph.vertex_points([0, 1]))
    with pytest.raises(PointError, match=r"connected to every vertex, got 2 components; take one with"):
        placed_anchors(graph, graph.vertex_points([0]))
    with pytest.raises(ParameterError, match=r"scale must be positive, got 0; 3 spans three waves"):
        placed_anchors(netbo.interval(), netbo.interval().vertex_points([0]), scale=0)


def test_a_constant_cannot_be_scaled():
    with pytest.raises(ParameterError, match=r"vary to be scaled, got .* everywhere; .* or pass scale=False"):
        composed(netbo.interval(), ACKLEY, [1.0, 1.0])

    constant = composed(netbo.interval(), ACKLEY, [1.0, 1.0], scale=False)
    assert constant.maximum == pytest.approx(-20 * (1 - np.exp(-0.2)))


def test_anchors_are_one_finite_number_a_vertex():
    graph = netbo.interval()
    with pytest.raises(ParameterError, match=r"one number for each of 2 vertices, got 3; order them"):
        composed(graph, ACKLEY, [0.0, 1.0, 2.0])
    with pytest.raises(ParameterError, match=r"anchors must be finite, got nan at index 1; give every"):
        composed(graph, ACKLEY, [0.0, np.nan])
    with pytest.raises(ParameterError, match=r"span at most 10000, got 20000; scale them down"):
        composed(graph, ACKLEY, [0.0, 2e4])
