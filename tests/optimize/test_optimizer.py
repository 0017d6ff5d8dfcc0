"""Asking and telling: what is recorded, what is refused, what comes next."""

import math
from dataclasses import replace

import numpy as np
import pytest
from numpy.testing import assert_allclose, assert_array_equal

import netbo
from netbo import FiniteElementSpace, Forbidden, Matern, Optimizer, Point, Points, Suggestion, interval, star
from netbo.acquisition import GpTs, IgpUcb, LogExpectedImprovement, MaxVariance, NoisyExpectedImprovement
from netbo.errors import ExhaustedError, ObservationError, ParameterError, PointError
from netbo.geometry import distinct_places
from netbo.optimize import (
    PAPER,
    Combination,
    EuclideanMatern,
    FixedRegularization,
    Given,
    GrowingConfidence,
    Known,
    Learned,
    Maximin,
    Metric,
    NetworkMatern,
    Nodes,
    Outcome,
    Preset,
    RandomDesign,
    Status,
)
from netbo.optimize.presets import STEADY
from netbo.optimize.surrogate import Negated
from netbo.posterior import MixturePosterior
from reference import contract_space

SPACE = contract_space()
KNOWN = Known(Given(netbo.whittle_matern(SPACE, Matern(1.0, range=2.0, sigma=1.0))))


class Spy:
    """An acquisition that remembers what it saw; its scores are those of another."""

    def __init__(self, rule=None):
        self.rule = rule or IgpUcb()
        self.hallucinates = self.rule.hallucinates
        self.seen = []

    def scores(self, surrogate, x, rng):
        self.seen.append(surrogate)
        return self.rule.scores(surrogate, x, rng)


def wave(point: Point) -> float:
    return math.sin(2 * point.z + point.edge)


def quick(space=SPACE, **settings):
    """An optimizer that need not learn parameters."""
    return Optimizer(space, **({"fit": KNOWN, "noise": 0.01, "design": Maximin(4)} | settings))


def advance(optimizer, n, f=wave):
    """Ask and tell n times."""
    for _ in range(n):
        suggestion = optimizer.ask()
        optimizer.tell(suggestion, f(suggestion.point))
    return optimizer


def places(suggestions, graph=None):
    return Points.at([each.point for each in suggestions], graph=graph or SPACE.graph)


def separate(points):
    """Least distance along the network between two of the points."""
    between = SPACE.graph.distance(points, points)
    return between[np.triu_indices(len(points), 1)].min()


def statuses(optimizer):
    return [trial.status.value for trial in optimizer.history]


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


# Telling


def test_values_may_be_told_in_any_order_and_in_every_way():
    optimizer = quick()
    a, b, c, d, e = optimizer.ask(5)

    assert optimizer.tell(c, 3.0) == [2]
    assert optimizer.tell(a.id, 1.0) == [0]
    assert optimizer.tell([e, b], [5.0, 2.0]) == [4, 1]
    assert optimizer.tell([d.id], np.array([4.0])) == [3]
    assert [trial.value for trial in optimizer.history] == [1.0, 2.0, 3.0, 4.0, 5.0]
    assert [trial.id for trial in optimizer.history.observed] == [2, 0, 4, 1, 3]
    assert optimizer.observations.values.tolist() == [3.0, 1.0, 5.0, 2.0, 4.0]
    assert optimizer.observations.points == places([c, a, e, b, d])


def test_a_list_of_ids_and_numbers_of_numpy_are_told():
    optimizer = quick()
    optimizer.ask(3)

    assert optimizer.tell([2, 0], [2.0, 0.0]) == [2, 0]
    assert optimizer.tell(np.int64(1), np.float32(0.5)) == [1]


def test_points_that_were_never_asked_for_are_told():
    optimizer = quick()
    asked = optimizer.ask()
    points = SPACE.graph.points([0, 3], [0.3, 0.7])

    assert optimizer.tell(points, [1.0, 2.0], noise=[0.1, None]) == [1, 2]
    assert optimizer.tell(points[0], 3.0) == [3]
    assert optimizer.tell([points[1], asked], [4.0, 5.0]) == [4, 0]
    assert [trial.asked is None for trial in optimizer.history] == [False, True, True, True, True]
    assert_allclose(optimizer.observations.noise, [0.1, math.nan, math.nan, math.nan, math.nan])
    assert optimizer.history.n_asked == 1


