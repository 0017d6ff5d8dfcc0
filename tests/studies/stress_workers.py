"""Processes that work on a study and write down what they saw, on the disk at once: the truth of the tests.

They are forked from a server that has imported everything: a test may kill many of them.
"""

import json
import multiprocessing
import os
import random
import signal
import sys
import time
import warnings
from contextlib import suppress
from pathlib import Path

from netbo.errors import BaseError
from netbo.optimize import Suggestion
from netbo.optimize.evaluation import one_thread_per_worker
from netbo.studies import Study, journal
from support.studies import height

FORKS = multiprocessing.get_context("forkserver")
FORKS.set_forkserver_preload(["studies.stress_workers"])
NOISE = 0.04  # of values that are told with one


class LaterClock:
    """The clock of a machine on which more time has gone by."""

    def __init__(self, seconds):
        self.seconds = seconds

    def now(self):
        return time.time() + self.seconds

    def sleep(self, seconds):
        time.sleep(seconds)


def write_down(path, **said):
    """One more line of a file, on the disk when this returns."""
    line = json.dumps({"time": time.monotonic(), "process": os.getpid(), **said}) + "\n"
    with open(path, "a") as file:
        file.write(line)
        file.flush()
        os.fsync(file.fileno())


def read_back(path):
    """All lines; the last may be half a line if its writer was killed."""
    if not path.exists():
        return []
    lines = path.read_text().splitlines(keepends=True)
    return [json.loads(line) for line in lines if line.endswith("\n")]


class Diary:
    """An objective and a callback that write down when an evaluation began, ended and was told."""

    def __init__(self, path, say, longest=0.0, noise=None):
        self.path, self.say, self.longest, self.noise = Path(path), say, longest, noise
        self.chance = random.Random(os.getpid())

    def __call__(self, point):
        where = {"edge": int(point.edge), "distance": float(point.distance)}
        write_down(self.path, kind="begun", **where)
        time.sleep(self.chance.uniform(0.0, self.longest))
        value = height(point)
        write_down(self.path, kind="ended", **where, value=value)
        return value if self.noise is None else (value, self.noise)

    def receipt(self, study, record):
        write_down(self.path, kind="told", id=record.id, value=record.value)
        self.say("told")


def die_in_append(bytes_left):
    """From now on, be killed by SIGKILL in the middle of an append, with so many bytes of all written."""
    left = [bytes_left]

    class Dying:
        def __init__(self, file):
            self.file = file

        def write(self, text):
            self.file.write(text[: left[0]])
            self.file.flush()
            if len(text) > left[0]:
                os.kill(os.getpid(), signal.SIGKILL)
            left[0] -= len(text)

        def __getattr__(self, name):
            return getattr(self.file, name)

        def __enter__(self):
            return self

        def __exit__(self, *error):
            self.file.close()

    def opened(path, mode="r", **options):
        file = open(path, mode, **options)  # noqa: SIM115 - closed by the caller
        return Dying(file) if mode == "ab" and str(path).endswith(".journal") else file

    journal.open = opened


# What a process can be asked to do; `say` sends something to the test.


def work(say, storage, diary, budget, later=0.0, longest=0.0, noise=None, lease=60.0, dies_after=None):
    """Work on a study as one worker of several."""
    kept = Diary(diary, say, longest, noise)
    study = Study.load(storage, clock=LaterClock(later))
    if dies_after is not None:
        die_in_append(dies_after)
    done = study.work(kept, budget=budget, lease=lease, callbacks=[kept.receipt], pause=0.02)
    say([done.told, done.failed, done.stopped])


def hang(say, storage, worker):
    """Work on a study with an objective that never returns."""

    def hangs(point):
        say("begun")
        time.sleep(600)

    Study.load(storage, worker=worker).work(hangs, budget=3)


def take_queue(say, storage, diary):
    """Ask until nothing is in the queue."""
    study = Study.load(storage)
    while any(record.state.value == "waiting" for record in study.records):
        suggestion = study.ask()
        write_down(Path(diary), kind="took", id=suggestion.id, distance=suggestion.point.distance)


def tell(say, storage, trial, value, note):
    """Tell one trial, said to have been asked long ago."""
    study = Study.load(storage)
    study.tell(Suggestion(trial, study.records[trial].point), value, note=note)
    say("told")


def tell_on_a_full_disk(say, storage, n_bytes):
    """Tell when only so many bytes fit on the disk."""
    import resource

    study = Study.load(storage)
    suggestion = study.ask()
    limit = os.path.getsize(storage) + n_bytes
    resource.setrlimit(resource.RLIMIT_FSIZE, (limit, resource.RLIM_INFINITY))
    try:
        study.tell(suggestion, 0.25)
    except OSError:
        say("refused")
    else:
        say("told")


def hold_lock(say, path):
    """Lock a journal, and keep it."""
    journal.GuardedLock(path).acquire()
    say("held")
    time.sleep(600)


WATCHED = (
    "pickle.", "marshal.", "exec", "compile", "import", "os.system", "os.exec", "os.posix_spawn", "os.fork",
    "subprocess.", "ctypes.", "socket.connect",
)  # fmt: skip


def read_under_watch(say, good, others):
    """Read studies and say which can be read, and what Python itself reports to have run meanwhile."""
    warnings.simplefilter("ignore")  # a number that is no edge is cast before it is refused
    look(good)  # whatever reading a study imports is imported now, and our own kernels are there
    seen, outcomes, watching = [], [], [True]

    def watch(event, arguments):
        if watching and event.startswith(WATCHED):
            seen.append((event, str(arguments)[:200]))

    sys.addaudithook(watch)
    for path in others:
        try:
            look(path)
            outcomes.append("read")
        except BaseError:
            outcomes.append("refused")
    watching.clear()
    say([outcomes, seen])


def look(path):
    study = Study.load(path)
    study.add_observation((0, 0.1), 0.5)
    return study.trials.to_string() + repr(study) + repr(study.pending)


class Process:
    """A process that does one job and says what came of it."""

    def __init__(self, job, **options):
        self.said, there = FORKS.Pipe(duplex=False)
        self.process = FORKS.Process(target=run, args=(job, there, options), daemon=True)
        before = os.environ.get("PYTHONPATH")
        os.environ["PYTHONPATH"] = os.pathsep.join(
            filter(None, sys.path)
        )  # for the server, begun by the first
        try:
            with one_thread_per_worker():
                self.process.start()
        finally:
            os.environ.pop("PYTHONPATH")
            if before is not None:
                os.environ["PYTHONPATH"] = before
        there.close()

    def expect(self, said):
        """Wait for the next thing it says."""
        found = self.said.recv()
        assert found == said, f"a worker was to say {said!r}, got {found!r}"

    def kill(self):
        """SIGKILL, and True if it was alive."""
        alive = self.process.is_alive()
        self.process.kill()
        self.end()
        return alive

    def end(self, timeout=None):
        """Wait for it, and return the last thing it said."""
        last = None
        with suppress(EOFError, OSError):  # all is heard, the last of it in part, or it was before
            while self.said.poll(timeout):
                last = self.said.recv()
        self.process.join(timeout)
        assert self.process.exitcode is not None, f"a worker was to end within {timeout} seconds"
        self.said.close()
        return last


def run(job, there, options):
    """In the process: do the job."""
    job(there.send, **options)
