"""Trial records: read from a storage, corrected, takeovers collapsed, and shown as a table."""

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
CORRECTION = "netbo:change"  # study attributes netbo:change:TRIAL:COUNTER:RANDOM, never overwritten
TELL, CORRECT, WITHDRAW, NOTE = "tell", "correct", "withdraw", "note"  # kinds of corrections
LATEST = 9e9  # seconds since 1970: tables know no later time
COLUMNS = (
    "edge", "distance", "value", "noise", "status", "worker", "began", "ended", "asked_edge",
    "asked_distance", "stands_for", "note",
)  # fmt: skip

Correction = dict[str, Any]  # kind, time and new values, as they were written


class State(Enum):
    """State of a trial of a study.

    Examples
    --------
    >>> State("pending")
    <State.PENDING: 'pending'>
    """

    ASKING = "asking"  # its point is being computed
    WAITING = "waiting"  # enqueued, not yet handed out
    PENDING = "pending"  # handed out, not yet told
    OBSERVED = "observed"
    FAILED = "failed"  # evaluated without a value
    CANCELLED = "cancelled"  # never to be told
    WITHDRAWN = "withdrawn"  # told, and found to be wrong
    EXPIRED = "expired"  # its lease ran out: its point is handed out again
    RELEASED = "released"  # given back: its point is handed out again
    VOID = "void"  # it never got a point, or repeats what was told under its key


ORPHANED = (State.EXPIRED, State.RELEASED)
TOLD_STATES = (State.OBSERVED, State.FAILED, State.WITHDRAWN)
_CLOSED_STATES = ("cancelled", "expired", "released", "failed", "void")


@dataclass(frozen=True, slots=True)
class TrialRecord:
    """One trial of a study: where, what, by whom and when.

    Examples
    --------
    >>> TrialRecord(0, State.ASKING).point is None
    True
    """

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
    stands_for: int | None = None  # the trial whose point it took over
    key: int = -1  # its number in the storage
    own_key: str | None = None  # the user's name of the measurement, under which it is told once
    told_key: str | None = None  # the same of a value that was told for a suggestion
    told_by: str = ""  # who told it, if that was said


Record = TrialRecord  # the former name, until 1.0


class PointCache:
    """Points of a graph by edge and distance, each made once: pending trials are read again and again."""

    def __init__(self, graph: MetricGraph) -> None:
        self.graph = graph
        self._points: dict[tuple[type, Any, Any], Point] = {}  # by type too: True is no edge 1

    def add(self, point: Point) -> None:
        """Keep a point of the graph that is about to be stored."""
        self._points[(int, int(point.edge), float(point.z))] = point

    def at(self, edge: Any, distance: Any, trial: int) -> Point:
        """Point of a trial; StudyError if it does not lie on the graph."""
        key = (type(edge), edge, distance)
        try:
            if key not in self._points:
                self._points[key] = Points([edge], [float(distance)], graph=self.graph)[0]  # type: ignore[arg-type]
            return self._points[key]
        except (PointError, TypeError, ValueError) as cause:
            raise StudyError(f"trial {trial} does not lie on the network of its study: {cause}") from cause


# Reading one trial: anybody may have written its attributes, so nothing in them is trusted.


def read_record(trial: FrozenTrial, points: PointCache) -> TrialRecord:
    """Record of a stored trial, before corrections."""
    place, lease = _attribute(trial, PLACE), _attribute(trial, LEASE)
    point = _read_point(trial, place, points)
    if point is not None and place.get("seen", trial.number) != trial.number:
        point = None  # computed without knowing a trial that came first
    record = TrialRecord(
        id=trial.number,
        state=State.ASKING if point is None else State.PENDING,
        point=point,
        asked=None if place.get("asked") is False else point,
        worker=str(lease.get("worker", "")),
        expires=_read_expiry(trial, point is not None, place, lease),
        began=_seconds(trial.datetime_start),
        stands_for=_as_number(place.get("stands_for")),
        own_key=place["key"] if isinstance(place.get("key"), str) else None,
        key=trial._trial_id,  # noqa: SLF001 - Optuna hands out keys with new trials only
    )
    return _with_final_state(record, trial, points)


