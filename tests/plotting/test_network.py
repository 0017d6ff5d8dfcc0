import matplotlib.pyplot as plt
import numpy as np
import pytest
from matplotlib.collections import LineCollection, PathCollection
from matplotlib.colors import Normalize, to_rgba
from numpy.testing import assert_allclose, assert_array_equal

from netbo import MetricGraph, circle, interval, open_rectangle, road, star, uniform_points
from netbo.errors import GraphError, ParameterError
from netbo.plotting import draw_edge_ids, draw_field, draw_network, draw_points, style


def lines(ax):
    return [each for each in ax.collections if isinstance(each, LineCollection)]


def markers(ax):
    return [each for each in ax.collections if isinstance(each, PathCollection)]


def height_above(graph):
    return lambda x: graph.embed(x)[:, 1]


def test_every_edge_is_drawn_along_its_whole_curve():
    graph = road(20, seed=4)
    (outline,) = lines(draw_network(graph, color="red", linewidth=2.5))

    for edge, curve in enumerate(outline.get_segments()):
        corners = slice(*graph.drawing.starts[edge : edge + 2])
        assert_array_equal(curve, graph.drawing.coordinates[corners])
    assert len(outline.get_segments()) == graph.n_edges
    assert_array_equal(outline.get_colors()[0], to_rgba("red"))
    assert outline.get_linewidth()[0] == 2.5


def test_vertices_are_dots_at_their_places_or_left_out():
    graph = star(5)
    (dots,) = markers(draw_network(graph))

    assert_allclose(dots.get_offsets(), graph.positions, atol=1e-12)
    assert not markers(draw_network(graph, vertex_size=0))


@pytest.mark.parametrize("graph", [open_rectangle(), road(20, seed=4), circle(2.0)])
def test_segments_carry_the_field_at_their_middles(graph):
    """The field is the height of the drawing, linear on each straight piece."""
    _, coloured = lines(draw_field(graph, height_above(graph), samples=300))
    middles = np.array(coloured.get_segments()).mean(axis=1)

    assert_allclose(coloured.get_array(), middles[:, 1], atol=1e-9)


def test_segments_lie_on_the_curves():
    graph = road(20, seed=4)
    _, coloured = lines(draw_field(graph, height_above(graph)))
    _, off = graph.nearest(np.concatenate(coloured.get_segments()))

    assert off.max() < 1e-9


def test_the_field_is_called_once():
    calls = []
    draw_field(interval(), lambda x: calls.append(len(x)) or x.z)

    assert len(calls) == 1


def test_colours_span_the_values_or_the_given_norm():
    graph = interval(4.0)
    _, free = lines(draw_field(graph, lambda x: x.z, samples=40))
    _, fixed = lines(draw_field(graph, lambda x: x.z, norm=Normalize(-1, 9)))
    _, half = lines(draw_field(graph, lambda x: x.z, norm=Normalize(vmin=0)))

    assert free.get_clim() == pytest.approx((0.05, 3.95))
    assert fixed.get_clim() == (-1, 9)
    assert half.get_clim() == pytest.approx((0, 4), abs=0.01)


def test_the_colour_bar_has_the_label_and_the_map():
    ax = draw_field(interval(), lambda x: x.z, cmap=style.SPREAD_MAP, label="sd (bar)")
    bar = lines(ax)[1].colorbar

    assert bar.ax.get_ylabel() == "sd (bar)"
    assert bar.cmap.name == style.SPREAD_MAP


def test_nothing_is_coloured_where_the_field_is_unknown():
    _, coloured = lines(draw_field(interval(), lambda x: np.where(x.z < 0.5, np.nan, 1.0), samples=10))

    assert_array_equal(np.ma.getmaskarray(coloured.get_array()), [True] * 5 + [False] * 5)


def test_a_field_that_gives_too_few_values_is_refused():
    with pytest.raises(ParameterError, match=r"a field must give one value per point, got 1 for \d+ points"):
        draw_field(interval(), lambda x: x.z[:1])


def test_points_are_marked_at_their_places():
    graph = road(20, seed=4)
    points = uniform_points(graph, 9, np.random.default_rng(0))
    ax = draw_points(graph, points, size=5.0, label="sensors")
    marks = markers(ax)[-1]

    assert_allclose(marks.get_offsets(), graph.embed(points))
    assert marks.get_sizes() == [25.0]
    assert marks.get_label() == "sensors"


