"""The block system of a finite element field with its observations, solved for their values."""

from functools import cached_property

import numpy as np

from netbo.arrays import BoolArray, FloatArray
from netbo.errors import NumericalError
from netbo.fem import Location
from netbo.linalg import BlockFactor, SelectedSums, apply_stiffness, field_sign
from netbo.posterior.mesh_data import CentredValues, MeshData
from netbo.posterior.rank_one import NodalMeans, NodalSpread
from netbo.priors import FiniteElementPrior, field_columns, interpolated_variance

STRONG = 1e4  # load, in units of the unit field's precision, from which y - u loses digits
LARGEST_LOSS = 1e-11  # relative, in what an observation leaves open; beyond it its place is factored without


class NodalSolution:
    """One factorization with the load D of the observations, and all that is read from it.

    Solutions and duals T^-1 v come in rows: for the centred values and, with an estimated mean, for ones.
    Computed when first asked for, then kept; nothing of it changes.
    """

    n_updates = 0  # observations that are not in the factorization

    def __init__(
        self, prior: FiniteElementPrior, data: MeshData, values: CentredValues, noise: FloatArray
    ) -> None:
        self.prior, self.data, self.values, self.noise = prior, data, values, noise
        self._sums: SelectedSums | None = None
        self._by_difference: BoolArray = np.ones(len(data.places), dtype=np.bool_)  # duals that are y - fit

    @cached_property
    def precisions(self) -> FloatArray:
        """Reciprocal noise variances of the distinct observations."""
        return self.data.distinct.precisions(self.noise)

    @cached_property
    def scale(self) -> FloatArray:
        """a at the distinct observations."""
        return self.prior.scale(self.data.places)

    @cached_property
    def weight(self) -> FloatArray:
        """What the distinct observations add to the precision of the unit field."""
        return self.prior.amplitude * self.scale**2 * self.precisions

    @cached_property
    def factor(self) -> BlockFactor:
        """The block system with the load of the observations."""
        return self.prior.unit.factored(self.data.load(self.weight))

    @cached_property
    def blocks(self) -> FloatArray:
        """Block solutions, (r, N, p)."""
        prior, merged = self.prior, self.values.merged
        p = prior.order
        weight = field_sign(p) * prior.amplitude * self.scale * self.precisions
        rhs = np.zeros((len(merged), prior.space.n_nodes, p))
        for column, values in zip(rhs, merged, strict=True):
            self.data.spread_to_nodes(column[:, -1], weight * values)
        return self.factor.solve(rhs)

    @cached_property
    def merged_duals(self) -> FloatArray:
        """T^-1 v of the distinct observations, (r, m)."""
        return np.array([self._dual(x, v) for x, v in zip(self.blocks, self.values.merged, strict=True)])

    def _dual(self, x: FloatArray, values: FloatArray) -> FloatArray:
        """T^-1 v of the distinct observations: (v - fit) / lambda, or K x_0 where that keeps more digits.

        The last row of the system reads K_0 x_0 = (-1)^(p-1) amplitude E a T^-1 v.
        """
        prior, places, precisions = self.prior, self.data.places, self.precisions
        fit = self.scale * places.interpolate(x[:, -1])
        dual = precisions * (values - fit)
        if not len(places) or self.weight.max() < STRONG:
            return dual
        unit = prior.unit
        start = np.ascontiguousarray(x[:, 0])
        flow, size = apply_stiffness(unit.mesh.topology, unit.elements, unit.robin, start)
        node, is_alone, near = self.data.flow_nodes
        share = near * self.scale * prior.amplitude
        better = is_alone & (size[node] / share < precisions * np.maximum(abs(values), abs(fit)))
        self._by_difference = ~better
        return np.where(better, field_sign(prior.order) * flow[node] / share, dual)

    @cached_property
    def dual_sums(self) -> FloatArray:
        """1' T^-1 v, (r,): what repeats say against each other is not in it, nor in its rounding."""
        sums: FloatArray = self.merged_duals.sum(axis=1)
        if self.values.has_ones and not sums[1] > 0:
            raise NumericalError(
                f"the precision of the mean must be positive, got {sums[1]:.3g} "
                f"(range {self.prior.range:.3g}, smallest noise {self.noise.min():.3g}); "
                "shorten the range, raise the noise or give the mean"
            )
        return sums

    @cached_property
    def mean_loss(self) -> float:
        """Relative rounding error of 1' T^-1 1: of what is left of 1 - fit after division by the noise."""
        total = float(self.dual_sums[1])
        return float(np.finfo(float).eps * np.sum(self.precisions[self._by_difference])) / total

    @cached_property
    def duals(self) -> FloatArray:
        """T^-1 v of all observations, (r, n)."""
        values = [self.values.values]
        if self.values.has_ones:
            values.append(np.ones(len(self.noise)))
        pairs = zip(self.merged_duals, values, strict=True)
        return np.array([self.data.distinct.spread(merged, v, self.noise) for merged, v in pairs])

    def about_mean(self, rows: FloatArray) -> FloatArray:
        """What belongs to y - m, from the rows of the centred values and of ones."""
        shifted: FloatArray = rows[0]
        if self.values.has_ones:
            shifted = shifted - self.dual_sums[0] / self.dual_sums[1] * rows[1]
        return shifted

    @cached_property
    def means(self) -> NodalMeans:
        """Solutions of the field at the nodes."""
        nodal, has_ones = self.blocks[:, :, -1], self.values.has_ones
        return NodalMeans(
            values=nodal[0],
            ones=nodal[1] if has_ones else np.zeros(0),
            ones_ones=float(self.dual_sums[1]) if has_ones else 0.0,
            ones_values=float(self.dual_sums[0]) if has_ones else 0.0,
        )

    @cached_property
    def spread(self) -> NodalSpread:
        """Variances of the unit field at the nodes and its covariances across cells."""
        # A gradient's selected inverse has them too; without one its sums are not worth their time.
        selected = self.factor.select() if self._sums is None else self._sums
        return NodalSpread(selected.variances, selected.neighbours)

    @property
    def selected(self) -> SelectedSums:
        """The selected inverse with the sums that traces need."""
        if self._sums is None:
            self._sums = self.factor.select_with_sums()
        return self._sums

    @property
    def information_gain(self) -> float:
        """log|I + Lambda^-1 K_t| / 2 as (log|det S| - p log|K|) / 2: no t x t matrix is formed."""
        unit = self.prior.unit
        return (self.factor.log_determinant - unit.order * unit.stiffness.log_determinant) / 2

    def column(self, at: Location) -> FloatArray:
        """(Q + D)^-1 e(x) at all nodes for a single point, (N,)."""
        column: FloatArray = field_columns(self.factor, at)[0]
        return column

    def inverse_diagonal(self) -> FloatArray:
        """[T^-1]_ii = (1 - v_i / lambda_i) / lambda_i with the variance v of the field: no n x n matrix.

        At a place of precision q, others' q_i and open share r it is (q_i + r / lambda_i) / (lambda_i q).
        """
        own, distinct = 1 / self.noise, self.data.distinct
        others = distinct.other_precisions(self.noise)
        inverse: FloatArray = own * (others + own * self._open_shares()[distinct.group])
        return inverse / self.precisions[distinct.group]

    def _open_shares(self) -> FloatArray:
        """1 - v / lambda = lambda / (s^2 + lambda) of the distinct places; s^2: variance without the place.

        Almost without noise v / lambda is 1 to rounding; s^2 is then solved for, with a factor for the place.
        """
        places, weight, variances = self.data.places, self.weight, self.spread.variances
        share = 1 - weight * interpolated_variance(self.spread, places)
        terms = weight * np.maximum(variances[places.left], variances[places.right])
        for index in np.flatnonzero(np.finfo(float).eps * terms > LARGEST_LOSS * share):
            share[index] = 1 / (1 + weight[index] * self._unit_variance_without(int(index)))
        return share

    def _unit_variance_without(self, index: int) -> float:
        """e' (Q + D)^-1 e at a distinct place, D without its own load."""
        here = self.data.places[index : index + 1]
        factor = self.prior.unit.factored(self.data.load(self.weight, without=index))
        return float(here.interpolate(field_columns(factor, here)[0])[0])
