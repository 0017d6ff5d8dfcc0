"""What a storage says of one trial, later corrections applied, and all trials as a table."""

from __future__ import annotations

import math
import uuid
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from datetime import datetime
from enum import Enum
from typing import TYPE_CHECKING, Any

from optuna.trial import FrozenTrial, TrialState

from netbo.errors import PointError, StudyError
from netbo.geometry import MetricGraph, Point, Points

if TYPE_CHECKING:
    import pandas as pd


EDGE, POSITION = "edge", "position"  # parameters of a trial: number of the edge, fraction of its length
PLACE, LEASE, RENEWED = "netbo:place", "netbo:lease", "netbo:renewed"  # attributes of a trial
TOLD, CLOSED = "netbo:told", "netbo:closed"  # apart: who closes a trial must not overwrite its value


class State(Enum):
    """What has become of a trial of a study."""

    ASKING = "asking"  # its place is being computed
    WAITING = "waiting"  # enqueued, not yet handed out
    PENDING = "pending"  # handed out, not yet told
    OBSERVED = "observed"
    FAILED = "failed"  # measured without a value
    CANCELLED = "cancelled"  # never to be told
    WITHDRAWN = "withdrawn"  # told, and found to be wrong
    EXPIRED = "expired"  # its lease ran out: its place is handed out again
    RELEASED = "released"  # given back: its place is handed out again
    VOID = "void"  # it never got a place


ORPHANED = (State.EXPIRED, State.RELEASED)
_ENDS = ("cancelled", "expired", "released", "failed", "void")
LATEST = 9e9  # seconds since 1970: tables know no later time
TOLD_STATES = (State.OBSERVED, State.FAILED, State.WITHDRAWN)


@dataclass(frozen=True, slots=True)
class Record:
    """One trial of a study."""

    id: int  # its number
    state: State
    point: Point | None = None  # where it was measured; where it is to be, until then
    asked: Point | None = None  # where it was asked for; None if it was told without being asked
    value: float | None = None
    noise: float | None = None
    note: str = ""
    worker: str = ""
    expires: float | None = None  # end of its lease; None: it has none
    began: float = math.nan  # seconds since 1970
    ended: float = math.nan
    stands_for: int | None = None  # the trial whose place it took over
    key: int = -1  # its number in the storage


def read_record(trial: FrozenTrial, graph: MetricGraph) -> Record:
    """A trial as it was stored, before corrections."""
    place, lease = _said(trial, PLACE), _said(trial, LEASE)
    point = _point(trial, place, graph)
    if point is not None and place.get("seen", trial.number) != trial.number:
        point = None  # computed without knowing a trial that came first
    record = Record(
        id=trial.number,
        state=State.ASKING if point is None else State.PENDING,
        point=point,
        asked=None if place.get("asked") is False else point,
        worker=str(lease.get("worker", "")),
        expires=_expiry(trial, point is not None, place, lease),
        began=_seconds(trial.datetime_start),
        stands_for=_number(place.get("stands_for")),
        key=trial._trial_id,
    )
    return _conclude(record, trial, graph)


def _conclude(record: Record, trial: FrozenTrial, graph: MetricGraph) -> Record:
    told, closed = _said(trial, TOLD), _said(trial, CLOSED)
    ended = as_time(told.get("time"), _seconds(trial.datetime_complete))
    if record.point is None:
        state = State.VOID if trial.state.is_finished() else State.ASKING
        return replace(record, state=state, ended=ended, note=str(closed.get("note", "")))
    if trial.state is TrialState.COMPLETE:
        value = trial.values[0] if isinstance(trial.values, list | tuple) and len(trial.values) == 1 else None
        said = told if told.get("value") == value else {}
        return tell_record(replace(record, ended=ended), {**said, "value": value}, graph)
    if told:
        return tell_record(replace(record, ended=ended), told, graph)
    if not trial.state.is_finished():
        return replace(record, state=State.WAITING) if trial.state is TrialState.WAITING else record
    pruned = trial.state is TrialState.PRUNED
    end = str(closed.get("state", State.CANCELLED.value if pruned else State.FAILED.value))
    state = State(end) if end in _ENDS else State.FAILED
    return replace(record, state=state, ended=ended, note=str(closed.get("note", "pruned" if pruned else "")))


def tell_record(record: Record, told: Mapping[str, Any], graph: MetricGraph) -> Record:
    """The record of a trial that was told; a value that is no finite number is a failure."""
    value, noise = told.get("value"), told.get("noise")
    at = _mapping(told.get("at"))
    point = record.point if not at else _place(at.get("edge"), at.get("distance"), graph, record.id)
    is_value = _is_finite(value)
    note = str(told.get("note", ""))
    if not is_value and value is not None and not note:
        note = f"the value was {value}"
    return replace(
        record,
        state=State.OBSERVED if is_value else State.FAILED,
        point=point,
        value=float(value) if is_value else None,  # type: ignore[arg-type]
        noise=float(noise) if _is_finite(noise) and noise > 0 else None,  # type: ignore[arg-type, operator]
        note=note,
    )


def _point(trial: FrozenTrial, place: Mapping[str, Any], graph: MetricGraph) -> Point | None:
    """The place of a trial; the exact distance if it is there, since a fraction rounds."""
    if EDGE not in trial.params or POSITION not in trial.params:
        return None
    edge, fraction = trial.params[EDGE], trial.params[POSITION]
    if "distance" in place:
        return _place(edge, place["distance"], graph, trial.number)
    if not _said(trial, LEASE) and isinstance(edge, int) and 0 <= edge < graph.n_edges:
        return _place(edge, float(fraction) * float(graph.lengths[edge]), graph, trial.number)
    return None


