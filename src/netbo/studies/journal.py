"""Journal file backend that repairs torn lines, reports damage, and frees the locks of dead processes."""

import json
import logging
import os
import socket
from collections.abc import Generator, Iterator
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from pathlib import Path
from typing import IO, Any

from optuna.storages import JournalStorage
from optuna.storages.journal import JournalFileBackend, JournalFileSymlinkLock
from optuna.trial import TrialState

from netbo.errors import StudyFileError
from netbo.files import TORN_SUFFIX, cut_torn_line

try:
    import fcntl
except ImportError:  # pragma: no cover - Windows has none, and then the file lock is all there is
    fcntl = None  # type: ignore[assignment]

GUARD_SUFFIX = ".guard"
CREATE_TRIAL, SET_STATE = 4, 6  # private numbers of Optuna's operations; test_optuna_internals watches them
_to_disk = getattr(os, "fdatasync", os.fsync)  # contents and length; the time of the change may be lost

_log = logging.getLogger(__name__)


class GuardedLock(JournalFileSymlinkLock):
    """Optuna's symlink lock behind an flock, which the operating system releases when its owner dies.

    Optuna waits 30 seconds before it breaks a lock whose owner was killed. Our lock file is a link to the
    guard file: whoever holds the flock on the guard, finds such a link and reads the name of a dead process
    of its own host knows that the lock is stale, and removes it. A lock file made without a guard (by a
    dashboard, say) links to the journal, and is waited for as Optuna does.
    """

    def __init__(self, path: str) -> None:
        super().__init__(path)
        self._lock_path, self._guard_path = path + ".lock", path + GUARD_SUFFIX
        self._lock_target_file = os.path.basename(self._guard_path)  # relative: true on every machine
        self._guard: IO[str] | None = None

    def acquire(self) -> bool:
        """Wait for the guard and the lock file."""
        guard = open(self._guard_path, "a+")  # noqa: SIM115 - closed by release
        try:
            _flock(guard)
            if self._is_ours() and _owner_is_dead(guard):
                with suppress(FileNotFoundError):
                    os.unlink(self._lock_path)
            _write_owner(guard, f"{socket.gethostname()} {os.getpid()}")
            super().acquire()
        except BaseException:
            guard.close()
            raise
        self._guard = guard
        return True

    def _is_ours(self) -> bool:
        """Whether the lock file is a link to the guard."""
        try:
            return os.readlink(self._lock_path) == self._lock_target_file
        except OSError:
            return False

    def release(self) -> None:
        """Remove the lock file, then release the guard."""
        guard, self._guard = self._guard, None
        try:
            super().release()
        finally:
            if guard is not None:
                _write_owner(guard, "")
                _unlock(guard)  # a child forked meanwhile has the file open too
                guard.close()


@contextmanager
def locked(lock: JournalFileSymlinkLock) -> Iterator[None]:
    """Hold the lock during the block."""
    lock.acquire()
    try:
        yield
    finally:
        lock.release()


def _flock(guard: IO[str]) -> None:
    if fcntl is not None:
        with suppress(OSError):  # a file system without such locks: the lock file still serves
            fcntl.flock(guard, fcntl.LOCK_EX)


def _unlock(guard: IO[str]) -> None:
    if fcntl is not None:
        with suppress(OSError):
            fcntl.flock(guard, fcntl.LOCK_UN)


def _write_owner(guard: IO[str], text: str) -> None:
    guard.truncate(0)
    guard.write(text)
    guard.flush()


def _owner_is_dead(guard: IO[str]) -> bool:
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


@dataclass(frozen=True, slots=True)
class JournalCheck:
    """Contents of a journal up to the first line that cannot be read."""

    lines: int  # that can be read
    trials: int
    values: int
    bad_line: int | None = None  # counted from 1
    reason: str = ""


class JournalFile(JournalFileBackend):
    """Optuna's journal file backend; before each append a torn last line is moved to FILE.torn.

    A process that is killed, or a machine that loses power, can leave half a line at the end of the file.
    Optuna passes over it when reading, and its next line would be glued to it and lost.
    """

    def __init__(self, path: Path) -> None:
        self._file_lock = GuardedLock(str(path))
        super().__init__(str(path), lock_obj=self._file_lock)
        self.path = path

    def __reduce__(self) -> tuple[Any, ...]:
        return JournalFile, (self.path,)  # the lock of this process is not that of another

    def append_logs(self, logs: list[dict[str, Any]]) -> None:
        """Append whole lines; they are on the disk when this returns."""
        text = "".join(json.dumps(log, separators=(",", ":")) + "\n" for log in logs)
        with locked(self._file_lock):
            self._cut_torn_line()
            with open(self.path, "ab") as file:  # buffered: a full disk is an error, not half a line
                file.write(text.encode("utf-8"))
                file.flush()
                _to_disk(file.fileno())

    def _cut_torn_line(self) -> None:
        if torn := cut_torn_line(self.path):
            _log.warning(
                "%s ended in half a line of %d bytes, left by a process that was killed while writing; "
                "it was cut off and kept in %s%s", self.path, len(torn), self.path, TORN_SUFFIX,
            )  # fmt: skip

    def read_logs(self, log_number_from: int) -> Generator[dict[str, Any], None, None]:
        """Read lines from a number on; the error for a damaged file says what can still be read."""
        try:
            yield from super().read_logs(log_number_from)
        except ValueError as cause:
            raise damaged_file_error(self.path, check_journal(self.path)) from cause


def open_journal(path: Path) -> JournalStorage:
    """Open or create a journal file; a damaged one is refused and left unchanged."""
    if path.is_dir():
        raise StudyFileError(f"a journal is a file, got the folder {path}; name a file in it")
    if not path.parent.is_dir():
        raise StudyFileError(f"the folder {path.parent} of the journal does not exist; make it first")
    if path.exists():
        found = check_journal(path)
        if found.bad_line is not None:
            raise damaged_file_error(path, found)
    try:
        return JournalStorage(JournalFile(path.absolute()))  # an objective may change the folder
    except StudyFileError:
        raise
    except (KeyError, TypeError, ValueError, AssertionError, AttributeError) as cause:
        found = check_journal(path)
        raise StudyFileError(
            f"{path} is no journal of Optuna: its {found.lines} lines are JSON, but one of them is no "
            f"operation ({type(cause).__name__}: {cause}); nothing was changed"
        ) from cause


def check_journal(path: Path) -> JournalCheck:
    """Count what a journal holds; a torn last line is no damage, since it was never acknowledged."""
    lines = trials = values = 0
    with open(path, "rb") as file:
        for number, line in enumerate(file, start=1):
            if not line.endswith(b"\n"):
                break
            try:
                operation = json.loads(line)
                code = operation["op_code"]
            except (ValueError, TypeError, KeyError) as cause:
                reason = f"{type(cause).__name__}: {cause}"
                return JournalCheck(lines, trials, values, number, reason)
            lines += 1
            trials += code == CREATE_TRIAL
            is_told = code in (CREATE_TRIAL, SET_STATE) and operation.get("state") == TrialState.COMPLETE
            values += bool(is_told)
    return JournalCheck(lines, trials, values)


def damaged_file_error(path: Path, found: JournalCheck) -> StudyFileError:
    """Error that says what can be read and how to recover it."""
    return StudyFileError(
        f"{path} is damaged at line {found.bad_line} ({found.reason:.120}); the {found.lines} lines before "
        f"it can be read and hold {found.trials} trials with {found.values} values; nothing was changed. "
        f"Copy the file and keep its first {found.lines} lines to go on from there"
    )
