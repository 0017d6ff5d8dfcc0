"""Dispatcher: hands out trials to any number of concurrent workers, each point once.

A worker that asks while no other is active computes a point and creates its trial in one write; if another
trial was created in between, that one is void. Otherwise it reserves a trial first and computes its point
when every trial before it has one or has expired: two workers never get the same point unless the lease of
one has run out.
"""

import logging
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import Any

from optuna.exceptions import UpdateFinishedTrialError

from netbo.checks import require_nonnegative, require_positive, require_text
from netbo.errors import BudgetError, ParameterError, StudyError, shown
from netbo.geometry import Point, Points
from netbo.optimize import Optimizer, Suggestion
from netbo.optimize.travel import Travel
from netbo.studies.history import StudyHistory
from netbo.studies.records import ORPHANED, State, TrialRecord, collapse_takeovers
from netbo.studies.trial_store import TrialStore

_log = logging.getLogger(__name__)

FIRST_PAUSE, LONGEST_PAUSE = 0.005, 0.04  # seconds between polls of a trial that is waited for
ACTIVE = (State.ASKING, State.PENDING)
NEVER_COUNTED = (State.CANCELLED, *ORPHANED)  # towards a budget


@dataclass(frozen=True, slots=True)
class Crew:
    """A measuring crew: its name, where it is, and what driving costs.

    A point is worth its score minus `travel_cost` times its distance along the network; points beyond
    `radius` are not suggested.

    Parameters
    ----------
    name : str
        Found again in the records of its trials.
    at : Point, (edge id, distance) or name of a vertex, optional
        Where the crew is; by default at its last trial, and a crew without one may go anywhere.
    travel_cost : float
        Cost of one unit of length, in the unit of the acquisition's scores.
    radius : float, optional
        In the unit of the graph.

    Raises
    ------
    StudyError
        The name is empty.

    Examples
    --------
    >>> Crew("north", travel_cost=0.1).name
    'north'
    """

    name: str
    at: Any = None
    travel_cost: float = 0.0
    radius: float | None = None

    def __post_init__(self) -> None:
        if not isinstance(self.name, str) or not self.name:
            raise StudyError(f"a crew needs a name, got {shown(self.name)}; its trials are found by it")
        require_text("name", self.name, "its trials are found by it", error=StudyError)
        require_nonnegative("travel_cost", self.travel_cost, "0 lets distances count for nothing")
        if self.radius is not None:
            require_positive("radius", self.radius, "None goes anywhere", kind="a positive length")

    def travel(self, records: Sequence[TrialRecord]) -> Travel | None:
        """Travel constraint of its next trial, given the records of the study."""
        start = self.at or last_point(self.name, records)
        if start is None or (self.travel_cost == 0 and self.radius is None):
            return None
        return Travel(start, self.travel_cost, self.radius)


def last_point(worker: str, records: Sequence[TrialRecord]) -> Point | None:
    """Point of the latest trial of a worker, told or not."""
    points = [record.point for record in records if record.worker == worker and record.point is not None]
    return points[-1] if points else None


def require_crews(crews: Sequence[Crew], n: int | None) -> Sequence[Crew]:
    """Raise ParameterError unless there are crews, and nothing but crews."""
    listed = list(crews) if isinstance(crews, Iterable) else []
    if n is not None or not listed or not all(isinstance(crew, Crew) for crew in listed):
        raise ParameterError(
            f"crews must be Crew objects, one a suggestion, got n={shown(n)} and {shown(crews)}; "
            "make them with Crew(name)"
        )
    return listed


@dataclass(frozen=True, slots=True)
class AskRequest:
    """Who asks, with which lease, budget and travel constraint."""

    worker: str
    lease: float | None = None  # seconds
    budget: int | None = None  # points handed out in all, cancelled ones left out
    travel: Travel | None = None


class ReservationLost(Exception):  # noqa: N818 - no error: a reason to ask again
    """A reserved trial expired while its point was computed."""


