"""Figures of what an optimizer knows, and the fields they show."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np

from netbo.arrays import FloatArray
from netbo.errors import ParameterError
from netbo.geometry import Points
from netbo.optimize.eligibility import places_of
from netbo.optimize.maximizer import MaximizerDensity
from netbo.optimize.summary import doubt_of, marked_places
from netbo.plotting import (
    draw_field,
    draw_labels,
    draw_legend,
    draw_network,
    draw_points,
    draw_profile,
    draw_stretches,
    style,
)
from netbo.plotting.field import floored_norm, probability_norm
from netbo.wording import value_label, with_unit

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.colors import Normalize

    from netbo.optimize.optimizer import Optimizer


VIEWS = ("mean", "sd", "acquisition", "probability")


@dataclass(frozen=True, slots=True)
class View:
    """A function of places and what to call it."""

    function: Callable[[Points], FloatArray]
    label: str


def view(optimizer: Optimizer, what: str, label: str | None = None) -> View:
    """One of the four views.

    label: of the values, with their unit.
    """
    if what not in VIEWS:
        raise ParameterError(f"a view must be one of {', '.join(VIEWS)}, got {what!r}")
    if what == "mean":
        return View(optimizer.posterior.mean, label or with_unit("posterior mean", optimizer.value_unit))
    if what == "sd":
        return View(optimizer.posterior.std, _spread_label(label, optimizer.value_unit))
    if what == "acquisition":
        name = type(optimizer.acquisition).__name__
        return View(optimizer.next_scores(), f"acquisition ({name})")
    unit = optimizer.graph.unit or "unit of length"
    kind = {"maximize": "maximum", "minimize": "minimum"}[optimizer.direction]
    return View(density(optimizer), f"probability of the {kind} per {unit}")


def density(optimizer: Optimizer) -> MaximizerDensity:
    """Where the best value may be; as `modes` and `search_list` see it."""
    return MaximizerDensity.of(optimizer.maximizer(), optimizer.search)


def _spread_label(label: str | None, unit: str | None) -> str:
    what = "standard deviation"
    return with_unit(what, unit) if label is None else f"{what} of {label}"


# Pictures of what an optimizer knows; imported only when one is asked for, since it loads matplotlib.

MAPS = {"mean": style.VALUE_MAP, "sd": style.SPREAD_MAP, "acquisition": style.SCORE_MAP}
WORST_SHOWN = 0.05  # share of the places with the lowest scores that have one colour: logarithms fall deep
DOT = 10.0  # points: diameter of single places that may be the best
SMALLER = 0.6  # marks over a probability, against those over other views
MOST_NUMBERED = 40  # places that are next with their numbers; more would cover the network
MANY, SMALL = 300, 3.0  # observations from which on their markers are of this size


def draw_view(
    optimizer: Optimizer,
    what: str = "mean",
    ax: Axes | None = None,
    *,
    label: str | None = None,
    norm: Normalize | None = None,
    to_scale: bool = True,
) -> Axes:
    """The network coloured by one view, with what was measured, failed, is next and is recommended.

    Places that are next have the numbers under which their values are told.
    A network without coordinates is drawn as a profile, its edges laid end to end.
    """
    graph = optimizer.graph
    seen, doubt = view(optimizer, what, label), doubt_of(optimizer)
    if graph.dimension is None:
        is_known = what != "sd" or not doubt
        shown = optimizer.posterior if what == "mean" else _finite(seen.function, is_known=is_known)
        beside = value_label(label, optimizer.value_unit) if what == "mean" else seen.label
        ax = draw_profile(graph, shown, ax, label=beside, band=not doubt)
        return _say_doubt(ax, what, doubt)
    if what == "sd" and doubt:
        ax = draw_network(graph, ax, color=style.FAINT, vertex_size=0.0, to_scale=to_scale)
        _say_doubt(ax, what, doubt)
    elif isinstance(seen.function, MaximizerDensity):
        ax = _draw_density(seen.function, ax, seen.label, norm=norm, to_scale=to_scale)
    else:
        if what == "acquisition" and norm is None:
            norm = floored_norm(seen.function(optimizer.search.points), WORST_SHOWN)
        ax = draw_field(
            graph, seen.function, ax, label=seen.label, cmap=MAPS[what], norm=norm, to_scale=to_scale
        )
    for name, places in marked_places(optimizer).items():
        draw_points(graph, places, ax, label=name, **_mark(name, len(places), what))
    draw_labels(graph, *next_places(optimizer), ax)
    return draw_legend(ax)


def _say_doubt(ax: Axes, what: str, doubt: str | None) -> Axes:
    """Put into a picture why it shows no spread."""
    if doubt and what in ("mean", "sd"):
        ax.set_title(f"standard deviation: {doubt}", fontsize="medium")
    return ax


def next_places(optimizer: Optimizer) -> tuple[Points, list[str]]:
    """The first pending places, and the numbers under which they are told."""
    pending = optimizer.history.pending[:MOST_NUMBERED]
    return places_of(pending, optimizer.graph), [str(trial.id) for trial in pending]


def _mark(name: str, count: int, what: str) -> dict[str, Any]:
    marks: dict[str, dict[str, Any]] = {
        "failed": {"marker": "X", "size": 9.0},
        "observed": {"size": style.POINT_SIZE if count < MANY else SMALL},
        "next": {"marker": "D", "color": style.NEXT, "size": 7.0},
        "recommended": {"marker": "*", "color": style.FOUND, "size": 13.0},
    }
    mark = marks[name]
    if what == "probability":  # likely stretches are short and lie where the marks are
        mark["size"] *= SMALLER
    return mark


def _draw_density(
    found: MaximizerDensity, ax: Axes | None, label: str, *, norm: Normalize | None, to_scale: bool
) -> Axes:
    """Stretches that may hold the best value on a faint network; dots where candidates are single places."""
    graph = found.graph
    ax = draw_network(graph, ax, color=style.FAINT, vertex_size=0.0, to_scale=to_scale)
    is_likely = found.probability > 0
    pieces, mass = found.pieces[is_likely], found.probability[is_likely]
    has_length, table = found.has_length, graph.address_table
    number, row, start, end = table.stretches(pieces.edge, pieces.start, pieces.end)
    values = mass / pieces.lengths if has_length else mass
    return draw_stretches(
        graph, [table.ids[link] for link in row.tolist()], start, end, ax, values=values[number],
        norm=norm or probability_norm(),
        label=label if has_length else label.partition(" per ")[0],
        linewidth=None if has_length else DOT,
    )  # fmt: skip


def _finite(function: Callable[[Points], FloatArray], *, is_known: bool) -> Callable[[Points], FloatArray]:
    """The function where it is finite; nowhere, if it is a spread that too few values tell."""

    def finite(x: Points) -> FloatArray:
        values = function(x)
        return np.where(np.isfinite(values) & is_known, values, np.nan)

    return finite
