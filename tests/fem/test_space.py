import pickle

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from numpy.testing import assert_allclose, assert_array_equal

import netbo
from netbo import FiniteElementSpace, MetricGraph, Points
from netbo.errors import PointError
from netbo.fem import Location
from support.reference import contract_graph, hat_values, mass_and_stiffness
from support.strategies import metric_graphs, points_on

reproducible = settings(deadline=None, max_examples=60, derandomize=True)
cell_sizes = st.sampled_from([0.15, 0.7, 3.0, 20.0])


def test_nodes_are_the_vertices_and_then_edge_by_edge():
    graph = MetricGraph([0, 1, 1], [1, 2, 1], [1.0, 0.4, 3.0])
    space = FiniteElementSpace.build(graph, max_cell=1 / 3)
    nodes = space.nodes

    assert_array_equal(nodes[:3].edge, graph.vertex_points().edge)
    assert_array_equal(nodes[:3].z, graph.vertex_points().z)
    assert_array_equal(nodes.edge[3:], [0, 0, 1, 2, 2, 2, 2, 2, 2, 2, 2])
    assert_allclose(nodes.z[3:], np.r_[1 / 3, 2 / 3, 0.2, np.arange(1, 9) / 3])
    assert len(nodes) == space.n_nodes
    assert nodes.graph is graph


def test_a_space_says_its_size():
    assert repr(FiniteElementSpace.build(netbo.star(3), max_cell=0.25)) == (
        "FiniteElementSpace(13 nodes, cells of at most 0.25)"
    )


@reproducible
@given(metric_graphs(), cell_sizes)
def test_the_basis_at_the_nodes_is_the_identity(graph, h):
    space = FiniteElementSpace.build(graph, max_cell=h)

    assert_array_equal(space.basis(space.nodes).toarray(), np.eye(space.n_nodes))


@reproducible
@given(st.data(), cell_sizes)
def test_basis_rows_are_hat_functions(data, h):
    """Against max(0, 1 - |z - z_j| / h); rows sum to one; at most two entries."""
    graph = data.draw(metric_graphs())
    x = data.draw(points_on(graph))
    space = FiniteElementSpace.build(graph, max_cell=h)
    basis = space.basis(x)

    assert_allclose(basis.toarray(), hat_values(space, x), atol=1e-9)
    assert_allclose(basis.sum(axis=1), 1.0, rtol=1e-15)
    assert np.diff(basis.indptr).max() <= 2


@reproducible
@given(metric_graphs(), cell_sizes)
def test_a_vertex_is_one_node_from_every_edge(graph, h):
    """Continuity: the end of each incident edge has the same basis row."""
    space = FiniteElementSpace.build(graph, max_cell=h)
    edges = np.arange(graph.n_edges)
    tails, heads = Points(edges, np.zeros(len(edges))), Points(edges, graph.lengths)
    unit = np.eye(space.n_nodes)

    assert_array_equal(space.basis(tails).toarray(), unit[graph.tails])
    assert_array_equal(space.basis(heads).toarray(), unit[graph.heads])


@reproducible
@given(st.data(), cell_sizes)
def test_interpolation_is_exact_for_linear_functions(data, h):
    """Linear on each edge between any values at the vertices, also for several functions at once."""
    graph = data.draw(metric_graphs())
    x = data.draw(points_on(graph))
    space = FiniteElementSpace.build(graph, max_cell=h)
    ends = np.random.default_rng(0).standard_normal((2, graph.n_vertices))

    def linear(points):
        share = points.z / graph.lengths[points.edge]
        return (1 - share) * ends[:, graph.tails[points.edge]] + share * ends[:, graph.heads[points.edge]]

    found = space.locate(x).interpolate(linear(space.nodes))

    assert_allclose(found, linear(x), rtol=1e-9, atol=1e-9)
    assert_allclose(space.basis(x) @ linear(space.nodes)[0], linear(x)[0], rtol=1e-9, atol=1e-9)


def test_values_at_all_nodes_are_those_given():
    """They are copied; points that are bound anew are looked up one by one."""
    space = FiniteElementSpace.build(contract_graph(), max_cell=0.3)
    values = np.random.default_rng(0).standard_normal((2, space.n_nodes))
    again = Points(space.nodes.edge, space.nodes.z, graph=space.graph)

    found = space.locate(space.nodes).interpolate(values)
    assert_array_equal(found, space.locate(again).interpolate(values))
    assert_allclose(found, values, rtol=1e-15, atol=1e-15)
    assert found.base is None


