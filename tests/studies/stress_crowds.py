"""Many processes on one study of any storage, and the judge of what they did."""

import json
import time
from contextlib import contextmanager

import netbo
from netbo.studies import State, Study
from studies.stress_workers import Process, height, read_back

GRAPH = netbo.star(3, length=2.0)
SETTINGS = {"noise": 0.0, "repeats": False, "seed": 7, "max_cell": 0.012}  # 501 candidates, each asked once
LONGEST_EVALUATION = 0.05  # seconds
PATIENCE = 900.0  # seconds; far more than any of it takes: who is not ready then waits for ever


@contextmanager
def crowd(n):
    """Worker processes, killed at the end whatever happened."""
    workers = [Process() for _ in range(n)]
    try:
        yield workers
    finally:
        for worker in workers:
            worker.kill()


def work_together(storage, folder, n_workers, n_trials):
    """A study by many workers; returns what they did and what each of them wrote down."""
    Study.create(GRAPH, name="crowd", storage=storage, **SETTINGS)
    deadline = time.monotonic() + PATIENCE
    diaries = [folder / f"{number}.jsonl" for number in range(n_workers)]
    with crowd(n_workers) as workers:
        for worker, diary in zip(workers, diaries, strict=True):
            options = {"storage": str(storage), "diary": str(diary), "longest": LONGEST_EVALUATION}
            worker.begin("work", budget=n_trials, **options)
        works = [json.loads(worker.end(timeout=deadline - time.monotonic())) for worker in workers]
    return works, [read_back(diary) for diary in diaries]


def evaluations(diaries):
    """Place, beginning and end of every evaluation; one that was cut short ends with its diary."""
    found = []
    for diary in diaries:
        for entry, after in zip(diary, [*diary[1:], *diary[-1:]], strict=True):
            if entry["kind"] == "begun":
                found.append(((entry["edge"], entry["distance"]), entry["time"], after["time"]))
    return found


def at_the_same_time(found):
    """Pairs of evaluations of one place that overlap in time."""
    places = {}
    for place, begun, ended in found:
        places.setdefault(place, []).append((begun, ended))
    return [
        (place, first, second)
        for place, times in places.items()
        for first, second in zip(sorted(times), sorted(times)[1:], strict=False)
        if second[0] < first[1]
    ]


def check_all_was_told_once(storage, works, diaries, n_trials):
    study = Study.load(storage)
    told = [record for record in study.records if record.state is State.OBSERVED]
    receipts = [entry["id"] for diary in diaries for entry in diary if entry["kind"] == "told"]
    found = evaluations(diaries)

    assert at_the_same_time(found) == []
    assert len(told) == len({record.point for record in told}) == n_trials == study.n_told
    assert len(found) == len({place for place, *_ in found}) == n_trials
    assert sorted(receipts) == [record.id for record in told]
    assert [record.value for record in told] == [height(record.point) for record in told]
    assert {record.state for record in study.records} <= {State.OBSERVED, State.VOID}
    assert sum(told for told, _, _ in works) == n_trials
    assert {tuple(rest) for _, *rest in works} == {(0, f"the budget of {n_trials} evaluations is spent")}


def take_a_queue(storage, folder, n_workers, n_places):
    """Enqueued places by number, as they were handed out by workers that all begin at once."""
    study = Study.create(GRAPH, name="queue", storage=storage, **SETTINGS)
    for number in range(n_places):
        study.enqueue((number % 3, 0.01 * number))
    diaries = [folder / f"{number}.jsonl" for number in range(n_workers)]
    with crowd(n_workers) as workers:
        for worker, diary in zip(workers, diaries, strict=True):
            worker.begin("take_queue", storage=str(storage), diary=str(diary))
        for worker in workers:
            worker.end(timeout=PATIENCE)
    return [entry["id"] for diary in diaries for entry in read_back(diary)]
