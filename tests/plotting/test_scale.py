"""Scale bars tell the truth, arrows point north, labels cover neither each other nor their places."""

import matplotlib.pyplot as plt
import numpy as np
import pytest
from matplotlib.lines import Line2D

from netbo import MetricGraph, Optimizer, plotting, star
from netbo.errors import ParameterError
from netbo.plotting.network import LETTER, LINE, MARK, spread_out
from netbo.plotting.scale import bar_of, has_scale, unit_of_drawing


def square(**options):
    """Four sides of 1000 units of the drawing."""
    corners = [[0, 0], [1000, 0], [1000, 1000], [0, 1000]]
    return MetricGraph([0, 1, 2, 3], [1, 2, 3, 0], options.pop("lengths", None), positions=corners, **options)


def box_of(ax):
    (box,) = [artist for artist in ax.artists if artist.get_gid() == "netbo-scale"]
    return box


def words_of(ax):
    return {text.get_text() for text in box_of(ax).findobj(plt.Text) if text.get_text()}


@pytest.mark.parametrize(
    ("options", "expected"),
    [
        ({"unit": "m"}, (1.0, "m")),
        ({"unit": "km", "lengths": [1.0] * 4}, (0.001, "km")),  # drawn in metres
        ({"unit": "m", "lengths": [900.0, 5000.0, 80.0, 1000.0]}, None),  # schematic
        ({}, None),  # nobody said what the numbers are
        ({"crs": "EPSG:32633"}, (1.0, "m")),
        ({"crs": "EPSG:2263"}, (1.0, "US ft")),
        ({"crs": "EPSG:4326"}, None),  # degrees are no lengths
        ({"crs": "EPSG:3857", "unit": "m", "lengths": [640.0] * 4}, (0.64, "m")),  # Mercator, true lengths
        ({"crs": "EPSG:32633", "unit": "m", "lengths": [900.0, 5000.0, 80.0, 1.0]}, (1.0, "m")),
    ],
)
def test_the_unit_of_a_drawing_is_known_from_lengths_or_the_coordinate_system(options, expected):
    assert unit_of_drawing(square(**options)) == expected


@pytest.mark.parametrize(("side", "words"), [(1.0, "200 m"), (0.01, "2 m"), (20.0, "2 km"), (7.0, "1 km")])
def test_the_bar_has_a_round_length_of_a_fifth_of_the_plan(side, words):
    corners = side * np.array([[0, 0], [1000, 0], [1000, 1000]])
    length, said = bar_of(MetricGraph([0, 1], [1, 2], None, positions=corners, unit="m"))

    assert said == words
    assert 0.08 * 1000 * side < length <= 0.22 * 1000 * side


@pytest.mark.parametrize("zoom", [1.0, 0.5])
def test_the_bar_is_as_long_as_it_says_also_after_zooming(zoom):
    """Measured on the canvas: 200 of 1000 units, whatever the axes show."""
    ax = plotting.draw_network(square(unit="m"))
    ax.set_xlim(*(zoom * np.array(ax.get_xlim())))
    ax.set_ylim(*(zoom * np.array(ax.get_ylim())))
    ax.figure.canvas.draw()
    (line,) = box_of(ax).findobj(Line2D)
    ends = line.get_transform().transform(line.get_xydata())
    drawn = ax.transData.transform([[0, 0], [200, 0]])

    assert words_of(ax) == {"200 m"}
    assert np.ptp(ends[:, 0]) == pytest.approx(np.ptp(drawn[:, 0]))


@pytest.mark.parametrize(
    ("crs", "has_arrow"),
    [("EPSG:32633", True), ("EPSG:4326", True), ("EPSG:2048", False), ("EPSG:3413", False), (None, False)],
)
def test_an_arrow_stands_where_y_points_north(crs, has_arrow):
    """South African coordinates run west and south; near a pole north is everywhere."""
    ax = plotting.draw_network(square(crs=crs, unit="m"))

    assert ("N" in words_of(ax)) == has_arrow


def test_one_bar_however_often_something_is_drawn():
    graph = square(unit="m")
    ax = plotting.draw_field(graph, lambda x: x.z)
    plotting.draw_network(graph, ax)
    plotting.draw_scale(graph, ax)

    assert len([artist for artist in ax.artists if artist.get_gid()]) == 1


@pytest.mark.parametrize("options", [{"scale": False}, {"to_scale": False}])
def test_no_bar_where_none_is_wanted_or_directions_differ(options):
    assert not has_scale(plotting.draw_network(square(unit="m", crs="EPSG:32633"), **options))


def test_nothing_is_drawn_where_nothing_is_known():
    assert not has_scale(plotting.draw_network(square()))


def test_a_legend_stands_below_the_bar():
    graph = square(unit="m", crs="EPSG:32633")
    ax = plotting.draw_points(graph, graph.points(0, 1.0), label="here")
    plotting.draw_legend(ax)
    ax.figure.canvas.draw()

    assert ax.get_legend().get_window_extent().y1 <= box_of(ax).get_window_extent().y0 + 1


# Labels


def overlaps(places, texts):
    """Pairs of labels that meet, and labels that cover a place."""
    middles = places + spread_out(places, texts)
    size = np.array([[LETTER * len(text), LINE - 1] for text in texts])
    apart = np.abs(middles[:, None] - middles) >= (size[:, None] + size) / 2
    meet = ~apart.any(axis=2) & ~np.eye(len(texts), dtype=bool)
    covers = ~(np.abs(middles[:, None] - places) >= (size[:, None] + MARK / 2) / 2).any(axis=2)
    return int(meet.sum()), int(covers.sum())


@pytest.mark.parametrize(
    "places",
    [
        np.zeros((8, 2)),  # all at one place
        np.stack([np.arange(20.0), np.zeros(20)], axis=1),  # a point apart
        np.random.default_rng(0).uniform(0, 150, size=(25, 2)),
    ],
)
def test_labels_cover_neither_each_other_nor_a_place(places):
    texts = [str(7 * k) for k in range(len(places))]

    assert overlaps(places, texts) == (0, 0)


def test_labels_that_were_moved_far_have_a_line_to_their_place():
    graph = star(3)
    ax = plotting.draw_network(graph)
    plotting.draw_labels(graph, graph.points(0, [0.1, *[0.5] * 9]), range(100, 110), ax)
    lines = [text.arrow_patch is not None for text in ax.texts]

    assert [text.get_text() for text in ax.texts] == [str(number) for number in range(100, 110)]
    assert not lines[0]
    assert any(lines)


def test_every_point_needs_its_label():
    graph = star(3)
    with pytest.raises(ParameterError, match="need one text each, got 1 for 2 points"):
        plotting.draw_labels(graph, graph.points(0, [0.1, 0.5]), ["a"], plotting.draw_network(graph))


def test_places_that_are_next_have_the_numbers_under_which_they_are_told():
    optimizer = Optimizer(star(3), noise=0.01, design=2)
    optimizer.tell(optimizer.ask(2), [0.1, 0.4])
    optimizer.ask(3)

    assert [text.get_text() for text in optimizer.plot().texts] == ["2", "3", "4"]


def test_two_pictures_can_share_their_colours():
    optimizer = Optimizer(star(3), noise=0.01, design=2)
    optimizer.tell(optimizer.ask(2), [0.1, 0.4])
    shared = plt.Normalize(-3.0, 7.0)
    bars = [optimizer.plot(norm=shared, what=what).figure.axes[1] for what in ("mean", "probability")]

    assert all(tuple(bar.get_ylim()) == (-3.0, 7.0) for bar in bars)