def test_a_value_measured_elsewhere_counts_there():
    optimizer = quick()
    one, two, three = optimizer.ask(3)
    there = SPACE.graph.points([0, 3], [0.3, 0.7])
    optimizer.tell(one, 1.0, at=there[0])
    optimizer.tell([two, three], [2.0, 3.0], at=[None, there[1:]])

    assert optimizer.observations.points == Points.concatenate([there[:1], places([two]), there[1:]])
    assert optimizer.history[0].asked == one.point
    assert optimizer.history[0].point == there[0]


def test_a_repeat_is_told_by_its_point_and_both_values_count():
    optimizer = advance(quick(), 4)
    optimizer.tell(optimizer.history[0].point, 0.5)

    assert len(optimizer.posterior.observations) == 5
    assert optimizer.history[4].asked is None


def test_variances_of_their_own_replace_the_common_one():
    optimizer = quick(noise=0.01)
    asked = optimizer.ask(3)
    optimizer.tell(asked[:2], [1.0, 2.0], noise=0.5)
    optimizer.tell(asked[2], 3.0)

    assert_allclose(optimizer.posterior.noise, [0.5, 0.5, 0.01])


def test_failures_are_recorded_and_not_modelled():
    optimizer = advance(quick(), 4)
    before = optimizer.posterior
    asked = optimizer.ask(3)
    optimizer.tell(asked, [math.nan, None, "failed"], note="no access")
    optimizer.tell(SPACE.graph.points(0, 0.3), ["failed"])

    assert statuses(optimizer)[4:] == ["failed"] * 4
    assert optimizer.history[5].note == "no access"
    assert optimizer.posterior is before
    assert len(optimizer.observations) == 4


def test_places_that_failed_are_not_asked_for_again():
    """Though the same place stays the best of a rule that learns nothing from a failure."""
    optimizer = advance(quick(acquisition=MaxVariance()), 6)
    failed = []
    for _ in range(10):
        suggestion = optimizer.ask()
        failed.append(suggestion)
        optimizer.tell(suggestion, "failed")

    assert len(distinct_places(SPACE.graph, places(failed))) == 10


def test_failed_and_cancelled_suggestions_may_be_told_later():
    optimizer = quick()
    failed, cancelled = optimizer.ask(2)
    optimizer.tell(failed, "failed")
    optimizer.cancel(cancelled)
    optimizer.tell([cancelled, failed], [1.0, 2.0])

    assert optimizer.observations.values.tolist() == [1.0, 2.0]


def test_a_suggestion_is_told_once():
    optimizer = quick()
    suggestion = optimizer.ask()
    optimizer.tell(suggestion, 1.0)
    with pytest.raises(ObservationError, match=r"trial 0 is already told \(observed, value 1\.0\)"):
        optimizer.tell(suggestion, 2.0)
    optimizer.withdraw(suggestion)
    with pytest.raises(ObservationError, match=r"trial 0 is already told \(withdrawn, value 1\.0\)"):
        optimizer.tell(suggestion, 2.0)


