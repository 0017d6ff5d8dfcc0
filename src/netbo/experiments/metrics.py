"""What the runs of a tidy table amount to: regret, reach rate, iterations to a tolerance (sec:Numerics).

A run is one cell with one seed. The initial design does not count unless `count_init` says so.
"""

from collections.abc import Sequence

import numpy as np
import pandas as pd
from scipy.stats import norm, t

from netbo.errors import ParameterError

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
    z, share = float(norm.ppf((1 + level) / 2)), found / n
    centre = (share + z**2 / (2 * n)) / (1 + z**2 / n)
    half = z / (1 + z**2 / n) * np.sqrt(share * (1 - share) / n + z**2 / (4 * n**2))
    # Rounding must not exclude the share itself: at 0 and 1 it is an end of the interval.
    return min(max(0.0, float(centre - half)), share), max(min(1.0, float(centre + half)), share)


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
        low, high = _bootstrap(groups, rng)
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


def _bootstrap(groups: Sequence[np.ndarray], rng: np.random.Generator) -> tuple[float, float]:
    """Ends of the 95 % interval of the mean of the groups' means."""
    if not groups:
        return np.nan, np.nan
    means = np.empty((RESAMPLES, len(groups)))
    for column, part in enumerate(groups):
        means[:, column] = part[rng.integers(len(part), size=(RESAMPLES, len(part)))].mean(axis=1)
    chosen = rng.integers(len(groups), size=(RESAMPLES, len(groups)))
    low, high = np.quantile(np.take_along_axis(means, chosen, axis=1).mean(axis=1), [0.025, 0.975])
    return float(low), float(high)
