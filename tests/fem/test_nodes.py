import pickle

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from numpy.testing import assert_allclose, assert_array_equal

import netbo
from netbo import MetricGraph, Points
from netbo.errors import PointError
from netbo.fem import PointMesh
from support.reference import nodes_at
from support.strategies import metric_graphs, points_on

reproducible = settings(deadline=None, max_examples=60, derandomize=True)


def small_graph() -> MetricGraph:
    """A path of two edges and a loop at its middle."""
    return MetricGraph([0, 1, 1], [1, 2, 1], [1.0, 0.4, 3.0])


def small_mesh() -> PointMesh:
    """Points in no order, in two sets, some at vertices, one twice, none on edge 1."""
    graph = small_graph()
    return PointMesh.through(
        graph, Points([2, 0, 2, 0], [1.5, 0.7, 0.2, 0.25]), Points([0, 1, 2, 0], [1.0, 0.4, 1.5, 0.0])
    )


def test_nodes_are_the_vertices_and_then_the_points_along_each_edge():
    mesh, graph = small_mesh(), small_graph()

    assert_array_equal(mesh.nodes[:3].edge, graph.vertex_points().edge)
    assert_array_equal(mesh.nodes[:3].z, graph.vertex_points().z)
    assert_array_equal(mesh.nodes.edge[3:], [0, 0, 2, 2])
    assert_array_equal(mesh.nodes.z[3:], [0.25, 0.7, 0.2, 1.5])
    assert mesh.nodes.graph is mesh.graph
    assert (mesh.n_nodes, len(mesh.nodes)) == (7, 7)


def test_cells_lie_between_neighbouring_nodes():
    mesh = small_mesh()
    left, right, lengths = mesh.cell_ends

    assert_array_equal(left, [0, 3, 4, 1, 1, 5, 6])
    assert_array_equal(right, [3, 4, 1, 2, 5, 6, 1])
    assert_allclose(lengths, [0.25, 0.45, 0.3, 0.4, 0.2, 1.3, 1.5], rtol=1e-15)
    assert_array_equal(lengths, mesh.cell_lengths)
    assert_array_equal(mesh.topology.offsets, [0, 2, 2, 4])
    assert mesh.topology.n_cells == 7
    assert not mesh.topology.is_even
    assert mesh.topology.n_elements == 7


def test_a_mesh_says_its_size():
    assert repr(small_mesh()) == "PointMesh(7 nodes)"


@reproducible
@given(st.data())
def test_every_point_given_is_a_node_exactly(data):
    """Also when the graph has loops and parallel edges, and points repeat or are vertices."""
    graph = data.draw(metric_graphs())
    x, y = data.draw(points_on(graph)), data.draw(points_on(graph))
    mesh = PointMesh.through(graph, x, y)
    for points in (x, y, mesh.nodes):
        at = mesh.locate(points)
        nodes = mesh.nodes[nodes_at(mesh, points)]

        assert np.all((at.fraction == 0) | (at.fraction == 1))
        assert np.diag(graph.distance(nodes, points)).max() <= 1e-11
    assert_array_equal(nodes_at(mesh, mesh.nodes), np.arange(mesh.n_nodes))


@reproducible
@given(st.data())
def test_cells_of_an_edge_sum_to_its_length(data):
    graph = data.draw(metric_graphs())
    mesh = PointMesh.through(graph, data.draw(points_on(graph, max_size=20)))
    starts = mesh.topology.offsets[:-1] + np.arange(graph.n_edges)

    assert np.all(mesh.cell_lengths > 0)
    assert_allclose(np.add.reduceat(mesh.cell_lengths, starts), graph.lengths, rtol=1e-14)


@reproducible
@given(st.data())
def test_other_points_lie_in_their_cell(data):
    """z = (1 - fraction) z_left + fraction z_right, along the edge."""
    graph = data.draw(metric_graphs())
    mesh = PointMesh.through(graph, data.draw(points_on(graph)))
    x = data.draw(points_on(graph))
    at = mesh.locate(x)
    edge, start, end = mesh._cells

    assert_array_equal(edge[at.cell], x.edge)
    assert np.all((at.fraction >= 0) & (at.fraction <= 1))
    assert_allclose(start[at.cell] + at.fraction * (end - start)[at.cell], x.z, rtol=0, atol=2e-11)
    assert_array_equal(at.left, mesh.cell_ends[0][at.cell])
    assert_array_equal(at.right, mesh.cell_ends[1][at.cell])


def test_a_vertex_is_one_node_by_any_edge():
    mesh = small_mesh()
    by_edges = Points([0, 1, 2, 2], [1.0, 0.0, 0.0, 3.0])

    assert_array_equal(nodes_at(mesh, by_edges), 1)
    assert_array_equal(nodes_at(mesh, Points([0, 1], [0.0, 0.4])), [0, 2])


