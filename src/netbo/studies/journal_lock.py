"""Who may append to a journal: Optuna's lock, freed at once if its owner has died."""

from __future__ import annotations

import os
import socket
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from typing import IO

from optuna.storages.journal import JournalFileSymlinkLock

try:
    import fcntl
except ImportError:  # pragma: no cover - Windows has none, and then the file lock is all there is
    fcntl = None  # type: ignore[assignment]

GUARD_SUFFIX = ".guard"


class GuardedLock(JournalFileSymlinkLock):
    """Optuna's lock file, behind a guard that the operating system takes back from the dead.

    Optuna waits 30 seconds before it breaks a lock whose owner was killed. Our lock file is a link to the
    guard: whoever holds the guard, finds such a link and the name of a dead process of its own host knows
    that the lock is stale, and removes it. A lock file of somebody without a guard (a dashboard, say) links
    to the journal, and is waited for as Optuna does.
    """

    def __init__(self, path: str) -> None:
        super().__init__(path)
        self._lock_path, self._guard_path = path + ".lock", path + GUARD_SUFFIX
        self._lock_target_file = os.path.basename(self._guard_path)  # relative: true on every machine
        self._guard: IO[str] | None = None

    def acquire(self) -> bool:
        """Wait for guard and lock file."""
        guard = open(self._guard_path, "a+")  # noqa: SIM115 - closed by release
        try:
            _lock(guard)
            if self._is_ours() and _names_a_dead_process(guard):
                with suppress(FileNotFoundError):
                    os.unlink(self._lock_path)
            _write(guard, f"{socket.gethostname()} {os.getpid()}")
            super().acquire()
        except BaseException:
            guard.close()
            raise
        self._guard = guard
        return True

    def _is_ours(self) -> bool:
        """Whether the lock file was made behind the guard."""
        try:
            return os.readlink(self._lock_path) == self._lock_target_file
        except OSError:
            return False

    def release(self) -> None:
        """Let others in."""
        guard, self._guard = self._guard, None
        try:
            super().release()
        finally:
            if guard is not None:
                _write(guard, "")
                guard.close()  # and with it the guard's lock


@contextmanager
def holding(lock: JournalFileSymlinkLock) -> Iterator[None]:
    """The lock, for a while."""
    lock.acquire()
    try:
        yield
    finally:
        lock.release()


def _lock(guard: IO[str]) -> None:
    if fcntl is not None:
        with suppress(OSError):  # a file system without such locks: the lock file still serves
            fcntl.flock(guard, fcntl.LOCK_EX)


def _write(guard: IO[str], text: str) -> None:
    guard.truncate(0)
    guard.write(text)
    guard.flush()


def _names_a_dead_process(guard: IO[str]) -> bool:
    guard.seek(0)
    words = guard.read().split()
    if len(words) != 2 or words[0] != socket.gethostname() or not words[1].isdigit():
        return False
    try:
        os.kill(int(words[1]), 0)
    except ProcessLookupError:
        return True
    except OSError:
        return False
    return False
