"""Find where a function of places on a network is largest or smallest: one call, sensible defaults."""

from collections.abc import Callable, Iterable, Sequence
from concurrent.futures import BrokenExecutor, Executor, Future
from contextlib import suppress
from dataclasses import dataclass, field
from math import isnan, nan
from typing import Any, TypeVar, Unpack

from netbo.checks import explained
from netbo.errors import BaseError, ExhaustedError, ObservationError, ParameterError
from netbo.optimize.answers import Result
from netbo.optimize.arguments import Domain, OptimizerOptions, require_options
from netbo.optimize.evaluation import (
    Attempt,
    Failure,
    Objective,
    WrongReturn,
    as_answer,
    as_completed,
    count_workers,
    open_executor,
    require_value,
)
from netbo.optimize.optimizer import Optimizer
from netbo.optimize.stopping import Budget, StopRule
from netbo.optimize.trials import Status, Suggestion, Trial
from netbo.progress import progress_bar

EXHAUSTED = "every candidate was measured"

Callback = Callable[[Optimizer, Trial], object]
Catch = type[BaseException] | tuple[type[BaseException], ...]
T = TypeVar("T")


@explained
def maximize(
    f: Objective,
    graph: Domain,
    *,
    budget: int,
    seed: int = 0,
    executor: Executor | int | None = None,
    workers: int | None = None,
    callbacks: Callback | Iterable[Callback] = (),
    stop: StopRule | Iterable[StopRule] = (),
    catch: Catch = (Exception,),
    progress: bool | None = None,
    **options: Unpack[OptimizerOptions],
) -> Result:
    """Where on a network f is largest, from at most `budget` evaluations.

    An exception that is not in `catch` ends the run and carries what was found so far as its attribute
    `result`; Ctrl-C returns it, with stopped="interrupted".

    Parameters
    ----------
    f : callable
        Receives a Point (.edge_id, .distance, .fraction, .xy) and returns a number, NaN if the measurement
        failed, or a pair (value, noise variance).
    graph : Network, MetricGraph, FiniteElementSpace, Prior, path or object
        Where to look, as for `Optimizer`.
    budget : int
        Evaluations in all; the initial design and failures count.
    seed : int
        Of all randomness.
    executor : concurrent.futures.Executor or int, optional
        Where to evaluate: any executor, or a number of processes of our own (see `process_pool`: f must be
        defined in a module); by default one evaluation after another. A free worker gets the next place at
        once, so with several the history depends on who finishes first.
    workers : int, optional
        Evaluations in flight; by default as many as the executor has.
    callbacks : callable or iterable of callable
        Called as callback(optimizer, trial) after each evaluation.
    stop : stop rule or iterable of stop rules
        Such as Target(3.0), or any function of an optimizer that returns a reason or None. What is under way
        when one fires is awaited.
    catch : exception type or tuple of them
        Exceptions of f that are recorded as failed trials, with the traceback as their note.
    progress : bool, optional
        Whether to show a bar: in the output of a notebook's cell, else on stderr; by default in a notebook
        and in a terminal.
    **options
        Options of the optimizer: preset, acquisition, candidates, design, fit, noise, repeats, separation,
        max_cell, alpha, constant_variance, as for `Optimizer`.

    Returns
    -------
    Result
        Best value, recommendation, modes, pictures; its optimizer can be asked on.

    Raises
    ------
    ParameterError
        An option is outside its domain, or unknown (OptionError).
    ObservationError
        None of the first evaluations gave a value, or f returned no number.

    Examples
    --------
    >>> import netbo
    >>> found = netbo.maximize(lambda x: -((x.distance - 1) ** 2), netbo.interval(3.0), budget=20, noise=0.0)
    >>> round(found.recommend().point.distance, 1)
    1.0
    """
    require_options(options, maximize, "maximize")
    optimizer = Optimizer(graph, direction="maximize", seed=seed, **options)
    return run(
        f, optimizer, budget=budget, executor=executor, workers=workers, callbacks=callbacks, stop=stop,
        catch=catch, progress=progress,
    )  # fmt: skip


