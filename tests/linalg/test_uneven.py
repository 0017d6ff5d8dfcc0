"""Chains whose cells differ: against the kernels for equal cells, and against dense matrices."""

import numpy as np
import pytest
from numpy.testing import assert_allclose, assert_array_equal

import netbo
from netbo.fem import PointMesh
from netbo.linalg import (
    BlockFactor,
    Elements,
    FieldNoise,
    Load,
    Topology,
    apply_stiffness,
    derivative_form,
    hat_elements,
    hyperbolic_elements,
    log_determinant_derivative,
)
from netbo.priors import ExactPrior
from support.reference import block_matrix, load_matrix, taylor_matrices

ORDERS = (1, 2, 3, 4)
CELLS = np.array([3, 1, 6, 5, 1, 2, 4, 1, 2, 3, 1, 7])
TAILS = np.array([0, 0, 0, 1, 2, 2, 2, 4, 5, 6, 7, 3])  # loops of three cells and of one, parallel edges,
HEADS = np.array([0, 1, 1, 2, 2, 0, 3, 5, 6, 7, 4, 1])  # two components, edges without interior nodes
N_VERTICES = 8
KINDS = {
    "consistent": lambda cells, order: hat_elements(cells, order, lumped=False),
    "hyperbolic": hyperbolic_elements,
}


def tangle(*, is_even: bool) -> Topology:
    offsets = np.concatenate([[0], np.cumsum(CELLS - 1)])
    return Topology(TAILS, HEADS, offsets, N_VERTICES, is_even=is_even)


def repeated(elements: Elements) -> Elements:
    """The element of every edge, once for each of its cells."""
    return Elements(off=np.repeat(elements.off, CELLS, axis=0), row=np.repeat(elements.row, CELLS, axis=0))


def random_load(topology: Topology, rng: np.random.Generator) -> Load:
    """Observations at six nodes and inside five cells."""
    weight, coupling = np.zeros(topology.n_nodes), np.zeros(topology.n_cells)
    np.add.at(weight, rng.integers(0, topology.n_nodes, 6), rng.uniform(1, 10, 6))
    left, right = ends_of_cells(topology)
    for cell in rng.choice(topology.n_cells, 5, replace=False):
        f = rng.uniform()
        weight[left[cell]] += 5 * (1 - f)
        weight[right[cell]] += 5 * f
        coupling[cell] += 5 * f * (1 - f)
    return Load(weight=weight, coupling=coupling)


def ends_of_cells(topology: Topology) -> tuple[np.ndarray, np.ndarray]:
    """Left and right node of every cell, by walking along the edges."""
    left, right = [], []
    for e in range(topology.n_edges):
        first, last = topology.n_vertices + topology.offsets[e : e + 2]
        along = [int(topology.tails[e]), *range(int(first), int(last)), int(topology.heads[e])]
        left += along[:-1]
        right += along[1:]
    return np.array(left), np.array(right)


def one_cell_an_edge(topology: Topology) -> Topology:
    """The same cells as edges between vertices: what the dense twin assembles, one element for each."""
    left, right = ends_of_cells(topology)
    return Topology(left, right, np.zeros(len(left) + 1, dtype=np.int64), topology.n_nodes)


class Case:
    """Elements, load and Robin vertices on the tangle, drawn for an order."""

    def __init__(self, p: int, kind: str, *, are_equal: bool) -> None:
        rng = np.random.default_rng(p)
        self.p, self.topology = p, tangle(is_even=False)
        self.by_edge = KINDS[kind](rng.uniform(0.1, 1.0, 12) / CELLS, p + 1)
        widths = rng.uniform(0.01, 1.0, self.topology.n_cells)
        self.elements = repeated(self.by_edge) if are_equal else KINDS[kind](widths, p + 1)
        self.load, self.robin = random_load(self.topology, rng), rng.uniform(0.0, 0.3, N_VERTICES)
        self.x = rng.standard_normal((2, self.topology.n_nodes, p))

    def factor(self, *, is_even: bool = False, with_load: bool = True) -> BlockFactor:
        elements = self.by_edge if is_even else self.elements
        load = self.load if with_load else None
        return BlockFactor(tangle(is_even=is_even), elements, self.p, load, self.robin)

    def matrices(self) -> list[np.ndarray]:
        """K_0, K_1, ... dense."""
        padded = np.r_[self.robin, np.zeros(self.topology.n_interior)]
        return taylor_matrices(one_cell_an_edge(self.topology), self.elements, padded)

    def matrix(self, *, with_load: bool = True) -> np.ndarray:
        """S, dense."""
        D = load_matrix(one_cell_an_edge(self.topology), self.load)
        return block_matrix(self.matrices(), self.p, D if with_load else np.zeros_like(D))


def assert_close(found, expected, tolerance=1e-12):
    """Compare relative to the largest entry."""
    assert_allclose(found, expected, rtol=0, atol=tolerance * np.abs(expected).max())


# Against the kernels for equal cells


