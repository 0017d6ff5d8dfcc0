"""Asking: which places come next, one by one and in batches, while others are pending."""

import math

import numpy as np
import pytest
from numpy.testing import assert_allclose, assert_array_equal

import netbo
from netbo import FiniteElementSpace, Optimizer, Points, Suggestion, interval, star
from netbo.acquisition import GpTs, IgpUcb, LogExpectedImprovement, NoisyExpectedImprovement
from netbo.errors import ExhaustedError, ParameterError
from netbo.geometry import distinct_places
from netbo.optimize import (
    EuclideanMatern,
    Known,
    Learned,
    Maximin,
)
from netbo.optimize.presets import STEADY
from support.optimizers import KNOWN, SPACE, Spy, advance, places, quick, separate, statuses, wave

# Asking


def test_suggestions_are_numbered_in_the_order_they_are_asked_for():
    optimizer = quick()
    one, several = optimizer.ask(), optimizer.ask(3)
    last = optimizer.ask()

    assert isinstance(one, Suggestion)
    assert [each.id for each in (one, *several, last)] == [0, 1, 2, 3, 4]
    assert isinstance(optimizer.ask(1), list)
    assert statuses(optimizer) == ["pending"] * 6


def test_a_suggestion_carries_the_address_of_its_user():
    graph = netbo.MetricGraph([0, 0], [1, 2], [1.0, 2.0], edge_ids=["main", "side"])
    point = Optimizer(graph, noise=0.1).ask().point

    assert point.edge_id in {"main", "side"}
    assert point.fraction == pytest.approx(point.distance / graph.lengths[point.edge])


@pytest.mark.parametrize("n", [0, -1, 1.5, True, "2"])
def test_a_number_of_suggestions_is_a_count(n):
    with pytest.raises(ParameterError, match=r"n counts suggestions, got .*; ask for one or more"):
        quick().ask(n)


def test_asking_counts_by_numbers_of_numpy_too():
    assert len(quick().ask(np.int64(2))) == 2


@pytest.mark.parametrize("noise", [-0.1, math.nan, math.inf, "0.1", True, [0.1], 1j])
def test_noise_that_is_no_variance_is_refused(noise):
    with pytest.raises(ParameterError, match=r"noise must be a variance, 0\.0 for exact values or None"):
        Optimizer(SPACE, noise=noise)


@pytest.mark.parametrize("seed", [-1, 1.0, None, True])
def test_seeds_that_are_no_counts_are_refused(seed):
    with pytest.raises(ParameterError, match="seed must be a whole number, not negative, got"):
        Optimizer(SPACE, seed=seed)


def test_the_representation_says_what_there_is():
    optimizer = advance(quick(), 2)
    text = f"Optimizer({SPACE.graph!r}, {SPACE.n_nodes} candidates, History(2 observed))"

    assert repr(optimizer) == text


# Designs and pending places


@pytest.mark.parametrize("size", [1, 4, 7])
def test_the_design_goes_on_over_pending_places(size):
    """One after the other, or all at once: the same places, each farthest from those before."""
    spy = Spy()
    optimizer = quick(acquisition=spy, design=Maximin(size))
    together = optimizer.ask(size)
    one_by_one = advance(quick(design=Maximin(size)), size)

    assert [each.point for each in together] == [trial.point for trial in one_by_one.history]
    assert spy.seen == []


def test_the_design_ends_when_half_of_it_is_told():
    spy = Spy()
    optimizer = quick(acquisition=spy, design=Maximin(4))
    asked = optimizer.ask(5)  # nothing told: the fifth is of the design as well
    optimizer.tell(asked[0], 1.0)
    optimizer.ask()
    assert spy.seen == []

    optimizer.tell(asked[1], 1.0)
    optimizer.ask()
    assert len(spy.seen) == 1


def test_failures_do_not_end_the_design():
    spy = Spy()
    optimizer = quick(acquisition=spy, design=Maximin(3))
    for _ in range(6):
        optimizer.tell(optimizer.ask(), "failed")
    advance(optimizer, 3)
    assert spy.seen == []

    advance(optimizer, 1)
    assert len(spy.seen) == 1


