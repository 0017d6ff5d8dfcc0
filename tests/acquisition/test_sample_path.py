"""A sample path is one function, and its law is the posterior's, however it is asked."""

import numpy as np
import pytest

import netbo
from netbo import ESTIMATED, Matern, Observations, Points, condition, euclidean_matern, whittle_matern
from netbo.acquisition import FixedWidth, GpTs, IgpUcb, draw_path, score_function
from netbo.fem import FiniteElementSpace
from netbo.optimize.surrogate import Negated
from netbo.posterior import MixturePosterior

GRAPH = netbo.star(3, length=2.0)
SPACE = FiniteElementSpace.build(GRAPH, n_nodes=400)


def prior_of(kind):
    if kind.startswith("straight"):
        return euclidean_matern(GRAPH, nu=float(kind.split()[1]), range=1.0)
    matern = Matern(float(kind.split()[1]), range=1.0, sigma=1.5)
    where = SPACE if kind.startswith("mesh") else GRAPH
    return whittle_matern(where, matern, constant_variance=kind.endswith("constant"))


KINDS = [
    "exact 0.5",
    "exact 1",
    "exact 1.5",
    "exact 2",
    "exact 1 constant",
    "mesh 1",
    "mesh 0.5 constant",
    "straight 0.5",
    "straight 1.5",
]


def posterior_of(kind, mean=ESTIMATED):
    places = Points(np.array([0, 0, 1, 2]), np.array([0.3, 1.5, 0.9, 2.0]), graph=GRAPH)
    data = Observations(places, [1.0, -0.5, 0.3, 0.8])
    return condition(prior_of(kind), data, regularization=0.05, mean=mean)


def grid():
    return FiniteElementSpace.build(GRAPH, n_nodes=120).nodes


def questions():
    """A coarse set, then places in between, then places in between those."""
    return [
        Points(np.array([0, 0, 1, 2]), np.array([0.5, 1.0, 1.2, 1.0]), graph=GRAPH),
        Points(np.array([0, 0]), np.array([0.75, 0.9]), graph=GRAPH),
        Points(np.array([0, 1]), np.array([0.85, 0.1]), graph=GRAPH),
    ]


def asked_in_turns(posterior, rng):
    path = draw_path(posterior, rng)
    return np.concatenate([path(x) for x in questions()])


@pytest.mark.parametrize(("kind", "mean"), [*((kind, ESTIMATED) for kind in KINDS), ("exact 1", 0.2)])
def test_the_law_of_a_path_asked_in_turns_is_the_posterior(kind, mean):
    """Whitened by the exact covariance, paths are standard normal: their moments miss by 1/sqrt(n) each."""
    n = 100 if kind.startswith("straight") else 300
    posterior, rng, x = posterior_of(kind, mean), np.random.default_rng(11), Points.concatenate(questions())
    root = np.linalg.cholesky(posterior.covariance(x, x))
    paths = np.array([asked_in_turns(posterior, rng) for _ in range(n)])
    white = np.linalg.solve(root, (paths - posterior.mean(x)).T)

    assert np.abs(white.mean(axis=1)).max() < 4.5 / np.sqrt(n)
    assert np.abs(white @ white.T / n - np.eye(len(x))).max() < 4.5 * np.sqrt(2 / n)


@pytest.mark.parametrize("kind", ["exact 1", "straight 0.5"])
def test_an_estimated_mean_is_drawn_once_for_the_whole_path(kind):
    """Far apart only the mean is shared: a variance of 4, against the field's own of 0.01."""
    data = Observations(Points(np.array([0]), np.array([2.0]), graph=GRAPH), [0.0], [4.0])
    posterior = condition(prior_of(kind).rescaled(range=0.1, sigma=0.1), data, mean=ESTIMATED)
    far = [Points(np.array([edge]), np.array([1.5]), graph=GRAPH) for edge in range(3)]
    rng = np.random.default_rng(8)
    paths = [
        np.concatenate([path(x) for x in far]) for path in (draw_path(posterior, rng) for _ in range(50))
    ]

    assert np.ptp(paths, axis=1).max() < 0.6  # six standard deviations of the field
    assert np.std(paths, axis=0).min() > 1.2  # four standard errors below 2


