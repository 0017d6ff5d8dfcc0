"""Quadratic and linear forms of assembled element matrices and of cell ends: no matrix is assembled."""

import numpy as np

from netbo.arrays import FloatArray, IntArray
from netbo.linalg.blocks import packed_size
from netbo.linalg.elements import Elements
from netbo.linalg.factor import BlockFactor, Topology
from netbo.linalg.runtime import kernel, run_over_edges


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
    run_over_edges(
        _outer_chains, topology.offsets, topology.tails, topology.heads, topology.offsets,
        topology.n_vertices, not topology.is_even, x, sums[0], sums[1],
    )  # fmt: skip
    return derivative_trace(elements, order, sums[0], sums[1])


def apply_stiffness(
    topology: Topology, elements: Elements, robin: FloatArray, x: FloatArray
) -> tuple[FloatArray, FloatArray]:
    """K_0 x at the nodes for x (N,), by differences and row sums, and the size of its largest terms."""
    product, size = np.zeros(topology.n_nodes), np.zeros(topology.n_nodes)
    product[: topology.n_vertices] = robin * x[: topology.n_vertices]
    _apply_chains(
        topology.tails, topology.heads, topology.offsets, topology.n_vertices, not topology.is_even,
        elements.off, elements.row, x, product, size,
    )  # fmt: skip
    return product, size


@kernel
def node_along(position: int, cells: int, tail: int, head: int, first: int) -> int:
    """Number of the node at a position 0..cells along an edge."""
    if position == 0:
        return tail
    return head if position == cells else first + position - 1


@kernel
def _outer_chains(
    first: int,
    last: int,
    tails: IntArray,
    heads: IntArray,
    offsets: IntArray,
    n_vertices: int,
    by_cell: bool,
    x: FloatArray,
    diagonals: FloatArray,
    couples: FloatArray,
) -> None:
    """Add x_l x_l' + x_r x_r' and x_l x_r' + x_r x_l' of all cells (l, r) of an element, upper triangles."""
    p = x.shape[1]
    for e in range(first, last):
        cells = offsets[e + 1] - offsets[e] + 1
        for c in range(cells):
            left = node_along(c, cells, tails[e], heads[e], n_vertices + offsets[e])
            right = node_along(c + 1, cells, tails[e], heads[e], n_vertices + offsets[e])
            k = offsets[e] + e + c if by_cell else e
            column = 0
            for i in range(p):
                for j in range(i, p):
                    diagonals[k, column] += x[left, i] * x[left, j] + x[right, i] * x[right, j]
                    couples[k, column] += x[left, i] * x[right, j] + x[right, i] * x[left, j]
                    column += 1


@kernel
def _apply_chains(
    tails: IntArray,
    heads: IntArray,
    offsets: IntArray,
    n_vertices: int,
    by_cell: bool,
    off: FloatArray,
    row: FloatArray,
    x: FloatArray,
    product: FloatArray,
    size: FloatArray,
) -> None:
    """Add the elements' K_0 x to `product` and the absolute values of its terms to `size`."""
    for e in range(len(tails)):
        cells = offsets[e + 1] - offsets[e] + 1
        for c in range(cells):
            left = node_along(c, cells, tails[e], heads[e], n_vertices + offsets[e])
            right = node_along(c + 1, cells, tails[e], heads[e], n_vertices + offsets[e])
            k = offsets[e] + e + c if by_cell else e
            flow = off[k, 0] * (x[right] - x[left])
            product[left] += row[k, 0] * x[left] + flow
            product[right] += row[k, 0] * x[right] - flow
            bound = abs(off[k, 0]) * max(abs(x[left]), abs(x[right]))
            size[left] += bound
            size[right] += bound


# Forms of what lies at the two ends of cells: values and variances between nodes.


@kernel
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


@kernel
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
