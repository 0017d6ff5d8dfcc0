"""What the runs of a tidy table amount to: metrics, summaries with intervals, paired effects.

A run is one cell with one seed. The initial design does not count unless `count_init` says so.
"""

from collections.abc import Hashable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
import pandas as pd
from scipy.stats import binomtest, t

from netbo.arrays import FloatArray
from netbo.errors import ParameterError
from netbo.experiments.spec import GP_TS, SPDE, Spec

RUN = ["cell", "seed"]
LEVEL = 0.95
RESAMPLES = 2_000


def regret_curves(table: pd.DataFrame, *, count_init: bool = False) -> pd.DataFrame:
    """Simple and cumulative regret of every run after each iteration, as long as its cell's longest run.

    A run that stopped keeps its simple regret and adds nothing to its cumulative regret: it is within the
    tolerance of the maximum. With count_init there is an iteration 0, the design, whose best query counts;
    regret accumulates over iterations only.
    """
    counted = table[(~table["is_design"]) | count_init]
    by_step = counted.groupby([*RUN, "iteration"], sort=False)["regret"].agg(["min", "sum"]).reset_index()
    by_step.loc[by_step["iteration"] == 0, "sum"] = 0.0
    first, longest = int(not count_init), by_step.groupby("cell")["iteration"].max()
    parts = []
    for (cell, seed), run in by_step.groupby(RUN, sort=False):
        steps = pd.RangeIndex(first, int(longest.loc[str(cell)]) + 1)
        each = run.set_index("iteration").reindex(steps)
        parts.append(
            pd.DataFrame(
                {
                    "cell": cell,
                    "seed": seed,
                    "iteration": steps,
                    "simple_regret": each["min"].ffill().cummin().to_numpy(),
                    "cumulative_regret": each["sum"].fillna(0.0).cumsum().to_numpy(),
                }
            )
        )
    columns = [*RUN, "iteration", "simple_regret", "cumulative_regret"]
    return pd.concat(parts, ignore_index=True) if parts else pd.DataFrame({name: [] for name in columns})


def curve_bands(curves: pd.DataFrame, column: str = "simple_regret") -> pd.DataFrame:
    """Mean, median and central half of the runs of every cell after each iteration."""
    groups = curves.groupby(["cell", "iteration"], sort=False)[column]
    bands = {"mean": groups.mean(), "median": groups.median()}
    bands |= {"low": groups.quantile(0.25), "high": groups.quantile(0.75)}
    return pd.DataFrame(bands).reset_index()


def iterations_to(table: pd.DataFrame, tolerance: float, *, count_init: bool = False) -> pd.DataFrame:
    """N_Tol of every run: iterations until a query is within the tolerance, NaN if none was.

    With count_init a run whose design met the tolerance needed 0.
    """
    runs = table[RUN].drop_duplicates(ignore_index=True)
    is_found = (table["regret"] <= tolerance) & (count_init | ~table["is_design"])
    needed = table[is_found].groupby(RUN)["iteration"].min().astype(float)
    return runs.merge(needed.rename("iterations").reset_index(), on=RUN, how="left")


def wilson_interval(found: int, n: int, level: float = LEVEL) -> tuple[float, float]:
    """Interval of a probability of which `found` of n trials were successes (Wilson's score)."""
    if not 0 <= found <= n or n < 1:
        raise ParameterError(f"successes must be 0 to n >= 1, got {found} of {n}")
    interval = binomtest(found, n).proportion_ci(level, method="wilson")
    return float(interval.low), float(interval.high)


def mean_interval(values: Sequence[float] | pd.Series, level: float = LEVEL) -> tuple[float, float, float]:
    """Mean and the ends of Student's interval; NaN where there are too few values."""
    numbers = np.asarray(values, dtype=np.float64)
    n = len(numbers)
    if not n:
        return np.nan, np.nan, np.nan
    mean = float(numbers.mean())
    if n < 2:
        return mean, np.nan, np.nan
    half = float(t.ppf((1 + level) / 2, n - 1) * numbers.std(ddof=1) / np.sqrt(n))
    return mean, mean - half, mean + half


