"""The law that BoTorch sees is the one netbo has."""

import numpy as np
import pytest
import torch
from botorch.acquisition.objective import ScalarizedPosteriorTransform
from botorch.posteriors import GPyTorchPosterior
from numpy.testing import assert_allclose

import netbo
from netbo.errors import NumericalError
from netbo.integrations.botorch import NetworkModel, candidates_tensor
from netbo.integrations.botorch.tensors import semidefinite_cholesky
from netbo.optimize.surrogate import Negated
from netbo.posterior import MixturePosterior

S = np.array([0.0, 0.55, 1.0, 1.7, 2.95])


def surrogates():
    """One of each kind, on a star of three arms."""
    graph = netbo.star(3, length=2.0)
    observations = netbo.Observations(
        graph.points([0, 1, 2, 2], [0.5, 1.5, 0.25, 1.75]), [1.0, -0.5, 0.7, 0.1]
    )
    matern = netbo.Matern(alpha=1.0, range=1.5, sigma=1.2)
    space = netbo.FiniteElementSpace.build(graph, max_cell=0.1)
    given = {"observations": observations, "regularization": 0.01}
    block = netbo.condition(netbo.whittle_matern(space, matern), **given, mean=netbo.ESTIMATED)
    free = netbo.condition(netbo.whittle_matern(graph, matern), **given)
    dense = netbo.condition(netbo.euclidean_matern(graph, nu=0.5, range=1.0), **given)
    return {
        "finite element": block,
        "mesh-free": free,
        "dense": dense,
        "mixture": MixturePosterior((block, dense), np.array([0.3, 0.7])),
        "negated": Negated(dense),
    }


def test_mean_and_covariance_are_those_of_the_closed_form(path, tensor):
    law = NetworkModel(path.posterior()).posterior(tensor(S))
    mean, covariance = path.truth(S)

    assert isinstance(law, GPyTorchPosterior)
    assert law.mean.shape == law.variance.shape == (5, 1)
    assert law.mean.dtype == torch.float64
    assert_allclose(law.mean[:, 0], mean, atol=1e-12)
    assert_allclose(law.variance[:, 0], np.diag(covariance), atol=1e-12)
    assert_allclose(law.distribution.covariance_matrix, covariance, atol=1e-12)


@pytest.mark.parametrize(
    "sets",
    [
        np.array([0.1, 0.6, 1.4, 2.2])[:, None],  # candidates, one by one
        np.array([[0.2, 0.9, s, 2.4] for s in (0.1, 0.9, 1.4)]),  # measured, a candidate, pending
        np.array([[0.1, 0.6, 1.4], [2.2, 0.6, 0.3]]),  # two that differ and one in common
        np.array([[[0.1, 0.6], [0.6, 0.1]], [[2.5, 2.5], [0.0, 3.0]]]),  # nothing in common, two dimensions
        np.linspace(0.0, 3.0, 2 * 1100).reshape(1100, 2),  # more than are computed at once
    ],
)
def test_batches_are_answered_as_each_set_alone(path, tensor, sets):
    law = NetworkModel(path.posterior()).posterior(tensor(sets))
    truths = [path.truth(s) for s in sets.reshape(-1, sets.shape[-1])]
    covariance = law.distribution.covariance_matrix

    assert_allclose(law.mean.reshape(len(truths), -1), [mean for mean, _ in truths], atol=1e-11)
    assert covariance.shape == (*sets.shape, sets.shape[-1])
    assert_allclose(covariance.reshape(-1, *covariance.shape[-2:]), [cov for _, cov in truths], atol=1e-11)


@pytest.mark.parametrize("kind", ["finite element", "mesh-free", "dense", "mixture", "negated"])
def test_every_kind_of_posterior_keeps_its_moments(kind):
    surrogate = surrogates()[kind]
    graph = surrogate.observations.points.graph
    common = graph.points([0, 1, 2], [0.5, 0.0, 1.1])
    candidates = graph.points([0, 1, 1, 2], [2.0, 0.3, 1.5, 0.0])
    X = torch.cat([candidates_tensor(common).expand(4, 3, 2), candidates_tensor(candidates)[:, None]], dim=1)
    law = NetworkModel(surrogate).posterior(X)

    for index in range(4):
        x = netbo.Points.concatenate([common, candidates[index : index + 1]])
        assert_allclose(law.mean[index, :, 0], surrogate.mean(x), rtol=1e-10, atol=1e-12)
        assert_allclose(law.variance[index, :, 0], surrogate.variance(x), rtol=1e-8)
        assert_allclose(
            law.distribution.covariance_matrix[index], surrogate.covariance(x, x), rtol=1e-8, atol=1e-10
        )


def test_observation_noise_is_added_to_the_variances_alone(path, tensor):
    model, X = NetworkModel(path.posterior()), tensor([[0.1, 0.6], [2.0, 2.1]])
    quiet = model.posterior(X).distribution.covariance_matrix
    given = torch.tensor([[0.5], [0.25]], dtype=torch.float64)

    noisy = model.posterior(X, observation_noise=True).distribution.covariance_matrix
    assert_allclose(noisy - quiet, np.broadcast_to(path.noise * np.eye(2), (2, 2, 2)), atol=1e-14)
    noisy = model.posterior(X, observation_noise=given).distribution.covariance_matrix
    assert_allclose(noisy - quiet, np.broadcast_to(np.diag([0.5, 0.25]), (2, 2, 2)), atol=1e-14)


