"""The posterior of a finite element prior in precision form: its cost does not grow with the data."""

from functools import cached_property
from typing import Self

import numpy as np

from netbo.arrays import BoolArray, FloatArray, IntArray
from netbo.errors import NumericalError, ParameterError
from netbo.fem import Location
from netbo.geometry import Points
from netbo.linalg import (
    BlockFactor,
    SelectedSums,
    apply_stiffness,
    derivative_form,
    derivative_trace,
    field_sign,
)
from netbo.posterior.base import EvidenceDerivatives, EvidenceTerms, Gradient, Mean, Posterior
from netbo.posterior.mesh_data import canonical, load_of, spread_to_nodes
from netbo.posterior.observations import Distinct, Observations
from netbo.posterior.rank_one import NodalMeans, NodalSpread, Step, gained
from netbo.priors import FiniteElementPrior, Prior, field_columns, field_covariance, interpolated_variance

_KEPT = ("observations", "mean_setting", "_at", "_distinct", "_places", "_flow_nodes")  # by place alone
_KEPT_IF_COMMON = ("_centre", "_merged_values", "_deviations")  # if all observations have one noise variance
REFRESH = 16  # observations added by rank one before the next one factors anew
STRONG = 1e4  # load, in units of the unit field's precision, from which y - u loses digits
LARGEST_LOSS = 1e-11  # relative, in what an observation leaves open; beyond it its place is factored without


