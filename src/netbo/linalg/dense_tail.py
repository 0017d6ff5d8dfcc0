"""The dense tail of the vertex system: blocked elimination with row sums, its solves and its inverse.

Panels of columns are eliminated as in `vertices`, block by block, each after one matrix product with all that
earlier ones send to it. Blocks come in below the diagonal; those above it keep the columns before scaling.
Pivots come from row sums.
"""

from dataclasses import dataclass

import numpy as np
from scipy.linalg import solve_triangular

from netbo.arrays import FloatArray
from netbo.linalg.blocks import (
    Block,
    invert,
    load,
    load_dense,
    load_symmetric,
    multiply,
    order_of,
    packed_size,
    store,
    store_symmetric,
    subtract,
    transpose,
    zero_block,
)
from netbo.linalg.runtime import allocating_kernel

PANEL = 48  # scalar columns of a panel, about


@dataclass(frozen=True, slots=True)
class TailFactor:
    """Unit lower block triangular L (identity diagonal blocks) and inverse pivots of the tail."""

    L: FloatArray  # (p n, p n); above its diagonal blocks is something else
    inverses: FloatArray  # (n, p (p + 1) / 2)
    log_determinant: float

    def solve(self, x: FloatArray) -> FloatArray:
        """Solution for a right-hand side x (n, p)."""
        n, p = x.shape
        y = solve_triangular(self.L, x.reshape(-1, 1), lower=True, unit_diagonal=True, check_finite=False)
        y = _scale_rows(self.inverses, 0, np.ascontiguousarray(y), zero_block(p))
        z = solve_triangular(self.L, y, trans=1, lower=True, unit_diagonal=True, check_finite=False)
        solution: FloatArray = z.reshape(n, p)
        return solution

    def inverse(self, p: int) -> FloatArray:
        """Dense inverse, panel by panel from the last: Takahashi's recursion with matrix products.

        Z_21 = -Z_22 L_21 L_11^-1 and Z_11 = L_11^-T (P_1^-1 L_11^-1 - L_21' Z_21).
        """
        m = len(self.L)
        if not m:
            return self.L
        Z = np.zeros((m, m))
        for first, last in reversed(_panels(m, p)):
            L11, L21 = self.L[first:last, first:last], self.L[last:, first:last]
            W = solve_triangular(L11, np.eye(last - first), lower=True, unit_diagonal=True)
            Z21 = -(Z[last:, last:] @ (L21 @ W))
            middle = (
                _scale_rows(self.inverses, first // p, np.ascontiguousarray(W), zero_block(p)) - L21.T @ Z21
            )
            Z11 = W.T @ middle
            Z[first:last, first:last] = (Z11 + Z11.T) / 2
            Z[last:, first:last] = Z21
            Z[first:last, last:] = Z21.T
        return Z


_NO_TAIL = TailFactor(L=np.zeros((0, 0)), inverses=np.zeros((0, 0)), log_determinant=0.0)


def factor_tail(tail: FloatArray, R: FloatArray, p: int) -> TailFactor:
    """Eliminate the dense tail in place, from its blocks below the diagonal and its row sums R (n, p p)."""
    m = len(tail)
    if not m:
        return _NO_TAIL
    like = zero_block(p)
    inverses = np.empty((m // p, packed_size(p)))
    log = 0.0
    for first, last in _panels(m, p):
        tail[first:, first:last] -= tail[first:, :first] @ tail[:first, first:last]
        panel = np.ascontiguousarray(tail[first:, first:last])
        unscaled = np.empty_like(panel)
        log += _eliminate_panel(panel, unscaled, R[first // p :], inverses[first // p :], like)
        tail[first:, first:last] = panel
        tail[first:last, last:] = unscaled[last - first :].T
    return TailFactor(L=tail, inverses=inverses, log_determinant=log)


def _panels(m: int, p: int) -> list[tuple[int, int]]:
    width = p * max(1, PANEL // p)
    return [(first, min(first + width, m)) for first in range(0, m, width)]


@allocating_kernel
def _eliminate_panel(
    panel: FloatArray, unscaled: FloatArray, R: FloatArray, inverses: FloatArray, like: Block
) -> float:
    """Eliminate the columns of a panel whose first rows are its diagonal part; log|det| of its pivots.

    The panel becomes L with identity diagonal blocks; `unscaled` keeps the columns before scaling.
    """
    p = order_of(like)
    n, width = panel.shape[0] // p, panel.shape[1] // p
    above = np.empty((p, p * width))
    log = 0.0
    for k in range(width):
        Rk = load(R, k, like)
        P = Rk
        for j in range(k + 1, n):
            P = subtract(P, transpose(load_dense(panel, p * j, p * k, like)))
        inverse, determinant = invert(P)
        log += np.log(determinant)
        store_symmetric(inverses, k, inverse)
        for j in range(k + 1, width):
            for a in range(p):
                for b in range(p):
                    above[b, p * j + a] = panel[p * j + a, p * k + b]
        for j in range(k + 1, n):
            B = load_dense(panel, p * j, p * k, like)
            Lj = multiply(B, inverse)
            store(R, j, subtract(load(R, j, like), multiply(Lj, Rk)))
            for a in range(p):
                for b in range(p):
                    factor = Lj[a * p + b]
                    unscaled[p * j + a, p * k + b] = B[a * p + b]
                    panel[p * j + a, p * k + b] = factor
                    for c in range(p * (k + 1), p * min(j, width)):
                        panel[p * j + a, c] -= factor * above[b, c]
        for a in range(p):
            panel[p * k + a, p * k : p * width] = 0.0
            panel[p * k + a, p * k + a] = 1.0
    return log


@allocating_kernel
def _scale_rows(inverses: FloatArray, first: int, X: FloatArray, like: Block) -> FloatArray:
    """The product of the block diagonal of inverse pivots, from block `first` on, with X."""
    p = order_of(like)
    scaled = np.zeros_like(X)
    for j in range(len(X) // p):
        inverse = load_symmetric(inverses, first + j, like)
        for a in range(p):
            for b in range(p):
                for c in range(X.shape[1]):
                    scaled[p * j + a, c] += inverse[a * p + b] * X[p * j + b, c]
    return scaled
