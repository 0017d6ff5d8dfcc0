"""The posterior of the mesh-free prior: regression with the kernel matrix, by dense inverses."""

import warnings

import mpmath as mp
import numpy as np
import pytest
from numpy.testing import assert_allclose, assert_array_equal

import netbo
from netbo import ESTIMATED, Matern, MetricGraph, Observations, Points, condition
from netbo.errors import AccuracyWarning, NumericalError, ParameterError
from netbo.posterior.block import BlockPosterior
from netbo.posterior.mesh_free import MeshFreePosterior
from support.exact_kernel import exact_kernel
from support.reference import Regression, contract_graph, contract_points

ALPHAS = (0.5, 1.0, 1.5, 2.0)
LAMBDA = 0.05
GRAPHS = {
    "contract": contract_graph(),
    "one edge": netbo.interval(2.0),
    "circle": netbo.circle(3.0),
    "two components": MetricGraph([0, 1, 3], [1, 2, 3], [1.0, 0.5, 2.0]),
}


def measured(graph: MetricGraph, seed: int = 0) -> Observations:
    """Inside edges, at vertices by either end, repeated, some with noise of their own."""
    rng = np.random.default_rng(seed)
    inside = netbo.uniform_points(graph, 7, rng)
    ends = Points(np.array([0, 0]), np.array([0.0, graph.lengths[0]]), graph=graph)
    points = Points.concatenate([inside, ends, inside[:2], ends[:1]])
    noise = np.full(len(points), np.nan)
    noise[[1, 4, 9]] = 0.3, 0.01, 0.2
    return Observations(points, rng.standard_normal(len(points)) + 2.0, noise)


def asked(graph: MetricGraph, data: Observations) -> Points:
    """Other places, the measured ones and the vertices."""
    return Points.concatenate(
        [netbo.uniform_points(graph, 9, np.random.default_rng(9)), data.points, graph.vertex_points()]
    )


def posterior_and_twin(name, alpha, mean, **options):
    graph, matern = GRAPHS[name], Matern(alpha=alpha, range=1.2, sigma=1.3)
    prior, data = netbo.whittle_matern(graph, matern, **options), measured(graph)
    noise = np.where(np.isnan(data.noise), LAMBDA, data.noise)
    constant = None if mean is ESTIMATED else mean
    twin = Regression(prior.covariance, data.points, data.values, noise, constant)
    return condition(prior, data, regularization=LAMBDA, mean=mean), twin, asked(graph, data)


@pytest.mark.parametrize("mean", [0.0, 2.5, ESTIMATED])
@pytest.mark.parametrize("alpha", ALPHAS)
@pytest.mark.parametrize("name", sorted(GRAPHS))
def test_it_is_regression_with_the_kernel_matrix(name, alpha, mean):
    posterior, twin, x = posterior_and_twin(name, alpha, mean)

    assert isinstance(posterior, MeshFreePosterior)
    assert posterior.estimated_mean == pytest.approx(twin.m, rel=1e-10)
    assert_allclose(posterior.mean(x), twin.mean(x), rtol=1e-10, atol=1e-10)
    assert_allclose(posterior.std(x), twin.std(x), rtol=1e-9)
    assert_allclose(posterior.covariance(x[:5], x), twin.covariance(x[:5], x), rtol=1e-10, atol=1e-11)
    assert_allclose(np.diag(posterior.covariance(x, x)), posterior.variance(x), rtol=1e-10)
    assert posterior.log_evidence() == pytest.approx(twin.log_evidence(), rel=1e-11)
    assert posterior.information_gain() == pytest.approx(twin.information_gain(), rel=1e-11)


@pytest.mark.parametrize("mean", [0.7, ESTIMATED])
@pytest.mark.parametrize("alpha", ALPHAS)
@pytest.mark.parametrize("name", sorted(GRAPHS))
def test_leaving_one_out_is_conditioning_on_the_others(name, alpha, mean):
    posterior, twin, _ = posterior_and_twin(name, alpha, mean)
    left_out, data = posterior.leave_one_out(), posterior.observations
    for i in range(len(data)):
        rest, x = np.delete(np.arange(len(data)), i), data.points[[i]]
        other = Regression(twin.kernel, data.points[rest], data.values[rest], twin.noise[rest], twin.constant)

        assert left_out.mean[i] == pytest.approx(other.mean(x)[0], rel=1e-9)
        assert left_out.variance[i] == pytest.approx(other.covariance(x, x)[0, 0] + twin.noise[i], rel=1e-9)


