"""One run: suggestions handed out, answers taken in as they arrive, an end when there is a reason."""

from collections.abc import Callable, Sequence
from concurrent.futures import FIRST_COMPLETED, Executor, Future, wait
from contextlib import suppress
from dataclasses import dataclass, field
from math import isnan, nan
from typing import Any

from netbo.errors import BaseError, ExhaustedError, ObservationError
from netbo.optimize.evaluation import Attempt, Failure, as_answer, last_line
from netbo.optimize.history import Status, Trial
from netbo.optimize.optimizer import Optimizer
from netbo.optimize.stopping import Budget, StopRule
from netbo.optimize.suggestion import Suggestion

EXHAUSTED = "every candidate was measured"
LEAST_TRIES = 5  # evaluations that must all fail before a run is given up, or the design if that is larger

Callback = Callable[[Optimizer, Trial], object]


@dataclass(slots=True)
class Run:
    """What is in flight between an optimizer and an executor."""

    optimizer: Optimizer
    attempt: Attempt
    budget: Budget
    workers: int
    rules: Sequence[StopRule] = ()
    callbacks: Sequence[Callback] = ()
    reason: str | None = None  # to hand out no more
    flying: dict[Future[Any], Suggestion] = field(default_factory=dict)
    others: frozenset[int] = field(init=False)  # pending trials that were not asked for by this run

    def __post_init__(self) -> None:
        self.others = frozenset(trial.id for trial in self.optimizer.history.pending)

    def complete(self, executor: Executor, show: Callable[[], None]) -> str:
        """Evaluate until there is a reason to stop, and return it; what is under way then is awaited."""
        self._consult()  # a study that goes on may have reached its end
        self._fill(executor)
        while self.flying:
            done, _ = wait(self.flying, return_when=FIRST_COMPLETED)
            for future in sorted(done, key=lambda future: self.flying[future].id):
                self._take(future)
                show()
            self._fill(executor)
        return self.reason or ""

    def abandon(self) -> None:
        """Keep the values that are there, and cancel whatever else is pending."""
        for future in list(self.flying):
            if not future.cancel() and future.done() and future.exception() is None:
                with suppress(BaseError):  # what cannot be told is cancelled below
                    self._record(future)
        for trial in self.optimizer.history.pending:
            if trial.id not in self.others:
                self.optimizer.cancel(trial.id)

    def _fill(self, executor: Executor) -> None:
        """Hand out suggestions until all workers are busy; without any in flight, say why."""
        while self.reason is None and len(self.flying) < self.workers:
            if self.budget.left(self.optimizer) <= len(self.flying):
                self.reason = None if self.flying else self.budget(self.optimizer)
                return
            try:
                suggestion = self.optimizer.ask()
            except ExhaustedError:
                self.reason = None if self.flying else EXHAUSTED
                return
            self.flying[executor.submit(self.attempt, suggestion.point)] = suggestion

    def _take(self, future: Future[Any]) -> None:
        trial = self._record(future)
        for callback in self.callbacks:
            callback(self.optimizer, trial)
        self._require_a_value(trial)
        if self.reason is None:
            self._consult()

    def _record(self, future: Future[Any]) -> Trial:
        answer, suggestion = future.result(), self.flying[future]
        if isinstance(answer, Failure):
            self.optimizer.tell(suggestion, nan, note=answer.text)
        else:
            value, noise = as_answer(answer)
            self.optimizer.tell(suggestion, value, noise, note="returned NaN" if isnan(value) else "")
        del self.flying[future]
        return self.optimizer.history[suggestion.id]

    def _consult(self) -> None:
        """Ask the rules; the first reason ends the run, and what has not begun is called off."""
        if not self.optimizer.history.having(Status.OBSERVED):
            return
        self.reason = next((reason for rule in self.rules if (reason := rule(self.optimizer))), None)
        if self.reason is not None:
            for future in [future for future in self.flying if future.cancel()]:
                self.optimizer.cancel(self.flying.pop(future))

    def _require_a_value(self, trial: Trial) -> None:
        history, enough = self.optimizer.history, max(LEAST_TRIES, self.optimizer.design.size)
        failed = len(history.having(Status.FAILED))
        if trial.status is not Status.FAILED or failed < enough or history.having(Status.OBSERVED):
            return
        raise ObservationError(
            f"one of the first {enough} evaluations must give a value, got {failed} failures, the last at "
            f"edge {trial.point.edge_id!r}, {trial.point.distance:.6g}: {last_line(trial.note)}; "
            "call the objective on one point yourself, as in f(graph.points(edge, distance)[0])"
        )
