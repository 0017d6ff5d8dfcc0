"""Workers killed with SIGKILL at work, on every storage: no value is lost, and the study goes on."""

import tempfile
import time
from contextlib import ExitStack
from pathlib import Path

import numpy as np

from netbo.studies import State, Study
from studies.stress_workers import NOISE, LaterClock, Process, read_back, work
from support.databases import proxy, running_postgres
from support.studies import GRAPH, SETTINGS, Undisturbed, height

LATER = 1000.0  # seconds that are said to go by between two runs: all leases have run out
LONGEST_STEP = 0.06  # seconds; about the time of one ask, evaluation and tell
LONGEST_START = 0.5  # seconds; about the time until the first ask is answered
ENDLESS = 100_000


class Patient:
    """A study whose workers are killed again and again; by default in a journal of the folder."""

    def __init__(self, folder, seed, noise, storage=None):
        self.path = folder / "walk.journal" if storage is None else storage
        self.diary, self.noise = folder / "diary.jsonl", noise
        self.expected, self.runs, self.deaths = Undisturbed(seed=seed, noise=noise), 0, []
        options = {**SETTINGS, "seed": seed, "lease": 60.0}
        close(Study.create(GRAPH, name="walk", storage=self.path, **options))

    def later(self):
        """A clock on which every lease so far has run out."""
        self.runs += 1
        return LaterClock(self.runs * LATER)

    def begin(self, **options):
        return Process(
            work, storage=self.path, diary=self.diary, budget=ENDLESS, later=self.later().seconds,
            noise=self.noise, **options,
        )  # fmt: skip

    def load(self):
        """The study, by a worker of its own."""
        return Study.load(self.path, clock=self.later())

    def examine(self):
        """Every receipt is in the study, every place was told once, and the next one is as it would be."""
        study = self.load()
        self.deaths.append(study.records[-1].state.value if study.records else "nothing")
        told = [record for record in study.records if record.state is State.OBSERVED]
        n, diary = len(told), read_back(self.diary)
        receipts = {entry["id"]: entry["value"] for entry in diary if entry["kind"] == "told"}
        values = {record.id: record.value for record in told}

        assert receipts.items() <= values.items()
        assert n <= sum(entry["kind"] == "ended" for entry in diary)
        assert len(receipts) == sum(entry["kind"] == "told" for entry in diary)
        assert [record.point for record in told] == self.expected.first(n)
        assert [record.value for record in told] == [height(point) for point in self.expected.first(n)]
        assert {record.noise for record in told} <= {self.noise}
        assert study.ask().point == self.expected.first(n + 1)[n]
        close(study)
        return n

    def finish(self, n):
        """Go on until n places are told; they are those of the uninterrupted study."""
        study = self.load()
        study.work(lambda p: height(p) if self.noise is None else (height(p), self.noise), budget=n)
        told = [record.point for record in study.records if record.state is State.OBSERVED]
        close(study)

        assert told == self.expected.first(n)


def close(study):
    """Let go of a database: its server could not end."""
    backend = getattr(study.storage, "_backend", None)
    if hasattr(backend, "engine"):
        backend.engine.dispose()
    if hasattr(study.storage, "close"):
        study.storage.close()


def kill_at_random(patients, n_kills, seed, *, least=0):
    """Kill workers of the studies in turn, after at least so many values and some part of the next step."""
    rng = np.random.default_rng(seed)
    for kill in range(n_kills):
        patient = patients[kill % len(patients)]
        worker = patient.begin()
        awaited = int(rng.integers(least, 4))
        for _ in range(awaited):
            worker.expect("told")
        time.sleep(rng.uniform(0.0, LONGEST_STEP if awaited else LONGEST_START))
        assert worker.kill(), "the worker was to be killed at work, and had ended"
        patient.examine()


def fuzz_kills(n, seed, kinds=("journal", "sqlite", "postgresql", "grpc"), say=lambda *_: None):
    """Kill n workers at work on each storage; returns the values told, or raises at a loss."""
    told = {}
    for kind in kinds:
        with ExitStack() as stack:
            folder = Path(stack.enter_context(tempfile.TemporaryDirectory()))
            database = f"sqlite:///{folder / 'walk.db'}"
            storage = {"journal": None, "sqlite": database}.get(kind)
            if kind == "postgresql":
                storage = stack.enter_context(running_postgres()).get_uri()
            if kind == "grpc":
                storage = stack.enter_context(proxy(database)).url
            patient = Patient(folder, seed, NOISE, storage)
            kill_at_random([patient], n, seed, least=1)
            told[kind] = patient.examine()
            patient.finish(told[kind] + 3)
            say(kind, n, told[kind], sorted(set(patient.deaths)))
    return told
