"""What holds for every prior."""

import numpy as np
import pytest
from numpy.testing import assert_allclose, assert_array_equal

from netbo import Prior
from netbo.priors import DensePrior
from support.contract_cases import case_of
from support.reference import (
    contract_graph,
    contract_points,
    contract_space,
    covariance_errors,
)

PATHS = 4000


class PriorContract:
    """Names the prior of `case_of`."""

    name: str

    @pytest.fixture
    def prior(self):
        return case_of(self.name).prior

    @pytest.fixture
    def kernel(self):
        return case_of(self.name).kernel

    def test_it_is_a_prior(self, prior):
        assert isinstance(prior, Prior)
        assert prior.graph is contract_graph()

    def test_covariance_is_that_of_the_twin(self, prior, kernel):
        """Dense matrices by loops, or Bessel functions; more points on either side."""
        x, y = contract_points(), contract_space().nodes

        assert_allclose(prior.covariance(x, y), kernel(x, y), rtol=1e-9, atol=1e-11)
        assert_allclose(prior.covariance(y, x), kernel(y, x), rtol=1e-9, atol=1e-11)

    def test_covariance_is_symmetric_and_positive(self, prior):
        x = contract_space().nodes
        covariance = prior.covariance(x, x)

        assert_allclose(covariance, covariance.T, rtol=1e-11, atol=1e-13)
        assert np.linalg.eigvalsh(covariance).min() > -1e-11 * covariance.max()

    def test_variance_is_the_diagonal(self, prior):
        x = contract_points()

        assert_allclose(prior.variance(x), np.diag(prior.covariance(x, x)), rtol=1e-11)

    def test_sigma_multiplies_and_the_range_stays(self, prior):
        x = contract_points()
        doubled = prior.rescaled(sigma=2 * prior.sigma)

        assert doubled.range == pytest.approx(prior.range, rel=1e-14)
        assert doubled.sigma == pytest.approx(2 * prior.sigma, rel=1e-14)
        assert_allclose(doubled.covariance(x, x), 4 * prior.covariance(x, x), rtol=1e-11)
        assert_allclose(doubled.variance(x), 4 * prior.variance(x), rtol=1e-11)

    def test_another_range_is_another_kernel_of_the_same_sigma(self, prior):
        x = contract_points()
        longer = prior.rescaled(range=3 * prior.range)

        assert longer.range == pytest.approx(3 * prior.range, rel=1e-14)
        assert longer.sigma == pytest.approx(prior.sigma, rel=1e-13)
        assert longer.covariance(x, x)[0, 1] > prior.covariance(x, x)[0, 1]

    def test_the_range_derivative_is_that_of_differences(self, prior):
        """In log range at fixed sigma; steps of 1e-5 leave 1e-9."""
        x, y, step = contract_points(), contract_space().nodes, 1e-5
        up, down = (prior.rescaled(range=prior.range * np.exp(s)) for s in (step, -step))
        slope = (up.covariance(x, y) - down.covariance(x, y)) / (2 * step)
        of_variance = (up.variance(y) - down.variance(y)) / (2 * step)

        assert isinstance(prior, DensePrior)
        assert_allclose(prior.range_derivative(x, y), slope, rtol=1e-6, atol=1e-8)
        assert_allclose(prior.range_derivative(y, x), slope.T, rtol=1e-6, atol=1e-8)
        assert_allclose(prior.range_derivative_of_variance(y), of_variance, rtol=1e-6, atol=1e-8)

    def test_paths_have_the_shape_asked_for(self, prior):
        x, rng = contract_points(), np.random.default_rng(0)

        assert prior.sample(x, rng).shape == (len(x),)
        assert prior.sample(x, rng, n=3).shape == (3, len(x))
        assert prior.sample(x, rng, n=0).shape == (0, len(x))

    def test_the_same_seed_gives_the_same_path(self, prior):
        x = contract_points()
        first, second, other = (prior.sample(x, np.random.default_rng(s), n=2) for s in (1, 1, 2))

        assert_array_equal(first, second)
        assert not np.allclose(first, other)

    def test_paths_have_the_covariance(self, prior, kernel):
        """4,000 paths at six points, every second moment within five standard errors."""
        x = contract_points()
        paths = prior.sample(x, np.random.default_rng(11), n=PATHS)
        expected = kernel(x, x)

        assert np.abs(covariance_errors(paths, expected)).max() < 5
        assert np.abs(paths.mean(axis=0) / np.sqrt(np.diag(expected) / PATHS)).max() < 5


