"""Points on pipes of a wntr model made into nodes, and tables of what instruments there show."""

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np
import pandas as pd

from netbo.adapters.misfit import END_TOLERANCE
from netbo.adapters.wntr.model import WaterModel, load_wntr
from netbo.errors import NetworkError
from netbo.wording import listing

# A point of a pipe: the pipe split there, what is closed kept closed.

INSIDE = 1e-3  # of the pipe; where nothing can be put on the end itself, it is put this far inside
NAME = "netbo-event"  # of nodes, pipes and patterns that are added


def node_on_pipe(model: Any, pipe_name: str, fraction: float) -> str:
    """The junction at a fraction of a pipe of a WaterNetworkModel, which is split there if it has none."""
    pipe = model.get_link(pipe_name)
    node = _end_node(pipe, fraction)
    if node is not None:
        return node
    return _split(model, pipe, min(max(fraction, INSIDE), 1 - INSIDE) if _at_end(fraction) else fraction)


def constant_pattern(model: Any) -> str:
    """Name of a new pattern that is 1 at all times: without one EPANET applies the file's default pattern."""
    pattern = _free_name(NAME, model.pattern_name_list)
    model.add_pattern(pattern, [1.0])
    return pattern


def _at_end(fraction: float) -> bool:
    return min(fraction, 1 - fraction) <= END_TOLERANCE


def _end_node(pipe: Any, fraction: float) -> str | None:
    """The junction there; None if the pipe must be split for it."""
    if not _at_end(fraction):
        return None
    is_head = fraction > 0.5
    if is_head and pipe.initial_status.name == "Closed":
        return None  # before the closed end, not behind it
    node = pipe.end_node if is_head else pipe.start_node
    return str(node.name) if node.node_type == "Junction" else None


def _split(model: Any, pipe: Any, fraction: float) -> str:
    """Split a pipe; the part at its head keeps name, status, controls, check valve and minor loss."""
    node, first = (_free_name(NAME, names) for names in (model.node_name_list, model.link_name_list))
    has_check_valve = pipe.check_valve
    pipe.check_valve = False  # wntr would put one into each part
    load_wntr().morph.split_pipe(
        model, pipe.name, first, node, add_pipe_at_end=False, split_at_point=fraction, return_copy=False
    )
    pipe.check_valve = has_check_valve
    part = model.get_link(first)
    part.initial_status, part.minor_loss = "Open", 0.0  # wntr would have copied both
    return node


def _free_name(wish: str, taken: Sequence[str]) -> str:
    names, count = set(taken), 0
    while f"{wish}{count}" in names:
        count += 1
    return f"{wish}{count}"


# Tables of readings: one row a time in seconds, one column a node or link.


def picked(table: pd.DataFrame, times: pd.Index, names: Any) -> pd.DataFrame:
    """Rows and columns of a table of results, as numbers."""
    chosen = table.reindex(index=times, columns=list(names)).astype(np.float64)
    chosen.columns.name = None
    return chosen


def as_table(
    readings: Any, known: Sequence[str], what: str, model: WaterModel, maker: str = "simulate_leak"
) -> pd.DataFrame:
    """Readings with a row a time in seconds and a column a name."""
    if isinstance(readings, pd.DataFrame):
        table = readings.copy()
    elif isinstance(readings, Mapping | pd.Series):
        table = pd.DataFrame([dict(readings)], index=[0.0])
    else:
        raise NetworkError(
            f"{what} must be a table or a mapping of measured values, got {type(readings).__name__}; make "
            f"data to try on with {maker}"
        )
    require_known(list(table.columns), known, what, model)
    seconds = table.index.total_seconds() if isinstance(table.index, pd.TimedeltaIndex) else table.index
    table.index = require_times(pd.Index(np.asarray(seconds, dtype=np.float64), name="time"), model)
    try:
        return table.astype(np.float64)
    except (TypeError, ValueError) as cause:
        raise NetworkError(
            f"{what} must be numbers, got {cause}; use NaN where a reading is missing"
        ) from cause


def require_known(names: Sequence[Any], known: Sequence[str], what: str, model: WaterModel) -> list[str]:
    """Names that are there, or an error that says which are."""
    kind = "links" if what == "meters" else "nodes"
    unknown = [name for name in names if name not in set(known)]
    if unknown:
        raise NetworkError(
            f"{what} must be at {kind} of {model.source}, got {unknown[0]!r}; there are {listing(known)}"
        )
    return list(names)


def require_times(times: pd.Index, model: WaterModel) -> pd.Index:
    """Times at which EPANET reports a state."""
    bad = [time for time in times if not (time >= 0 and float(time / model.step).is_integer())]
    if bad or not len(times) or not times.is_unique:
        got = f"{bad[0]:g} s" if bad else f"{len(times)} rows with repeated times" if len(times) else "none"
        raise NetworkError(
            f"times of readings must be different multiples of the file's report step of {model.step:g} s, "
            f"got {got}; average the readings over those steps"
        )
    return times
