"""Expected improvement over an uncertain incumbent against brute force."""

import numpy as np
import pytest
from numpy.testing import assert_allclose, assert_array_equal

import netbo
from netbo import ESTIMATED, Matern, Observations, Points
from netbo.acquisition import LogExpectedImprovement, NoisyExpectedImprovement, RestlessImprovement
from netbo.acquisition import improvement as noisy_expected_improvement
from netbo.acquisition.improvement import (
    _mean_improvement,
    likely_incumbents,
    log_expected_improvement,
    log_improvement_bound,
    observed_places,
)
from netbo.errors import ParameterError
from netbo.optimize.surrogate import Negated
from netbo.posterior import MixturePosterior, joint_with
from netbo.posterior.joint import PlainJoint
from support.reference import contract_graph, contract_space

PATHS = 200_000


class Counting:
    """A surrogate that counts the columns of covariance asked of it."""

    def __init__(self, posterior):
        self.posterior, self.columns = posterior, 0

    def __getattr__(self, name):
        return getattr(self.posterior, name)

    def covariance(self, x, y):
        self.columns += min(len(x), len(y))
        return self.posterior.covariance(x, y)


def improvement_by_monte_carlo(posterior, x, seed):
    """Mean improvements at x over the largest value at the observed points, and their standard errors."""
    places = posterior.observations.points
    joint = Points.concatenate([places, x])
    values, vectors = np.linalg.eigh(posterior.covariance(joint, joint))
    root = vectors * np.sqrt(np.maximum(values, 0.0))
    draws = np.random.default_rng(seed).standard_normal((PATHS, len(joint)))
    f = posterior.mean(joint) + draws @ root.T
    improvement = np.maximum(f[:, len(places) :] - f[:, : len(places)].max(axis=1, keepdims=True), 0.0)
    return improvement.mean(axis=0), improvement.std(axis=0) / np.sqrt(PATHS)


@pytest.mark.parametrize("mean", [0.3, ESTIMATED])
def test_it_is_the_mean_improvement_over_the_joint_posterior(prior, observations, candidates, rng, mean):
    """200 000 joint draws: within 5 of their standard errors plus 1 % for the 4096 quasi-random ones."""
    posterior = netbo.condition(prior, observations, regularization=0.3, mean=mean)
    x = candidates[np.setdiff1d(np.arange(len(candidates) - 1), [2, 3, 9, 17, 25])]
    expected, error = improvement_by_monte_carlo(posterior, x, seed=4)
    found = np.exp(NoisyExpectedImprovement(n_draws=4096).scores(posterior, x, rng))

    assert error.max() < 0.005 * expected.max()
    assert_allclose(found, expected, rtol=0.01, atol=5 * error.max())


def test_thirty_two_draws_are_enough_to_rank_candidates(prior, observations, candidates, rng):
    """The default's choice is worth at least 95 % of the best one."""
    posterior = netbo.condition(prior, observations, regularization=0.3)
    found = NoisyExpectedImprovement().scores(posterior, candidates, rng)
    fine = np.exp(NoisyExpectedImprovement(n_draws=8192).scores(posterior, candidates, rng))

    assert fine[np.argmax(found)] > 0.95 * fine.max()


@pytest.mark.parametrize(("noise", "tolerance"), [(1e-12, 1e-9), (1e-7, 1e-3)])
def test_without_noise_it_is_plain_expected_improvement(
    prior, observations, candidates, rng, noise, tolerance
):
    """Nothing is left to average over; a noise of standard deviation 3e-4 moves improvements by as much."""
    places = observed_places(netbo.condition(prior, observations, regularization=1.0))
    data = Observations(places, np.sin(3.0 * np.arange(len(places))))
    posterior = netbo.condition(prior, data, regularization=noise)
    noisy, plain = (
        np.exp(rule.scores(posterior, candidates, rng))
        for rule in (NoisyExpectedImprovement(), LogExpectedImprovement())
    )

    assert_allclose(noisy, plain, rtol=tolerance, atol=tolerance)
    assert plain.max() > 0.05


