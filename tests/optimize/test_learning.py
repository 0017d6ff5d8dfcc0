"""What is learned is a function of the record; kernels, lambda and models are what they are said to be."""

import itertools

import numpy as np
import pytest
from numpy.testing import assert_allclose, assert_array_equal

from netbo import ESTIMATED, FiniteElementSpace, Observations, condition, narrow_rectangle
from netbo.errors import ParameterError
from netbo.optimize import (
    PAPER,
    Combination,
    EdgewiseMatern,
    EuclideanMatern,
    FixedRegularization,
    GrowingConfidence,
    Known,
    Learned,
    NetworkMatern,
    NoiseVariance,
    learning,
)
from netbo.optimize import refit as chain
from netbo.optimize.presets import STEADY
from netbo.optimize.refit import fits_on_a_large_mesh, last_milestone, step_between_fits
from netbo.posterior import MixturePosterior, Posterior, fit_parameters
from support.reference import Regression, contract_graph, contract_space, element_kernel

SPACE = contract_space()
NODES = SPACE.nodes
CALIBRATED_FIT = Learned(beliefs=STEADY)
PAPER_FIT = PAPER.fit


def measured(n, seed=0, *, own_noise=False):
    """Values of a wave along the network with noise, at random nodes, some of them twice."""
    rng = np.random.default_rng(seed)
    x = NODES[rng.integers(len(NODES), size=n)]
    values = np.sin(2 * x.z + x.edge) + 0.1 * rng.standard_normal(n)
    noise = np.where(rng.random(n) < 0.5, 0.04, np.nan) if own_noise else None
    return Observations(x, values, noise)


def first(observations, n):
    return Observations(observations.points[:n], observations.values[:n], observations.noise[:n])


def assert_same(one, two):
    """To the last bit."""
    assert_array_equal(one.weights, two.weights)
    for a, b in zip(one.fits, two.fits, strict=True):
        assert a.parameters == b.parameters
        assert a.log_evidence == b.log_evidence
        assert a.at_bound == b.at_bound
    assert_array_equal(one.surrogate.mean(NODES), two.surrogate.mean(NODES))
    assert_array_equal(one.surrogate.std(NODES), two.surrogate.std(NODES))


def test_parameters_are_sought_globally_at_milestones():
    found = sorted({last_milestone(n) for n in range(1, 200)})

    assert found == [1, 2, 3, 4, 6, 8, 12, 16, 32, 64, 128]


def test_fits_become_rarer_as_the_record_grows():
    """All milestones among them, and never more than a sixteenth of the record apart."""
    fits = [n for n in range(1, 1000) if n % step_between_fits(n) == 0]
    rare = fits_on_a_large_mesh(199)

    assert fits[:32] == list(range(1, 33))
    assert {last_milestone(n) for n in range(1, 1000)} <= set(fits)
    assert max(b / a for a, b in itertools.pairwise(fits[31:])) <= 1 + 1 / 16
    assert rare == [1, 2, 3, 4, 6, 8, 12, 16, 24, 32, 48, 64, 96, 128, 192]


def test_the_paper_fits_after_every_observation():
    data = measured(40)
    counts = {}
    for name, fit in (("calibrated", CALIBRATED_FIT), ("paper", PAPER_FIT)):
        learner = fit.start(SPACE, 0.01)
        counts[name] = [k for k in learner.schedules[0].path(len(data)) if k > 32]

    assert counts == {"calibrated": [34, 36, 38, 40], "paper": [33, 34, 35, 36, 37, 38, 39, 40]}


@pytest.mark.parametrize("noise", [None, 0.0, 0.01])
@pytest.mark.parametrize("fit", [CALIBRATED_FIT, PAPER_FIT], ids=["calibrated", "paper"])
def test_learning_one_by_one_equals_learning_all_at_once(fit, noise):
    data = measured(11)
    step = fit.start(SPACE, noise)
    outcomes = [step.learn(first(data, n)) for n in range(1, 12)]

    for n in (1, 5, 7, 10, 11):
        assert_same(outcomes[n - 1], fit.start(SPACE, noise).learn(first(data, n)))


