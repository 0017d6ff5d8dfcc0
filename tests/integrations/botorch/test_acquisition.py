"""BoTorch's rules on a network: what they choose, and that they find the maximum."""

import numpy as np
import pytest
import torch
from botorch.acquisition import (
    LogExpectedImprovement,
    UpperConfidenceBound,
    qLogNoisyExpectedImprovement,
    qMaxValueEntropy,
    qSimpleRegret,
)
from botorch.generation import MaxPosteriorSampling
from botorch.optim import optimize_acqf, optimize_acqf_discrete
from botorch.sampling import SobolQMCNormalSampler
from numpy.testing import assert_allclose
from scipy.stats import norm

import netbo
from netbo.acquisition import NoisyExpectedImprovement
from netbo.errors import ParameterError
from netbo.geometry import distinct_places
from netbo.integrations.botorch import NetworkModel, candidates_tensor, points_from

S = np.linspace(0.0, 3.0, 61)


def improvements(path, s, n_draws, rng):
    """E max(f(s) - max f(measured), 0) by plain Monte Carlo, and its standard error."""
    mean, covariance = path.truth(np.append(path.measured, s))
    draws = rng.multivariate_normal(mean, covariance, size=n_draws, method="eigh")
    gains = np.maximum(draws[:, -1] - draws[:, :-1].max(axis=1), 0.0)
    return gains.mean(), gains.std() / np.sqrt(n_draws)


def test_ucb_is_largest_where_numpy_says(path, tensor):
    beta = 3.0
    mean, covariance = path.truth(S)
    upper = mean + np.sqrt(beta * np.diag(covariance))
    rule = UpperConfidenceBound(NetworkModel(path.posterior()), beta=beta)
    place, value = optimize_acqf_discrete(rule, q=1, choices=tensor(S))

    assert_allclose(rule(tensor(S[:, None])), upper, atol=1e-10)
    assert points_from(place, path.graph) == path.points(S[np.argmax(upper)])
    assert float(value) == pytest.approx(upper.max(), abs=1e-10)


def test_log_expected_improvement_is_the_closed_form(path, tensor):
    mean, covariance = path.truth(S[::6])
    sd, best = np.sqrt(np.diag(covariance)), 0.9
    z = (mean - best) / sd
    rule = LogExpectedImprovement(NetworkModel(path.posterior()), best_f=best)

    assert_allclose(rule(tensor(S[::6, None])), np.log(sd * (norm.pdf(z) + z * norm.cdf(z))), rtol=1e-6)


def test_noisy_expected_improvement_is_that_of_plain_monte_carlo(path, tensor):
    """Ours, BoTorch's and numpy's: within five standard errors of numpy's and 3 % for Sobol points."""
    places = np.array([0.5, 1.2, 1.8, 2.3])
    rng = np.random.default_rng(3)
    posterior = path.posterior()
    rule = qLogNoisyExpectedImprovement(
        NetworkModel(posterior),
        X_baseline=tensor(path.measured),
        sampler=SobolQMCNormalSampler(torch.Size([8192]), seed=0),
        prune_baseline=False,
    )
    theirs = rule(tensor(places[:, None])).exp().numpy()
    ours = np.exp(NoisyExpectedImprovement(n_draws=4096).scores(posterior, path.points(places), rng))
    truth, error = np.transpose([improvements(path, s, 400_000, rng) for s in places])

    assert error.max() < 0.01 * truth.min()
    assert np.all(np.abs(theirs - truth) < 5 * error + 0.03 * truth)
    assert np.all(np.abs(ours - truth) < 5 * error + 0.03 * truth)


def test_the_root_of_the_baseline_is_not_kept(path, tensor):
    """By default BoTorch decides so by itself; asked for, it declines and says so."""
    model, baseline = NetworkModel(path.posterior()), tensor(path.measured)

    assert not qLogNoisyExpectedImprovement(model, baseline)._cache_root
    with pytest.warns(RuntimeWarning, match="`cache_root` is only supported for GPyTorchModels"):
        rule = qLogNoisyExpectedImprovement(model, baseline, cache_root=True)
    assert not rule._cache_root


def test_a_measured_candidate_improves_almost_nothing(path, tensor):
    """Its joint law with the baseline is singular: no warning, and never the choice."""
    rule = qLogNoisyExpectedImprovement(
        NetworkModel(path.posterior(regularization=1e-10)), tensor(path.measured), prune_baseline=False
    )
    scores = rule(tensor(np.append(path.measured, 0.55)[:, None]))

    assert float(scores[:-1].max()) < float(scores[-1]) - 5