def summarize(
    table: pd.DataFrame, tolerance: float, *, by: Sequence[str] = ("cell",), count_init: bool = False
) -> pd.DataFrame:
    """Reach rate and mean iterations of successful runs, with 95 % intervals, one row a group.

    by: columns of the table; ["method"] averages over all problems, sources and placements.
    """
    needed = iterations_to(table, tolerance, count_init=count_init)
    others = [name for name in by if name not in RUN]
    labels = table[[*RUN, *others]].drop_duplicates(RUN)
    rows = []
    for group, runs in needed.merge(labels, on=RUN).groupby(list(by), sort=False, dropna=False):
        found = runs["iterations"].dropna()
        low, high = wilson_interval(len(found), len(runs))
        mean, mean_low, mean_high = mean_interval(found)
        rows.append(
            {
                **dict(zip(by, group, strict=True)),
                "runs": len(runs), "reached": len(found), "rate": len(found) / len(runs),
                "rate_low": low, "rate_high": high, "iterations": mean, "iterations_low": mean_low,
                "iterations_high": mean_high,
            }
        )  # fmt: skip
    return pd.DataFrame(rows)


def effects(
    table: pd.DataFrame, reference: str, tolerance: float, *, count_init: bool = False, seed: int = 0
) -> pd.DataFrame:
    """By how much each method's reach rate exceeds that of a reference method, in pairs of runs.

    A pair has the same problem, placement, source and seed. The interval is a percentile bootstrap over the
    problems and, within each, its pairs: methods differ from problem to problem more than from seed to seed.
    """
    posing = ["problem", "placement", "source", "seed"]
    needed = iterations_to(table, tolerance, count_init=count_init)
    labels = table[[*RUN, "method", *posing[:-1]]].drop_duplicates(RUN)
    is_found = needed.merge(labels, on=RUN).assign(
        found=lambda runs: runs["iterations"].notna().astype(float)
    )
    wide = is_found.pivot(index=posing, columns="method", values="found")
    if reference not in wide:
        raise ParameterError(f"the reference must be one of {', '.join(wide.columns)}, got {reference!r}")
    rng, rows = np.random.default_rng(seed), []
    for method in [name for name in is_found["method"].drop_duplicates() if name != reference]:
        gain = (wide[method] - wide[reference]).dropna()
        groups = [part.to_numpy() for _, part in gain.groupby(posing[:-1])]
        low, high = bootstrap_interval(groups, rng)
        mean = float(np.mean([part.mean() for part in groups])) if groups else np.nan
        rows.append(
            {
                "method": method,
                "reference": reference,
                "pairs": len(gain),
                "effect": mean,
                "low": low,
                "high": high,
            }
        )
    return pd.DataFrame(rows)


def bootstrap_interval(groups: Sequence[np.ndarray], rng: np.random.Generator) -> tuple[float, float]:
    """Ends of the 95 % interval of the mean of the groups' means, by drawing groups and what is in them."""
    if not groups:
        return np.nan, np.nan
    means = np.empty((RESAMPLES, len(groups)))
    for column, part in enumerate(groups):
        means[:, column] = part[rng.integers(len(part), size=(RESAMPLES, len(part)))].mean(axis=1)
    chosen = rng.integers(len(groups), size=(RESAMPLES, len(groups)))
    low, high = np.quantile(np.take_along_axis(means, chosen, axis=1).mean(axis=1), [0.025, 0.975])
    return float(low), float(high)


