"""What was said of trials after they were finished: Optuna never changes those, so it is kept beside them."""

from __future__ import annotations

import uuid
from collections.abc import Mapping
from dataclasses import replace
from typing import Any

from netbo.geometry import MetricGraph
from netbo.studies.records import Record, State, as_time, tell_record

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
