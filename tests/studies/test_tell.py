import math

import numpy as np
import pytest
from optuna.storages import JournalStorage
from optuna.storages.journal import JournalFileBackend
from optuna.trial import TrialState

from netbo.errors import ObservationError, PointError
from netbo.studies import State
from support.studies import GRAPH, JumpingClock, create, height, load, optimizer


def stored(study):
    """Optuna's own view of the trials."""
    return study.storage.get_all_trials(study.trial_store.study_id)


def test_a_value_is_on_the_disk_when_tell_returns(tmp_path):
    """Optuna's own reader finds it, without us."""
    study = create(tmp_path)
    suggestion = study.ask()
    study.tell(suggestion, 0.1 + 0.2)
    other = JournalStorage(JournalFileBackend(str(tmp_path / "walk.journal")))
    (trial,) = other.get_all_trials(other.get_study_id_from_name("walk"))

    assert trial.state is TrialState.COMPLETE
    assert trial.value == 0.1 + 0.2
    assert trial.params["edge"] == suggestion.point.edge
    assert trial.params["position"] == pytest.approx(suggestion.point.fraction)
    assert trial.user_attrs["netbo:place"]["edge_id"] == suggestion.point.edge_id


def test_no_trial_lists_all_edges(tmp_path):
    """The edge is an integer: a category of a million edges would be written with every trial."""
    create(tmp_path).ask(3)
    text = (tmp_path / "walk.journal").read_text()

    assert "IntDistribution" in text
    assert "Categorical" not in text


def test_everything_told_comes_back(tmp_path):
    study = create(tmp_path)
    plain, noisy, elsewhere, failed, nan, gone = study.ask(6)
    study.tell(plain, 1)
    study.tell(noisy.id, np.float64(2.5), noise=0.04, note="windy")
    study.tell(elsewhere, -1.0, at=GRAPH.points(2, 0.7))
    study.tell(failed, "failed", note="no access")
    study.tell(nan, math.nan)
    study.cancel(gone)
    records = load(tmp_path).records

    assert [record.state.value for record in records] == [
        "observed", "observed", "observed", "failed", "failed", "cancelled",
    ]  # fmt: skip
    assert (records[0].value, records[0].noise) == (1.0, None)
    assert (records[1].value, records[1].noise, records[1].note) == (2.5, 0.04, "windy")
    assert (records[2].point.edge_id, records[2].point.distance) == (2, 0.7)
    assert records[2].asked == elsewhere.point
    assert records[3].note == "no access"
    assert [trial.state for trial in stored(study)[3:]] == [TrialState.FAIL] * 3


def test_what_is_learned_is_what_an_optimizer_learns(tmp_path):
    """Noise of their own, other places, failures, corrections, withdrawals, values nobody asked for."""
    study, bare = create(tmp_path), optimizer()
    for learner in (study, bare):
        batch = learner.ask(8)
        for suggestion in reversed(batch[:6]):
            learner.tell(suggestion, height(suggestion.point))
        learner.tell(batch[6], 0.3, noise=0.2)
        learner.tell(batch[7], "failed")
        learner.correct(batch[2], -0.5)
        learner.withdraw(batch[4])
    study.add_observation((1, 0.37), 0.25, noise=0.1)
    bare.tell(GRAPH.points(1, 0.37)[0], 0.25, noise=0.1)
    reloaded = load(tmp_path)
    x = GRAPH.points([0, 1, 2], [0.2, 1.1, 1.9])

    assert reloaded.ask().point == bare.ask().point
    assert np.array_equal(reloaded.posterior.mean(x), bare.posterior.mean(x))
    assert reloaded.best().value == bare.best().value
    assert reloaded.recommend() == bare.recommend()
    assert [m.probability for m in reloaded.modes()] == [m.probability for m in bare.modes()]
    assert str(reloaded.search_list()) == str(bare.search_list())
    assert str(reloaded.check()) == str(bare.check())
    assert str(reloaded.summary()) == str(bare.summary())