# Runs of a tidy table as figures and the report need them: one row a run, estimates with 95 % intervals.

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

    The numbers of `regret_curves`, for all runs at once.
    """
    later = table[~table["is_design"].astype(bool)]
    each = later.groupby([*RUN, "iteration"])["regret"].min().unstack("iteration")
    whole = each.reindex(columns=range(1, horizon + 1)).cummin(axis=1).ffill(axis=1)
    regret: FloatArray = whole.to_numpy(dtype=np.float64)
    return np.maximum(regret, 0.0)  # a query may exceed the maximum by rounding


# What each departure from the paper brings: paired differences against its methods, by landscape.

CLOSE = 0.01  # regret tied to what measurements can tell, beside the paper's Tol
ALL = "all landscapes"
POSING = ["problem", "placement", "source"]


@dataclass(frozen=True, slots=True)
class Effect:
    """By how much a method exceeds the reference in one metric on some landscapes."""

    reference: str
    method: str
    landscapes: str
    metric: str
    pairs: int
    difference: Estimate  # reach rates as shares


def references_of(table: pd.DataFrame) -> list[str]:
    """The paper's own methods in the table, against which others are measured."""
    is_own = (table["preset"] == "paper") & (table["kernel"] == SPDE) & table["b"].notna()
    return [str(each) for each in pd.unique(table.loc[is_own, "method"])]


def metric_names(spec: Spec) -> tuple[str, str, str]:
    """What is compared: two reach rates and the queries that were needed."""
    return (
        f"reach rate, Tol = {tolerance_of(spec):g}",
        f"reach rate, Tol = {CLOSE:g}",
        f"queries to {CLOSE:g}",
    )


def paired_effects(spec: Spec, table: pd.DataFrame, reference: str) -> list[Effect]:
    """Effects of every method that is not the paper's, on each group of landscapes and on all.

    A pair has the same problem, placement, source and seed. Reach rates as `effects`; queries: those
    up to regret CLOSE, which a search between the nodes meets too, the horizon for a run without success,
    with Student's interval over the pairs or over the landscapes, whichever is wider.
    """
    first, second, third = metric_names(spec)
    found = []
    for name, part in landscapes_of(table):
        kept = part[(part["method"] == reference) | ~part["preset"].isin(["paper", ""])]
        for metric, tolerance in ((first, tolerance_of(spec)), (second, CLOSE)):
            for row in effects(kept, reference, tolerance).to_dict("records"):
                found.append(Effect(reference, row["method"], name, metric, row["pairs"], _estimate(row)))
        found += _queries(spec, kept, reference, name, third)
    return found


def _estimate(row: Mapping[Hashable, Any]) -> Estimate:
    """The effect on a reach rate; pairs that are all alike leave room for those that were not drawn.

    A bootstrap of equal differences has no width; Wilson's bound on the share of other pairs has.
    """
    value, pairs = float(row["effect"]), int(row["pairs"])
    if row["low"] < row["high"] or not pairs:
        return Estimate(value, row["low"], row["high"], pairs)
    room = wilson_interval(0, pairs)[1]
    return Estimate(value, max(-1.0, value - room), min(1.0, value + room), pairs)


def landscapes_of(table: pd.DataFrame) -> Iterator[tuple[str, pd.DataFrame]]:
    """All landscapes, each placement of the optimum, and the sources."""
    yield ALL, table
    for place in pd.unique(table["placement"]):
        part = table[table["placement"] == place]
        if place:
            yield f"optimum: {place}", part
        else:
            yield f"New York, {part['source'].nunique()} source(s)", part


def _queries(spec: Spec, table: pd.DataFrame, reference: str, name: str, metric: str) -> list[Effect]:
    runs = runs_of(table, CLOSE)
    horizon = min(horizon_of(spec, rule) for rule in pd.unique(table["acquisition"]))
    runs["used"] = runs["iterations"].fillna(horizon).clip(upper=horizon)
    wide = runs.pivot(index=[*POSING, "seed"], columns="method", values="used")
    effects = []
    for method in [each for each in pd.unique(runs["method"]) if each != reference]:
        gap = (wide[method] - wide[reference]).dropna()
        by_landscape = gap.groupby(POSING).mean()
        pooled, spread = mean_estimate(gap), mean_estimate(by_landscape)
        half = np.nanmax([0.0, (pooled.high - pooled.low) / 2, (spread.high - spread.low) / 2])
        centre = spread.value
        estimate = Estimate(centre, centre - half, centre + half, len(gap))
        effects.append(Effect(reference, str(method), name, metric, len(gap), estimate))
    return effects
