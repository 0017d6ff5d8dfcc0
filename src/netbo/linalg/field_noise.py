"""Random right-hand sides of the block system: solving with one gives a sample of the field.

The rows that carry noise, and its covariance, by p: p = 1: row 0, K_0. p = 2: row 0, K_1. p = 3: rows 0 and
1, -K_2 and K_0. p = 4: rows 0 and 1 jointly, [[K_3, K_2], [K_2, K_1]]. Each is a sum over cells of
[[r - o, o], [o, r - o]], whose eigenvectors are the sum and the difference of the cell's ends, with
eigenvalues r and r - 2 o: two independent draws a cell and row.
"""

import numpy as np

from netbo.arrays import FloatArray
from netbo.errors import ParameterError
from netbo.linalg.elements import Elements
from netbo.linalg.factor import Topology
from netbo.linalg.forms import cell_of_edge
from netbo.linalg.records import MeshArrays
from netbo.linalg.runtime import kernel

_TAYLOR: dict[int, list[list[tuple[float, int] | None]]] = {
    1: [[(1.0, 0)]],
    2: [[(1.0, 1)]],
    3: [[(-1.0, 2), None], [None, (1.0, 0)]],
    4: [[(1.0, 3), (1.0, 2)], [(1.0, 2), (1.0, 1)]],
}
_ROBIN_ROW = {1: 0, 3: 1}  # the row whose noise has covariance K_0, to which a Robin parameter adds


class FieldNoise:
    """Draws the noise of one system; the Cholesky factors of all elements are found once."""

    def __init__(self, topology: Topology, elements: Elements, order: int, robin: FloatArray) -> None:
        if order not in _TAYLOR:
            raise ParameterError(f"samples exist for 2 alpha = 1, 2, 3, 4, got {order}; lower alpha")
        self._topology, self._order, self._robin = topology, order, robin
        even = _cholesky(elements.row, order)
        odd = _cholesky(elements.row - 2 * elements.off, order)
        factors = np.stack([even, odd], axis=1) / np.sqrt(2.0)  # (E, 2, q, q)
        used = np.flatnonzero(np.any(factors != 0, axis=(0, 1, 2)))
        self._factors = np.ascontiguousarray(factors[..., used])  # (E, 2, q, used)

    def add(self, rng: np.random.Generator, scale: float, x: FloatArray) -> None:
        """Add a draw times `scale` to the right-hand side x (N, p)."""
        t = self._topology
        draws = rng.standard_normal((t.n_cells, 2, self._factors.shape[-1]))
        _scatter(t.arrays, self._factors, draws, scale, x)
        if self._order in _ROBIN_ROW and np.any(self._robin):
            kick = np.sqrt(self._robin) * rng.standard_normal(t.n_vertices)
            x[: t.n_vertices, _ROBIN_ROW[self._order]] += scale * kick


def _cholesky(values: FloatArray, order: int) -> FloatArray:
    """Lower factors (E, q, q) of the noise rows' covariances, zero rows allowed."""
    terms = _TAYLOR[order]
    q = len(terms)
    covariance = np.zeros((len(values), q, q))
    for i in range(q):
        for j in range(q):
            term = terms[i][j]
            if term is not None:
                covariance[:, i, j] = term[0] * values[:, term[1]]
    factor = np.zeros_like(covariance)
    factor[:, q - 1, q - 1] = np.sqrt(np.maximum(covariance[:, q - 1, q - 1], 0.0))
    if q == 2:  # the last row first: for hats it is the only one
        last = factor[:, 1, 1]
        ratio = np.divide(covariance[:, 0, 1], last, out=np.zeros_like(last), where=last > 0)
        factor[:, 0, 1] = ratio
        factor[:, 0, 0] = np.sqrt(np.maximum(covariance[:, 0, 0] - ratio**2, 0.0))
    return factor


@kernel
def _scatter(mesh: MeshArrays, factors: FloatArray, draws: FloatArray, scale: float, x: FloatArray) -> None:
    """Add factor times draws of every cell to its ends: the even part to both, the odd with both signs."""
    n_rows, n_draws = factors.shape[2], factors.shape[3]
    mesh = MeshArrays(*mesh)
    for e in range(len(mesh.tails)):
        for c in range(mesh.offsets[e + 1] - mesh.offsets[e] + 1):
            cell = mesh.offsets[e] + e + c
            left, right, element = cell_of_edge(mesh, e, c)
            for i in range(n_rows):
                even, odd = 0.0, 0.0
                for k in range(n_draws):
                    even += factors[element, 0, i, k] * draws[cell, 0, k]
                    odd += factors[element, 1, i, k] * draws[cell, 1, k]
                x[left, i] += scale * (even + odd)
                x[right, i] += scale * (even - odd)
