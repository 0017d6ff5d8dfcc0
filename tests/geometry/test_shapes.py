import numpy as np
import pytest
from numpy.testing import assert_allclose, assert_array_equal

from netbo.errors import GraphError, ParameterError
from netbo.geometry import circle, grid, interval, narrow_rectangle, open_rectangle, road, star, telecom


def test_the_open_rectangle_is_that_of_the_experiments():
    graph = open_rectangle()

    assert graph.total_length == 75.0
    assert_array_equal(graph.positions, [[17.5, 0], [0, 0], [0, 2], [36, 2], [36, 0], [18.5, 0]])
    assert_array_equal(np.stack([graph.tails, graph.heads]), [[0, 1, 2, 3, 4], [1, 2, 3, 4, 5]])
    assert_array_equal(graph.lengths, graph.drawing.drawn_lengths())


def test_the_ends_of_the_gap_are_near_in_the_plane_and_far_along_the_network():
    graph = open_rectangle()
    ends = graph.vertex_points([0, 5])

    assert graph.distance(ends[:1], ends[1:])[0, 0] == 75.0
    assert np.linalg.norm(np.diff(graph.embed(ends), axis=0)) == 1.0


def test_the_narrow_rectangle_is_slightly_shorter():
    assert narrow_rectangle().total_length == pytest.approx(74.8)
    assert_allclose(narrow_rectangle().lengths, narrow_rectangle().drawing.drawn_lengths())


def test_a_circle_has_the_length_asked_for_and_is_drawn_round():
    graph = circle(3.0)
    places = graph.embed(graph.points(0, fraction=np.linspace(0, 1, 50)))

    assert graph.total_length == 3.0
    assert (graph.n_vertices, graph.degrees[0]) == (1, 2)
    assert_allclose(np.linalg.norm(places, axis=1), 3.0 / (2 * np.pi), rtol=1e-3)


def test_regular_shapes():
    assert interval(2.0).total_length == 2.0
    assert_array_equal(star(5).degrees, [5, 1, 1, 1, 1, 1])
    assert (grid(3, 4).n_vertices, grid(3, 4).n_edges, grid(3, 4, 2.0).total_length) == (12, 17, 34.0)
    assert_allclose(grid(3, 4, 2.0).lengths, grid(3, 4, 2.0).drawing.drawn_lengths())


@pytest.mark.parametrize("n_vertices", [2, 3, 5, 50, 1000])
def test_a_road_network_is_connected_and_as_long_as_drawn(n_vertices):
    graph = road(n_vertices, seed=1)

    assert (graph.n_vertices, graph.is_connected) == (n_vertices, True)
    assert_allclose(graph.lengths, graph.drawing.drawn_lengths())


def test_a_road_network_has_mean_degree_three_and_curved_roads():
    graph = road(1000, seed=2, spacing=100.0)
    straight = np.linalg.norm(graph.positions[graph.tails] - graph.positions[graph.heads], axis=1)

    assert graph.degrees.mean() == pytest.approx(3.0, abs=0.01)
    assert np.all(graph.lengths >= straight)
    assert 1.0 < (graph.lengths / straight).max() < 1.05
    assert 80 < np.median(graph.lengths) < 130


def test_roads_meet_only_at_crossings():
    """Planar: no two segments of different roads cross away from a shared vertex."""
    graph = road(60, seed=3)
    curves = graph.drawing
    corner = curves.segments
    edge = np.searchsorted(curves.starts, corner, side="right") - 1
    a, b = curves.coordinates[corner], curves.coordinates[corner + 1]

    def side(p, q, r):
        return np.sign(
            (q[..., 0] - p[..., 0]) * (r[..., 1] - p[..., 1])
            - (q[..., 1] - p[..., 1]) * (r[..., 0] - p[..., 0])
        )

    p, q, r, s = a[:, None], b[:, None], a[None], b[None]
    crosses = (side(p, q, r) * side(p, q, s) < 0) & (side(r, s, p) * side(r, s, q) < 0)

    assert not np.any(crosses & (edge[:, None] != edge))


def test_a_telecom_network_has_hubs():
    graph = telecom(600, seed=1)

    assert (graph.n_vertices, graph.n_edges, graph.is_connected) == (600, 5 * 595, True)
    assert graph.degrees.max() > 8 * np.median(graph.degrees)
    assert len(np.unique(np.sort(np.stack([graph.tails, graph.heads]), axis=0), axis=1).T) == graph.n_edges
    assert_allclose(graph.lengths, graph.drawing.drawn_lengths())


@pytest.mark.parametrize("make", [road, telecom])
def test_the_seed_decides(make):
    assert make(40, seed=1).has_edges_of(make(40, seed=1))
    assert not make(40, seed=1).has_edges_of(make(40, seed=2))


@pytest.mark.parametrize(
    ("make", "match"),
    [
        (lambda: star(0), "at least one arm, got n_arms=0"),
        (lambda: grid(1, 1), "at least two crossings, got rows=1, columns=1"),
        (
            lambda: open_rectangle(width=2.0, gap=2.0),
            "within the bottom side, got gap=2.0, width=2.0; lower gap",
        ),
        (lambda: road(1, seed=0), "needs two crossings, got n_vertices=1"),
        (lambda: telecom(5, seed=0), r"must lie in 1..4 for 5 vertices, got 5; lower attachments"),
    ],
)
def test_shapes_that_do_not_exist_are_refused(make, match):
    with pytest.raises(ParameterError, match=match):
        make()


def test_shapes_have_positive_lengths():
    with pytest.raises(GraphError, match=r"must be positive and finite, got -1.0"):
        interval(-1.0)