def _with_final_state(record: TrialRecord, trial: FrozenTrial, points: PointCache) -> TrialRecord:
    told, closed = _attribute(trial, TOLD), _attribute(trial, CLOSED)
    ended = as_time(told.get("time"), _seconds(trial.datetime_complete))
    if record.point is None:
        if not trial.state.is_finished():
            return replace(record, state=State.ASKING, ended=ended, note=str(closed.get("note", "")))
        return _without_point(replace(record, state=State.VOID, ended=ended), trial, told, closed)
    if trial.state is TrialState.COMPLETE:
        value = trial.values[0] if isinstance(trial.values, list | tuple) and len(trial.values) == 1 else None
        fields = told if told.get("value") == value else {}
        return with_outcome(replace(record, ended=ended), {**fields, "value": value}, points)
    if told:
        return with_outcome(replace(record, ended=ended), told, points)
    if not trial.state.is_finished():
        return replace(record, state=State.WAITING) if trial.state is TrialState.WAITING else record
    pruned = trial.state is TrialState.PRUNED
    name = str(closed.get("state", State.CANCELLED.value if pruned else State.FAILED.value))
    state = State(name) if name in _CLOSED_STATES else State.FAILED
    return replace(record, state=state, ended=ended, note=str(closed.get("note", "pruned" if pruned else "")))


def _without_point(
    record: TrialRecord, trial: FrozenTrial, told: Mapping[str, Any], closed: Mapping[str, Any]
) -> TrialRecord:
    """A trial that never got a point; a value told for it all the same stays to be seen."""
    value = trial.values[0] if isinstance(trial.values, list | tuple) and trial.values else told.get("value")
    if not _is_finite(value):
        return replace(record, note=str(closed.get("note", "")))
    note = f"told {value}, and its place is not known; add_observation(place, {value}) adds it"
    return replace(record, value=float(value), note=note)  # type: ignore[arg-type]


def with_outcome(record: TrialRecord, told: Mapping[str, Any], points: PointCache) -> TrialRecord:
    """Record with a told value; a value that is not a finite number is a failure."""
    value, noise = told.get("value"), told.get("noise")
    at = _as_mapping(told.get("at"))
    point = record.point if not at else points.at(at.get("edge"), at.get("distance"), record.id)
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
        told_key=told["key"] if isinstance(told.get("key"), str) else record.told_key,
        told_by=told["by"] if isinstance(told.get("by"), str) else record.told_by,
    )


def _read_point(trial: FrozenTrial, place: Mapping[str, Any], points: PointCache) -> Point | None:
    """Point of a trial, by the exact distance where it is stored, since a fraction rounds."""
    if EDGE not in trial.params or POSITION not in trial.params:
        return None
    edge, fraction, graph = trial.params[EDGE], trial.params[POSITION], points.graph
    if "distance" in place:
        return points.at(edge, place["distance"], trial.number)
    if not _attribute(trial, LEASE) and isinstance(edge, int) and 0 <= edge < graph.n_edges:
        return points.at(edge, float(fraction) * float(graph.lengths[edge]), trial.number)
    return None


def _read_expiry(
    trial: FrozenTrial, has_point: bool, place: Mapping[str, Any], lease: Mapping[str, Any]
) -> float | None:
    """End of the lease: as renewed, as handed out, or of the reservation while the point is computed."""
    renewed = _attribute(trial, RENEWED)
    source = renewed or (place if has_point and not place.get("queued") else lease)
    expires = source.get("expires")
    if not source and place.get("queued"):  # claimed from the queue by a worker that has not yet signed
        expires = _seconds(trial.datetime_start) + float(place.get("grace", 0.0))
    return float(expires) if expires is not None and _is_finite(expires) else None


def as_time(value: Any, otherwise: float) -> float:
    """Seconds since 1970 if `value` is a valid time, else `otherwise`."""
    return float(value) if _is_finite(value) and 0 <= value < LATEST else otherwise


def _attribute(trial: FrozenTrial, name: str) -> Mapping[str, Any]:
    """One of our trial attributes; empty if it is missing or not a mapping."""
    return _as_mapping(_as_mapping(trial.user_attrs).get(name))


def _as_mapping(value: Any) -> Mapping[str, Any]:
    return value if isinstance(value, dict) else {}


def _is_finite(value: Any) -> bool:
    return isinstance(value, int | float) and not isinstance(value, bool) and math.isfinite(value)


def _as_number(value: Any) -> int | None:
    return value if isinstance(value, int) and not isinstance(value, bool) else None


def _seconds(time: datetime | None) -> float:
    return math.nan if time is None else time.timestamp()