@pytest.mark.parametrize("noise", [None, 0.01])
def test_learning_in_leaps_equals_learning_all_at_once(noise):
    """Some milestones are never seen, and observations have noise of their own."""
    data = measured(11, own_noise=True)
    leaping = CALIBRATED_FIT.start(SPACE, noise)
    for n in (2, 7, 9, 11):
        found = leaping.learn(first(data, n))

    assert_same(found, CALIBRATED_FIT.start(SPACE, noise).learn(data))


@pytest.mark.parametrize("noise", [None, 0.0, 0.01])
def test_a_record_that_shrinks_or_changes_is_learned_as_a_fresh_one(noise):
    """Values withdrawn at the end and in the middle, corrected early and late, and come back."""
    data, other = measured(11), measured(11, seed=1)
    values, middle = data.values.copy(), np.delete(np.arange(11), 4)
    values[2] += 1.0
    records = [
        data,
        first(data, 10),  # 8 is the last milestone before it
        first(data, 9),
        first(data, 8),
        data,
        Observations(data.points[middle], data.values[middle], data.noise[middle]),
        Observations(data.points, values, data.noise),
        Observations(data.points, data.values, np.where(np.arange(11) == 9, 0.3, np.nan)),
        other,
        first(other, 1),
        data,
    ]
    learner = CALIBRATED_FIT.start(SPACE, noise)

    for record in records:
        assert_same(learner.learn(record), CALIBRATED_FIT.start(SPACE, noise).learn(record))


@pytest.mark.parametrize("fit", [CALIBRATED_FIT, PAPER_FIT], ids=["calibrated", "paper"])
def test_at_a_milestone_the_fit_is_the_one_of_all_observations(fit):
    data = measured(8)
    expected = fit_parameters(
        fit.models[0].build(SPACE), data, mean=fit.mean, amplitude=fit.amplitude, beliefs=fit.beliefs
    )

    assert fit.start(SPACE, None).learn(data).fits[0].parameters == expected.parameters


def test_exact_values_have_a_nugget_and_no_other_noise():
    outcome = CALIBRATED_FIT.start(SPACE, 0.0).learn(measured(12))
    fit = outcome.fits[0]

    assert fit.regularization == pytest.approx(1e-10 * fit.prior.sigma**2, rel=1e-9)
    assert "noise_ratio" not in fit.at_bound


def test_a_given_noise_stays():
    fit = CALIBRATED_FIT.start(SPACE, 0.04).learn(measured(12)).fits[0]

    assert fit.regularization == 0.04


def test_the_papers_tau_stays_one_and_its_mean_zero():
    """sigma^2 = Gamma(nu) / (tau^2 kappa^(2 nu) sqrt(4 pi) Gamma(nu + 1/2)): 1 / (4 kappa^3), nu = 3/2."""
    fit = PAPER_FIT.start(SPACE, 0.04).learn(measured(12)).fits[0]
    kappa = np.sqrt(12.0) / fit.prior.range

    assert fit.prior.sigma**2 == pytest.approx(1 / (4 * kappa**3))
    assert fit.mean == 0.0


# Known kernels


@pytest.mark.parametrize("mean", [0.0, 0.7, ESTIMATED])
def test_a_known_kernel_is_conditioned_on(mean):
    data = measured(9)
    outcome = Known(NetworkMatern(1.0), mean=mean).start(SPACE, 0.04).learn(data)
    prior = NetworkMatern(1.0).build(SPACE)
    expected = condition(prior, data, regularization=0.04, mean=mean)
    constant = None if mean is ESTIMATED else mean
    slow = Regression(
        element_kernel(SPACE, prior.matern), data.points, data.values, np.full(9, 0.04), constant
    )

    assert_array_equal(outcome.surrogate.mean(NODES), expected.mean(NODES))
    assert_array_equal(outcome.surrogate.std(NODES), expected.std(NODES))
    assert_allclose(outcome.surrogate.mean(NODES), slow.mean(NODES), rtol=1e-7, atol=1e-7)
    assert outcome.fits == ()
    assert (outcome.labels, outcome.chosen) == (("network alpha=1",), 0)


