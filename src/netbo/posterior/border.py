"""Almost noiseless observations between nodes: a border of the block system, not a load on it.

As a load, w e e' ties the two nodes of a cell so strongly that of 16 digits those of w are lost. As a border
each such observation keeps its own unknown, the dual d: with e(x) in the columns of E,

    S x - s E d = b,    E' x_u + Lambda d = targets,    s = (-1)^(p-1)

and d solves a k x k system with the matrix V + Lambda, V the covariance of the unit field at their points
given the others. Nothing in it grows as the noise falls.
"""

from functools import cached_property

import numpy as np
from scipy.linalg import cho_factor, cho_solve, solve_triangular

from netbo.arrays import FloatArray, IntArray
from netbo.errors import NumericalError
from netbo.fem import Location
from netbo.linalg import BlockFactor, Load, SelectedInverse, SelectedSums, add_outer_sums, field_sign
from netbo.posterior.mesh_data import MeshData
from netbo.priors import FiniteElementPrior, UnitField, field_sources

STIFF = 1e6  # variance of a difference across a cell over the noise; beyond it a load costs too many digits
MOST_ENTRIES = 2e7  # of the columns of a border, N p for each of its observations: 160 MB


def stiff_places(prior: FiniteElementPrior, data: MeshData, precisions: FloatArray) -> IntArray:
    """Which of the distinct places lie between nodes and have next to no noise; none if they are too many."""
    places, none = data.places, np.empty(0, dtype=np.int64)
    if places.is_at_nodes or not fits_a_border(prior, data):
        return none
    f = places.fraction
    found: IntArray = np.flatnonzero(f * (1 - f) * _difference_variances(prior, places) * precisions > STIFF)
    return found


def fits_a_border(prior: FiniteElementPrior, data: MeshData) -> bool:
    """Whether all observations between nodes may have columns of their own."""
    inside = float(np.count_nonzero(data.places.fraction))
    return inside * prior.space.n_nodes * prior.order <= MOST_ENTRIES


def _difference_variances(prior: FiniteElementPrior, places: Location) -> FloatArray:
    """A bound, about, on the variance of the field's difference across the cells of the places.

    It is what a load may spoil: of a cell much shorter than the range both ends are nearly one.
    """
    cells = prior.matern.kappa * prior.space.cell_ends[2][places.cell]
    return np.asarray(4 * prior.sigma**2 * np.minimum(1.0, cells) ** min(2 * prior.matern.nu, 2.0))


class BorderedFactor(BlockFactor):
    """S with a load, and a border of observations between nodes; solves and selects as if all were loads."""

    def __init__(self, unit: UnitField, load: Load, at: Location, noise: FloatArray) -> None:
        super().__init__(unit.mesh.topology, unit.elements, unit.order, load, unit.robin)
        self.at, self.noise = at, noise  # of the border: places, and variances in units of the unit field's
        self._ends = unit.mesh.cell_ends[:2]
        self.columns = super().solve(field_sources(self, at))  # (k, N, p) S^-1 of the sources of the border
        V = at.interpolate(self.columns[:, :, -1])
        self.variances = np.diag(V).copy()  # (k,) of the unit field at the border, given the load alone
        try:
            self._cholesky = cho_factor((V + V.T) / 2 + np.diag(noise), lower=True)
        except np.linalg.LinAlgError as cause:
            raise NumericalError(
                f"nearly noiseless values between nodes do not fit together (n={len(at)}, smallest noise "
                f"{noise.min():.3g} of the unit field); raise their noise or put them at nodes"
            ) from cause
        self.pivots = np.diag(self._cholesky[0]) ** 2  # (k,) variances given the load and the border before
        self.log_determinant += float(np.log(self.pivots / noise).sum())

    def solve(self, x: FloatArray) -> FloatArray:
        """Solutions of the whole system, see `BlockFactor.solve`; the targets of the border are 0."""
        return self.solve_towards(x, np.zeros((len(x), len(self.at))))[0]

    def solve_towards(self, x: FloatArray, targets: FloatArray) -> tuple[FloatArray, FloatArray]:
        """Solutions for right-hand sides (r, N, p), overwritten, and targets (r, k); duals (r, k)."""
        x = super().solve(x)
        duals: FloatArray = cho_solve(self._cholesky, (targets - self.at.interpolate(x[:, :, -1])).T).T
        x += np.tensordot(duals, self.columns, axes=1)
        return x, duals

    def response(self, targets: FloatArray) -> FloatArray:
        """What targets (k,) alone make of the field at the nodes, (N,)."""
        return np.asarray(cho_solve(self._cholesky, targets) @ self.columns[:, :, -1])

    @cached_property
    def inverse(self) -> FloatArray:
        """(V + Lambda)^-1, (k, k)."""
        return np.asarray(cho_solve(self._cholesky, np.eye(len(self.at))))

    @cached_property
    def _halves(self) -> FloatArray:
        """Columns H with S^-1 - s H H' the inverse of the whole, (k, N, p)."""
        flat = self.columns.reshape(len(self.at), -1)
        return np.asarray(solve_triangular(self._cholesky[0], flat, lower=True)).reshape(self.columns.shape)

    def _less_border(self, selected: SelectedInverse) -> tuple[FloatArray, FloatArray]:
        """Variances and neighbours after the border."""
        field = self._halves[:, :, -1]
        left, right = self._ends
        across = np.einsum("kc,kc->c", field[:, left], field[:, right])
        return selected.variances - np.einsum("kn,kn->n", field, field), selected.neighbours - across

    def select(self) -> SelectedInverse:
        """Selected inverse: every variance and every covariance across a cell."""
        return SelectedInverse(*self._less_border(super().select()))

    def select_with_sums(self) -> SelectedSums:
        """Selected inverse and the sums that traces need."""
        selected = super().select_with_sums()
        sums = np.zeros((2, *selected.diagonals.shape))
        for half in self._halves:
            add_outer_sums(self.topology, np.ascontiguousarray(half), sums)
        diagonals, couples = field_sign(self.order) * sums
        return SelectedSums(
            *self._less_border(selected), selected.diagonals - diagonals, selected.couples - couples
        )
