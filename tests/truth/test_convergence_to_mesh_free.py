"""Finite elements converge to the mesh-free kernel: an independent limit, from dense eigenproblems.

At the nodes k_h - k = O(h^2) for 2 alpha = 1 and 2. Between them a rough field (2 alpha = 1) is interpolated
with O(h), a smooth one with O(h^2).
"""

from dataclasses import replace
from functools import cache

import numpy as np
import pytest

import netbo
from netbo import FiniteElementSpace, Matern, MetricGraph, Points
from netbo.priors import SpectralPrior

GRAPHS = {
    "interval": netbo.interval(2.0),
    "star": MetricGraph([0, 0, 0, 0], [1, 2, 3, 4], [0.5, 1.0, 0.5, 1.5]),
    "circle": netbo.circle(3.0),
    "loop and parallel edges": MetricGraph([0, 1, 1, 2], [1, 2, 2, 2], [0.5, 1.0, 1.5, 1.0]),
    "grid": MetricGraph([0, 1, 3, 4, 0, 1, 2], [1, 2, 4, 5, 3, 4, 5], [0.5] * 7),
}  # lengths are multiples of 1/2, so all meshes share the nodes at multiples of 1/2
CELLS = np.array([16, 32, 64, 128])  # to the unit of length
FINE = 376  # to the unit of length: 1503 nodes on the loop and the parallel edges


@cache
def eigenpairs(name: str, cells: int) -> SpectralPrior:
    """The dense eigenproblem of a mesh, solved once: its pairs are those of the Laplacian."""
    graph = GRAPHS[name]
    space = FiniteElementSpace(graph, np.rint(graph.lengths * cells).astype(int))
    return netbo.spectral(space, Matern(alpha=1.0, range=1.0))


def shared_nodes(graph: MetricGraph) -> Points:
    """Vertices and the quarters of the edges: nodes of every mesh."""
    edges = np.arange(graph.n_edges)
    parts = [Points(edges, q * graph.lengths, graph=graph) for q in (0.25, 0.5, 0.75)]
    return Points.concatenate([graph.vertex_points(), *parts])


def middles_of_cells(graph: MetricGraph, cells: int) -> Points:
    """Half a cell beyond the tails and the quarters of the edges."""
    edges = np.arange(graph.n_edges)
    quarters = (0.0, 0.25, 0.5, 0.75)
    return Points.concatenate([Points(edges, q * graph.lengths + 0.5 / cells, graph=graph) for q in quarters])


def errors(name: str, p: int, cells: int) -> tuple[float, float]:
    """Largest errors of the kernel, relative to sigma^2: at shared nodes, and in middles of cells."""
    graph, matern = GRAPHS[name], Matern(alpha=p / 2, range=3.0, sigma=1.3)
    hats = replace(eigenpairs(name, cells), matern=matern)
    exact = netbo.whittle_matern(graph, matern)
    found = []
    for x in (shared_nodes(graph), middles_of_cells(graph, cells)):
        difference = hats.covariance(x, x) - exact.covariance(x, x)
        found.append(float(np.abs(difference).max()) / matern.sigma**2)
    return found[0], found[1]


@pytest.mark.parametrize("p", [1, 2])
@pytest.mark.parametrize("name", sorted(GRAPHS))
def test_hats_converge_to_the_mesh_free_kernel(name, p):
    """Slopes of log error over log h on four meshes of h = 1/16 to 1/128, range 3."""
    at_nodes, between = np.array([errors(name, p, n) for n in CELLS]).T
    slopes = [-np.polyfit(np.log(CELLS), np.log(e), 1)[0] for e in (at_nodes, between)]

    assert slopes[0] == pytest.approx(2.0, abs=0.01)
    assert slopes[1] == pytest.approx(1.0 if p == 1 else 2.0, abs=0.06)
    assert at_nodes[-1] < 1e-5


@pytest.mark.parametrize(("p", "at_nodes", "between"), [(1, 3e-7, 1e-3), (2, 1e-6, 5e-6)])
def test_on_a_fine_mesh_the_two_agree_as_far_as_it_allows(p, at_nodes, between):
    """N = 1503 on the loop and the parallel edges."""
    name = "loop and parallel edges"
    found = errors(name, p, FINE)

    assert eigenpairs(name, FINE).space.n_nodes == 1503
    assert found[0] < at_nodes
    assert found[1] < between
