"""Quadratic and linear forms of assembled element matrices and of cell ends: no matrix is assembled."""

import numpy as np

from netbo.arrays import FloatArray, IntArray
from netbo.linalg.blocks import packed_size
from netbo.linalg.elements import Elements
from netbo.linalg.factor import BlockFactor, Topology
from netbo.linalg.records import Edges, MeshArrays
from netbo.linalg.runtime import allocating_kernel, edges_then_vertices, inline, kernel


def derivative_trace(elements: Elements, order: int, diagonals: FloatArray, couples: FloatArray) -> float:
    """tr(Z dS/ds) from sums over the cells of each edge of the diagonal and off-diagonal blocks of Z.

    Block (i, j) of dS/ds is (p - i - j) K_(p-i-j): every Taylor coefficient moves up by one.
    """
    return _contract(elements.row, elements.off, diagonals, couples, order)


@kernel
def _contract(
    row: FloatArray, off: FloatArray, diagonals: FloatArray, couples: FloatArray, order: int
) -> float:
    """Sum over edges and blocks (i, j), i <= j, of the derivative's entries times those of Z."""
    trace = 0.0
    for e in range(len(row)):
        column = 0
        for i in range(order):
            for j in range(i, order):
                k = order - i - j
                if k >= 1:
                    d, c = diagonals[e, column], couples[e, column]
                    trace += (k if i == j else 2 * k) * (row[e, k] * d - off[e, k] * (d - c))
                column += 1
    return trace


def log_determinant_derivative(factor: BlockFactor) -> float:
    """d log|det S| / ds at s = 1, with the load held fixed."""
    selected = factor.select_with_sums()
    return derivative_trace(factor.elements, factor.order, selected.diagonals, selected.couples)


def derivative_form(topology: Topology, elements: Elements, x: FloatArray) -> float:
    """The quadratic form x' (dS/ds) x for a block vector x (N, p)."""
    order = x.shape[1]
    sums = np.zeros((2, topology.n_elements, packed_size(order)))
    add_outer_sums(topology, x, sums)
    return derivative_trace(elements, order, sums[0], sums[1])


def add_outer_sums(topology: Topology, x: FloatArray, sums: FloatArray) -> None:
    """Add to the sums of `SelectedSums`, (2, n_elements, p (p + 1) / 2), those of x x' for x (N, p)."""
    edges_then_vertices(_outer_chains, topology.offsets, topology.arrays, x, sums[0], sums[1])


def apply_stiffness(
    topology: Topology, elements: Elements, robin: FloatArray, x: FloatArray
) -> tuple[FloatArray, FloatArray]:
    """K_0 x at the nodes for x (N,), by differences and row sums, and the size of its largest terms."""
    product, size = np.zeros(topology.n_nodes), np.zeros(topology.n_nodes)
    product[: topology.n_vertices] = robin * x[: topology.n_vertices]
    _apply_chains(topology.arrays, elements.off, elements.row, x, product, size)
    return product, size


@inline
def cell_of_edge(mesh: MeshArrays, e: int, c: int) -> tuple[int, int, int]:
    """Left node, right node and element of cell c = 0, 1, ... of an edge."""
    first, last = mesh.offsets[e], mesh.offsets[e + 1]
    left = mesh.tails[e] if c == 0 else mesh.n_vertices + first + c - 1
    right = mesh.heads[e] if c == last - first else mesh.n_vertices + first + c
    return left, right, first + e + c if mesh.by_cell else e


@kernel
def _outer_chains(
    edges: Edges, mesh: MeshArrays, x: FloatArray, diagonals: FloatArray, couples: FloatArray
) -> None:
    """Add x_l x_l' + x_r x_r' and x_l x_r' + x_r x_l' of all cells (l, r) of an element, upper triangles."""
    p = x.shape[1]
    mesh = MeshArrays(*mesh)
    for e in range(edges[0], edges[1]):
        for c in range(mesh.offsets[e + 1] - mesh.offsets[e] + 1):
            left, right, k = cell_of_edge(mesh, e, c)
            column = 0
            for i in range(p):
                for j in range(i, p):
                    diagonals[k, column] += x[left, i] * x[left, j] + x[right, i] * x[right, j]
                    couples[k, column] += x[left, i] * x[right, j] + x[right, i] * x[left, j]
                    column += 1


@kernel
def _apply_chains(
    mesh: MeshArrays, off: FloatArray, row: FloatArray, x: FloatArray, product: FloatArray, size: FloatArray
) -> None:
    """Add the elements' K_0 x to `product` and the absolute values of its terms to `size`."""
    mesh = MeshArrays(*mesh)
    for e in range(len(mesh.tails)):
        for c in range(mesh.offsets[e + 1] - mesh.offsets[e] + 1):
            left, right, k = cell_of_edge(mesh, e, c)
            flow = off[k, 0] * (x[right] - x[left])
            product[left] += row[k, 0] * x[left] + flow
            product[right] += row[k, 0] * x[right] - flow
            bound = abs(off[k, 0]) * max(abs(x[left]), abs(x[right]))
            size[left] += bound
            size[right] += bound


# Forms of what lies at the two ends of cells: values and variances between nodes.


@allocating_kernel
def end_values(
    left: IntArray, right: IntArray, to_left: FloatArray, to_right: FloatArray, solution: FloatArray
) -> FloatArray:
    """to_left' x_left + to_right' x_right for coefficients (n, p) and a block solution x (N, p), (n,)."""
    n, p = to_left.shape
    values = np.empty(n)
    for i in range(n):
        total = 0.0
        for k in range(p):
            total += to_left[i, k] * solution[left[i], k] + to_right[i, k] * solution[right[i], k]
        values[i] = total
    return values


@allocating_kernel
def end_forms(
    cell: IntArray,
    a_left: FloatArray,
    a_right: FloatArray,
    b_left: FloatArray,
    b_right: FloatArray,
    left: FloatArray,
    right: FloatArray,
    across: FloatArray,
) -> FloatArray:
    """a' Z b with a and b at the ends of cells, (n, p) each, and the blocks of Z there, (n_cells, p^2)."""
    n, p = a_left.shape
    forms = np.empty(n)
    for i in range(n):
        c, total = cell[i], 0.0
        for j in range(p):
            for k in range(p):
                total += a_left[i, j] * (
                    left[c, j * p + k] * b_left[i, k] + across[c, j * p + k] * b_right[i, k]
                )
                total += a_right[i, j] * (
                    right[c, j * p + k] * b_right[i, k] + across[c, k * p + j] * b_left[i, k]
                )
        forms[i] = total
    return forms
