"""More observations, and values that are only imagined."""

import numpy as np
import pytest
import torch
from botorch.sampling import SobolQMCNormalSampler
from numpy.testing import assert_allclose

import netbo
from netbo.errors import ObservationError, ParameterError
from netbo.integrations.botorch import NetworkModel
from netbo.optimize.surrogate import Negated

S = np.array([0.0, 0.55, 1.2, 1.7, 2.95])
NEW, NEW_VALUES = np.array([0.5, 2.4]), np.array([0.8, 0.1])


def column(values):
    return torch.tensor(values, dtype=torch.float64).unsqueeze(-1)


def assert_law(law, mean, covariance):
    assert_allclose(law.mean[..., 0], mean, atol=1e-10)
    assert_allclose(law.distribution.covariance_matrix, covariance, atol=1e-10)


def all_data(path, values, noise):
    measured = np.concatenate([path.measured, NEW])
    old = np.array([0.3, 1.1, -0.4, 0.9, -1.2])
    return measured, np.concatenate([old, values]), np.concatenate([np.full(5, path.noise), noise])


def test_conditioning_equals_conditioning_anew(path, tensor):
    model = NetworkModel(path.posterior()).condition_on_observations(tensor(NEW), column(NEW_VALUES))

    assert_law(
        model.posterior(tensor(S)), *path.truth(S, *all_data(path, NEW_VALUES, np.full(2, path.noise)))
    )


def test_new_values_may_have_noise_of_their_own(path, tensor):
    model = NetworkModel(path.posterior())
    conditioned = model.condition_on_observations(tensor(NEW), column(NEW_VALUES), noise=column([0.5, 0.001]))

    assert_law(
        conditioned.posterior(tensor(S)),
        *path.truth(S, *all_data(path, NEW_VALUES, np.array([0.5, 0.001]))),
    )


def test_where_all_values_have_their_own_noise_new_ones_get_the_mean(path, tensor):
    posterior = path.posterior(noise=[0.01, 0.02, 0.03, 0.04, 0.05], regularization=None)
    model = NetworkModel(posterior).condition_on_observations(tensor(NEW), column(NEW_VALUES))
    measured, values, _ = all_data(path, NEW_VALUES, np.empty(0))
    noise = np.array([0.01, 0.02, 0.03, 0.04, 0.05, 0.03, 0.03])

    assert_law(model.posterior(tensor(S)), *path.truth(S, measured, values, noise))


def test_a_model_turned_around_is_told_its_own_values(path, tensor):
    """-f with values -v is f with values v."""
    model = NetworkModel(Negated(path.posterior()))
    law = model.condition_on_observations(tensor(NEW), column(-NEW_VALUES)).posterior(tensor(S))
    mean, covariance = path.truth(S, *all_data(path, NEW_VALUES, np.full(2, path.noise)))

    assert_law(law, -mean, covariance)


def test_a_prior_without_data_learns_from_its_first_values(path, tensor):
    model = NetworkModel(path.posterior(measured=np.empty(0), values=[]))
    law = model.condition_on_observations(tensor(NEW), column(NEW_VALUES)).posterior(tensor(S))

    assert_law(law, *path.truth(S, NEW, NEW_VALUES, path.noise))


def test_batches_of_values_become_batches_of_models(path, tensor):
    values = np.array([[0.8, 0.1], [-1.0, 2.0], [0.0, 0.0]])
    model = NetworkModel(path.posterior()).condition_on_observations(tensor(NEW), column(values))
    law = model.posterior(tensor(S))
    each = model.posterior(tensor(S[:, None, None]))  # five batches of one place, for each of three models

    assert model.batch_shape == torch.Size([3])
    assert law.mean.shape == (3, 5, 1)
    assert each.mean.shape == (5, 3, 1, 1)
    for index, row in enumerate(values):
        mean, covariance = path.truth(S, *all_data(path, row, np.full(2, path.noise)))
        assert_allclose(law.mean[index, :, 0], mean, atol=1e-10)
        assert_allclose(law.distribution.covariance_matrix[index], covariance, atol=1e-10)
        assert_allclose(each.mean[:, index, 0, 0], mean, atol=1e-10)


def test_batches_of_models_are_conditioned_once_more(path, tensor):
    """In two steps as in one."""
    first = NetworkModel(path.posterior()).condition_on_observations(
        tensor(NEW[:1]), column([[NEW_VALUES[0]], [5.0]])
    )
    both = first.condition_on_observations(tensor(NEW[1:]), column([NEW_VALUES[1]]))
    law = both.posterior(tensor(S), observation_noise=True)
    mean, covariance = path.truth(S, *all_data(path, NEW_VALUES, np.full(2, path.noise)))

    assert both.batch_shape == torch.Size([2])
    assert_allclose(law.mean[0, :, 0], mean, atol=1e-10)
    assert_allclose(law.variance[0, :, 0], np.diag(covariance) + path.noise, atol=1e-10)


def test_fantasies_average_to_what_is_known(path, tensor):
    """E m' = m; variance = E of what is left + variance of m'. Of 128 Sobol draws up to a few per cent."""
    model = NetworkModel(path.posterior())
    sampler = SobolQMCNormalSampler(torch.Size([128]), seed=1)
    imagined = model.fantasize(tensor(NEW), sampler).posterior(tensor(S))
    mean, covariance = path.truth(S)
    left = path.truth(S, *all_data(path, NEW_VALUES, np.full(2, path.noise)))[1]

    assert imagined.mean.shape == (128, 5, 1)
    assert_allclose(imagined.variance[..., 0], np.tile(np.diag(left), (128, 1)), atol=1e-10)
    assert_allclose(imagined.mean[..., 0].mean(axis=0), mean, atol=0.01)
    explained = np.cov(imagined.mean[..., 0].numpy().T)
    assert_allclose(explained, covariance - left, atol=0.05 * np.diag(covariance - left).max())


