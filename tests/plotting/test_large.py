"""Networks of many edges stay readable: thin lines, few pieces, images inside vector files."""

import matplotlib.pyplot as plt
import numpy as np
import pytest
from matplotlib.collections import LineCollection
from numpy.testing import assert_array_equal

from netbo import MetricGraph, grid, interval, open_rectangle, road
from netbo.plotting import canvas as pieces_module
from netbo.plotting import draw_field, draw_network, style
from netbo.plotting.canvas import cut_into_pieces, field_width, straighten


def lines(ax):
    return [each for each in ax.collections if isinstance(each, LineCollection)]


def axes(graph):
    return draw_network(graph, linewidth=1.0)


@pytest.mark.parametrize("graph", [open_rectangle(), interval(5.0), grid(6, 6)])
def test_sparse_networks_have_lines_of_the_usual_width(graph):
    assert field_width(graph, axes(graph)) == style.FIELD_WIDTH


def test_lines_of_a_dense_network_leave_room_between_them():
    """120 streets in 8 inches are less than 5 points apart."""
    graph = grid(120, 120)
    width = field_width(graph, axes(graph))

    assert style.LEAST_WIDTH <= width < 8 * 72 / 119 * 0.8


def test_one_long_line_of_many_short_edges_is_not_thin():
    x = np.linspace(0, 1, 3001)
    graph = MetricGraph(range(3000), range(1, 3001), None, positions=np.stack([x, 0 * x], axis=1))

    assert field_width(graph, axes(graph)) == pytest.approx(style.FIELD_WIDTH, rel=0.1)


def test_small_axes_have_thinner_lines():
    graph = grid(30, 30)
    _, ax = plt.subplots(figsize=(2, 2))
    draw_network(graph, ax)

    assert field_width(graph, ax) < field_width(graph, axes(graph))


def test_many_edges_have_one_piece_each_and_no_bends(monkeypatch):
    monkeypatch.setattr(pieces_module, "MOST_PIECES", 300)
    graph = road(200, seed=1)
    pieces = cut_into_pieces(graph, 10)

    assert len(pieces.edge) <= 2 * graph.n_edges
    assert_array_equal(np.unique(pieces.edge), np.arange(graph.n_edges))


def test_lines_of_large_networks_are_stored_as_an_image():
    large, small = draw_field(grid(60, 60), lambda x: x.z), draw_field(grid(3, 3), lambda x: x.z)

    assert all(each.get_rasterized() for each in lines(large))
    assert not any(each.get_rasterized() for each in lines(small))


def test_vertices_are_left_out_where_they_would_hide_the_edges():
    many, few = draw_network(grid(40, 40)), draw_network(grid(5, 5))

    assert len(many.collections) == 1
    assert len(few.collections) == 2


def test_straight_parts_of_a_stretch_know_it():
    graph = MetricGraph([0], [1], None, curves=[[[0, 0], [1, 0], [1, 1]]])
    owner, pieces = straighten(graph, np.array([0, 0]), np.array([0.0, 0.25]), np.array([0.25, 0.75]))

    assert_array_equal(owner, [0, 1, 1])
    assert_array_equal(pieces.start, [0.0, 0.25, 0.5])
    assert_array_equal(pieces.stop, [0.25, 0.5, 0.75])


@pytest.mark.slow
def test_a_hundred_thousand_edges_are_drawn_in_at_most_two_hundred_thousand_pieces(tmp_path):
    """The lines leave white between them: neither a blank sheet nor a solid block."""
    graph = road(67_000, seed=0)
    ax = draw_field(graph, lambda x: graph.embed(x)[:, 0], label="east")
    (drawn,) = lines(ax)
    ax.figure.savefig(tmp_path / "road.png", dpi=100)
    image = plt.imread(tmp_path / "road.png")[..., :3]
    inside = image[200:600, 100:600].min(axis=2)

    assert graph.n_edges > 100_000
    assert graph.n_edges <= len(drawn.get_segments()) <= 200_000
    assert 0.02 < np.mean(inside > 0.99) < 0.6
