"""Workers: they come, go and die; the study has everything."""

import os
import signal
import threading
import time
from concurrent.futures import BrokenExecutor, Executor, ThreadPoolExecutor

import pytest

from netbo.errors import ObservationError, ParameterError
from netbo.optimize import Target
from netbo.studies import State, StudyError
from netbo.studies.worker import INTERRUPTED, Heartbeat
from studies.stress_workers import Process, hang
from support.studies import GRAPH, JumpingClock, create, hangs_on_the_first_edge, height, load, uninterrupted


def observed(study):
    return [record for record in study.records if record.state is State.OBSERVED]


def test_a_worker_spends_the_budget_where_the_optimizer_would(tmp_path):
    study = create(tmp_path)
    work = study.work(height, budget=10)

    assert [record.point for record in observed(study)] == uninterrupted(10)
    assert (work.told, work.failed, work.stopped) == (10, 0, "the budget of 10 evaluations is spent")


def test_a_second_worker_goes_on_where_the_first_stopped(tmp_path):
    create(tmp_path).work(height, budget=4)
    work = load(tmp_path).work(height, budget=10)

    assert work.told == 6
    assert [record.point for record in observed(load(tmp_path))] == uninterrupted(10)


def test_a_study_goes_on_after_every_kind_of_failure(tmp_path):
    answers = iter([RuntimeError("no signal"), float("nan"), "text", float("inf"), 1.0, (2.0, 0.5), 3.0])

    def moody(point):
        answer = next(answers)
        if isinstance(answer, Exception):
            raise answer
        return answer

    study = create(tmp_path)
    work = study.work(moody, budget=7)
    notes = [record.note for record in study.records if record.state is State.FAILED]

    assert (work.told, work.failed) == (3, 4)
    reasons = ["RuntimeError: no signal", "returned nan", "got 'text' of type str", "returned inf"]
    assert all(reason in note for reason, note in zip(reasons, notes, strict=True))
    assert study.records[5].noise == 0.5


def fails(point):
    raise RuntimeError("no licence here")


def test_an_objective_that_only_fails_is_given_up_with_its_reason(tmp_path):
    """A mistake in the objective would spend the budget of all."""
    study = create(tmp_path, design=3)
    with pytest.raises(ObservationError, match=r"one of the first 5 .* got 5 failures.*no licence here"):
        study.work(fails, budget=50)

    assert [record.state for record in study.records] == [State.FAILED] * 5


def test_a_worker_that_only_fails_gives_up_where_others_have_values(tmp_path):
    study = create(tmp_path, design=3)
    study.work(height, budget=4)
    with pytest.raises(ObservationError, match="got 5 failures"):
        load(tmp_path).work(fails, budget=50)

    assert len(load(tmp_path).records) == 9
    assert load(tmp_path).work(height, budget=12).told == 3


def test_workers_that_only_fail_give_up_together(tmp_path):
    """The failures of all count while nobody has a value: ten workers do not need fifty."""
    study = create(tmp_path, design=3)
    other = load(tmp_path)

    def fails_here_and_there(point):
        if other.n_told < 4:
            suggestion = other.ask()
            other.tell(suggestion, "failed", note="no licence there")
        raise RuntimeError("no licence here")

    with pytest.raises(ObservationError, match=r"got [56] failures"):
        study.work(fails_here_and_there, budget=50)

    assert len(study.records) <= 6


def test_failures_of_earlier_days_do_not_count(tmp_path):
    study = create(tmp_path, design=3)
    with pytest.raises(ObservationError, match="got 5 failures"):
        study.work(fails, budget=50)
    answers = iter([RuntimeError("once"), 1.0, 2.0])

    def mended(point):
        answer = next(answers)
        if isinstance(answer, Exception):
            raise answer
        return answer

    assert load(tmp_path).work(mended, budget=8).told == 2


def test_an_objective_that_hangs_has_failed_by_timeout_and_the_study_goes_on(tmp_path):
    study = create(tmp_path, candidates=GRAPH.points([0, 1, 2], [1.0, 1.0, 1.0]), noise=0.0, design=3)
    work = study.work(hangs_on_the_first_edge, budget=3, timeout=2.0)
    failed = [record for record in study.records if record.state is State.FAILED]

    assert (work.told, work.failed) == (2, 1)
    assert failed[0].point.edge == 0
    assert failed[0].note == "timeout: no value within 2 seconds"


