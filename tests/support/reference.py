"""Slow twins for tests: matrices by Python loops, regression by textbook formulas, the same in mpmath.

Nothing here uses the linear algebra, elements or kernels of netbo: only its records (graph, space, points).
"""

from collections.abc import Callable
from dataclasses import dataclass
from functools import cache
from itertools import pairwise

import mpmath as mp
import numpy as np
from scipy import special, stats
from scipy.linalg import fractional_matrix_power
from scipy.spatial.distance import cdist

import netbo
from netbo import FiniteElementSpace, Matern, MetricGraph, Points
from netbo.fem import PointMesh
from netbo.linalg import Elements, Load, Topology

Kernel = Callable[[Points, Points], np.ndarray]


def nodes_along(topology: Topology, edge: int) -> list[int]:
    """Numbers of the nodes of an edge from tail to head."""
    first, last = topology.n_vertices + topology.offsets[edge : edge + 2]
    return [int(topology.tails[edge]), *range(int(first), int(last)), int(topology.heads[edge])]


# Element matrices and block systems


def assembled(topology: Topology, off: np.ndarray, row: np.ndarray) -> np.ndarray:
    """Dense sum of the cells' matrices [[r - o, o], [o, r - o]]."""
    K = np.zeros((topology.n_nodes,) * 2)
    for e in range(topology.n_edges):
        for left, right in pairwise(nodes_along(topology, e)):
            for node in (left, right):
                K[node, node] += row[e] - off[e]
            K[left, right] += off[e]
            K[right, left] += off[e]
    return K


def load_matrix(topology: Topology, load: Load) -> np.ndarray:
    """D from its row sums and its off-diagonal entries."""
    D = np.diag(load.weight)
    if not load.coupling.any():
        return D
    cell = 0
    for e in range(topology.n_edges):
        for left, right in pairwise(nodes_along(topology, e)):
            value = load.coupling[cell]
            D[left, right] += value
            D[right, left] += value
            D[left, left] -= value
            D[right, right] -= value
            cell += 1
    return D


def taylor_matrices(topology: Topology, elements: Elements, robin: np.ndarray) -> list[np.ndarray]:
    """K_0, K_1, ... of the mesh; Robin parameters add to K_0."""
    matrices = [
        assembled(topology, elements.off[:, j], elements.row[:, j]) for j in range(elements.off.shape[1])
    ]
    vertices = np.arange(topology.n_vertices)
    matrices[0][vertices, vertices] += robin
    return matrices


def block_matrix(matrices: list[np.ndarray], p: int, D: np.ndarray) -> np.ndarray:
    """S (formula 1 of the numerics), nodes outside, rows of a block inside."""
    n = len(D)
    S = np.zeros((n * p, n * p))
    for i in range(p):
        for j in range(p - i):
            S[i::p, j::p] = matrices[p - 1 - i - j]
    S[p - 1 :: p, p - 1 :: p] += (-1) ** (p - 1) * D
    return S


def block_of(matrix: np.ndarray, p: int, i: int, j: int) -> np.ndarray:
    """The p x p block of a matrix between nodes i and j."""
    return matrix[p * i : p * i + p, p * j : p * j + p]


def hyperbolic_elements(cells: np.ndarray, order: int) -> Elements:
    """Taylor coefficients in s, at s = 1, of the exact element kappa [[coth, -csch], [-csch, coth]]."""
    with mp.workdps(40):
        off = [mp.taylor(lambda s, y=h: -mp.sqrt(s) / mp.sinh(mp.sqrt(s) * y), 1, order) for h in cells]
        row = [mp.taylor(lambda s, y=h: mp.sqrt(s) * mp.tanh(mp.sqrt(s) * y / 2), 1, order) for h in cells]
    return Elements(off=np.array(off, dtype=float), row=np.array(row, dtype=float))


# Finite elements


def mass_and_stiffness(space: FiniteElementSpace) -> tuple[np.ndarray, np.ndarray]:
    """C and G, dense, hat function by hat function."""
    C, G = np.zeros((2, space.n_nodes, space.n_nodes))
    for e in range(space.graph.n_edges):
        h = float(space.graph.lengths[e]) / int(space.cells[e])
        for pair in pairwise(nodes_along(space.topology, e)):
            for a, i in enumerate(pair):
                for b, j in enumerate(pair):
                    C[i, j] += h / 3 if a == b else h / 6
                    G[i, j] += 1 / h if a == b else -1 / h
    return C, G


