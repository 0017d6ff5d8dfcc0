import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from netbo import FiniteElementSpace, Points, interval, star
from netbo.errors import ExhaustedError, ParameterError
from netbo.optimize import History, Nodes, Places
from netbo.optimize.eligibility import EligibleCandidates
from netbo.optimize.trials import Status, Told
from support.strategies import metric_graphs, seeds

GRAPH = star(3, 1.0)
SEARCH = Nodes(FiniteElementSpace.build(GRAPH, max_cell=0.25))  # centre, three tips, three nodes an arm


def eligible(*, repeats=False, separation=0.0, search=SEARCH):
    return EligibleCandidates(search, repeats, separation)


def where(mask):
    return np.flatnonzero(mask).tolist()


def closed(mask):
    return where(~mask)


def record(observed=(), failed=(), pending=(), search=SEARCH):
    """A history of candidates by number."""
    history = History()
    for index in observed:
        history.add(search.points[index], Told(1.0, None))
    for index in failed:
        history.add(search.points[index], Told(None, None))
    for index in pending:
        history.ask(search.points[index])
    return history


def test_at_first_everything_is_open():
    assert eligible().after(History()).all()


def test_what_was_observed_is_closed_where_repeats_are_useless():
    history = record(observed=[2, 5])

    assert closed(eligible().after(history)) == [2, 5]
    assert eligible(repeats=True).after(history).all()


def test_a_vertex_is_closed_by_whichever_edge_it_is_addressed():
    history = History()
    history.add(GRAPH.points(2, 0.0)[0], Told(1.0, None))

    assert closed(eligible().after(history)) == [0]


@pytest.mark.parametrize("repeats", [True, False])
def test_failed_and_pending_places_are_closed(repeats):
    history = record(failed=[1], pending=[4])

    assert closed(eligible(repeats=repeats).after(history)) == [1, 4]


def test_a_failed_place_that_was_measured_since_is_open_again():
    history = record(observed=[1], failed=[1])

    assert eligible(repeats=True).after(history).all()
    assert closed(eligible().after(history)) == [1]


def test_withdrawn_and_cancelled_places_are_open_again():
    history = record(observed=[1], pending=[4])
    history.withdraw(0)
    history.cancel(1)

    assert eligible().after(history).all()


@settings(deadline=None, max_examples=30, derandomize=True)
@given(metric_graphs(), seeds(), st.floats(0.05, 3.0))
def test_open_candidates_keep_their_distance_along_the_network(graph, seed, separation):
    """Or, where none can, those that are farthest from all pending ones remain."""
    search = Nodes(FiniteElementSpace.build(graph, max_cell=1.0, min_cells=2))
    n = len(search.points)
    pending = np.random.default_rng(seed).choice(n, size=min(2, n - 1), replace=False)
    mask = eligible(separation=separation, search=search).after(record(pending=pending, search=search))
    distance = graph.distance(search.points[pending], search.points).min(axis=0)

    if (distance >= separation).any():
        assert where(mask) == where(distance >= separation)
    else:
        assert where(mask) == where(distance >= distance.max() * (1 - 1e-9))


def test_separation_is_from_pending_places_only():
    assert eligible(repeats=True, separation=0.5).after(record(observed=[0])).all()


def test_remembered_distances_are_those_of_the_place():
    """Of more pending places than are remembered."""
    search = Nodes(FiniteElementSpace.build(interval(1.0), max_cell=1 / 800))
    rule = eligible(separation=1e-9, search=search)
    history = record(pending=range(0, 600, 2), search=search)

    assert where(rule.after(history)) == [i for i in range(801) if not (i < 600 and i % 2 == 0)]
    assert len(rule._distances) < 300


def test_all_measured_candidates_exhaust_an_exact_objective():
    history = record(observed=range(8), failed=range(8, 13))
    with pytest.raises(ExhaustedError, match="all 13 candidates have been measured or have failed"):
        eligible().after(history)


def test_failures_alone_may_exhaust_a_noisy_one():
    with pytest.raises(ExhaustedError, match="all 13 candidates have been measured or have failed"):
        eligible(repeats=True).after(record(failed=range(13)))


@pytest.mark.parametrize("separation", [0.0, 0.3])
def test_all_pending_candidates_exhaust_an_exact_objective(separation):
    history = record(observed=range(8), pending=range(8, 13))
    with pytest.raises(ExhaustedError, match=r"all open candidates are pending \(5\), nothing is left"):
        eligible(separation=separation).after(history)


@pytest.mark.parametrize("separation", [0.0, 0.3])
def test_pending_candidates_are_repeated_when_nothing_else_is_left_and_values_are_noisy(separation):
    history = record(failed=[3], pending=[i for i in range(13) if i != 3])

    assert closed(eligible(repeats=True, separation=separation).after(history)) == [3]


def test_places_of_ones_own_are_closed_by_place():
    search = Places(GRAPH, GRAPH.points([0, 1], [0.3, 0.3]))
    history = History()
    history.ask(Points([0], [0.3 + 1e-12])[0])

    assert where(eligible(search=search).after(history)) == [1]
    assert history[0].status is Status.PENDING


@pytest.mark.parametrize("separation", [-0.1, np.inf, np.nan, None, "far"])
def test_a_separation_that_is_no_length_is_refused(separation):
    with pytest.raises(ParameterError, match="separation must be a length, not negative, got"):
        eligible(separation=separation)
