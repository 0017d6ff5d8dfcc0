import copy
import math
import pickle

import numpy as np
import pytest

from netbo import Point, star
from netbo.errors import ObservationError
from netbo.optimize import History, Status, Trial
from netbo.optimize.trials import Told
from support.histories import assert_views_hold

HERE, THERE = Point(0, 0.5), Point(2, 0.25)


def filled() -> History:
    """Pending 0, observed 1, failed 2, cancelled 3, withdrawn 4, observed without being asked 5."""
    history = History()
    for _ in range(5):
        history.ask(HERE)
    history.tell(4, Told(4.0, 0.1))
    history.tell(2, Told(None, None, "broken"))
    history.add(THERE, Told(5.0, None))
    history.tell(1, Told(1.0, None), THERE)
    history.cancel(3)
    history.withdraw(4)
    return history


def test_trials_are_numbered_from_zero():
    history = filled()

    assert [trial.id for trial in history] == list(range(6))
    assert [history[i].id for i in range(6)] == list(range(6))
    assert len(history) == 6


def test_every_trial_knows_what_became_of_it():
    history = filled()
    names = [trial.status.value for trial in history]

    assert names == ["pending", "observed", "failed", "cancelled", "withdrawn", "observed"]
    assert history[1] == Trial(1, THERE, Status.OBSERVED, asked=HERE, value=1.0, order=3)
    assert history[2] == Trial(2, HERE, Status.FAILED, asked=HERE, order=1, note="broken")
    assert history[4] == Trial(4, HERE, Status.WITHDRAWN, asked=HERE, value=4.0, noise=0.1, order=0)
    assert history[5] == Trial(5, THERE, Status.OBSERVED, asked=None, value=5.0, order=2)


def test_observed_trials_come_in_the_order_they_were_told():
    assert [trial.id for trial in filled().observed] == [5, 1]


def test_what_is_kept_up_to_date_is_what_its_trials_say():
    history = filled()
    assert_views_hold(history)
    history.correct(4, Told(-4.0, None))  # told first, and it counts again
    assert_views_hold(history)
    history.correct(5, Told(-5.0, 0.5))
    assert_views_hold(history)
    history.withdraw(1)
    assert_views_hold(history)


def test_a_copy_goes_its_own_way():
    history = filled()
    assert_views_hold(history)
    twin = copy.copy(history)
    twin.tell(0, Told(7.0, None))
    history.tell(2, Told(8.0, None))

    assert_views_hold(twin)
    assert_views_hold(history)
    assert [trial.id for trial in twin.observed] == [5, 1, 0]
    assert [trial.id for trial in history.observed] == [5, 1, 2]


def test_asked_counts_what_was_handed_out():
    assert filled().n_asked == 5


def test_failed_and_cancelled_trials_may_be_told_later():
    history = filled()
    history.tell(2, Told(2.0, None))
    history.tell(3, Told(3.0, None))
    history.tell(0, Told(None, None))
    history.tell(0, Told(None, None))

    assert [trial.id for trial in history.observed] == [5, 1, 2, 3]
    assert history[0].order == 7
    assert history[2].note == ""


@pytest.mark.parametrize("trial", [1, 4])
def test_values_are_told_once(trial):
    with pytest.raises(
        ObservationError, match=rf"trial {trial} is already told .* correct\(id, value\) replaces a value"
    ):
        filled().tell(trial, Told(0.0, None))


@pytest.mark.parametrize("trial", [1, 2, 3, 4])
def test_only_pending_trials_can_be_cancelled(trial):
    with pytest.raises(ObservationError, match=f"only pending trials can be cancelled, got trial {trial}"):
        filled().cancel(trial)


@pytest.mark.parametrize("trial", [0, 2, 3, 4])
def test_only_observed_values_can_be_withdrawn(trial):
    with pytest.raises(ObservationError, match=f"only observed values can be withdrawn, got trial {trial}"):
        filled().withdraw(trial)


