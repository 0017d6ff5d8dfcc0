"""Many points in one pass: against the formulas between nodes, point by point, and a search by numpy."""

import numpy as np
import pytest
from numpy.testing import assert_allclose, assert_array_equal

import netbo
from netbo.fem import PointMesh
from netbo.geometry import Points, along_edges
from netbo.linalg import (
    BlockFactor,
    InCells,
    Load,
    cell_forms,
    cell_moments,
    end_forms,
    end_values,
    find_cells,
    hyperbolic_elements,
    hyperbolic_interpolation,
)
from support.reference import contract_graph

ORDERS = (1, 2, 3, 4)
KAPPAS = (1e-4, 0.05, 1.0, 30.0)  # cells far shorter and far longer than the range


def mesh_and_points() -> tuple[PointMesh, Points]:
    """Nodes at random places, and points between them, at some of them and at all ends of edges."""
    graph, rng = contract_graph(), np.random.default_rng(3)
    mesh = PointMesh.through(graph, netbo.uniform_points(graph, 12, rng))
    ends = graph.points([0, 1, 2, 3, 4, 0, 1, 2, 3, 4], fraction=[0, 0, 0, 0, 0, 1, 1, 1, 1, 1])
    return mesh, Points.concatenate([netbo.uniform_points(graph, 300, rng), ends, mesh.nodes])


def in_cells(mesh: PointMesh, x: Points, kappa: float) -> InCells:
    at, (left, right, lengths) = mesh.locate(x), mesh.cell_ends
    return InCells(at.cell, at.fraction * kappa * lengths[at.cell], kappa * lengths, left, right)


@pytest.mark.parametrize("order", ORDERS)
@pytest.mark.parametrize("kappa", KAPPAS)
def test_forms_and_variances_are_those_of_the_interpolation(order, kappa):
    """The slow twin forms P, Q and g of every point on its own, with slopes."""
    (mesh, x), rng = mesh_and_points(), np.random.default_rng(order)
    points, at = in_cells(mesh, x, kappa), mesh.locate(x)
    load = Load(weight=np.ones(mesh.n_nodes), coupling=np.zeros(1))
    blocks = BlockFactor(
        mesh.topology, hyperbolic_elements(points.lengths, order + 1), order, load
    ).select_cells()
    nodal = rng.standard_normal((mesh.n_nodes, 3, order))
    slow = hyperbolic_interpolation(points.lengths[points.cell], points.distance, order)
    ends = slow.left[:, ::-1], slow.right[:, ::-1]
    values = [
        end_values(at.left, at.right, *ends, np.ascontiguousarray(nodal[:, r])) for r in range(nodal.shape[1])
    ]
    form = end_forms(at.cell, *ends, *ends, blocks.left, blocks.right, blocks.across)
    variances = (-1.0) ** (order - 1) * (form + slow.bridge)
    forms, found = cell_moments(points, nodal, blocks)

    assert_allclose(forms, np.stack(values, axis=1), rtol=1e-12, atol=1e-13)
    assert_allclose(found, variances, rtol=1e-11, atol=1e-13 * variances.max())
    assert_array_equal(cell_forms(points, nodal), forms)
    assert_array_equal(cell_forms(points[5:9], nodal), forms[5:9])


def test_cells_are_found_as_by_a_search_in_pairs_of_edge_and_place():
    """The slow twin: one sorted array of (edge, z), which numpy searches."""
    mesh, x = mesh_and_points()
    lengths, offsets = mesh.graph.lengths, mesh.topology.offsets
    before = np.searchsorted(
        along_edges(mesh.edge, mesh.z), along_edges(x.edge, x.z - 1e-12 * lengths[x.edge])
    )
    cell, fraction = find_cells((x.edge, x.z), mesh.z, offsets, lengths, 1e-12)
    starts = np.concatenate([[0.0], mesh.z])[before] * (before > offsets[x.edge])

    assert_array_equal(cell, before + x.edge)
    assert_allclose(starts + fraction * mesh.cell_lengths[cell], x.z, rtol=1e-14, atol=1e-14)
    assert set(fraction[-mesh.n_nodes :]) <= {0.0, 1.0}