def test_several_workers_share_a_budget_exactly(tmp_path):
    create(tmp_path)
    works = []

    def join():
        works.append(load(tmp_path).work(height, budget=20, pause=0.01))

    threads = [threading.Thread(target=join) for _ in range(3)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    study = load(tmp_path)

    assert study.n_told == study.n_handed_out == 20
    assert sum(work.told for work in works) == 20
    assert {work.stopped for work in works} == {"the budget of 20 evaluations is spent"}


def test_an_executor_keeps_several_evaluations_in_flight(tmp_path):
    flying, most, guard = [0], [0], threading.Lock()

    def slow(point):
        with guard:
            flying[0] += 1
            most[0] = max(most[0], flying[0])
        time.sleep(0.05)
        with guard:
            flying[0] -= 1
        return height(point)

    study = create(tmp_path)
    with ThreadPoolExecutor(3) as pool:
        work = study.work(slow, budget=12, executor=pool)

    assert work.told == study.n_told == 12
    assert 1 < most[0] <= 3


def test_in_an_executor_what_hangs_is_given_up(tmp_path):
    free = threading.Event()

    def hangs_once(point):
        if point == first:
            free.wait(60)
        return height(point)

    study = create(tmp_path)
    first = uninterrupted(1)[0]
    with ThreadPoolExecutor(2) as pool:
        work = study.work(hangs_once, budget=4, executor=pool, timeout=0.3, pause=0.05)
        free.set()

    assert (work.told, work.failed) == (3, 1)
    assert study.records[0].note == "timeout: no value within 0.3 seconds"


class Broken(Executor):
    """Its workers are gone."""

    def submit(self, fn, /, *args, **kwargs):
        raise BrokenExecutor("nobody is left")


def test_when_an_executor_breaks_the_places_are_given_back(tmp_path):
    study = create(tmp_path)
    with pytest.raises(BrokenExecutor, match="nobody is left"):
        study.work(height, budget=5, executor=Broken(), workers=2)

    assert [record.state for record in study.records] == [State.RELEASED]
    assert study.ask().point == uninterrupted(1)[0]


def test_rules_and_callbacks_are_asked_after_each_value(tmp_path):
    seen = []
    study = create(tmp_path)
    work = study.work(
        height, budget=50, stop=[Target(0.9)], callbacks=[lambda study, record: seen.append(record.id)]
    )
    best = max(record.value for record in observed(study))

    assert best >= 0.9
    assert work.stopped == "the target 0.9 is reached"
    assert seen == [record.id for record in observed(study)]


def test_a_network_that_is_measured_everywhere_ends_the_work(tmp_path):
    study = create(tmp_path, noise=0.0, candidates=GRAPH.points([0, 1], [0.5, 1.0]))
    work = study.work(height, budget=9)

    assert work.told == 2
    assert work.stopped.startswith("all 2 candidates have been measured")


def test_a_worker_does_not_wait_for_people_without_a_lease(tmp_path):
    study = create(tmp_path)
    load(tmp_path).ask(lease=None)
    work = study.work(height, budget=3)

    assert work.told == 2
    assert work.stopped == "the budget of 3 evaluations is handed out, the rest to people without a lease"


def test_a_worker_waits_for_others_and_takes_over_when_they_die(tmp_path):
    clock = JumpingClock()
    study, other = create(tmp_path, clock=clock), load(tmp_path, clock=clock)
    dead = other.ask(lease=30.0)
    work = study.work(height, budget=3, lease=None)

    assert work.told == 3
    assert study.records[dead.id].state is State.EXPIRED
    assert clock.slept >= 29.0
    assert dead.point in [record.point for record in observed(study)]


@pytest.mark.parametrize("number", [signal.SIGINT, signal.SIGTERM])
def test_a_signal_gives_the_place_back_and_keeps_every_value(tmp_path, number):
    count = []

    def interrupted(point):
        count.append(point)
        if len(count) == 4:
            os.kill(os.getpid(), number)
            time.sleep(30)
        return height(point)

    study = create(tmp_path)
    before = signal.getsignal(number)
    work = study.work(interrupted, budget=10)

    assert (work.told, work.stopped) == (3, INTERRUPTED)
    assert signal.getsignal(number) is before
    assert study.records[3].state is State.RELEASED
    load(tmp_path).work(height, budget=10)
    assert [record.point for record in observed(study)] == uninterrupted(10)


def test_a_signal_while_a_value_is_written_waits_until_it_is(tmp_path):
    study = create(tmp_path)
    tell = study.tell

    def signalled(*arguments, **options):
        os.kill(os.getpid(), signal.SIGTERM)
        return tell(*arguments, **options)

    study.tell = signalled
    work = study.work(height, budget=10)

    assert (work.told, work.stopped) == (1, INTERRUPTED)
    assert [record.state for record in load(tmp_path).records] == [State.OBSERVED]


def test_a_signal_while_others_are_waited_for_ends_the_wait(tmp_path):
    study, other = create(tmp_path), load(tmp_path)
    other.ask(lease=300.0)
    timer = threading.Timer(0.5, os.kill, (os.getpid(), signal.SIGTERM))
    timer.start()
    work = study.work(height, budget=1, pause=60.0)
    timer.join()

    assert (work.told, work.stopped) == (0, INTERRUPTED)


def test_leases_are_renewed_while_a_value_is_awaited(tmp_path):
    study, other = create(tmp_path), load(tmp_path)
    expiries = []

    def slow(point):
        expiries.append(other.records[0].expires)
        deadline = time.monotonic() + 30.0
        while other.records[0].expires == expiries[0] and time.monotonic() < deadline:
            time.sleep(0.02)
        expiries.append(other.records[0].expires)
        return height(point)

    study.work(slow, budget=1, lease=0.6)

    assert expiries[1] > expiries[0]


def test_a_lost_lease_is_no_longer_kept_and_its_value_is_told_late(tmp_path):
    clock = JumpingClock()
    study, other = create(tmp_path, clock=clock), load(tmp_path, clock=clock)
    suggestion = study.ask(lease=10.0)
    heartbeat = Heartbeat(study.trial_store, 10.0)
    heartbeat.add(suggestion.id)
    clock.jump(11.0)
    other.ask()
    heartbeat.beat()
    study.tell(suggestion, 1.0)

    assert heartbeat._keys == {}
    assert study.records[suggestion.id].value == 1.0


def test_a_storage_that_is_away_for_a_beat_ends_no_heartbeat(tmp_path, caplog):
    study = create(tmp_path)
    suggestion = study.ask(lease=0.3)
    beats = []

    def keep(key, seconds):
        beats.append(key)
        if len(beats) == 1:
            raise OSError("the server is away")
        return True

    study.trial_store.renew_lease = keep
    with Heartbeat(study.trial_store, 0.3) as heartbeat:
        heartbeat.add(suggestion.id)
        deadline = time.monotonic() + 30.0
        while len(beats) < 3 and time.monotonic() < deadline:
            time.sleep(0.01)

    assert len(beats) >= 3
    assert "leases could not be renewed" in caplog.text


@pytest.mark.parametrize(
    ("options", "error", "message"),
    [
        ({"budget": 0}, ParameterError, "budget must be a whole number of at least one"),
        ({"budget": 2, "lease": -1}, StudyError, "lease must be a positive number of seconds"),
        ({"budget": 2, "timeout": -1}, StudyError, "timeout must be a positive number of seconds"),
        ({"budget": 2, "pause": 0}, StudyError, "pause must be a positive number of seconds"),
        ({"budget": 2, "workers": 3}, ParameterError, "workers counts evaluations in flight"),
    ],
)
def test_bad_options_are_refused_before_anything_is_asked(tmp_path, options, error, message):
    study = create(tmp_path)
    with pytest.raises(error, match=message):
        study.work(height, **options)
    assert study.records == []


def test_a_worker_process_killed_during_an_evaluation_loses_nothing(tmp_path):
    study = create(tmp_path)
    study.work(height, budget=2)
    worker = Process(hang, storage=tmp_path / "walk.journal", worker="doomed")
    worker.expect("begun")
    worker.kill()
    released = study.release_worker("doomed")
    load(tmp_path).work(height, budget=6)

    assert released == [2]
    assert [record.point for record in observed(study)] == uninterrupted(6)
    assert study.n_told == 6
