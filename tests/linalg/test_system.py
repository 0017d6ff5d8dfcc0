"""The block core against dense matrices: chains, vertices, dense tail, forms."""

from itertools import pairwise

import numpy as np
import pytest
from numpy.testing import assert_allclose
from scipy import sparse
from scipy.sparse.linalg import splu

import netbo
from netbo.errors import NumericalError
from netbo.linalg import (
    BlockFactor,
    Elements,
    Load,
    Topology,
    apply_stiffness,
    derivative_form,
    derivative_trace,
    hat_elements,
    log_determinant_derivative,
    no_load,
    ordering,
)
from support.reference import (
    block_matrix,
    block_of,
    hyperbolic_elements,
    load_matrix,
    nodes_along,
    taylor_matrices,
)

ORDERS = (1, 2, 3, 4, 5)
CELLS = np.array([3, 1, 6, 5, 1, 2, 4, 1, 2, 3, 1, 7])
KINDS = {
    "consistent": lambda cells, order: hat_elements(cells, order, lumped=False),
    "lumped": lambda cells, order: hat_elements(cells, order, lumped=True),
    "hyperbolic": hyperbolic_elements,
}


def topology_of(tails, heads, cells) -> Topology:
    offsets = np.concatenate([[0], np.cumsum(np.asarray(cells) - 1)])
    n_vertices = int(max(*tails, *heads)) + 1
    return Topology(np.array(tails), np.array(heads), offsets, n_vertices)


def tangle() -> Topology:
    """Loops of three cells and of one, parallel edges, two components, edges of one to seven cells."""
    tails, heads = [0, 0, 0, 1, 2, 2, 2, 4, 5, 6, 7, 3], [0, 1, 1, 2, 2, 0, 3, 5, 6, 7, 4, 1]
    return topology_of(tails, heads, CELLS)


def random_load(topology: Topology, rng: np.random.Generator) -> Load:
    """Observations at five nodes and inside four cells."""
    weight, coupling = np.zeros(topology.n_nodes), np.zeros(topology.n_cells)
    np.add.at(weight, rng.integers(0, topology.n_nodes, 5), rng.uniform(1, 10, 5))
    for _ in range(4):
        e = int(rng.integers(0, topology.n_edges))
        along = nodes_along(topology, e)
        c, f = int(rng.integers(0, len(along) - 1)), rng.uniform()
        weight[along[c]] += 5 * (1 - f)
        weight[along[c + 1]] += 5 * f
        coupling[topology.offsets[e] + e + c] += 5 * f * (1 - f)
    return Load(weight=weight, coupling=coupling)


class Twin:
    """S, its inverse and what is selected from it, dense."""

    def __init__(self, topology: Topology, elements: Elements, p: int, load: Load, robin: np.ndarray) -> None:
        self.topology, self.elements, self.p = topology, elements, p
        self.K = taylor_matrices(topology, elements, robin)
        self.S = block_matrix(self.K, p, load_matrix(topology, load))
        self.Z = np.linalg.inv(self.S)

    @property
    def log_determinant(self) -> float:
        """log|det S|, interior nodes in units of the p-th power of their element's diagonal."""
        diagonal = np.log(self.elements.row[:, 0] - self.elements.off[:, 0])
        interior = np.diff(self.topology.offsets)
        return float(np.linalg.slogdet(self.S)[1] - self.p * interior @ diagonal)

    @property
    def field(self) -> np.ndarray:
        p = self.p
        return (-1) ** (p - 1) * self.Z[p - 1 :: p, p - 1 :: p]

    def sums(self) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
        """Field across the cells; sums of diagonal and of off-diagonal blocks over the cells of an edge."""
        t, p, across = self.topology, self.p, []
        diagonals, couples = np.zeros((2, t.n_edges, p, p))
        for e in range(t.n_edges):
            for left, right in pairwise(nodes_along(t, e)):
                across.append(self.field[left, right])
                diagonals[e] += block_of(self.Z, p, left, left) + block_of(self.Z, p, right, right)
                couples[e] += block_of(self.Z, p, left, right) + block_of(self.Z, p, right, left)
        upper = np.triu_indices(p)
        return np.array(across), diagonals[:, *upper], couples[:, *upper]

    def derivative(self) -> np.ndarray:
        """dS/ds: every K_j replaced by (j + 1) K_(j+1)."""
        moved = [(j + 1) * K for j, K in enumerate(self.K[1:])]
        return block_matrix(moved, self.p, np.zeros_like(self.K[0]))


def assert_close(found, expected, tolerance=1e-11):
    """Compare relative to the largest entry."""
    assert_allclose(found, expected, rtol=0, atol=tolerance * np.abs(expected).max())


