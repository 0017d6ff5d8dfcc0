"""What holds for the posterior of every prior."""

import numpy as np
import pytest
from numpy.testing import assert_allclose, assert_array_equal

from netbo import ESTIMATED, Observations, Points, condition
from support.contract_cases import case_of
from support.reference import (
    Regression,
    contract_points,
    contract_space,
    covariance_errors,
)

LAMBDA = 0.05
PATHS = 4000


def contract_observations(values_shift: float = 3.0) -> Observations:
    """Inside cells, at nodes, repeated, some with noise of their own."""
    nodes = contract_space().nodes
    points = Points.concatenate([contract_points(), nodes[[9, 25, 2]], contract_points()[:2]])
    values = np.random.default_rng(5).standard_normal(len(points)) + values_shift
    noise = np.full(len(points), np.nan)
    noise[[1, 4, 9]] = 0.3, 0.01, 0.2
    return Observations(points, values, noise)


def targets() -> Points:
    """Some of the observed points and all nodes."""
    return Points.concatenate([contract_points(), contract_space().nodes])


def assert_same_posterior(found, expected, x, rtol=1e-9):
    """Mean, covariance, gain and evidence."""
    assert_allclose(found.mean(x), expected.mean(x), rtol=rtol, atol=rtol)
    assert_allclose(found.std(x), expected.std(x), rtol=10 * rtol)
    assert_allclose(found.covariance(x[:5], x), expected.covariance(x[:5], x), rtol=rtol, atol=rtol)
    assert found.information_gain() == pytest.approx(expected.information_gain(), rel=rtol)
    assert found.log_evidence() == pytest.approx(expected.log_evidence(), rel=rtol)


