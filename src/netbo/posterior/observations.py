"""Measurements on a network, and the distinct places they were taken at."""

from dataclasses import dataclass
from typing import Self

import numpy as np
from numpy.typing import ArrayLike

from netbo.arrays import BoolArray, FloatArray, IntArray, as_float_vector, read_only, require_finite, sum_by
from netbo.checks import explained_class
from netbo.errors import ObservationError
from netbo.geometry import Points


@explained_class
@dataclass(frozen=True, slots=True, init=False, eq=False)
class Observations:
    """Values measured at points of a network.

    Parameters
    ----------
    points : Points
        Where they were measured, n of them; a point may come twice.
    values : array_like
        What was measured, (n,), finite.
    noise : array_like, optional
        Variances of the measurements, one or (n,); NaN, as without this argument, where the common variance
        given to `condition` or found by `fit_parameters` holds.

    Raises
    ------
    ObservationError
        If there is not one finite value per point, or a variance is not positive.

    Examples
    --------
    >>> import netbo
    >>> graph = netbo.interval(3.0)
    >>> data = netbo.Observations(graph.points(0, [0.5, 2.0]), [1.0, -1.0], noise=[0.01, float("nan")])
    >>> len(data), data.has_own_noise.tolist(), data.noise_variances(0.2).tolist()
    (2, [True, False], [0.01, 0.2])
    """

    points: Points
    values: FloatArray  # (n,)
    noise: FloatArray  # (n,) variances, NaN where the common one holds

    def __init__(self, points: Points, values: ArrayLike, noise: ArrayLike | None = None) -> None:
        y = as_float_vector(values, "observed values", ObservationError)
        if len(y) != len(points):
            raise ObservationError(
                f"observations need one value per point, got {len(points)} points and {len(y)} values; "
                "repeat a point that was measured twice"
            )
        require_finite(y, "observed values", ObservationError, "leave failed measurements out")
        variances = np.full(len(y), np.nan) if noise is None else _as_noise(noise, len(y))
        for name, value in (("points", points), ("values", read_only(y)), ("noise", read_only(variances))):
            object.__setattr__(self, name, value)

    def __len__(self) -> int:
        return len(self.values)

    @property
    def has_own_noise(self) -> BoolArray:
        """Which observations carry a noise variance of their own."""
        return np.isfinite(self.noise)

    def joined(self, other: "Observations") -> Self:
        """These observations, then the others."""
        points = Points.concatenate([self.points, other.points])
        values = np.concatenate([self.values, other.values])
        return type(self)(points, values, np.concatenate([self.noise, other.noise]))

    def noise_variances(self, regularization: float | None) -> FloatArray:
        """Variance of every observation: its own, or else `regularization`."""
        own = self.has_own_noise
        if regularization is None:
            if not own.all():
                raise ObservationError(
                    f"{np.sum(~own)} of {len(self)} observations have no noise variance, got "
                    "regularization=None; pass regularization=variance"
                )
            return self.noise
        if not (np.isfinite(regularization) and regularization > 0):
            raise ObservationError(
                f"regularization must be a positive variance, got {regularization}; "
                "for exact values take 1e-10 of the squared amplitude"
            )
        return np.where(own, self.noise, regularization)


def _as_noise(noise: ArrayLike, n: int) -> FloatArray:
    variances = as_float_vector(noise, "noise variances", ObservationError)
    if len(variances) not in (1, n):
        raise ObservationError(
            f"noise must be one variance or one for each of {n} observations, got {len(variances)}"
        )
    bad = variances[(variances <= 0) | np.isinf(variances)]
    if bad.size:
        raise ObservationError(
            f"noise variances must be positive and finite, got {bad[0]}; "
            "for exact values take 1e-10 of the squared amplitude"
        )
    return np.broadcast_to(variances, (n,)).copy()


@dataclass(frozen=True, slots=True)
class Distinct:
    """Observations merged where their points coincide: values weighted by their precisions.

    A field cannot tell apart what was measured at one place, so conditioning on the merged ones is the same,
    and T^-1 y is recovered for all of them without dividing small differences by small variances.
    """

    first: IntArray  # (m,) an observation at each distinct place
    group: IntArray  # (n,) distinct place of each observation

    @classmethod
    def of(cls, *keys: FloatArray | IntArray) -> Self:
        """Merge observations that agree in all keys."""
        order = np.lexsort(keys)
        changes = np.zeros(len(order), dtype=bool)
        for key in keys:
            changes[1:] |= key[order][1:] != key[order][:-1]
        group = np.empty(len(order), dtype=np.int64)
        group[order] = np.cumsum(changes)
        n_groups = int(group.max()) + 1 if len(group) else 0
        first = np.empty(n_groups, dtype=np.int64)
        first[group[order][::-1]] = order[::-1]
        return cls(first=first, group=group)

    def precisions(self, variances: FloatArray) -> FloatArray:
        """Sums of 1 / variance at the distinct places, (m,)."""
        if self._is_trivial:
            return 1 / variances[self.first]
        return sum_by(self.group, 1 / variances, len(self.first))

    def other_precisions(self, variances: FloatArray) -> FloatArray:
        """Sums of 1 / variance of the other observations at the same place, (n,)."""
        return self._sum_of_others(1 / variances, variances)

    def _sum_of_others(self, terms: FloatArray, variances: FloatArray) -> FloatArray:
        """Sums of the other observations' terms at the same place, (n,).

        Beside the most precise one the others may be far smaller: summed, where subtracting loses them.
        """
        order = np.lexsort((1 / variances, self.group))
        is_last = np.ones(len(order), dtype=bool)
        is_last[:-1] = np.diff(self.group[order]) > 0
        most_precise = np.empty(len(order), dtype=bool)
        most_precise[order] = is_last
        all_terms, rest = (
            sum_by(self.group, chosen, len(self.first))[self.group]
            for chosen in (terms, np.where(most_precise, 0.0, terms))
        )
        return np.where(most_precise, rest, all_terms - terms)

    @property
    def _is_trivial(self) -> bool:
        """Whether no place was measured twice."""
        return len(self.first) == len(self.group)

    def mean(self, values: FloatArray, variances: FloatArray) -> FloatArray:
        """Precision-weighted means at the distinct places, (m,)."""
        if self._is_trivial:
            return values[self.first]
        return sum_by(self.group, values / variances, len(self.first)) / self.precisions(variances)

    def spread(self, merged: FloatArray, values: FloatArray, variances: FloatArray) -> FloatArray:
        """T^-1 y of all observations from that of the merged ones, (n,)."""
        if self._is_trivial:
            return merged[self.group]
        precisions = self.precisions(variances)
        from_others = self.other_precisions(variances) * values - self._sum_of_others(
            values / variances, variances
        )
        return (from_others + merged[self.group]) / (precisions[self.group] * variances)
