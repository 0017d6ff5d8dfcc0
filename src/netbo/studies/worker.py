"""A worker asks a study, evaluates and tells until the budget is spent; a heartbeat keeps its leases."""

from __future__ import annotations

import logging
import time
from collections.abc import Callable, Sequence
from concurrent.futures import FIRST_COMPLETED, Executor, Future, wait
from dataclasses import dataclass, field
from threading import Event, Lock, Thread
from types import TracebackType
from typing import TYPE_CHECKING, Any, Self, TypeVar

from netbo.errors import BudgetError, ExhaustedError, ObservationError
from netbo.optimize import Suggestion
from netbo.optimize.evaluation import Attempt, Inline, Objective, count_workers, require_count
from netbo.optimize.stopping import StopRule
from netbo.studies.evaluation import Evaluation, Evaluator, evaluation_of, evaluator
from netbo.studies.records import Record, State
from netbo.studies.resilience import Interruption, interruption, patiently
from netbo.studies.settings import require_seconds
from netbo.studies.trial_store import Ledger

if TYPE_CHECKING:
    from netbo.studies.study import Study


# A thread that keeps the leases of what is being evaluated.

RENEWALS = 3  # in the time of a lease: two may fail

_log = logging.getLogger(__name__)


class Heartbeat:
    """Renews leases until the block ends; without a lease there is nothing to do."""

    def __init__(self, ledger: Ledger, lease: float | None) -> None:
        require_seconds(lease, "lease", or_none=True)
        self._ledger, self._lease = ledger, lease
        self._keys: dict[int, int] = {}  # in the storage, by trial
        self._guard, self._ended = Lock(), Event()
        self._thread = Thread(target=self._run, name="netbo-heartbeat", daemon=True)

    def __enter__(self) -> Self:
        if self._lease is not None:
            self._thread.start()
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self._ended.set()
        if self._thread.is_alive():
            self._thread.join()

    def add(self, trial: int) -> None:
        """Keep the lease of a trial."""
        key = self._ledger.key_of(trial)
        with self._guard:
            self._keys[trial] = key

    def remove(self, trial: int) -> None:
        """Keep it no longer."""
        with self._guard:
            self._keys.pop(trial, None)

    def beat(self) -> None:
        """Renew every lease once; one that is lost is no longer kept, and its value is told late."""
        with self._guard:
            kept = list(self._keys.items())
        for trial, key in kept:
            if self._lease is not None and not self._ledger.keep(key, self._lease):
                self.remove(trial)

    def _run(self) -> None:
        while not self._ended.wait((self._lease or 0.0) / RENEWALS):
            try:
                self.beat()
            except Exception:  # the storage may be back at the next beat
                _log.warning("leases could not be renewed", exc_info=True)


LEASE = 60.0  # seconds; renewed while the worker lives
PAUSE = 0.2  # seconds between looks at what others are doing
INTERRUPTED = "interrupted"

Callback = Callable[["Study", Record], object]
T = TypeVar("T")

_log = logging.getLogger(__name__)


@dataclass(frozen=True, slots=True)
class Work:
    """What one worker did, and why it stopped."""

    told: int
    failed: int
    stopped: str


def work(
    study: Study,
    objective: Objective,
    *,
    budget: int,
    timeout: float | None = None,
    lease: float | None = LEASE,
    executor: Executor | None = None,
    workers: int | None = None,
    stop: Sequence[StopRule] = (),
    callbacks: Sequence[Callback] = (),
    pause: float = PAUSE,
) -> Work:
    """Evaluate an objective where a study asks, together with whoever else works on it.

    budget: evaluations of the study in all, by anybody, failed ones included.
    timeout: seconds for one evaluation, then it has failed. Here it runs in a process of its own, which is
        killed; in an executor it is given up, and the executor's worker stays busy with it.
    lease: seconds after which others take this worker for dead; a thread renews it. None: never.
    executor: where to evaluate, by default here; Dask's is `client.get_executor()`.
    workers: evaluations at once, by default as many as the executor has.
    stop: rules as in `maximize`. callbacks: called as callback(study, record) after each evaluation.

    An objective that raises, hangs, or returns anything but a finite number has failed, with the reason as
    the note of its trial. SIGINT and SIGTERM give what is being evaluated back to the study. While the
    storage is away it is waited for, and values are kept; what can never be told is logged.
    """
    require_count(budget, "budget")
    require_seconds(pause, "pause")
    ledger = study._ledger
    with (
        interruption() as interrupted,
        Heartbeat(ledger, lease) as heartbeat,
        evaluator(objective, timeout if executor is None else None) as evaluate,
    ):
        shift = Shift(
            study, evaluate if executor is None else Attempt(objective, (Exception,)), budget, lease,
            executor or Inline(), count_workers(executor, workers), timeout, tuple(stop), tuple(callbacks),
            pause, heartbeat, interrupted,
        )  # fmt: skip
        return shift.run()