def assert_factor_is_its_twin(topology, elements, p, load, robin):
    """Determinant, solves and selected inverse."""
    factor, twin = BlockFactor(topology, elements, p, load, robin), Twin(topology, elements, p, load, robin)
    rhs = np.random.default_rng(3).standard_normal((2, topology.n_nodes, p))
    expected = np.linalg.solve(twin.S, rhs.reshape(2, -1).T).T.reshape(rhs.shape)
    selected, (across, diagonals, couples) = factor.select_with_sums(), twin.sums()
    field = factor.select()

    assert factor.log_determinant == pytest.approx(twin.log_determinant, rel=1e-11, abs=1e-10)
    assert_close(factor.solve(rhs), expected)
    assert_allclose(selected.variances, np.diag(twin.field), rtol=1e-11)
    assert_close(selected.neighbours, across)
    assert_allclose(field.variances, np.diag(twin.field), rtol=1e-11)
    assert_close(field.neighbours, across)
    assert_close(selected.diagonals, diagonals)
    assert_close(selected.couples, couples)


@pytest.fixture(params=["sparse", "dense tail"])
def tail(request, monkeypatch):
    """Vertices eliminated column by column, or the last of them as one dense block."""
    if request.param == "dense tail":
        monkeypatch.setattr(ordering, "SMALLEST_TAIL", 2)
        monkeypatch.setattr(ordering, "DENSE_FRACTION", 0.5)
    return request.param


@pytest.mark.parametrize("kind", sorted(KINDS))
@pytest.mark.parametrize("p", ORDERS)
def test_the_factor_is_that_of_the_dense_matrix(p, kind, tail):
    """Loops, parallel edges, components, Robin vertices and observations inside cells at once."""
    topology, rng = tangle(), np.random.default_rng(p)
    elements = KINDS[kind](rng.uniform(0.1, 1.0, 12) / CELLS, p + 1)
    load, robin = random_load(topology, rng), rng.uniform(0.0, 0.3, 8)

    assert (topology.pattern.n_tail > 0) == (tail == "dense tail")
    assert_factor_is_its_twin(topology, elements, p, load, robin)


@pytest.mark.parametrize("p", [1, 2, 4])
@pytest.mark.parametrize("cells", range(1, 9))
def test_chains_of_every_length_are_eliminated_from_both_ends(cells, p):
    """Even and odd chains meet differently in the middle; with one cell there is nothing to meet."""
    rng = np.random.default_rng(cells)
    for tails, heads in (([0], [1]), ([0], [0]), ([1, 0], [0, 1])):
        topology = topology_of(tails, heads, [cells] * len(tails))
        elements = hat_elements(np.full(len(tails), 0.3), p, lumped=False)

        assert_factor_is_its_twin(
            topology, elements, p, random_load(topology, rng), np.zeros(topology.n_vertices)
        )


@pytest.mark.parametrize("p", [1, 2, 3])
def test_without_load_the_factor_is_the_prior(p):
    topology = tangle()
    elements = hat_elements(0.4 / CELLS, p, lumped=False)
    none = no_load(topology)
    twin = Twin(topology, elements, p, none, np.zeros(8))

    assert not none.weight.any()
    assert_allclose(BlockFactor(topology, elements, p).select().variances, np.diag(twin.field), rtol=1e-11)


@pytest.mark.parametrize("p", [1, 2, 3])
def test_hubs_get_a_dense_tail_and_lose_no_digits(p):
    """Preferential attachment fills the end of the factor; the twin is SuperLU on the assembled matrix."""
    graph = netbo.telecom(400, seed=0)
    rng = np.random.default_rng(0)
    space = netbo.FiniteElementSpace(graph, rng.integers(1, 4, graph.n_edges))
    topology = space.topology
    elements = hat_elements(2.0 * space.cell_lengths, p, lumped=False)
    load = Load(weight=np.where(rng.random(topology.n_nodes) < 0.1, 50.0, 0.0), coupling=np.zeros(1))
    K, C = 2.0 * space.mass + space.stiffness / 2.0, 2.0 * space.mass
    corner = [[K if i + j == p - 1 else C if i + j == p - 2 else None for j in range(p)] for i in range(p)]
    D = (-1) ** (p - 1) * sparse.diags_array(load.weight)
    corner[-1][-1] = D if corner[-1][-1] is None else corner[-1][-1] + D
    lu = splu(sparse.block_array(corner, format="csc"))
    rhs = rng.standard_normal((1, topology.n_nodes, p))
    expected = lu.solve(rhs[0].T.ravel()).reshape(p, -1).T
    factor = BlockFactor(topology, elements, p, load)
    picked = rng.choice(topology.n_nodes, 20, replace=False)
    unit = np.zeros((p * topology.n_nodes, 20))
    unit[(p - 1) * topology.n_nodes + picked, np.arange(20)] = (-1) ** (p - 1)
    columns = lu.solve(unit)[(p - 1) * topology.n_nodes + picked, np.arange(20)]

    assert topology.pattern.n_tail > ordering.SMALLEST_TAIL
    assert_close(factor.solve(rhs)[0], expected, 1e-10)
    assert_allclose(factor.select().variances[picked], columns, rtol=1e-10)