class TestHatsOfOrderOne(PriorContract):
    name = "hats 0.5"


class TestHatsOfOrderTwo(PriorContract):
    name = "hats 1"


class TestHatsOfOrderThree(PriorContract):
    name = "hats 1.5"


class TestHatsOfOrderFour(PriorContract):
    name = "hats 2"


class TestLumpedHatsOfOrderOne(PriorContract):
    name = "lumped 0.5"


class TestLumpedHatsOfOrderTwo(PriorContract):
    name = "lumped 1"


class TestLumpedHatsOfOrderThree(PriorContract):
    name = "lumped 1.5"


class TestLumpedHatsOfOrderFour(PriorContract):
    name = "lumped 2"


class TestRobinVerticesOfOrderOne(PriorContract):
    name = "robin 0.5"


class TestRobinVerticesOfOrderTwo(PriorContract):
    name = "robin 1"


class TestRobinVerticesOfOrderThree(PriorContract):
    name = "robin 1.5"


class TestRobinVerticesOfOrderFour(PriorContract):
    name = "robin 2"


class TestConstantVarianceOfOrderOne(PriorContract):
    name = "constant 0.5"


class TestConstantVarianceOfOrderTwo(PriorContract):
    name = "constant 1"


class TestConstantVarianceOfOrderThree(PriorContract):
    name = "constant 1.5"


class TestConstantVarianceOfOrderFour(PriorContract):
    name = "constant 2"


class TestMeshFreeOfOrderOne(PriorContract):
    name = "mesh-free 0.5"


class TestMeshFreeOfOrderTwo(PriorContract):
    name = "mesh-free 1"


class TestMeshFreeOfOrderThree(PriorContract):
    name = "mesh-free 1.5"


class TestMeshFreeOfOrderFour(PriorContract):
    name = "mesh-free 2"


class TestMeshFreeWithRobinVerticesOfOrderOne(PriorContract):
    name = "mesh-free-robin 0.5"


class TestMeshFreeWithRobinVerticesOfOrderTwo(PriorContract):
    name = "mesh-free-robin 1"


class TestMeshFreeWithRobinVerticesOfOrderThree(PriorContract):
    name = "mesh-free-robin 1.5"


class TestMeshFreeWithRobinVerticesOfOrderFour(PriorContract):
    name = "mesh-free-robin 2"


class TestMeshFreeWithConstantVarianceOfOrderOne(PriorContract):
    name = "mesh-free-constant 0.5"


class TestMeshFreeWithConstantVarianceOfOrderTwo(PriorContract):
    name = "mesh-free-constant 1"


class TestMeshFreeWithConstantVarianceOfOrderThree(PriorContract):
    name = "mesh-free-constant 1.5"


class TestMeshFreeWithConstantVarianceOfOrderFour(PriorContract):
    name = "mesh-free-constant 2"


class TestFractionalSpectral(PriorContract):
    name = "spectral 0.75"


class TestFractionalSpectralWithConstantVariance(PriorContract):
    name = "spectral-constant 0.75"


class TestFractionalBelowOneHalf(PriorContract):
    name = "fractional 0.4"


class TestFractionalAboveOneHalf(PriorContract):
    name = "fractional 0.75"


class TestFractionalAboveOne(PriorContract):
    name = "fractional 1.25"


class TestEuclideanOneHalf(PriorContract):
    name = "euclidean 0.5"


class TestEuclideanThreeHalves(PriorContract):
    name = "euclidean 1.5"


class TestEuclideanFiveHalves(PriorContract):
    name = "euclidean 2.5"


class TestSumOfNetworkAndEuclidean(PriorContract):
    name = "hats 1 + euclidean 0.5"


class TestSumOfConstantVarianceAndSpectral(PriorContract):
    name = "constant 0.5 + spectral 0.75 + euclidean 2.5"
