"""A study as a server shows it: what others write is noticed, models are computed in a process beside.

Requests read what is here already. One process computes: places that were asked for first, then the model.
"""

from __future__ import annotations

import logging
import signal
import tempfile
import time
from collections.abc import Callable
from concurrent.futures import Future, ProcessPoolExecutor
from concurrent.futures.process import BrokenProcessPool
from contextlib import suppress
from dataclasses import dataclass, field
from hashlib import sha256
from multiprocessing import get_context
from pathlib import Path
from threading import Event, Lock, Thread
from typing import Any, TypeVar

from netbo.errors import ExhaustedError, StudyError
from netbo.geometry import Point
from netbo.optimize.evaluation import one_thread_per_worker
from netbo.page.lines import PageLines
from netbo.page.snapshot import Snapshot, take
from netbo.studies import Crew, State, Study, TrialRecord

_log = logging.getLogger(__name__)
T = TypeVar("T")

POLL = 0.5  # seconds between looks at the storage
TRIES = 3  # at a computation whose process died


@dataclass(frozen=True, slots=True)
class CrewRules:
    """How crews are sent: their lease, budget, and what driving costs; as for `Study.ask`."""

    travel_cost: float = 0.0
    radius: float | None = None
    budget: int | None = None


def marks_of(records: list[TrialRecord]) -> str:
    """What of the trials a model depends on, as a short text."""
    told = [(r.id, r.state.value, r.value, r.noise, r.point and (r.point.edge, r.point.z)) for r in records]
    return sha256(repr(told).encode()).hexdigest()[:16]


def study_document(study: Study) -> dict[str, Any]:
    """What the study is about."""
    return {
        "name": study.name, "title": study.title or study.name, "value_unit": study.value_unit,
        "unit": study.graph.unit, "direction": study.settings.direction, "lease": study.settings.lease,
    }  # fmt: skip


# In the process that computes; it has a study of its own.


@dataclass(slots=True)
class _Beside:
    study: Study
    lines: PageLines


_BESIDE: list[_Beside] = []


def _begin(study: Study) -> None:
    signal.signal(signal.SIGINT, signal.SIG_IGN)  # the server says when it ends
    _BESIDE[:] = [_Beside(study, PageLines.of(study.network))]


def _snapshot() -> Snapshot:
    beside = _BESIDE[0]
    return take(beside.study.optimizer, beside.lines, marks_of(beside.study.records))


def _hand_out(crew: Crew, count: int, rules: CrewRules) -> tuple[list[int], str]:
    """Places until the crew has so many, and why there are not more."""
    study, reason = _BESIDE[0].study, ""
    while sum(record.worker == crew.name for record in study.pending) < count:
        try:
            study.ask(crews=[crew], budget=rules.budget)
        except ExhaustedError as nothing:
            reason = str(nothing)
            break
    return [record.id for record in study.pending if record.worker == crew.name], reason


def _export(suffix: str) -> bytes:
    study = _BESIDE[0].study
    with tempfile.TemporaryDirectory() as folder:
        return study.export(Path(folder) / f"study{suffix}", study.network).read_bytes()


