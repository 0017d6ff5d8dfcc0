"""One evaluation of the objective, and where evaluations run: here or in any executor."""

from __future__ import annotations

import logging
import os
import pickle
import sys
import time
import traceback
from collections.abc import Callable, Iterator, Mapping, Sequence
from concurrent.futures import FIRST_COMPLETED, Executor, Future, wait
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from numbers import Real
from threading import Thread
from typing import TYPE_CHECKING, Any, ParamSpec, TypeVar

import numpy as np

from netbo.checks import explained, require_count
from netbo.errors import ObservationError, ParameterError, shown
from netbo.geometry import Point
from netbo.wording import counted, length

if TYPE_CHECKING:
    from concurrent.futures import ProcessPoolExecutor
    from multiprocessing.process import BaseProcess


P = ParamSpec("P")
T = TypeVar("T")
THREADS = ("OPENBLAS_NUM_THREADS", "OMP_NUM_THREADS", "MKL_NUM_THREADS", "NUMBA_NUM_THREADS")  # who obeys
LEAST_TRIES = 5  # evaluations that must all fail before a run is given up, or the design if that is larger
GRACE = 5.0  # seconds for an objective that cleans up when it is told to end
KILLED = 60.0  # seconds for the system to take away what was killed; more only if the system is stuck

_log = logging.getLogger(__name__)


class Inline(Executor):
    """Runs each call at once, in the caller's thread."""

    def submit(self, fn: Callable[P, T], /, *args: P.args, **kwargs: P.kwargs) -> Future[T]:
        """A future that is already done."""
        future: Future[T] = Future()
        try:
            future.set_result(fn(*args, **kwargs))
        except BaseException as error:  # raised again by future.result(), as in every executor
            future.set_exception(error)
        return future


@explained
def process_pool(n: int) -> ProcessPoolExecutor:
    """n worker processes, started afresh rather than forked: threads and locks of this one stay here.

    They import the objective, so it must be defined in a module or in a script whose own work stands under
    `if __name__ == "__main__":`. Each takes some seconds to start; a pool may serve several runs.

    Parameters
    ----------
    n : int
        Processes.

    Returns
    -------
    concurrent.futures.ProcessPoolExecutor
        To be passed as `executor=`; close it at the end, as by `with`.

    Examples
    --------
    >>> import netbo
    >>> from netbo.optimize import process_pool
    >>> with process_pool(2) as pool:
    ...     netbo.maximize(my_module.f, graph, budget=40, executor=pool)  # doctest: +SKIP
    """
    from concurrent.futures import ProcessPoolExecutor  # noqa: PLC0415 - most runs need no processes
    from multiprocessing import get_context  # noqa: PLC0415

    return ProcessPoolExecutor(
        require_count("executor", n, "4 makes four processes"),
        mp_context=get_context("spawn"),
        initializer=end_with_parent,
    )


def end_with_parent(end: Callable[[], object] | None = None) -> None:
    """Let this process end when the one that started it is gone: nobody would take its values.

    end: how; by default at once and without clean-up, as the pool it belonged to is gone.
    """
    from multiprocessing import parent_process  # noqa: PLC0415 - only workers come here
    from multiprocessing.connection import wait  # noqa: PLC0415

    parent = parent_process()
    if parent is None:
        return

    def watch() -> None:
        wait([parent.sentinel])
        os._exit(1) if end is None else end()

    Thread(target=watch, name="watch-parent", daemon=True).start()


@contextmanager
def open_executor(executor: Executor | int | None, objective: Callable[..., Any]) -> Iterator[Executor]:
    """The executor meant: None is this thread, a number a pool of our own, closed at the end.

    When the run is broken off, the processes of our own pool are ended first: nobody would take their values.
    """
    if executor is None:
        yield Inline()
        return
    if not isinstance(executor, int):
        yield _as_executor(executor)
        return
    require_importable(objective)
    pool = process_pool(executor)
    try:
        yield pool
        pool.shutdown()
    except BaseException:
        break_off(pool)
        raise


