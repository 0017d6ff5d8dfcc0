"""Runs of a tidy table as figures and the report need them: one row a run, estimates with 95 % intervals."""

from dataclasses import dataclass, replace

import numpy as np
import pandas as pd

from netbo.arrays import FloatArray
from netbo.experiments.metrics import RUN, iterations_to, mean_interval, wilson_interval
from netbo.experiments.spec import GP_TS, Spec

LABELS = [
    "problem", "placement", "source", "method", "kernel", "acquisition", "preset", "b", "n_init",
    "max_cell", "n_nodes",
]  # fmt: skip
PRINTED_TOLERANCE = 1e-6  # sec:Numerics


@dataclass(frozen=True, slots=True)
class Estimate:
    """A number and its 95 % interval from n runs; NaN where nothing can be said."""

    value: float
    low: float
    high: float
    n: int

    @property
    def width(self) -> float:
        """Length of the interval."""
        return self.high - self.low

    def holds(self, number: float) -> bool:
        """Whether a number lies inside the interval."""
        return self.low <= number <= self.high


NOTHING = Estimate(np.nan, np.nan, np.nan, 0)


def horizon_of(spec: Spec, acquisition: str) -> int:
    """T of a rule: GP-TS may have more time than the others."""
    horizon = spec.horizon_ts if acquisition == GP_TS else spec.horizon_ucb
    return horizon or spec.horizon_ucb or 1


def tolerance_of(spec: Spec) -> float:
    """Tol, within which a run succeeds."""
    return spec.tolerance or PRINTED_TOLERANCE


def runs_of(table: pd.DataFrame, tolerance: float, *, count_init: bool = False) -> pd.DataFrame:
    """One row for each cell and seed: its labels and `iterations` to the tolerance, NaN if not reached."""
    needed = iterations_to(table, tolerance, count_init=count_init)
    return needed.merge(table[[*RUN, *LABELS]].drop_duplicates(RUN), on=RUN)


def reach_rate(runs: pd.DataFrame) -> Estimate:
    """Share of runs that reached the tolerance, with Wilson's interval.

    Over several sources also with that of the rates of the sources, whichever is wider: runs on one source
    have more in common than runs on two.
    """
    reached = runs["iterations"].notna()
    n, found = len(reached), int(reached.sum())
    if n == 0:
        return NOTHING
    pooled = Estimate(found / n, *wilson_interval(found, n), n)
    wide = _widened(pooled, reached.astype(float), runs["source"])
    return replace(wide, low=max(0.0, wide.low), high=min(1.0, wide.high))


def mean_iterations(runs: pd.DataFrame) -> Estimate:
    """Mean iterations of the runs that reached the tolerance, with Student's interval; see reach_rate.

    The interval is cut at 1: no run needs fewer.
    """
    found = _widened(mean_estimate(runs["iterations"]), runs["iterations"], runs["source"])
    return replace(found, low=max(1.0, found.low)) if found.low < 1.0 <= found.value else found


def _widened(pooled: Estimate, values: pd.Series, sources: pd.Series) -> Estimate:
    """The interval widened to that of the sources' own means, centred where it was."""
    each = mean_estimate(values.groupby(sources).mean())
    if each.n < 2 or np.isnan(pooled.low):
        return pooled
    half = (each.high - each.low) / 2
    low, high = pooled.value - half, pooled.value + half
    return replace(pooled, low=min(pooled.low, low), high=max(pooled.high, high))


def mean_estimate(values: pd.Series) -> Estimate:
    """Mean of the numbers that are not NaN, with Student's interval; no interval from fewer than two."""
    known = values.dropna()
    return Estimate(*mean_interval(known), len(known))


def rate_difference(found: int, n: int, other_found: int, other_n: int) -> Estimate:
    """Difference of two independent shares with Newcombe's interval, from Wilson's of both."""
    first, second = found / n, other_found / other_n
    low, high = wilson_interval(found, n)
    other_low, other_high = wilson_interval(other_found, other_n)
    gap = first - second
    return Estimate(
        gap,
        gap - float(np.hypot(first - low, other_high - second)),
        gap + float(np.hypot(high - first, second - other_low)),
        n + other_n,
    )


def regret_array(table: pd.DataFrame, horizon: int) -> FloatArray:
    """Simple regret after each iteration, (runs, horizon); a run that stopped keeps its last value.

    The numbers of `metrics.regret_curves`, for all runs at once.
    """
    later = table[~table["is_design"].astype(bool)]
    each = later.groupby([*RUN, "iteration"])["regret"].min().unstack("iteration")
    whole = each.reindex(columns=range(1, horizon + 1)).cummin(axis=1).ffill(axis=1)
    regret: FloatArray = whole.to_numpy(dtype=np.float64)
    return np.maximum(regret, 0.0)  # a query may exceed the maximum by rounding