@pytest.mark.parametrize("value", [math.inf, -math.inf])
def test_infinities_are_refused_and_nothing_is_recorded(tmp_path, value):
    study = create(tmp_path)
    suggestion = study.ask()

    with pytest.raises(ObservationError, match=r"a value must be finite, got -?inf"):
        study.tell(suggestion, value)
    assert study.records[0].state is State.PENDING


@pytest.mark.parametrize("value", ["1.5", "high", [1.0, 2.0], {"value": 1}, True])
def test_text_and_other_things_are_refused(tmp_path, value):
    study = create(tmp_path)
    suggestion = study.ask()

    with pytest.raises(ObservationError, match="a value must be a number, NaN or 'failed'"):
        study.tell(suggestion, value)
    assert study.records[0].state is State.PENDING


def test_a_place_off_the_network_is_refused_and_nothing_is_recorded(tmp_path):
    study = create(tmp_path)
    suggestion = study.ask()

    with pytest.raises(PointError, match="distances must lie within the"):
        study.tell(suggestion, 1.0, at=(1, 99.0))
    with pytest.raises(PointError, match="a place must be a Point or Points"):
        study.add_observation("here", 1.0)
    assert [record.state for record in study.records] == [State.PENDING]


@pytest.mark.parametrize("unknown", [7, -1, True, "0", None])
def test_an_unknown_trial_is_named(tmp_path, unknown):
    study = create(tmp_path)
    study.ask()

    with pytest.raises(ObservationError, match=r"the trials of 'walk' are 0\.\.0, got .*; see \.trials"):
        study.tell(unknown, 1.0)


def test_without_trials_there_are_none_yet(tmp_path):
    with pytest.raises(ObservationError, match="the trials of 'walk' are none yet, got 0"):
        create(tmp_path).cancel(0)


def test_who_asked_and_who_reads_the_file_see_the_same_points(tmp_path):
    """The one keeps what it wrote, the other makes it of what is written; to the last coordinate."""
    study = create(tmp_path)
    study.enqueue((1, 0.3))
    study.enqueue(GRAPH.points(2, 1.9))
    study.ask(5)
    load(tmp_path).ask(2)  # beside another worker a trial is reserved first
    study.ask()
    study.tell(0, 1.0, at=(0, 0.7))

    assert repr([record.point for record in study.records]) == repr(
        [record.point for record in load(tmp_path).records]
    )


def test_a_trial_is_told_once(tmp_path):
    study, other = create(tmp_path), load(tmp_path)
    suggestion = study.ask()
    study.tell(suggestion, 1.0)

    with pytest.raises(
        ObservationError, match=r"trial 0 cannot be told: it is observed, value 1\.0; correct"
    ):
        other.tell(suggestion, 2.0)
    assert other.records[0].value == 1.0


def test_of_two_who_tell_at_once_one_is_refused(tmp_path):
    """The second reads before the first writes."""
    study, other = create(tmp_path), load(tmp_path)
    suggestion = study.ask()
    conclude = other.trial_store.tell

    def late(*arguments):
        study.tell(suggestion, 1.0, noise=0.3)
        conclude(*arguments)

    other.trial_store.tell = late
    with pytest.raises(ObservationError, match=r"it is observed, value 1\.0"):
        other.tell(suggestion, 2.0)
    assert (study.records[0].value, study.records[0].noise) == (1.0, 0.3)


def test_a_value_finished_by_somebody_else_is_told_without_complaint(tmp_path):
    """The next ask completes what looks half told; the teller was only slow."""
    study, other = create(tmp_path), load(tmp_path)
    suggestion = study.ask()
    finish = study.trial_store.finish

    def slow(*arguments):
        other.ask()
        finish(*arguments)

    study.trial_store.finish = slow
    study.tell(suggestion, 1.0, noise=0.3)

    assert (study.records[0].value, study.records[0].noise) == (1.0, 0.3)
    assert study.n_told == 1