def test_marks_share_the_colours_of_the_field_beneath():
    graph = interval(4.0)
    norm = Normalize(0, 4)
    ax = draw_field(graph, lambda x: x.z, norm=norm)
    draw_points(graph, graph.points(0, [1.0, 3.0]), ax, values=[1.0, 3.0], norm=norm)
    marks = markers(ax)[-1]

    ax.figure.draw_without_rendering()

    assert_array_equal(marks.get_array(), [1.0, 3.0])
    assert_allclose(marks.get_facecolors()[1], lines(ax)[1].to_rgba([3.0])[0])


def test_points_and_values_must_match():
    graph = interval()
    with pytest.raises(ParameterError, match="points to draw need one value each, got 1 for 2 points"):
        draw_points(graph, graph.points(0, [0.1, 0.2]), values=[1.0])


def test_edge_ids_stand_beside_the_middles_of_their_edges():
    """To the right as seen from the tail: below an edge that runs to the right."""
    graph = MetricGraph([0], [1], [2.0], positions=[[0, 0], [2, 0]], edge_ids=["main"])
    (text,) = draw_edge_ids(graph, draw_network(graph), offset=9.0).texts

    assert text.get_text() == "main"
    assert text.xy == pytest.approx((1, 0))
    assert text.xyann == pytest.approx((0, -9))


def test_given_axes_are_used_and_returned():
    graph = star(3)
    figure, ax = plt.subplots()

    assert draw_network(graph, ax) is ax
    assert draw_field(graph, lambda x: x.z, ax) is ax
    assert draw_points(graph, graph.points(0, [0.5]), ax) is ax
    assert plt.get_fignums() == [figure.number]


def test_plans_are_to_scale_unless_asked_otherwise():
    graph = open_rectangle()

    assert draw_network(graph).get_aspect() == 1
    assert draw_network(graph, to_scale=False).get_aspect() == "auto"


def test_the_whole_network_is_in_view():
    graph = open_rectangle()
    point = graph.points(0, 1.0)
    for ax in (draw_network(graph), draw_field(graph, lambda x: x.z), draw_points(graph, point)):
        assert_array_equal(np.sign(ax.get_xlim() - np.array([0, 36])), [-1, 1])
        assert_array_equal(np.sign(ax.get_ylim() - np.array([0, 2])), [-1, 1])


def test_to_scale_a_thin_network_has_the_same_room_on_all_sides():
    """Room in shares of the height would cut thick lines in half."""
    ax = draw_network(open_rectangle())

    assert ax.get_xlim()[0] == pytest.approx(ax.get_ylim()[0])


def test_new_figures_take_the_proportions_of_the_network_within_bounds():
    wide, tall = draw_network(open_rectangle()), draw_network(open_rectangle(width=2.0, height=36.0))

    assert wide.figure.get_figheight() == style.FIGURE_HEIGHTS[0]
    assert tall.figure.get_figheight() == style.FIGURE_HEIGHTS[1]


@pytest.mark.parametrize("places", [[[0, 0], [0, 1]], [[0, 0], [1, 0]]])
def test_a_network_without_extent_in_one_direction_is_drawn(places):
    ax = draw_network(MetricGraph([0], [1], [1.0], positions=places))
    ax.figure.draw_without_rendering()

    assert np.all(np.isfinite([*ax.get_xlim(), *ax.get_ylim()]))


def test_a_graph_without_coordinates_cannot_be_drawn_and_leaves_no_figure():
    graph = MetricGraph([0], [1], [1.0])

    with pytest.raises(GraphError, match="needs coordinates"):
        draw_network(graph)
    with pytest.raises(GraphError, match="needs coordinates"):
        draw_field(graph, lambda x: x.z)
    with pytest.raises(GraphError, match="needs coordinates"):
        draw_points(graph, graph.points(0, [0.5]))
    assert not plt.get_fignums()


@pytest.mark.parametrize(
    ("norm", "extend"),
    [
        (None, "neither"),
        (Normalize(1, 9), "min"),
        (Normalize(-1, 2), "max"),
        (Normalize(1, 2), "both"),
    ],
)
def test_the_colour_bar_is_pointed_where_values_lie_beyond(norm, extend):
    ax = draw_field(interval(4.0), lambda x: x.z, norm=norm)

    assert lines(ax)[1].colorbar.extend == extend


def test_long_labels_of_colour_bars_are_broken_to_fit():
    label = "standard deviation of the sound level (dB)"
    flat, high = (
        lines(draw_field(graph, lambda x: x.z, label=label))[1].colorbar.ax.get_ylabel()
        for graph in (open_rectangle(), star(4))
    )

    assert flat.replace("\n", " ") == label
    assert "\n" in flat
    assert high == label