@pytest.mark.parametrize(
    ("subject", "values", "options", "error", "match"),
    [
        ([0, 1], [1.0, math.inf], {}, ObservationError, "a value must be finite"),
        ([0, 1], [1.0, "bad"], {}, ObservationError, "a value must be a number"),
        ([0, 1], [1.0], {}, ObservationError, "values must be one for each of 2 trials, got 1"),
        ([0, 1], 1.0, {}, ObservationError, "values must be one for each of 2 trials"),
        ([0, 1], [1.0, 2.0], {"noise": [0.1, -1.0]}, ObservationError, "noise must be a positive variance"),
        ([0, 1], [1.0, 2.0], {"noise": [0.1]}, ObservationError, "noise must be one for each of 2 trials"),
        ([0, 1], [1.0, 2.0], {"at": [None, Point(0, 99.0)]}, PointError, "must lie within the edge"),
        ([0, 1], [1.0, 2.0], {"at": [None, "here"]}, PointError, "a place must be a Point or Points"),
        ([0, 0], [1.0, 2.0], {}, ObservationError, r"each trial is told once, got the ids \[0, 0\]"),
        ([0, 9], [1.0, 2.0], {}, ObservationError, r"trials are 0\.\.2, got 9"),
        ([0, 2], [1.0, 2.0], {}, ObservationError, "trial 2 is already told"),
        ([Point(0, 0.1), 2], [1.0, 2.0], {}, ObservationError, "trial 2 is already told"),
        ([0, Point(0, 99.0)], [1.0, 2.0], {}, PointError, "must lie within the edge"),
        ([0, "1"], [1.0, 2.0], {}, PointError, "a place must be a Point or Points"),
        ("0", 1.0, {}, ObservationError, "tell needs a suggestion, its id or a point"),
        (Points([0, 9], [0.1, 0.1]), [1.0, 2.0], {}, PointError, r"edges must lie in 0\.\.5"),
    ],
)
def test_an_error_in_one_of_several_records_nothing(subject, values, options, error, match):
    optimizer = quick()
    optimizer.ask(3)
    optimizer.tell(2, 0.0)
    before = list(optimizer.history)
    with pytest.raises(error, match=match):
        optimizer.tell(subject, values, **options)

    assert list(optimizer.history) == before
    assert optimizer.tell(0, 1.0) == [0]
    assert optimizer.history[0].order == 1


def test_points_of_another_network_are_refused():
    with pytest.raises(PointError, match="points must lie on"):
        quick().tell(star(3).points(0, 0.5), [1.0])


# Taking back


def test_a_corrected_value_counts_in_its_place():
    optimizer = advance(quick(), 5)
    optimizer.correct(1, 7.0, noise=0.3)
    twin = quick()
    for trial in optimizer.history.observed:
        twin.tell(trial.point, trial.value, noise=trial.noise)

    assert optimizer.history[1].value == 7.0
    assert optimizer.observations.values[1] == 7.0
    assert_array_equal(optimizer.posterior.mean(SPACE.nodes), twin.posterior.mean(SPACE.nodes))


def test_a_withdrawn_value_no_longer_counts_and_stays_on_record():
    optimizer = advance(quick(), 5)
    value = optimizer.history[2].value
    optimizer.withdraw(2)

    assert optimizer.history[2].status is Status.WITHDRAWN
    assert optimizer.history[2].value == value
    assert len(optimizer.posterior.observations) == 4
    optimizer.correct(2, 1.0)
    assert len(optimizer.posterior.observations) == 5


@pytest.mark.parametrize("noise", [None, 0.0, 0.01])
def test_after_corrections_it_is_a_fresh_optimizer_with_the_corrected_record(noise):
    """Parameters, posterior and next suggestion; 11 values are no milestone, nor are 10."""
    optimizer = advance(Optimizer(SPACE, noise=noise, seed=3), 11)
    optimizer.outcome  # noqa: B018 - learned from the wrong record first
    optimizer.correct(5, 2.0)
    optimizer.outcome  # noqa: B018
    optimizer.withdraw(10)
    fresh = Optimizer(SPACE, noise=noise, seed=3, history=optimizer.history)

    assert optimizer.outcome.fits[0].parameters == fresh.outcome.fits[0].parameters
    assert_array_equal(optimizer.posterior.mean(SPACE.nodes), fresh.posterior.mean(SPACE.nodes))
    assert optimizer.ask() == fresh.ask()


@pytest.mark.parametrize("value", [math.nan, None, "failed"])
def test_a_correction_is_a_number(value):
    optimizer = advance(quick(), 1)
    with pytest.raises(ObservationError, match=r"a correction must be a number, got .* withdraw\(id\)"):
        optimizer.correct(0, value)