@dataclass(slots=True)
class LiveStudy:
    """Records, version and newest model of a study; start it, and close it at the end."""

    study: Study
    rules: CrewRules = CrewRules()
    lines: PageLines = field(init=False)
    records: list[TrialRecord] = field(default_factory=list)
    changes: dict[int, list[dict[str, Any]]] = field(default_factory=dict)
    version: int = field(default_factory=lambda: int(10 * time.time()))  # rises also over a restart
    snapshot: Snapshot | None = None
    trouble: str | None = None  # why the storage or the model cannot be read just now
    positions: dict[str, Point] = field(default_factory=dict)  # of crews that say where they are
    computing: bool = False
    kept: dict[str, tuple[int, str]] = field(default_factory=dict)  # texts by version, for who asked
    about: dict[str, Any] = field(default_factory=dict)
    _pool: ProcessPoolExecutor | None = None
    _lock: Lock = field(default_factory=Lock)
    _wake: Event = field(default_factory=Event)
    _ends: Event = field(default_factory=Event)
    _tried: str = ""
    _asks: dict[str, tuple[int, Future[tuple[list[int], str]]]] = field(default_factory=dict)
    _documents: dict[str, Any] = field(default_factory=dict)

    def __post_init__(self) -> None:
        self.lines = PageLines.of(self.study.network)

    def start(self) -> None:
        """Read the study, and follow it until `close`."""
        self.refresh()
        Thread(target=self._follow, name="page", daemon=True).start()

    def close(self) -> None:
        """End the process beside."""
        self._ends.set()
        self._wake.set()
        with self._lock:
            if self._pool is not None:
                self._pool.shutdown(wait=False, cancel_futures=True)

    @property
    def is_open(self) -> bool:
        """Whether it is followed; streams end with it."""
        return not self._ends.is_set()

    def refresh(self) -> None:
        """Read what was written; a change makes a new version."""
        study = self.study
        records, changes, about = study.records, study.trial_store.changes(), study_document(study)
        with self._lock:
            known = self.records, self.changes, self.about
            if known == (records, changes, about) and self.trouble is None:
                return
            self.records, self.changes, self.about, self.trouble = records, changes, about, None
            self.version += 1
        self._wake.set()

    def once(self, name: str, make: Callable[[], T]) -> T:
        """What is the same as long as the server runs, made when it is first asked for."""
        if name not in self._documents:
            self._documents[name] = make()
        found: T = self._documents[name]
        return found

    # Computing beside

    def _follow(self) -> None:
        while not self._ends.is_set():
            self._wake.wait(POLL)
            self._wake.clear()
            try:
                self.refresh()
                self._keep_model()
            except Exception as error:  # a storage that is away comes back
                _log.warning("%s", error)
                self._say(f"{type(error).__name__}: {error}")

    def _keep_model(self) -> None:
        marks = marks_of(self.records)
        is_known = marks in (self._tried, self.snapshot and self.snapshot.marks)
        if is_known or self.computing or self._ends.is_set():
            return
        self.computing, self._tried = True, marks
        self.submit(_snapshot).add_done_callback(self._take)

    def _take(self, done: Future[Snapshot]) -> None:
        self.computing = False
        with suppress(Exception):
            if done.cancelled():
                return
        error = done.exception()
        if error is None:
            with self._lock:
                self.snapshot = done.result()
                self.version += 1
                if self.snapshot.marks != self._tried:  # it read the storage before or after we did
                    self._tried = ""
        elif not self._ends.is_set():
            self._say(f"the model could not be computed: {error}")
            self._tried = "" if isinstance(error, BrokenProcessPool) else self._tried
        self._wake.set()

    def _say(self, trouble: str) -> None:
        with self._lock:
            if self.trouble != trouble:
                self.trouble = trouble
                self.version += 1

    def submit(self, work: Callable[..., T], *arguments: Any) -> Future[T]:
        """Compute in the process beside, which is started anew if it died."""
        with self._lock:
            for _ in range(TRIES):
                if self._pool is None:
                    with one_thread_per_worker():
                        self._pool = ProcessPoolExecutor(
                            1, mp_context=get_context("spawn"), initializer=_begin, initargs=(self.study,)
                        )
                try:
                    with one_thread_per_worker():
                        return self._pool.submit(work, *arguments)
                except BrokenProcessPool:
                    self._pool = None
        raise StudyError("the process that computes dies at once; see the log of the server")

    def hand_out(self, name: str, count: int) -> Future[tuple[list[int], str]]:
        """Places for a crew until it has so many; what is on its way already is not asked for again."""
        under_way = self._asks.get(name)
        if under_way is not None and under_way[0] >= count and not under_way[1].done():
            return under_way[1]
        crew = Crew(name, self.positions.get(name), self.rules.travel_cost, self.rules.radius)
        self._asks[name] = count, self.submit(_hand_out, crew, count, self.rules)
        return self._asks[name][1]

    def export(self, suffix: str) -> Future[bytes]:
        """The study as a file for others."""
        return self.submit(_export, suffix)

    def held(self, name: str) -> list[TrialRecord]:
        """Places that a crew has."""
        return [r for r in self.records if r.state is State.PENDING and r.worker == name]
