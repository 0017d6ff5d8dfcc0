import numpy as np
import pytest
from numpy.testing import assert_allclose, assert_array_equal

import netbo
from netbo import FiniteElementSpace, Matern, MetricGraph, Points
from netbo.errors import ParameterError, PointError
from netbo.problems import NodalFunction, nearest_nodes, needle, nodal_problem, random_field


def evenly(graph, n):
    """n points on each edge, ends included."""
    edge = np.repeat(np.arange(graph.n_edges), n)
    return Points(edge, np.tile(np.linspace(0.0, 1.0, n), graph.n_edges) * graph.lengths[edge])


def test_the_maximum_of_a_field_is_at_a_node():
    space = FiniteElementSpace.build(netbo.road(30, seed=2), max_cell=0.1)
    problem = random_field(space, Matern(alpha=1.0, range=1.0), 5)
    values = problem(evenly(space.graph, 2001))

    assert values.max() <= problem.maximum
    assert problem(space.nodes).max() == problem.maximum
    assert problem.regret(problem.maximizers)[0] == 0.0
    assert problem.space is space


def test_a_field_is_the_draw_of_its_prior():
    space = FiniteElementSpace.build(netbo.open_rectangle(), max_cell=0.5)
    matern = Matern(alpha=1.0, range=8.0, sigma=2.0)
    drawn = netbo.whittle_matern(space, matern).sample(space.nodes, np.random.default_rng(11))

    assert_array_equal(random_field(space, matern, 11)(space.nodes), drawn)
    assert_array_equal(random_field(space, netbo.whittle_matern(space, matern), 11)(space.nodes), drawn)


def test_seeds_make_different_fields():
    space = FiniteElementSpace.build(netbo.interval(), max_cell=0.1)
    first, same, other = (random_field(space, Matern(alpha=0.5, range=0.3), seed) for seed in (1, 1, 2))

    assert_array_equal(first(space.nodes), same(space.nodes))
    assert first.maximum != other.maximum


def test_a_bare_graph_gets_eight_cells_a_range():
    problem = random_field(netbo.interval(3.0), Matern(alpha=1.0, range=1.0), 0, noise=0.1)

    assert problem.space.n_nodes == 25
    assert problem.noise == 0.1


def test_any_prior_makes_a_field():
    graph = netbo.open_rectangle()
    space = FiniteElementSpace.build(graph, max_cell=1.0)
    for prior in (
        netbo.euclidean_matern(graph, nu=1.5, range=5.0),
        netbo.spectral(space, Matern(alpha=0.75, range=5.0)),
    ):
        problem = random_field(space, prior, 3)

        assert problem(space.nodes).max() == problem.maximum


def test_a_needle_is_highest_at_its_place_only():
    graph = netbo.road(25, seed=4)
    place = graph.points(7, fraction=0.3)
    problem = needle(graph, width=0.15, height=2.0, background=0.8, place=place)
    x = evenly(graph, 5001)
    values, distance = problem(x), graph.distance(x, place)[:, 0]

    assert problem(place[0]) == problem.maximum == 2.0
    assert problem.maximizers == place
    assert (values[distance > 1e-6] < 2.0).all()
    assert distance[np.argmax(values)] <= graph.lengths[7] / 5000


def test_a_needle_ends_at_its_width_and_its_background_stays_below():
    graph = netbo.road(25, seed=4)
    problem = needle(graph, width=0.15, background=0.6, seed=9)
    x = evenly(graph, 2001)
    values, distance = problem(x), graph.distance(x, problem.maximizers)[:, 0]
    far = distance >= 0.15

    assert values[far].max() <= 0.6
    assert values.min() >= 0.0
    assert_allclose(values[far], 0.6 * np.cos(2 * np.pi * distance[far] / graph.diameter) ** 2, atol=1e-12)


def test_a_drawn_place_is_a_node_of_the_space():
    graph = netbo.road(25, seed=4)
    space = FiniteElementSpace.build(graph, max_cell=0.2)
    for seed in range(5):
        problem = needle(graph, width=0.1, seed=seed, space=space)

        assert problem.reachable_regret(space.nodes) == 0.0


def test_a_needle_is_zero_on_components_it_cannot_reach():
    graph = MetricGraph([0, 2], [1, 3], [1.0, 1.0])
    problem = needle(graph, width=0.1, place=graph.points(0, 0.5))

    assert_array_equal(problem(graph.points(1, [0.0, 0.5])), 0.0)


@pytest.mark.parametrize("value", [0.0, -1.0, np.inf, np.nan])
def test_widths_are_positive(value):
    with pytest.raises(ParameterError, match=r"width must be a positive length, got .*; use the unit"):
        needle(netbo.interval(), width=value)
    with pytest.raises(ParameterError, match=r"wavelength must be a positive length, got .*; use the unit"):
        needle(netbo.interval(), width=0.1, wavelength=value)


@pytest.mark.parametrize("background", [1.0, 2.0, -0.1])
def test_the_background_stays_below_the_needle(background):
    with pytest.raises(
        ParameterError, match=r"background must lie in \[0, height\), got background=.*; lower"
    ):
        needle(netbo.interval(), width=0.1, background=background)


def test_a_needle_has_one_place():
    graph = netbo.interval()
    with pytest.raises(PointError, match=r"a needle needs one place, got 2; pass points\[:1\]"):
        needle(graph, width=0.1, place=graph.points(0, [0.2, 0.4]))


def test_nodal_values_are_interpolated_and_scaled():
    space = FiniteElementSpace.build(netbo.interval(2.0), max_cell=1.0)  # nodes 0, 2 and 1
    problem = nodal_problem("corner", space, [1.0, 3.0, 5.0], scaled=True)

    assert_allclose(problem(space.graph.points(0, [0.0, 0.5, 1.0, 2.0])), [-1.0, -0.5, 0.0, -0.5])
    assert_array_equal(problem.maximizers.z, [1.0])
    assert_array_equal(NodalFunction(space, np.array([1.0, 3.0, 5.0]))(space.nodes), [1.0, 3.0, 5.0])


def test_all_nodes_with_the_largest_value_are_maximizers():
    space = FiniteElementSpace.build(netbo.interval(2.0), max_cell=1.0)

    assert_array_equal(nodal_problem("ties", space, [5.0, 3.0, 5.0]).maximizers.z, [0.0, 1.0])


def test_nearest_nodes_are_the_nearest_in_distance():
    space = FiniteElementSpace.build(netbo.road(16, seed=6), max_cell=0.23)
    x = netbo.uniform_points(space.graph, 200, np.random.default_rng(0))
    distance = space.graph.distance(x, space.nodes)

    assert_array_equal(nearest_nodes(space, x), distance.argmin(axis=1))


def test_nodal_values_are_one_finite_number_a_node():
    space = FiniteElementSpace.build(netbo.interval(), max_cell=0.5)
    with pytest.raises(ParameterError, match=r"one for each of 3 nodes, got 2; order them as space\.nodes"):
        nodal_problem("short", space, [1.0, 2.0])
    with pytest.raises(
        ParameterError, match=r"nodal values must be finite, got inf at index 2; an objective"
    ):
        nodal_problem("endless", space, [1.0, 2.0, np.inf])
    with pytest.raises(
        ParameterError, match=r"vary to be scaled, got 1\.0 at all 3 nodes; pass scaled=False"
    ):
        nodal_problem("flat", space, [1.0, 1.0, 1.0], scaled=True)