def test_what_cannot_be_taken_back_is_refused():
    optimizer = advance(quick(), 1)
    pending = optimizer.ask()
    with pytest.raises(ObservationError, match="only told trials can be corrected, got trial 1, pending"):
        optimizer.correct(pending, 1.0)
    with pytest.raises(ObservationError, match="only observed values can be withdrawn, got trial 1, pending"):
        optimizer.withdraw(pending)
    with pytest.raises(ObservationError, match="only pending trials can be cancelled, got trial 0, observed"):
        optimizer.cancel(0)
    with pytest.raises(ObservationError, match=r"trials are 0\.\.1, got 5"):
        optimizer.cancel(5)


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
    optimizer = Optimizer(graph, max_cell=0.125, noise=0.01)
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


# Parts


class Corner:
    """A design that always starts in the same places."""

    size = 2

    def __init__(self):
        self.calls = []

    def next(self, graph, candidates, known, allowed, rng):
        self.calls.append(len(known))
        return int(np.flatnonzero(allowed)[0])


class Fixed:
    """A way to learn that was written elsewhere."""

    def __init__(self):
        self.started = None

    def start(self, space, noise):
        self.started = (space, noise)
        self.learner = KNOWN.start(space, noise)
        return self

    def learn(self, observations):
        found = self.learner.learn(observations)
        return Outcome(found.surrogate, ("fixed",), (), np.ones(1))


class Last(Nodes):
    """A search space that always takes the last allowed candidate."""

    def maximize(self, scores, allowed):
        scores(self.points)
        index = int(np.flatnonzero(allowed)[-1])
        return self.points[index : index + 1]


@pytest.mark.parametrize("preset", ["paper", "calibrated"])
def test_every_part_of_a_preset_may_be_another_object(preset):
    spy, design, fit, search = Spy(), Corner(), Fixed(), Last(SPACE)
    optimizer = Optimizer(
        SPACE, preset=preset, acquisition=spy, design=design, fit=fit, candidates=search, noise=0.01
    )
    advance(optimizer, 2)
    last = optimizer.ask()

    assert design.calls == [0, 1]
    assert fit.started == (SPACE, 0.01)
    assert len(spy.seen) == 1
    assert optimizer.outcome.labels == ("fixed",)
    assert last.point == SPACE.nodes[-1]


def test_a_preset_of_ones_own_is_used_whole():
    spy, design = Spy(), Corner()
    own = Preset("own", acquisition=spy, fit=KNOWN, design=design, repeats=False)
    optimizer = advance(Optimizer(SPACE, preset=own, noise=0.01), 3)

    assert design.calls == [0, 1]
    assert len(spy.seen) == 1
    assert not optimizer.repeats


@pytest.mark.parametrize(
    ("rule", "expected"), [(GrowingConfidence(), 1 + 2 / 10), (FixedRegularization(0.3), 0.3)]
)
def test_the_papers_lambda_is_selectable(rule, expected):
    fit = replace(PAPER.fit, regularization=rule)
    optimizer = advance(Optimizer(SPACE, preset=replace(PAPER, fit=fit), noise=0.01), 9)

    assert_allclose(optimizer.posterior.noise, expected)
    assert optimizer.outcome.fits[0].regularization == 0.01


@pytest.mark.parametrize("metric", list(Metric))
def test_the_papers_metric_is_selectable(metric):
    """The slow twin: farthest first over all nodes, in that distance."""
    graph = netbo.open_rectangle()
    space = FiniteElementSpace.build(graph, max_cell=1.0)
    optimizer = Optimizer(space, preset=replace(PAPER, design=Maximin(8, metric)), noise=0.01)
    asked = Points.at([each.point for each in optimizer.ask(8)], graph=graph)
    if metric is Metric.GEODESIC:
        between = graph.distance(asked, space.nodes)
    else:
        between = np.linalg.norm(graph.embed(asked)[:, None] - graph.embed(space.nodes)[None], axis=2)
    own = graph.distance(asked, space.nodes).argmin(axis=1)

    for k in range(1, 8):
        cover = between[:k].min(axis=0)
        assert cover[own[k]] == pytest.approx(cover.max())


def test_forbidden_places_are_never_asked_for():
    optimizer = quick(candidates=Forbidden(edges=[0, 3]), acquisition=MaxVariance(), noise=0.0)
    advance(optimizer, 20)

    assert Forbidden(edges=[0, 3]).allows(optimizer.observations.points).all()