@pytest.mark.parametrize("kind", KINDS)
def test_a_path_is_one_function(kind):
    """Asked again it says the same, up to the jitter of dense paths: 1e-6 of sigma, five of them at most."""
    rng = np.random.default_rng(5)
    path, x = draw_path(posterior_of(kind), rng), grid()
    first = path(x)
    z = np.linspace(0.499999, 0.500001, 9)
    near = Points(np.zeros(9, dtype=np.int64), z, graph=GRAPH)
    values = path(near)
    again = path(x)

    assert np.abs(again - first).max() < (1e-5 if kind.startswith("straight") else 1e-9)
    np.testing.assert_allclose(path(near), values, atol=1e-5 if kind.startswith("straight") else 1e-9)


@pytest.mark.parametrize("kind", KINDS)
def test_the_first_answer_is_the_sample_of_the_posterior(kind):
    posterior, x = posterior_of(kind), grid()
    expected = posterior.sample(x, np.random.default_rng(3))
    if kind.startswith("mesh"):
        nodal = posterior.sample(SPACE.nodes, np.random.default_rng(3))
        np.testing.assert_allclose(draw_path(posterior, np.random.default_rng(3))(SPACE.nodes), nodal)
        return

    np.testing.assert_array_equal(draw_path(posterior, np.random.default_rng(3))(x), expected)


def test_a_path_of_a_mixture_stays_with_its_component():
    """Two models whose means differ by far more than their spread: a path is near one of them all along."""
    places = Points(np.array([0]), np.array([0.3]), graph=GRAPH)
    data = Observations(places, [0.0], [1e4])
    parts = [condition(prior_of("exact 1").rescaled(sigma=0.1), data, mean=mean) for mean in (-50.0, 50.0)]
    mixture = MixturePosterior(tuple(parts), np.array([0.5, 0.5]))
    rng = np.random.default_rng(2)
    signs = []
    for _ in range(40):
        path = draw_path(mixture, rng)
        values = np.concatenate([path(x) for x in questions()])
        signs.append(np.sign(values[0]))

        assert np.abs(values - 50 * signs[-1]).max() < 5

    assert 8 <= np.count_nonzero(np.array(signs) > 0) <= 32  # of 40 halves: four standard errors


def test_turned_upside_down_a_gaussian_path_is_the_mean_minus_the_deviation():
    posterior = posterior_of("exact 1")
    path, turned = (draw_path(each, np.random.default_rng(1)) for each in (posterior, Negated(posterior)))
    for x in questions():
        np.testing.assert_allclose(turned(x) + posterior.mean(x), path(x) - posterior.mean(x), atol=1e-9)


def test_turned_upside_down_a_mixture_draws_the_same_model_and_turns_it():
    """So that minimizing f draws what maximizing -f does."""
    mixture = MixturePosterior((posterior_of("exact 1"), posterior_of("exact 0.5")), np.array([0.4, 0.6]))
    path, turned = (draw_path(each, np.random.default_rng(1)) for each in (mixture, Negated(mixture)))
    drawn = mixture.components[int(np.random.default_rng(1).choice(2, p=mixture.weights))]
    for x in questions():
        np.testing.assert_allclose(turned(x) + drawn.mean(x), path(x) - drawn.mean(x), atol=1e-9)


def test_thompson_scores_of_one_decision_are_a_scaled_path():
    posterior = posterior_of("exact 1")
    scores = score_function(GpTs(FixedWidth(3.0)), posterior, np.random.default_rng(4))
    path = draw_path(posterior, np.random.default_rng(4))
    for x in questions():
        mean = posterior.mean(x)

        np.testing.assert_allclose(scores(x), mean + 3 * (path(x) - mean), atol=1e-8)


def test_the_scores_of_other_rules_are_their_own():
    posterior, rule, x = posterior_of("exact 1"), IgpUcb(FixedWidth(2.0)), grid()
    scores = score_function(rule, posterior, np.random.default_rng(4))

    np.testing.assert_array_equal(scores(x), rule.scores(posterior, x, np.random.default_rng(0)))


def test_an_unknown_surrogate_answers_by_its_samples():
    class Wrapped:
        def __init__(self, base):
            self.base = base

        def __getattr__(self, name):
            return getattr(self.base, name)

    posterior, x = posterior_of("exact 1"), grid()
    path = draw_path(Wrapped(posterior), np.random.default_rng(6))

    np.testing.assert_array_equal(path(x), posterior.sample(x, np.random.default_rng(6)))