def break_off(pool: ProcessPoolExecutor) -> None:
    """End the processes of a pool, and its thread, which the interpreter would wait for at its own end."""
    # A pool tells none of these: what it waits for is in its private parts alone.
    processes = list((pool._processes or {}).values())  # noqa: SLF001
    manager: Any = pool._executor_manager_thread  # noqa: SLF001
    answers = pool._result_queue  # noqa: SLF001
    pool.shutdown(wait=False, cancel_futures=True)
    try:
        for process in processes:
            process.terminate()
        _await_end(processes, GRACE)
    finally:  # also when the grace is broken off
        for process in processes:
            process.kill()
        _await_end(processes, KILLED)
        if manager is not None:
            _release(answers)
            manager.join(KILLED)
            if manager.is_alive():
                _log.warning("the thread of a pool still waits for its workers; this process may not end")


def _await_end(processes: Sequence[BaseProcess], seconds: float) -> None:
    """Wait by process id: the pipe that `join` looks at stays open as long as a child of the worker lives."""
    deadline = time.monotonic() + seconds
    while any(process.is_alive() for process in processes) and time.monotonic() < deadline:
        time.sleep(0.01)


def _release(answers: Any) -> None:
    """Let the thread that reads the answers of dead workers see that there are no more.

    It would wait for ever for the rest of an answer whose worker was killed while sending it, since the other
    end of the pipe is open here too; and for the death of a worker whose child keeps the worker's pipes open.
    """
    writer = answers._writer  # noqa: SLF001 - the queue itself sends pickled objects only
    with suppress(OSError):  # closed already, or full because nobody reads it any more
        if hasattr(os, "set_blocking"):
            os.set_blocking(writer.fileno(), False)
        writer.send_bytes(b"")  # no answer at all: the thread takes the pool for broken
    writer.close()


@contextmanager
def one_thread_per_worker() -> Iterator[None]:
    """Processes started meanwhile use one thread: with more, small matrices wait for busy cores."""
    before = {name: os.environ.get(name) for name in THREADS}
    os.environ.update(dict.fromkeys(THREADS, "1"))
    try:
        yield
    finally:
        for name, value in before.items():
            if value is None:
                del os.environ[name]
            else:
                os.environ[name] = value


def first_completed(in_flight: Mapping[Future[T], object], timeout: float | None = None) -> list[Future[T]]:
    """Futures that are done, in the order of their submission; waits for one, or as long as `timeout`."""
    done, _ = wait(in_flight, timeout=timeout, return_when=FIRST_COMPLETED)
    return [future for future in in_flight if future in done]


def as_completed(in_flight: Mapping[Future[T], object], fill: Callable[[], object]) -> Iterator[Future[T]]:
    """Futures as they are done, until none is in flight.

    fill: submits more calls if there is room for them; called at first and whenever some were taken.
    Whoever takes a future removes it from those in flight.
    """
    fill()
    while in_flight:
        yield from first_completed(in_flight)
        fill()


def count_workers(executor: Executor | int | None, workers: int | None) -> int:
    """How many evaluations are in flight at a time."""
    if executor is None:
        if workers not in (None, 1):
            raise ParameterError(
                f"workers counts evaluations in flight, got {workers!r} and no executor; "
                "pass executor=n for n processes, or a ThreadPoolExecutor"
            )
        return 1
    if workers is not None:
        return require_count("workers", workers, "leave it out to use all of the executor")
    if isinstance(executor, int):
        return require_count("executor", executor, "4 makes four processes")
    own = getattr(_as_executor(executor), "_max_workers", None)
    return own if isinstance(own, int) and own > 0 else os.cpu_count() or 1


def _as_executor(executor: Any) -> Executor:
    if not callable(getattr(executor, "submit", None)):
        raise ParameterError(
            f"executor must be a concurrent.futures.Executor or a number of processes, got {executor!r:.80}; "
            "leave it out to evaluate one after another"
        )
    return executor  # type: ignore[no-any-return]


