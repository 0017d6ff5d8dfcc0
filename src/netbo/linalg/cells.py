"""Many points among the cells of an uneven mesh: where they lie, forms and variances of an exact field there.

One pass over the points, by the formulas of `interpolation` without slopes: with c(x) = (P_0, .., P_(p-1),
Q_0, .., Q_(p-1)) of a point, forms c'x of nodal rows x, and (-1)^(p-1) (c' S^-1 c + g_(p-1)(z, z)). What the
points of a cell share is found once while they come cell by cell.
"""

from dataclasses import dataclass

import numpy as np
from scipy.special import comb, factorial

from netbo.arrays import FloatArray, IntArray
from netbo.linalg.factor import CellBlocks, field_sign
from netbo.linalg.hyperbolic import NEGLIGIBLE, taylor_weights
from netbo.linalg.interpolation import SHORT_CELL
from netbo.linalg.runtime import inline, kernel

_TERMS = 40  # of the power series, far more than a short cell needs
_LONGEST_ORDER = 4
_SERIES = comb(np.arange(_TERMS), np.arange(_LONGEST_ORDER)[:, None]) / factorial(2 * np.arange(_TERMS) + 1)
_ROOM = 10  # rows of work: 1/S(h) or 1/D(h) of the cell, then those of a point


@dataclass(frozen=True, slots=True)
class InCells:
    """Points in the cells of a mesh, lengths in units of 1/kappa."""

    cell: IntArray  # (n,)
    distance: FloatArray  # (n,) from the left end of the cell
    lengths: FloatArray  # (n_cells,)
    left: IntArray  # (n_cells,) node at the end towards the tail
    right: IntArray  # (n_cells,)

    def __getitem__(self, index: slice | IntArray) -> "InCells":
        return InCells(self.cell[index], self.distance[index], self.lengths, self.left, self.right)


def cell_forms(points: InCells, nodal: FloatArray) -> FloatArray:
    """Forms c'x_r, (n, r), for nodal rows (N, r, p)."""
    return _forms(points, nodal, None)[0]


def cell_moments(points: InCells, nodal: FloatArray, blocks: CellBlocks) -> tuple[FloatArray, FloatArray]:
    """The same forms, and variances of the unit field, (n,)."""
    return _forms(points, nodal, blocks)


def _forms(points: InCells, nodal: FloatArray, blocks: CellBlocks | None) -> tuple[FloatArray, FloatArray]:
    _, rows, p = nodal.shape
    n = len(points.cell)
    forms, variances = np.empty((n, rows)), np.empty(n if blocks is not None else 0)
    none = np.empty((0, p * p))
    whole = (none, none, none) if blocks is None else (blocks.left, blocks.right, blocks.across)
    roots, weights = taylor_weights(p)
    arrays = (points.cell, points.distance, points.lengths, points.left, points.right)
    work = np.empty((_ROOM, p))
    _fill(arrays, nodal, whole, (_SERIES, roots, weights, work), field_sign(p), forms, variances)
    return forms, variances


def find_cells(
    points: tuple[IntArray, FloatArray],
    nodes: FloatArray,
    offsets: IntArray,
    lengths: FloatArray,
    slack: float,
) -> tuple[IntArray, FloatArray]:
    """Cell of each point (edge, z), and its distance from the left end as a fraction of the cell.

    nodes: z of the interior nodes, edge by edge, offsets: where those of an edge begin; lengths: of edges. At
    a node up to slack, relative to the edge, the fraction is 0 or 1 exactly.
    """
    cell, fraction = np.empty(len(points[0]), dtype=np.int64), np.empty(len(points[0]))
    _find(points, nodes, offsets, lengths, slack, cell, fraction)
    return cell, fraction


@kernel
def _find(
    points: tuple[IntArray, FloatArray],
    nodes: FloatArray,
    offsets: IntArray,
    lengths: FloatArray,
    slack: float,
    cell: IntArray,
    fraction: FloatArray,
) -> None:
    edge, places = points
    for i in range(len(edge)):
        e, z = edge[i], places[i]
        first, last, near = offsets[e], offsets[e + 1], slack * lengths[e]
        low, high = first, last
        while low < high:
            middle = (low + high) >> 1
            if nodes[middle] < z - near:
                low = middle + 1
            else:
                high = middle
        start = nodes[low - 1] if low > first else 0.0
        end = nodes[low] if low < last else lengths[e]
        cell[i] = e + low
        if abs(z - end) <= near:
            fraction[i] = 1.0
        elif abs(z - start) <= near:
            fraction[i] = 0.0
        else:
            fraction[i] = (z - start) / (end - start)


@inline
def _series(y: float, terms: int, table: FloatArray, S: FloatArray) -> None:
    """Taylor coefficients at s = 1 of sinh(r x)/(r x), y = x^2: all terms have one sign."""
    power = 1.0
    for k in range(len(S)):
        total = 0.0
        for m in range(terms - 1, k - 1, -1):
            total = total * y + table[k, m]
        S[k] = total * power
        power *= y


@inline
def _exponential(decay: float, x: float, weights: FloatArray, E: FloatArray) -> None:
    """Taylor coefficients at s = 1 of exp(-r x), decay = exp(-x)."""
    for k in range(1, len(E)):
        E[k] = 0.0
    E[0] = decay
    for i in range(1, len(E)):
        decay *= -x / i
        for k in range(i, len(E)):
            E[k] += decay * weights[k, i]


