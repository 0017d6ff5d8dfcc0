"""Element matrices K_e(s) of the edges and their Taylor coefficients in s, as off-diagonals and row sums.

Lengths are in units of 1/kappa, so s = kappa^2 = 1 everywhere: covariances, solves and traces then scale by
powers of kappa, and a change of the unit of length changes nothing at all. All cells of an edge are equal,
and a cell's matrix has one off-diagonal o and one row sum r: [[r - o, o], [o, r - o]].
"""

from dataclasses import dataclass

import numpy as np

from netbo.arrays import FloatArray


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
    off = np.zeros((len(cells), order + 1))
    row = np.zeros_like(off)
    mass = np.zeros_like(cells) if lumped else cells / 6
    off[:, 0] = mass - 1 / cells
    off[:, 1] = mass
    row[:, 0] = row[:, 1] = cells / 2
    return Elements(off=off, row=row)
