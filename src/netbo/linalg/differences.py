"""Divided differences of the hat elements in s: those of the exact elements are in `hyperbolic`."""

import numpy as np

from netbo.arrays import FloatArray
from netbo.linalg.elements import Elements, hat_elements


def hat_differences(cells: FloatArray, shift: float, n: int, *, lumped: bool) -> Elements:
    """Divided differences K[1 (k times), 1 + shift], k = 0..n, of K = s C + G: K(1 + shift), C, 0, ..."""
    elements = hat_elements(cells, max(n, 1), lumped=lumped)
    elements.off[:, 0] += shift * elements.off[:, 1]
    elements.row[:, 0] += shift * elements.row[:, 1]
    off, row = (np.ascontiguousarray(values[:, : n + 1]) for values in (elements.off, elements.row))
    return Elements(off=off, row=row)
