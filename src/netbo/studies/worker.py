"""Worker: asks a study, evaluates and tells until the budget is spent; a heartbeat renews its leases."""

from __future__ import annotations

import logging
import time
from collections.abc import Callable, Sequence
from concurrent.futures import Executor, Future
from dataclasses import dataclass, field
from threading import Event, Lock, Thread
from types import TracebackType
from typing import TYPE_CHECKING, Any, Self, TypeVar

from netbo.checks import require_count
from netbo.errors import BudgetError, ExhaustedError, ObservationError, ParameterError, shown
from netbo.optimize import StopRule, Suggestion
from netbo.optimize.evaluation import (
    Attempt,
    Inline,
    Objective,
    count_workers,
    first_completed,
    require_value,
)
from netbo.progress import Show, notebook_display, progress_bar
from netbo.studies.evaluation import Evaluation, Evaluator, as_evaluation, evaluator
from netbo.studies.records import State, TrialRecord
from netbo.studies.resilience import DeferredInterrupt, deferred_interrupts, retry_while_unavailable
from netbo.studies.settings import require_seconds
from netbo.studies.trial_store import TrialStore

if TYPE_CHECKING:
    from netbo.studies.study import Study

LEASE = 60.0  # seconds; renewed while the worker lives
SHORT_LEASE = 5.0  # seconds; a busy machine may be late by one or two
RENEWALS = 3  # in the time of a lease: two may fail
PAUSE = 0.2  # seconds between polls of what others are doing
INTERRUPTED = "interrupted"

Callback = Callable[["Study", TrialRecord], object]
T = TypeVar("T")

_log = logging.getLogger(__name__)


class Heartbeat:
    """Thread that renews the leases of running evaluations until the block ends."""

    def __init__(self, store: TrialStore, lease: float | None) -> None:
        require_seconds(lease, "lease", or_none=True)
        self._store, self._lease = store, lease
        if lease is not None and lease < SHORT_LEASE:
            _log.warning(
                "a lease of %g seconds is short: on a busy machine it may run out while its worker lives, "
                "and others would measure there too; %g or more is safe", lease, SHORT_LEASE,
            )  # fmt: skip
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
        """Start renewing the lease of a trial."""
        key = self._store.key_of(trial)
        with self._guard:
            self._keys[trial] = key

    def remove(self, trial: int) -> None:
        """Stop renewing it."""
        with self._guard:
            self._keys.pop(trial, None)

    def beat(self) -> None:
        """Renew every lease once; one that was lost is dropped, and its value is told late."""
        with self._guard:
            held = list(self._keys.items())
        for trial, key in held:
            if self._lease is not None and not self._store.renew_lease(key, self._lease):
                self.remove(trial)

    def _run(self) -> None:
        while not self._ended.wait((self._lease or 0.0) / RENEWALS):
            try:
                self.beat()
            except Exception:  # the storage may be back at the next one
                _log.warning("leases could not be renewed", exc_info=True)


@dataclass(frozen=True, slots=True)
class WorkSummary:
    """Evaluations of one worker, and why it stopped.

    Examples
    --------
    >>> WorkSummary(told=9, failed=1, stopped="the budget of 10 evaluations is spent").told
    9
    """

    told: int  # with a value
    failed: int  # without one
    stopped: str


Work = WorkSummary  # the former name, until 1.0