def test_a_point_almost_at_a_node_is_the_node():
    """A rounding error of z must not couple neighbouring nodes."""
    space = FiniteElementSpace.build(netbo.interval(0.3), max_cell=0.1)
    z = np.array([0.1 + 1e-13, 0.2 - 1e-13, 0.1 + 1e-9])
    fraction = space.locate(Points([0, 0, 0], z)).fraction

    assert_array_equal(fraction[:2], 0.0)
    assert fraction[2] == pytest.approx(1e-8, rel=1e-5)


def test_a_point_near_a_vertex_is_a_place_of_its_own():
    """Coarse cells: 1e-10 of one is far more than the rounding of z, and exact values tell them apart."""
    space = FiniteElementSpace(netbo.interval(1.0), np.array([2]))
    fraction = space.locate(Points([0, 0], [3e-11, 1e-13])).fraction

    assert_allclose(fraction, [6e-11, 0.0], rtol=1e-9)


def test_cells_are_numbered_edge_by_edge():
    graph = MetricGraph([0, 1], [1, 2], [1.0, 2.0])
    space = FiniteElementSpace.build(graph, max_cell=0.5)
    at = space.locate(Points([0, 0, 1, 1], [0.1, 0.9, 0.1, 1.9]))
    left, right, lengths = space.cell_ends

    assert_array_equal(at.cell, [0, 1, 2, 5])
    assert_array_equal(at.left, left[at.cell])
    assert_array_equal(at.right, right[at.cell])
    assert_array_equal(lengths, np.full(6, 0.5))
    assert isinstance(at, Location)


@reproducible
@given(metric_graphs(), cell_sizes)
def test_matrices_are_sums_over_cells(graph, h):
    """Against loops over the hat functions of every cell; a loop's single cell meets its vertex twice."""
    space = FiniteElementSpace.build(graph, max_cell=h)
    C, G = mass_and_stiffness(space)

    assert_allclose(space.mass.toarray(), C, rtol=1e-13, atol=1e-14)
    assert_allclose(space.stiffness.toarray(), G, rtol=1e-13, atol=1e-13 / space.cell_lengths.min())
    assert_allclose(space.lumped_mass, C.sum(axis=1), rtol=1e-13)


@reproducible
@given(metric_graphs(), cell_sizes)
def test_constants_have_the_length_as_mass_and_no_stiffness(graph, h):
    space = FiniteElementSpace.build(graph, max_cell=h)
    ones, G = np.ones(space.n_nodes), space.stiffness

    assert ones @ space.mass @ ones == pytest.approx(graph.total_length, rel=1e-12)
    assert space.lumped_mass.sum() == pytest.approx(graph.total_length, rel=1e-12)
    assert np.abs(G @ ones).max() <= 1e-13 / space.cell_lengths.min()
    assert np.abs(G - G.T).max() <= 1e-15 * np.abs(G).max()  # parallel edges are summed in either order


def test_mass_and_stiffness_integrate_linear_functions():
    """f(z) = z on [0, L]: int f^2 = L^3 / 3, int f'^2 = L, exactly in V_h."""
    space = FiniteElementSpace.build(netbo.interval(2.0), max_cell=0.3)
    f = space.nodes.z

    assert f @ space.mass @ f == pytest.approx(8 / 3)
    assert f @ space.stiffness @ f == pytest.approx(2.0)


def test_points_of_another_network_are_refused():
    space = FiniteElementSpace.build(netbo.interval(2.0), max_cell=0.3)

    with pytest.raises(PointError, match=r"points must lie on MetricGraph"):
        space.basis(netbo.star(3).points(0, 0.5))
    with pytest.raises(PointError, match=r"distances must lie within the edge, got 2.5"):
        space.basis(Points([0], [2.5]))


def test_a_space_travels_between_processes():
    space = FiniteElementSpace.build(contract_graph(), max_cell=0.3)
    _ = space.topology.pattern, space.mass, space.nodes
    copy = pickle.loads(pickle.dumps(space))

    assert_array_equal(copy.cells, space.cells)
    assert_array_equal(copy.nodes.z, space.nodes.z)
    assert_array_equal(copy.mass.toarray(), space.mass.toarray())
    assert copy.graph.has_edges_of(space.graph)


def test_what_is_shared_is_locked():
    space = FiniteElementSpace.build(netbo.interval(), max_cell=0.3)

    for array in (space.cells, space.cell_lengths, space.lumped_mass):
        assert not array.flags.writeable


def test_a_space_travels_without_what_it_computed():
    """Arrays come out of a pickle writable; kernels would then be compiled a second time."""
    space = FiniteElementSpace.build(netbo.star(3), max_cell=0.3)
    _ = space.nodes, space.topology, space.cell_lengths
    other = pickle.loads(pickle.dumps(space))

    assert_array_equal(other.cells, space.cells)
    assert not other.cells.flags.writeable
    assert other.nodes == space.nodes
    assert len(pickle.dumps(space)) < 2 * len(pickle.dumps(space.graph))