def test_a_known_kernel_with_exact_values_has_the_nugget():
    outcome = Known(NetworkMatern(1.0)).start(SPACE, 0.0).learn(measured(5))

    assert_allclose(outcome.surrogate.noise, 1e-10 * NetworkMatern(1.0).build(SPACE).sigma ** 2)


def test_a_known_kernel_needs_a_known_noise():
    with pytest.raises(ParameterError, match=r"a known kernel needs a known noise variance, got noise=None"):
        Known(NetworkMatern(1.0)).start(SPACE, None)


def test_a_known_kernel_with_a_lambda_of_its_own_needs_no_noise():
    outcome = Known(NetworkMatern(1.0), regularization=FixedRegularization(0.3)).start(SPACE, None)

    assert_allclose(outcome.learn(measured(5)).surrogate.noise, 0.3)


# Lambda


def test_lambda_is_what_its_rule_says():
    assert NoiseVariance()(0.2, 7) == 0.2
    assert NoiseVariance()(None, 7) is None
    assert GrowingConfidence()(0.2, 7) == 1.25
    assert FixedRegularization(0.3)(0.2, 7) == 0.3


@pytest.mark.parametrize(
    ("rule", "expected"),
    [(NoiseVariance(), 0.04), (GrowingConfidence(), 1 + 2 / 13), (FixedRegularization(0.3), 0.3)],
)
def test_lambda_changes_the_posterior_and_not_the_parameters(rule, expected):
    """The likelihood keeps the noise variance; an observation's own noise stays its own."""
    data = Observations(measured(12).points, measured(12).values, np.r_[0.07, np.full(11, np.nan)])
    outcome = Learned(regularization=rule).start(SPACE, 0.04).learn(data)
    plain = Learned().start(SPACE, 0.04).learn(data)
    fit = outcome.fits[0]
    again = condition(fit.prior, data, regularization=expected, mean=ESTIMATED)

    assert fit.parameters == plain.fits[0].parameters
    assert_allclose(outcome.surrogate.noise, np.r_[0.07, np.full(11, expected)])
    assert_allclose(outcome.surrogate.mean(NODES), again.mean(NODES), rtol=1e-8, atol=1e-10)
    assert_allclose(outcome.surrogate.std(NODES), again.std(NODES), rtol=1e-7)


# Large meshes


@pytest.fixture
def large(monkeypatch):
    """A mesh that counts as large."""
    monkeypatch.setattr(chain, "LARGE_MESH", 300)
    return FiniteElementSpace.build(contract_graph(), n_nodes=400)


def direct(space, data, noise):
    prior = NetworkMatern().build(space)
    return fit_parameters(prior, data, regularization=noise, beliefs=STEADY)


@pytest.mark.parametrize("noise", [None, 0.01])
def test_on_a_large_mesh_a_milestones_fit_is_the_direct_one(large, noise):
    """Its few starts and those of the direct one end at one maximum, up to when a search rests."""
    learner = CALIBRATED_FIT.start(large, noise)
    found, expected = learner.learn(measured(24)).fits[0], direct(large, measured(24), noise)

    assert found.prior.space is large
    assert learner.schedules[0].path(24) == [8, 12, 16, 24]
    assert found.log_evidence + found.log_belief == pytest.approx(
        expected.log_evidence + expected.log_belief, abs=1e-3
    )
    assert found.prior.range == pytest.approx(expected.prior.range, rel=0.02)
    assert found.prior.sigma == pytest.approx(expected.prior.sigma, rel=0.02)