@explained
def minimize(
    f: Objective,
    graph: Domain,
    *,
    budget: int,
    seed: int = 0,
    executor: Executor | int | None = None,
    workers: int | None = None,
    callbacks: Callback | Iterable[Callback] = (),
    stop: StopRule | Iterable[StopRule] = (),
    catch: Catch = (Exception,),
    progress: bool | None = None,
    **options: Unpack[OptimizerOptions],
) -> Result:
    """Where on a network f is smallest, from at most `budget` evaluations.

    Parameters
    ----------
    f, graph, budget, seed, executor, workers, callbacks, stop, catch, progress
        As for `maximize`.
    **options
        Options of the optimizer: preset, acquisition, candidates, design, fit, noise, repeats, separation,
        max_cell, alpha, constant_variance, as for `Optimizer`.

    Returns
    -------
    Result
        As of `maximize`.

    Examples
    --------
    >>> import netbo
    >>> found = netbo.minimize(lambda x: (x.distance - 1) ** 2, netbo.interval(3.0), budget=20, noise=0.0)
    >>> round(found.recommend().point.distance, 1)
    1.0
    """
    require_options(options, minimize, "minimize")
    optimizer = Optimizer(graph, direction="minimize", seed=seed, **options)
    return run(
        f, optimizer, budget=budget, executor=executor, workers=workers, callbacks=callbacks, stop=stop,
        catch=catch, progress=progress,
    )  # fmt: skip


@explained
def run(
    f: Objective,
    optimizer: Optimizer,
    *,
    budget: int,
    executor: Executor | int | None = None,
    workers: int | None = None,
    callbacks: Callback | Iterable[Callback] = (),
    stop: StopRule | Iterable[StopRule] = (),
    catch: Catch = (Exception,),
    progress: bool | None = None,
) -> Result:
    """Evaluate f where an optimizer asks, until its history holds `budget` evaluations or a rule says stop.

    An optimizer that has values goes on from them.

    Parameters
    ----------
    f : callable
        As for `maximize`.
    optimizer : Optimizer
        Whom to ask; it has all values afterwards.
    budget : int
        Evaluations in its history, at the end.
    executor, workers, callbacks, stop, catch, progress
        As for `maximize`.

    Returns
    -------
    Result
        Answers of the optimizer, and why the run stopped.

    Examples
    --------
    >>> import netbo
    >>> from netbo.optimize import run
    >>> optimizer = netbo.Optimizer(netbo.interval(3.0), noise=0.0)
    >>> run(lambda x: x.distance, optimizer, budget=3).stopped
    'the budget of 3 evaluations is spent'
    """
    rules = _several(stop, "stop")
    limits = [rule.evaluations for rule in rules if isinstance(rule, Budget)]
    state = LoopState(
        optimizer=optimizer,
        attempt=Attempt(_as_objective(f), _as_types(catch)),
        budget=Budget(min([Budget(budget).evaluations, *limits])),
        workers=count_workers(executor, workers),
        rules=rules,
        callbacks=_several(callbacks, "callbacks"),
    )
    try:
        with (
            open_executor(executor, f) as pool,
            progress_bar(optimizer.direction, state.budget.evaluations, shown=progress) as show,
        ):
            reason = state.complete(pool, lambda: show(*optimizer.standing()))
    except KeyboardInterrupt:
        state.abandon()
        reason = "interrupted"
    except BaseException as error:
        state.abandon()
        _hand_over(error, Result(optimizer, f"{type(error).__name__}: {error}"))
        raise
    return Result(optimizer, reason)


def _hand_over(error: BaseException, result: Result) -> None:
    """Nothing that was measured is lost with an error: it carries the result so far."""
    if isinstance(error, BrokenExecutor):
        error.add_note(
            "a worker ended without an answer: it was killed, ran out of memory, or could not import the "
            "objective; define that in a module, and let a script work under if __name__ == '__main__':"
        )
    error.result = result  # type: ignore[attr-defined]
    error.add_note(f"what was found so far is this error's attribute 'result': {result.optimizer.history!r}")


def _several(given: Callable[..., T] | Iterable[Callable[..., T]], name: str) -> tuple[Callable[..., T], ...]:
    listed = tuple(given) if isinstance(given, Iterable) else (given,)
    for each in listed:
        if not callable(each):
            raise ParameterError(f"{name} must be functions of an optimizer, got {each!r:.80}")
    return listed