def test_a_batch_has_distinct_places(path):
    optimizer = netbo.Optimizer(path.graph, noise=0.04, seed=0, max_cell=0.1)
    optimizer.tell(path.points(path.measured), [0.3, 1.1, -0.4, 0.9, -1.2])
    rule = qLogNoisyExpectedImprovement(
        NetworkModel.from_optimizer(optimizer),
        candidates_tensor(optimizer.observations.points),
        sampler=SobolQMCNormalSampler(torch.Size([128]), seed=0),
    )
    batch, values = optimize_acqf_discrete(rule, q=4, choices=candidates_tensor(optimizer))
    places = points_from(batch, path.graph)

    assert batch.shape == (4, 2)
    assert len(distinct_places(path.graph, places)) == 4
    assert torch.isfinite(values).all()


def test_a_pending_place_makes_its_surroundings_less_worth(path, tensor):
    sampler = SobolQMCNormalSampler(torch.Size([512]), seed=0)
    given = {"model": NetworkModel(path.posterior()), "X_baseline": tensor(path.measured), "sampler": sampler}
    place = S[int(qLogNoisyExpectedImprovement(**given)(tensor(S[:, None])).argmax())]
    before = qLogNoisyExpectedImprovement(**given)(tensor([[place]]))
    after = qLogNoisyExpectedImprovement(**given, X_pending=tensor([place + 0.02]))(tensor([[place]]))

    assert float(after) < float(before) - 1


def test_ucb_chooses_batches_with_pending_places_at_their_mean(path, tensor):
    """The second place is the argmax after conditioning on the first, computed by numpy."""
    model = NetworkModel(path.posterior())
    first, _ = optimize_acqf_discrete(UpperConfidenceBound(model, beta=4.0), q=1, choices=tensor(S))
    imagined = model.condition_on_observations(first, model.posterior(first).mean)
    second, _ = optimize_acqf_discrete(UpperConfidenceBound(imagined, beta=4.0), q=1, choices=tensor(S))
    s = float(first[0].sum())  # every edge is of length 1
    measured = np.append(path.measured, s)
    mean, _ = path.truth(S)
    covariance = path.truth(S, measured, np.zeros(6))[1]

    assert float(second[0].sum()) == pytest.approx(S[np.argmax(mean + 2 * np.sqrt(np.diag(covariance)))])
    assert float(second[0].sum()) != pytest.approx(s)


def test_other_rules_run_on_candidates(path, tensor):
    """Thompson sampling draws jointly; entropy search imagines values at pending places."""
    torch.manual_seed(0)
    model, choices = NetworkModel(path.posterior()), tensor(S)
    thompson = MaxPosteriorSampling(model, replacement=False)(choices, num_samples=3)
    entropy = qMaxValueEntropy(model, choices, X_pending=tensor([0.55]))
    chosen, _ = optimize_acqf_discrete(entropy, q=1, choices=choices)
    mean, _ = path.truth(S)
    greedy, _ = optimize_acqf_discrete(
        qSimpleRegret(model, sampler=SobolQMCNormalSampler(torch.Size([4096]), seed=0)), q=1, choices=choices
    )

    assert len(distinct_places(path.graph, points_from(thompson, path.graph))) == 3
    assert chosen.shape == (1, 2)
    assert mean.max() - mean[np.argmin(np.abs(S - float(greedy.sum())))] < 0.02


def test_gradients_are_refused_with_the_way_out(path):
    rule = UpperConfidenceBound(NetworkModel(path.posterior()), beta=1.0)
    bounds = torch.tensor([[0.0, 0.0], [0.0, 1.0]], dtype=torch.float64)

    with pytest.raises(ParameterError, match="optimize_acqf_discrete"):
        optimize_acqf(rule, bounds=bounds, q=1, num_restarts=1, raw_samples=2)


def test_a_loop_of_batches_finds_the_maximum():
    """Distance from a place on a star, turned around: the maximum is 1, at 1.3 along arm 1."""
    graph = netbo.star(3, length=2.0)
    peak = graph.points(1, 1.3)
    optimizer = netbo.Optimizer(graph, noise=1e-4, seed=0, max_cell=0.05)
    for suggestion in optimizer.ask(5):
        optimizer.tell(
            suggestion, float(np.exp(-graph.distance(netbo.Points.at(suggestion.point), peak)[0, 0]))
        )
    for _ in range(4):
        rule = qLogNoisyExpectedImprovement(
            NetworkModel.from_optimizer(optimizer),
            candidates_tensor(optimizer.observations.points),
            sampler=SobolQMCNormalSampler(torch.Size([128]), seed=0),
        )
        batch, _ = optimize_acqf_discrete(rule, q=2, choices=candidates_tensor(optimizer))
        places = points_from(batch, graph)
        optimizer.tell(places, np.exp(-graph.distance(places, peak)[:, 0]))
    found = optimizer.recommend()

    assert found.point.edge == 1
    assert found.point.distance == pytest.approx(1.3, abs=0.05)
    assert optimizer.best().value > 0.95