def hat_values(space: FiniteElementSpace, x: Points) -> np.ndarray:
    """Rows e(x), dense, from the definition of a hat function."""
    rows = np.zeros((len(x), space.n_nodes))
    for row, edge, z in zip(rows, x.edge.tolist(), x.z.tolist(), strict=True):
        h = float(space.graph.lengths[edge]) / int(space.cells[edge])
        for position, node in enumerate(nodes_along(space.topology, edge)):
            row[node] += max(0.0, 1 - abs(z - position * h) / h)
    return rows


def nodal_covariance(
    space: FiniteElementSpace, matern: Matern, *, lumped: bool = False, robin: float = 0.0
) -> np.ndarray:
    """tau^-2 (C^-1 K)^(-2 alpha) C^-1, dense."""
    C, G = mass_and_stiffness(space)
    if lumped:
        C = np.diag(C.sum(axis=1))
    K = matern.kappa**2 * C + G
    vertices = np.arange(space.graph.n_vertices)
    K[vertices, vertices] += robin
    p = round(2 * matern.alpha)
    if p == 2 * matern.alpha:
        covariance = np.linalg.inv(K)
        for _ in range(p - 1):
            covariance = covariance @ C @ np.linalg.inv(K)
    else:
        covariance = fractional_matrix_power(np.linalg.solve(C, K), -2 * matern.alpha) @ np.linalg.inv(C)
    return (covariance + covariance.T) / 2 / matern.tau**2


def element_kernel(space: FiniteElementSpace, matern: Matern, *, constant: bool = False, **kind) -> Kernel:
    """k_h(x, y) = e(x)' Cov e(y); divided by standard deviations, times sigma^2, if constant."""
    covariance = nodal_covariance(space, matern, **kind)

    def kernel(x: Points, y: Points) -> np.ndarray:
        ex, ey = hat_values(space, x), hat_values(space, y)
        k = ex @ covariance @ ey.T
        if not constant:
            return k
        sd = [np.sqrt(np.einsum("ij,jk,ik->i", e, covariance, e)) for e in (ex, ey)]
        return matern.sigma**2 * k / np.outer(*sd)

    return kernel


def matern_correlation(d: np.ndarray, nu: float) -> np.ndarray:
    """2^(1 - nu) / Gamma(nu) d^nu K_nu(d), 1 at zero."""
    safe = np.maximum(d, 1e-8)
    value = 2 ** (1 - nu) / special.gamma(nu) * safe**nu * special.kv(nu, safe)
    return np.where(d > 1e-8, value, 1.0)


def straight_line_kernel(graph: MetricGraph, nu: float, length: float, sigma: float) -> Kernel:
    """sigma^2 times the Matérn correlation of sqrt(8 nu) |x - y| / range."""

    def kernel(x: Points, y: Points) -> np.ndarray:
        d = np.sqrt(8 * nu) * cdist(graph.embed(x), graph.embed(y)) / length
        return sigma**2 * matern_correlation(d, nu)

    return kernel


# Gaussian regression


@dataclass(frozen=True)
class Regression:
    """eq:postmean and eq:postcov with plain inverses; mean None: the bordered system of universal kriging."""

    kernel: Kernel
    points: Points
    values: np.ndarray
    noise: np.ndarray
    constant: float | None = 0.0

    @property
    def T(self) -> np.ndarray:  # noqa: N802
        return self.kernel(self.points, self.points) + np.diag(self.noise)

    @property
    def _border(self) -> tuple[np.ndarray, int]:
        n, T = len(self.values), self.T
        if self.constant is not None:
            return T, 0
        ones = np.ones((n, 1))
        return np.block([[T, ones], [ones.T, np.zeros((1, 1))]]), 1

    def _weights(self) -> np.ndarray:
        matrix, extra = self._border
        return np.linalg.solve(matrix, np.r_[self.values - (self.constant or 0.0), np.zeros(extra)])

    @property
    def m(self) -> float:
        return float(self._weights()[-1]) if self.constant is None else self.constant

    def _cross(self, x: Points) -> np.ndarray:
        ones = np.ones((len(x), self._border[1]))
        return np.hstack([self.kernel(x, self.points), ones])

    def mean(self, x: Points) -> np.ndarray:
        return self._cross(x) @ self._weights() + (self.constant or 0.0)

    def covariance(self, x: Points, y: Points) -> np.ndarray:
        return self.kernel(x, y) - self._cross(x) @ np.linalg.solve(self._border[0], self._cross(y).T)

    def std(self, x: Points) -> np.ndarray:
        return np.sqrt(np.diag(self.covariance(x, x)))

    def log_evidence(self) -> float:
        centre = np.full(len(self.values), self.m)
        return float(stats.multivariate_normal(centre, self.T).logpdf(self.values))

    def information_gain(self) -> float:
        root = np.sqrt(self.noise)
        K = self.kernel(self.points, self.points) / np.outer(root, root)
        return float(np.linalg.slogdet(np.eye(len(K)) + K)[1] / 2)


