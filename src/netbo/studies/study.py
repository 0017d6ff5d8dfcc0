"""A study that survives: every trial is in a storage before anybody acts on it."""

from __future__ import annotations

import os
import socket
import uuid
from abc import ABC, abstractmethod
from collections.abc import Iterable, Sequence
from contextlib import suppress
from dataclasses import dataclass
from threading import RLock
from typing import TYPE_CHECKING, Any, Literal, overload

from optuna.exceptions import UpdateFinishedTrialError

from netbo.adapters.network import Network
from netbo.errors import ExhaustedError, ObservationError, ParameterError, StudyError
from netbo.geometry import MetricGraph, Point
from netbo.optimize import Check, Mode, Optimizer, SearchList, Suggestion, Summary
from netbo.optimize.arguments import as_place, as_told
from netbo.optimize.optimizer import Best, Recommendation
from netbo.optimize.travel import Travel
from netbo.optimize.trials import Told
from netbo.posterior import Surrogate
from netbo.studies.definition import Opened, create_study, graph_of, load_study
from netbo.studies.dispatch import Desk, Request, count_places
from netbo.studies.records import CORRECT, NOTE, TOLD_STATES, WITHDRAW, Record, State, trials_table
from netbo.studies.resilience import Clock, SystemClock
from netbo.studies.settings import ASKING_SECONDS, Candidates, StudySettings, require_seconds
from netbo.studies.storages import StorageLike
from netbo.studies.trial_store import Ledger

if TYPE_CHECKING:
    import pandas as pd

    from netbo.optimize.evaluation import Objective
    from netbo.studies.worker import Work


# What is known so far: the answers of an optimizer, from the trials as they are in the storage now.


class Answers(ABC):
    """Answers of whatever has an optimizer and records; ids are the numbers of trials."""

    @property
    @abstractmethod
    def optimizer(self) -> Optimizer:
        """An optimizer with the trials as they are now."""

    @property
    @abstractmethod
    def records(self) -> list[Record]:
        """All trials."""

    @property
    def trials(self) -> pd.DataFrame:
        """All trials as a table."""
        return trials_table(self.records)

    @property
    def posterior(self) -> Surrogate:
        """The objective given the observations, in their own unit and direction."""
        return self.optimizer.posterior

    def best(self) -> Best:
        """The best observation."""
        return self.optimizer.best()

    def recommend(self) -> Recommendation:
        """The candidate with the best posterior mean."""
        return self.optimizer.recommend()

    def modes(
        self, k: int = 3, separation: float | None = None, *, level: float = 0.95, draws: int | None = None
    ) -> list[Mode]:
        """Up to k separate places where the best value may be, each with its probability."""
        return self.optimizer.modes(k, separation, level=level, draws=draws)

    def search_list(self, mass: float = 0.8, *, draws: int | None = None) -> SearchList:
        """The shortest set of stretches that holds `mass` of the probability of the best value."""
        return self.optimizer.search_list(mass, draws=draws)

    def check(self) -> Check:
        """How well the model predicts each value from all others."""
        return self.optimizer.check()

    def summary(self) -> Summary:
        """What is known and how far it can be trusted, to be printed."""
        return self.optimizer.summary()


# Crews that drive from place to place.


@dataclass(frozen=True, slots=True)
class Crew:
    """Who measures: a name, where they are now, and what driving costs them.

    A place is worth its score minus `travel_cost` times the way along the network; beyond `radius` they do
    not go. Without `at` they are where their last trial of the study was; a crew without one may go anywhere.
    """

    name: str
    at: Point | None = None
    travel_cost: float = 0.0  # of one unit of length, in the unit of the acquisition's scores
    radius: float | None = None  # in the unit of the graph

    def __post_init__(self) -> None:
        if not isinstance(self.name, str) or not self.name:
            raise StudyError(f"a crew needs a name, got {self.name!r}; its trials are found by it")

    def travel(self, records: Sequence[Record]) -> Travel | None:
        """The way to the next place, given the trials of the study."""
        start = self.at or last_place(self.name, records)
        if start is None or (self.travel_cost == 0 and self.radius is None):
            return None
        return Travel(start, self.travel_cost, self.radius)


def last_place(name: str, records: Sequence[Record]) -> Point | None:
    """Where the crew's latest trial is or was, told or not."""
    theirs = [record for record in records if record.worker == name and record.point is not None]
    return theirs[-1].point if theirs else None


