"""Evaluation of an objective that may raise, hang, exit or return nonsense: a value, or the reason."""

import multiprocessing
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from math import isfinite
from multiprocessing.connection import Connection
from typing import Any

from netbo.errors import ObservationError
from netbo.geometry import Point
from netbo.optimize.evaluation import (
    Attempt,
    Failure,
    Objective,
    as_answer,
    one_thread_per_worker,
    require_importable,
)
from netbo.studies.settings import require_seconds

STARTING_SECONDS = 300.0  # a process that needs longer to import the objective never will


@dataclass(frozen=True, slots=True)
class Evaluation:
    """A value with its noise variance, or the reason why there is none.

    Examples
    --------
    >>> Evaluation(None, note="no signal").value is None
    True
    """

    value: float | None
    noise: float | None = None
    note: str = ""


def as_evaluation(answer: Any) -> Evaluation:
    """Evaluation from the return value of an attempt."""
    if isinstance(answer, Evaluation):
        return answer
    if isinstance(answer, Failure):
        return Evaluation(None, note=answer.text)
    try:
        value, noise = as_answer(answer)
    except ObservationError as error:
        return Evaluation(None, note=str(error))
    if not isfinite(value):
        return Evaluation(None, note=f"the objective returned {value}")
    if noise is not None and not 0 < noise < float("inf"):
        return Evaluation(None, note=f"a noise variance must be positive, got {noise} with value {value}")
    return Evaluation(value, noise)


class Evaluator:
    """Evaluate an objective in this process, or with a timeout in a process that is killed when it hangs.

    Parameters
    ----------
    objective : callable
        Function of a `Point` that returns a value or a pair (value, noise variance).
    timeout : float, optional
        Seconds for one evaluation. The process is spawned and imports the objective, which must be a function
        of a module; it serves until it hangs or exits, then another one is started. Starting does not count.

    Raises
    ------
    StudyError
        The timeout is not a positive number.
    ParameterError
        There is a timeout and a fresh process cannot import the objective.

    Examples
    --------
    >>> import netbo
    >>> evaluate = Evaluator(lambda point: 1.0 / point.distance)
    >>> start, end = netbo.interval(2.0).points([0, 0], [0.0, 2.0])
    >>> evaluate(end).value
    0.5
    >>> "ZeroDivisionError" in evaluate(start).note
    True
    """

    def __init__(self, objective: Objective, timeout: float | None = None) -> None:
        require_seconds(timeout, "timeout", or_none=True)
        if timeout is not None:
            require_importable(objective)
        self.timeout = timeout
        self._attempt = Attempt(objective, (Exception,))
        self._process: Any = None
        self._pipe: Connection | None = None

    def __call__(self, point: Point) -> Evaluation:
        """Evaluate the objective at a point."""
        if self.timeout is None:
            return as_evaluation(self._attempt(point))
        pipe = self._start()
        if isinstance(pipe, Evaluation):
            return pipe
        try:
            pipe.send(point)
            if not pipe.poll(self.timeout):
                self.close()
                return Evaluation(None, note=f"timeout: no value within {self.timeout:g} seconds")
            return as_evaluation(pipe.recv())
        except (EOFError, OSError):
            return self._exited()

    def _start(self) -> Connection | Evaluation:
        """Pipe to a process that is ready, or the failure to start it."""
        if self._pipe is not None:
            return self._pipe
        context = multiprocessing.get_context("spawn")
        here, there = context.Pipe()
        self._process = context.Process(target=_serve, args=(there, self._attempt), daemon=True)
        with one_thread_per_worker():
            self._process.start()
        there.close()
        self._pipe = here
        try:
            if not here.poll(STARTING_SECONDS):
                self.close()
                return Evaluation(None, note=f"the process was not ready after {STARTING_SECONDS:g} seconds")
            here.recv()
        except (EOFError, OSError):
            return self._exited()
        return here

    def _exited(self) -> Evaluation:
        """Failure with the exit code of the process."""
        process = self._process
        process.join()
        code = process.exitcode
        self.close()
        return Evaluation(None, note=f"the process of the objective ended with exit code {code}")

    def close(self) -> None:
        """Kill the process, if there is one."""
        process, self._process = self._process, None
        pipe, self._pipe = self._pipe, None
        if pipe is not None:
            pipe.close()
        if process is not None:
            process.kill()
            process.join()


@contextmanager
def evaluator(objective: Objective, timeout: float | None = None) -> Iterator[Evaluator]:
    """Evaluator whose process ends with the block."""
    found = Evaluator(objective, timeout)
    try:
        yield found
    finally:
        found.close()


def _serve(pipe: Connection, attempt: Attempt) -> None:
    """Evaluate points from a pipe until it closes."""
    import signal  # noqa: PLC0415 - in the child only: Ctrl-C is for the parent, which ends this process

    signal.signal(signal.SIGINT, signal.SIG_IGN)
    pipe.send("ready")
    while True:
        try:
            point = pipe.recv()
        except EOFError:
            return
        pipe.send(_portable(attempt(point)))


def _portable(answer: Any) -> Any:
    """Picklable answer: numbers as they are, anything else as a failure that names it."""
    if isinstance(answer, Failure):
        return answer
    try:
        return as_answer(answer)
    except ObservationError as error:
        return Failure(str(error))