def test_fantasies_may_have_noise_of_their_own_and_batches(path, tensor):
    noise = torch.full((1, 1), 0.5, dtype=torch.float64)
    sampler = SobolQMCNormalSampler(torch.Size([4]), seed=1)
    model = NetworkModel(path.posterior()).fantasize(tensor(NEW[:, None]), sampler, observation_noise=noise)
    left = model.posterior(tensor(NEW[:, None])).variance

    assert model.batch_shape == torch.Size([4, 2])
    variances = np.diag(path.truth(NEW)[1])
    expected = variances * 0.5 / (variances + 0.5)  # one value of noise 1/2 at the place itself
    assert_allclose(left[..., 0, 0], np.tile(expected, (4, 1)), atol=1e-10)


def test_no_values_change_nothing(path, tensor):
    model = NetworkModel(path.posterior())
    empty = model.condition_on_observations(tensor(np.empty(0)), torch.empty((0, 1), dtype=torch.float64))

    assert_law(empty.posterior(tensor(S)), *path.truth(S))


def test_pending_places_at_their_mean_shrink_the_variance_alone(path, tensor):
    """What netbo's own rules do with pending places."""
    model = NetworkModel(path.posterior())
    pending = tensor([0.5])
    imagined = model.condition_on_observations(pending, model.posterior(pending).mean)

    assert_allclose(imagined.posterior(tensor(S)).mean, model.posterior(tensor(S)).mean, atol=1e-10)
    assert float(imagined.posterior(pending).variance) < float(model.posterior(pending).variance)


@pytest.mark.parametrize(
    ("values", "message"),
    [
        (
            torch.zeros(2),
            r"values must be a tensor \(\.\.\., 2, 1\), one for each row of X, got \(2,\); add the",
        ),
        (torch.zeros(3, 1), r"tensor \(\.\.\., 2, 1\).*got \(3, 1\)"),
        (np.zeros((2, 1)), r"tensor \(\.\.\., 2, 1\).*got ndarray"),
        (torch.tensor([[0.0], [torch.nan]]), r"observed values must be finite, got nan at index 1"),
    ],
)
def test_values_of_another_shape_are_refused(path, tensor, values, message):
    with pytest.raises(ObservationError, match=message):
        NetworkModel(path.posterior()).condition_on_observations(tensor(NEW), values)


@pytest.mark.parametrize(
    ("noise", "message"),
    [
        (torch.full((2,), 0.1), r"noise must be a tensor \(\.\.\., 2 or 1, 1\), got \(2,\); torch\.full"),
        (0.1, r"noise must be a tensor \(\.\.\., 2 or 1, 1\), got float"),
        (torch.full((3, 1), 0.1), r"noise must be a tensor .*got \(3, 1\)"),
        (torch.full((4, 2, 1), 0.1), r"noise must be a tensor .*got \(4, 2, 1\)"),
        (torch.full((1, 1), -0.1), r"noise variances must be finite and not negative, got -0\.1.*; square"),
        (torch.full((1, 1), torch.nan), r"noise variances must be finite and not negative, got nan"),
    ],
)
def test_noise_of_another_shape_or_sign_is_refused(path, tensor, noise, message):
    with pytest.raises(ObservationError, match=message):
        NetworkModel(path.posterior()).posterior(tensor(NEW), observation_noise=noise)


def test_noise_nobody_knows_is_asked_for(path, tensor):
    model = NetworkModel(path.posterior(measured=np.empty(0), values=[], regularization=None))

    with pytest.raises(
        ObservationError, match=r"the noise of a new measurement is not known.*pass the variances"
    ):
        model.posterior(tensor(NEW), observation_noise=True)


def test_batches_that_do_not_broadcast_are_refused(path, tensor):
    model = NetworkModel(path.posterior()).condition_on_observations(tensor(NEW), column(np.zeros((3, 2))))

    with pytest.raises(
        ParameterError, match=r"batches .* must broadcast, got \(2,\) and \(3,\); see batch_shape"
    ):
        model.posterior(tensor(np.zeros((2, 1))))


def test_options_nobody_understands_are_refused(path, tensor):
    with pytest.raises(
        ParameterError, match=r"conditioning takes X, Y and noise, got \['weights'\]; leave it out"
    ):
        NetworkModel(path.posterior()).condition_on_observations(tensor(NEW), column(NEW_VALUES), weights=1)


def test_a_mixture_is_conditioned_by_its_components(path, tensor):
    graph = path.graph
    observations = netbo.Observations(path.points(path.measured), [0.3, 1.1, -0.4, 0.9, -1.2])
    priors = [netbo.euclidean_matern(graph, nu=nu, range=1.0) for nu in (0.5, 1.5)]
    parts = [
        netbo.condition(prior, observations, regularization=0.01 * (i + 1)) for i, prior in enumerate(priors)
    ]
    mixture = netbo.posterior.MixturePosterior(tuple(parts), np.array([0.4, 0.6]))
    law = (
        NetworkModel(mixture).condition_on_observations(tensor(NEW), column(NEW_VALUES)).posterior(tensor(S))
    )
    more = observations.joined(netbo.Observations(path.points(NEW), NEW_VALUES))
    anew = [netbo.condition(prior, more, regularization=0.01 * (i + 1)) for i, prior in enumerate(priors)]

    assert_allclose(
        law.mean[:, 0], 0.4 * anew[0].mean(path.points(S)) + 0.6 * anew[1].mean(path.points(S)), atol=1e-9
    )
