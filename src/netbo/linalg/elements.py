"""Element matrices K_e(s) of the edges, their Taylor coefficients and divided differences in s.

Lengths are in units of 1/kappa, so s = kappa^2 = 1 everywhere: covariances, solves and traces then scale by
powers of kappa, and a change of the unit of length changes nothing at all. All cells of an edge are equal,
and a cell's matrix has one off-diagonal o and one row sum r: [[r - o, o], [o, r - o]].
"""

from dataclasses import dataclass

import numpy as np

from netbo.arrays import FloatArray
from netbo.linalg.runtime import kernel


@dataclass(frozen=True, slots=True)
class Elements:
    """Taylor coefficients K_j = K^(j)(s)/j!, j = 0..p, of the element of every edge, at s = 1."""

    off: FloatArray  # (E, p + 1) off-diagonal entries
    row: FloatArray  # (E, p + 1) row sums

    @property
    def order(self) -> int:
        """The largest p = 2 alpha they suffice for: a system needs K_0..K_(p-1), its gradient K_p."""
        return int(self.off.shape[1]) - 1


def hat_elements(cells: FloatArray, order: int, *, lumped: bool) -> Elements:
    """Hat functions on cells of length kappa h: K = s C + G (eq:mass and stifness), C as it is or lumped."""
    off, row = np.zeros((2, len(cells), order + 1))
    _fill_hats(cells, 0.0 if lumped else 1 / 6, off, row)
    return Elements(off=off, row=row)


@kernel
def _fill_hats(cells: FloatArray, share: float, off: FloatArray, row: FloatArray) -> None:
    for e in range(len(cells)):
        off[e, 0] = share * cells[e] - 1 / cells[e]
        off[e, 1] = share * cells[e]
        row[e, 0] = row[e, 1] = cells[e] / 2


# Divided differences of the hat elements in s: those of the exact elements are in `hyperbolic`.


def hat_differences(cells: FloatArray, shift: float, n: int, *, lumped: bool) -> Elements:
    """Divided differences K[1 (k times), 1 + shift], k = 0..n, of K = s C + G: K(1 + shift), C, 0, ..."""
    elements = hat_elements(cells, max(n, 1), lumped=lumped)
    elements.off[:, 0] += shift * elements.off[:, 1]
    elements.row[:, 0] += shift * elements.row[:, 1]
    off, row = (np.ascontiguousarray(values[:, : n + 1]) for values in (elements.off, elements.row))
    return Elements(off=off, row=row)