@pytest.mark.parametrize("kind", sorted(KINDS))
@pytest.mark.parametrize("p", [1, 2, 3, 4])
def test_forms_of_the_derivative_are_those_of_its_matrix(p, kind):
    """tr(Z dS/ds), x' dS/ds x and d log|det S| / ds."""
    topology, rng = tangle(), np.random.default_rng(p)
    elements = KINDS[kind](rng.uniform(0.1, 1.0, 12) / CELLS, p)
    load, robin = random_load(topology, rng), rng.uniform(0.0, 0.3, 8)
    twin = Twin(topology, elements, p, load, robin)
    dS, x = twin.derivative(), rng.standard_normal((topology.n_nodes, p))
    factor = BlockFactor(topology, elements, p, load, robin)
    selected = factor.select_with_sums()
    trace = float(np.sum(twin.Z * dS))

    assert derivative_trace(elements, p, selected.diagonals, selected.couples) == pytest.approx(trace)
    assert log_determinant_derivative(factor) == pytest.approx(trace)
    assert derivative_form(topology, elements, x) == pytest.approx(float(x.ravel() @ dS @ x.ravel()))


def test_the_stiffness_is_applied_without_being_assembled():
    """`size` bounds the terms that may cancel in the product."""
    topology, rng = tangle(), np.random.default_rng(0)
    elements, robin = hat_elements(0.7 / CELLS, 2, lumped=False), rng.uniform(0.0, 0.3, 8)
    x = rng.standard_normal(topology.n_nodes)
    product, size = apply_stiffness(topology, elements, robin, x)

    assert_close(product, taylor_matrices(topology, elements, robin)[0] @ x, 1e-13)
    assert np.all(size >= 0)


def test_a_smooth_function_keeps_its_small_stiffness_digits():
    """K 1 is the row sum, 1e-10 of the diagonal here: differences of equal values are exactly zero."""
    topology = topology_of([0], [1], [1000])
    elements = hat_elements(np.array([1e-5]), 1, lumped=False)
    product, _ = apply_stiffness(topology, elements, np.zeros(2), np.ones(topology.n_nodes))

    assert_allclose(product[2:], 1e-5, rtol=1e-14)


def test_a_system_that_cannot_be_factored_is_refused():
    """Cells of length NaN stand for kappa h beyond what doubles hold."""
    topology = topology_of([0], [1], [3])

    with pytest.raises(NumericalError, match=r"could not be factored \(order=2, n_nodes=4, .*nearer to 1"):
        BlockFactor(topology, hat_elements(np.array([np.nan]), 2, lumped=False), 2)


def test_a_mesh_knows_its_sizes():
    topology = tangle()

    assert (topology.n_edges, topology.n_nodes, topology.n_cells) == (12, 8 + 24, 36)


@pytest.mark.parametrize("p", ORDERS)
@pytest.mark.parametrize("reach", [1e-6, 1e-3, 1e3, 1e6])
def test_the_dense_tail_keeps_the_digits_of_row_sums(reach, p, monkeypatch):
    """Twin: sparse columns to the end, themselves held against 130 digits in tests/truth/test_extremes.py.

    At kappa times diameter = 1e-6 a tail factored from its diagonal would have none of them left.
    """
    graph = netbo.telecom(150, seed=0)
    space = netbo.FiniteElementSpace.build(graph, n_nodes=3000, min_cells=2)
    dense = space.topology
    with monkeypatch.context() as patch:
        patch.setattr(ordering, "SMALLEST_TAIL", 10**9)
        columns = Topology(
            tails=dense.tails, heads=dense.heads, offsets=dense.offsets, n_vertices=dense.n_vertices
        )
        assert columns.pattern.n_tail == 0
    elements = hat_elements(reach / graph.diameter * space.cell_lengths, p, lumped=False)
    weight = np.zeros(space.n_nodes)
    weight[::300] = 100.0
    factors = [BlockFactor(t, elements, p, Load(weight, np.zeros(1))) for t in (dense, columns)]
    x = np.random.default_rng(0).standard_normal((1, space.n_nodes, p))
    solutions = [factor.solve(x.copy()) for factor in factors]

    assert dense.pattern.n_tail >= ordering.SMALLEST_TAIL
    assert_allclose(factors[0].select().variances, factors[1].select().variances, rtol=1e-12)
    assert_allclose(*solutions, rtol=0, atol=1e-12 * np.abs(solutions[1]).max())
    assert factors[0].log_determinant == pytest.approx(factors[1].log_determinant, rel=1e-13)