def test_told_points_take_part_in_the_design():
    """Farthest first from what the user measured before."""
    graph = interval(1.0)
    optimizer = Optimizer(graph, max_cell=0.125, noise=0.01, design=Maximin(8))
    optimizer.tell(graph.points(0, [0.0, 0.5]), [0.0, 1.0])

    assert optimizer.ask().point.z == 1.0


def test_pending_places_shrink_the_variance_and_leave_the_mean():
    spy = Spy()
    optimizer = advance(quick(acquisition=spy, fit=Learned(), design=Maximin(4)), 8)
    optimizer.ask(4)
    alone, *imagined = spy.seen[-4:]
    nodes = SPACE.nodes

    assert alone is optimizer.posterior
    for k, surrogate in enumerate(imagined, start=1):
        pending = places([Suggestion(t.id, t.point) for t in optimizer.history.pending[:k]])
        assert len(surrogate.observations) == 8 + k
        assert_allclose(surrogate.mean(nodes), alone.mean(nodes), rtol=0, atol=1e-9)
        assert np.all(surrogate.std(nodes) <= alone.std(nodes) * (1 + 1e-9))
        assert np.all(surrogate.std(pending) < 0.9 * alone.std(pending))


def test_pending_places_have_the_noise_of_the_others():
    """The common one; or the mean, where every value has its own."""
    spy = Spy()
    optimizer = quick(acquisition=spy, noise=0.01)
    optimizer.tell(SPACE.nodes[:6], np.arange(6.0), noise=[0.1, 0.2, 0.3, 0.1, 0.2, 0.3])
    optimizer.ask(2)
    optimizer.tell(SPACE.nodes[6], 1.0)
    optimizer.ask()

    assert_allclose(spy.seen[1].noise[6:], [0.2])
    assert_allclose(spy.seen[2].noise[6:], [0.01, 0.01, 0.01])


@pytest.mark.parametrize("rule", [IgpUcb(), NoisyExpectedImprovement(), LogExpectedImprovement()])
@pytest.mark.parametrize("direction", ["maximize", "minimize"])
def test_a_batch_has_different_places(rule, direction):
    optimizer = advance(quick(acquisition=rule, direction=direction), 6)
    batch = places(optimizer.ask(4))

    assert len(distinct_places(SPACE.graph, batch)) == 4


def test_thompson_sampling_draws_a_batch_from_what_was_told():
    spy = Spy(GpTs())
    optimizer = advance(quick(acquisition=spy), 6)
    optimizer.ask(4)

    assert all(surrogate is optimizer.posterior for surrogate in spy.seen[-4:])


def test_what_is_imagined_is_forgotten_when_something_is_told():
    spy = Spy()
    optimizer = advance(quick(acquisition=spy), 6)
    a, b, c = optimizer.ask(3)
    optimizer.tell(b, 1.0)
    optimizer.ask()
    assert optimizer.history.pending[0].id == a.id
    assert spy.seen[-1].observations.values.tolist()[:7] == optimizer.observations.values.tolist()
    assert spy.seen[-1].observations.points[7:] == places([a, c])

    optimizer.cancel(a)
    optimizer.ask()
    assert spy.seen[-1].observations.points[7:8] == places([c])
    assert len(spy.seen[-1].observations) == 7 + 2

    middle, last = optimizer.history.pending[1:]
    optimizer.cancel(middle.id)
    optimizer.ask()
    assert spy.seen[-1].observations.points[7:] == places([c, last])


@pytest.mark.parametrize("fit", [KNOWN, Known(EuclideanMatern(1.5), mean=netbo.ESTIMATED)])
def test_what_is_imagined_is_the_same_after_rebuilding(fit):
    """To the last bit: where scores are equal but for rounding, rounding decides."""
    spy, other = Spy(), Spy()
    optimizer = advance(quick(acquisition=spy, fit=fit), 6)
    optimizer.ask(4)
    rebuilt = quick(acquisition=other, fit=fit, history=optimizer.history)

    assert optimizer.ask() == rebuilt.ask()
    assert_array_equal(spy.seen[-1].mean(SPACE.nodes), other.seen[-1].mean(SPACE.nodes))
    assert_array_equal(spy.seen[-1].std(SPACE.nodes), other.seen[-1].std(SPACE.nodes))


