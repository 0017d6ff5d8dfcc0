import numpy as np
import pytest
from numpy.testing import assert_allclose, assert_array_equal

from netbo import ESTIMATED, Observations, condition
from netbo.errors import ObservationError, ParameterError
from netbo.posterior import MixturePosterior, Surrogate, weights_by_evidence
from support.reference import case, contract_points, contract_space

WEIGHTS = (0.5, 0.2, 0.3)
PATHS = 4000


def data(n: int = 5) -> Observations:
    return Observations(contract_points()[:n], [1.0, 2.0, -1.0, 0.5, 3.0][:n], [0.3, *[np.nan] * (n - 1)])


def components(observations=None):
    """Network, straight line and spectral, each with its own mean and noise."""
    observations = data() if observations is None else observations
    return (
        condition(case("hats 1").prior, observations, regularization=0.1, mean=ESTIMATED),
        condition(case("euclidean 0.5").prior, observations, regularization=0.01, mean=1.0),
        condition(case("spectral 0.75").prior, observations, regularization=0.4),
    )


def mixture() -> MixturePosterior:
    return MixturePosterior(components(), WEIGHTS)


def test_it_is_a_surrogate():
    assert isinstance(mixture(), Surrogate)


def test_moments_are_those_of_a_discrete_choice():
    """E u = E (E u | i) and E u u' = E (E u u' | i)."""
    x, y = contract_points(), contract_space().nodes
    mixed, parts = mixture(), components()
    means = [[part.mean(z) for part in parts] for z in (x, y)]
    mean = [sum(w * m for w, m in zip(WEIGHTS, each, strict=True)) for each in means]
    second = sum(
        w * (part.covariance(x, y) + np.outer(a, b))
        for w, part, a, b in zip(WEIGHTS, parts, *means, strict=True)
    )
    expected = second - np.outer(*mean)

    assert_allclose(mixed.mean(x), mean[0], rtol=1e-13)
    assert_allclose(mixed.covariance(x, y), expected, rtol=1e-10, atol=1e-12)
    assert_allclose(mixed.variance(x), np.diag(mixed.covariance(x, x)), rtol=1e-10)
    assert_allclose(mixed.std(x) ** 2, mixed.variance(x), rtol=1e-14)


@pytest.mark.parametrize("scale", [1.0, 2.5])
def test_samples_have_the_mixtures_moments(scale):
    """4,000 paths: means within five standard errors; second moments too, with errors from the paths."""
    mixed, x = mixture(), contract_space().nodes[[0, 8, 22, 30]]
    paths = mixed.sample(x, np.random.default_rng(3), scale=scale, n=PATHS)
    deviations = paths - mixed.mean(x)
    products = deviations[:, :, None] * deviations[:, None, :]
    covariance = scale**2 * mixed.covariance(x, x)

    assert np.abs(deviations.mean(axis=0) / np.sqrt(np.diag(covariance) / PATHS)).max() < 5
    assert np.abs((products.mean(axis=0) - covariance) / (products.std(axis=0) / np.sqrt(PATHS))).max() < 5


def test_every_path_is_of_one_component():
    """Almost without noise, paths at the data tell components with other means apart: weights within 5 se."""
    far = Observations(contract_points()[:1], [0.0])
    parts = tuple(condition(case("hats 1").prior, far, regularization=1e8, mean=m) for m in (-1e3, 1e3))
    paths = MixturePosterior(parts, (0.25, 0.75)).sample(contract_points(), np.random.default_rng(0), n=1000)
    is_second = paths > 0

    assert np.all(is_second.all(axis=1) | ~is_second.any(axis=1))
    assert abs(is_second[:, 0].mean() - 0.75) < 5 * np.sqrt(0.25 * 0.75 / 1000)


def test_paths_are_reproducible_and_shaped():
    mixed, x = mixture(), contract_points()
    first, second = (mixed.sample(x, np.random.default_rng(4)) for _ in range(2))

    assert_array_equal(first, second)
    assert first.shape == (len(x),)
    assert mixed.sample(x, np.random.default_rng(4), n=3).shape == (3, len(x))
    assert mixed.sample(x, np.random.default_rng(4), n=0).shape == (0, len(x))
    assert_array_equal(mixed.sample(x, np.random.default_rng(4), scale=0.0), mixed.mean(x))


def test_noise_mean_and_gain_are_weighted():
    mixed, parts = mixture(), components()
    gains, means = [p.information_gain() for p in parts], [p.estimated_mean for p in parts]

    assert_allclose(mixed.noise, [0.3] + [0.5 * 0.1 + 0.2 * 0.01 + 0.3 * 0.4] * 4, rtol=1e-14)
    assert mixed.information_gain() == pytest.approx(np.dot(WEIGHTS, gains), rel=1e-13)
    assert mixed.estimated_mean == pytest.approx(np.dot(WEIGHTS, means), rel=1e-13)


