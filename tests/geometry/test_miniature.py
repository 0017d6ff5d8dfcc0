"""Small pictures of networks: what is drawn where, and how many bytes it takes."""

import base64
import re
import xml.etree.ElementTree as ET

import numpy as np
import pytest

import netbo
from netbo.geometry import Points, thumbnail
from netbo.notebook import VIRIDIS

SVG = "{http://www.w3.org/2000/svg}"


def drawn(picture):
    """The parsed image."""
    [data] = re.findall(r'src="data:image/svg\+xml;base64,([^"]+)"', picture)
    return ET.fromstring(base64.b64decode(data))


def lines(picture):
    """Path data by colour."""
    return {
        path.get("stroke"): path.get("d") for path in drawn(picture).iter(f"{SVG}path") if not path.get("id")
    }


def marks(picture):
    """Kind and place of every mark."""
    return [
        (use.get("href").removeprefix("#"), int(use.get("x")), int(use.get("y")))
        for use in drawn(picture).iter(f"{SVG}use")
    ]


def test_edges_are_drawn_as_they_lie():
    """An L of two unit edges: one step right, one up (y runs down in an image)."""
    graph = netbo.MetricGraph([0, 1], [1, 2], None, positions=[(0, 0), (1, 0), (1, 1)])
    [path] = lines(thumbnail(graph)).values()
    [(x, y), (right, level), (still, up)] = [
        tuple(map(int, pair.split())) for pair in re.findall(r"-?\d+ -?\d+", path)
    ]

    assert path.count("M") == 1
    assert (level, still) == (0, 0)
    assert right == -up > 100
    assert x > 0
    assert y > 0


def test_colours_run_from_the_smallest_value_to_the_largest():
    picture = thumbnail(netbo.interval(3.0), lambda x: x.z)

    assert set(lines(picture)) == set(VIRIDIS)


def test_a_constant_or_unknown_field_is_drawn_too():
    def unknown(x):
        return np.full(len(x), np.nan)

    assert len(lines(thumbnail(netbo.star(3), lambda x: np.ones(len(x))))) == 1
    assert set(lines(thumbnail(netbo.star(3), unknown))).isdisjoint(VIRIDIS)


def test_marks_stand_where_their_points_are():
    graph = netbo.interval(4.0)
    kinds = {
        kind: graph.points(0, z) for kind, z in {"observed": 0.0, "next": 2.0, "recommended": 4.0}.items()
    }
    (_, left, _), (_, middle, _), (_, right, _) = marks(thumbnail(graph, marks=kinds))

    assert [kind for kind, *_ in marks(thumbnail(graph, marks=kinds))] == ["observed", "next", "recommended"]
    assert middle - left == right - middle > 100


def test_edges_without_coordinates_are_laid_end_to_end():
    graph = netbo.MetricGraph([0, 1, 1], [1, 2, 3], [1.0, 2.0, 1.0])
    points = Points([0, 1, 2], [0.0, 2.0, 1.0], graph=graph)
    places = [x for _, x, _ in marks(thumbnail(graph, marks={"observed": points}))]

    assert places[1] - places[0] == pytest.approx(3 * (places[2] - places[1]), abs=3)


def test_stretches_stand_out_however_short():
    graph = netbo.star(3)
    stretches = (np.array([0, 1]), np.array([0.2, 0.5]), np.array([0.7, 0.5]))
    faint, found = lines(thumbnail(graph, stretches=stretches)).values()

    assert faint != found
    assert found.count("M") == 2


def test_a_hundred_thousand_edges_take_less_than_fifty_kilobytes():
    """With a field in all colours, many observations and stretches."""
    rng = np.random.default_rng(1)
    graph = netbo.grid(225, 225)
    points = netbo.uniform_points(graph, 2000, rng)
    edge = rng.integers(0, graph.n_edges, size=2000)
    stretches = (edge, np.zeros(2000), graph.lengths[edge])
    coloured = thumbnail(graph, lambda x: rng.random(len(x)), marks={"observed": points, "next": points})

    assert graph.n_edges > 100_000
    assert len(coloured) < 50_000
    assert len(thumbnail(graph, stretches=stretches)) < 50_000