STUDY: Literal["study"] = "study"  # the lease that the study was made with
_OPEN = (State.PENDING, State.WAITING)
_GIVEN_UP = (State.FAILED, State.CANCELLED, State.EXPIRED, State.RELEASED)

Lease = float | None | Literal["study"]


class Study(Answers):
    """Suggests where to measure next, remembers everything, and shares it with whoever opens the storage.

    Made by `Study.create`, found again by `Study.load`. Every method first reads what others wrote.
    """

    def __init__(self, opened: Opened, *, worker: str | None = None, clock: Clock | None = None) -> None:
        self.name, self.storage = opened.name, opened.storage
        self.network, self.graph = opened.contents.source, opened.contents.graph
        self.settings: StudySettings = opened.contents.settings
        self.network_hash = opened.contents.hash
        self.worker = worker or f"{socket.gethostname()}-{os.getpid()}-{uuid.uuid4().hex[:6]}"
        self.clock: Clock = clock or SystemClock()
        ledger = Ledger(opened.storage, opened.study_id, self.graph, self.clock)
        self._desk = Desk(ledger, opened.optimizer, self.settings.asking_lease)
        self._ledger = ledger
        self._lock = RLock()  # threads of this process take turns; processes do so in the storage

    @classmethod
    def create(
        cls,
        network: Network | MetricGraph,
        *,
        name: str,
        storage: StorageLike | None = None,
        preset: str = "calibrated",
        acquisition: str | None = None,
        candidates: Candidates | str = None,
        design: int | None = None,
        noise: float | None = None,
        direction: str = "maximize",
        seed: int = 0,
        repeats: bool | None = None,
        separation: float = 0.0,
        max_cell: float | None = None,
        lease: float | None = None,
        asking_lease: float = ASKING_SECONDS,
        network_file: str | os.PathLike[str] | None = None,
        resume: bool = False,
        worker: str | None = None,
        clock: Clock | None = None,
    ) -> Study:
        """A new study of a network.

        storage: a path (a journal file, by default NAME.journal), a URL (sqlite:///FILE, postgresql://...,
            grpc://HOST:PORT), or a storage of Optuna's.
        preset, ..., max_cell: as for `Optimizer`, by name and number; design is the size of a maximin design,
            candidates are points, what is forbidden, or "continuum".
        lease: seconds after which a suggestion that was neither told nor renewed goes to somebody else; None,
            as for people who take their time: never.
        asking_lease: seconds that computing a suggestion may take before its worker is taken for dead.
        network_file: a network JSON file to refer to instead of keeping the network in the study.
        resume: go on with the study of this name if there is one; network and settings must be the same.
        worker: a name for who asks; by default host, process and chance.
        """
        options: dict[str, Any] = {
            "preset": preset, "acquisition": acquisition, "design": design, "noise": noise,
            "direction": direction, "seed": seed, "repeats": repeats, "separation": separation,
            "max_cell": max_cell, "lease": lease, "asking_lease": asking_lease,
        }  # fmt: skip
        settings = StudySettings.of(graph_of(network), candidates, **options)
        opened = create_study(
            network, settings, name=name, storage=storage, network_file=network_file, resume=resume
        )
        return cls(opened, worker=worker, clock=clock)

    @classmethod
    def load(
        cls,
        storage: StorageLike,
        name: str | None = None,
        *,
        network: Network | MetricGraph | None = None,
        worker: str | None = None,
        clock: Clock | None = None,
    ) -> Study:
        """A study that exists; its name may be left out where there is only one.

        network: the one it must belong to; by default the one it keeps or refers to.
        """
        return cls(load_study(storage, name, network), worker=worker, clock=clock)

    def __repr__(self) -> str:
        return f"Study({self.name!r}, {self.graph!r}, {self.optimizer.history!r})"

    @property
    def optimizer(self) -> Optimizer:
        """An optimizer with the trials as they are now: for answers, stop rules and pictures."""
        with self._lock:
            self._desk.refresh()
            return self._desk.optimizer

    @property
    def records(self) -> list[Record]:
        """All trials by id, void ones included."""
        with self._lock:
            return self._desk.refresh()

    # Asking

    @overload
    def ask(self, *, lease: Lease = ..., budget: int | None = ...) -> Suggestion: ...
    @overload
    def ask(self, n: int, *, lease: Lease = ..., budget: int | None = ...) -> list[Suggestion]: ...
    @overload
    def ask(
        self, *, crews: Sequence[Crew], lease: Lease = ..., budget: int | None = ...
    ) -> list[Suggestion]: ...
    def ask(
        self,
        n: int | None = None,
        *,
        crews: Sequence[Crew] | None = None,
        lease: Lease = STUDY,
        budget: int | None = None,
    ) -> Suggestion | list[Suggestion]:
        """The next place to measure, or n of them, or one for each crew; they are pending until told.

        What was enqueued comes first, then the places of trials whose lease ran out, then new ones.
        lease: seconds, or None for one that never ends; by default that of the study.
        budget: places handed out in all by anybody; BudgetError if they all are.
        Fewer than n if there are no more; ExhaustedError if there is none.
        """
        seconds = self.settings.lease if lease == STUDY else lease
        require_seconds(seconds, "lease", or_none=True)
        if crews is not None:
            return self._ask_several([self._request(crew, seconds, budget) for crew in _as_crews(crews, n)])
        request = Request(self.worker, seconds, budget)
        if n is None:
            with self._lock:
                return self._desk.serve(request)
        if isinstance(n, bool) or not isinstance(n, int) or n < 1:
            raise ParameterError(f"n counts suggestions, got {n!r}; ask for one or more")
        return self._ask_several([request] * n)

    def _ask_several(self, requests: Sequence[Request]) -> list[Suggestion]:
        with self._lock:
            suggestions = [self._desk.serve(requests[0])]
            with suppress(ExhaustedError):
                suggestions.extend(self._desk.serve(request) for request in requests[1:])
        return suggestions

    def _request(self, crew: Crew, lease: Any, budget: int | None) -> Request:
        return Request(crew.name, lease, budget, crew.travel(self.records))

    def enqueue(self, place: Any) -> int:
        """A place of your own to be handed out next; returns the id it will have."""
        point = self.place(place)
        with self._lock:
            return self._ledger.enqueue(point, grace=self.settings.asking_lease)[0]

    def renew(self, suggestion: Suggestion | int, lease: Lease = STUDY) -> bool:
        """Begin the lease of a pending suggestion anew; False if it is no longer pending."""
        seconds = self.settings.lease if lease == STUDY else lease
        with self._lock:
            record = self._record(suggestion)
            if record.state is not State.PENDING:
                return False
            with suppress(UpdateFinishedTrialError):
                self._ledger.renew(record, None if seconds is None else self.clock.now() + float(seconds))
                return True
        return False

    def release(self, suggestion: Suggestion | int) -> None:
        """Give a pending suggestion back: whoever asks next gets its place."""
        self._close(suggestion, State.RELEASED, (State.PENDING,))

    def release_worker(self, worker: str) -> list[int]:
        """Give back everything a worker holds that is known to be dead, without waiting for its leases."""
        with self._lock:
            held = [r for r in self._ledger.records() if r.worker == worker]
            held = [r for r in held if r.state in (State.PENDING, State.ASKING)]
            for record in held:
                self._ledger.close(record.key, State.RELEASED, f"{worker} is dead")
        return [record.id for record in held]

    def cancel(self, suggestion: Suggestion | int) -> None:
        """Give up a suggestion, pending or enqueued; a value told for it later is still welcome."""
        self._close(suggestion, State.CANCELLED, _OPEN)

    def _close(self, suggestion: Suggestion | int, state: State, allowed: Iterable[State]) -> None:
        with self._lock:
            record = self._record(suggestion)
            if record.state not in allowed:
                raise ObservationError(
                    f"only pending trials can be {state.value}, got trial {record.id}, {record.state.value}; "
                    "withdraw(id) takes a value back"
                )
            self._ledger.close(record.key, state)

    # Telling

    def tell(
        self, suggestion: Suggestion | int, value: Any, noise: Any = None, at: Any = None, *, note: str = ""
    ) -> int:
        """Record what was measured, on the disk when this returns; returns the id.

        value: a number; NaN or "failed" is recorded and not modelled. noise: a variance of its own.
        at: where it was measured, if not where it was asked for. A value for a trial that was cancelled, or
        whose lease ran out, counts all the same.
        """
        told = as_told(value, noise, note)
        point = None if at is None else self.place(at)
        with self._lock:
            record = self._record(suggestion)
            if record.state in _OPEN:
                try:
                    self._ledger.conclude(record, told, point)
                except UpdateFinishedTrialError:  # somebody took us for dead just now, or told it
                    record = self._record(record.id)
                else:
                    return record.id
                if record.state in (State.OBSERVED, State.FAILED) and _says(record, told):
                    # It counts: somebody finished the trial between our writes. Said again, since others
                    # may have read it before our note of the value was there, and finished is read once.
                    self._ledger.tell_late(record.id, told, point)
                    return record.id
            self._tell_late(record, told, point)
        return record.id

    def _tell_late(self, record: Record, told: Told, point: Point | None) -> None:
        if record.state not in _GIVEN_UP:
            raise ObservationError(
                f"trial {record.id} cannot be told: it is {record.state.value}, value {record.value}; "
                "correct(id, value) replaces a value, add_observation(point, value) adds one"
            )
        self._ledger.tell_late(record.id, told, point)

    def add_observation(self, place: Any, value: Any, noise: Any = None, *, note: str = "") -> int:
        """Record a measurement that was never asked for; returns its id."""
        told, point = as_told(value, noise, note), self.place(place)
        with self._lock:
            return self._ledger.observe(point, told)[0]

    def correct(self, suggestion: Suggestion | int, value: Any, noise: Any = None) -> None:
        """Replace the value of a trial that was told; the old one stays in the storage."""
        told = as_told(value, noise)
        if told.value is None:
            raise ObservationError(f"a correction must be a number, got {value!r}; try withdraw(id)")
        said = {"value": told.value} | ({} if told.noise is None else {"noise": told.noise})
        self._change(suggestion, CORRECT, TOLD_STATES, **said)

    def withdraw(self, suggestion: Suggestion | int) -> None:
        """Take a value back: it stays in the record and no longer counts."""
        self._change(suggestion, WITHDRAW, (State.OBSERVED,))

    def note(self, suggestion: Suggestion | int, text: str) -> None:
        """A remark on any trial; the latest is shown."""
        self._change(suggestion, NOTE, tuple(State), note=str(text))

    def _change(self, suggestion: Suggestion | int, kind: str, allowed: Iterable[State], **said: Any) -> None:
        with self._lock:
            record = self._record(suggestion)
            if record.state not in allowed:
                raise ObservationError(
                    f"{kind} needs a trial that was told, got trial {record.id}, {record.state.value}; "
                    "tell(id, value) tells it, cancel(id) gives it up"
                )
            self._ledger.change(record.id, kind, **said)

    # Counting

    @property
    def pending(self) -> list[Record]:
        """Trials handed out and not yet told."""
        return [record for record in self.records if record.state is State.PENDING]

    @property
    def n_told(self) -> int:
        """Evaluations made, failed ones included: what a budget counts when it is spent."""
        return sum(trial.order is not None for trial in self.optimizer.history)

    @property
    def n_handed_out(self) -> int:
        """Evaluations made or under way: what a budget counts when it is asked."""
        return count_places(self.records)

    def work(self, objective: Objective, *, budget: int, **options: Any) -> Work:
        """Evaluate an objective here until the budget of the study is spent; see `netbo.studies.work`."""
        from netbo.studies.worker import work  # noqa: PLC0415 - a study on paper needs no workers

        return work(self, objective, budget=budget, **options)

    # Inside

    def place(self, where: Any) -> Point:
        """A place of the network: a Point, Points of one, or a pair (edge id, distance)."""
        if isinstance(where, tuple) and len(where) == 2:
            return as_place(self.network.points([where[0]], [where[1]]), self.graph)
        return as_place(where, self.graph)

    def _record(self, suggestion: Suggestion | int) -> Record:
        number = suggestion.id if isinstance(suggestion, Suggestion) else suggestion
        is_number = isinstance(number, int) and not isinstance(number, bool) and number >= 0
        record = self._ledger.record(number) if is_number else None
        if record is None:
            n = len(self._ledger.records())
            known = f"0..{n - 1}" if n else "none yet"
            raise ObservationError(f"the trials of {self.name!r} are {known}, got {number!r}; see .trials")
        return record


def _says(record: Record, told: Told) -> bool:
    return (record.value, record.noise, record.note) == (told.value, told.noise, told.note)


def _as_crews(crews: Sequence[Crew], n: int | None) -> Sequence[Crew]:
    listed = list(crews)
    if n is not None or not listed or not all(isinstance(crew, Crew) for crew in listed):
        raise ParameterError(f"crews must be Crew objects, one a suggestion, got n={n!r} and {crews!r:.80}")
    return listed
