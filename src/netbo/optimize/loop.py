"""Find where a function of places on a network is largest or smallest: one call, sensible defaults."""

from collections.abc import Callable, Iterable
from concurrent.futures import BrokenExecutor, Executor
from typing import Any, TypeVar

from netbo.acquisition import Acquisition
from netbo.errors import ParameterError
from netbo.geometry import Points
from netbo.optimize.candidates import Forbidden, SearchSpace
from netbo.optimize.design import Design
from netbo.optimize.domain import Domain
from netbo.optimize.evaluation import Attempt, Objective
from netbo.optimize.executors import count_workers, open_executor
from netbo.optimize.learning import Learning
from netbo.optimize.optimizer import Optimizer
from netbo.optimize.presets import CALIBRATED, Preset
from netbo.optimize.progress import progress_bar
from netbo.optimize.result import Result
from netbo.optimize.running import Callback, Run
from netbo.optimize.stopping import Budget, StopRule

Catch = type[BaseException] | tuple[type[BaseException], ...]
T = TypeVar("T")


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
    preset: Preset | str = CALIBRATED,
    acquisition: Acquisition | str | None = None,
    candidates: SearchSpace | Points | Forbidden | None = None,
    design: Design | None = None,
    fit: Learning | None = None,
    noise: float | None = None,
    repeats: bool | None = None,
    separation: float = 0.0,
    max_cell: float | None = None,
) -> Result:
    """Where on a network f is largest, from at most `budget` evaluations.

    f: receives a Point (.edge_id, .distance, .fraction, .xy) and returns a number, NaN if the measurement
        failed, or a pair (value, noise variance).
    budget: evaluations in all; the initial design and failures count.
    executor: any concurrent.futures.Executor, or a number of processes of our own (see `process_pool`: f must
        be defined in a module); by default one evaluation after another. A free worker gets the next place at
        once, so with several the history depends on who finishes first.
    workers: evaluations in flight, by default as many as the executor has.
    callbacks: called as callback(optimizer, trial) after each evaluation.
    stop: rules such as Target(3.0), or any function of an optimizer that returns a reason or None. What is
        under way when one fires is awaited.
    catch: exceptions of f that are recorded as failed trials, with the traceback as their note.
    progress: whether to show a bar on stderr; by default if that is a terminal.
    preset, ..., max_cell: as for `Optimizer`.

    Any other exception ends the run and carries what was found so far as its attribute `result`; Ctrl-C
    returns it, with stopped="interrupted".

    >>> import netbo
    >>> found = netbo.maximize(lambda x: -((x.distance - 1) ** 2), netbo.interval(3.0), budget=20, noise=0.0)
    >>> round(found.recommend().point.distance, 1)
    1.0
    """
    optimizer = Optimizer(
        graph, preset=preset, acquisition=acquisition, candidates=candidates, design=design, fit=fit,
        noise=noise, direction="maximize", seed=seed, repeats=repeats, separation=separation,
        max_cell=max_cell,
    )  # fmt: skip
    return run(
        f, optimizer, budget=budget, executor=executor, workers=workers, callbacks=callbacks, stop=stop,
        catch=catch, progress=progress,
    )  # fmt: skip


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
    preset: Preset | str = CALIBRATED,
    acquisition: Acquisition | str | None = None,
    candidates: SearchSpace | Points | Forbidden | None = None,
    design: Design | None = None,
    fit: Learning | None = None,
    noise: float | None = None,
    repeats: bool | None = None,
    separation: float = 0.0,
    max_cell: float | None = None,
) -> Result:
    """Where on a network f is smallest; everything else as in `maximize`."""
    optimizer = Optimizer(
        graph, preset=preset, acquisition=acquisition, candidates=candidates, design=design, fit=fit,
        noise=noise, direction="minimize", seed=seed, repeats=repeats, separation=separation,
        max_cell=max_cell,
    )  # fmt: skip
    return run(
        f, optimizer, budget=budget, executor=executor, workers=workers, callbacks=callbacks, stop=stop,
        catch=catch, progress=progress,
    )  # fmt: skip


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

    Options as in `maximize`. An optimizer that has values goes on from them.
    """
    rules = _several(stop, "stop")
    limits = [rule.evaluations for rule in rules if isinstance(rule, Budget)]
    running = Run(
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
            progress_bar(optimizer, running.budget, shown=progress) as show,
        ):
            reason = running.complete(pool, show)
    except KeyboardInterrupt:
        running.abandon()
        reason = "interrupted"
    except BaseException as error:
        running.abandon()
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
