"""Processes killed with SIGKILL at any moment: no value is lost, and the study goes on as if undisturbed."""

import time

import numpy as np
import pytest

from netbo.studies import State, Study
from studies.stress_workers import NOISE, LaterClock, Process, read_back, work
from support.studies import Undisturbed, create, height

LATER = 1000.0  # seconds that are said to go by between two runs: all leases have run out
LONGEST_STEP = 0.06  # seconds; about the time of one ask, evaluation and tell
LONGEST_START = 0.5  # seconds; about the time until the first ask is answered
ENDLESS = 100_000


class Patient:
    """A study whose workers are killed again and again."""

    def __init__(self, folder, seed, noise):
        self.path, self.diary, self.noise = folder / "walk.journal", folder / "diary.jsonl", noise
        self.expected, self.runs, self.deaths = Undisturbed(seed=seed, noise=noise), 0, []
        create(folder, seed=seed, lease=60.0)

    def later(self):
        """A clock on which every lease so far has run out."""
        self.runs += 1
        return LaterClock(self.runs * LATER)

    def begin(self, **options):
        return Process(
            work, storage=self.path, diary=self.diary, budget=ENDLESS, later=self.later().seconds,
            noise=self.noise, **options,
        )  # fmt: skip

    def examine(self):
        """Every receipt is in the study, every place was told once, and the next one is as it would be."""
        study = Study.load(self.path, clock=self.later())
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
        return n


def kill_at_random(folder, n_studies, n_kills, seed):
    """Kill workers that all studies share in turn; returns the studies."""
    rng = np.random.default_rng(seed)
    for number in range(n_studies):
        (folder / str(number)).mkdir()
    patients = [Patient(folder / str(i), seed=i, noise=NOISE if i % 2 else None) for i in range(n_studies)]
    for kill in range(n_kills):
        patient = patients[kill % n_studies]
        worker = patient.begin()
        awaited = int(rng.integers(0, 4))  # values, then some part of the next step
        for _ in range(awaited):
            worker.expect("told")
        time.sleep(rng.uniform(0.0, LONGEST_STEP if awaited else LONGEST_START))
        assert worker.kill(), "the worker was to be killed at work, and had ended"
        patient.examine()
    return patients


def finish(patient, n):
    """Go on until n places are told; they are those of the uninterrupted study."""
    study = Study.load(patient.path, clock=patient.later())
    study.work(lambda p: height(p) if patient.noise is None else (height(p), patient.noise), budget=n)
    told = [record.point for record in study.records if record.state is State.OBSERVED]

    assert told == patient.expected.first(n)


def test_five_kills_lose_nothing_and_change_no_suggestion(tmp_path):
    for patient in kill_at_random(tmp_path, n_studies=2, n_kills=5, seed=1):
        finish(patient, patient.examine() + 2)


@pytest.mark.slow
def test_a_hundred_kills_lose_nothing_and_change_no_suggestion(tmp_path):
    patients = kill_at_random(tmp_path, n_studies=10, n_kills=100, seed=2)
    for patient in patients:
        finish(patient, patient.examine() + 5)
    deaths = [death for patient in patients for death in patient.deaths]

    assert {"pending", "observed"} <= set(deaths)  # in the middle of an evaluation, and between two


def die_writing(patient, n_bytes, caplog):
    worker = patient.begin(dies_after=n_bytes)
    worker.end(timeout=300)
    whole, torn = patient.path.read_bytes(), patient.path.with_name("walk.journal.torn")
    before = torn.read_bytes() if torn.exists() else b""
    half = whole[whole.rindex(b"\n") + 1 :]
    caplog.clear()
    patient.examine()

    assert worker.process.exitcode == -9
    if half:
        assert torn.read_bytes() == before + half + b"\n"
        assert f"ended in half a line of {len(half)} bytes" in caplog.text


def test_a_kill_in_the_middle_of_an_append_leaves_half_a_line_that_is_kept_and_cut_off(tmp_path, caplog):
    """The lock, too, is held by the dead."""
    patient = Patient(tmp_path, seed=5, noise=None)
    die_writing(patient, 1500, caplog)

    assert patient.path.with_name("walk.journal.torn").exists()
    finish(patient, 8)


@pytest.mark.slow
def test_kills_in_the_middle_of_twenty_appends(tmp_path, caplog):
    rng = np.random.default_rng(8)
    patient = Patient(tmp_path, seed=6, noise=NOISE)
    for n_bytes in rng.integers(0, 4000, size=20):
        die_writing(patient, int(n_bytes), caplog)

    assert patient.path.with_name("walk.journal.torn").read_bytes().count(b"\n") >= 10
    finish(patient, patient.examine() + 3)
