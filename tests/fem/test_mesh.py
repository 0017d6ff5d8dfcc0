import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from numpy.testing import assert_array_equal

import netbo
from netbo import FiniteElementSpace, MetricGraph
from netbo.errors import ParameterError
from support.strategies import metric_graphs

reproducible = settings(deadline=None, max_examples=60, derandomize=True)


def test_an_edge_gets_as_many_cells_as_needed():
    """n_e = ceil(L_e / h): no cell is longer than asked for, and one fewer would be."""
    graph = MetricGraph([0, 1, 2, 3], [1, 2, 3, 4], [0.99, 1.01, 2.0, 0.05])
    space = FiniteElementSpace.build(graph, max_cell=0.5)

    assert_array_equal(space.cells, [2, 3, 4, 1])


@pytest.mark.parametrize(("length", "h"), [(0.3, 0.1), (0.7, 0.1), (75.0, 0.15), (1e6, 1e-1), (2.1, 0.7)])
def test_an_exact_multiple_gets_no_extra_cell(length, h):
    """0.3 / 0.1 is 2.9999999999999996 and 0.7 / 0.1 is 6.999999999999999, but 2.1 / 0.7 rounds up."""
    space = FiniteElementSpace.build(netbo.interval(length), max_cell=h)

    assert space.cells[0] == round(length / h)


@pytest.mark.parametrize(("h", "n"), [(0.5, 151), (0.25, 301), (0.15, 503)])
def test_the_open_rectangle_has_the_papers_number_of_nodes(h, n):
    """Table of the open rectangle: N_h = 151, 301, 503."""
    assert FiniteElementSpace.build(netbo.open_rectangle(), max_cell=h).n_nodes == n


def test_short_edges_and_short_loops_have_one_cell():
    graph = MetricGraph([0, 0], [0, 1], [0.2, 0.3])
    space = FiniteElementSpace.build(graph, max_cell=1.0)

    assert_array_equal(space.cells, [1, 1])
    assert space.n_nodes == graph.n_vertices


def test_a_least_number_of_cells_is_kept():
    graph = MetricGraph([0, 1], [1, 2], [0.1, 5.0])

    assert_array_equal(FiniteElementSpace.build(graph, max_cell=1.0, min_cells=3).cells, [3, 5])
    assert_array_equal(FiniteElementSpace.build(graph, n_nodes=7, min_cells=3).cells, [3, 3])


def most_nodes_within(graph, budget, min_cells):
    """Largest number of nodes not above the budget, over all cell sizes at which the mesh changes."""
    pieces = np.arange(1, budget + 2)
    sizes = np.unique(np.outer(graph.lengths, 1 / pieces))
    cells = np.maximum(np.ceil(graph.lengths / sizes[:, None] * (1 - 1e-12)), min_cells)
    nodes = graph.n_vertices + (cells - 1).sum(axis=1)
    return nodes[nodes <= budget].max()


@reproducible
@given(metric_graphs(), st.integers(0, 80), st.integers(1, 3))
def test_a_budget_of_nodes_is_used_as_far_as_one_cell_size_allows(graph, extra, min_cells):
    """Never more than n_nodes, and no cell size gives more without exceeding them."""
    budget = graph.n_vertices + graph.n_edges * (min_cells - 1) + extra
    space = FiniteElementSpace.build(graph, n_nodes=budget, min_cells=min_cells)

    assert space.n_nodes <= budget
    assert space.n_nodes == most_nodes_within(graph, budget, min_cells)
    assert space.cells.min() >= min_cells


@pytest.mark.parametrize("max_cell", [0.0, -1.0, np.nan, np.inf])
def test_cells_have_a_positive_length(max_cell):
    with pytest.raises(ParameterError, match=r"max_cell must be a positive length, got .*is a start"):
        FiniteElementSpace.build(netbo.interval(), max_cell=max_cell)


def test_a_mesh_that_cannot_be_held_is_refused_before_it_is_made(monkeypatch):
    """With the nodes and the memory it would take; a machine of 25 GB was killed by 381 million nodes."""
    with pytest.raises(
        ParameterError,
        match=r"max_cell=1e-12 asks for a mesh of \S+ nodes, which takes some 4e\+05 GB of mem",
    ):
        FiniteElementSpace.build(netbo.interval(), max_cell=1e-12)
    monkeypatch.setenv("NETBO_MEMORY", "0.004")  # 10,000 nodes of 400 bytes
    with pytest.raises(
        ParameterError,
        match=r"of 10,001 nodes, which .*got 0\.004 GB; raise max_cell, to 0\.0001 at least.*NETBO_MEM",
    ):
        FiniteElementSpace.build(netbo.interval(), max_cell=1 / 10_001)
    with pytest.raises(
        ParameterError, match=r"a mesh of 20,000 nodes was asked for, which takes some 0\.008 GB"
    ):
        FiniteElementSpace.build(netbo.interval(), n_nodes=20_000)
    assert FiniteElementSpace.build(netbo.interval(), max_cell=1 / 9_000).n_nodes == 9_001


def test_a_budget_below_the_vertices_is_refused():
    with pytest.raises(
        ParameterError, match=r"n_nodes must be at least 7 for 4 vertices and 3 edges of 2 or"
    ):
        FiniteElementSpace.build(netbo.star(3), n_nodes=6, min_cells=2)
    with pytest.raises(ParameterError, match=r"n_nodes must be at least 4 .* got 3; raise it"):
        FiniteElementSpace.build(netbo.star(3), n_nodes=3)


@pytest.mark.parametrize("sizes", [{}, {"max_cell": 0.1, "n_nodes": 10}])
def test_the_size_of_a_mesh_is_given_once(sizes):
    with pytest.raises(ParameterError, match=r"a mesh needs max_cell or n_nodes, got .* exactly one of them"):
        FiniteElementSpace.build(netbo.interval(), **sizes)


def test_an_edge_has_at_least_one_cell():
    with pytest.raises(ParameterError, match=r"min_cells must be at least 1, got 0; leave it out"):
        FiniteElementSpace.build(netbo.interval(), max_cell=0.1, min_cells=0)