@pytest.mark.parametrize("noise", [None, 0.0, 0.01])
def test_on_a_large_mesh_parameters_stay_between_milestones(large, noise):
    data = measured(11)
    learner = CALIBRATED_FIT.start(large, noise)
    at_milestone = learner.learn(first(data, 8)).fits[0]
    later = learner.learn(data).fits[0]
    again = condition(at_milestone.prior, data, regularization=at_milestone.regularization, mean=ESTIMATED)

    assert later.parameters == at_milestone.parameters
    assert (later.at_bound, later.converged) == (at_milestone.at_bound, at_milestone.converged)
    assert len(later.posterior.observations) == 11
    assert later.log_evidence == pytest.approx(again.log_evidence())
    assert_allclose(later.posterior.mean(NODES), again.mean(NODES), rtol=1e-9, atol=1e-9)


def test_on_a_large_mesh_learning_is_a_function_of_the_record(large):
    data = measured(13)
    step = CALIBRATED_FIT.start(large, 0.01)
    outcomes = {n: step.learn(first(data, n)) for n in (1, 2, 3, 7, 8, 9, 12, 13, 11, 9, 8, 5)}

    for n, outcome in outcomes.items():
        assert_same(outcome, CALIBRATED_FIT.start(large, 0.01).learn(first(data, n)))


# Several models

SEVERAL = (NetworkMatern(0.5), NetworkMatern(1.0), EuclideanMatern(0.5))


def test_weights_are_proportional_to_the_evidence():
    """The slow twin: exp of the log evidences of separate fits, with their beliefs."""
    data = measured(12)
    outcome = Learned(models=SEVERAL, beliefs=STEADY).start(SPACE, 0.04).learn(data)
    fits = [fit_parameters(m.build(SPACE), data, regularization=0.04, beliefs=STEADY) for m in SEVERAL]
    odds = np.exp([fit.log_evidence + fit.log_belief for fit in fits])

    assert_allclose(outcome.weights, odds / odds.sum(), rtol=1e-9)
    assert outcome.labels == tuple(model.label for model in SEVERAL)


def test_the_likeliest_model_is_chosen():
    outcome = Learned(models=SEVERAL).start(SPACE, 0.04).learn(measured(12))

    assert outcome.surrogate is outcome.fits[int(np.argmax(outcome.weights))].posterior
    assert outcome.chosen == int(np.argmax(outcome.weights))


def test_an_average_holds_all_models_with_their_weights():
    fit = Learned(models=SEVERAL, combination=Combination.AVERAGE)
    outcome = fit.start(SPACE, 0.04).learn(measured(12))
    means = np.array([each.posterior.mean(NODES) for each in outcome.fits])

    assert isinstance(outcome.surrogate, MixturePosterior)
    assert_array_equal(outcome.surrogate.weights, outcome.weights)
    assert_allclose(outcome.surrogate.mean(NODES), outcome.weights @ means, rtol=1e-12)


def test_the_average_of_one_model_is_its_posterior():
    outcome = Learned(combination=Combination.AVERAGE).start(SPACE, 0.04).learn(measured(12))

    assert isinstance(outcome.surrogate, Posterior)


def test_an_average_keeps_another_lambda():
    fit = Learned(models=SEVERAL, combination=Combination.AVERAGE, regularization=FixedRegularization(0.3))
    outcome = fit.start(SPACE, 0.04).learn(measured(6))

    assert_allclose(outcome.surrogate.noise, 0.3)


def test_learning_needs_a_model():
    with pytest.raises(ParameterError, match="learning needs at least one model, got none"):
        Learned(models=())