class BlockPosterior(Posterior):
    """Field given observations, from one factorization of the prior's block system with their load D."""

    prior: FiniteElementPrior

    def __init__(
        self,
        prior: FiniteElementPrior,
        observations: Observations,
        *,
        regularization: float | None,
        mean: Mean,
    ) -> None:
        super().__init__(prior, observations, regularization=regularization, mean=mean)
        self._at = canonical(prior.space.locate(observations.points))
        self._parent: BlockPosterior | None = None
        self._steps: tuple[Step, ...] = ()  # observations added by rank one, since the last factorization

    @cached_property
    def _distinct(self) -> Distinct:
        return Distinct.of(self._at.fraction, self._at.right, self._at.left)

    @cached_property
    def _precisions(self) -> FloatArray:
        """Reciprocal noise variances of the distinct observations."""
        return self._distinct.precisions(self.noise)

    @cached_property
    def _places(self) -> Location:
        """Locations of the distinct observations."""
        return self._at[self._distinct.first]

    @cached_property
    def _scale(self) -> FloatArray:
        """a at the distinct observations."""
        return self.prior.scale(self._places)

    @cached_property
    def _weight(self) -> FloatArray:
        """What the distinct observations add to the precision of the unit field."""
        return self.prior.amplitude * self._scale**2 * self._precisions

    @cached_property
    def _centre(self) -> float:
        """What is subtracted from the values before solving; any number is right, this one keeps digits."""
        if not self._mean_is_estimated:
            return float(self.mean_setting)  # type: ignore[arg-type]
        return float(np.average(self.observations.values, weights=1 / self.noise))

    @cached_property
    def factor(self) -> BlockFactor:
        """The block system with the load of the observations."""
        return self.prior.factor(load_of(self.prior, self._places, self._weight))

    @cached_property
    def _solutions(self) -> FloatArray:
        """Block solutions for the centred values and, with an estimated mean, for ones: (r, N, p)."""
        prior, places = self.prior, self._places
        p = prior.order
        weight = field_sign(p) * prior.amplitude * self._scale * self._precisions
        rhs = np.zeros((len(self._merged_values), prior.space.n_nodes, p))
        for column, values in zip(rhs, self._merged_values, strict=True):
            spread_to_nodes(column[:, -1], places, weight * values)
        return self.factor.solve(rhs)

    @cached_property
    def _merged_values(self) -> FloatArray:
        """Means at the distinct places of the centred values and, with an estimated mean, ones: (r, m)."""
        values = self._distinct.mean(self.observations.values - self._centre, self.noise)
        return np.stack([values, np.ones(len(values))]) if self._mean_is_estimated else values[None]

    @cached_property
    def _deviations(self) -> FloatArray:
        """Values minus the means of their places, (n,): what repeats say against each other."""
        merged: FloatArray = self._merged_values[0]
        return self.observations.values - self._centre - merged[self._distinct.group]

    @cached_property
    def _is_common(self) -> bool:
        """Whether one noise variance holds for all observations."""
        return not self.observations.has_own_noise.any()

    @cached_property
    def _merged_duals(self) -> FloatArray:
        """T^-1 v of the distinct observations, (r, m), for the centred values and ones."""
        pairs = zip(self._solutions, self._merged_values, strict=True)
        return np.array([self._merged_dual(x, v) for x, v in pairs])

    @cached_property
    def _dual_sums(self) -> FloatArray:
        """1' T^-1 v, (r,): what repeats say against each other is not in it, nor in its rounding."""
        sums: FloatArray = self._merged_duals.sum(axis=1)
        if self._mean_is_estimated and not sums[1] > 0:
            raise NumericalError(
                f"the precision of the mean must be positive, got {sums[1]:.3g} "
                f"(range {self.prior.range:.3g}, smallest noise {self.noise.min():.3g}); "
                "shorten the range, raise the noise or give the mean"
            )
        return sums

    @cached_property
    def _duals(self) -> FloatArray:
        """T^-1 v of all observations, (r, n), for the centred values and ones."""
        values = [self.observations.values - self._centre]
        if self._mean_is_estimated:
            values.append(np.ones(len(self.observations)))
        pairs = zip(self._merged_duals, values, strict=True)
        return np.array([self._distinct.spread(merged, v, self.noise) for merged, v in pairs])

    def _merged_dual(self, x: FloatArray, values: FloatArray) -> FloatArray:
        """T^-1 v of the distinct observations: (v - fit) / lambda, or K x_0 where that keeps more digits.

        The last row of the system reads K_0 x_0 = (-1)^(p-1) amplitude E a T^-1 v.
        """
        prior, places, precisions = self.prior, self._places, self._precisions
        fit = self._scale * places.interpolate(x[:, -1])
        dual = precisions * (values - fit)
        if not len(places) or self._weight.max() < STRONG:
            return dual
        flow, size = apply_stiffness(
            prior.space.topology, prior.elements, prior.robin, np.ascontiguousarray(x[:, 0])
        )
        node, is_alone, near = self._flow_nodes
        share = near * self._scale * prior.amplitude
        better = is_alone & (size[node] / share < precisions * np.maximum(abs(values), abs(fit)))
        return np.where(better, field_sign(prior.order) * flow[node] / share, dual)

    @cached_property
    def _flow_nodes(self) -> tuple[IntArray, BoolArray, FloatArray]:
        """The nearer node of each distinct place, whether it serves no other, and its share of the place."""
        places = self._places
        ends = np.concatenate([places.left, places.right[places.fraction > 0]])
        visits = np.bincount(ends, minlength=self.prior.space.n_nodes)
        to_right = places.fraction > 0.5
        node = np.where(to_right, places.right, places.left)
        return node, visits[node] == 1, np.where(to_right, places.fraction, 1 - places.fraction)

    @cached_property
    def _selected(self) -> SelectedSums:
        return self.factor.select_with_sums()

    @cached_property
    def _means(self) -> NodalMeans:
        if self._parent is not None:
            return self._parent._means.after(self._steps[-1])
        nodal, estimated = self._solutions[:, :, -1], self._mean_is_estimated
        return NodalMeans(
            values=nodal[0],
            ones=nodal[1] if estimated else np.zeros(0),
            ones_ones=float(self._dual_sums[1]) if estimated else 0.0,
            ones_values=float(self._dual_sums[0]) if estimated else 0.0,
        )

    @cached_property
    def _spread(self) -> NodalSpread:
        if self._parent is not None:
            left, right, _ = self.prior.space.cell_ends
            return self._parent._spread.after(self._steps[-1], left, right)
        # A gradient's selected inverse has the variances too; without one the sums are not worth their time.
        selected = self._selected if "_selected" in self.__dict__ else self.factor.select()
        return NodalSpread(selected.variances, selected.neighbours)

    @cached_property
    def _gain(self) -> float:
        """log|I + Lambda^-1 K_t| / 2 as (log|det S| - p log|K|) / 2: no t x t matrix is formed."""
        return (self.factor.log_determinant - self.prior.order * self.prior.stiffness_logarithm) / 2

    @property
    def estimated_mean(self) -> float:
        """The constant mean m: the given number, or its estimate."""
        return self._centre + self._shift

    @property
    def _shift(self) -> float:
        if not self._mean_is_estimated:
            return 0.0
        return self._means.ones_values / self._means.ones_ones

    @property
    def mean_precision(self) -> float:
        """1' T^-1 1."""
        return self._means.ones_ones

    def _field(self, x: Points) -> FloatArray:
        at = self.prior.space.locate(x)
        field = at.interpolate(self._means.values)
        if self._mean_is_estimated:
            field = field - self._shift * at.interpolate(self._means.ones)
        return self.prior.scale(at) * field

    def _ones(self, x: Points) -> FloatArray:
        at = self.prior.space.locate(x)
        return self.prior.scale(at) * at.interpolate(self._means.ones)

    def _field_variance(self, x: Points) -> FloatArray:
        at = self.prior.space.locate(x)
        unit = interpolated_variance(self._spread, at)
        return self.prior.amplitude * self.prior.scale(at) ** 2 * unit

    def _field_covariance(self, x: Points, y: Points) -> FloatArray:
        at_x, at_y = self.prior.space.locate(x), self.prior.space.locate(y)
        unit = field_covariance(self.factor, at_x, at_y)
        return self.prior.amplitude * self.prior.scale(at_x)[:, None] * unit * self.prior.scale(at_y)

    def _field_deviations(self, x: Points, rng: np.random.Generator, n: int) -> FloatArray:
        prior, at = self.prior, self.prior.space.locate(x)
        spread = prior.amplitude * self._scale * np.sqrt(self._precisions)
        paths = np.empty((n, len(x)))
        for path in paths:
            kick = np.zeros(prior.space.n_nodes)
            spread_to_nodes(kick, self._places, spread * rng.standard_normal(len(spread)))
            path[:] = prior.path(self.factor, at, rng, kick)
        return paths

    def information_gain(self) -> float:
        """Mutual information of data and field (rmk:maximin design)."""
        if self._parent is not None:
            return self._parent.information_gain() + gained(self._steps[-1])
        return self._gain

    @property
    def _dual(self) -> FloatArray:
        """T^-1 (y - m), (n,)."""
        return self._shifted(self._duals)

    @property
    def _dual_of_ones(self) -> FloatArray:
        ones: FloatArray = self._duals[1]
        return ones

    def _inverse_diagonal(self) -> FloatArray:
        """[T^-1]_ii = (1 - v_i / lambda_i) / lambda_i with the variance v of the field: no n x n matrix.

        At a place of precision q, others' q_i and open share r it is (q_i + r / lambda_i) / (lambda_i q).
        """
        own, places = 1 / self.noise, self._distinct
        others = places.other_precisions(self.noise)
        inverse: FloatArray = own * (others + own * self._open_shares()[places.group])
        return inverse / self._precisions[places.group]

    def _open_shares(self) -> FloatArray:
        """1 - v / lambda = lambda / (s^2 + lambda) of the distinct places; s^2: variance without the place.

        Almost without noise v / lambda is 1 to rounding; s^2 is then solved for, with a factor for the place.
        """
        places, weight = self._places, self._weight
        # Rank-one updates leave of a variance what they subtract: far too little where the noise is small.
        selected = self._spread if self._parent is None else self.factor.select()
        share = 1 - weight * interpolated_variance(selected, places)
        terms = weight * np.maximum(selected.variances[places.left], selected.variances[places.right])
        for index in np.flatnonzero(np.finfo(float).eps * terms > LARGEST_LOSS * share):
            share[index] = 1 / (1 + weight[index] * self._unit_variance_without(int(index)))
        return share

    def _unit_variance_without(self, index: int) -> float:
        """e' (Q + D)^-1 e at a distinct place, D without its own load."""
        here, rest = self._places[index : index + 1], np.delete(np.arange(len(self._places)), index)
        factor = self.prior.factor(load_of(self.prior, self._places[rest], self._weight[rest]))
        return float(here.interpolate(field_columns(factor, here)[0])[0])

    def _shifted(self, pair: FloatArray) -> FloatArray:
        """What belongs to y - m, from what belongs to the centred values and to ones."""
        shifted: FloatArray = pair[0]
        if self._mean_is_estimated:
            shifted = shifted - self._dual_sums[0] / self._dual_sums[1] * pair[1]
        return shifted

    def evidence_terms(self) -> EvidenceTerms:
        """log|T| and (y - m)' T^-1 (y - m)."""
        quadratic = self._scatter + float(self._merged_values[0] @ self._shifted(self._merged_duals))
        log_determinant = 2 * self._gain + float(np.log(self.noise).sum())
        return EvidenceTerms(len(self.observations), log_determinant, quadratic)

    @property
    def _scatter(self) -> float:
        """Sum of (value - mean of its place)^2 / lambda: the part of the quadratic that no field explains."""
        if len(self._places) == len(self.observations):
            return 0.0
        return float(np.sum(self._deviations**2 / self.noise))

    def evidence_derivatives(self) -> EvidenceDerivatives:
        """Derivatives of both terms, at no solve more: traces of the selected inverse, forms of the solution.

        In s = kappa^2 at fixed tau by the element matrices; in sigma, and in kappa at fixed sigma, through
        the factor a by which the field at each observation is scaled.
        """
        prior, selected, dual = self.prior, self._selected, self._shifted(self._merged_duals)
        p, elements = prior.order, prior.elements
        trace = (
            derivative_trace(elements, p, selected.diagonals, selected.couples) - p * prior.stiffness_trace
        )
        x = self._shifted(self._solutions)
        form = field_sign(p) * derivative_form(prior.space.topology, elements, x) / prior.amplitude
        leverage = self._weight * interpolated_variance(selected, self._places)
        fit = self._shifted(self._merged_values) - dual / self._precisions
        stretch = prior.scale_derivative(self._places)
        noise = self._noise_derivatives(leverage, dual)
        return EvidenceDerivatives(
            log_determinant=Gradient(
                range=-2 * trace - 2 * float(stretch @ leverage),
                sigma=2 * float(leverage.sum()),
                noise=noise[0],
            ),
            quadratic=Gradient(
                range=-2 * form + 2 * float(stretch @ (dual * fit)),
                sigma=-2 * float(dual @ fit),
                noise=noise[1],
            ),
        )

    def _noise_derivatives(self, leverage: FloatArray, dual: FloatArray) -> tuple[float, float]:
        """Derivatives of both terms in the log of the common noise variance, from what the places have."""
        if self._is_common:
            quadratic = self._scatter + float(np.sum(dual**2 / self._precisions))
            return len(self.observations) - float(leverage.sum()), -quadratic
        common = ~self.observations.has_own_noise
        shares = (leverage / self._precisions)[self._distinct.group] / self.noise
        return float((1 - shares)[common].sum()), -float((self.noise * self._dual**2)[common].sum())

    def with_parameters(self, prior: Prior, regularization: float | None) -> Self:
        """The posterior of the same data under other parameters; what depends on the points alone is kept."""
        if not isinstance(prior, FiniteElementPrior) or prior.space is not self.prior.space:
            raise ParameterError(
                "with_parameters takes the same prior rescaled, got another; use condition()"
            )
        noise = self.observations.noise_variances(regularization)
        other = object.__new__(type(self))
        kept = (*_KEPT, *_KEPT_IF_COMMON) if self._is_common else _KEPT
        other.__dict__.update((key, getattr(self, key)) for key in kept)
        other.prior, other.regularization, other.noise = prior, regularization, noise
        other._parent, other._steps = None, ()
        return other

    def extend(self, new: Observations) -> Self:
        """The posterior after more observations, each a rank-one update of mean and variances.

        One solve and a pass over the nodes; covariances, samples and evidence factor anew when asked for.
        """
        posterior = self
        for index in range(len(new)):
            one = Observations(new.points[[index]], new.values[[index]], new.noise[[index]])
            posterior = posterior._extended_by_one(one)
        return posterior

    def _extended_by_one(self, new: Observations) -> Self:
        other = self._with_more(new)
        if len(self._steps) >= REFRESH or not len(self.observations):
            return other
        at = other._at[len(self.observations) :]
        base = self
        while base._parent is not None:
            base = base._parent  # type: ignore[assignment]
        column = field_columns(base.factor, at)[0]
        for step in self._steps:
            column = step.project(column, at)
        scale, amplitude = float(self.prior.scale(at)[0]), self.prior.amplitude
        step = Step(
            at=at,
            value=float(new.values[0]) - self._centre,
            scale=scale,
            amplitude=amplitude,
            column=column,
            noise=float(other.noise[-1]) / (amplitude * scale**2),
        )
        other._parent, other._steps = self, (*self._steps, step)
        other.__dict__["_centre"] = self._centre  # the nodal solutions stay those of values centred here
        return other
