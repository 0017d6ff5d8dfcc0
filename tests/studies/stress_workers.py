"""Processes that work on a study and write down what they saw, on the disk at once: the truth of the tests.

Run as `python -m studies.stress_workers`: it says "ready" when all is imported, reads one line of JSON that
says what to do, and does it. A test that kills many of them starts the next while the last one works.
"""

import json
import math
import os
import random
import signal
import sys
import time
from pathlib import Path
from subprocess import PIPE, Popen

import netbo
from netbo.optimize import Suggestion
from netbo.studies import Study, journal

TESTS = str(Path(__file__).parents[1])
NOISE = 0.04  # of values that are told with one


class LaterClock:
    """The clock of a machine on which more time has gone by."""

    def __init__(self, seconds):
        self.seconds = seconds

    def now(self):
        return time.time() + self.seconds

    def sleep(self, seconds):
        time.sleep(seconds)


def height(point):
    """Smooth, another shape on every edge."""
    return math.sin(2.0 * point.distance + point.edge)


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

    def __init__(self, path, longest=0.0, noise=None):
        self.path, self.longest, self.noise = Path(path), longest, noise
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
        print("told", flush=True)


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


def work(storage, diary, budget, later=0.0, longest=0.0, noise=None, lease=60.0, dies_after=None):
    """Work on a study as one worker of several."""
    kept = Diary(diary, longest, noise)
    study = Study.load(storage, clock=LaterClock(later))
    if dies_after is not None:
        die_in_append(dies_after)
    done = study.work(kept, budget=budget, lease=lease, callbacks=[kept.receipt], pause=0.02)
    print(json.dumps([done.told, done.failed, done.stopped]), flush=True)


def take_queue(storage, diary):
    """Ask until nothing is in the queue."""
    study = Study.load(storage)
    while any(record.state.value == "waiting" for record in study.records):
        suggestion = study.ask()
        write_down(Path(diary), kind="took", id=suggestion.id, distance=suggestion.point.distance)


def tell_trial(storage, trial, value, note):
    """Tell one trial, said to have been asked long ago."""
    study = Study.load(storage)
    study.tell(Suggestion(trial, study.records[trial].point), value, note=note)
    print("told", flush=True)


JOBS = {"work": work, "take_queue": take_queue, "tell": tell_trial}


class Process:
    """A worker process that is getting ready; `begin` says what to do."""

    def __init__(self):
        threads = dict.fromkeys(netbo.optimize.evaluation.THREADS, "1")
        paths = os.pathsep.join([TESTS, os.environ.get("PYTHONPATH", "")]).rstrip(os.pathsep)
        environment = {**os.environ, **threads, "PYTHONPATH": paths}
        command = [sys.executable, "-m", "studies.stress_workers"]
        self.process = Popen(command, stdin=PIPE, stdout=PIPE, text=True, env=environment)

    def begin(self, job, **options):
        self.expect("ready")
        self.process.stdin.write(json.dumps([job, options]) + "\n")
        self.process.stdin.flush()

    def expect(self, said):
        line = self.process.stdout.readline().strip()
        assert line == said, f"a worker was to say {said!r}, got {line!r}"

    def kill(self):
        """SIGKILL, and True if it was alive."""
        alive = self.process.poll() is None
        self.process.kill()
        self.end()
        return alive

    def end(self, timeout=None):
        """Wait for it, close its pipes, and return the last line it said."""
        said, _ = self.process.communicate(timeout=timeout)
        return said.splitlines()[-1] if said else ""


def main():
    """Get ready, and do what is asked for on stdin."""
    print("ready", flush=True)
    line = sys.stdin.readline()
    if line:
        job, options = json.loads(line)
        JOBS[job](**options)


if __name__ == "__main__":
    main()
