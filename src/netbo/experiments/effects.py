"""What each departure from the paper brings: paired differences against its methods, by landscape."""

from collections.abc import Hashable, Iterator, Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np
import pandas as pd

from netbo.experiments import metrics
from netbo.experiments.metrics import wilson_interval
from netbo.experiments.spec import SPDE, Spec
from netbo.experiments.summaries import Estimate, horizon_of, mean_estimate, runs_of, tolerance_of

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

    A pair has the same problem, placement, source and seed. Reach rates as `metrics.effects`; queries: those
    up to regret CLOSE, which a search between the nodes meets too, the horizon for a run without success,
    with Student's interval over the pairs or over the landscapes, whichever is wider.
    """
    first, second, third = metric_names(spec)
    found = []
    for name, part in landscapes_of(table):
        kept = part[(part["method"] == reference) | ~part["preset"].isin(["paper", ""])]
        for metric, tolerance in ((first, tolerance_of(spec)), (second, CLOSE)):
            effects = metrics.effects(kept, reference, tolerance)
            for row in effects.to_dict("records"):
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