def test_a_value_for_a_trial_that_was_given_up_counts(tmp_path):
    study = create(tmp_path)
    cancelled, failed, released = study.ask(3)
    study.cancel(cancelled)
    study.tell(failed, "failed", note="no access")
    study.release(released)
    study.tell(cancelled, 1.0)
    study.tell(failed, 2.0, noise=0.5, at=(2, 0.1))
    study.tell(released, 3.0)
    records = load(tmp_path).records

    assert [record.value for record in records] == [1.0, 2.0, 3.0]
    assert (records[1].noise, records[1].point.distance) == (0.5, 0.1)
    assert {record.state for record in records} == {State.OBSERVED}


def test_a_value_that_comes_after_the_lease_is_kept_beside_that_of_the_heir(tmp_path):
    clock = JumpingClock()
    slow, heir = create(tmp_path, lease=10.0, clock=clock), load(tmp_path, clock=clock)
    first = slow.ask()
    clock.jump(11.0)
    second = heir.ask()
    slow.tell(first, 1.0, noise=0.1)
    clock.jump(1.0)
    heir.tell(second, 1.5)

    assert first.point == second.point
    assert sorted(trial.value for trial in heir.optimizer.history.observed) == [1.0, 1.5]
    assert heir.n_told == 2
    with pytest.raises(ObservationError, match="trial 0 cannot be told: it is observed"):
        slow.tell(first, 1.0)


def test_a_value_told_while_its_trial_is_reaped_is_not_lost(tmp_path):
    """The reaper comes between reading and writing."""
    clock = JumpingClock()
    slow, other = create(tmp_path, lease=10.0, clock=clock), load(tmp_path, clock=clock)
    suggestion = slow.ask()
    conclude = slow.trial_store.tell

    def late(*arguments):
        clock.jump(11.0)
        other.ask()
        conclude(*arguments)

    slow.trial_store.tell = late
    slow.tell(suggestion, 1.0)

    assert load(tmp_path).records[0].value == 1.0


def test_corrections_are_appended_and_the_last_one_counts(tmp_path):
    study = create(tmp_path)
    suggestion = study.ask()
    study.tell(suggestion, 1.0, noise=0.1)
    study.correct(suggestion, 2.0)
    load(tmp_path).correct(suggestion, 3.0, noise=0.2)
    attributes = study.storage.get_study_user_attrs(study.trial_store.study_id)
    changes = [
        value["value"] for key, value in sorted(attributes.items()) if key.startswith("netbo:change:0")
    ]

    assert (study.records[0].value, study.records[0].noise) == (3.0, 0.2)
    assert changes == [2.0, 3.0]
    assert stored(study)[0].value == 1.0


def test_workers_that_correct_at_once_overwrite_nothing(tmp_path):
    """Both saw no correction, so both write the first: the keys differ, and all readers agree on the last."""
    first, second = create(tmp_path), load(tmp_path)
    suggestion = first.ask()
    first.tell(suggestion, 1.0)
    for study in (first, second):
        study.trial_store.record(0)
    first.trial_store.add_correction(0, "correct", value=2.0)
    second.trial_store.add_correction(0, "correct", value=3.0)
    attributes = first.storage.get_study_user_attrs(first.trial_store.study_id)

    assert sum(key.startswith("netbo:change:0") for key in attributes) == 2
    assert first.records[0].value == second.records[0].value == load(tmp_path).records[0].value


def test_what_is_withdrawn_stays_in_the_record_and_can_be_corrected(tmp_path):
    study = create(tmp_path)
    study.tell(study.ask(), 1.0)
    study.withdraw(0)
    withdrawn = load(tmp_path).records[0]
    study.correct(0, 2.0)

    assert (withdrawn.state, withdrawn.value) == (State.WITHDRAWN, 1.0)
    assert study.best().value == 2.0