def test_noise_of_a_new_measurement_is_the_mean_where_all_have_their_own(path, tensor):
    posterior = path.posterior(noise=[0.01, 0.02, 0.03, 0.04, 0.05], regularization=None)
    noisy, quiet = (
        NetworkModel(posterior).posterior(tensor([0.5]), observation_noise=noise).variance
        for noise in (True, False)
    )

    assert float(noisy - quiet) == pytest.approx(0.03)


def test_a_transform_of_the_posterior_is_applied(path, tensor):
    """-2 f + 5 has mean -2 m + 5 and covariance 4 C."""
    transform = ScalarizedPosteriorTransform(torch.tensor([-2.0], dtype=torch.float64), offset=5.0)
    law = NetworkModel(path.posterior()).posterior(tensor(S), posterior_transform=transform)
    mean, covariance = path.truth(S)

    assert_allclose(law.mean[:, 0], 5 - 2 * mean, atol=1e-12)
    assert_allclose(law.distribution.covariance_matrix, 4 * covariance, atol=1e-12)


def test_samples_have_the_joint_law(path, tensor):
    """Of 40,000 draws a mean is off by sd / 200 and a covariance by about variance / 140: five of them."""
    torch.manual_seed(0)
    draws = NetworkModel(path.posterior()).posterior(tensor(S)).rsample(torch.Size([40_000]))[..., 0].numpy()
    mean, covariance = path.truth(S)

    assert_allclose(draws.mean(axis=0), mean, atol=5 * np.sqrt(np.diag(covariance).max()) / 200)
    assert_allclose(np.cov(draws.T), covariance, atol=5 * np.diag(covariance).max() / 140)


def test_a_place_asked_about_twice_has_one_value_in_every_sample(path, tensor):
    """The joint covariance is singular; nothing warns (warnings are errors here)."""
    law = NetworkModel(path.posterior()).posterior(tensor([0.4, 1.3, 0.4]))
    draws = law.rsample(torch.Size([50]))

    assert_allclose(draws[:, 0], draws[:, 2], atol=1e-6)
    assert float(draws[:, 0].std()) > 0.1


@pytest.mark.parametrize("unit", [1e-9, 1e9])
def test_the_unit_of_the_values_makes_no_difference(path, unit):
    """The jitter that is usual elsewhere, 1e-8, would drown the first and be nothing beside the second."""
    correlation = np.array([[1.0, 0.5, 1.0], [0.5, 1.0, 0.5], [1.0, 0.5, 1.0]])
    factor = semidefinite_cholesky(torch.from_numpy(unit**2 * correlation)).numpy() / unit

    assert_allclose(factor @ factor.T, correlation, atol=1e-13)


def test_variances_are_not_rounded_up(path, tensor):
    """An exact value leaves none; 1e-12 of noise leaves about 1e-12."""
    law = NetworkModel(path.posterior(regularization=1e-12)).posterior(tensor(path.measured))

    assert float(law.variance.max()) < 2e-12
    assert torch.isfinite(law.rsample(torch.Size([3]))).all()


def test_a_row_without_variance_is_a_constant():
    covariance = torch.tensor([[0.0, 0.0], [0.0, 4.0]], dtype=torch.float64)

    assert_allclose(semidefinite_cholesky(covariance), [[0.0, 0.0], [0.0, 2.0]])


def test_many_places_at_once_are_sampled_without_approximation():
    """Above 800 points the usual root is that of a Lanczos iteration."""
    surrogate = surrogates()["dense"]
    x = surrogate.observations.points.graph.points(1, np.linspace(0.0, 2.0, 900))
    law = NetworkModel(surrogate).posterior(candidates_tensor(x))
    root = law.distribution.lazy_covariance_matrix.root_decomposition().root.to_dense()

    assert_allclose(root @ root.T, surrogate.covariance(x, x), atol=1e-10)


def test_an_upper_factor_is_the_transpose():
    posterior = surrogates()["dense"]
    law = NetworkModel(posterior).posterior(candidates_tensor(posterior.observations.points))
    covariance = law.distribution.lazy_covariance_matrix

    assert_allclose(covariance.cholesky(upper=True).to_dense(), covariance.cholesky().to_dense().T)


def test_an_indefinite_covariance_is_refused_with_its_numbers():
    indefinite = torch.tensor([[1.0, 2.0], [2.0, 1.0]], dtype=torch.float64)

    with pytest.raises(
        NumericalError, match=r"correlations of 2 points with the eigenvalue -1; raise the noise"
    ):
        semidefinite_cholesky(indefinite)


def test_the_model_has_one_output_and_no_batch(path, tensor):
    model = NetworkModel(path.posterior())

    assert model.num_outputs == 1
    assert model.batch_shape == torch.Size([])
    assert model.subset_output([0]) is model
    assert model.posterior(tensor(S), output_indices=[0]).mean.shape == (5, 1)
    assert model.posterior(tensor(np.empty((0, 1)))).mean.shape == (0, 1, 1)


def test_minimizing_turns_the_objective_around(path):
    optimizer = netbo.Optimizer(path.graph, direction="minimize", noise=0.01, seed=0)
    optimizer.tell(path.points(path.measured), [3.0, 1.0, 2.0, 5.0, 4.0])
    X = candidates_tensor(optimizer)
    law = NetworkModel.from_optimizer(optimizer).posterior(X[:, None])

    assert_allclose(law.mean[:, 0, 0], -optimizer.posterior.mean(optimizer.search.points), rtol=1e-12)
    assert_allclose(law.variance[:, 0, 0], optimizer.posterior.variance(optimizer.search.points), rtol=1e-12)