def test_measured_places_score_next_to_nothing_without_noise(prior, observations, rng):
    posterior = netbo.condition(prior, observations, regularization=1e-10)
    scores = NoisyExpectedImprovement().scores(posterior, observations.points, rng)

    assert not np.isnan(scores).any()
    assert scores.max() < -10


def test_it_leaves_its_incumbent_where_plain_expected_improvement_measures_again():
    """An interval seen at five points with much noise, the middle one high.

    The largest doubt and the largest mean are at the measured middle, so the plug-in rule goes back to it.
    What is there may be better than expected, but no better than itself: the noisy rule goes elsewhere.
    """
    space = netbo.FiniteElementSpace.build(netbo.interval(1.0), max_cell=0.02)
    prior = netbo.whittle_matern(space, Matern(alpha=0.5, range=5.0, sigma=1.0))
    points = space.graph.points(0, [0.0, 0.25, 0.5, 0.75, 1.0])
    data = Observations(points, [-1.0, 0.0, 1.5, 0.0, -1.0], [1e-4, 1e-4, 1.0, 1e-4, 1e-4])
    posterior, x = netbo.condition(prior, data), space.nodes
    rng = np.random.default_rng(0)
    plain, noisy = (
        x[int(np.argmax(rule.scores(posterior, x, rng)))]
        for rule in (LogExpectedImprovement(), NoisyExpectedImprovement())
    )

    assert plain.z == pytest.approx(0.5)
    assert abs(noisy.z - 0.5) > 0.01


def test_candidates_in_parts_score_as_at_once(posterior, candidates, rng, monkeypatch):
    whole = NoisyExpectedImprovement().scores(posterior, candidates, rng)
    monkeypatch.setattr(noisy_expected_improvement, "ENTRIES", 7 * 32)
    parts = NoisyExpectedImprovement().scores(posterior, candidates, rng)

    assert_allclose(np.maximum(parts, -30), np.maximum(whole, -30), rtol=1e-9)


@pytest.mark.parametrize("n", [5, 40])
def test_covariances_are_solved_for_the_incumbents_only(posterior, candidates, rng, n):
    """Four columns for A and four for c, whatever the number of candidates and observations."""
    surrogate = Counting(posterior)
    NoisyExpectedImprovement(n_incumbents=4).scores(surrogate, candidates[:n], rng)

    assert surrogate.columns == 8


def test_the_score_of_a_candidate_does_not_depend_on_the_generator(posterior, candidates):
    one, two = (
        NoisyExpectedImprovement().scores(posterior, candidates, np.random.default_rng(seed))
        for seed in (1, 2)
    )

    assert_array_equal(one, two)


def test_without_observations_it_is_the_logarithm_of_the_standard_deviation(prior, candidates, rng):
    none = Observations(Points(np.empty(0, dtype=int), []), [])
    empty = netbo.condition(prior, none, regularization=0.1)

    assert_allclose(
        NoisyExpectedImprovement().scores(empty, candidates, rng), np.log(prior.variance(candidates)) / 2
    )


def test_a_vertex_is_one_place_from_every_edge():
    """Vertex 1 is the head of edge 0 and the tail of edges 1 and 2; vertex 2 both ends of the loop 3."""
    graph = contract_graph()
    ends = graph.points([0, 1, 2, 3, 3, 4, 0, 0], fraction=[1, 0, 0, 0, 1, 0, 0.5, 0.5])
    prior = netbo.whittle_matern(contract_space(), Matern(alpha=1.0, range=2.0, sigma=1.3))
    posterior = netbo.condition(prior, Observations(ends, np.arange(8.0)), regularization=0.1)
    unbound = netbo.condition(prior, Observations(Points(ends.edge, ends.z), np.zeros(8)), regularization=0.1)

    assert observed_places(posterior) == ends[[0, 3, 6]]
    assert observed_places(unbound) == ends[[0, 3, 6]]