@inline
def _deficit(decay: float, x: float, weights: FloatArray, D: FloatArray) -> None:
    """Taylor coefficients of 1 - exp(-2 r x), decay = exp(-x)."""
    _exponential(-decay * decay, 2 * x, weights, D)
    D[0] = -np.expm1(-2 * x) if x < 1.0 else 1.0 - decay * decay


@inline
def _product(a: FloatArray, b: FloatArray, factor: float, out: FloatArray) -> None:
    """Product of two Taylor series, times a factor, into a third array."""
    for k in range(len(out)):
        total = 0.0
        for i in range(k + 1):
            total += a[i] * b[k - i]
        out[k] = factor * total


@inline
def _reciprocal(a: FloatArray, out: FloatArray) -> None:
    """1/a of a Taylor series."""
    out[0] = 1 / a[0]
    for k in range(1, len(out)):
        total = 0.0
        for i in range(k):
            total -= out[i] * a[k - i]
        out[k] = total * out[0]


@inline
def _enter_cell(h: float, table: FloatArray, weights: FloatArray, work: FloatArray) -> int:
    """What all points of a cell share: the reciprocal of S(h) or D(h), and the terms that S needs."""
    p = len(work[0])
    if h >= SHORT_CELL:
        _deficit(np.exp(-h), h, weights, work[1])
        _reciprocal(work[1], work[0])
        return 0
    terms: int = len(work[0])
    size = 1.0
    while size > NEGLIGIBLE and terms < table.shape[1]:
        size *= h * h / ((2 * (terms - p) + 1) * (2 * (terms - p) + 2))
        terms += 1
    _series(h * h, terms, table, work[1])
    _reciprocal(work[1], work[0])
    return terms


@inline
def _short_point(
    h: float, z: float, terms: int, table: FloatArray, work: FloatArray, P: FloatArray, Q: FloatArray
) -> float:
    """P = (w/h) S(w)/S(h), Q = (z/h) S(z)/S(h); the last coefficient of g = z S(z) P."""
    w, p = h - z, len(P)
    _series(w * w, terms, table, work[2])
    _series(z * z, terms, table, work[3])
    _product(work[2], work[0], w / h, P)
    _product(work[3], work[0], z / h, Q)
    bridge = 0.0
    for i in range(p):
        bridge += work[3, i] * P[p - 1 - i]
    return z * bridge


@inline
def _long_point(
    h: float,
    z: float,
    roots: FloatArray,
    weights: FloatArray,
    work: FloatArray,
    P: FloatArray,
    Q: FloatArray,
) -> float:
    """P = E(z) D(w)/D(h), Q = E(w) D(z)/D(h); the last coefficient of g = D(z) D(w)/(2 r D(h))."""
    w, p = h - z, len(P)
    Ez, Ew, Dz, A = work[4], work[5], work[6], work[7]
    to_left, to_right = np.exp(-z), np.exp(-w)
    _exponential(to_left, z, weights, Ez)
    _exponential(to_right, w, weights, Ew)
    _deficit(to_right, w, weights, work[2])
    _deficit(to_left, z, weights, Dz)
    _product(work[2], work[0], 1.0, A)
    _product(Dz, work[0], 1.0, work[3])
    _product(Ez, A, 1.0, P)
    _product(Ew, work[3], 1.0, Q)
    _product(Dz, A, 1.0, work[2])
    bridge = 0.0
    for i in range(p):
        bridge += (i + 1) * roots[i + 1] * work[2, p - 1 - i]
    return bridge


@inline
def _block_form(
    c: int, P: FloatArray, Q: FloatArray, left: FloatArray, right: FloatArray, across: FloatArray
) -> float:
    """c' Z c from the blocks of Z at the ends of cell c."""
    p, total = len(P), 0.0
    for i in range(p):
        a, b = P[p - 1 - i], Q[p - 1 - i]
        to_left, to_right = 0.0, 0.0
        for j in range(p):
            to_left += left[c, i * p + j] * P[p - 1 - j] + 2 * across[c, i * p + j] * Q[p - 1 - j]
            to_right += right[c, i * p + j] * Q[p - 1 - j]
        total += a * to_left + b * to_right
    return total


@kernel
def _fill(
    points: tuple[IntArray, FloatArray, FloatArray, IntArray, IntArray],
    nodal: FloatArray,
    blocks: tuple[FloatArray, FloatArray, FloatArray],
    constants: tuple[FloatArray, FloatArray, FloatArray, FloatArray],
    sign: float,
    forms: FloatArray,
    variances: FloatArray,
) -> None:
    cell, distance, lengths, lefts, rights = points
    table, roots, weights, work = constants
    n_rows, p = nodal.shape[1], nodal.shape[2]
    P, Q = work[8], work[9]
    last, terms, h = -1, 0, 0.0
    for i in range(len(cell)):
        c, z = cell[i], distance[i]
        if c != last:
            last, h = c, lengths[c]
            terms = _enter_cell(h, table, weights, work)
        if terms:
            bridge = _short_point(h, z, terms, table, work, P, Q)
        else:
            bridge = _long_point(h, z, roots, weights, work, P, Q)
        a, b = lefts[c], rights[c]
        for r in range(n_rows):
            total = 0.0
            for k in range(p):
                total += P[k] * nodal[a, r, p - 1 - k] + Q[k] * nodal[b, r, p - 1 - k]
            forms[i, r] = total
        if len(variances):
            variances[i] = sign * (_block_form(c, P, Q, *blocks) + bridge)
