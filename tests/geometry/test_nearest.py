import numpy as np
import pytest
from numpy.testing import assert_allclose, assert_array_equal

from netbo.errors import PointError
from netbo.geometry import MetricGraph, interval, nearest, open_rectangle, road
from support.strategies import random_drawing


def nearest_by_hand(graph: MetricGraph, xy: np.ndarray) -> np.ndarray:
    """Distance of each place from the network, segment by segment."""
    curves, best = graph.drawing, np.full(len(xy), np.inf)
    for corner in curves.segments:
        a, b = curves.coordinates[corner], curves.coordinates[corner + 1]
        t = np.clip((xy - a) @ (b - a) / max((b - a) @ (b - a), 1e-300), 0, 1)
        best = np.minimum(best, np.linalg.norm(a + t[:, None] * (b - a) - xy, axis=1))
    return best


@pytest.mark.parametrize("seed", range(5))
def test_nearest_is_exact(seed):
    """Long and short segments together, places near and far."""
    rng = np.random.default_rng(seed)
    tails, heads = np.arange(30), (np.arange(30) + 1) % 30
    drawing = random_drawing(tails, heads, 30, seed)
    drawing["positions"][:10] *= 100
    drawing["curves"] = None
    graph = MetricGraph(tails, heads, rng.uniform(1, 5, 30), **drawing)
    xy = rng.normal(size=(300, 2)) * rng.choice([0.1, 5, 300, 1e5], (300, 1))
    found, off = graph.nearest(xy)

    assert_allclose(off, nearest_by_hand(graph, xy), rtol=1e-12, atol=1e-12)
    assert_allclose(np.linalg.norm(graph.embed(found) - xy, axis=1), off, rtol=1e-9, atol=1e-9)


def test_nearest_is_exact_on_curved_roads(monkeypatch):
    graph = road(150, seed=2)
    xy = np.random.default_rng(1).uniform(-3, 16, (400, 2))
    monkeypatch.setattr(nearest, "QUERY_BLOCK", 64)

    assert_allclose(graph.nearest(xy)[1], nearest_by_hand(graph, xy), rtol=1e-12, atol=1e-12)


def test_nearest_in_space():
    graph = MetricGraph([0], [1], None, positions=[[0, 0, 0], [0, 0, 4]])
    found, off = graph.nearest([3, 4, 1])

    assert found[0].distance == 1.0
    assert_allclose(off, [5.0])


def test_beyond_the_ends_the_end_is_nearest():
    found, off = interval(2.0).nearest([[-3, 4], [5, 4]])

    assert_array_equal(found.z, [0.0, 2.0])
    assert_allclose(off, [5.0, 5.0])


def test_no_places_give_no_points():
    found, off = interval(2.0).nearest(np.empty((0, 2)))

    assert len(found) == len(off) == 0


def test_a_network_drawn_as_a_dot_is_where_it_is():
    graph = MetricGraph([0], [0], [3.0], positions=[[1.0, 1.0]])

    assert_allclose(graph.nearest([[1.0, 2.0], [1.0, 1.0]])[1], [1.0, 0.0])


def test_places_beyond_the_limit_are_refused():
    graph = open_rectangle()

    assert graph.nearest([[18, -0.3]], limit=0.6)[1] == pytest.approx(np.hypot(0.5, 0.3))
    with pytest.raises(
        PointError, match=r"within 1.0 of the network, got 2 of 3 beyond, the worst 5 away at index 2"
    ):
        graph.nearest([[0, 0], [0, -2], [0, -5]], limit=1.0)


@pytest.mark.parametrize(
    ("xy", "match"),
    [
        ([[0, 0, 0]], r"places must have shape \(n, 2\) as the drawing, got \(1, 3\); give one row"),
        ([[[0, 0]]], r"got \(1, 1, 2\)"),
        ([[0, 0], [np.nan, 0]], "places must be finite, got .* at index 1; drop or fill"),
        ([["a", "b"]], r"places must be numbers, got .*; pass an \(n, 2\) array"),
    ],
)
def test_places_of_the_wrong_kind_are_refused(xy, match):
    with pytest.raises(PointError, match=match):
        interval().nearest(xy)