def test_incumbents_are_the_places_with_the_highest_upper_bounds(posterior):
    places = observed_places(posterior)
    upper = posterior.mean(places) + 2 * posterior.std(places)
    chosen, means = likely_incumbents(posterior, places, 4)

    assert len(places) == 9
    assert chosen == places[np.argsort(-upper)[:4]]
    assert_allclose(means, posterior.mean(chosen), rtol=1e-12)
    assert len(likely_incumbents(posterior, places, 100)[0]) == 9


@pytest.mark.parametrize("name", ["n_draws", "n_incumbents"])
@pytest.mark.parametrize("value", [0, -4, 2.0, True])
def test_counts_are_whole_and_positive(name, value):
    with pytest.raises(ParameterError, match=f"{name} must be a whole number of at least one, got"):
        NoisyExpectedImprovement(**{name: value})


def test_draws_come_in_powers_of_two():
    with pytest.raises(ParameterError, match=r"n_draws must be a power of two, .*, got 48; try 32"):
        NoisyExpectedImprovement(n_draws=48)


# The scores of one decision


@pytest.mark.parametrize("noise", [0.3, 0.01, 1e-12])
def test_the_best_candidate_is_the_same_and_all_others_are_bounded(prior, observations, rng, noise):
    posterior = netbo.condition(prior, observations, regularization=noise)
    x = netbo.uniform_points(contract_graph(), 700, rng)
    rule = NoisyExpectedImprovement()
    exact, screened = rule.scores(posterior, x, rng), rule.begin(posterior, rng)(x)
    best = int(np.argmax(exact))

    assert int(np.argmax(screened)) == best
    assert_allclose(screened[best], exact[best], rtol=1e-13)
    assert np.all(np.exp(screened) >= np.exp(exact) - 0.01 * np.exp(exact.max()))  # the error of 32 draws
    assert_allclose(screened.max(), exact.max(), rtol=1e-13)


def test_the_improvement_under_several_models_is_the_mean_of_theirs(observations, candidates, rng):
    """E over models and fields: no moments of the mixture take part."""
    matern = [Matern(1.0, range=length, sigma=1.3) for length in (0.7, 4.0)]
    parts = tuple(
        netbo.condition(netbo.whittle_matern(contract_space(), each), observations, regularization=0.3)
        for each in matern
    )
    mixture = MixturePosterior(parts, np.array([0.3, 0.7]))
    rule = NoisyExpectedImprovement()
    expected = [np.exp(rule.scores(part, candidates, rng)) for part in parts]

    assert_allclose(
        np.exp(rule.scores(mixture, candidates, rng)), [0.3, 0.7] @ np.array(expected), rtol=1e-12
    )
    turned = np.exp(rule.scores(Negated(mixture), candidates, rng))
    alone = [np.exp(rule.scores(Negated(part), candidates, rng)) for part in parts]
    assert_allclose(turned, [0.3, 0.7] @ np.array(alone), rtol=1e-12)


# Exploration when no improvement is expected


def a_sure_posterior(n, noise=1e-10, reach=200.0):
    """Falling from one end of a line, as far as was measured: nothing is expected of the other end."""
    graph = netbo.interval(10.0)
    x = graph.points(0, np.linspace(0.0, 2.0, n))
    prior = netbo.whittle_matern(graph, Matern(1.5, range=reach, sigma=1.0))
    return netbo.condition(prior, Observations(x, 1.0 - x.z / 2, np.full(n, noise)))


@pytest.mark.parametrize(("n", "is_exploring"), [(8, True), (9, False)])
def test_every_other_query_explores_when_nothing_is_expected(n, is_exploring):
    """The middle of what is far: the mean distance to the nearest place is least near 7 of 10."""
    posterior = a_sure_posterior(n)
    candidates = netbo.FiniteElementSpace.build(posterior.prior.graph, max_cell=0.1).nodes
    rng = np.random.default_rng(3)
    scores = RestlessImprovement().begin(posterior, rng)
    found = scores(candidates)
    usual = NoisyExpectedImprovement().begin(posterior, rng)(candidates)

    assert is_exploring != np.array_equal(found, usual)
    if is_exploring:
        assert 5.5 < candidates.z[np.argmax(found)] < 8.5
        assert scores(candidates[:5]).max() < found.max()  # a later question does not decide again