@dataclass(slots=True)
class Shift:
    """One run of a worker."""

    study: Study
    evaluate: Evaluator | Attempt
    budget: int
    lease: float | None
    executor: Executor
    capacity: int
    timeout: float | None
    rules: Sequence[StopRule]
    callbacks: Sequence[Callback]
    pause: float
    heartbeat: Heartbeat
    interrupted: Interruption
    told: int = 0
    failed: int = 0
    reason: str | None = None
    flying: dict[Future[Any], tuple[Suggestion, float]] = field(default_factory=dict)  # with the time begun

    def run(self) -> Work:
        """Work until there is a reason to stop; what is under way then is awaited, or given back."""
        try:
            self._consult()
            while self.reason is None or self.flying:
                self._fill()
                self._collect()
        except KeyboardInterrupt:
            self.reason = INTERRUPTED
            self._give_back()
        except BaseException:
            self._give_back()
            raise
        return Work(self.told, self.failed, self.reason or "")

    def _fill(self) -> None:
        """Ask until all hands are busy; if there is nothing to do and nobody to wait for, say why."""
        while self.reason is None and len(self.flying) < self.capacity:
            if self.interrupted.requested:
                raise KeyboardInterrupt
            try:
                suggestion = self._patiently(self._ask)
            except ExhaustedError as error:
                if not self.flying and not self._patiently(self._others):
                    self.reason = self._ending(error)
                elif not self.flying:
                    with self.interrupted.allowed():
                        self.study.clock.sleep(self.pause)
                return
            self._submit(suggestion)

    def _patiently(self, action: Callable[[], T]) -> T:
        if not (self.flying or self.told or self.failed):
            return action()  # nothing can be lost yet, and whoever began this is there to see what is wrong
        return patiently(action, self.study.clock, lambda: self.interrupted.requested)

    def _ask(self) -> Suggestion:
        suggestion = self.study.ask(lease=self.lease, budget=self.budget)
        self.heartbeat.add(suggestion.id)
        return suggestion

    def _submit(self, suggestion: Suggestion) -> None:
        placeholder: Future[Any] = Future()  # in flight before it begins: a signal finds it
        self.flying[placeholder] = (suggestion, time.monotonic())
        with self.interrupted.allowed():
            future = self.executor.submit(self.evaluate, suggestion.point)
        self.flying[future] = self.flying.pop(placeholder)

    def _ending(self, error: ExhaustedError) -> str:
        if not isinstance(error, BudgetError):
            return str(error)
        if self.study.n_told >= self.budget:
            return f"the budget of {self.budget} evaluations is spent"
        return f"the budget of {self.budget} evaluations is handed out, the rest to people without a lease"

    def _others(self) -> bool:
        """Whether others are at work who may die: their places would be handed out again."""
        return any(
            record.state is State.ASKING or (record.state is State.PENDING and record.expires is not None)
            for record in self.study.records
        )

    def _collect(self) -> None:
        """Tell what has arrived."""
        if not self.flying:
            return
        with self.interrupted.allowed():
            done, _ = wait(self.flying, timeout=self.pause, return_when=FIRST_COMPLETED)
        for future in sorted(done, key=lambda future: self.flying[future][0].id):
            answer = future.result()
            self._tell(future, answer if isinstance(answer, Evaluation) else evaluation_of(answer))
        for future in self._overdue():
            self._tell(future, Evaluation(None, note=f"timeout: no value within {self.timeout:g} seconds"))

    def _overdue(self) -> list[Future[Any]]:
        if self.timeout is None or isinstance(self.evaluate, Evaluator):
            return []
        now = time.monotonic()
        return [future for future, (_, begun) in self.flying.items() if now - begun > self.timeout]

    def _tell(self, future: Future[Any], found: Evaluation) -> None:
        suggestion = self.flying[future][0]
        self._patiently(lambda: self._deliver(suggestion, found))
        del self.flying[future]
        self.heartbeat.remove(suggestion.id)
        self.told += found.value is not None
        self.failed += found.value is None
        record = self._patiently(lambda: self.study.records[suggestion.id])
        for callback in self.callbacks:
            callback(self.study, record)
        self._consult()

    def _deliver(self, suggestion: Suggestion, found: Evaluation) -> None:
        value = "failed" if found.value is None else found.value
        try:
            self.study.tell(suggestion, value, found.noise, note=found.note)
        except ObservationError:  # written, by a call that the storage did not live to answer
            if self.study.records[suggestion.id].value != found.value:
                raise

    def _consult(self) -> None:
        """Ask the rules; the first reason ends the work."""
        if self.reason is None and self.rules:
            optimizer = self._patiently(lambda: self.study.optimizer)
            if optimizer.history.observed:
                self.reason = next((said for rule in self.rules if (said := rule(optimizer))), None)

    def _give_back(self) -> None:
        """Keep the values that are there; the places of all others are handed out first next time."""
        for future, (suggestion, _) in list(self.flying.items()):
            self.heartbeat.remove(suggestion.id)
            if future.done() and not future.cancelled() and future.exception() is None:
                answer = future.result()
                self._keep(suggestion, answer if isinstance(answer, Evaluation) else evaluation_of(answer))
                continue
            future.cancel()
            try:
                if self.study.records[suggestion.id].state is State.PENDING:
                    self.study.release(suggestion)
            except Exception:  # its lease will run out
                _log.warning("trial %d could not be given back", suggestion.id, exc_info=True)
        self.flying.clear()

    def _keep(self, suggestion: Suggestion, found: Evaluation) -> None:
        """Tell a value at the end of the work, or at least say it."""
        try:
            self._deliver(suggestion, found)
        except Exception:
            _log.exception("trial %d was not told, tell it by hand: %s", suggestion.id, found)
            return
        self.told += found.value is not None
        self.failed += found.value is None