@pytest.mark.parametrize("options", [{}, {"vertex_condition": 0.6}, {"constant_variance": True}], ids=str)
@pytest.mark.parametrize("mean", [0.7, ESTIMATED])
@pytest.mark.parametrize("alpha", ALPHAS)
def test_the_gradient_is_that_of_the_kernel_matrix(alpha, mean, options):
    """tr(T^-1 dT) and a' dT a, a = T^-1 (y - m), with dT/d log range from differences of the dense twin."""
    posterior, twin, _ = posterior_and_twin("contract", alpha, mean, **options)
    robin, constant = options.get("vertex_condition", 0.0), options.get("constant_variance", False)
    x, step = posterior.observations.points, 1e-4

    def kernel_at(shift):
        matern = posterior.prior.matern.rescaled(range=1.2 * np.exp(shift))
        return exact_kernel(contract_graph(), matern, robin=robin, constant=constant)(x, x)

    # Richardson: error O(step^4) = 1e-16 beside eps / step = 1e-12
    slopes = [(kernel_at(h) - kernel_at(-h)) / (2 * h) for h in (step, 2 * step)]
    K, own = twin.kernel(x, x), posterior.observations.has_own_noise
    changes = [(4 * slopes[0] - slopes[1]) / 3, 2 * K, np.diag(np.where(own, 0.0, twin.noise))]
    inverse = np.linalg.inv(twin.T)
    a = inverse @ (twin.values - twin.m)
    expected = [(a @ dT @ a - np.sum(inverse * dT)) / 2 for dT in changes]

    assert_allclose(posterior.log_evidence_gradient(), expected, rtol=1e-8, atol=1e-8)


@pytest.mark.parametrize("options", [{}, {"vertex_condition": 0.6}, {"constant_variance": True}], ids=str)
@pytest.mark.parametrize("alpha", [0.5, 1.0, 2.0])
def test_other_parameters_give_what_conditioning_anew_gives(alpha, options):
    """One mesh of the observations for all of them; a new range, a new sigma, a new noise."""
    posterior, _, x = posterior_and_twin("contract", alpha, ESTIMATED, **options)
    for change in ({"range": 3.0}, {"sigma": 0.2}, {"range": 0.4, "sigma": 5.0}):
        prior = posterior.prior.rescaled(**change)
        moved = posterior.with_parameters(prior, 0.2)
        fresh = condition(prior, posterior.observations, regularization=0.2, mean=ESTIMATED)

        assert moved.base.prior.space is posterior.base.prior.space
        assert_allclose(moved.mean(x), fresh.mean(x), rtol=1e-11)
        assert_allclose(moved.std(x), fresh.std(x), rtol=1e-11)
        assert_allclose(moved.covariance(x, x), fresh.covariance(x, x), rtol=1e-10, atol=1e-12)
        assert moved.log_evidence() == pytest.approx(fresh.log_evidence(), rel=1e-12)
        assert_allclose(moved.log_evidence_gradient(), fresh.log_evidence_gradient(), rtol=1e-10, atol=1e-11)


@pytest.mark.parametrize(
    "change", [{"alpha": 1.5}, {"vertex_condition": 0.8}, {"constant_variance": True}], ids=str
)
def test_a_prior_of_another_kind_gives_what_conditioning_anew_gives(change):
    """Another smoothness, vertex condition or variance on the same network: nothing old is left in it."""
    posterior, _, x = posterior_and_twin("contract", 1.0, 0.5)
    options = {key: value for key, value in change.items() if key != "alpha"}
    matern = Matern(alpha=change.get("alpha", 1.0), range=1.2, sigma=1.3)
    prior = netbo.whittle_matern(posterior.prior.graph, matern, **options)
    moved = posterior.with_parameters(prior, LAMBDA)
    fresh = condition(prior, posterior.observations, regularization=LAMBDA, mean=0.5)

    assert moved.log_evidence() == pytest.approx(fresh.log_evidence(), rel=1e-12)
    assert_allclose(moved.mean(x), fresh.mean(x), rtol=1e-11)
    assert_allclose(moved.std(x), fresh.std(x), rtol=1e-11)


