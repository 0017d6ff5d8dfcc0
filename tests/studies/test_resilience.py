"""A value in hand is not lost because the storage is away, nor told twice because an answer was."""

import logging

import pytest
from optuna.exceptions import StorageInternalError

from netbo.studies import State, Study, StudyFileError
from netbo.studies.resilience import RETRY_SECONDS, retry_while_unavailable
from support.studies import GRAPH, SETTINGS, JumpingClock, create, height, load, misbehaves, uninterrupted


def away(n, error):
    """An action that works after n failures."""
    tried = []

    def action():
        tried.append(None)
        if len(tried) <= n:
            raise error
        return len(tried)

    return action


@pytest.mark.parametrize("error", [StorageInternalError("no route"), OSError(28, "no space left on device")])
def test_what_is_away_for_a_while_is_waited_for(error, caplog):
    clock = JumpingClock()

    assert retry_while_unavailable(away(4, error), clock, lambda: False) == 5
    assert clock.slept == 0.5 + 1.0 + 2.0 + 4.0
    assert caplog.text.count("the storage is away") == 4
    assert str(error) in caplog.text


def test_patience_ends(caplog):
    clock = JumpingClock()
    with pytest.raises(StorageInternalError, match="for ever"):
        retry_while_unavailable(away(10_000, StorageInternalError("for ever")), clock, lambda: False)

    assert RETRY_SECONDS <= clock.slept < RETRY_SECONDS + 60.0


@pytest.mark.parametrize(
    "error", [StudyFileError("damaged"), KeyError("no such trial"), ValueError("nonsense")]
)
def test_what_stays_wrong_is_not_waited_for(error):
    with pytest.raises(type(error)):
        retry_while_unavailable(away(1, error), JumpingClock(), lambda: False)


def test_who_wants_to_stop_need_not_wait():
    with pytest.raises(OSError, match="gone"):
        retry_while_unavailable(away(1, OSError("gone")), JumpingClock(), lambda: True)


class Flaky:
    """A study's tell, which fails before or after it wrote."""

    def __init__(self, study, *failures):
        self.tell, self.failures, self.calls = study.tell, list(failures), 0
        study.tell = self

    def __call__(self, *arguments, **options):
        self.calls += 1
        failure = self.failures.pop(0) if self.failures else None
        if failure == "before":
            raise OSError("the server is away")
        number = self.tell(*arguments, **options)
        if failure == "after":
            raise OSError("the answer was lost")
        return number


@pytest.mark.parametrize("failures", [["before"] * 3, ["after"], ["before", "after"]])
def test_a_value_is_told_once_when_the_storage_is_back(tmp_path, failures):
    study = create(tmp_path, clock=JumpingClock())
    flaky = Flaky(study, *failures)
    work = study.work(height, budget=4, lease=None)
    told = [record.point for record in load(tmp_path).records if record.state is State.OBSERVED]

    assert told == uninterrupted(4)
    assert (work.told, flaky.calls) == (4, 4 + len(failures))


def test_a_value_that_can_never_be_told_is_said(tmp_path, caplog):
    study = create(tmp_path, clock=JumpingClock())
    Flaky(study, *["before"] * 1000)
    with caplog.at_level(logging.ERROR), pytest.raises(OSError, match="the server is away"):
        study.work(height, budget=4, lease=None)

    assert "trial 0 was not told, tell it by hand: Evaluation(value=" in caplog.text
    assert repr(height(uninterrupted(1)[0])) in caplog.text


def test_a_value_that_somebody_else_told_otherwise_is_no_lost_answer(tmp_path):
    study = create(tmp_path)

    def meddled(point):
        load(tmp_path).tell(0, 99.0)
        return height(point)

    with pytest.raises(ValueError, match=r"trial 0 cannot be told: it is observed, value 99\.0"):
        study.work(meddled, budget=1)


def test_a_storage_that_is_wrong_from_the_beginning_is_said_at_once(tmp_path):
    clock = JumpingClock()
    study = create(tmp_path, clock=clock)
    (tmp_path / "walk.journal").unlink()

    with pytest.raises(FileNotFoundError):
        study.work(height, budget=2)
    assert clock.slept == 0


def test_in_a_process_of_its_own_every_misfortune_is_a_failure_with_its_reason(tmp_path):
    """Raising, NaN, text, dying, hanging and leaving, one after another; then the study goes on."""
    bad = GRAPH.points([0, 0, 0, 0, 1, 1], [0.25, 0.75, 1.25, 1.75, 0.25, 0.75])
    good = GRAPH.points(1, 1.25)  # a function that only fails would be given up
    study = create(tmp_path, noise=0.0)
    for point in (*good, *bad):
        study.enqueue(point)
    work = study.work(misbehaves, budget=9, timeout=2.0)
    notes = [record.note for record in load(tmp_path).records if record.state is State.FAILED]
    reasons = [
        "ZeroDivisionError",
        "the objective returned nan",
        "got '1.5' of type str",
        "ended with exit code 3",
        "timeout: no value within 2 seconds",
        "ended with exit code 1",
    ]

    assert all(reason in note for reason, note in zip(reasons, notes[:6], strict=True))
    assert work.told + work.failed == study.n_told == 9


def test_an_endless_reason_and_one_that_is_no_text_are_kept(tmp_path):
    """Half a megabyte, a zero byte and half a character, on a journal and in a database."""
    text = "\0\udc80" + "é" * 250_000

    def raises(point):
        raise RuntimeError(text)

    for storage in (tmp_path / "walk.journal", f"sqlite:///{tmp_path / 'walk.db'}"):
        study = Study.create(GRAPH, name="walk", storage=storage, **SETTINGS)
        study.work(raises, budget=1)
        (record,) = Study.load(storage).records
        assert record.state is State.FAILED
        assert text in record.note


def test_a_value_noted_just_after_its_trial_was_given_up_is_seen_by_all(tmp_path):
    """A database checks and writes in two steps: the note may land on a trial that others read as expired."""
    clock, url = JumpingClock(), f"sqlite:///{tmp_path / 'walk.db'}"
    study = Study.create(GRAPH, name="walk", storage=url, clock=clock, **SETTINGS)
    other = Study.load(url, clock=clock)
    suggestion = study.ask(lease=10.0)
    backend = study.storage._backend
    check = backend.check_trial_is_updatable

    def passed_before_the_lease_ended(trial_id, state):
        backend.check_trial_is_updatable = check
        clock.jump(11.0)
        other.ask()

    backend.check_trial_is_updatable = passed_before_the_lease_ended
    study.tell(suggestion, 0.5, note="in the last moment")

    for each in (study, other, Study.load(url, clock=clock)):
        assert each.records[suggestion.id].value == 0.5
        assert each.n_told == 1