# Corrections: Optuna never changes finished trials, so what comes later is stored beside them.


def correction_key(trial: int, counter: int) -> str:
    """Unique study attribute key, sorted in the order of the corrections of a trial."""
    return f"{CORRECTION}:{trial}:{counter:06d}:{uuid.uuid4().hex[:12]}"


def read_corrections(attributes: Mapping[str, Any], trial: int | None = None) -> dict[int, list[Correction]]:
    """Corrections by trial, in their order; only those of `trial` if one is given."""
    start = f"{CORRECTION}:" if trial is None else f"{CORRECTION}:{trial}:"
    found: dict[int, list[tuple[str, str, Correction]]] = {}
    for key, value in attributes.items():
        if not key.startswith(start) or not isinstance(value, dict):
            continue
        number, _, rest = key.removeprefix(CORRECTION + ":").partition(":")
        if number.isdigit():
            counter, _, random = rest.partition(":")
            found.setdefault(int(number), []).append((counter, random, value))
    return {
        trial: [value for *_, value in sorted(each, key=lambda c: c[:2])] for trial, each in found.items()
    }


def apply_corrections(
    record: TrialRecord, corrections: Sequence[Correction], points: PointCache
) -> TrialRecord:
    """Record after its corrections; one that does not fit the state is skipped."""
    for correction in corrections:
        kind, is_told = correction.get("kind"), record.state in (State.OBSERVED, State.WITHDRAWN)
        if kind == TELL and not is_told:
            ended = as_time(correction.get("time"), record.ended)
            record = with_outcome(replace(record, ended=ended), correction, points)
        elif kind == CORRECT and (is_told or record.state is State.FAILED):
            told = with_outcome(record, correction, points)
            noise = record.noise if told.noise is None else told.noise
            note = record.note if is_told else ""  # why it failed is no longer so
            record = replace(told, noise=noise, point=record.point, note=note, told_by=record.told_by)
        elif kind == WITHDRAW and record.state is State.OBSERVED:
            record = replace(record, state=State.WITHDRAWN)
        elif kind == NOTE:
            record = replace(record, note=str(correction.get("note", "")))
    return record


def repeated_keys(records: Sequence[TrialRecord]) -> dict[int, int]:
    """Trials that say once more what an earlier one says under the same key, each with that one.

    Of two workers that look for a key at once and find none both may add it; everybody counts the first.
    """
    first: dict[str, TrialRecord] = {}
    repeated = {}
    for record in records:
        if record.own_key is not None:
            known = first.setdefault(record.own_key, record)
            if known is not record and (known.point, known.value) == (record.point, record.value):
                repeated[record.id] = known.id
    return repeated


def collapse_takeovers(records: Sequence[TrialRecord]) -> list[TrialRecord]:
    """One record for each point that was handed out, ordered by its first trial."""
    return list(first_trials(records).values())


def first_trials(records: Sequence[TrialRecord]) -> dict[int, TrialRecord]:
    """The record that stands for each point that was handed out, by its first trial, in their order.

    A trial that took over the point of an expired or released one takes its position too: random streams are
    counted by distinct points, and fantasies at pending points are drawn in their order, so a study goes on
    as if it had not been interrupted.
    """
    root: dict[int, int] = {}
    current: dict[int, TrialRecord] = {}
    for record in records:
        if record.state in (State.ASKING, State.VOID):
            continue
        before = root.get(record.stands_for) if record.stands_for is not None else None
        takes_over = before is not None and current[before].state in ORPHANED
        root[record.id] = before if takes_over and before is not None else record.id
        current[root[record.id]] = record
    return {number: current[number] for number in sorted(current)}


# The table for people


def trials_table(records: Sequence[TrialRecord]) -> pd.DataFrame:
    """DataFrame with one row per trial, indexed by id; times are UTC."""
    import pandas as pd  # noqa: PLC0415 - a table is for people

    rows = [_row(record) for record in records]
    index = pd.Index([record.id for record in records], name="id", dtype="int64")
    table = pd.DataFrame(rows, columns=list(COLUMNS), index=index, dtype=object)  # ids stay what they are
    table = table.astype(dict.fromkeys(("distance", "value", "noise", "asked_distance"), float))
    for name in ("began", "ended"):
        table[name] = pd.to_datetime(table[name].astype(float), unit="s", utc=True)
    return table.astype({"stands_for": "Int64"})


def _row(record: TrialRecord) -> dict[str, Any]:
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