class PosteriorContract:
    """Names the prior of `case_of`."""

    name: str

    @pytest.fixture
    def prior(self):
        return case_of(self.name).prior

    @pytest.mark.parametrize("mean", [0.0, 2.5, ESTIMATED])
    def test_it_is_gaussian_regression(self, prior, mean):
        """eq:postmean and eq:postcov with dense inverses; evidence from scipy.stats, gain half a log det.

        An estimated mean is universal kriging, from its bordered system.
        """
        data, x = contract_observations(), targets()
        posterior = condition(prior, data, regularization=LAMBDA, mean=mean)
        noise = np.where(np.isnan(data.noise), LAMBDA, data.noise)
        constant = None if mean is ESTIMATED else mean
        twin = Regression(case_of(self.name).kernel, data.points, data.values, noise, constant)

        assert posterior.estimated_mean == pytest.approx(twin.m, rel=1e-10)
        assert_same_posterior(posterior, twin, x)

    def test_without_data_it_is_the_prior(self, prior):
        none = Observations(Points(np.empty(0, dtype=int), []), [])
        posterior, x = condition(prior, none, regularization=LAMBDA, mean=1.5), targets()

        assert_array_equal(posterior.mean(x), 1.5)
        assert_allclose(posterior.variance(x), prior.variance(x), rtol=1e-12)
        assert_allclose(posterior.covariance(x, x), prior.covariance(x, x), rtol=1e-11, atol=1e-13)
        assert posterior.information_gain() == pytest.approx(0.0, abs=1e-12)
        assert posterior.log_evidence() == pytest.approx(0.0, abs=1e-12)
        assert_allclose(posterior.log_evidence_gradient(), 0.0, atol=1e-12)

    @pytest.mark.parametrize("mean", [0.7, ESTIMATED])
    def test_the_gradient_is_that_of_differences(self, prior, mean):
        """In log range, log sigma and the log of the common noise; steps of 1e-5 leave 1e-8."""
        data, step = contract_observations(), 1e-5

        def evidence(shift):
            moved = prior.rescaled(range=prior.range * np.exp(shift[0]), sigma=prior.sigma * np.exp(shift[1]))
            noise = LAMBDA * np.exp(shift[2])
            return condition(moved, data, regularization=noise, mean=mean).log_evidence()

        slopes = [(evidence(step * e) - evidence(-step * e)) / (2 * step) for e in np.eye(3)]
        gradient = condition(prior, data, regularization=LAMBDA, mean=mean).log_evidence_gradient()

        assert_allclose(gradient, slopes, rtol=1e-6, atol=1e-6)

    def test_values_in_another_unit_change_nothing_else(self, prior):
        """y -> a y + b with sigma and noise scaled: mean follows, gain stays, evidence loses n log a."""
        data, x, a, b = contract_observations(), targets(), 7.0, -40.0
        posterior = condition(prior, data, regularization=LAMBDA, mean=ESTIMATED)
        moved = Observations(data.points, a * data.values + b, a**2 * data.noise)
        scaled = prior.rescaled(sigma=a * prior.sigma)
        other = condition(scaled, moved, regularization=a**2 * LAMBDA, mean=ESTIMATED)
        expected = posterior.log_evidence() - len(data) * np.log(a)

        assert_allclose(other.mean(x), a * posterior.mean(x) + b, rtol=1e-9, atol=1e-9)
        assert_allclose(other.std(x), a * posterior.std(x), rtol=1e-9)
        assert other.estimated_mean == pytest.approx(a * posterior.estimated_mean + b, rel=1e-9)
        assert other.information_gain() == pytest.approx(posterior.information_gain(), rel=1e-10)
        assert other.log_evidence() == pytest.approx(expected, rel=1e-10)
        assert_allclose(
            other.log_evidence_gradient(), posterior.log_evidence_gradient(), rtol=1e-8, atol=1e-9
        )

    def test_the_order_of_observations_is_irrelevant(self, prior):
        data, x = contract_observations(), targets()
        order = np.random.default_rng(1).permutation(len(data))
        shuffled = Observations(data.points[order], data.values[order], data.noise[order])
        one, two = (condition(prior, d, regularization=LAMBDA, mean=ESTIMATED) for d in (data, shuffled))

        assert_same_posterior(two, one, x, rtol=1e-10)
        assert_allclose(two.log_evidence_gradient(), one.log_evidence_gradient(), rtol=1e-9, atol=1e-10)

    @pytest.mark.parametrize("mean", [0.7, ESTIMATED])
    def test_extending_is_conditioning_on_all(self, prior, mean):
        """One by one and in batches, past the point where rank-one updates are given up for a factor."""
        data, x, rng = contract_observations(), targets(), np.random.default_rng(2)
        space = contract_space()
        more = Points.concatenate(
            [
                space.graph.points(rng.integers(0, 6, 30), fraction=rng.uniform(size=30)),
                space.nodes[rng.integers(0, len(space.nodes), 12)],
            ]
        )
        noise = np.where(rng.random(len(more)) < 0.3, 0.1, np.nan)
        new = Observations(more, rng.normal(3.0, 0.3, len(more)), noise)
        posterior = condition(prior, data, regularization=LAMBDA, mean=mean)
        sizes = [1] * 20 + [3, 0, 4] + [1] * 15
        start = 0
        for size in sizes:
            part = slice(start, start + size)
            posterior = posterior.extend(Observations(new.points[part], new.values[part], new.noise[part]))
            start += size
        whole = condition(prior, data.joined(new), regularization=LAMBDA, mean=mean)

        assert start == len(new)
        assert len(posterior.observations) == len(data) + len(new)
        assert posterior.estimated_mean == pytest.approx(whole.estimated_mean, rel=1e-9)
        assert_same_posterior(posterior, whole, x)
        assert_allclose(posterior.log_evidence_gradient(), whole.log_evidence_gradient(), rtol=1e-8)

    def test_extending_leaves_the_old_posterior_as_it_was(self, prior):
        data, x = contract_observations(), targets()
        posterior = condition(prior, data, regularization=LAMBDA, mean=ESTIMATED)
        mean, std, gain = posterior.mean(x), posterior.std(x), posterior.information_gain()
        posterior.extend(Observations(x[:3], [10.0, -10.0, 5.0]))

        assert_array_equal(posterior.mean(x), mean)
        assert_array_equal(posterior.std(x), std)
        assert posterior.information_gain() == gain

    def test_extending_nothing_is_conditioning(self, prior):
        none = Observations(Points(np.empty(0, dtype=int), []), [])
        data, x = contract_observations(), targets()
        extended = condition(prior, none, regularization=LAMBDA).extend(data)

        assert_same_posterior(extended, condition(prior, data, regularization=LAMBDA), x)

    @pytest.mark.parametrize("mean", [0.7, ESTIMATED])
    def test_leaving_one_out_is_conditioning_on_the_others(self, prior, mean):
        """Of a measurement, so with its noise; inside cells, at nodes, repeated, with noise of its own."""
        data, kernel = contract_observations(), case_of(self.name).kernel
        left_out = condition(prior, data, regularization=LAMBDA, mean=mean).leave_one_out()
        noise = np.where(np.isnan(data.noise), LAMBDA, data.noise)
        constant = None if mean is ESTIMATED else mean
        expected = []
        for i in range(len(data)):
            rest, x = np.delete(np.arange(len(data)), i), data.points[[i]]
            twin = Regression(kernel, data.points[rest], data.values[rest], noise[rest], constant)
            expected.append((twin.mean(x)[0], twin.covariance(x, x)[0, 0] + noise[i]))

        assert_allclose(left_out.mean, [m for m, _ in expected], rtol=1e-9)
        assert_allclose(left_out.variance, [v for _, v in expected], rtol=1e-9)

    @pytest.mark.parametrize("mean", [0.7, ESTIMATED])
    @pytest.mark.parametrize("scale", [1.0, 2.5])
    def test_samples_have_the_posteriors_moments(self, prior, scale, mean):
        """4,000 paths at six points, mean and every second moment within five standard errors."""
        data, x = contract_observations(), contract_space().nodes[[0, 3, 8, 14, 22, 30]]
        posterior = condition(prior, data, regularization=LAMBDA, mean=mean)
        paths = posterior.sample(x, np.random.default_rng(3), scale=scale, n=PATHS)
        deviations, covariance = paths - posterior.mean(x), scale**2 * posterior.covariance(x, x)

        assert np.abs(covariance_errors(deviations, covariance)).max() < 5
        assert np.abs(deviations.mean(axis=0) / np.sqrt(np.diag(covariance) / PATHS)).max() < 5

    def test_paths_are_reproducible_and_shaped(self, prior):
        data, x = contract_observations(), contract_points()
        posterior = condition(prior, data, regularization=LAMBDA, mean=ESTIMATED)
        first, second = (posterior.sample(x, np.random.default_rng(4)) for _ in range(2))

        assert_array_equal(first, second)
        assert first.shape == (len(x),)
        assert posterior.sample(x, np.random.default_rng(4), n=2).shape == (2, len(x))
        assert_array_equal(posterior.sample(x, np.random.default_rng(4), scale=0.0), posterior.mean(x))

    def test_data_never_add_variance(self, prior):
        data, x = contract_observations(), targets()
        posterior = condition(prior, data, regularization=LAMBDA)

        assert np.all(posterior.variance(x) <= prior.variance(x) * (1 + 1e-12))
        assert posterior.information_gain() > 0


