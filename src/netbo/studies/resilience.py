"""Retry with backoff while the storage is unavailable, deferred interrupts, and the clock of leases."""

from __future__ import annotations

import logging
import signal
import sys
import threading
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from types import FrameType
from typing import Any, Protocol, TypeVar

from optuna.exceptions import StorageInternalError

from netbo.errors import BaseError


class Clock(Protocol):
    """Tells the time and lets it pass; tests bring one of their own."""

    def now(self) -> float:
        """Seconds since 1970, UTC: the same for all workers, as far as their machines agree."""

    def sleep(self, seconds: float) -> None:
        """Return after so many seconds."""


class SystemClock:
    """The clock of this machine."""

    def now(self) -> float:
        """Seconds since 1970, UTC."""
        return time.time()

    def sleep(self, seconds: float) -> None:
        """Wait."""
        time.sleep(seconds)


# Ctrl-C and SIGTERM that wait until nothing can be lost.


class Interruption:
    """Whether somebody asked to stop; inside `allowed` it raises KeyboardInterrupt at once."""

    def __init__(self) -> None:
        self.requested = False
        self._allowed = False

    def handle(self, number: int, frame: FrameType | None) -> None:
        """What a signal does."""
        self.requested = True
        if self._allowed:
            self._allowed = False  # what follows is to be finished
            raise KeyboardInterrupt

    @contextmanager
    def allowed(self) -> Iterator[None]:
        """A stretch that may be broken off anywhere."""
        if self.requested:
            raise KeyboardInterrupt
        self._allowed = True
        try:
            yield
        finally:
            self._allowed = False


@contextmanager
def interruption() -> Iterator[Interruption]:
    """SIGINT and SIGTERM handled by an Interruption, in the main thread; elsewhere they are not ours."""
    found = Interruption()
    if threading.current_thread() is not threading.main_thread():
        yield found
        return
    before: dict[int, Any] = {
        number: signal.signal(number, found.handle) for number in (signal.SIGINT, signal.SIGTERM)
    }
    try:
        yield found
    finally:
        for number, handler in before.items():
            signal.signal(number, handler)


# Waiting for a storage that is away for a while: a server that restarts, a disk that is full.

PATIENCE = 900.0  # seconds; a server is restarted, or a disk cleared, by then
FIRST_PAUSE, LONGEST_PAUSE = 0.5, 15.0  # seconds between attempts

T = TypeVar("T")

_log = logging.getLogger(__name__)


def patiently(action: Callable[[], T], clock: Clock, is_stopped: Callable[[], bool]) -> T:
    """What an action on a storage returns, tried again while the storage is away and nobody wants to stop."""
    begun, pause = clock.now(), FIRST_PAUSE
    while True:
        try:
            return action()
        except _reasons() as error:
            if isinstance(error, BaseError) or is_stopped() or clock.now() - begun > PATIENCE:
                raise  # a damaged file stays damaged
            _log.warning("the storage is away (%s); trying again in %g seconds", _said(error), pause)
        clock.sleep(pause)
        pause = min(2 * pause, LONGEST_PAUSE)


def _reasons() -> tuple[type[Exception], ...]:
    """What a storage raises when it cannot be reached."""
    grpc = sys.modules.get("grpc")
    return (StorageInternalError, OSError, *(() if grpc is None else (grpc.RpcError,)))


def _said(error: BaseException) -> str:
    """The first line of what the database itself said."""
    cause = error.__cause__ or error
    return f"{type(cause).__name__}: {next(iter(str(cause).splitlines()), '')}"
