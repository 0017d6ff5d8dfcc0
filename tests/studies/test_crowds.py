"""Many processes on one study: every trial is told once, nobody waits forever, nobody measures in vain."""

import os
import random
import time

import pytest

from netbo.studies import State, Study
from studies.stress_crowds import (
    DEADLINE,
    SETTINGS,
    at_the_same_time,
    check_all_was_told_once,
    crowd,
    evaluations,
    take_a_queue,
    work_together,
)
from studies.stress_workers import Process, read_back, tell, tell_on_a_full_disk, work
from support.studies import GRAPH, JumpingClock, height


def test_overlaps_are_found():
    """The judge of the tests below."""
    apart = [("a", 0.0, 1.0), ("a", 1.5, 2.0), ("b", 0.5, 3.0)]
    assert at_the_same_time(apart) == []
    assert at_the_same_time([*apart, ("b", 2.9, 4.0)]) == [("b", (0.5, 3.0), (2.9, 4.0))]


def test_three_workers_on_a_journal_tell_every_trial_once(tmp_path):
    storage = tmp_path / "crowd.journal"
    works, diaries = work_together(storage, tmp_path, n_workers=3, n_trials=24)

    check_all_was_told_once(storage, works, diaries, 24)


@pytest.mark.slow
@pytest.mark.parametrize("kind", ["journal", "sqlite"])
def test_eight_workers_tell_four_hundred_trials_once(tmp_path, kind):
    storage = tmp_path / "crowd.journal" if kind == "journal" else f"sqlite:///{tmp_path / 'crowd.db'}"
    works, diaries = work_together(storage, tmp_path, n_workers=8, n_trials=400)

    check_all_was_told_once(storage, works, diaries, 400)
    assert sum(told > 0 for told, _, _ in works) > 1


@pytest.mark.slow
@pytest.mark.parametrize("kind", ["journal", "sqlite"])
def test_four_workers_never_take_one_place_of_the_queue_twice(tmp_path, kind):
    """SQLite knows no SELECT FOR UPDATE: without a lock of ours two workers take one trial."""
    storage = tmp_path / "queue.journal" if kind == "journal" else f"sqlite:///{tmp_path / 'queue.db'}"
    taken = take_a_queue(storage, tmp_path, n_workers=4, n_places=60)

    assert len(taken) == len(set(taken))
    assert set(range(60)) <= set(taken)


def work_and_die(storage, folder, n_trials, n_kills):
    """A study by three workers of whom one is killed again and again, and replaced."""
    chance, diaries = random.Random(4), []
    lease = 3.0  # seconds, real ones

    with crowd() as begin:

        def another():
            diaries.append(folder / f"{len(diaries)}.jsonl")
            options = {"storage": str(storage), "budget": n_trials, "longest": 0.2, "lease": lease}
            return begin(work, diary=diaries[-1], **options)

        alive = [another() for _ in range(3)]
        for _ in range(n_kills):
            worker = alive.pop(0)
            worker.expect("told")
            time.sleep(chance.uniform(0.0, 0.4))
            assert worker.kill(), "the study was finished too soon"
            alive.append(another())
        for worker in alive:
            worker.end(timeout=DEADLINE)
    return [read_back(diary) for diary in diaries]


@pytest.mark.slow
@pytest.mark.parametrize("kind", ["journal", "sqlite"])
def test_a_crowd_whose_workers_are_killed_and_replaced_loses_nothing(tmp_path, kind):
    storage = tmp_path / "crowd.journal" if kind == "journal" else f"sqlite:///{tmp_path / 'crowd.db'}"
    Study.create(GRAPH, name="crowd", storage=storage, asking_lease=20.0, **SETTINGS)
    diaries = work_and_die(storage, tmp_path, n_trials=120, n_kills=8)
    study = Study.load(storage)
    told = {record.id: record for record in study.records if record.state is State.OBSERVED}
    receipts = {entry["id"] for diary in diaries for entry in diary if entry["kind"] == "told"}

    assert receipts <= set(told)
    assert len({record.point for record in told.values()}) == study.n_told == len(told) == 120
    assert at_the_same_time(evaluations(diaries)) == []
    assert all(record.value == height(record.point) for record in told.values())