@pytest.mark.parametrize("kind", sorted(KINDS))
@pytest.mark.parametrize("p", [*ORDERS, 5])
def test_equal_cells_give_what_the_kernels_for_equal_cells_give(p, kind):
    """Other orders of elimination, so to rounding: determinant, solves, selected inverse, derivative."""
    case = Case(p, kind, are_equal=True)
    uneven, even = case.factor(), case.factor(is_even=True)
    found, expected = uneven.select_with_sums(), even.select_with_sums()
    first = np.concatenate([[0], np.cumsum(CELLS)[:-1]])

    assert uneven.log_determinant == pytest.approx(even.log_determinant, rel=1e-12, abs=1e-11)
    assert log_determinant_derivative(uneven) == pytest.approx(log_determinant_derivative(even), rel=1e-11)
    assert_close(uneven.solve(case.x.copy()), even.solve(case.x.copy()))
    assert_allclose(found.variances, expected.variances, rtol=1e-12)
    assert_close(found.neighbours, expected.neighbours)
    assert_close(np.add.reduceat(found.diagonals, first), expected.diagonals)
    assert_close(np.add.reduceat(found.couples, first), expected.couples)
    assert_allclose(uneven.select().variances, found.variances, rtol=1e-14)
    assert_allclose(uneven.select().neighbours, found.neighbours, rtol=1e-14)


@pytest.mark.parametrize("kind", sorted(KINDS))
@pytest.mark.parametrize("p", [*ORDERS, 5])
def test_equal_cells_give_the_same_forms(p, kind):
    case, even = Case(p, kind, are_equal=True), tangle(is_even=True)
    x = case.x[0]
    forms = [derivative_form(t, e, x) for t, e in ((case.topology, case.elements), (even, case.by_edge))]
    flows = [
        apply_stiffness(t, e, case.robin, np.ascontiguousarray(x[:, 0]))
        for t, e in ((case.topology, case.elements), (even, case.by_edge))
    ]

    assert forms[0] == pytest.approx(forms[1], rel=1e-13)
    assert_array_equal(flows[0][0], flows[1][0])
    assert_array_equal(flows[0][1], flows[1][1])


@pytest.mark.parametrize("p", ORDERS)
def test_equal_cells_give_the_same_draws(p):
    case = Case(p, "hyperbolic", are_equal=True)
    draws = np.zeros((2, case.topology.n_nodes, p))
    for draw, topology, elements in zip(
        draws, (case.topology, tangle(is_even=True)), (case.elements, case.by_edge), strict=True
    ):
        FieldNoise(topology, elements, p, case.robin).add(np.random.default_rng(0), 1.7, draw)

    assert np.all(draws[0, :, 0] != 0)
    assert_array_equal(draws[0], draws[1])


# Against dense matrices


@pytest.mark.parametrize("kind", sorted(KINDS))
@pytest.mark.parametrize("p", [*ORDERS, 5])
def test_unequal_cells_give_the_dense_matrix(p, kind):
    """Solves, selected inverse and its blocks; loops, parallel edges, components, observations in cells."""
    case = Case(p, kind, are_equal=False)
    S, factor = case.matrix(), case.factor()
    Z = np.linalg.inv(S)
    field = (-1) ** (p - 1) * Z[p - 1 :: p, p - 1 :: p]
    left, right = ends_of_cells(case.topology)
    blocks = Z.reshape(case.topology.n_nodes, p, -1, p).transpose(0, 2, 1, 3)
    upper = np.triu_indices(p)
    selected = factor.select_with_sums()
    expected = np.linalg.solve(S, case.x.reshape(2, -1).T).T.reshape(case.x.shape)

    assert_close(factor.solve(case.x.copy()), expected, 1e-11)
    assert_allclose(selected.variances, np.diag(field), rtol=1e-11)
    assert_close(selected.neighbours, field[left, right], 1e-11)
    diagonals = blocks[left, left] + blocks[right, right]
    couples = blocks[left, right] + blocks[right, left]
    assert_close(selected.diagonals, diagonals[:, *upper], 1e-11)
    assert_close(selected.couples, couples[:, *upper], 1e-11)


@pytest.mark.parametrize("kind", sorted(KINDS))
@pytest.mark.parametrize("p", [*ORDERS, 5])
def test_differences_of_log_determinants_are_those_of_the_dense_matrices(p, kind):
    """Between loads and between orders: log|det S| with and without load, and p log|K|."""
    case = Case(p, kind, are_equal=False)
    with_load, without = (np.linalg.slogdet(case.matrix(with_load=b))[1] for b in (True, False))
    stiffness = BlockFactor(case.topology, case.elements, 1, None, case.robin)
    log_K = np.linalg.slogdet(case.matrices()[0])[1]
    prior, posterior = case.factor(with_load=False).log_determinant, case.factor().log_determinant

    assert posterior - prior == pytest.approx(with_load - without, rel=1e-10)
    assert posterior - p * stiffness.log_determinant == pytest.approx(with_load - p * log_K, rel=1e-10)