def require_importable(objective: Callable[..., Any]) -> None:
    """Refuse what a fresh process cannot import, before any is started."""
    advice = "define it at the top level of a module, or pass a ThreadPoolExecutor"
    try:
        pickle.dumps(objective)
    except Exception as error:
        raise ParameterError(
            f"worker processes must be able to import the objective, got {objective!r:.80}: {error}; {advice}"
        ) from error
    is_typed_in = not hasattr(sys.modules["__main__"], "__file__")
    if is_typed_in and getattr(objective, "__module__", None) == "__main__":
        raise ParameterError(
            f"worker processes must be able to import the objective, got {objective!r:.80} of this "
            f"interactive session; {advice}"
        )


# One evaluation of the objective: what it is given, what it may return, and what is kept when it fails.


Objective = Callable[[Point], Any]  # a number, NaN if it failed, or a pair of value and noise variance


@dataclass(frozen=True, slots=True)
class Failure:
    """An evaluation without a value: the exception that was expected, as text."""

    text: str


class WrongReturn(Failure):
    """The objective returned what is never a value: it is the objective that is wrong."""


@dataclass(frozen=True, slots=True)
class Attempt:
    """The objective, its expected exceptions caught where they happen: what is raised is not a failed value.

    It travels to other processes if the objective does, and so does whatever it returns.
    """

    objective: Objective
    catch: tuple[type[BaseException], ...]

    def __call__(self, point: Point) -> float | tuple[float, float] | Failure:
        """The value, the pair of value and noise variance, or a Failure."""
        try:
            returned = self.objective(point)
        except self.catch as error:
            below = None if error.__traceback__ is None else error.__traceback__.tb_next
            return Failure("".join(traceback.format_exception(type(error), error, below)))
        try:
            value, noise = as_answer(returned)
        except ObservationError as error:
            if error.__cause__ is None:
                return WrongReturn(str(error))
            if isinstance(error.__cause__, self.catch):
                return Failure(str(error))
            raise
        return value if noise is None else (value, noise)


def as_answer(returned: Any) -> tuple[float, float | None]:
    """Value and noise variance from what an objective returned; None is the noise of all values.

    An error with a cause says that the answer raised it when it was read, without one that it is of no use.
    """
    is_pair = isinstance(returned, tuple | list) and len(returned) == 2
    got = f"{shown(returned)} of type {type(returned).__name__}"
    try:
        value, noise = map(_as_number, returned) if is_pair else (_as_number(returned), None)
    except Exception as error:
        raise ObservationError(
            f"the objective must return a number, got {got}, which could not be read as one "
            f"({type(error).__name__}); return a float, NaN if the measurement failed"
        ) from error
    if value is None or (is_pair and noise is None and returned[1] is not None):
        raise ObservationError(
            f"the objective must return a number or a pair (value, noise variance), got {got}; "
            "return a float, NaN if the measurement failed"
        )
    return value, noise


def _as_number(x: Any) -> float | None:
    """A real number of any package's making, or None if it is something else."""
    if isinstance(x, bool):
        return None
    if isinstance(x, Real) and not isinstance(x, np.timedelta64):
        return float(x)
    array = np.asarray(x) if hasattr(x, "__array__") else np.empty(1)
    return float(array) if array.shape == () and array.dtype.kind in "fiu" else None


def require_value(failed: int, design: int, where: Point, note: str) -> None:
    """Give up an objective that only failed so far, once it did so often; the last time `where` and why."""
    enough = max(LEAST_TRIES, design)
    if failed >= enough:
        raise only_failures(f"the first {enough} evaluations", failed, where, note)


def only_failures(tries: str, failed: int, where: Point, note: str) -> ObservationError:
    """What to raise when every evaluation failed."""
    return ObservationError(
        f"one of {tries} must give a value, got {counted(failed, 'failure')}, the last at "
        f"edge {where.edge_id!r}, {length(where.distance)}: {last_line(note)}; "
        "call the objective on this point yourself"
    )


def last_line(text: str) -> str:
    """The last line that says something."""
    return next((line for line in reversed(text.splitlines()) if line.strip()), "no reason given").strip()