@dataclass(slots=True)
class Dispatcher:
    """Hands out the trials of a study; its optimizer follows the storage."""

    store: TrialStore
    optimizer: Optimizer
    asking_lease: float

    def refresh(self) -> list[TrialRecord]:
        """Read all records and update the optimizer's history."""
        records, known = self.store.records(), self.optimizer.history
        now = known.after(records) if isinstance(known, StudyHistory) else StudyHistory(records)
        self.optimizer.replace_history(now)
        return records

    def expire_leases(self, records: Sequence[TrialRecord]) -> bool:
        """Close trials whose lease has run out; True if there were any."""
        self.store.finish_interrupted_tells()
        now = self.store.clock.now()
        expired = [r for r in records if r.state in ACTIVE and r.expires is not None and r.expires < now]
        for record in expired:
            self.store.close(record.key, State.EXPIRED, f"the lease of {record.worker or 'nobody'} ran out")
        return bool(expired)

    def ask(self, request: AskRequest) -> Suggestion:
        """Next trial: from the queue, from an expired or released trial, or at a new point."""
        patience = self.asking_lease
        while True:
            records = self.refresh()
            if self.expire_leases(records):
                continue
            queued = next((record for record in records if record.state is State.WAITING), None)
            if queued is not None:
                found = self._claim_queued(queued, records, request)
            else:
                require_budget(records, request.budget)
                found = self._create_at_once(records, request)
                if found is None:
                    found = self._reserve_in_turn(records, request, patience)
                    patience = self._more_patience(patience, found)
            if found is not None:
                return found

    def _more_patience(self, patience: float, found: Suggestion | None) -> float:
        """Twice the seconds after a reservation was lost: an ask gets through however short the lease."""
        if found is not None:
            return patience
        _log.warning(
            "computing a suggestion took longer than its lease of %g seconds, and others took this worker "
            "for dead; it now takes %g. Make studies with a longer asking_lease", patience, 2 * patience,
        )  # fmt: skip
        return 2 * patience

    def _claim_queued(
        self, queued: TrialRecord, records: list[TrialRecord], request: AskRequest
    ) -> Suggestion | None:
        """Claim an enqueued trial; None if another worker was faster."""
        require_budget([record for record in records if record.state is not State.WAITING], request.budget)
        if queued.point is None or not self.store.claim(queued, self._lease(request, request.lease)):
            return None
        return Suggestion(queued.id, queued.point)

    def _create_at_once(self, records: list[TrialRecord], request: AskRequest) -> Suggestion | None:
        """Create a trial with its point in one write; None if other workers are active."""
        active = (r for r in records if r.state in ACTIVE)
        if any(r.state is State.ASKING or r.worker != request.worker for r in active):
            return None
        point, attributes = self._choose_point(records, request)
        lease = self._lease(request, self.asking_lease)
        number, key = self.store.create(point, lease, seen=len(records), **attributes)
        if number == len(records):
            return Suggestion(number, point)
        self.store.close(key, State.VOID, "another trial came first")
        return None

    def _reserve_in_turn(
        self, records: list[TrialRecord], request: AskRequest, patience: float
    ) -> Suggestion | None:
        """Reserve a trial, wait for those before it, compute its point; None if the reservation expired."""
        if self._orphaned_point(records, request.travel) is None:
            self.optimizer.openings()  # if nothing is left to ask, no trial need be made to find out
        number, key = self.store.reserve(self._lease(request, patience))
        try:
            records = self._await_turn(number, patience)
            require_budget([record for record in records if record.id < number], request.budget)
            point, attributes = self._choose_point(records, request)
            self.store.set_point(key, point, **attributes)
        except (ReservationLost, UpdateFinishedTrialError):
            return None
        except BaseException as error:
            self.store.close(key, State.VOID, f"{type(error).__name__}: {error}")
            raise
        return Suggestion(number, point)

    def _await_turn(self, number: int, patience: float) -> list[TrialRecord]:
        """Poll with backoff until every trial before `number` has its point or has expired."""
        clock, pause = self.store.clock, FIRST_PAUSE
        while True:
            records = self.refresh()
            if self.expire_leases(records):
                continue
            mine = next(record for record in records if record.id == number)
            if mine.state is not State.ASKING:
                raise ReservationLost
            is_next = not any(record.state is State.ASKING and record.id < number for record in records)
            if mine.expires is not None and mine.expires - clock.now() < patience * (0.9 if is_next else 0.5):
                self.store.set_expiry(mine, clock.now() + patience)  # all of it for computing
            if is_next:
                return records
            clock.sleep(pause)
            pause = min(2 * pause, LONGEST_PAUSE)

    def _choose_point(
        self, records: Sequence[TrialRecord], request: AskRequest
    ) -> tuple[Point, dict[str, Any]]:
        """Reuse the point of an orphaned trial, else propose a new one; returns point and attributes."""
        lease, clock = request.lease, self.store.clock
        orphan = self._orphaned_point(records, request.travel)
        point = self.optimizer.propose(request.travel) if orphan is None else orphan[1]
        attributes: dict[str, Any] = {"expires": None if lease is None else clock.now() + lease}
        if orphan is not None:
            attributes["stands_for"] = orphan[0]
        return point, attributes

    def _orphaned_point(
        self, records: Sequence[TrialRecord], travel: Travel | None
    ) -> tuple[int, Point] | None:
        """First expired or released trial within reach, with its point."""
        if not any(record.state in ORPHANED for record in records):
            return None
        for record in collapse_takeovers(records):
            if record.state not in ORPHANED or record.point is None:
                continue
            graph = self.store.graph
            if travel is None or travel.reaches(Points.at(record.point, graph=graph), graph)[0]:
                return record.id, record.point
        return None

    def _lease(self, request: AskRequest, seconds: float | None) -> dict[str, Any]:
        expires = None if seconds is None else self.store.clock.now() + seconds
        return {"worker": request.worker, "expires": expires}


def count_handed_out(records: Sequence[TrialRecord]) -> int:
    """Number of points measured, pending or queued: what a budget counts."""
    return sum(record.state not in NEVER_COUNTED for record in collapse_takeovers(records))


def require_budget(records: Sequence[TrialRecord], budget: int | None) -> None:
    """Raise BudgetError if the budget is handed out."""
    if budget is None:
        return
    handed_out = count_handed_out(records)
    if handed_out >= budget:
        raise BudgetError(
            f"the budget of {budget} evaluations is handed out ({handed_out}); raise it, or cancel what will "
            "never be told"
        )
