"""A thread that keeps the leases of what is being evaluated."""

from __future__ import annotations

import logging
from threading import Event, Lock, Thread
from types import TracebackType
from typing import Self

from netbo.studies.ledger import Ledger
from netbo.studies.settings import require_seconds

RENEWALS = 3  # in the time of a lease: two may fail

_log = logging.getLogger(__name__)


class Heartbeat:
    """Renews leases until the block ends; without a lease there is nothing to do."""

    def __init__(self, ledger: Ledger, lease: float | None) -> None:
        require_seconds(lease, "lease", or_none=True)
        self._ledger, self._lease = ledger, lease
        self._keys: dict[int, int] = {}  # in the storage, by trial
        self._guard, self._ended = Lock(), Event()
        self._thread = Thread(target=self._run, name="netbo-heartbeat", daemon=True)

    def __enter__(self) -> Self:
        if self._lease is not None:
            self._thread.start()
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self._ended.set()
        if self._thread.is_alive():
            self._thread.join()

    def add(self, trial: int) -> None:
        """Keep the lease of a trial."""
        key = self._ledger.key_of(trial)
        with self._guard:
            self._keys[trial] = key

    def remove(self, trial: int) -> None:
        """Keep it no longer."""
        with self._guard:
            self._keys.pop(trial, None)

    def beat(self) -> None:
        """Renew every lease once; one that is lost is no longer kept, and its value is told late."""
        with self._guard:
            kept = list(self._keys.items())
        for trial, key in kept:
            if self._lease is not None and not self._ledger.keep(key, self._lease):
                self.remove(trial)

    def _run(self) -> None:
        while not self._ended.wait((self._lease or 0.0) / RENEWALS):
            try:
                self.beat()
            except Exception:  # the storage may be back at the next beat
                _log.warning("leases could not be renewed", exc_info=True)
