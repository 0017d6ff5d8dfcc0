"""Journal file backend that checks every line, cuts torn ones off, and frees the locks of dead processes."""

import logging
import os
import socket
from collections import deque
from collections.abc import Generator, Iterable, Iterator
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from pathlib import Path
from typing import IO, Any

from optuna.storages import JournalStorage
from optuna.storages.journal import JournalFileBackend, JournalFileSymlinkLock

from netbo.errors import StudyFileError
from netbo.files import TORN_SUFFIX, cut_torn_line
from netbo.studies.journal_lines import DamageFound, JournalState, is_value, parse
from netbo.wording import counted

try:
    import fcntl
except ImportError:  # pragma: no cover - Windows has none, and then the file lock is all there is
    fcntl = None  # type: ignore[assignment]

GUARD_SUFFIX = ".guard"
TAIL = 256  # bytes before the end of what was read, by which a file is known again
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
    """Contents of a journal up to the first line that is damaged."""

    lines: int  # that can be read
    trials: int
    values: int
    bad_line: int | None = None  # counted from 1
    reason: str = ""
    behind: int = 0  # values in whole lines behind the damage
    is_journal: bool = True  # whether any line is one of a journal


class JournalFile(JournalFileBackend):
    """Optuna's journal file backend with lines that are checked; reads only what is new.

    A process that is killed, or a machine that loses power, can leave half a line at the end of the file. It
    is passed over by readers, and moved to FILE.torn before the next append, which would be glued to it.
    """

    def __init__(self, path: Path) -> None:
        self._file_lock = GuardedLock(str(path))
        super().__init__(str(path), lock_obj=self._file_lock)
        self.path = path
        self._begin()

    def __reduce__(self) -> tuple[Any, ...]:
        return JournalFile, (self.path,)  # the lock of this process is not that of another

    def _begin(self) -> None:
        self._state, self._offset, self._tail = JournalState(), 0, b""
        self._stamp: tuple[int, ...] = ()  # of the file, when it was last read to its end
        self._unread: deque[dict[str, Any]] = deque()  # checked, and not yet asked for

    def append_logs(self, logs: list[dict[str, Any]]) -> None:
        """Append whole lines; they are on the disk when this returns."""
        for log in logs:
            with locked(self._file_lock):
                self._read_on()  # a damaged file is left as it is
                self._cut_torn_line()
                with open(self.path, "ab") as file:  # buffered: a full disk is an error, not half a line
                    file.write(self._state.write(log))
                    file.flush()
                    _to_disk(file.fileno())

    def _cut_torn_line(self) -> None:
        if torn := cut_torn_line(self.path):
            _log.warning(
                "%s ended in half a line of %d bytes, left by a process that was killed while writing; "
                "it was cut off and kept in %s%s", self.path, len(torn), self.path, TORN_SUFFIX,
            )  # fmt: skip

    def read_logs(self, log_number_from: int) -> Generator[dict[str, Any], None, None]:
        """Lines from a number on; the error for a damaged file says what can still be read."""
        if log_number_from != self._state.lines - len(self._unread):
            self._begin()
            self._read_on()
            for _ in range(min(log_number_from, len(self._unread))):
                self._unread.popleft()
        else:
            self._read_on()
        while self._unread:
            yield self._unread.popleft()  # one by one: who reads may break off at any line

    def _read_on(self) -> None:
        """Check and keep the lines that were appended since the last time."""
        found = os.stat(self.path)
        stamp = (found.st_ino, found.st_size, found.st_mtime_ns)
        if stamp == self._stamp:
            return
        with open(self.path, "rb") as file:
            file.seek(max(0, self._offset - len(self._tail)))
            if file.read(len(self._tail)) != self._tail:
                raise self._replaced_error()
            for line in file:
                if not line.endswith(b"\n"):
                    break
                try:
                    self._unread.append(self._state.read(line))
                except DamageFound as cause:
                    raise damaged_file_error(self.path, check_journal(self.path)) from cause
                self._offset += len(line)
                self._tail = line[-TAIL:]
        self._stamp = stamp

    def _replaced_error(self) -> StudyFileError:
        now = check_journal(self.path)
        return StudyFileError(
            f"{self.path} is not the file that this study has read: {counted(self._state.lines, 'line')} "
            f"with {counted(self._state.values, 'value')} then, {counted(now.lines, 'line')} with "
            f"{counted(now.values, 'value')} now; it was replaced or cut while the study was open, and "
            "nothing was written to it since. Load the study again to go on with what is there"
        )


def open_journal(path: Path) -> JournalStorage:
    """Open or create a journal file; a damaged one is refused and left unchanged."""
    if path.is_dir():
        raise StudyFileError(f"a journal is a file, got the folder {path}; name a file in it")
    if not path.parent.is_dir():
        raise StudyFileError(f"the folder {path.parent} of the journal does not exist; make it first")
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
    state = JournalState()
    with open(path, "rb") as file:
        for line in file:
            if not line.endswith(b"\n"):
                break
            try:
                state.read(line)
            except DamageFound as damage:
                behind = list(_operations_in([line, *file]))
                return JournalCheck(
                    state.lines, state.trials, state.values, state.lines + 1, str(damage),
                    sum(map(is_value, behind)), bool(state.lines or behind),
                )  # fmt: skip
    return JournalCheck(state.lines, state.trials, state.values)


def _operations_in(lines: Iterable[bytes]) -> Iterator[dict[str, Any]]:
    for line in lines:
        with suppress(DamageFound):
            yield parse(line)


def damaged_file_error(path: Path, found: JournalCheck) -> StudyFileError:
    """Error that says what can be read and how to recover it."""
    if not found.is_journal:
        return StudyFileError(
            f"{path} is no journal of Optuna: line 1 is no operation ({found.reason:.120}); nothing was "
            "changed"
        )
    behind = f"{counted(found.behind, 'value')} more {'stands' if found.behind == 1 else 'stand'} behind it. "
    return StudyFileError(
        f"{path} is damaged at line {found.bad_line} ({found.reason:.120}); the {found.lines} lines before "
        f"it can be read and hold {found.trials} trials with {found.values} values; nothing was changed. "
        f"{behind if found.behind else ''}'netbo study repair {path}' writes a mended copy and says what it "
        "did"
    )
