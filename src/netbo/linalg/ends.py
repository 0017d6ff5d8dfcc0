"""Forms of what lies at the two ends of cells: values and variances between nodes."""

import numpy as np

from netbo.arrays import FloatArray, IntArray
from netbo.linalg.kernels import kernel


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