@pytest.mark.slow
@pytest.mark.parametrize("generating", range(3), ids=[model.label for model in SEVERAL])
def test_the_model_that_made_the_data_is_chosen(generating):
    """In at least 27 of 30 simulations of 64 values with noise sd 0.01.

    The sides of the narrow rectangle are 1 apart in the plane and up to 75 along the network. A rule right
    in 98 % would fail this in 0.03 % of all sets of seeds; pilots of 10 a model had no wrong choice.
    """
    n_simulations, n = 30, 64
    graph = narrow_rectangle()
    space = FiniteElementSpace.build(graph, max_cell=0.25)
    prior = SEVERAL[generating].build(space).rescaled(range=graph.diameter / 4, sigma=1.0)
    chosen = []
    for seed in range(n_simulations):
        rng = np.random.default_rng([generating, seed])
        x = space.nodes[rng.choice(space.n_nodes, n, replace=False)]
        values = prior.sample(x, rng) + 0.01 * rng.standard_normal(n)
        chosen.append(Learned(models=SEVERAL).start(space, 1e-4).learn(Observations(x, values)).chosen)

    assert np.count_nonzero(np.array(chosen) == generating) >= 0.9 * n_simulations


def test_a_dense_kernel_leaves_a_long_record_to_the_others(monkeypatch):
    """Its cost grows with the cube of the record; whoever chose it alone keeps it."""
    monkeypatch.setattr(learning, "LARGEST_DENSE", 10)
    both = Learned(models=(NetworkMatern(), EuclideanMatern(1.5)), combination=Combination.AVERAGE)
    alone = Learned(models=(EuclideanMatern(1.5),))

    short = both.start(SPACE, 0.01).learn(measured(10))
    long = both.start(SPACE, 0.01).learn(measured(11))
    only = alone.start(SPACE, 0.01).learn(measured(11))

    assert short.labels == ("network alpha=1", "straight-line nu=1.5")
    assert short.left_out == ()
    assert long.labels == ("network alpha=1",)
    assert long.left_out == ("straight-line nu=1.5: more than 10 values",)
    assert only.labels == ("straight-line nu=1.5",)
    assert only.left_out == ()


def test_a_kernel_leaves_networks_it_cannot_live_on_to_the_others(monkeypatch):
    monkeypatch.setattr("netbo.optimize.models.LARGEST_NETWORK", 5)
    both = Learned(models=(EdgewiseMatern(), NetworkMatern()), combination=Combination.AVERAGE)
    found = both.start(SPACE, 0.01).learn(measured(5))

    assert found.labels == ("network alpha=1",)
    assert found.left_out == ("edge by edge: more than 5 edges (6)",)


def test_what_is_rare_has_less_weight_before_the_data():
    """By the ratio of the odds, whatever the evidence says; and evidence overcomes it."""
    models = (NetworkMatern(), EdgewiseMatern(odds=1.0)), (NetworkMatern(), EdgewiseMatern(odds=0.2))
    even, usual = (
        Learned(models=each, combination=Combination.AVERAGE).start(SPACE, 0.01).learn(measured(5))
        for each in models
    )

    ratios = [found.weights[1] / found.weights[0] for found in (even, usual)]
    assert ratios[1] == pytest.approx(0.2 * ratios[0])
    assert EdgewiseMatern().odds == 0.2
    with pytest.raises(ParameterError, match="odds"):
        EdgewiseMatern(odds=0.0)


def test_the_average_follows_values_that_jump_from_edge_to_edge():
    """Levels of edges and a profile along them: the kernel of edges has nearly all of the weight."""
    rng, graph = np.random.default_rng(1), narrow_rectangle()
    space = FiniteElementSpace.build(graph, n_nodes=200)
    x = space.nodes[rng.permutation(200)[:40]]
    x = x[(x.z > 0) & (x.z < graph.lengths[x.edge])]
    share = x.z / graph.lengths[x.edge]
    values = rng.uniform(1, 2, graph.n_edges)[x.edge] * share**3
    both = Learned(models=(NetworkMatern(), EdgewiseMatern()), combination=Combination.AVERAGE)
    found = both.start(space, 1e-4).learn(Observations(x, values))

    assert found.weights[1] > 0.99