@dataclass(slots=True)
class WorkerRun:
    """State of one call of `work`."""

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
    interrupted: DeferredInterrupt
    first: int  # number of trials when it began
    told: int = 0
    failed: int = 0
    reason: str | None = None
    show: Show | None = None  # how far the study has come
    in_flight: dict[Future[Any], tuple[Suggestion, float]] = field(default_factory=dict)  # and time begun

    def until_stopped(self) -> WorkSummary:
        """Evaluate until there is a reason to stop; what is in flight then is awaited, or released."""
        try:
            self._show_progress()
            self._check_stop_rules()
            while self.reason is None or self.in_flight:
                self._ask_until_full()
                self._collect()
        except KeyboardInterrupt:
            self.reason = INTERRUPTED
            self._release_all()
        except BaseException:
            self._release_all()
            raise
        return WorkSummary(self.told, self.failed, self.reason or "")

    def _ask_until_full(self) -> None:
        """Keep `capacity` evaluations in flight; set the reason if nothing is left and no worker active."""
        while self.reason is None and len(self.in_flight) < self.capacity:
            if self.interrupted.requested:
                raise KeyboardInterrupt
            try:
                suggestion = self._retry(self._ask)
            except ExhaustedError as error:
                if not self.in_flight and not self._retry(self._others_at_work):
                    self.reason = self._stop_reason(error)
                elif not self.in_flight:
                    with self.interrupted.allowed():
                        self.study.clock.sleep(self.pause)
                return
            self._submit(suggestion)

    def _retry(self, action: Callable[[], T]) -> T:
        """Retry an action while the storage is unavailable, once there is something to lose."""
        if not (self.in_flight or self.told or self.failed):
            return action()  # whoever began this is still there to see what is wrong
        return retry_while_unavailable(action, self.study.clock, lambda: self.interrupted.requested)

    def _ask(self) -> Suggestion:
        suggestion = self.study.ask(lease=self.lease, budget=self.budget)
        self.heartbeat.add(suggestion.id)
        return suggestion

    def _submit(self, suggestion: Suggestion) -> None:
        placeholder: Future[Any] = Future()  # in flight before it begins: a signal releases it
        self.in_flight[placeholder] = (suggestion, time.monotonic())
        with self.interrupted.allowed():
            future = self.executor.submit(self.evaluate, suggestion.point)
        self.in_flight[future] = self.in_flight.pop(placeholder)

    def _stop_reason(self, error: ExhaustedError) -> str:
        if not isinstance(error, BudgetError):
            return str(error)
        if self.study.n_told >= self.budget:
            return f"the budget of {self.budget} evaluations is spent"
        return f"the budget of {self.budget} evaluations is handed out, the rest to people without a lease"

    def _others_at_work(self) -> bool:
        """Whether other workers hold leases that may run out: their points would be handed out again."""
        return any(
            record.state is State.ASKING or (record.state is State.PENDING and record.expires is not None)
            for record in self.study.records
        )

    def _collect(self) -> None:
        """Tell what has completed or timed out."""
        if not self.in_flight:
            return
        with self.interrupted.allowed():
            done = first_completed(self.in_flight, self.pause)
        for future in done:
            self._tell(future, as_evaluation(future.result()))
        for future in self._overdue():
            self._tell(future, Evaluation(None, note=f"timeout: no value within {self.timeout:g} seconds"))

    def _overdue(self) -> list[Future[Any]]:
        if self.timeout is None or isinstance(self.evaluate, Evaluator):
            return []
        now = time.monotonic()
        return [future for future, (_, begun) in self.in_flight.items() if now - begun > self.timeout]

    def _tell(self, future: Future[Any], found: Evaluation) -> None:
        suggestion = self.in_flight[future][0]
        self._retry(lambda: self._tell_once(suggestion, found))
        del self.in_flight[future]
        self.heartbeat.remove(suggestion.id)
        self.told += found.value is not None
        self.failed += found.value is None
        record = self._retry(lambda: self.study.records[suggestion.id])
        for callback in self.callbacks:
            callback(self.study, record)
        self._show_progress()
        if record.state is State.FAILED and not self.told:
            self._require_a_value(record)
        self._check_stop_rules()

    def _tell_once(self, suggestion: Suggestion, found: Evaluation) -> None:
        """Tell a value; one that an unanswered call has written already is not told twice."""
        value = "failed" if found.value is None else found.value
        try:
            self.study.tell(suggestion, value, found.noise, note=found.note)
        except ObservationError:  # perhaps written by a call that was never answered
            if self.study.records[suggestion.id].value != found.value:
                raise

    def _require_a_value(self, last: TrialRecord) -> None:
        """Give up an objective that only fails, here or, while the study has no value, with all workers."""
        design = self._retry(lambda: self.study.optimizer).design.size
        states = [record.state for record in self._retry(lambda: self.study.records)]
        together = 0 if State.OBSERVED in states else states[self.first :].count(State.FAILED)
        if last.point is not None:
            require_value(max(self.failed, together), design, last.point, last.note)

    def _show_progress(self) -> None:
        if self.show is not None:
            self.show(*self._retry(lambda: self.study.optimizer).standing())

    def _check_stop_rules(self) -> None:
        """Set the reason from the first stop rule that gives one."""
        if self.reason is None and self.rules:
            optimizer = self._retry(lambda: self.study.optimizer)
            if optimizer.history.observed:
                self.reason = next((said for rule in self.rules if (said := rule(optimizer))), None)

    def _release_all(self) -> None:
        """Tell completed evaluations and release the others: their points are the next to be handed out."""
        for future, (suggestion, _) in list(self.in_flight.items()):
            self.heartbeat.remove(suggestion.id)
            if future.done() and not future.cancelled() and future.exception() is None:
                self._tell_or_log(suggestion, as_evaluation(future.result()))
                continue
            future.cancel()
            try:
                if self.study.records[suggestion.id].state is State.PENDING:
                    self.study.release(suggestion)
            except Exception:  # its lease will run out
                _log.warning("trial %d could not be given back", suggestion.id, exc_info=True)
        self.in_flight.clear()

    def _tell_or_log(self, suggestion: Suggestion, found: Evaluation) -> None:
        """Tell a value, or log it if that is impossible."""
        try:
            self._tell_once(suggestion, found)
        except Exception:
            _log.exception("trial %d was not told, tell it by hand: %s", suggestion.id, found)
            return
        self.told += found.value is not None
        self.failed += found.value is None


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
    progress: bool | None = None,
) -> WorkSummary:
    """Evaluate an objective where a study asks, together with all other workers of the study.

    An objective that raises, hangs, or returns anything but a finite number has failed, with the reason as
    the note of its trial; one that only fails, five times or as often as the design has places, is given up.
    SIGINT and SIGTERM release what is being evaluated. While the storage is
    unavailable it is retried and values are kept; a value that can never be told is logged.

    Parameters
    ----------
    study : Study
        Where to ask and tell.
    objective : callable
        Function of a `Point` that returns a value or a pair (value, noise variance).
    budget : int
        Evaluations of the study in all, by any worker, failed ones included.
    timeout : float, optional
        Seconds for one evaluation. Without an executor it runs in a process that is killed; in an
        executor it is given up, and the executor's worker stays busy with it.
    lease : float or None
        Seconds after which others take this worker for dead; a thread renews it. None: never.
    executor : concurrent.futures.Executor, optional
        Where to evaluate, by default in this process; Dask's is `client.get_executor()`.
    workers : int, optional
        Evaluations in flight, by default as many as the executor has.
    stop : sequence of StopRule
        As in `maximize`.
    callbacks : sequence of callable
        Called as callback(study, record) after each evaluation.
    pause : float
        Seconds between polls of what others are doing.
    progress : bool, optional
        Whether to show how far the study has come, as in `maximize`; by default in a notebook only.

    Returns
    -------
    WorkSummary

    Raises
    ------
    ParameterError, StudyError
        The options are wrong; nothing was asked.
    ObservationError
        None of the first evaluations gave a value; the failures are in the study.

    Examples
    --------
    >>> import netbo, optuna
    >>> storage = optuna.storages.InMemoryStorage()
    >>> study = netbo.Study.create(netbo.interval(2.0), name="leak", storage=storage, noise=0.0)
    >>> work(study, lambda point: -((point.distance - 0.5) ** 2), budget=2)
    WorkSummary(told=2, failed=0, stopped='the budget of 2 evaluations is spent')
    """
    require_count("budget", budget, "count the evaluations you can afford")
    require_seconds(pause, "pause")
    for name, given in (("stop", stop), ("callbacks", callbacks)):
        if not isinstance(given, Sequence) or not all(map(callable, given)):
            raise ParameterError(f"{name} must be a list of functions, got {shown(given)}; () has none")
    if executor is not None and not callable(getattr(executor, "submit", None)):
        raise ParameterError(
            f"executor must have submit(function, point), got {shown(executor)}; leave it out"
        )
    is_shown = notebook_display() is not None if progress is None else progress
    with (
        progress_bar(study.name, budget, shown=is_shown) as show,
        deferred_interrupts() as interrupted,
        Heartbeat(study.trial_store, lease) as heartbeat,
        evaluator(objective, timeout if executor is None else None) as evaluate,
    ):
        run = WorkerRun(
            study, evaluate if executor is None else Attempt(objective, (Exception,)), budget, lease,
            executor or Inline(), count_workers(executor, workers), timeout, tuple(stop), tuple(callbacks),
            pause, heartbeat, interrupted, len(study.records), show=show if is_shown else None,
        )  # fmt: skip
        return run.until_stopped()
