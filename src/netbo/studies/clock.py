"""The time that leases are measured by."""

import time
from typing import Protocol


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
