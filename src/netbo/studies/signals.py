"""Ctrl-C and SIGTERM that wait until nothing can be lost."""

from __future__ import annotations

import signal
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from types import FrameType
from typing import Any


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
