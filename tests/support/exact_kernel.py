"""The true Whittle-Matérn kernel by dense matrices: exact elements between all points of a question.

Nothing here uses the linear algebra, elements, meshes or kernels of netbo: only its records (graph, points).
With K(s) assembled from kappa [[coth, -csch], [-csch, coth]] at s = kappa^2 and X(s) = K(s)^-1, the
covariance for p = 2 alpha is tau^-2 (-1)^(p-1) X_(p-1), X_j the Taylor coefficients.
"""

from functools import cache
from itertools import pairwise

import mpmath as mp
import numpy as np

import netbo
from netbo import Matern, MetricGraph, Points
from support.reference import Case, Kernel, contract_graph

SAME = 1e-9  # of the edge; nearer points are one node of the twin


class Nodes:
    """Vertices and the points inside edges, numbered as they come; cells between neighbours on an edge."""

    def __init__(self, graph: MetricGraph, *points: Points) -> None:
        self.graph = graph
        self.size = graph.n_vertices
        self._inside: list[dict[int, tuple[float, int]]] = [{} for _ in range(graph.n_edges)]
        self.numbers = [[self._number(e, z) for e, z in zip(x.edge, x.z, strict=True)] for x in points]

    def _number(self, edge: int, z: float) -> int:
        length = self.graph.lengths[edge]
        if z <= SAME * length:
            return int(self.graph.tails[edge])
        if z >= (1 - SAME) * length:
            return int(self.graph.heads[edge])
        key = round(float(z / length) / SAME)
        if key not in self._inside[edge]:
            self._inside[edge][key] = (float(z), self.size)
            self.size += 1
        return self._inside[edge][key][1]

    def cells(self) -> list[tuple[int, int, float]]:
        """Left node, right node and length of every cell."""
        found = []
        for e, inside in enumerate(self._inside):
            stops = [(0.0, int(self.graph.tails[e])), *sorted(inside.values())]
            stops.append((float(self.graph.lengths[e]), int(self.graph.heads[e])))
            found += [(a, b, w - z) for (z, a), (w, b) in pairwise(stops)]
        return found


def element_series(h: mp.mpf, order: int) -> tuple[list[mp.mpf], list[mp.mpf]]:
    """Taylor coefficients at s = 1 of diagonal and off-diagonal, K_0 .. K_order."""
    diagonal = mp.taylor(lambda s: mp.sqrt(s) * mp.coth(mp.sqrt(s) * h), 1, order)
    off = mp.taylor(lambda s: -mp.sqrt(s) / mp.sinh(mp.sqrt(s) * h), 1, order)
    return diagonal, off


@cache
def _element_floats(h: float, order: int) -> np.ndarray:
    with mp.workdps(40):
        return np.array(element_series(mp.mpf(h), order), dtype=float)


def exact_kernel(graph: MetricGraph, matern: Matern, *, robin: float = 0.0, constant: bool = False) -> Kernel:
    """k(x, y) in double precision."""
    p, kappa = round(2 * matern.alpha), matern.kappa

    def unit_covariance(nodes: Nodes) -> np.ndarray:
        K = np.zeros((p, nodes.size, nodes.size))
        for a, b, h in nodes.cells():
            diagonal, off = _element_floats(kappa * h, p - 1)
            K[:, a, a] += diagonal
            K[:, b, b] += diagonal
            K[:, a, b] += off
            K[:, b, a] += off
        vertices = np.arange(graph.n_vertices)
        K[0, vertices, vertices] += robin / kappa
        X = [np.linalg.inv(K[0])]
        for n in range(1, p):
            X.append(-X[0] @ sum(K[j] @ X[n - j] for j in range(1, n + 1)))
        return (-1) ** (p - 1) * X[-1]

    def kernel(x: Points, y: Points) -> np.ndarray:
        nodes = Nodes(graph, x, y)
        unit = unit_covariance(nodes)
        k = unit[np.ix_(*nodes.numbers)]
        if not constant:
            return kappa ** (1 - 2 * p) / matern.tau**2 * k
        sd = [np.sqrt(np.diag(unit)[numbers]) for numbers in nodes.numbers]
        return matern.sigma**2 * k / np.outer(*sd)

    return kernel


@cache
def mesh_free_case(name: str) -> Case:
    """Mesh-free priors for the contracts: "mesh-free 1", "mesh-free-robin 0.5", "mesh-free-constant 2"."""
    kind, _, number = name.partition(" ")
    robin = 0.7 if "robin" in kind else 0.0
    constant = "constant" in kind
    graph, matern = contract_graph(), Matern(alpha=float(number), range=2.0, sigma=1.3)
    prior = netbo.whittle_matern(graph, matern, vertex_condition=robin, constant_variance=constant)
    return Case(prior, exact_kernel(graph, matern, robin=robin, constant=constant))