class TestHatsOfOrderOne(PosteriorContract):
    name = "hats 0.5"


class TestHatsOfOrderTwo(PosteriorContract):
    name = "hats 1"


class TestHatsOfOrderThree(PosteriorContract):
    name = "hats 1.5"


class TestHatsOfOrderFour(PosteriorContract):
    name = "hats 2"


class TestLumpedHats(PosteriorContract):
    name = "lumped 1"


class TestRobinVerticesOfOrderOne(PosteriorContract):
    name = "robin 0.5"


class TestRobinVerticesOfOrderTwo(PosteriorContract):
    name = "robin 1"


class TestRobinVerticesOfOrderThree(PosteriorContract):
    name = "robin 1.5"


class TestConstantVarianceOfOrderOne(PosteriorContract):
    name = "constant 0.5"


class TestConstantVarianceOfOrderTwo(PosteriorContract):
    name = "constant 1"


class TestConstantVarianceOfOrderFour(PosteriorContract):
    name = "constant 2"


class TestMeshFreeOfOrderOne(PosteriorContract):
    name = "mesh-free 0.5"


class TestMeshFreeOfOrderTwo(PosteriorContract):
    name = "mesh-free 1"


class TestMeshFreeOfOrderThree(PosteriorContract):
    name = "mesh-free 1.5"


class TestMeshFreeOfOrderFour(PosteriorContract):
    name = "mesh-free 2"


class TestMeshFreeWithRobinVerticesOfOrderOne(PosteriorContract):
    name = "mesh-free-robin 0.5"


class TestMeshFreeWithRobinVerticesOfOrderThree(PosteriorContract):
    name = "mesh-free-robin 1.5"


class TestMeshFreeWithConstantVarianceOfOrderOne(PosteriorContract):
    name = "mesh-free-constant 0.5"


class TestMeshFreeWithConstantVarianceOfOrderTwo(PosteriorContract):
    name = "mesh-free-constant 1"


class TestMeshFreeWithConstantVarianceOfOrderFour(PosteriorContract):
    name = "mesh-free-constant 2"


class TestFractionalSpectral(PosteriorContract):
    name = "spectral 0.75"


class TestFractionalSpectralWithConstantVariance(PosteriorContract):
    name = "spectral-constant 0.75"


class TestFractionalBelowOneHalf(PosteriorContract):
    name = "fractional 0.4"


class TestFractionalAboveOneHalf(PosteriorContract):
    name = "fractional 0.75"


class TestFractionalAboveOne(PosteriorContract):
    name = "fractional 1.25"


class TestEuclideanOneHalf(PosteriorContract):
    name = "euclidean 0.5"


class TestEuclideanThreeHalves(PosteriorContract):
    name = "euclidean 1.5"


class TestEuclideanFiveHalves(PosteriorContract):
    name = "euclidean 2.5"


class TestEdgewise(PosteriorContract):
    name = "edgewise 1"


class TestSumOfNetworkAndEuclidean(PosteriorContract):
    name = "hats 1 + euclidean 0.5"


class TestSumOfConstantVarianceAndSpectral(PosteriorContract):
    name = "constant 0.5 + spectral 0.75 + euclidean 2.5"