def test_another_network_is_refused():
    posterior, _, _ = posterior_and_twin("contract", 1.0, 0.0)
    matern = Matern(alpha=1.0, range=1.0)
    space = netbo.FiniteElementSpace.build(contract_graph(), max_cell=0.5)
    for other in (netbo.whittle_matern(netbo.interval(), matern), netbo.whittle_matern(space, matern)):
        with pytest.raises(
            ParameterError, match=r"takes the same prior rescaled, got another; use condition"
        ):
            posterior.with_parameters(other, 0.1)


@pytest.mark.parametrize("mean", [0.7, ESTIMATED])
@pytest.mark.parametrize("alpha", ALPHAS)
def test_extending_is_conditioning_on_all(alpha, mean):
    graph = contract_graph()
    prior = netbo.whittle_matern(graph, Matern(alpha=alpha, range=1.2, sigma=1.3))
    one, two = measured(graph), measured(graph, seed=1)
    x = asked(graph, two)
    grown = condition(prior, one, regularization=LAMBDA, mean=mean).extend(two)
    whole = condition(prior, one.joined(two), regularization=LAMBDA, mean=mean)

    assert len(grown.observations) == len(one) + len(two)
    assert_allclose(grown.mean(x), whole.mean(x), rtol=1e-11)
    assert_allclose(grown.std(x), whole.std(x), rtol=1e-11)
    assert grown.log_evidence() == pytest.approx(whole.log_evidence(), rel=1e-12)
    assert_allclose(grown.log_evidence_gradient(), whole.log_evidence_gradient(), rtol=1e-10)


@pytest.mark.parametrize("alpha", ALPHAS)
def test_without_observations_it_is_the_prior(alpha):
    prior = netbo.whittle_matern(contract_graph(), Matern(alpha=alpha, range=1.2, sigma=1.3))
    none = Observations(Points(np.empty(0, dtype=int), []), [])
    posterior, x = condition(prior, none, regularization=LAMBDA, mean=0.0), contract_points()

    assert_array_equal(posterior.mean(x), 0.0)
    assert_allclose(posterior.variance(x), prior.variance(x), rtol=1e-12)
    assert_allclose(posterior.covariance(x, x), prior.covariance(x, x), rtol=1e-12, atol=1e-14)
    assert posterior.information_gain() == pytest.approx(0.0, abs=1e-13)
    assert posterior.log_evidence() == pytest.approx(0.0, abs=1e-13)
    assert_allclose(posterior.log_evidence_gradient(), 0.0, atol=1e-13)


@pytest.mark.parametrize("alpha", ALPHAS)
def test_one_observation_with_almost_no_noise_is_met(alpha):
    """Asked at the very place: mean y, variance lambda, to lambda / v."""
    prior = netbo.whittle_matern(contract_graph(), Matern(alpha=alpha, range=1.2))
    x = contract_points()[:1]
    posterior = condition(prior, Observations(x, [3.0]), regularization=1e-10)
    v = prior.variance(x)[0]

    assert posterior.mean(x)[0] == pytest.approx(3.0 * v / (v + 1e-10), rel=1e-13)
    assert posterior.variance(x)[0] == pytest.approx(v * 1e-10 / (v + 1e-10), rel=1e-9)