def covariance_errors(draws: np.ndarray, covariance: np.ndarray) -> np.ndarray:
    """Second moments of centred draws (n, m) against their covariance, in standard errors."""
    n = len(draws)
    variance = np.diag(covariance)
    standard_error = np.sqrt((np.outer(variance, variance) + covariance**2) / n)
    return (draws.T @ draws / n - covariance) / standard_error


# mpmath


def exact_matrices(space: FiniteElementSpace, *, lumped: bool) -> tuple[mp.matrix, mp.matrix]:
    """C and G of a mesh whose lengths are taken as exact."""
    n = space.n_nodes
    C, G = mp.zeros(n), mp.zeros(n)
    for e in range(space.graph.n_edges):
        h = mp.mpf(float(space.graph.lengths[e])) / int(space.cells[e])
        for i, j in pairwise(nodes_along(space.topology, e)):
            G[i, i] += 1 / h
            G[j, j] += 1 / h
            G[i, j] -= 1 / h
            G[j, i] -= 1 / h
            share = h / 2 if lumped else h / 3
            C[i, i] += share
            C[j, j] += share
            if not lumped:
                C[i, j] += h / 6
                C[j, i] += h / 6
    return C, G


def exact_covariance(C: mp.matrix, G: mp.matrix, kappa: mp.mpf, p: int) -> mp.matrix:
    """Covariance at the nodes for tau = 1."""
    inverse = (kappa**2 * C + G) ** -1
    covariance = inverse
    for _ in range(p - 1):
        covariance = covariance * C * inverse
    return covariance


# The network and the priors on which the contracts are checked


@cache
def contract_graph() -> MetricGraph:
    """Drawn network with a loop, parallel edges, a dead end and a second component."""
    bend = [[1.0, 0.0], [1.5, 0.8], [2.0, 0.0]]
    ring = [[2.0, 0.0], [2.6, 0.5], [2.9, 0.0], [2.6, -0.5], [2.0, 0.0]]
    curves = [None, None, bend, ring, None, None]
    positions = [[0.0, 0.0], [1.0, 0.0], [2.0, 0.0], [2.0, -1.5], [0.0, 2.0], [1.4, 2.0]]
    return MetricGraph([0, 1, 1, 2, 2, 4], [1, 2, 2, 2, 3, 5], None, positions=positions, curves=curves)


@cache
def contract_space() -> FiniteElementSpace:
    """About forty nodes."""
    return FiniteElementSpace.build(contract_graph(), max_cell=0.25)


@cache
def contract_points() -> Points:
    """Six points: inside cells, at nodes, at a vertex."""
    graph, nodes = contract_graph(), contract_space().nodes
    inside = graph.points([0, 2, 3, 5], fraction=[0.37, 0.71, 0.5, 0.18])
    return Points.concatenate([inside, nodes[[2, 17]]])


@dataclass(frozen=True)
class Case:
    """A prior and its kernel by other means."""

    prior: netbo.Prior
    kernel: Kernel


def _element_case(
    alpha: float,
    *,
    lumped: bool = False,
    robin: float = 0.0,
    constant: bool = False,
    door: Callable = netbo.whittle_matern,
) -> Case:
    space, matern = contract_space(), Matern(alpha=alpha, range=2.0, sigma=1.3)
    prior = door(space, matern, lumped=lumped, vertex_condition=robin, constant_variance=constant)
    return Case(prior, element_kernel(space, matern, lumped=lumped, robin=robin, constant=constant))


def _straight_case(nu: float) -> Case:
    prior = netbo.euclidean_matern(contract_graph(), nu=nu, range=1.7, sigma=0.8)
    return Case(prior, straight_line_kernel(contract_graph(), nu, 1.7, 0.8))


@cache
def case(name: str) -> Case:
    """The prior of that name."""
    kind, _, number = name.partition(" ")
    value = float(number)
    if kind == "euclidean":
        return _straight_case(value)
    options: dict[str, dict] = {
        "hats": {},
        "lumped": {"lumped": True},
        "robin": {"robin": 0.7},
        "constant": {"constant": True},
        "spectral": {"door": netbo.spectral},
        "spectral-constant": {"door": netbo.spectral, "constant": True},
    }
    return _element_case(value, **options[kind])


def nodes_at(mesh: PointMesh, x: Points) -> np.ndarray:
    """Node of a mesh at each point; the points must be nodes."""
    at = mesh.locate(x)
    return np.where(at.fraction == 1, at.right, at.left)
