"""The trials of a study as an optimizer sees them: as if no worker had ever died."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Never

import numpy as np

from netbo.errors import ObservationError, StudyError
from netbo.geometry import Point
from netbo.optimize import History, Status, Trial
from netbo.studies.records import ORPHANED, TOLD_STATES, Record, State

_STATUS = {
    State.WAITING: Status.PENDING,  # it will be measured, so nobody else need go there
    State.PENDING: Status.PENDING,
    State.EXPIRED: Status.PENDING,  # its place is the next to be handed out
    State.RELEASED: Status.PENDING,
    State.OBSERVED: Status.OBSERVED,
    State.FAILED: Status.FAILED,
    State.CANCELLED: Status.CANCELLED,
    State.WITHDRAWN: Status.WITHDRAWN,
}


def settle(records: Sequence[Record]) -> list[Record]:
    """One record for each place that was handed out, in the order of the first that had it.

    A trial that took over the place of a dead one takes its position too: random streams are counted by
    distinct places, and pending places are imagined in their order, so a study goes on as if uninterrupted.
    """
    root: dict[int, int] = {}
    current: dict[int, Record] = {}
    for record in records:
        if record.state in (State.ASKING, State.VOID):
            continue
        before = root.get(record.stands_for) if record.stands_for is not None else None
        takes_over = before is not None and current[before].state in ORPHANED
        root[record.id] = before if takes_over and before is not None else record.id
        current[root[record.id]] = record
    return [current[number] for number in sorted(current)]


class StudyHistory(History):
    """A history read from a storage: ids are the numbers of trials, and only the study changes it."""

    def __init__(self, settled: Sequence[Record] = (), previous: History | None = None) -> None:
        super().__init__()
        told = sorted((record.ended, record.id) for record in settled if record.state in TOLD_STATES)
        order = {number: rank for rank, (_, number) in enumerate(told)}
        known = previous._made if isinstance(previous, StudyHistory) else {}
        self._made: dict[int, tuple[Record, int | None, Trial]] = {}  # spares making them anew
        for record in settled:
            if record.point is None:
                continue  # for the types: settle leaves none
            rank, made = order.get(record.id), known.get(record.id)
            if made is None or made[0] is not record or made[1] != rank:
                made = (record, rank, _trial(record, record.point, rank))
            self._made[record.id] = made
            self._trials.append(made[2])
        self._position = {trial.id: position for position, trial in enumerate(self._trials)}
        self._told = len(order)

    def __getitem__(self, trial_id: int) -> Trial:
        if not isinstance(trial_id, int | np.integer) or int(trial_id) not in self._position:
            raise ObservationError(f"no trial {trial_id!r} has a place of its own in this study; see .trials")
        return self._trials[self._position[int(trial_id)]]

    def _append(self, trial: Trial) -> Never:
        raise StudyError("this history is that of a study, got a new trial; call the study's ask or tell")

    def _replace(self, trial: Trial) -> Never:
        raise StudyError("this history is that of a study, got a change; call the study's own method")


def _trial(record: Record, point: Point, order: int | None) -> Trial:
    return Trial(
        id=record.id,
        point=point,
        status=_STATUS[record.state],
        asked=record.asked,
        value=record.value,
        noise=record.noise,
        order=order,
        note=record.note,
    )
