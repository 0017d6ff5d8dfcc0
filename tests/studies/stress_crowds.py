"""Many processes on one study of any storage, and the judge of what they did."""

import multiprocessing
import time
from contextlib import contextmanager

from netbo.studies import State, Study
from studies.stress_workers import Process, read_back, take_queue, work
from support.studies import GRAPH, height

SETTINGS = {"noise": 0.0, "repeats": False, "seed": 7, "max_cell": 0.012}  # 501 candidates, each asked once
LONGEST_EVALUATION = 0.05  # seconds
DEADLINE = 900.0  # seconds; far more than any of it takes: who is not ready then waits for ever


@contextmanager
def crowd():
    """A function that starts worker processes, which are killed at the end whatever happened."""
    workers = []

    def begin(job, **options):
        workers.append(Process(job, **options))
        return workers[-1]

    try:
        yield begin
    finally:
        for worker in workers:
            worker.kill()


def work_together(storage, folder, n_workers, n_trials):
    """A study by many workers; returns what they did and what each of them wrote down."""
    Study.create(GRAPH, name="crowd", storage=storage, **SETTINGS)
    deadline = time.monotonic() + DEADLINE
    diaries = [folder / f"{number}.jsonl" for number in range(n_workers)]
    with crowd() as begin:
        options = {"storage": str(storage), "budget": n_trials, "longest": LONGEST_EVALUATION}
        workers = [begin(work, diary=diary, **options) for diary in diaries]
        works = [worker.end(timeout=deadline - time.monotonic()) for worker in workers]
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
    with crowd() as begin:
        for worker in [begin(take_queue, storage=str(storage), diary=diary) for diary in diaries]:
            worker.end(timeout=DEADLINE)
    return [entry["id"] for diary in diaries for entry in read_back(diary)]


def measure_and_tell(study, n_trials):
    """Ask and tell in the process that this is called in."""
    for _ in range(n_trials):
        suggestion = study.ask()
        study.tell(suggestion, height(suggestion.point))


def check_forks(storage, n_children=2, n_trials=4, method="fork"):
    """A study that was used and is then used on in children and parent at once: all of it is told once."""
    study = Study.create(GRAPH, name="crowd", storage=storage, **SETTINGS)
    measure_and_tell(study, 1)
    held = study.ask()
    context = multiprocessing.get_context(method)
    children = [
        context.Process(target=measure_and_tell, args=(study, n_trials), daemon=True)
        for _ in range(n_children)
    ]
    try:
        for child in children:
            child.start()
        measure_and_tell(study, n_trials)
        for child in children:
            child.join(DEADLINE)
        ends = [child.exitcode for child in children]
    finally:
        for child in children:
            child.kill()
    study.tell(held, height(held.point))
    told = [record for record in Study.load(storage, "crowd").records if record.state is State.OBSERVED]

    assert ends == [0] * n_children
    assert len(told) == len({record.point for record in told}) == 2 + n_trials * (n_children + 1)
    assert [record.value for record in told] == [height(record.point) for record in told]
    assert len({record.worker for record in told}) == n_children + 1
    assert {record.state for record in study.records} <= {State.OBSERVED, State.VOID}


def in_a_child(action):
    """What a forked process says of an action."""
    hears, says = multiprocessing.Pipe(duplex=False)

    def run():
        try:
            said = action()
        except Exception as error:
            said = f"{type(error).__name__}: {error}"
        says.send(said)

    child = multiprocessing.get_context("fork").Process(target=run, daemon=True)
    child.start()
    try:
        assert hears.poll(120)
        return hears.recv()
    finally:
        child.kill()
        child.join()
