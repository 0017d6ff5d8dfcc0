import threading

import numpy as np
import pytest
from optuna.storages import InMemoryStorage

import netbo
from netbo.errors import ExhaustedError, ParameterError
from netbo.studies import BudgetError, State, Study, StudyError
from support.studies import GRAPH, SETTINGS, JumpingClock, create, height, load, optimizer, uninterrupted


def points(suggestions):
    return [suggestion.point for suggestion in suggestions]


def test_a_study_asks_where_an_optimizer_asks(tmp_path):
    study, found = create(tmp_path), []
    for _ in range(15):
        suggestion = study.ask()
        study.tell(suggestion, height(suggestion.point))
        found.append(suggestion.point)

    assert found == uninterrupted(15)


def test_a_suggestion_is_stored_before_it_is_returned(tmp_path):
    suggestion = create(tmp_path).ask()
    record = load(tmp_path).records[suggestion.id]

    assert (record.point, record.state) == (suggestion.point, State.PENDING)


def test_a_batch_is_that_of_an_optimizer(tmp_path):
    assert points(create(tmp_path).ask(7)) == points(optimizer().ask(7))


def test_a_batch_keeps_its_separation(tmp_path):
    batch = create(tmp_path, separation=0.6).ask(5)
    x = netbo.Points.at(points(batch), graph=GRAPH)
    apart = GRAPH.distance(x, x)[~np.eye(5, dtype=bool)]

    assert apart.min() >= 0.6


@pytest.mark.parametrize("n", [0, -1, True, 1.5, "2"])
def test_n_counts_suggestions(tmp_path, n):
    with pytest.raises(ParameterError, match=r"n counts suggestions, got .*; ask for one or more"):
        create(tmp_path).ask(n)


@pytest.mark.parametrize("lease", [0, -1.0, float("inf"), True, "an hour"])
def test_a_lease_is_a_time(tmp_path, lease):
    with pytest.raises(StudyError, match=r"lease must be a positive number of seconds, or None"):
        create(tmp_path).ask(lease=lease)


def test_several_objects_on_one_file_see_each_other(tmp_path):
    first = create(tmp_path)
    second = load(tmp_path)
    found = points([first.ask(), second.ask(), first.ask(), second.ask(), second.ask()])

    assert found == points(optimizer().ask(5))