def test_a_prior_is_learned_as_it_is():
    prior = netbo.euclidean_matern(SPACE.graph, nu=1.5, range=1.0)
    optimizer = advance(Optimizer(prior, noise=0.01, max_cell=0.25), 9)

    assert type(optimizer.outcome.fits[0].prior) is type(prior)
    assert optimizer.outcome.labels[0].startswith("given")


# Answers


@pytest.mark.parametrize(("direction", "best"), [("maximize", 2), ("minimize", 1)])
def test_the_best_is_the_best_observation(direction, best):
    optimizer = quick(direction=direction)
    optimizer.tell(SPACE.nodes[:4], [0.0, -3.0, 5.0, math.nan])
    found = optimizer.best()

    assert (found.id, found.value) == (best, [0.0, -3.0, 5.0][best])
    assert found.point == SPACE.nodes[best]


def test_the_recommendation_has_the_best_mean_and_its_interval():
    optimizer = advance(quick(noise=0.3), 8)
    found, nodes, posterior = optimizer.recommend(), SPACE.nodes, optimizer.posterior
    best = int(np.argmax(posterior.mean(nodes)))

    assert found.point == nodes[best]
    assert found.mean == pytest.approx(posterior.mean(nodes)[best])
    assert found.high - found.mean == pytest.approx(1.959964 * posterior.std(nodes)[best], rel=1e-6)
    assert found.mean - found.low == pytest.approx(found.high - found.mean)


def test_minimizing_recommends_the_least_mean_in_the_users_direction():
    optimizer = advance(quick(direction="minimize"), 8)
    found = optimizer.recommend()

    assert found.mean == pytest.approx(optimizer.posterior.mean(SPACE.nodes).min())
    assert_allclose(optimizer.upright.mean(SPACE.nodes), -optimizer.posterior.mean(SPACE.nodes))
    assert optimizer.upright is optimizer.upright


def test_answers_need_a_value():
    optimizer = quick()
    optimizer.tell(optimizer.ask(), "failed")
    with pytest.raises(ObservationError, match="a best value needs at least one observation, got none"):
        optimizer.best()
    with pytest.raises(ObservationError, match="a model needs at least one observation, got none"):
        optimizer.posterior  # noqa: B018


def test_a_mode_and_a_search_list_follow_the_direction():
    optimizer = quick(direction="minimize", noise=1e-4)
    optimizer.tell(SPACE.nodes, -np.exp(-SPACE.graph.distance(SPACE.nodes[5:6], SPACE.nodes)[0] / 0.1))
    mode = optimizer.modes(1)[0]
    stretches = optimizer.search_list(0.5).stretches

    assert mode.point == SPACE.nodes[5]
    assert mode.point.edge_id in {stretch.edge_id for stretch in stretches}
    assert len(optimizer.maximizer(64).index) == 64


# Directions


def test_a_negated_surrogate_is_that_of_minus_f():
    """Moments, samples, leave-one-out and what follows from more data, beside conditioning on -y."""
    optimizer = advance(quick(direction="minimize"), 6)
    twin = advance(quick(), 6, lambda point: -wave(point))
    one, two, nodes = optimizer.upright, twin.posterior, SPACE.nodes
    more = netbo.Observations(nodes[[3, 4]], [0.3, -0.2])

    for a, b in ((one, two), (one.extend(more), two.extend(more))):
        assert_allclose(a.mean(nodes), b.mean(nodes), rtol=1e-12)
        assert_allclose(a.std(nodes), b.std(nodes), rtol=1e-12)
        assert_allclose(a.variance(nodes), b.variance(nodes), rtol=1e-12)
        assert_allclose(a.covariance(nodes, nodes), b.covariance(nodes, nodes), rtol=1e-12, atol=1e-15)
        assert_array_equal(a.observations.values, b.observations.values)
        assert_array_equal(a.noise, b.noise)
        assert a.information_gain() == b.information_gain()
        assert_allclose(a.leave_one_out().mean, b.leave_one_out().mean, rtol=1e-12)
        paths = [s.sample(nodes, np.random.default_rng(1), scale=2.0) for s in (a, b)]
        assert_allclose(*paths, rtol=1e-10, atol=1e-12)


