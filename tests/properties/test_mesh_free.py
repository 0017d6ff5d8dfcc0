"""No mesh means: no change of description changes anything. Covariances, evidence, gradients, suggestions."""

from dataclasses import replace
from functools import cache

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from numpy.testing import assert_allclose

import netbo
from netbo import ESTIMATED, FiniteElementSpace, Matern, MetricGraph, Observations, Optimizer, Points
from netbo.acquisition import IgpUcb, LogExpectedImprovement
from netbo.geometry import split_at
from netbo.optimize import Given, Known, Learned, Places
from support.strategies import metric_graphs, seeds

reproducible = settings(deadline=None, max_examples=25, derandomize=True)
alphas = st.sampled_from([0.5, 1.0, 1.5, 2.0])
RTOL = 1e-9


class Model:
    """A mesh-free field, observed at x, and its answers at x and y."""

    def __init__(self, graph, x, y, *, alpha, length=3.0, constant=False, theta=0.0, sigma=1.4):
        matern = Matern(alpha=alpha, range=length, sigma=sigma)
        prior = netbo.whittle_matern(graph, matern, constant_variance=constant, vertex_condition=theta)
        data = Observations(x, np.sin(3.0 * np.arange(len(x))))
        posterior = netbo.condition(prior, data, regularization=0.02, mean=ESTIMATED)
        self.covariance, self.variance = prior.covariance(x, y), prior.variance(y)
        self.mean, self.std = posterior.mean(y), posterior.std(y)
        self.after = posterior.covariance(x, y)
        self.evidence = posterior.log_evidence()
        self.gradient = np.array(posterior.log_evidence_gradient())
        self.gain = posterior.information_gain()


def assert_same(one: Model, two: Model) -> None:
    """Relative to the largest entry of each, or to 1."""
    for name, expected in vars(one).items():
        scale = max(1.0, np.max(np.abs(expected)))
        assert_allclose(getattr(two, name), expected, rtol=0, atol=RTOL * scale, err_msg=name)


def sample(graph: MetricGraph, seed: int) -> tuple[Points, Points]:
    """Places to measure, one of them twice and one a vertex, and places to ask about, vertices among them."""
    rng = np.random.default_rng(seed)
    inside = netbo.uniform_points(graph, 6, rng)
    vertices = graph.vertex_points()
    x = Points.concatenate([inside, inside[:1], vertices[[int(rng.integers(len(vertices)))]]])
    return x, Points.concatenate([netbo.uniform_points(graph, 5, rng), inside[2:4], vertices])


@reproducible
@given(metric_graphs(), alphas, seeds(), st.booleans())
def test_inserting_vertices_changes_nothing(graph, alpha, seed, constant):
    """Anywhere: at measured places, at asked ones, on loops (once: a loop still; twice: parallel edges)."""
    x, y = sample(graph, seed)
    rng = np.random.default_rng(seed)
    cuts = Points.concatenate([netbo.uniform_points(graph, int(rng.integers(1, 5)), rng), x[:1], y[:1]])
    split = split_at(graph, cuts)

    assert split.graph.n_vertices > graph.n_vertices
    assert_same(
        Model(graph, x, y, alpha=alpha, constant=constant),
        Model(split.graph, split.transfer(x), split.transfer(y), alpha=alpha, constant=constant),
    )


@reproducible
@given(metric_graphs(), alphas, seeds())
def test_inserted_vertices_change_nothing_beside_robin_ones(graph, alpha, seed):
    """New vertices are Kirchhoff, theta = 0; the old keep theirs."""
    x, y = sample(graph, seed)
    theta = np.random.default_rng(seed).uniform(0.0, 2.0, graph.n_vertices)
    split = split_at(graph, Points.concatenate([x[:2], y[:2]]))
    padded = np.r_[theta, np.zeros(split.graph.n_vertices - graph.n_vertices)]

    assert_same(
        Model(graph, x, y, alpha=alpha, theta=theta),
        Model(split.graph, split.transfer(x), split.transfer(y), alpha=alpha, theta=padded),
    )


