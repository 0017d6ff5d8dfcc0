import matplotlib.pyplot as plt
import numpy as np
import pytest
from numpy.testing import assert_allclose, assert_array_equal

from netbo import (
    FiniteElementSpace,
    Matern,
    MetricGraph,
    Observations,
    condition,
    interval,
    open_rectangle,
    whittle_matern,
)
from netbo.errors import ParameterError
from netbo.plotting import draw_edge_ids, draw_network, draw_profile


def posterior_on(graph, points, values):
    space = FiniteElementSpace.build(graph, n_nodes=60)
    prior = whittle_matern(space, Matern(alpha=1.0, range=1.0))
    return condition(prior, Observations(points, values), regularization=0.01)


def line(ax, label):
    (found,) = [each for each in ax.lines if each.get_label() == label]
    return found


def test_mean_band_and_observations_are_those_of_the_posterior():
    graph = interval(3.0)
    x = graph.points(0, [0.5, 2.0])
    posterior = posterior_on(graph, x, [1.0, -1.0])
    ax = draw_profile(graph, posterior, samples=30)
    places = graph.points(0, np.linspace(0, 3, 31))
    mean, sd = posterior.mean(places), posterior.std(places)
    band = ax.collections[0].get_paths()[0].vertices

    assert_allclose(line(ax, "posterior mean").get_xdata(), places.z)
    assert_allclose(line(ax, "posterior mean").get_ydata(), mean)
    assert_allclose(line(ax, "observations").get_xydata(), [[0.5, 1.0], [2.0, -1.0]])
    assert_allclose([band[:, 1].min(), band[:, 1].max()], [(mean - 2 * sd).min(), (mean + 2 * sd).max()])


def test_repeated_observations_are_all_shown():
    graph = interval(3.0)
    ax = draw_profile(graph, posterior_on(graph, graph.points(0, [1.0, 1.0]), [0.0, 2.0]))

    assert_array_equal(np.sort(line(ax, "observations").get_ydata()), [0.0, 2.0])


def test_lines_break_only_where_the_route_jumps():
    graph = open_rectangle()
    posterior = posterior_on(graph, graph.points([0], [1.0]), [1.0])
    whole, parts = draw_profile(graph, posterior), draw_profile(graph, posterior, edges=[0, 2, 3])
    gaps = np.isnan(line(parts, "posterior mean").get_xdata())

    assert not np.isnan(line(whole, "posterior mean").get_xdata()).any()
    assert gaps.sum() == 1
    assert line(parts, "posterior mean").get_xdata()[np.flatnonzero(gaps) - 1] == 17.5


def test_guides_stand_at_the_vertices_and_ids_above_the_edges():
    graph = MetricGraph([0, 1], [1, 2], [1.0, 2.0], edge_ids=["main", "branch"], unit="km")
    ax = draw_profile(graph, posterior_on(graph, graph.points("main", [0.5]), [1.0]), label="pressure (bar)")
    guides = [each.get_xdata()[0] for each in ax.lines if each.get_linewidth() < 1]
    (above,) = ax.child_axes

    assert_array_equal(guides, [0, 1, 3])
    assert [tick.get_text() for tick in above.get_xticklabels()] == ["main", "branch"]
    assert_allclose(above.get_xticks(), [0.5, 2.0])
    assert ax.get_xlabel() == "distance along the edges (km)"
    assert ax.get_ylabel() == "pressure (bar)"


def test_a_graph_without_coordinates_has_a_profile():
    graph = MetricGraph([0], [0], [2.0])

    assert draw_profile(graph, posterior_on(graph, graph.points(0, [0.5]), [1.0])).lines


def test_many_edges_go_without_ids():
    graph = MetricGraph(range(30), range(1, 31), np.ones(30))

    assert not draw_profile(graph, posterior_on(graph, graph.points(0, [0.5]), [1.0])).child_axes


def test_a_reference_is_drawn_beside():
    graph = interval(3.0)
    posterior = posterior_on(graph, graph.points(0, [0.5]), [1.0])
    _, ax = plt.subplots()

    assert draw_profile(graph, posterior, ax, reference=lambda x: x.z) is ax
    assert_allclose(line(ax, "truth").get_ydata(), line(ax, "truth").get_xdata())


@pytest.mark.parametrize("samples", [1, 500])
def test_both_ends_of_the_route_are_drawn(samples):
    graph = interval(3.0)
    ax = draw_profile(graph, posterior_on(graph, graph.points(0, [0.5]), [1.0]), samples=samples)

    assert line(ax, "posterior mean").get_xdata()[[0, -1]].tolist() == [0, 3]


def test_a_profile_follows_the_shortest_path_between_two_places():
    """Around the corner of the rectangle: 1 left on the first side, 2 up, 3 to the right."""
    graph = open_rectangle()
    posterior = posterior_on(graph, graph.points([0, 1], [16.0, 1.0]), [1.0, 2.0])
    ax = draw_profile(graph, posterior, between=(graph.points(0, 16.5), graph.points(2, 3.0)))

    assert line(ax, "posterior mean").get_xdata()[[0, -1]].tolist() == [0, 6]
    assert_allclose(line(ax, "observations").get_xydata(), [[2.0, 2.0]])
    assert ax.get_xlabel() == "distance along the path"


def test_any_function_of_places_has_a_profile():
    ax = draw_profile(interval(3.0), lambda x: x.z**2, label="square")
    (curve,) = [each for each in ax.lines if each.get_linewidth() > 1]

    assert_allclose(curve.get_ydata(), curve.get_xdata() ** 2)
    assert not ax.collections


def test_a_profile_follows_edges_or_a_path():
    graph = open_rectangle()
    with pytest.raises(ParameterError, match="edges or a path, got both"):
        draw_profile(graph, lambda x: x.z, edges=[0], between=(graph.points(0, 1.0), graph.points(0, 2.0)))


def test_long_ids_are_turned_so_that_they_do_not_run_into_one_another():
    ids = [("a long name", "another long name", number) for number in range(4)]
    graph = MetricGraph(range(4), range(1, 5), np.ones(4), edge_ids=ids)
    (above,) = draw_profile(graph, lambda x: x.z).child_axes

    assert {tick.get_rotation() for tick in above.get_xticklabels()} == {90.0}


def test_vertices_are_not_marked_where_they_are_too_many():
    graph = MetricGraph(range(300), range(1, 301), np.ones(300))

    assert len(draw_profile(graph, lambda x: x.z).lines) == 1


def test_dollars_in_ids_are_no_formulas():
    graph = MetricGraph([0], [1], [2.0], positions=[[0, 0], [2, 0]], edge_ids=["$\\frac$"])

    draw_profile(graph, lambda x: x.z).figure.draw_without_rendering()
    draw_edge_ids(graph, draw_network(graph)).figure.draw_without_rendering()