def _place(edge: Any, distance: Any, graph: MetricGraph, number: int) -> Point:
    try:
        return Points([edge], [float(distance)], graph=graph)[0]  # type: ignore[arg-type]
    except (PointError, TypeError, ValueError) as cause:
        raise StudyError(f"trial {number} does not lie on the network of its study: {cause}") from cause


def as_time(value: Any, otherwise: float) -> float:
    """Seconds since 1970, if that is what was written."""
    return float(value) if _is_finite(value) and 0 <= value < LATEST else otherwise


def _said(trial: FrozenTrial, name: str) -> Mapping[str, Any]:
    """An attribute of ours: a mapping, empty if there is none or somebody wrote something else."""
    return _mapping(_mapping(trial.user_attrs).get(name))


def _mapping(value: Any) -> Mapping[str, Any]:
    return value if isinstance(value, dict) else {}


def _is_finite(value: Any) -> bool:
    return isinstance(value, int | float) and not isinstance(value, bool) and math.isfinite(value)


def _number(value: Any) -> int | None:
    return value if isinstance(value, int) and not isinstance(value, bool) else None


def _expiry(
    trial: FrozenTrial, has_place: bool, place: Mapping[str, Any], lease: Mapping[str, Any]
) -> float | None:
    """End of the lease: as renewed; else as handed out, or for the time that computing a place may take."""
    renewed = _said(trial, RENEWED)
    source = renewed or (place if has_place and not place.get("queued") else lease)
    expires = source.get("expires")
    if not source and place.get("queued"):  # taken from the queue by a worker that has not yet signed
        expires = _seconds(trial.datetime_start) + float(place.get("grace", 0.0))
    return float(expires) if expires is not None and _is_finite(expires) else None


def _seconds(time: datetime | None) -> float:
    return math.nan if time is None else time.timestamp()


# What was said of trials after they were finished: Optuna never changes those, so it is kept beside them.

CHANGE = "netbo:change"  # study attributes netbo:change:TRIAL:COUNTER:RANDOM, never overwritten
TELL, CORRECT, WITHDRAW, NOTE = "tell", "correct", "withdraw", "note"

Changes = dict[int, list[dict[str, Any]]]


def change_key(trial: int, counter: int) -> str:
    """A key that no other worker writes, in the order of the changes of a trial."""
    return f"{CHANGE}:{trial}:{counter:06d}:{uuid.uuid4().hex[:12]}"


def read_changes(attributes: Mapping[str, Any], trial: int | None = None) -> Changes:
    """All changes by trial, in their order; or those of one trial."""
    start = f"{CHANGE}:" if trial is None else f"{CHANGE}:{trial}:"
    found: dict[int, list[tuple[str, str, dict[str, Any]]]] = {}
    for key, value in attributes.items():
        if not key.startswith(start) or not isinstance(value, dict):
            continue
        number, _, rest = key.removeprefix(CHANGE + ":").partition(":")
        if number.isdigit():
            counter, _, random = rest.partition(":")
            found.setdefault(int(number), []).append((counter, random, value))
    return {
        trial: [value for *_, value in sorted(each, key=lambda c: c[:2])] for trial, each in found.items()
    }


def overlay(record: Record, changes: list[dict[str, Any]], graph: MetricGraph) -> Record:
    """A record with its changes; one that does not fit its state is passed over."""
    for change in changes:
        kind, is_told = change.get("kind"), record.state in (State.OBSERVED, State.WITHDRAWN)
        if kind == TELL and not is_told:
            ended = as_time(change.get("time"), record.ended)
            record = tell_record(replace(record, ended=ended), change, graph)
        elif kind == CORRECT and (is_told or record.state is State.FAILED):
            told = tell_record(record, change, graph)
            noise = record.noise if told.noise is None else told.noise
            note = record.note if is_told else ""  # why it failed is no longer so
            record = replace(told, noise=noise, point=record.point, note=note)
        elif kind == WITHDRAW and record.state is State.OBSERVED:
            record = replace(record, state=State.WITHDRAWN)
        elif kind == NOTE:
            record = replace(record, note=str(change.get("note", "")))
    return record


# All trials of a study as a table for people.

COLUMNS = (
    "edge", "distance", "value", "noise", "status", "worker", "began", "ended", "asked_edge",
    "asked_distance", "stands_for", "note",
)  # fmt: skip


def trials_table(records: Sequence[Record]) -> pd.DataFrame:
    """One row a trial, by id: where, what, by whom, when (UTC), and whose place it took over."""
    import pandas as pd  # noqa: PLC0415 - a table is for people

    rows = [_row(record) for record in records]
    index = pd.Index([record.id for record in records], name="id", dtype="int64")
    table = pd.DataFrame(rows, columns=list(COLUMNS), index=index, dtype=object)  # ids stay what they are
    table = table.astype(dict.fromkeys(("distance", "value", "noise", "asked_distance"), float))
    for name in ("began", "ended"):
        table[name] = pd.to_datetime(table[name].astype(float), unit="s", utc=True)
    return table.astype({"stands_for": "Int64"})


def _row(record: Record) -> dict[str, Any]:
    point, asked = record.point, record.asked
    return {
        "edge": None if point is None else point.edge_id,
        "distance": math.nan if point is None else point.distance,
        "value": math.nan if record.value is None else record.value,
        "noise": math.nan if record.noise is None else record.noise,
        "status": record.state.value,
        "worker": record.worker,
        "began": record.began,
        "ended": record.ended,
        "asked_edge": None if asked is None else asked.edge_id,
        "asked_distance": math.nan if asked is None else asked.distance,
        "stands_for": record.stands_for,
        "note": record.note,
    }
