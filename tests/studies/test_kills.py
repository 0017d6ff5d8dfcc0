"""Processes killed with SIGKILL at any moment: no value is lost, and the study goes on as if undisturbed."""

import numpy as np
import pytest

from fuzz.kills import Patient, fuzz_kills, kill_at_random
from studies.stress_workers import NOISE


def patients(folder, n):
    """Studies in journals, every other with noise."""
    for number in range(n):
        (folder / str(number)).mkdir()
    return [Patient(folder / str(i), seed=i, noise=NOISE if i % 2 else None) for i in range(n)]


def test_five_kills_lose_nothing_and_change_no_suggestion(tmp_path):
    studies = patients(tmp_path, 2)
    kill_at_random(studies, n_kills=5, seed=1)
    for patient in studies:
        patient.finish(patient.examine() + 2)


def test_a_kill_on_a_database_loses_nothing():
    """`fuzz_kills(60, seed)` is the long form, on every storage."""
    assert set(fuzz_kills(1, seed=1, kinds=["sqlite"])) == {"sqlite"}


@pytest.mark.slow
def test_kills_on_every_storage_lose_nothing():
    assert set(fuzz_kills(5, seed=2)) == {"journal", "sqlite", "postgresql", "grpc"}


@pytest.mark.slow
def test_a_hundred_kills_lose_nothing_and_change_no_suggestion(tmp_path):
    studies = patients(tmp_path, 10)
    kill_at_random(studies, n_kills=100, seed=2)
    for patient in studies:
        patient.finish(patient.examine() + 5)
    deaths = [death for patient in studies for death in patient.deaths]

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
    patient.finish(8)


@pytest.mark.slow
def test_kills_in_the_middle_of_twenty_appends(tmp_path, caplog):
    rng = np.random.default_rng(8)
    patient = Patient(tmp_path, seed=6, noise=NOISE)
    for n_bytes in rng.integers(0, 4000, size=20):
        die_writing(patient, int(n_bytes), caplog)

    assert patient.path.with_name("walk.journal.torn").read_bytes().count(b"\n") >= 10
    patient.finish(patient.examine() + 3)