def test_threads_with_studies_of_their_own_get_the_places_of_one_optimizer(tmp_path):
    """Concurrent asks are ordered: as many places as asks, and those of a batch asked by one."""
    create(tmp_path)
    n_threads, each = 4, 5
    failures = []

    def ask():
        try:
            study = load(tmp_path)
            for _ in range(each):
                study.ask()
        except BaseException as error:
            failures.append(error)

    threads = [threading.Thread(target=ask) for _ in range(n_threads)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    handed_out = [record.point for record in load(tmp_path).records if record.state is State.PENDING]

    assert not failures
    assert handed_out == points(optimizer().ask(n_threads * each))


def test_an_ask_that_was_overtaken_between_computing_and_writing_is_computed_again(tmp_path):
    first, second = create(tmp_path), load(tmp_path)
    propose, others = first.dispatcher.optimizer.propose, []

    def slow(travel=None):
        point = propose(travel)
        if not others:
            others.append(second.ask())
        return point

    first.dispatcher.optimizer.propose = slow
    found = first.ask()
    states = [record.state for record in first.records]

    assert points([*others, found]) == points(optimizer().ask(2))
    assert states == [State.PENDING, State.VOID, State.PENDING]


def test_a_worker_waits_for_the_place_of_a_lower_trial_until_its_lease_ends(tmp_path):
    clock = JumpingClock()
    study = create(tmp_path, asking_lease=50.0, clock=clock)
    study.trial_store.reserve({"worker": "slow", "expires": clock.now() + 50.0})
    suggestion = study.ask()

    assert 50.0 <= clock.slept < 51.0
    assert study.records[0].state is State.VOID
    assert suggestion.point == optimizer().ask().point


def test_a_worker_that_waits_long_keeps_its_own_reservation(tmp_path):
    """The one before it may take 35 of its 40 seconds, twice over: each wait is bounded by a lease."""
    clock = JumpingClock()
    study = create(tmp_path, asking_lease=40.0, clock=clock)
    for late in (39.0, 75.0):
        study.trial_store.reserve({"worker": "slow", "expires": clock.now() + late})
    suggestion = study.ask()

    assert suggestion.id == 2
    assert clock.slept >= 75.0


def test_a_worker_taken_for_dead_while_it_computes_asks_again(tmp_path):
    clock = JumpingClock()
    first, second = create(tmp_path, asking_lease=50.0, clock=clock), load(tmp_path, clock=clock)
    begun = second.ask()  # so that the first reserves its trial
    propose, others = first.dispatcher.optimizer.propose, []

    def slow(travel=None):
        point = propose(travel)
        if not others:
            clock.jump(51.0)
            others.append(second.ask())
        return point

    first.dispatcher.optimizer.propose = slow
    found = first.ask()

    assert points([begun, *others, found]) == points(optimizer().ask(3))


def test_an_ask_that_fails_leaves_nobody_waiting(tmp_path):
    clock = JumpingClock()
    first, second = create(tmp_path, clock=clock), load(tmp_path, clock=clock)
    second.ask()

    def broken(travel=None):
        raise KeyboardInterrupt

    first.dispatcher.optimizer.propose = broken
    with pytest.raises(KeyboardInterrupt):
        first.ask()
    second.ask()

    assert clock.slept == 0
    assert first.records[1].state is State.VOID
    assert first.records[1].note == "KeyboardInterrupt: "


def test_the_place_of_a_dead_worker_goes_to_the_next_who_asks(tmp_path):
    clock = JumpingClock()
    first, second = create(tmp_path, lease=10.0, clock=clock), load(tmp_path, clock=clock)
    dead = first.ask()
    clock.jump(11.0)
    heir, after = second.ask(), second.ask()

    assert heir.point == dead.point
    assert second.records[dead.id].state is State.EXPIRED
    assert second.records[heir.id].stands_for == dead.id
    assert points([heir, after]) == points(optimizer().ask(2))


def test_a_lease_that_is_renewed_does_not_end(tmp_path):
    clock = JumpingClock()
    first, second = create(tmp_path, lease=10.0, clock=clock), load(tmp_path, clock=clock)
    suggestion = first.ask()
    for _ in range(5):
        clock.jump(8.0)
        assert first.renew(suggestion)
    other = second.ask()

    assert other.point != suggestion.point
    assert first.records[suggestion.id].state is State.PENDING


def test_what_is_told_needs_no_renewal(tmp_path):
    study = create(tmp_path)
    suggestion = study.ask()
    study.tell(suggestion, 1.0)

    assert study.renew(suggestion) is False


def test_a_lease_can_be_given_with_the_question(tmp_path):
    clock = JumpingClock()
    study = create(tmp_path, clock=clock)
    forever, brief = study.ask(), study.ask(lease=5.0)

    assert study.records[forever.id].expires is None
    assert study.records[brief.id].expires == pytest.approx(clock.now() + 5.0)


def test_enqueued_places_are_handed_out_first_and_in_their_order(tmp_path):
    study = create(tmp_path)
    wanted = [study.enqueue((1, 0.3)), study.enqueue(GRAPH.points(2, 1.9))]
    found = study.ask(3)

    assert [suggestion.id for suggestion in found[:2]] == wanted
    assert [(s.point.edge_id, s.point.distance) for s in found[:2]] == [(1, 0.3), (2, 1.9)]
    assert found[2].point not in points(found[:2])


def test_enqueued_places_have_leases_like_others(tmp_path):
    clock = JumpingClock()
    study = create(tmp_path, lease=10.0, clock=clock)
    study.enqueue((1, 0.3))
    first = study.ask()
    clock.jump(11.0)

    assert load(tmp_path, clock=clock).ask().point == first.point


def test_a_worker_killed_before_it_signed_for_an_enqueued_place_is_reaped(tmp_path):
    from optuna.trial import TrialState

    clock = JumpingClock()
    study = create(tmp_path, asking_lease=20.0, clock=clock)
    study.enqueue((1, 0.3))
    study.storage.set_trial_state_values(study.trial_store.key_of(0), TrialState.RUNNING)
    clock.jump(25.0)

    assert study.ask().point.distance == 0.3


def test_two_studies_never_hand_out_one_enqueued_place_twice(tmp_path):
    first, second = create(tmp_path), load(tmp_path)
    first.enqueue((1, 0.3))
    refreshed = second.dispatcher.refresh()
    taken = first.ask()

    assert taken.point.distance == 0.3
    assert second.trial_store.claim(refreshed[0], {"worker": "second", "expires": None}) is False
    assert second.ask().point.distance != 0.3


def test_a_budget_is_handed_out_exactly(tmp_path):
    study = create(tmp_path)
    handed_out = [study.ask(budget=3) for _ in range(3)]

    with pytest.raises(BudgetError, match=r"the budget of 3 evaluations is handed out \(3\); raise it"):
        study.ask(budget=3)
    study.cancel(handed_out[0])
    assert study.ask(budget=3).id == 3
    assert study.n_handed_out == 3
    assert study.n_told == 0


def test_the_place_of_the_dead_is_within_the_budget(tmp_path):
    clock = JumpingClock()
    study = create(tmp_path, lease=10.0, clock=clock)
    dead = study.ask(budget=1)
    clock.jump(11.0)

    assert study.ask(budget=1).point == dead.point


def test_enqueued_places_beyond_the_budget_stay_in_the_queue(tmp_path):
    study = create(tmp_path)
    study.enqueue((0, 0.1))
    study.enqueue((0, 0.2))
    study.ask(budget=1)

    with pytest.raises(BudgetError, match="the budget of 1 evaluations"):
        study.ask(budget=1)


def test_a_network_that_is_measured_everywhere_has_nothing_left_and_no_trial_is_wasted(tmp_path):
    study = create(tmp_path, noise=0.0, candidates=GRAPH.points([0, 1], [0.5, 1.0]))
    other = load(tmp_path)
    batch = study.ask(5)

    assert len(batch) == 2
    for asking in (study, other):
        with pytest.raises(ExhaustedError, match="all open candidates are pending"):
            asking.ask()
    assert len(study.records) == 2


def test_what_is_released_goes_to_the_next_who_asks(tmp_path):
    study = create(tmp_path)
    suggestion = study.ask()
    study.release(suggestion)

    assert study.ask().point == suggestion.point


def test_all_that_a_dead_worker_holds_can_be_given_back_at_once(tmp_path):
    doomed, other = create(tmp_path, worker="doomed"), load(tmp_path)
    held = doomed.ask(2)
    kept = other.ask()
    doomed.trial_store.reserve({"worker": "doomed", "expires": None})
    released = other.release_worker("doomed")

    assert released == [held[0].id, held[1].id, 3]
    assert points(other.ask(2)) == points(held)
    assert other.records[kept.id].state is State.PENDING
    assert other.records[3].state is State.VOID


def test_a_study_lives_in_any_storage_of_optuna():
    study = Study.create(GRAPH, name="memory", storage=InMemoryStorage(), **SETTINGS)

    assert points(study.ask(3)) == points(optimizer().ask(3))