def test_notes_can_be_added_to_any_trial(tmp_path):
    study = create(tmp_path)
    study.tell(study.ask(), 1.0)
    study.note(0, "recalibrated")
    study.ask()
    study.note(1, "gate is locked")

    assert list(load(tmp_path).trials["note"]) == ["recalibrated", "gate is locked"]


def test_only_what_fits_can_be_changed(tmp_path):
    study = create(tmp_path)
    pending, told = study.ask(2)
    study.tell(told, 1.0)

    with pytest.raises(ObservationError, match="correct needs a trial that was told, got trial 0, pending"):
        study.correct(pending, 1.0)
    with pytest.raises(ObservationError, match="withdraw needs a trial that was told, got trial 0, pending"):
        study.withdraw(pending)
    with pytest.raises(ObservationError, match="a correction must be a number, got nan; try withdraw"):
        study.correct(told, math.nan)
    with pytest.raises(ObservationError, match="only pending trials can be cancelled, got trial 1, observed"):
        study.cancel(told)
    with pytest.raises(ObservationError, match="only pending trials can be released, got trial 1, observed"):
        study.release(told)


def test_the_table_shows_every_trial_in_the_words_of_its_user(tmp_path):
    clock = JumpingClock()
    study = create(tmp_path, lease=10.0, clock=clock, worker="north")
    study.ask()
    clock.jump(11.0)
    study.tell(study.ask(), 1.0, noise=0.5)
    study.add_observation((2, 1.25), 7.0)
    table = study.trials

    assert list(table.index) == [0, 1, 2]
    assert list(table["status"]) == ["expired", "observed", "observed"]
    assert list(table["worker"]) == ["north", "north", ""]
    assert table["stands_for"][1] == 0
    assert (table["edge"][2], table["distance"][2], table["asked_edge"][2]) == (2, 1.25, None)
    assert str(table["began"].dtype) == "datetime64[ns, UTC]"
    assert table["ended"].notna().all()


def test_a_study_without_trials_has_an_empty_table(tmp_path):
    study = create(tmp_path)

    assert len(study.trials) == 0
    assert str(study.summary()).endswith("no values yet")
    assert repr(study).startswith("Study('walk', MetricGraph(4 vertices, 3 edges")


def test_pending_trials_say_whose_they_are(tmp_path):
    study = create(tmp_path, worker="north")
    study.ask()
    study.tell(study.ask(), 1.0)
    (pending,) = study.pending

    assert (pending.id, pending.worker) == (0, "north")


def told_at_once(study, other, monkeypatch, value):
    """Both look for the key before either has told it; the first value is 1.5."""
    store, find, looked = other.trial_store, other.trial_store.find, []
    monkeypatch.setattr(store, "find", lambda *said: looked.append(said) if not looked else find(*said))
    study.add_observation((0, 0.5), 1.5, key="A-1")
    return other.add_observation((0, 0.5), value, key="A-1")


def test_a_key_that_two_processes_tell_at_once_counts_once(tmp_path, monkeypatch):
    study, other = create(tmp_path), load(tmp_path)
    number = told_at_once(study, other, monkeypatch, 1.5)
    found = load(tmp_path)

    assert number == 0
    assert [record.state for record in found.records] == [State.OBSERVED, State.VOID]
    assert found.records[1].note == "told twice at once under the key 'A-1': trial 0 counts"
    assert found.n_told == len(found.optimizer.history.observed) == 1
    assert found.trial_store.record(1) == found.records[1]


def test_another_value_that_is_told_at_once_under_a_key_is_refused_and_withdrawn(tmp_path, monkeypatch):
    study, other = create(tmp_path), load(tmp_path)
    with pytest.raises(
        ObservationError, match=r"the key 'A-1' is that of trial 0, value 1\.5, got the value 2\.5"
    ):
        told_at_once(study, other, monkeypatch, 2.5)

    assert [record.state for record in load(tmp_path).records] == [State.OBSERVED, State.WITHDRAWN]
