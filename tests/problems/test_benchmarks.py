import numpy as np
import pytest
from numpy.testing import assert_allclose

import netbo
from netbo import FiniteElementSpace, Points
from netbo.errors import GraphError, ParameterError
from netbo.problems import ACKLEY, LEVY, OUTER_FUNCTIONS, Placement, open_rectangle_benchmark

# Shares of the total length 75 = 17.5 + 2 + 36 + 2 + 17.5, from the left gap end.
SHARES = {
    Placement.GAP_END: 0.0,
    Placement.INTERIOR: 0.37,
    Placement.MID_TOP: 0.5,
    Placement.CORNER: 19.5 / 75,
    Placement.NEAR_GAP: 0.02,
}
CASES = [(outer, placement) for outer in OUTER_FUNCTIONS.values() for placement in Placement]
IDS = [f"{outer.name}-{placement.value}" for outer, placement in CASES]


def along_the_path(graph, n):
    """n points at equal arc length from the left gap end to the right one."""
    ends = np.cumsum(graph.lengths)
    arc = np.linspace(0.0, ends[-1], n)
    edge = np.minimum(np.searchsorted(ends, arc, side="right"), graph.n_edges - 1)
    z = arc - np.concatenate([[0.0], ends])[edge]
    return Points(edge, np.clip(z, 0.0, graph.lengths[edge])), arc / ends[-1]


@pytest.mark.parametrize(("outer", "placement"), CASES, ids=IDS)
def test_the_maximum_is_the_largest_value_on_a_fine_grid(outer, placement):
    """100,001 points: the cusp of Ackley is missed by at most 4 x 1.5e-5 / 3, crests by 1e-8."""
    problem = open_rectangle_benchmark(outer, placement)
    x, share = along_the_path(problem.graph, 100_001)
    values = problem(x)

    assert problem.maximum == 0.0
    assert values.max() <= 0.0
    assert values.max() >= -1e-4
    assert values.min() == pytest.approx(-1.0, abs=1e-7)
    assert share[np.argmax(values)] == pytest.approx(SHARES[placement], abs=1e-5)
    assert_allclose(problem.regret(problem.maximizers), 0.0, atol=1e-15)


@pytest.mark.parametrize(("outer", "placement"), CASES, ids=IDS)
def test_values_are_the_stretched_function(outer, placement):
    """f = -(g - min)/(max - min) with a = opt + 3 (s - s*), min and max from a grid of the real line."""
    problem = open_rectangle_benchmark(outer, placement)
    x, share = along_the_path(problem.graph, 2001)
    offset = outer.minimizer - 3 * SHARES[placement]
    g = outer(offset + 3 * share)
    top = outer(offset + np.linspace(0, 3, 1_000_001)).max()

    assert_allclose(problem(x), -g / top, atol=1e-9)


@pytest.mark.parametrize("cell", [0.5, 0.25, 0.15])
@pytest.mark.parametrize("placement", Placement)
def test_the_optimum_is_a_node(placement, cell):
    space = FiniteElementSpace.build(netbo.open_rectangle(), max_cell=cell)
    problem = open_rectangle_benchmark(LEVY, placement, space=space)
    off = problem.graph.distance(problem.maximizers, space.nodes).min()

    assert problem.space is space
    assert off == 0.0
    assert problem.reachable_regret(space.nodes) < 1e-15


@pytest.mark.parametrize("placement", Placement)
def test_the_optimum_is_within_half_a_cell_of_its_placement(placement):
    """Cells of 36/7 on the top side: its middle is no node."""
    space = FiniteElementSpace.build(netbo.open_rectangle(), max_cell=36 / 7)
    problem = open_rectangle_benchmark(ACKLEY, placement, space=space)
    x, share = along_the_path(problem.graph, 100_001)
    found = share[np.argmax(problem(x))]

    assert abs(found - SHARES[placement]) * 75 <= 36 / 14 + 1e-3
    assert problem.reachable_regret(space.nodes) < 1e-15


def test_the_default_is_the_setting_of_the_paper():
    problem = open_rectangle_benchmark(ACKLEY, Placement.GAP_END)

    assert problem.space.n_nodes == 301
    assert problem.noise == pytest.approx(0.0025)
    assert problem.name == "ackley/gap-end"
    assert_allclose(problem.objective.anchors, 3 * np.array([0, 17.5, 19.5, 55.5, 57.5, 75]) / 75)


def test_a_narrow_rectangle_will_do():
    graph = netbo.narrow_rectangle()
    problem = open_rectangle_benchmark(LEVY, Placement.CORNER, graph=graph)

    assert problem.graph is graph
    assert problem.maximizers == graph.vertex_points([2])


def test_other_networks_are_sent_to_composed():
    with pytest.raises(GraphError, match=r"five edges of open_rectangle\(\) in order, got .*placed_anchors"):
        open_rectangle_benchmark(ACKLEY, Placement.CORNER, graph=netbo.star(5))


def test_graph_and_space_must_agree():
    space = FiniteElementSpace.build(netbo.open_rectangle(), max_cell=1.0)

    with pytest.raises(ParameterError, match=r"space must lie on .* 74\.8.*got .* 75.*pass only the space"):
        open_rectangle_benchmark(ACKLEY, Placement.CORNER, graph=netbo.narrow_rectangle(), space=space)
