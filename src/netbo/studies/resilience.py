"""Retry with backoff while the storage is unavailable, deferred interrupts, and the clock of leases."""

import logging
import os
import signal
import socket
import sys
import threading
import time
import uuid
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from types import FrameType
from typing import Any, Protocol, TypeVar

from optuna.exceptions import StorageInternalError

from netbo.errors import BaseError, StudyError, shown
from netbo.studies.storages import without_secrets

RETRY_SECONDS = 900.0  # a server is restarted, or a disk cleared, by then
FIRST_PAUSE, LONGEST_PAUSE = 0.5, 15.0  # seconds between attempts

T = TypeVar("T")

_log = logging.getLogger(__name__)


class Clock(Protocol):
    """Clock of leases and waits; tests pass one that jumps.

    Examples
    --------
    >>> class Frozen:
    ...     def now(self):
    ...         return 0.0
    ...     def sleep(self, seconds):
    ...         pass
    >>> clock: Clock = Frozen()
    """

    def now(self) -> float:
        """Seconds since 1970, UTC: the same for all workers, as far as their machines agree."""

    def sleep(self, seconds: float) -> None:
        """Return after so many seconds."""


class SystemClock:
    """The clock of this machine: `time.time` and `time.sleep`.

    Examples
    --------
    >>> SystemClock().now() > 1.6e9
    True
    """

    def now(self) -> float:
        """Seconds since 1970, UTC."""
        return time.time()

    def sleep(self, seconds: float) -> None:
        """Block for so many seconds."""
        time.sleep(seconds)


def new_worker_name(given: str | None = None) -> str:
    """Name that no other process has, made of the given one or of the host's."""
    return f"{given or socket.gethostname()}-{os.getpid()}-{uuid.uuid4().hex[:6]}"


def as_clock(clock: Any) -> Clock:
    """The clock, by default that of this machine; StudyError if it is none."""
    if clock is None:
        return SystemClock()
    if not callable(getattr(clock, "now", None)) or not callable(getattr(clock, "sleep", None)):
        raise StudyError(f"a clock has now() and sleep(seconds), got {shown(clock)}; leave it out")
    return clock  # type: ignore[no-any-return]


class DeferredInterrupt:
    """Signal handler that records SIGINT and SIGTERM; inside `allowed` it raises KeyboardInterrupt."""

    def __init__(self) -> None:
        self.requested = False
        self._allowed = False

    def handle(self, number: int, frame: FrameType | None) -> None:
        """Handler for `signal.signal`."""
        self.requested = True
        if self._allowed:
            self._allowed = False  # cleaning up is not interrupted
            raise KeyboardInterrupt

    @contextmanager
    def allowed(self) -> Iterator[None]:
        """Block that may be interrupted anywhere."""
        if self.requested:
            raise KeyboardInterrupt
        self._allowed = True
        try:
            yield
        finally:
            self._allowed = False


@contextmanager
def deferred_interrupts() -> Iterator[DeferredInterrupt]:
    """Defer SIGINT and SIGTERM in the main thread; in other threads signals are not ours."""
    handler = DeferredInterrupt()
    if threading.current_thread() is not threading.main_thread():
        yield handler
        return
    before: dict[int, Any] = {
        number: signal.signal(number, handler.handle) for number in (signal.SIGINT, signal.SIGTERM)
    }
    try:
        yield handler
    finally:
        for number, previous in before.items():
            signal.signal(number, previous)


def retry_while_unavailable(action: Callable[[], T], clock: Clock, is_stopped: Callable[[], bool]) -> T:
    """Retry an action with exponential backoff while the storage is unavailable."""
    begun, pause = clock.now(), FIRST_PAUSE
    while True:
        try:
            return action()
        except _unavailable_errors() as error:
            if isinstance(error, BaseError) or is_stopped() or clock.now() - begun > RETRY_SECONDS:
                raise  # a damaged file stays damaged
            _log.warning("the storage is away (%s); trying again in %g seconds", _first_line(error), pause)
        clock.sleep(pause)
        pause = min(2 * pause, LONGEST_PAUSE)


def _unavailable_errors() -> tuple[type[Exception], ...]:
    """Exceptions of a storage that cannot be reached."""
    grpc = sys.modules.get("grpc")
    return (StorageInternalError, OSError, *(() if grpc is None else (grpc.RpcError,)))


def _first_line(error: BaseException) -> str:
    """First line of the database's own message."""
    cause = error.__cause__ or error
    return f"{type(cause).__name__}: {without_secrets(next(iter(str(cause).splitlines()), ''))}"