def test_a_value_that_does_not_fit_on_the_disk_is_not_said_to_be_told(tmp_path):
    """A write that is cut short is an error; half of it is kept apart, and the trial can still be told."""
    storage = tmp_path / "full.journal"
    Study.create(GRAPH, name="full", storage=storage, **SETTINGS)
    said = Process(tell_on_a_full_disk, storage=storage, n_bytes=40).end()
    half = storage.read_bytes().splitlines()[-1]
    study = Study.load(storage)

    assert said == "refused"
    assert len(half) == 40
    assert [record.state for record in study.records] == [State.PENDING]
    study.tell(0, 0.25)
    assert Study.load(storage).records[0].value == 0.25
    assert (tmp_path / "full.journal.torn").read_bytes() == half + b"\n"


@pytest.mark.parametrize("scheme", ["", "sqlite:///"])
def test_an_objective_that_changes_the_folder_changes_no_study(tmp_path, monkeypatch, scheme):
    elsewhere = tmp_path / "elsewhere"
    elsewhere.mkdir()
    monkeypatch.chdir(tmp_path)
    study = Study.create(GRAPH, name="here", storage=f"{scheme}here.file", **SETTINGS)

    def wanders(point):
        os.chdir(elsewhere)
        return height(point)

    study.work(wanders, budget=3, lease=0.3)
    assert list(elsewhere.iterdir()) == []
    monkeypatch.chdir(tmp_path)
    assert Study.load(f"{scheme}here.file").n_told == 3


def test_a_lock_that_a_stranger_holds_is_not_broken_by_the_death_of_one_who_waited(tmp_path):
    """Killed while it waited for a dashboard: the lock of the dashboard is not its own."""
    from optuna.storages.journal import JournalFileSymlinkLock

    storage = tmp_path / "held.journal"
    study = Study.create(GRAPH, name="held", storage=storage, **SETTINGS)
    study.ask()
    stranger = JournalFileSymlinkLock(str(storage))
    stranger.acquire()
    with crowd() as begin:
        first = begin(tell, storage=storage, trial=0, value=1.0, note="")
        wait_until_named(storage.with_name("held.journal.guard"), first.process.pid)
        first.kill()
        second = begin(tell, storage=storage, trial=0, value=2.0, note="")
        wait_until_named(storage.with_name("held.journal.guard"), second.process.pid)
        time.sleep(0.5)  # time enough to break what must not be broken

        assert Study.load(storage).n_told == 0
        stranger.release()
        second.expect("told")
    assert [record.value for record in Study.load(storage).records] == [2.0]


def wait_until_named(guard, process):
    deadline = time.monotonic() + 120.0
    while str(process) not in guard.read_text().split():
        assert time.monotonic() < deadline, f"process {process} never came to the lock"
        time.sleep(0.01)


def test_an_ask_gets_through_however_short_the_lease(tmp_path, monkeypatch, caplog):
    """Computing takes five seconds, a reservation lasts two, and a rival takes all who are late for dead."""
    clock, storage = JumpingClock(), tmp_path / "busy.journal"
    study = Study.create(GRAPH, name="busy", storage=storage, clock=clock, asking_lease=2.0, **SETTINGS)
    rival = Study.load(storage, clock=clock)
    rival.ask()
    propose = study.dispatcher.optimizer.propose

    def slow(travel=None):
        clock.jump(5.0)
        rival.dispatcher.expire_leases(rival.records)
        return propose(travel)

    monkeypatch.setattr(study.dispatcher.optimizer, "propose", slow)
    for _ in range(2):
        study.tell(study.ask(), 0.5)

    assert study.n_told == 2
    assert [record.state for record in study.records].count(State.VOID) == 4  # after 2 and 4 seconds, twice
    assert "took longer than its lease of 2 seconds" in caplog.text


def test_a_short_lease_is_said_to_be_one(tmp_path, caplog):
    study = Study.create(GRAPH, name="short", storage=tmp_path / "short.journal", **SETTINGS)
    study.work(height, budget=2, lease=0.6)

    assert "a lease of 0.6 seconds is short" in caplog.text