@reproducible
@given(alphas, seeds(), st.floats(0.1, 10.0), st.integers(1, 4))
def test_splitting_a_loop_changes_nothing(alpha, seed, length, cuts):
    """A loop at the end of an edge, cut into parallel edges and rings."""
    graph = MetricGraph([0, 1], [1, 1], [1.0, length])
    rng = np.random.default_rng(seed)
    x, y = sample(graph, seed)
    split = split_at(graph, graph.points(1, fraction=rng.uniform(0.05, 0.95, cuts)))

    assert not np.any(split.graph.tails == split.graph.heads)
    assert_same(
        Model(graph, x, y, alpha=alpha), Model(split.graph, split.transfer(x), split.transfer(y), alpha=alpha)
    )


@reproducible
@given(metric_graphs(), alphas, seeds(), st.booleans())
def test_flipping_edges_changes_nothing(graph, alpha, seed, constant):
    flip = np.random.default_rng(seed).random(graph.n_edges) < 0.5
    flipped = replace(
        graph,
        tails=np.where(flip, graph.heads, graph.tails),
        heads=np.where(flip, graph.tails, graph.heads),
    )
    places = sample(graph, seed)
    turned = [Points(x.edge, np.where(flip[x.edge], graph.lengths[x.edge] - x.z, x.z)) for x in places]

    assert_same(
        Model(graph, *places, alpha=alpha, constant=constant),
        Model(flipped, *turned, alpha=alpha, constant=constant),
    )


@reproducible
@given(metric_graphs(), alphas, seeds())
def test_renaming_vertices_and_edges_changes_nothing(graph, alpha, seed):
    """Another order of vertices is another order of elimination."""
    rng = np.random.default_rng(seed)
    vertex, edge = rng.permutation(graph.n_vertices), rng.permutation(graph.n_edges)
    renamed = MetricGraph(vertex[graph.tails][edge], vertex[graph.heads][edge], graph.lengths[edge])
    places = sample(graph, seed)
    moved = [Points(np.argsort(edge)[x.edge], x.z) for x in places]

    assert_same(Model(graph, *places, alpha=alpha), Model(renamed, *moved, alpha=alpha))


@reproducible
@given(metric_graphs(), alphas, seeds(), st.sampled_from([1e-6, 0.3048, 1000.0, 1e9]))
def test_the_unit_of_length_changes_nothing(graph, alpha, seed, unit):
    """Lengths and range in another unit; sigma is a standard deviation and has none of it."""
    rescaled = replace(graph, lengths=graph.lengths * unit)
    places = sample(graph, seed)
    scaled = [Points(x.edge, x.z * unit) for x in places]

    assert_same(
        Model(graph, *places, alpha=alpha),
        Model(rescaled, *scaled, alpha=alpha, length=3.0 * unit),
    )


@reproducible
@given(metric_graphs(), alphas, seeds())
def test_asking_about_more_places_changes_no_answer(graph, alpha, seed):
    """Each question has a mesh of its own."""
    x, y = sample(graph, seed)
    prior = netbo.whittle_matern(graph, Matern(alpha=alpha, range=3.0, sigma=1.4))
    data = Observations(x, np.sin(3.0 * np.arange(len(x))))
    posterior = netbo.condition(prior, data, regularization=0.02)
    more = Points.concatenate([y, netbo.uniform_points(graph, 50, np.random.default_rng(seed + 1))])
    n = len(y)

    assert_allclose(prior.variance(more)[:n], prior.variance(y), rtol=RTOL)
    assert_allclose(prior.covariance(more, x)[:n], prior.covariance(y, x), rtol=RTOL, atol=RTOL)
    assert_allclose(posterior.mean(more)[:n], posterior.mean(y), rtol=RTOL, atol=RTOL)
    assert_allclose(posterior.std(more)[:n], posterior.std(y), rtol=RTOL)
    assert_allclose(np.diag(posterior.covariance(more, more))[:n], posterior.variance(y), rtol=RTOL)


@reproducible
@given(metric_graphs(), alphas, seeds())
def test_components_do_not_see_each_other(graph, alpha, seed):
    """Posterior of one component with data on all, and with its own data alone."""
    x, _ = sample(graph, seed)
    values = np.sin(3.0 * np.arange(len(x)))
    prior = netbo.whittle_matern(graph, Matern(alpha=alpha, range=3.0))
    own = graph.component_of(x) == graph.component_of(x)[0]
    every = netbo.condition(prior, Observations(x, values), regularization=0.02)
    alone = netbo.condition(prior, Observations(x[own], values[own]), regularization=0.02)

    assert_allclose(every.mean(x[own]), alone.mean(x[own]), rtol=RTOL, atol=RTOL)
    assert_allclose(every.std(x[own]), alone.std(x[own]), rtol=RTOL)
    assert np.all(prior.covariance(x[own], x[~own]) == 0)


