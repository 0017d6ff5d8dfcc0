"""Handing out trials to however many workers ask at once.

Whoever asks while nobody else is at work computes a place and creates its trial in one write; if another
trial came in between, that one is void. Otherwise a trial is reserved first, and its place is computed when
every trial before it has one or is dead: two workers never get the same place unless one is taken for dead.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, Never

import numpy as np
from optuna.exceptions import UpdateFinishedTrialError

from netbo.errors import BudgetError, ObservationError, StudyError
from netbo.geometry import Point, Points
from netbo.optimize import History, Optimizer, Status, Suggestion, Trial
from netbo.optimize.travel import Travel
from netbo.studies.records import ORPHANED, TOLD_STATES, Record, State
from netbo.studies.trial_store import Ledger

# The trials of a study as an optimizer sees them: as if no worker had ever died.

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


FIRST_PAUSE, LONGEST_PAUSE = 0.005, 0.04  # seconds between looks at a trial that is waited for
OPEN = (State.ASKING, State.PENDING)
NEVER_COUNTED = (State.CANCELLED,)  # towards a budget


@dataclass(frozen=True, slots=True)
class Request:
    """Who asks, and on what terms."""

    worker: str
    lease: float | None = None  # seconds
    budget: int | None = None  # places handed out in all, cancelled ones left out
    travel: Travel | None = None


class Overtaken(Exception):  # noqa: N818 - no error: a reason to ask again
    """The trial was taken for dead while its place was computed."""


@dataclass(slots=True)
class Desk:
    """Where places are handed out."""

    ledger: Ledger
    optimizer: Optimizer
    asking_lease: float

    def refresh(self) -> list[Record]:
        """All records; the optimizer's history follows them."""
        records = self.ledger.records()
        self.optimizer.replace_history(StudyHistory(settle(records), self.optimizer.history))
        return records

    def reap(self, records: Sequence[Record]) -> bool:
        """Close trials whose lease has run out; True if there were any."""
        self.ledger.finish_half_told()
        now = self.ledger.clock.now()
        dead = [r for r in records if r.state in OPEN and r.expires is not None and r.expires < now]
        for record in dead:
            self.ledger.close(record.key, State.EXPIRED, f"the lease of {record.worker or 'nobody'} ran out")
        return bool(dead)

    def serve(self, request: Request) -> Suggestion:
        """The next place: from the queue, from the dead, or a new one."""
        while True:
            records = self.refresh()
            if self.reap(records):
                continue
            queued = next((record for record in records if record.state is State.WAITING), None)
            if queued is not None:
                found = self._from_queue(queued, records, request)
            else:
                require_budget(records, request.budget)
                found = self._alone(records, request) or self._in_turn(records, request)
            if found is not None:
                return found

    def _from_queue(self, queued: Record, records: list[Record], request: Request) -> Suggestion | None:
        """A place that a user asked to measure; None if somebody else was faster."""
        require_budget([record for record in records if record.state is not State.WAITING], request.budget)
        if queued.point is None or not self.ledger.take(queued, self._lease(request, request.lease)):
            return None
        return Suggestion(queued.id, queued.point)

    def _alone(self, records: list[Record], request: Request) -> Suggestion | None:
        """A trial with its place in one write; None if there are others."""
        busy = (r for r in records if r.state in OPEN)
        if any(r.state is State.ASKING or r.worker != request.worker for r in busy):
            return None
        point, said = self._choose(records, request)
        lease = self._lease(request, self.asking_lease)
        number, key = self.ledger.create(point, lease, seen=len(records), **said)
        if number == len(records):
            return Suggestion(number, point)
        self.ledger.close(key, State.VOID, "another trial came first")
        return None

    def _in_turn(self, records: list[Record], request: Request) -> Suggestion | None:
        """Reserve a trial, wait for those before it, and compute its place; None if that took too long."""
        if self._orphan(records, request.travel) is None:
            self.optimizer.openings()  # if nothing is left to ask, no trial need be made to find out
        number, key = self.ledger.reserve(self._lease(request, self.asking_lease))
        try:
            records = self._await_turn(number)
            require_budget([record for record in records if record.id < number], request.budget)
            point, said = self._choose(records, request)
            self.ledger.place(key, point, **said)
        except (Overtaken, UpdateFinishedTrialError):
            return None
        except BaseException as error:
            self.ledger.close(key, State.VOID, f"{type(error).__name__}: {error}")
            raise
        return Suggestion(number, point)

    def _await_turn(self, number: int) -> list[Record]:
        """All records, once every trial before `number` has its place or is dead."""
        clock, pause = self.ledger.clock, FIRST_PAUSE
        while True:
            records = self.refresh()
            if self.reap(records):
                continue
            mine = next(record for record in records if record.id == number)
            if mine.state is not State.ASKING:
                raise Overtaken
            if not any(record.state is State.ASKING and record.id < number for record in records):
                return records
            if mine.expires is not None and mine.expires - clock.now() < self.asking_lease / 2:
                self.ledger.renew(mine, clock.now() + self.asking_lease)
            clock.sleep(pause)
            pause = min(2 * pause, LONGEST_PAUSE)

    def _choose(self, records: Sequence[Record], request: Request) -> tuple[Point, dict[str, Any]]:
        """A place of the dead first, else a new one; and what is said of it."""
        lease, clock = request.lease, self.ledger.clock
        orphan = self._orphan(records, request.travel)
        point = self.optimizer.propose(request.travel) if orphan is None else orphan[1]
        said: dict[str, Any] = {"expires": None if lease is None else clock.now() + lease}
        if orphan is not None:
            said["stands_for"] = orphan[0]
        return point, said

    def _orphan(self, records: Sequence[Record], travel: Travel | None) -> tuple[int, Point] | None:
        if not any(record.state in ORPHANED for record in records):
            return None
        for record in settle(records):
            if record.state not in ORPHANED or record.point is None:
                continue
            graph = self.ledger.graph
            if travel is None or travel.reaches(Points.at(record.point, graph=graph), graph)[0]:
                return record.id, record.point
        return None

    def _lease(self, request: Request, seconds: float | None) -> dict[str, Any]:
        expires = None if seconds is None else self.ledger.clock.now() + seconds
        return {"worker": request.worker, "expires": expires}


def count_places(records: Sequence[Record]) -> int:
    """Places that were measured or are to be, the dead left out: what a budget counts."""
    left_out = (*NEVER_COUNTED, *ORPHANED)
    return sum(record.state not in left_out for record in settle(records))


def require_budget(records: Sequence[Record], budget: int | None) -> None:
    """Refuse to hand out more than the budget."""
    if budget is None:
        return
    handed_out = count_places(records)
    if handed_out >= budget:
        raise BudgetError(
            f"the budget of {budget} evaluations is handed out ({handed_out}); raise it, or cancel what will "
            "never be told"
        )