@pytest.mark.parametrize("length", [1e-6, 1.0, 3e9])
def test_points_nearer_than_a_trillionth_of_the_edge_are_one_node(length):
    graph = netbo.interval(length)
    near = Points([0, 0, 0], length * np.array([0.3, 0.3 + 4e-13, 0.3 - 4e-13]))
    apart = Points([0, 0, 0], length * np.array([0.3, 0.3 + 4e-12, 0.3 - 4e-12]))
    merged, separate = (PointMesh.through(graph, x) for x in (near, apart))

    assert (merged.n_nodes, separate.n_nodes) == (3, 5)
    assert_array_equal(nodes_at(merged, near), 2)
    assert_array_equal(np.isin(merged.locate(near).fraction, [0, 1]), True)
    assert_array_equal(nodes_at(separate, apart), [3, 4, 2])


def test_points_at_a_rounding_error_from_a_vertex_are_the_vertex():
    graph = netbo.interval(2.0)
    x = Points([0, 0], [1e-12, 2.0 - 1e-12])
    mesh = PointMesh.through(graph, x)

    assert mesh.n_nodes == 2
    assert_array_equal(nodes_at(mesh, x), [0, 1])


def test_a_row_of_near_points_is_not_drawn_together_over_a_longer_stretch():
    """Each is within 1e-12 of the next, not of the first: still every one is within 1e-12 of its node."""
    graph = netbo.interval(1.0)
    x = Points(np.zeros(50, dtype=int), 0.5 + 8e-13 * np.arange(50))
    mesh = PointMesh.through(graph, x)
    at = mesh.locate(x)

    assert np.all((at.fraction == 0) | (at.fraction == 1))
    assert np.abs(mesh.nodes[nodes_at(mesh, x)].z - x.z).max() <= 1e-12
    assert mesh.n_nodes <= 2 + 26


@pytest.mark.parametrize("points", [(), (Points(np.empty(0, dtype=int), []),)])
def test_without_points_the_nodes_are_the_vertices(points):
    graph = small_graph()
    mesh = PointMesh.through(graph, *points)

    assert mesh.n_nodes == 3
    assert_array_equal(mesh.cell_lengths, graph.lengths)
    assert_array_equal(nodes_at(mesh, graph.vertex_points()), np.arange(3))
    assert len(mesh.locate(Points(np.empty(0, dtype=int), []))) == 0


def test_points_beyond_the_edge_are_refused():
    with pytest.raises(PointError, match=r"distances must lie within the edge, got 1\.5"):
        PointMesh.through(netbo.interval(1.0), Points([0], [1.5]))


def test_the_order_of_the_vertices_is_found_once_for_a_graph():
    """Meshes come and go with every question; the pattern is the graph's."""
    graph = netbo.road(50, seed=0)
    first, second = (PointMesh.through(graph, graph.points(0, fraction=f)) for f in (0.3, 0.6))

    assert first.topology.pattern is second.topology.pattern
    assert first.topology.n_interior == second.topology.n_interior == 1


def test_a_mesh_travels_between_processes():
    mesh = small_mesh()
    copy = pickle.loads(pickle.dumps(mesh))

    assert_array_equal(copy.cell_lengths, mesh.cell_lengths)
    assert copy.nodes == mesh.nodes
    assert not copy.edge.flags.writeable
    assert not copy.z.flags.writeable
    assert copy.topology.pattern is not None


def test_a_hundred_thousand_points_are_nodes_each_at_its_place():
    graph = netbo.road(100, seed=3)
    x = netbo.uniform_points(graph, 100_000, np.random.default_rng(0))
    mesh = PointMesh.through(graph, x[:60_000], x[40_000:])
    node = nodes_at(mesh, x)

    assert mesh.n_nodes == graph.n_vertices + 100_000
    assert_array_equal(mesh.nodes.edge[node], x.edge)
    assert_array_equal(mesh.nodes.z[node], x.z)
    assert_array_equal(np.sort(node), graph.n_vertices + np.arange(100_000))


def test_meshes_of_a_network_lend_each_other_their_work_arrays():
    """The vertices' arrays are as large for every mesh: one set serves all."""
    graph = small_graph()
    first, second = (PointMesh.through(graph, Points([0], [z])) for z in (0.3, 0.6))

    assert first.topology.buffers is second.topology.buffers
    assert first.topology.buffers is not small_mesh().topology.buffers


def test_only_the_latest_places_found_on_a_network_are_kept():
    graph = small_graph()
    first, second = (PointMesh.through(graph, Points([0], [z])) for z in (0.3, 0.6))
    x = Points([0, 2], [0.45, 1.0], graph=graph)
    at_first = first.locate(x)

    assert first.locate(x) is at_first
    at_second = second.locate(x)
    assert_allclose(at_second.fraction[0], 0.45 / 0.6)
    assert_allclose(first.locate(x).fraction[0], (0.45 - 0.3) / 0.7)
    assert first.locate(x) is not at_first
