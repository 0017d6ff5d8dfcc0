import numpy as np
import pytest
from numpy.testing import assert_allclose

from netbo import MetricGraph, interval, road
from netbo.errors import GraphError, ParameterError
from netbo.optional import MissingPackageError
from netbo.plotting import draw_interactive
from netbo.plotting.plotly import N_COLOURS


def height(graph):
    return lambda x: graph.embed(x)[:, 1]


def drawn(figure):
    return [trace for trace in figure.data if trace.mode == "lines"]


def hover(figure):
    (found,) = [trace for trace in figure.data if trace.hovertemplate and "customdata" in trace.hovertemplate]
    return found


def test_traces_are_as_many_as_colours_not_as_edges():
    graph = road(400, seed=0)
    figure = draw_interactive(graph, {"height": height(graph)})

    assert len(drawn(figure)) <= N_COLOURS
    assert len(figure.data) <= N_COLOURS + 2


def test_every_piece_is_drawn_once_and_lies_on_the_network():
    """Lines are drawn from the lower left corner of the network."""
    graph = road(50, seed=0)
    figure = draw_interactive(graph, {"height": height(graph)})
    corners = np.concatenate([np.stack([line.x, line.y], axis=1) for line in drawn(figure)]).reshape(-1, 3, 2)
    _, off = graph.nearest(corners[:, :2].reshape(-1, 2) + graph.drawing.coordinates.min(axis=0))

    assert np.isnan(corners[:, 2]).all()
    assert off.max() < 1e-5
    assert np.linalg.norm(np.diff(corners[:, :2], axis=1), axis=2).sum() == pytest.approx(
        graph.total_length, rel=1e-5
    )


def test_hovering_tells_edge_distance_and_all_fields():
    graph = MetricGraph([0], [1], [4.0], positions=[[0, 0], [4, 0]], edge_ids=["a<b"], unit="km")
    target = hover(draw_interactive(graph, {"mean": lambda x: 2 * x.z, "sd": lambda x: x.z**2}, samples=8))

    assert set(target.text) == {"a&lt;b"}
    assert_allclose(target.customdata[:, 0], np.arange(8) / 2 + 0.25)
    assert_allclose(target.customdata[:, 1], 2 * target.customdata[:, 0])
    assert_allclose(target.customdata[:, 2], target.customdata[:, 0] ** 2)
    assert " km" in target.hovertemplate
    assert "mean: " in target.hovertemplate


def test_text_of_the_user_is_text_in_what_hovering_shows():
    """Neither markup nor a variable of the template."""
    graph = MetricGraph([0], [1], [4.0], positions=[[0, 0], [4, 0]], unit="<b>m%{x}")
    figure = draw_interactive(graph, {"<i>%{y}": lambda x: x.z}, points={"next": graph.points(0, [1.0])})
    said = [trace.hovertemplate or "" for trace in figure.data]
    texts = [str(trace.text) for trace in figure.data]

    assert any("&lt;b&gt;m%&#123;x}" in each and "&lt;i&gt;%&#123;y}: " in each for each in said)
    assert not any(bad in each for each in said + texts for bad in ("<b>", "<i>"))
    assert not any(bad in each for each in said for bad in ("%{x}", "%{y}"))


def test_one_field_is_shown_and_a_menu_offers_the_others():
    figure = draw_interactive(interval(4.0), {"mean": lambda x: x.z, "sd": lambda x: -x.z})
    first, second = figure.layout.updatemenus[0].buttons
    shown = [trace.visible for trace in figure.data]

    assert (first.label, second.label) == ("mean", "sd")
    assert list(first.args[0]["visible"]) == shown
    assert sum(a != b for a, b in zip(shown, second.args[0]["visible"], strict=True)) == 2 * (N_COLOURS + 1)


def test_places_are_marked_by_name():
    graph = interval(4.0)
    points = {
        "observed": graph.points(0, [1.0, 3.0]),
        "recommended": graph.points(0, 2.0),
        "next": graph.points(0, []),
    }
    figure = draw_interactive(graph, {"mean": lambda x: x.z}, points=points)
    marks = {trace.name: trace for trace in figure.data if trace.name}

    assert list(marks) == ["observed", "recommended"]
    assert_allclose(marks["observed"].x, [1.0, 3.0])
    assert marks["recommended"].marker.symbol == "star"


def test_large_coordinates_keep_their_digits():
    """float32 resolves half a metre at 5,700 km; distances within the network are what is drawn."""
    graph = MetricGraph([0], [1], None, positions=[[5e5, 5.7e6], [5e5 + 1.0, 5.7e6]])
    target = hover(draw_interactive(graph, {"mean": lambda x: x.z}, samples=10))

    assert_allclose(target.x, np.arange(10) / 10 + 0.05, atol=1e-6)


@pytest.mark.parametrize("value", [1.0, np.nan])
def test_fields_that_are_constant_or_unknown_are_drawn(value):
    figure = draw_interactive(interval(4.0), {"mean": lambda x: np.full(len(x), value)})

    assert len(drawn(figure)) == 1


def test_a_field_and_coordinates_are_needed():
    with pytest.raises(ParameterError, match="needs a field, got none"):
        draw_interactive(interval(), {})
    with pytest.raises(GraphError, match="needs coordinates"):
        draw_interactive(MetricGraph([0], [1], [1.0]), {"mean": lambda x: x.z})


def test_without_plotly_the_extra_is_named(monkeypatch):
    def refuse(name, *args, **kwargs):
        raise ImportError(f"No module named {name!r}")

    monkeypatch.setattr("netbo.optional.import_module", refuse)
    with pytest.raises(MissingPackageError, match="install the extra 'plotly'"):
        draw_interactive(interval(), {"mean": lambda x: x.z})