# Suggestions: values carry random noise, so ties have probability zero

ENDS = [(0, 1), (1, 2), (1, 2), (2, 2), (2, 3), (0, 4), (4, 1)]  # parallel, a loop, a dead end, a cycle
LENGTHS = np.array([1.0, 1.0, 2.1, 2.6, 1.5, 1.2, 1.3])
RULES = [IgpUcb(), LogExpectedImprovement()]
LOOP = 3


@cache
def network() -> MetricGraph:
    return MetricGraph(*np.array(ENDS).T, LENGTHS)


def candidates() -> Points:
    """Places at uneven distances, the vertices among them."""
    rng = np.random.default_rng(8)
    return Points.concatenate([network().vertex_points(), netbo.uniform_points(network(), 60, rng)])


class Split:
    """Every edge cut at two random places."""

    unit = 1.0

    def __init__(self) -> None:
        rng = np.random.default_rng(3)
        edge = np.repeat(np.arange(len(ENDS)), 2)
        self._split = split_at(network(), network().points(edge, fraction=rng.uniform(0.1, 0.9, 14)))
        self.graph, self.moved = self._split.graph, self._split.transfer


class Renamed:
    """Other numbers, other directions, another unit."""

    unit = 1000.0

    def __init__(self) -> None:
        self.vertex, self.edge = np.array([3, 1, 4, 0, 2]), np.array([4, 2, 6, 0, 1, 3, 5])
        self.flip = np.array([True, False, True, True, True, False, True])
        tails, heads = self.vertex[np.array(ENDS)].T
        tails, heads = np.where(self.flip, heads, tails), np.where(self.flip, tails, heads)
        self.graph = MetricGraph(tails[self.edge], heads[self.edge], self.unit * LENGTHS[self.edge])

    def moved(self, x: Points) -> Points:
        z = np.where(self.flip[x.edge], LENGTHS[x.edge] - x.z, x.z)
        return Points(np.argsort(self.edge)[x.edge], self.unit * z)


class Plain:
    """The first description."""

    unit = 1.0
    graph = network()

    def moved(self, x: Points) -> Points:
        return x


def chosen(description, rule, learned: bool, alpha: float, seed: int) -> list[int]:
    """Numbers of the next three suggestions among the candidates."""
    rng, x = np.random.default_rng(seed), candidates()
    on_loop = np.flatnonzero(x.edge == LOOP)[2]  # a loop without measurements is symmetric
    measured = np.unique(np.r_[rng.choice(len(x), 11, replace=False), on_loop])
    values = np.sin(2.0 * x.z + x.edge)[measured] + 0.3 * rng.standard_normal(len(measured))
    matern = Matern(alpha, range=2.0 * description.unit, sigma=1.0)
    model = Given(netbo.whittle_matern(description.graph, matern))
    places = description.graph.bind(description.moved(x))
    optimizer = Optimizer(
        FiniteElementSpace.build(description.graph, n_nodes=200),
        acquisition=rule,
        fit=Learned(models=(model,)) if learned else Known(model),
        candidates=Places(description.graph, places),
        noise=0.09,
        seed=0,
    )
    optimizer.tell(places[measured], values)
    asked = Points.at([each.point for each in optimizer.ask(3)], graph=description.graph)
    distance = description.graph.distance(asked, places)

    assert distance.min(axis=1).max() < 1e-9 * description.unit
    return distance.argmin(axis=1).tolist()


@pytest.mark.parametrize("learned", [False, True], ids=["known", "learned"])
@pytest.mark.parametrize("rule", RULES, ids=lambda rule: type(rule).__name__)
@pytest.mark.parametrize("alpha", [0.5, 1.0])
@pytest.mark.parametrize("other", [Split, Renamed])
def test_another_description_changes_no_suggestion(other, alpha, rule, learned):
    """Vertices inserted, or numbers, directions and unit changed; three suggestions after twelve values."""
    for seed in range(2):
        one, two = (chosen(kind(), rule, learned, alpha, seed) for kind in (Plain, other))

        assert one == two