@pytest.mark.parametrize("noise", [1e-10, 1e-6])
@pytest.mark.parametrize("p", [1, 2, 3, 4])
def test_the_variance_beside_an_observation_keeps_its_digits(p, noise):
    """At 1e-9 to 0.1 on both sides of a place measured almost without noise, against mpmath.

    What is left is far below the prior's variance, from which it may not be subtracted.
    """
    graph, kappa, where = netbo.interval(1.0), 2.0, 0.5
    prior = netbo.whittle_matern(graph, Matern(alpha=p / 2, kappa=kappa))
    posterior = condition(prior, Observations(graph.points(0, [where]), [1.0]), regularization=noise)
    away = np.array([1e-9, 1e-6, 1e-3, 0.1, -1e-9, -1e-6, -1e-3, -0.1])

    def kernel(x, y):
        low, high = min(x, y), max(x, y)

        def green(s):
            k = mp.sqrt(s)
            return mp.cosh(k * low) * mp.cosh(k * (1 - high)) / (k * mp.sinh(k))

        return (-1) ** (p - 1) * mp.taylor(green, mp.mpf(kappa) ** 2, p - 1)[-1]

    with mp.workdps(60):
        z = [mp.mpf(float(where + a)) for a in away]
        v = kernel(mp.mpf(where), mp.mpf(where)) + mp.mpf(noise)
        expected = [float(kernel(x, x) - kernel(x, mp.mpf(where)) ** 2 / v) for x in z]

    assert_allclose(posterior.variance(graph.points(0, where + away)), expected, rtol=1e-9)


def test_the_same_question_is_answered_from_the_same_factor():
    posterior, _, x = posterior_and_twin("contract", 1.0, ESTIMATED)

    assert posterior._at(x) is posterior._at(x)
    assert posterior._at(x, x) is not posterior._at(x)
    assert isinstance(posterior.base, BlockPosterior)


@pytest.mark.parametrize("mean", [0.7, ESTIMATED])
@pytest.mark.parametrize("alpha", ALPHAS)
def test_slopes_are_derivatives_along_the_edge(alpha, mean):
    """Central differences; a rough field's variance has a kink at a measured place only."""
    posterior, _, _ = posterior_and_twin("contract", alpha, mean)
    graph, step = contract_graph(), 1e-6
    x = graph.points([0, 2, 3, 4, 5], fraction=[0.31, 0.64, 0.47, 0.9, 0.2])
    up, down = (Points(x.edge, x.z + s) for s in (step, -step))
    mean_slope = (posterior.mean(up) - posterior.mean(down)) / (2 * step)
    variance_slope = (posterior.variance(up) - posterior.variance(down)) / (2 * step)

    assert_allclose(posterior.mean_slope(x), mean_slope, rtol=1e-6, atol=1e-8)
    assert_allclose(posterior.variance_slope(x), variance_slope, rtol=1e-6, atol=1e-8)


def test_slopes_of_a_constant_variance_are_refused():
    posterior, _, x = posterior_and_twin("contract", 1.0, 0.0, constant_variance=True)

    with pytest.raises(ParameterError, match=r"slopes exist for the field itself, got a variance made const"):
        posterior.mean_slope(x)
    with pytest.raises(ParameterError, match=r"leave constant_variance out"):
        posterior.variance_slope(x)


@pytest.mark.parametrize("p", [1, 2, 3, 4])
def test_the_mean_of_a_field_that_is_constant_to_rounding_has_the_variance_of_the_field(p):
    """1' T^-1 1 = kappa^2p tau^2 length, of which 1 - fit keeps no digit."""
    graph, matern = netbo.interval(1.0), Matern(p / 2, range=1e6)
    data = Observations(graph.points(0, [0.2, 0.7]), [1.0, 1.0])
    posterior = condition(netbo.whittle_matern(graph, matern), data, regularization=1e-17, mean=ESTIMATED)

    assert_allclose(posterior.mean(data.points), 1.0, rtol=1e-12)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", AccuracyWarning)  # two ways to say it differ, the better one counts
        assert posterior.mean_precision == pytest.approx(matern.kappa ** (2 * p) * matern.tau**2, rel=1e-5)


def test_a_mean_that_rounding_hides_is_refused():
    """A field made constant in variance and all but constant: 1' T^-1 1 is lost, not negative."""
    graph = netbo.interval(1.0)
    prior = netbo.whittle_matern(graph, Matern(1.0, range=1e9), constant_variance=True)
    data = Observations(graph.points(0, [0.2, 0.7]), [1.0, 1.0])
    posterior = condition(prior, data, regularization=1e-17, mean=ESTIMATED)

    with pytest.raises(NumericalError, match="the precision of the mean must be positive, got -"):
        posterior.mean(data.points)