def test_samples_of_a_negated_mixture_have_its_skewness():
    """Two components, sure of 0 with weight 0.9 and of 10 with weight 0.1: -f is 0 or -10, never +10.

    The share of -10 in 2000 draws has the standard error 0.0067; five of them are allowed.
    """
    prior = netbo.whittle_matern(SPACE, Matern(1.0, range=2.0, sigma=0.01))
    data = netbo.Observations(SPACE.nodes[:1], [0.0], [1e6])
    parts = tuple(netbo.condition(prior, data, mean=mean) for mean in (0.0, 10.0))
    mixture = MixturePosterior(parts, np.array([0.9, 0.1]))
    paths = Negated(mixture).sample(SPACE.nodes[:1], np.random.default_rng(0), n=2000)[:, 0]

    assert np.all((np.abs(paths) < 0.1) | (np.abs(paths + 10) < 0.1))
    assert np.mean(paths < -5) == pytest.approx(0.1, abs=0.034)


@pytest.mark.parametrize("rule", [GpTs(), IgpUcb(), NoisyExpectedImprovement()])
def test_minimizing_f_is_maximizing_minus_f(rule):
    down = advance(Optimizer(SPACE, direction="minimize", acquisition=rule, design=Maximin(4)), 10)
    up = advance(Optimizer(SPACE, acquisition=rule, design=Maximin(4)), 10, lambda point: -wave(point))

    assert [trial.point for trial in down.history] == [trial.point for trial in up.history]
    assert down.best().value == -up.best().value


# Networks


@pytest.mark.parametrize("rule", [GpTs(), IgpUcb(), NoisyExpectedImprovement()])
def test_every_component_is_explored_with_shared_parameters(rule):
    optimizer = advance(Optimizer(SPACE, noise=0.01, acquisition=rule), 14)
    component = SPACE.graph.component_of(optimizer.observations.points)

    assert np.bincount(component, minlength=2).min() >= 2
    assert len(optimizer.outcome.fits) == 1


def test_more_components_than_a_usual_design_are_all_seen():
    """Ten separate edges: one place each, before any has two."""
    graph = netbo.MetricGraph(np.arange(0, 20, 2), np.arange(1, 20, 2), np.linspace(1, 2, 10))
    optimizer = advance(Optimizer(graph, noise=0.01, max_cell=0.25), 10)

    assert sorted(graph.component_of(optimizer.observations.points).tolist()) == list(range(10))


@pytest.mark.parametrize("noise", [None, 0.0, 0.01])
def test_a_single_edge_is_a_network(noise):
    optimizer = advance(
        Optimizer(interval(2.0), noise=noise, max_cell=0.02), 14, lambda p: -((p.z - 0.7) ** 2)
    )

    assert optimizer.recommend().point.z == pytest.approx(0.7, abs=0.1)


def test_random_designs_are_designs():
    optimizer = quick(design=RandomDesign(5), noise=0.0)

    assert len(distinct_places(SPACE.graph, places(optimizer.ask(5)))) == 5


def test_an_average_of_models_is_asked_like_any_other():
    fit = Learned(models=(NetworkMatern(0.5), NetworkMatern(1.0)), combination=Combination.AVERAGE)
    for direction in ("maximize", "minimize"):
        optimizer = advance(Optimizer(SPACE, fit=fit, direction=direction, noise=0.01), 9)
        optimizer.ask(2)
        assert isinstance(optimizer.posterior, MixturePosterior)
        assert len(optimizer.check().value) == 9


@pytest.mark.slow
def test_a_network_of_a_hundred_thousand_edges_works():
    graph = netbo.road(70_000, seed=0)
    optimizer = Optimizer(graph, noise=0.01, seed=0)
    asked = advance(optimizer, 11, lambda point: math.sin(point.xy[0] / 40) + math.cos(point.xy[1] / 30))

    assert graph.n_edges > 1e5
    assert len(optimizer.search.points) > 1.7e5
    assert len(asked.history.observed) == 11
    assert asked.recommend().mean > 0
