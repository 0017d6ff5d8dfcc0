"""What is known at one moment, as a page shows it: four views, answers, and words of trust."""

from __future__ import annotations

import math
import time
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from typing import Any

import numpy as np

from netbo.arrays import FloatArray
from netbo.errors import BaseError
from netbo.geometry import Points
from netbo.optimize import Optimizer
from netbo.optimize.results.figures import WORST_SHOWN, density, view
from netbo.optimize.summary import summarize
from netbo.page.lines import PageLines
from netbo.page.stretches import spread, walkable

VIEWS = ("mean", "sd", "acquisition", "probability")
UNKNOWN, LEVELS = 255, 254  # a byte a piece: no value, and the highest level
MODES, MASS, LEVEL = 5, 0.8, 0.95
POWERS = {"probability": 0.5}  # square roots: small probabilities stay visible


@dataclass(frozen=True, slots=True)
class Snapshot:
    """The answers of one model; `marks` says which trials it knew."""

    marks: str
    n_values: int
    made: float  # seconds since 1970
    took: float  # seconds
    fields: dict[str, FloatArray] = field(default_factory=dict)  # of each piece, by view
    legends: dict[str, dict[str, Any]] = field(default_factory=dict)
    answers: dict[str, Any] = field(default_factory=dict)  # as JSON

    def levels(self, what: str) -> bytes:
        """One byte a piece: the share of the legend, or UNKNOWN."""
        values, legend = self.fields[what], self.legends[what]
        span = legend["high"] - legend["low"] or 1.0
        share = np.clip((values - legend["low"]) / span, 0.0, 1.0) ** legend["power"]
        known = np.isfinite(values)
        return (
            np.where(known, np.rint(np.where(known, share, 0.0) * LEVELS), UNKNOWN).astype(np.uint8).tobytes()
        )


def take(optimizer: Optimizer, lines: PageLines, marks: str) -> Snapshot:
    """Compute everything; what cannot be said has a reason in its place."""
    began, n_values = time.time(), len(optimizer.history.observed)
    if not n_values:
        said = {"sure": "No values yet: nothing is known.", "doubt": "no values yet"}
        return Snapshot(marks, 0, began, 0.0, answers={**said, "facts": [], "warnings": []})
    fields, legends = {}, {}
    doubt, unknown = summarize(optimizer).doubt, np.full(len(lines.segments.edge), np.nan)
    for what in VIEWS:
        reason = doubt if what == "sd" else None
        try:
            values = _field(optimizer, lines, what) if reason is None else unknown
        except BaseError as error:
            values, reason = unknown, str(error)
        fields[what], legends[what] = values, _legend(what, values, optimizer, reason)
    answers = plain(_answers(optimizer, lines))
    return Snapshot(marks, n_values, time.time(), time.time() - began, fields, legends, answers)


def plain(value: Any) -> Any:
    """A document as JSON can hold it: numbers that are none are None."""
    if isinstance(value, dict):
        return {name: plain(each) for name, each in value.items()}
    if isinstance(value, list | tuple):
        return [plain(each) for each in value]
    return None if isinstance(value, float) and not math.isfinite(value) else value


def _field(optimizer: Optimizer, lines: PageLines, what: str) -> FloatArray:
    """A view at the middles of the pieces; NaN where it has no finite value."""
    if what == "probability":
        return spread(density(optimizer), lines)
    middles, function = lines.segments.middles, view(optimizer, what).function
    places = Points(middles.edge, middles.z, graph=optimizer.graph)  # a layout has the same edges
    if what == "acquisition":  # a rule that explores raises some places of its first question
        function(places[:1])
    values = function(places)
    return np.where(np.isfinite(values), values, np.nan)


def _legend(what: str, values: FloatArray, optimizer: Optimizer, reason: str | None) -> dict[str, Any]:
    known = values[np.isfinite(values)]
    low, high = (float(known.min()), float(known.max())) if known.size else (0.0, 1.0)
    if what == "acquisition" and known.size:
        low = float(np.quantile(known, WORST_SHOWN))  # logarithms fall deep
    unit = optimizer.value_unit if what in ("mean", "sd") else None
    return {
        "low": 0.0 if what == "probability" else low, "high": high, "unit": unit,
        "power": POWERS.get(what, 1.0), "reason": reason if not known.size else None,
    }  # fmt: skip


def _answers(optimizer: Optimizer, lines: PageLines) -> dict[str, Any]:
    """Words and places; each part that fails says why."""
    summary = summarize(optimizer)
    found: dict[str, Any] = {
        "facts": list(summary.facts), "warnings": list(summary.warnings), "doubt": summary.doubt,
    }  # fmt: skip
    parts: Mapping[str, Callable[[], Any]] = {
        "recommend": lambda: _recommended(optimizer, lines),
        "modes": lambda: _modes(optimizer, lines),
        "search": lambda: walkable(optimizer.search_list(MASS), density(optimizer), lines),
        "check": lambda: _check(optimizer),
    }
    for name, part in parts.items():
        try:
            found[name] = part()
        except BaseError as error:
            found[name] = None
            found["warnings"].append(str(error))
    return found | {"sure": _sure(found, optimizer)}


def _recommended(optimizer: Optimizer, lines: PageLines) -> dict[str, Any]:
    best = optimizer.recommend()
    numbers = {name: float(getattr(best, name)) for name in ("mean", "std", "low", "high")}
    return {"place": lines.described([best.point])[0], **numbers}


def _modes(optimizer: Optimizer, lines: PageLines) -> list[dict[str, Any]]:
    found = optimizer.modes(MODES)
    places = lines.described([mode.point for mode in found])
    names = ("probability", "mean", "low", "high")
    return [
        {"place": place, **{name: getattr(mode, name) for name in names}}
        for place, mode in zip(places, found, strict=True)
    ]


def _check(optimizer: Optimizer) -> dict[str, Any]:
    found = optimizer.check()
    rows = zip(found.id, found.value, found.predicted, found.std, found.is_wild, strict=True)
    return {
        "words": str(found), "coverage": float(found.coverage[LEVEL]),
        "rows": [
            [int(trial), float(value), float(guess), float(std), bool(wild)]
            for trial, value, guess, std, wild in rows
        ],
    }  # fmt: skip


def _sure(found: Mapping[str, Any], optimizer: Optimizer) -> str:
    """How sure, in one or two sentences."""
    best, check, unit = found["recommend"], found["check"], optimizer.value_unit
    if found["doubt"]:
        return f"{found['doubt'].capitalize()} how sure this is."
    if best is None or check is None:
        return "How sure this is could not be computed; see the warnings."
    within = f"{best['low']:.3g} to {best['high']:.3g}{f' {unit}' if unit else ''}"
    n, share = len(check["rows"]), check["coverage"]
    hit = round(share * n) if np.isfinite(share) else 0
    return (
        f"{best['place']['name']}, {best['place']['words']}: the model is 95 % sure of {within}. Asked for "
        f"each of the {n} values from all others, its 95 % intervals held {hit} of them."
    )