@pytest.mark.parametrize("kind", sorted(KINDS))
@pytest.mark.parametrize("p", [*ORDERS, 5])
def test_forms_of_the_derivative_are_those_of_its_matrix(p, kind):
    """tr(S^-1 dS/ds) and x' dS/ds x, every K_j of S replaced by (j + 1) K_(j+1)."""
    case = Case(p, kind, are_equal=False)
    K = case.matrices()
    dS = block_matrix([(j + 1) * each for j, each in enumerate(K[1:])], p, np.zeros_like(K[0]))
    trace = float(np.sum(np.linalg.inv(case.matrix()) * dS))
    x = case.x[0]

    assert log_determinant_derivative(case.factor()) == pytest.approx(trace, rel=1e-10)
    assert derivative_form(case.topology, case.elements, x) == pytest.approx(x.ravel() @ dS @ x.ravel())


def test_the_stiffness_of_unequal_cells_is_applied_without_being_assembled():
    case = Case(1, "hyperbolic", are_equal=False)
    x = case.x[0, :, 0].copy()
    product, size = apply_stiffness(case.topology, case.elements, case.robin, x)

    assert_close(product, case.matrices()[0] @ x, 1e-14)
    assert np.all(size > 0)


class UnitDraws:
    """A generator whose draws are all 0 but for one, counted over all calls."""

    def __init__(self, index: int) -> None:
        self.index = index

    def standard_normal(self, shape) -> np.ndarray:
        draws = np.zeros(shape)
        if 0 <= self.index < draws.size:
            draws.flat[self.index] = 1.0
        self.index -= draws.size
        return draws


@pytest.mark.parametrize("p", ORDERS)
def test_right_hand_sides_of_unequal_cells_have_the_covariance_of_formula_five(p):
    """One draw at a time gives the covariance as a sum of squares, without Monte Carlo."""
    case = Case(p, "hyperbolic", are_equal=False)
    noise = FieldNoise(case.topology, case.elements, p, case.robin)
    n_draws = 4 * case.topology.n_cells + N_VERTICES
    rows = np.zeros((n_draws, case.topology.n_nodes, p))
    for index, row in enumerate(rows):
        noise.add(UnitDraws(index), 1.0, row)
    flat = rows.reshape(n_draws, -1)
    K = case.matrices()
    blocks = {
        1: {(0, 0): 0},
        2: {(0, 0): 1},
        3: {(0, 0): 2, (1, 1): 0},
        4: {(0, 0): 3, (0, 1): 2, (1, 0): 2, (1, 1): 1},
    }[p]
    expected = np.zeros((flat.shape[1],) * 2)
    for (i, j), k in blocks.items():
        expected[i::p, j::p] = -K[k] if p == 3 and k == 2 else K[k]

    assert_close(flat.T @ flat, expected, 1e-14)


@pytest.mark.parametrize("p", [1, 2, 4])
def test_many_unequal_cells_run_on_threads_as_on_one(p, monkeypatch):
    """1e5 nodes at random places of a road network; the kernels see edges in parts."""
    from netbo.linalg import runtime as threads

    graph = netbo.road(300, seed=2)
    rng = np.random.default_rng(0)
    mesh = PointMesh.through(graph, netbo.uniform_points(graph, 100_000, rng))
    elements = hyperbolic_elements(0.05 * mesh.cell_lengths, p)
    load = Load(np.where(rng.random(mesh.n_nodes) < 1e-3, 10.0, 0.0), np.zeros(1))
    x = rng.standard_normal((1, mesh.n_nodes, p))
    found = []
    monkeypatch.setattr(threads, "thread_count", lambda: 3)
    for least in (10_000, 10**9):
        monkeypatch.setattr(threads, "SERIAL_NODES", least)
        factor = BlockFactor(mesh.topology, elements, p, load)
        found.append((factor.log_determinant, factor.select().variances, factor.solve(x.copy())))

    assert found[0][0] == pytest.approx(found[1][0], rel=1e-13)
    assert_allclose(found[0][1], found[1][1], rtol=1e-13)
    assert_allclose(found[0][2], found[1][2], rtol=1e-10)


@pytest.mark.parametrize("p", ORDERS)
def test_many_tiny_cells_lose_no_digits(p):
    """1e5 random nodes on one edge change nothing at the ends: row sums keep what differences lose."""
    graph, rng = netbo.interval(1.0), np.random.default_rng(1)
    matern = netbo.Matern(alpha=p / 2, range=0.7)
    ends = graph.points(0, [0.0, 1.0])
    few, many = (
        ExactPrior(PointMesh.through(graph, *points), matern, False, np.zeros(2))
        for points in ((), (netbo.uniform_points(graph, 100_000, rng),))
    )

    assert_allclose(many.covariance(ends, ends), few.covariance(ends, ends), rtol=1e-11)
    assert_allclose(many.variance(ends), few.variance(ends), rtol=1e-11)