def test_prior_and_regularization_are_those_of_the_heaviest():
    parts = components()
    mixed = MixturePosterior(parts, (0.3, 0.1, 0.6))

    assert mixed.prior is parts[2].prior
    assert mixed.regularization == 0.4
    assert mixed.heaviest is parts[2]


def test_extending_extends_every_component():
    x, new = contract_space().nodes, Observations(contract_points()[5:], [2.0])
    extended = mixture().extend(new)
    anew = MixturePosterior(components(data().joined(new)), WEIGHTS)

    assert len(extended.observations) == len(extended.noise) == 6
    assert_array_equal(extended.weights, WEIGHTS)
    assert_allclose(extended.mean(x), anew.mean(x), rtol=1e-9)
    assert_allclose(extended.std(x), anew.std(x), rtol=1e-9)


def test_all_weight_on_one_is_that_one():
    x, parts = contract_points(), components()
    mixed = MixturePosterior(parts, (0.0, 1.0, 0.0))

    assert_array_equal(mixed.mean(x), parts[1].mean(x))
    assert_array_equal(mixed.variance(x), parts[1].variance(x))
    assert_array_equal(mixed.covariance(x, x), parts[1].covariance(x, x))


def test_leaving_one_out_mixes_the_components_answers():
    """Total mean and total variance, from the law of both."""
    answers = [part.leave_one_out() for part in components()]
    mean = sum(w * a.mean for w, a in zip(WEIGHTS, answers, strict=True))
    second = sum(w * (a.variance + a.mean**2) for w, a in zip(WEIGHTS, answers, strict=True))
    found = mixture().leave_one_out()

    assert_allclose(found.mean, mean, rtol=1e-13)
    assert_allclose(found.variance, second - mean**2, rtol=1e-11)


def test_leaving_out_the_only_one_is_infinite_only_where_a_weighted_component_says_so():
    parts = components(data(1))
    mixed, settled = (MixturePosterior(parts, w).leave_one_out() for w in (WEIGHTS, (0.0, 0.5, 0.5)))

    assert np.isinf(mixed.variance).all()
    assert np.isnan(mixed.mean).all()
    assert np.isfinite([settled.mean, settled.variance]).all()


def test_weights_are_the_users_no_longer():
    weights = np.array(WEIGHTS)
    mixed = MixturePosterior(list(components()), weights)
    weights[:] = 0.0

    assert_array_equal(mixed.weights, WEIGHTS)
    assert isinstance(mixed.components, tuple)


@pytest.mark.parametrize("weights", [(0.5, 0.5), ()])
def test_every_component_has_a_weight(weights):
    with pytest.raises(ParameterError, match=r"a weight for each, got 3 components and \d weights; see"):
        MixturePosterior(components(), weights)
    with pytest.raises(ParameterError, match=r"at least one component .*, got 0 components and 0 weights"):
        MixturePosterior((), ())


@pytest.mark.parametrize("weights", [(0.5, 0.6, 0.2), (-0.5, 1.0, 0.5), (np.nan, 0.5, 0.5)])
def test_weights_are_probabilities(weights):
    with pytest.raises(ParameterError, match=r"weights must not be negative and sum to 1, got .*; divide"):
        MixturePosterior(components(), weights)


@pytest.mark.parametrize(
    "other",
    [
        data(4),
        Observations(data().points, data().values + 1.0, data().noise),
        Observations(data().points, data().values),
        Observations(contract_points()[1:], data().values, data().noise),
    ],
    ids=["fewer", "other values", "other noise", "other places"],
)
def test_components_have_the_same_observations(other):
    one, two = components()[0], components(other)[1]

    with pytest.raises(
        ObservationError, match=r"must have the same observations, got 5 and [45] that differ"
    ):
        MixturePosterior((one, two), (0.5, 0.5))


def test_weights_by_evidence_are_bayes_theorem():
    """Equal odds before the data; also where the densities themselves underflow or overflow."""
    expected = np.array([1.0, 3.0]) / 4

    for shift in (0.0, -1e5, 1e5):
        assert_allclose(weights_by_evidence(np.log([1.0, 3.0]) + shift), expected, rtol=1e-9)
    assert_array_equal(weights_by_evidence([0.0, -np.inf, -1e4]), [1.0, 0.0, 0.0])
    assert_array_equal(weights_by_evidence([-7.0]), [1.0])


@pytest.mark.parametrize("bad", [[], [np.nan, 0.0], [np.inf, 0.0], [-np.inf, -np.inf]])
def test_weights_need_an_evidence(bad):
    with pytest.raises(ParameterError, match=r"log evidences must be numbers, at least one of them finite"):
        weights_by_evidence(bad)
