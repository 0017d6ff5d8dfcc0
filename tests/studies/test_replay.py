"""A study goes on after any crash as if nothing had happened."""

import pytest
from optuna.trial import TrialState

from netbo.studies import State
from support.studies import JumpingClock, create, height, load, uninterrupted

N = 12
LEASE, ASKING = 30.0, 20.0


def dies_before_it_asks(study):
    pass


def dies_while_its_place_is_computed(study):
    study.trial_store.reserve({"worker": study.worker, "expires": study.clock.now() + ASKING})


def dies_with_half_a_place_written(study):
    key = study.trial_store.reserve({"worker": study.worker, "expires": study.clock.now() + ASKING})[1]
    edges = study.trial_store._distributions["edge"]
    study.storage.set_trial_param(key, "edge", 1.0, edges)


def dies_after_it_asked(study):
    study.ask()


def dies_after_two_were_asked(study):
    study.ask()
    study.ask()


def dies_between_noting_a_value_and_finishing_the_trial(study):
    """The value was on the disk: it counts."""
    suggestion = study.ask()
    told = {"value": height(suggestion.point), "time": study.clock.now(), "note": "read twice"}
    study.storage.set_trial_user_attr(study.trial_store.key_of(suggestion.id), "netbo:told", told)


def dies_while_somebody_is_declared_dead(study):
    """The reaper wrote why, and not yet that the trial has failed."""
    suggestion = study.ask()
    said = {"state": "expired", "note": ""}
    study.storage.set_trial_user_attr(study.trial_store.key_of(suggestion.id), "netbo:closed", said)


def gives_its_place_back(study):
    study.release(study.ask())


CRASHES = [
    dies_before_it_asks,
    dies_while_its_place_is_computed,
    dies_with_half_a_place_written,
    dies_after_it_asked,
    dies_after_two_were_asked,
    dies_between_noting_a_value_and_finishing_the_trial,
    dies_while_somebody_is_declared_dead,
    gives_its_place_back,
]


@pytest.mark.parametrize("crash", CRASHES)
@pytest.mark.parametrize("step", [0, 3, 9])
def test_a_study_resumed_after_a_crash_measures_where_the_uninterrupted_one_does(tmp_path, crash, step):
    clock = JumpingClock()
    study = create(tmp_path, lease=LEASE, asking_lease=ASKING, clock=clock)
    for _ in range(step):
        suggestion = study.ask()
        study.tell(suggestion, height(suggestion.point))
    crash(study)
    clock.jump(LEASE + ASKING)
    resumed = load(tmp_path, clock=clock)
    while resumed.n_told < N:
        suggestion = resumed.ask()
        resumed.tell(suggestion, height(suggestion.point))

    told = [record.point for record in resumed.records if record.state is State.OBSERVED]
    asked_at_once = step if crash is dies_after_two_were_asked else None
    assert told == uninterrupted(N, pair_at=asked_at_once)


def test_a_crash_every_other_step_changes_no_suggestion(tmp_path):
    clock = JumpingClock()
    create(tmp_path, lease=LEASE, clock=clock)
    for step in range(N):
        study = load(tmp_path, clock=clock)
        if step % 2:
            study.ask()  # and is never heard of again
            clock.jump(LEASE + 1)
            study = load(tmp_path, clock=clock)
        suggestion = study.ask()
        study.tell(suggestion, height(suggestion.point))

    told = [record.point for record in study.records if record.state is State.OBSERVED]
    assert told == uninterrupted(N)


def test_batches_after_a_crash_are_those_of_the_uninterrupted_study(tmp_path):
    """Pending places are imagined in the order they were first handed out, whoever holds them now."""
    clock = JumpingClock()
    whole, broken = tmp_path / "whole", tmp_path / "broken"
    for folder in (whole, broken):
        folder.mkdir()
        study = create(folder, lease=LEASE, clock=clock)
        for _ in range(6):
            suggestion = study.ask()
            study.tell(suggestion, height(suggestion.point))
    expected = [suggestion.point for suggestion in load(whole, clock=clock).ask(5)]
    load(broken, clock=clock).ask(3)
    clock.jump(LEASE + 1)
    found = [suggestion.point for suggestion in load(broken, clock=clock).ask(5)]

    assert found == expected


def test_half_told_trials_are_finished_by_the_next_ask(tmp_path):
    study = create(tmp_path)
    dies_between_noting_a_value_and_finishing_the_trial(study)
    resumed = load(tmp_path)
    value = resumed.records[0].value
    resumed.ask()
    stored = resumed.storage.get_all_trials(resumed.trial_store.study_id)[0]

    assert resumed.records[0].note == "read twice"
    assert stored.state is TrialState.COMPLETE
    assert stored.value == value
