"""One evaluation of an objective that may raise, hang, die or return nonsense: a value, or a reason."""

from __future__ import annotations

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
    """A value with its noise variance, or the reason why there is none."""

    value: float | None
    noise: float | None = None
    note: str = ""


def evaluation_of(answer: Any) -> Evaluation:
    """What came of an attempt."""
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
    """Evaluates an objective here, or with a timeout in a process of its own that is killed when it hangs.

    The process is started afresh and imports the objective; it serves until it hangs or dies, then another
    takes its place. Starting does not count towards the timeout.
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
        """The value at a point, or the reason why there is none."""
        if self.timeout is None:
            return evaluation_of(self._attempt(point))
        pipe = self._start()
        if isinstance(pipe, Evaluation):
            return pipe
        try:
            pipe.send(point)
            if not pipe.poll(self.timeout):
                self.close()
                return Evaluation(None, note=f"timeout: no value within {self.timeout:g} seconds")
            return evaluation_of(pipe.recv())
        except (EOFError, OSError):
            return self._died()

    def _start(self) -> Connection | Evaluation:
        """The pipe to a process that is ready, or why there is none."""
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
            return self._died()
        return here

    def _died(self) -> Evaluation:
        process = self._process
        process.join()
        code = process.exitcode
        self.close()
        return Evaluation(None, note=f"the process of the objective ended with exit code {code}")

    def close(self) -> None:
        """End the process, if there is one."""
        process, self._process = self._process, None
        pipe, self._pipe = self._pipe, None
        if pipe is not None:
            pipe.close()
        if process is not None:
            process.kill()
            process.join()


@contextmanager
def evaluator(objective: Objective, timeout: float | None = None) -> Iterator[Evaluator]:
    """An evaluator whose process ends with the block."""
    found = Evaluator(objective, timeout)
    try:
        yield found
    finally:
        found.close()


def _serve(pipe: Connection, attempt: Attempt) -> None:
    """Answer points until nobody asks."""
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
    """What can travel: numbers as they are, the rest as a failure that names it."""
    if isinstance(answer, Failure):
        return answer
    try:
        return as_answer(answer)
    except ObservationError as error:
        return Failure(str(error))
