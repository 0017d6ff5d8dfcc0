"""Waiting for a storage that is away for a while: a server that restarts, a disk that is full."""

from __future__ import annotations

import logging
import sys
from collections.abc import Callable
from typing import TypeVar

from optuna.exceptions import StorageInternalError

from netbo.errors import BaseError
from netbo.studies.clock import Clock

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