@pytest.mark.parametrize("rule", [IgpUcb(), GpTs()])
def test_batches_keep_their_separation_along_the_network(rule):
    """In one ask, and across separate ones; in the design and after it."""
    optimizer = quick(acquisition=rule, separation=0.7)
    first = optimizer.ask(3)
    assert separate(places(first)) >= 0.7

    optimizer.tell(first, [wave(each.point) for each in first])
    advance(optimizer, 3)
    batch = optimizer.ask(2)
    batch += [*optimizer.ask(2), optimizer.ask()]
    assert separate(places(batch)) >= 0.7


def test_separation_is_not_straight_line_distance():
    """Across the gap of the open rectangle two ends are 1 apart, and 75 along the network."""
    graph = netbo.open_rectangle()
    optimizer = Optimizer(graph, max_cell=1.0, noise=0.01, separation=60.0)
    optimizer.history.ask(graph.points(0, 0.0)[0])
    apart = graph.distance(graph.points(0, 0.0), Points.at(optimizer.ask().point, graph=graph))

    assert apart[0, 0] >= 60.0


def test_where_separation_cannot_be_met_the_farthest_are_taken():
    graph = interval(1.0)
    optimizer = Optimizer(graph, max_cell=0.125, noise=0.01, separation=0.6, acquisition=IgpUcb())
    optimizer.tell(graph.points(0, np.arange(9) / 8), np.sin(np.arange(9.0)))
    first = optimizer.ask()
    rest = [optimizer.ask().point.z for _ in range(2)]

    taken = [first.point.z]
    for z in rest:
        nearest = np.min([np.abs(np.arange(9) / 8 - t) for t in taken], axis=0)
        assert np.min(np.abs(np.array(taken) - z)) >= min(nearest.max(), 0.6) - 1e-12
        taken.append(z)


def test_an_exact_objective_is_exhausted_when_everything_is_measured():
    optimizer = advance(quick(noise=0.0), SPACE.n_nodes)
    with pytest.raises(ExhaustedError, match=f"all {SPACE.n_nodes} candidates have been measured"):
        optimizer.ask()
    assert len(distinct_places(SPACE.graph, optimizer.observations.points)) == SPACE.n_nodes


def test_an_exact_objective_is_exhausted_when_everything_is_pending():
    points = SPACE.graph.points([0, 3, 5], fraction=[0.2, 0.5, 0.5])
    optimizer = quick(noise=0.0, candidates=points)
    optimizer.ask(3)
    with pytest.raises(ExhaustedError, match=r"all open candidates are pending \(3\)"):
        optimizer.ask()
    optimizer.cancel(1)
    assert optimizer.ask().id == 3


# Exact values


@pytest.mark.parametrize("repeats", [True, False])
@pytest.mark.parametrize("rule", [GpTs(), IgpUcb()])
def test_sixty_asks_of_an_exact_objective(rule, repeats):
    """With repeated points among what is told, and parameters learned each time."""
    space = FiniteElementSpace.build(star(3, 2.0), n_nodes=100)
    optimizer = Optimizer(
        space, noise=0.0, repeats=repeats, acquisition=rule, design=Maximin(4), fit=Learned(beliefs=STEADY)
    )
    for turn in range(60):
        suggestion = optimizer.ask()
        optimizer.tell(suggestion, wave(suggestion.point))
        if turn % 20 == 19:
            optimizer.tell(suggestion.point, wave(suggestion.point))
    asked = Points.at([t.point for t in optimizer.history if t.asked is not None], graph=space.graph)
    fit = optimizer.outcome.fits[0]

    assert np.isfinite(optimizer.posterior.mean(space.nodes)).all()
    assert fit.regularization == pytest.approx(1e-10 * fit.prior.sigma**2, rel=1e-9)
    if not repeats:
        assert len(distinct_places(space.graph, asked)) == 60


def test_repeats_are_allowed_unless_values_are_exact():
    assert not Optimizer(SPACE, noise=0.0).repeats
    assert Optimizer(SPACE, noise=None).repeats
    assert Optimizer(SPACE, noise=0.1).repeats
    assert not Optimizer(SPACE, noise=0.1, repeats=False).repeats
    assert Optimizer(SPACE, noise=0.0, preset="paper").repeats