@pytest.mark.parametrize("trial", [0, 3])
def test_only_told_trials_can_be_corrected(trial):
    with pytest.raises(ObservationError, match=f"only told trials can be corrected, got trial {trial}"):
        filled().correct(trial, Told(0.0, None))


@pytest.mark.parametrize(("trial", "noise"), [(1, None), (2, None), (4, 0.1)])
def test_a_correction_makes_a_trial_observed_and_keeps_its_order_and_noise(trial, noise):
    history = filled()
    before = history[trial]
    after = history.correct(trial, Told(9.0, None))

    assert (after.status, after.value, after.noise, after.note) == (Status.OBSERVED, 9.0, noise, "")
    assert (after.order, after.point) == (before.order, before.point)
    assert history.correct(trial, Told(9.0, 0.7)).noise == 0.7


@pytest.mark.parametrize("trial", [-1, 6, True, "0", None, 1.0])
def test_unknown_trials_are_refused(trial):
    with pytest.raises(ObservationError, match=r"trials are 0\.\.5, got"):
        filled()[trial]


def test_an_empty_history_knows_no_trial():
    with pytest.raises(ObservationError, match="trials are none yet, got 0"):
        History()[0]


def test_ids_may_be_numbers_of_numpy():
    assert filled()[np.int64(5)].id == 5


def test_the_version_counts_changes_to_what_is_modelled():
    history = History()
    history.ask(HERE)
    history.ask(HERE)
    history.tell(0, Told(None, None))
    history.cancel(1)
    unchanged = history.version_of_values
    versions = [unchanged]
    for change in (
        lambda: history.tell(0, Told(1.0, None)),
        lambda: history.correct(0, Told(2.0, None)),
        lambda: history.withdraw(0),
        lambda: history.correct(0, Told(2.0, None)),
        lambda: history.add(THERE, Told(2.0, None)),
    ):
        change()
        versions.append(history.version_of_values)

    assert unchanged == 0
    assert versions == sorted(set(versions))


def test_a_failure_that_was_never_asked_for_changes_no_value():
    history = History()
    history.add(HERE, Told(None, None))

    assert history.version_of_values == 0
    assert history[0].status is Status.FAILED


def test_a_history_is_rebuilt_from_its_trials():
    history = filled()
    again = History(pickle.loads(pickle.dumps(list(history))))

    assert list(again) == list(history)
    assert again.observed == history.observed
    assert again.n_asked == history.n_asked
    assert again.tell(0, Told(0.0, None)).order == 4  # the next after 0..3


def test_a_history_with_gaps_is_refused():
    with pytest.raises(
        ObservationError, match=r"trials must be numbered 0, 1, 2, \.\.\., got 2 after 1 trials"
    ):
        History([trial for trial in filled() if trial.id != 1])


def test_iterating_is_safe_while_the_history_grows():
    history = filled()
    for trial in history:
        history.ask(trial.point)

    assert len(history) == 12


def test_the_table_has_one_row_a_trial():
    history = History()
    named = star(3, 2.0).points(1, 0.5)[0]
    history.ask(named)
    history.ask(HERE)
    history.tell(1, Told(1.5, 0.1, "windy"), THERE)
    table = history.table()

    assert table.index.name == "id"
    assert table["status"].tolist() == ["pending", "observed"]
    assert table["edge"].tolist() == [1, 2]
    assert table["distance"].tolist() == [0.5, 0.25]
    assert table["asked_edge"].tolist() == [1, 0]
    assert table["value"].isna().tolist() == [True, False]
    assert table.loc[1, ["value", "noise", "order", "note"]].tolist() == [1.5, 0.1, 0, "windy"]
    assert math.isnan(table.loc[0, "noise"])
    assert len(History().table()) == 0
    assert "windy" in history._repr_html_()


def test_the_representation_counts():
    assert repr(filled()) == "History(1 pending, 2 observed, 1 failed, 1 cancelled, 1 withdrawn)"
    assert repr(History()) == "History(empty)"
