"""The refit schedule of one model: when its parameters are fitted anew as the record grows.

The search for the parameters is global at certain numbers of observations (`last_milestone`) and local
between them, each starting where the last one ended, and only when the record has grown by a few per cent.
On large meshes they are rarer and only the first is global. In between parameters stay. So a fit is a
function of the record alone, and costs little.
"""

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from netbo.arrays import IntArray
from netbo.fem import FiniteElementSpace
from netbo.optimize.models import Model
from netbo.posterior import (
    Amplitude,
    Beliefs,
    Fit,
    FitBounds,
    Mean,
    Observations,
    Parameters,
    condition,
    fit_parameters,
)

LARGE_MESH = 20_000  # nodes from which fits are rarer
STEPS_PER_DOUBLING = 16  # fits while the record doubles, usually
FIRST_ON_LARGE = 8  # observations from which they are sought globally there, once


@dataclass(frozen=True, slots=True)
class RefitSettings:
    """What every fit of a schedule has in common."""

    noise: float | None  # variance of a measurement; None: fitted, within the bounds of its ratio
    mean: Mean
    amplitude: Amplitude
    bounds: FitBounds
    beliefs: Beliefs
    every_step: bool = False  # whether each observation is followed by a fit, however many there are
    pace: int = STEPS_PER_DOUBLING  # fits while the record doubles


@dataclass(frozen=True, slots=True)
class KeptFit:
    """Parameters kept of a fit when its posterior is let go."""

    parameters: Parameters
    log_belief: float
    at_bound: tuple[str, ...]
    converged: bool


def last_milestone(n: int) -> int:
    """The largest of 1, 2, 3, 4, 6, 8, 12, 16, 32, 64, ... up to n."""
    return max(k for k in (3, 6, 12, 1 << (n.bit_length() - 1)) if k <= n)


def step_between_fits(n: int, pace: int = STEPS_PER_DOUBLING) -> int:
    """A record of n is fitted anew where this divides n: up to twice the pace always, then more rarely."""
    return max(1, (1 << (n.bit_length() - 1)) // pace)


def fits_on_a_large_mesh(n: int) -> list[int]:
    """Those of 1, 2, 3, 4, 6, 8, 12, 16, 24, 32, 48, ... up to n."""
    powers = [1 << i for i in range(n.bit_length())]
    return sorted(k for k in {*powers, *(3 * power for power in powers)} if k <= n)


class RefitSchedule:
    """The fits of one model along a growing record, each a function of the record up to it."""

    def __init__(self, settings: RefitSettings, model: Model, space: FiniteElementSpace) -> None:
        self.settings = settings
        self.prior = model.build(space)
        self.is_large = space.n_nodes > LARGE_MESH
        self._rows: IntArray = np.empty((0, 4), dtype=np.int64)  # of the record the fits belong to
        self._kept: dict[int, KeptFit] = {}  # by number of observations
        self._last: Fit | None = None

    def fit(self, observations: Observations) -> Fit:
        """The fit to a record, as far as possible from the fits to its beginnings."""
        self._forget_after(_rows_of(observations))
        n = len(observations)
        if self._last is not None and len(self._last.posterior.observations) == n:
            return self._last
        path = self.path(n)
        known = next((i for i in reversed(range(len(path))) if path[i] != n and path[i] in self._kept), None)
        start: Parameters | None = None if known is None else self._kept[path[known]].parameters
        for k in path[0 if known is None else known + 1 :]:
            if k not in self._kept or k == n:
                found = self._last = self._search(_first(observations, k), start)
                self._kept[k] = KeptFit(found.parameters, found.log_belief, found.at_bound, found.converged)
            start = self._kept[k].parameters
        if self._last is None or len(self._last.posterior.observations) != n:
            self._last = self._with_kept(observations, self._kept[path[-1]])
        return self._last

    def path(self, n: int) -> Sequence[int]:
        """Numbers of observations whose fits lead to the one at n; the first of them is global."""
        if not self.is_large:
            first = last_milestone(n)
            step = 1 if self.settings.every_step else step_between_fits(n, self.settings.pace)
            return range(first + -first % step, n + 1, step)
        steps = fits_on_a_large_mesh(n)
        return [k for k in steps if k >= FIRST_ON_LARGE] or steps[-1:]

    def _forget_after(self, rows: IntArray) -> None:
        """Drop the fits that saw another record."""
        shared = min(len(rows), len(self._rows))
        differs = np.any(rows[:shared] != self._rows[:shared], axis=1)
        same = int(np.argmax(differs)) if differs.any() else shared
        self._kept = {k: found for k, found in self._kept.items() if k <= same}
        if self._last is not None and len(self._last.posterior.observations) > same:
            self._last = None
        self._rows = rows

    def _search(self, observations: Observations, start: Parameters | None) -> Fit:
        settings = self.settings
        return fit_parameters(
            self.prior,
            observations,
            regularization=settings.noise,
            mean=settings.mean,
            amplitude=settings.amplitude,
            bounds=settings.bounds,
            beliefs=settings.beliefs,
            start=start,
            is_quick=self.is_large,
        )

    def _with_kept(self, observations: Observations, kept: KeptFit) -> Fit:
        """The posterior of all observations under parameters learned before."""
        found = kept.parameters
        posterior = condition(
            self.prior.rescaled(range=found.range, sigma=found.sigma),
            observations,
            regularization=found.regularization,
            mean=self.settings.mean,
        )
        return Fit(
            posterior=posterior,
            log_evidence=posterior.evidence_terms().log_evidence,
            log_belief=kept.log_belief,
            evaluations=0,
            at_bound=kept.at_bound,
            converged=kept.converged,
        )


def _first(observations: Observations, n: int) -> Observations:
    if n == len(observations):
        return observations
    return Observations(observations.points[:n], observations.values[:n], observations.noise[:n])


def _rows_of(observations: Observations) -> IntArray:
    """Edge, position, value and noise of every observation, bit by bit: NaN equals NaN."""
    points = observations.points
    columns = (points.z, observations.values, observations.noise)
    bits = [np.ascontiguousarray(column).view(np.int64) for column in columns]
    return np.stack([points.edge, *bits], axis=1)
