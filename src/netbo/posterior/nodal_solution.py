"""The block system of a finite element field with its observations, solved for their values."""

import math
from functools import cached_property

import numpy as np

from netbo.arrays import FloatArray, IntArray
from netbo.errors import NumericalError
from netbo.fem import Location
from netbo.geometry import Points
from netbo.linalg import BlockFactor, SelectedSums, apply_stiffness, field_sign
from netbo.posterior.border import BorderedFactor, stiff_places
from netbo.posterior.mesh_data import CentredValues, MeshData
from netbo.posterior.rank_one import NodalMeans, NodalSpread
from netbo.priors import FiniteElementPrior, field_columns, interpolated_variance

STRONG = 1e4  # load, in units of the unit field's precision, from which y - u loses digits
FLOW_LOSS = 1e3  # roundings that K x_0 has from x_0; 1e2 to 1e4 were measured
LARGEST_LOSS = 1e-11  # relative, in what an observation leaves open; beyond it its place is factored without
LARGEST_LOSS_OF_ONES = 1e-7  # relative, in 1' T^-1 1; beyond it 1 - fit is solved for
LARGEST_MEAN_LOSS = 1e-6  # of the largest value, before something is said
CONTRADICTION = 1e2  # of (v - m)' T^-1 (v - m) for each value, where 1 is usual: ten deviations apart
SMALLEST_MOVE = 1e-10  # of a cell: no observation was taken for a node from farther away
EPSILON = float(np.finfo(float).eps)


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
    def border(self) -> IntArray:
        """Which distinct observations are a border of the system instead of a load on it."""
        return stiff_places(self.prior, self.data, self.precisions)

    @cached_property
    def factor(self) -> BlockFactor:
        """The block system with the load of the observations, and their border if there is one."""
        return self._factored()

    def _factored(self, without: int | None = None) -> BlockFactor:
        """The same with the load of all observations, or of all but one."""
        unit, border, data = self.prior.unit, self.border, self.data
        apart = border if without is None else np.append(border, without)
        load = data.load(self.weight, without=apart)
        if not len(border):
            return unit.factored(load)
        return BorderedFactor(unit, load, data.places[border], 1 / self.weight[border])

    @property
    def blocks(self) -> FloatArray:
        """Block solutions, (r, N, p)."""
        return self._solved[0]

    @cached_property
    def _solved(self) -> tuple[FloatArray, FloatArray]:
        """Block solutions, (r, N, p), and duals T^-1 v of the border, (r, k)."""
        return self._solve_values(self.values.merged)

    def _solve_values(self, merged: FloatArray) -> tuple[FloatArray, FloatArray]:
        """The same for any values of the distinct observations, (r, m)."""
        prior, border = self.prior, self.border
        weight = field_sign(prior.order) * prior.amplitude * self.scale * self.precisions
        weight[border] = 0.0
        rhs = np.zeros((len(merged), prior.space.n_nodes, prior.order))
        for column, values in zip(rhs, merged, strict=True):
            self.data.spread_to_nodes(column[:, -1], weight * values)
        return self._solve_towards(rhs, merged[:, border] / self.scale[border])

    def _solve_towards(self, rhs: FloatArray, targets: FloatArray) -> tuple[FloatArray, FloatArray]:
        """Solutions, and duals of the border in the unit of the values."""
        if not isinstance(self.factor, BorderedFactor):
            return self.factor.solve(rhs), np.zeros((len(rhs), 0))
        blocks, duals = self.factor.solve_towards(rhs, targets)
        return blocks, duals / (self.prior.amplitude * self.scale[self.border])

    @cached_property
    def _dual_rows(self) -> tuple[FloatArray, FloatArray]:
        """T^-1 v of the distinct observations and its rounding error, about, (r, m) each."""
        rows = zip(*self._solved, self.values.merged, strict=True)
        duals, errors = zip(*(self._dual(*row) for row in rows), strict=True)
        return np.array(duals), np.array(errors)

    def _dual(self, x: FloatArray, border: FloatArray, values: FloatArray) -> tuple[FloatArray, FloatArray]:
        """T^-1 v of the distinct observations: (v - fit) / lambda, or K x_0 where that keeps more digits.

        The last row of the system reads K_0 x_0 = (-1)^(p-1) amplitude E a T^-1 v. Rounding errors beside it.
        """
        prior, places, precisions = self.prior, self.data.places, self.precisions
        fit = self.scale * places.interpolate(x[:, -1])
        dual, error = precisions * (values - fit), precisions * np.maximum(abs(values), abs(fit))
        if len(places) and self.weight.max() >= STRONG:
            unit, sign = prior.unit, field_sign(prior.order)
            start = np.ascontiguousarray(x[:, 0])
            flow, size = apply_stiffness(unit.mesh.topology, unit.elements, unit.robin, start)
            known = np.zeros(len(places))
            known[self.border] = prior.amplitude * self.scale[self.border] * border
            if len(border):
                self.data.spread_to_nodes(flow, -sign * known)
                self.data.spread_to_nodes(size, abs(known))
            node, is_alone, near = self.data.flow_nodes(self.border)
            share = near * self.scale * prior.amplitude
            better = is_alone & (size[node] / share < error)
            dual = np.where(better, sign * flow[node] / share, dual)
            error = np.where(better, FLOW_LOSS * size[node] / share, error)
        dual[self.border] = border
        error[self.border] = self._border_error(border, values[self.border])
        return dual, EPSILON * error

    def _border_error(self, dual: FloatArray, values: FloatArray) -> FloatArray:
        """What rounding leaves uncertain in duals of the border, in units of the machine's precision."""
        if not isinstance(self.factor, BorderedFactor):
            return np.zeros(0)
        scale = self.prior.amplitude * self.scale[self.border] ** 2
        size = abs(values) + scale * np.sqrt(self.factor.variances) * float(
            np.sqrt(self.factor.variances) @ abs(dual)
        )
        return np.asarray(abs(self.factor.inverse) @ (size / scale))

    @cached_property
    def merged_duals(self) -> FloatArray:
        """T^-1 v of the distinct observations, (r, m)."""
        duals, _ = self._dual_rows
        return duals if self._solved_ones is None else np.stack([duals[0], self._solved_ones])

    @cached_property
    def _solved_ones(self) -> FloatArray | None:
        """T^-1 1 of the distinct observations by a solve for 1 - fit, where the difference keeps few digits.

        The field 1 - fit belongs to the right-hand side K_0 1 in the first row, which is known to rounding.
        """
        if not self.values.has_ones or self.prior.is_constant or not len(self.data.places):
            return None
        plain = float(self._dual_rows[0][1].sum())
        if EPSILON * self.precisions.sum() <= LARGEST_LOSS_OF_ONES * plain:
            return None
        solved, _ = self._ones
        total = float(solved.sum())
        return None if abs(total - plain) <= 2 * LARGEST_LOSS_OF_ONES * total else solved

    @cached_property
    def _ones(self) -> tuple[FloatArray, float]:
        """T^-1 1 by a solve for 1 - fit, and the relative error of its sum.

        For p > 1 the sum of the last row says it once more, by the known K_0 1 and without a small number:
        its word counts, and what the two differ by is what may be lost. For p = 1 all has one sign.
        """
        prior, unit = self.prior, self.prior.unit
        ones = np.ones(prior.space.n_nodes)
        rhs = np.zeros((1, prior.space.n_nodes, prior.order))
        source = apply_stiffness(unit.mesh.topology, unit.elements, unit.robin, ones)[0]
        rhs[0, :, 0] = -source
        blocks, border = self._solve_towards(rhs, np.zeros((1, len(self.border))))
        solved = -self.precisions * self.data.places.interpolate(blocks[0, :, -1])
        solved[self.border] = border[0]
        if prior.order == 1:
            return solved, EPSILON
        total = float(solved.sum())
        known = field_sign(prior.order) * float(source @ blocks[0, :, 0]) / prior.amplitude
        if not (total > 0 and known > 0):
            return solved, math.inf
        return solved * (known / total), abs(total - known) / known

    @cached_property
    def dual_sums(self) -> FloatArray:
        """1' T^-1 v, (r,): what repeats say against each other is not in it, nor in its rounding."""
        sums: FloatArray = self.merged_duals.sum(axis=1)
        if self._solved_ones is not None:
            sums[0] = self.values.merged[0] @ self._solved_ones
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
        if self._solved_ones is not None:
            return self._ones[1]
        return float(self._dual_rows[1][1].sum() / self.dual_sums[1])

    @property
    def quadratic(self) -> float:
        """(v - m)' T^-1 (v - m) of the distinct observations."""
        return float(self.values.merged[0] @ self.about_mean(self.merged_duals))

    def refined_quadratic(self) -> tuple[float, float]:
        """The same with the mean of the values apart, and about how much rounding leaves uncertain of it.

        v = c 1 + w: c^2 1' T^-1 1 + 2 c w' T^-1 1 + w' T^-1 w, in which only w is fitted and subtracted. A
        field with a long range is nearly a constant, and of c nothing would be left.
        """
        values, plain = self.about_mean(self.values.merged), self.quadratic
        loss = EPSILON * float(self.precisions @ values**2)
        if self.prior.is_constant or loss <= LARGEST_LOSS_OF_ONES * max(1.0, abs(plain)):
            return plain, max(loss, float(abs(values) @ self._dual_rows[1][0]))
        c = float(np.average(values, weights=self.precisions))
        rest, (ones, loss_of_ones) = values - c, self._ones
        blocks, border = self._solve_values(rest[None])
        dual, error = self._dual(blocks[0], border[0], rest)
        quadratic = c**2 * float(ones.sum()) + 2 * c * float(rest @ ones) + float(rest @ dual)
        known = c**2 * float(ones.sum())
        return quadratic, float(abs(rest) @ error) + loss_of_ones * abs(known)

    @property
    def determinant_loss(self) -> float:
        """About how much rounding leaves uncertain of log|T|, by observations that others nearly tell."""
        factor = self.factor
        if not isinstance(factor, BorderedFactor):
            return 0.0
        return EPSILON * float(np.sum(factor.variances / factor.pivots))

    def mean_loss_of(self, points: Points) -> float:
        """About how much rounding leaves uncertain of the mean, in units of the largest value.

        Values that contradict each other at nearly one place have huge duals of both signs, whose sum is the
        mean elsewhere: each comes with what the place of its node and the arithmetic leave open.
        """
        values = self.about_mean(self.values.merged)
        fit = self.scale * self.data.places.interpolate(self.about_mean(self.blocks[:, :, -1]))
        rough = self.precisions * (values - fit)
        unit = self.prior.sigma**2 / max(float(abs(values).max(initial=0.0)), self.prior.sigma)
        if unit * abs(rough).sum() * SMALLEST_MOVE < LARGEST_MEAN_LOSS:
            return 0.0
        if self.quadratic < CONTRADICTION * len(values):
            return 0.0
        moved = self.data.distinct.mean(self.data.moved(points), self.noise)
        lost = float((EPSILON + moved) @ abs(self.about_mean(self.merged_duals)))
        return unit * (lost + float(self._dual_rows[1][0][self.border].sum()))

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
        return (self.factor.log_determinant - unit.log_determinant) / 2

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
        lost = EPSILON * terms > LARGEST_LOSS * share
        lost[self.border] = False
        for index in np.flatnonzero(lost):
            share[index] = 1 / (1 + weight[index] * self._unit_variance_without(int(index)))
        share[self.border] = self._border_shares()
        return share

    def _border_shares(self) -> FloatArray:
        """1 - v / lambda = lambda [(V + Lambda)^-1]_jj of the border."""
        factor = self.factor
        return factor.noise * np.diag(factor.inverse) if isinstance(factor, BorderedFactor) else np.zeros(0)

    @cached_property
    def leverage(self) -> FloatArray:
        """v / lambda of the distinct observations: how much of each value the field takes over."""
        leverage = self.weight * interpolated_variance(self.selected, self.data.places)
        leverage[self.border] = 1 - self._border_shares()
        return leverage

    def _unit_variance_without(self, index: int) -> float:
        """e' (Q + D)^-1 e at a distinct place, D without its own load."""
        here = self.data.places[index : index + 1]
        factor = self._factored(without=index)
        return float(here.interpolate(field_columns(factor, here)[0])[0])