def test_a_spread_that_is_noise_has_nothing_explored(rng):
    """Of values within the noise the model believes one level: a gain of little is much beside that."""
    posterior = a_sure_posterior(8, noise=0.25)
    candidates = netbo.FiniteElementSpace.build(posterior.prior.graph, max_cell=0.1).nodes
    found = RestlessImprovement().scores(posterior, candidates, rng)

    assert np.ptp(posterior.observations.values) == 1.0
    assert_array_equal(found, NoisyExpectedImprovement().begin(posterior, rng)(candidates))


def test_nothing_is_explored_while_improvement_is_worth_it(posterior, candidates, rng):
    found = RestlessImprovement(worth=1e-12).scores(posterior, candidates, rng)

    assert_array_equal(found, NoisyExpectedImprovement().begin(posterior, rng)(candidates))


@pytest.mark.parametrize(
    ("values", "share"),
    [
        ([1.0], 0),
        ([0, 10, 5], 0.002),  # three of four explore where next to nothing is expected
        ([0, 10, 5, 5], 0.02),  # every other one where little is
        ([0, 10, 5, 5, 5], 0),
        ([0, 9.9, 5, 10], 0),  # a gain: the search goes on there
        ([0, 9.99, 5, 10], 0.02),  # a trifle is no gain
        ([3, 3, 3, 3], 0),
    ],
)
def test_what_must_be_expected_depends_on_count_and_last_gain(values, share):
    spread = np.ptp(values)

    assert RestlessImprovement().least(np.array(values, float)) == pytest.approx(share * spread)
    assert RestlessImprovement(worth=0.0).least(np.array(values, float)) == 0
    assert RestlessImprovement().least(3 + 7e5 * np.array(values, float)) == pytest.approx(
        7e5 * share * spread
    )


@pytest.mark.parametrize(("noise_sd", "share"), [(0.0, 0.02), (0.999, 0.02), (1.001, 0)])
def test_under_much_noise_nothing_is_explored(noise_sd, share):
    """Ten is the spread, a tenth of it the noise up to which exploring pays."""
    values = np.array([0.0, 10.0, 5.0, 5.0])

    assert RestlessImprovement().least(values, noise_sd) == pytest.approx(share * 10)
    assert RestlessImprovement().least(3 + 7e5 * values, 7e5 * noise_sd) == pytest.approx(7e6 * share)


@pytest.mark.parametrize(("noise_sd", "is_exploring"), [(0.05, True), (0.15, False)])
def test_the_noise_of_the_measurements_decides(noise_sd, is_exploring, rng):
    """Eight values that fall from 1 to 0; whatever little is expected of elsewhere."""
    posterior = a_sure_posterior(8, noise=noise_sd**2, reach=3.0)
    candidates = netbo.FiniteElementSpace.build(posterior.prior.graph, max_cell=0.1).nodes
    usual = NoisyExpectedImprovement().begin(posterior, rng)(candidates)
    found = RestlessImprovement(worth=1e9, trifle=1e9).scores(posterior, candidates, rng)

    assert is_exploring != np.array_equal(found, usual)


@pytest.mark.parametrize("name", ["worth", "trifle", "quiet"])
def test_shares_of_an_improvement_are_not_negative(name):
    with pytest.raises(ParameterError, match=name):
        RestlessImprovement(**{name: -1.0})


# What the search between many candidates takes instead of three questions and every candidate.


def test_a_rough_bound_is_no_less_and_seldom_much_more():
    """On both sides of 0 and far out; without variance it is the improvement itself."""
    gap, std = np.meshgrid(np.r_[-np.logspace(-8, 3, 60), 0.0, np.logspace(-8, 3, 60)], [1e-3, 1.0, 30.0])
    exact = log_expected_improvement(gap, std, 0.0)
    bound = np.array([log_improvement_bound(*row) for row in zip(gap, std**2, strict=True)])

    assert np.all(bound >= exact - 1e-12 * np.abs(exact))
    assert np.all(bound <= exact + 0.5)
    assert_allclose(log_improvement_bound(np.array([2.0, -1.0]), np.zeros(2))[0], np.log(2.0))


