"""The parts of an optimizer, its answers in both directions, and networks of every kind."""

import math
from dataclasses import replace

import numpy as np
import pytest
from numpy.testing import assert_allclose, assert_array_equal

import netbo
from netbo import FiniteElementSpace, Forbidden, Matern, Optimizer, Points, interval
from netbo.acquisition import GpTs, IgpUcb, MaxVariance, NoisyExpectedImprovement
from netbo.errors import ObservationError
from netbo.geometry import distinct_places
from netbo.optimize import (
    PAPER,
    Combination,
    FixedRegularization,
    GrowingConfidence,
    Learned,
    Maximin,
    Metric,
    NetworkMatern,
    Nodes,
    Preset,
    RandomDesign,
    SurrogateFit,
)
from netbo.optimize.surrogate import Negated
from netbo.posterior import MixturePosterior
from support.optimizers import KNOWN, SPACE, Spy, advance, places, quick, wave

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
        return SurrogateFit(found.surrogate, ("fixed",), (), np.ones(1))


class Last(Nodes):
    """A search space that always takes the last allowed candidate."""

    def maximize(self, scores, allowed, surroundings=None):
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
    assert_allclose(optimizer.maximized.mean(SPACE.nodes), -optimizer.posterior.mean(SPACE.nodes))
    assert optimizer.maximized is optimizer.maximized


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
    one, two, nodes = optimizer.maximized, twin.posterior, SPACE.nodes
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
    optimizer = advance(Optimizer(SPACE, noise=0.01, acquisition=rule, design=8), 14)
    component = SPACE.graph.component_of(optimizer.observations.points)

    assert np.bincount(component, minlength=2).min() >= 2
    assert len(optimizer.outcome.fits) == len(optimizer.fit.models)


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
