"""Going on from another record, as a study does before each question."""

import copy

import pytest

import netbo
from netbo.optimize import History, Status

GRAPH = netbo.star(3, length=2.0)


def learned(n=9):
    optimizer = netbo.Optimizer(GRAPH, noise=0.01, seed=2, max_cell=0.25)
    for suggestion in optimizer.ask(n):
        optimizer.tell(suggestion, suggestion.point.distance)
    return optimizer


def test_what_is_proposed_is_what_is_asked_and_nothing_is_recorded():
    optimizer = learned()
    proposed = optimizer.propose()

    assert len(optimizer.history) == 9
    assert optimizer.propose() == proposed == optimizer.ask().point


def test_openings_are_the_candidates_that_may_be_asked_for():
    optimizer = netbo.Optimizer(GRAPH, noise=0.0, max_cell=0.5, separation=0.0)
    before = optimizer.openings()
    optimizer.ask(3)

    assert before.all()
    assert optimizer.openings().sum() == len(before) - 3


def test_the_same_values_are_not_learned_anew():
    optimizer = learned()
    outcome = optimizer.outcome
    pending = optimizer.ask()
    optimizer.replace_history(list(optimizer.history))

    assert optimizer.outcome is outcome
    assert optimizer.history[pending.id].status is Status.PENDING


def test_other_values_are():
    optimizer, other = learned(), learned()
    optimizer.outcome  # noqa: B018 - learned before the record changes
    other.correct(3, -5.0)
    other.withdraw(4)
    optimizer.replace_history(list(other.history))

    assert optimizer.recommend() == other.recommend()
    assert optimizer.ask().point == other.ask().point


def test_a_record_may_shrink():
    optimizer, shorter = learned(), learned(6)
    optimizer.outcome  # noqa: B018
    optimizer.replace_history(History(shorter.history))

    assert optimizer.ask().point == shorter.ask().point


def test_pending_places_that_changed_under_the_same_ids_are_imagined_anew():
    optimizer, other = learned(), learned()
    first = optimizer.ask()
    optimizer.propose()  # remembers what it imagined at the first place
    trials = list(other.history)
    elsewhere = netbo.optimize.Trial(9, GRAPH.points(1, 0.5)[0], Status.PENDING, asked=first.point)
    optimizer.replace_history([*trials, elsewhere])
    other.replace_history([*trials, elsewhere])

    assert optimizer.propose() == other.propose()


@pytest.mark.parametrize("twin", [copy.copy, copy.deepcopy])
def test_a_copy_goes_on_by_itself_and_as_the_first_would(twin):
    """Neither shares a history with the other."""
    first, second = learned(), learned()
    other = twin(first)
    asked, expected = other.ask().point, second.ask().point
    other.tell(9, 2.0)

    assert (asked.edge, asked.z) == (expected.edge, expected.z)
    assert (len(first.history), len(other.history)) == (9, 10)
    first.tell(first.ask(), 0.5)
    assert [trial.value for trial in (first.history[9], other.history[9])] == [0.5, 2.0]