def test_sums_of_improvements_are_those_of_their_logarithms(rng):
    """From deviations far below the incumbents to far above, and without variance."""
    gap, std = rng.normal(0, 1, (32, 400)) + np.linspace(-60, 10, 400), rng.uniform(0.5, 2, 400)
    std[::50] = 0.0
    slow = np.logaddexp.reduce(log_expected_improvement(gap, std, 0.0), axis=0) - np.log(32)

    assert_allclose(_mean_improvement(gap, std), slow, rtol=1e-11, atol=1e-12)


@pytest.mark.parametrize("noise", [0.3, 1e-14])
def test_many_candidates_are_sifted_without_losing_the_best(monkeypatch, rng, noise):
    """The largest score and its place are those of all candidates, scored one and all."""
    graph = contract_graph()
    data = Observations(netbo.uniform_points(graph, 12, rng), rng.standard_normal(12))
    parts = [
        netbo.condition(netbo.whittle_matern(graph, Matern(alpha, range=1.0)), data, regularization=noise)
        for alpha in (0.5, 1.0, 1.5)
    ]
    mixture = MixturePosterior(tuple(parts), np.array([0.5, 0.3, 0.2]))
    x = netbo.uniform_points(graph, 2_000, rng)
    monkeypatch.setattr(noisy_expected_improvement, "MANY", 500)
    monkeypatch.setattr(noisy_expected_improvement, "CHUNK", 300)
    monkeypatch.setattr(noisy_expected_improvement, "MOST_AT_ONCE", 200)
    rule, sizes = NoisyExpectedImprovement(), []
    exact = rule.scores(mixture, x, rng)
    usual = noisy_expected_improvement._Incumbents.at
    monkeypatch.setattr(
        noisy_expected_improvement._Incumbents, "at", lambda own, x: (sizes.append(len(x)), usual(own, x))[1]
    )
    found = rule.begin(mixture, rng)(x)

    assert np.argmax(found) == np.argmax(exact)
    assert_allclose(found.max(), exact.max(), rtol=1e-12)
    assert max(sizes) == 300  # no more at once, however many there are
    assert np.all(found >= exact - 1e-9 * np.abs(exact) - 1e-2)  # draws may exceed what they estimate


SHORT_WAYS = {
    "exact": lambda graph: netbo.whittle_matern(graph, Matern(1.5, range=1.0, sigma=2.0)),
    "dense": lambda graph: netbo.euclidean_matern(graph, nu=1.5, range=1.0).rescaled(sigma=2.0),
}


@pytest.mark.parametrize("mean", [0.3, ESTIMATED])
@pytest.mark.parametrize("sign", [1, -1])
@pytest.mark.parametrize("make", SHORT_WAYS.values(), ids=SHORT_WAYS)
def test_moments_with_places_are_mean_variance_and_covariance(rng, mean, sign, make):
    """The shorter way of exact and dense posteriors against three questions."""
    graph = contract_graph()
    data = Observations(netbo.uniform_points(graph, 12, rng), rng.standard_normal(12))
    exact = netbo.condition(make(graph), data, regularization=0.1, mean=mean)
    posterior = exact if sign > 0 else Negated(exact)
    x, places = netbo.uniform_points(graph, 50, rng), data.points[[3, 1, 7, 8, 2]]
    joint, plain = joint_with(posterior, places), PlainJoint(posterior, places)
    found, slow = joint.at(x), plain.at(x)

    assert type(joint) is not PlainJoint
    assert_allclose(joint.covariance, plain.covariance, rtol=1e-10, atol=1e-12)
    assert_allclose(found.mean, slow.mean, rtol=1e-12)
    assert_allclose(found.variance, slow.variance, rtol=1e-10, atol=1e-12)
    for n, part in ((2, None), (5, None), (2, np.arange(7, 20)), (5, np.arange(7, 20))):
        assert_allclose(found.covariance(n, part), slow.covariance(n, part), rtol=1e-10, atol=1e-12)