def _as_objective(f: Any) -> Objective:
    if not callable(f):
        raise ParameterError(f"f must be a function of a point, got {f!r:.80}; pass the function itself")
    return f  # type: ignore[no-any-return]


def _as_types(catch: Any) -> tuple[type[BaseException], ...]:
    types = catch if isinstance(catch, tuple) else (catch,)
    for each in types:
        if not (isinstance(each, type) and issubclass(each, BaseException)):
            raise ParameterError(
                f"catch must be exception types, got {each!r:.80}; pass () to let every exception end the run"
            )
    return types


@dataclass(slots=True)
class LoopState:
    """One run: suggestions handed out, values taken in as they arrive, an end when there is a reason."""

    optimizer: Optimizer
    attempt: Attempt
    budget: Budget
    workers: int
    rules: Sequence[StopRule] = ()
    callbacks: Sequence[Callback] = ()
    reason: str | None = None  # to hand out no more
    in_flight: dict[Future[Any], Suggestion] = field(default_factory=dict)
    others: frozenset[int] = field(init=False)  # pending trials that were not asked for by this run

    def __post_init__(self) -> None:
        self.others = frozenset(trial.id for trial in self.optimizer.history.pending)

    def complete(self, executor: Executor, show: Callable[[], None]) -> str:
        """Evaluate until there is a reason to stop, and return it; what is under way then is awaited."""
        show()
        self._consult()  # a study that goes on may have reached its end
        for future in as_completed(self.in_flight, lambda: self._fill(executor)):
            self._take(future)
            show()
        return self.reason or ""

    def abandon(self) -> None:
        """Keep the values that are there, and cancel whatever else is pending."""
        for future in list(self.in_flight):
            if not future.cancel() and future.done() and future.exception() is None:
                with suppress(BaseError):  # what cannot be told is cancelled below
                    self._record(future)
        for trial in self.optimizer.history.pending:
            if trial.id not in self.others:
                self.optimizer.cancel(trial.id)

    def _fill(self, executor: Executor) -> None:
        """Hand out suggestions until all workers are busy; without any in flight, say why."""
        while self.reason is None and len(self.in_flight) < self.workers:
            if self.budget.left(self.optimizer) <= len(self.in_flight):
                self.reason = None if self.in_flight else self.budget(self.optimizer)
                return
            try:
                suggestion = self.optimizer.ask()
            except ExhaustedError:
                self.reason = None if self.in_flight else EXHAUSTED
                return
            self.in_flight[executor.submit(self.attempt, suggestion.point)] = suggestion

    def _take(self, future: Future[Any]) -> None:
        trial = self._record(future)
        for callback in self.callbacks:
            callback(self.optimizer, trial)
        self._require_a_value(trial)
        if self.reason is None:
            self._consult()

    def _record(self, future: Future[Any]) -> Trial:
        answer, suggestion = future.result(), self.in_flight[future]
        if isinstance(answer, WrongReturn):
            raise ObservationError(answer.text)
        if isinstance(answer, Failure):
            self.optimizer.tell(suggestion, nan, note=answer.text)
        else:
            value, noise = as_answer(answer)
            self.optimizer.tell(suggestion, value, noise, note="returned NaN" if isnan(value) else "")
        del self.in_flight[future]
        return self.optimizer.history[suggestion.id]

    def _consult(self) -> None:
        """Ask the rules; the first reason ends the run, and what has not begun is called off."""
        if not self.optimizer.history.having(Status.OBSERVED):
            return
        self.reason = next((reason for rule in self.rules if (reason := rule(self.optimizer))), None)
        if self.reason is not None:
            for future in [future for future in self.in_flight if future.cancel()]:
                self.optimizer.cancel(self.in_flight.pop(future))

    def _require_a_value(self, trial: Trial) -> None:
        history = self.optimizer.history
        if trial.status is Status.FAILED and not history.count(Status.OBSERVED):
            failed = len(history.having(Status.FAILED))
            require_value(failed, self.optimizer.design.size, trial.point, trial.note)
