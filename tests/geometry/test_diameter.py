import numpy as np
import pytest

from netbo.geometry import (
    MetricGraph,
    circle,
    grid,
    interval,
    open_rectangle,
    road,
    star,
    telecom,
    uniform_points,
)
from netbo.geometry import distances as diameter


@pytest.mark.parametrize(
    ("graph", "expected"),
    [
        (interval(3.0), 3.0),
        (circle(3.0), 1.5),
        (star(3, 2.0), 4.0),
        (open_rectangle(), 75.0),
        (grid(3, 5), 6.0),
        (MetricGraph([0, 0], [1, 1], [1.0, 4.0]), 2.5),  # a cycle of length 5
        (MetricGraph([0, 0], [0, 0], [2.0, 6.0]), 4.0),  # two loops: the far points of both
        (MetricGraph([0, 2], [1, 3], [9.0, 1.0]), 9.0),  # the largest component
    ],
)
def test_diameter_of_known_shapes(graph, expected):
    assert graph.diameter == pytest.approx(expected, rel=1e-15)


def test_the_largest_component_is_the_one_of_largest_total_length():
    """A star of 30 short arms is larger than a longer interval."""
    arms = np.arange(1, 31)
    graph = MetricGraph(np.r_[np.zeros(30, int), 31], np.r_[arms, 32], np.r_[np.ones(30), 10.0])

    assert graph.diameter == 2.0


def test_small_blocks_change_nothing(monkeypatch):
    graph = road(80, seed=5)
    monkeypatch.setattr(diameter, "MAX_BLOCK", 200)

    assert diameter.continuous_diameter(graph) == graph.diameter


@pytest.mark.parametrize("graph", [road(300, seed=1), telecom(200, seed=1), circle(4.0), open_rectangle()])
def test_sweeps_give_a_lower_bound_close_to_the_diameter(graph, monkeypatch):
    monkeypatch.setattr(diameter, "MAX_EXACT_VERTICES", 0)
    swept = diameter.continuous_diameter(graph)

    assert 0.98 * graph_diameter(graph) <= swept <= graph_diameter(graph) * (1 + 1e-12)


def test_no_two_points_of_a_large_network_are_much_farther_than_the_sweeps_say():
    graph = road(2500, seed=4)
    x = uniform_points(graph, 100, np.random.default_rng(0))

    assert graph.distance(x, graph.vertex_points()).max() <= graph.diameter * (1 + 1e-12)


def graph_diameter(graph: MetricGraph) -> float:
    return diameter._exact(graph)
