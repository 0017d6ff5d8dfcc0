"""What holds for every prior: the contract of plug-ins, and the kernel of an independent computation."""

import pytest
from numpy.testing import assert_allclose

from netbo import testing
from netbo.priors import DensePrior
from support.contract_cases import case_of
from support.reference import contract_graph, contract_points, contract_space


class PriorContract(testing.PriorContract):
    """Names the prior of `case_of`; it is tested inside cells, at nodes and at a vertex."""

    name: str
    graph, few_points = contract_graph(), contract_points()
    many_points = contract_space().nodes

    def make_prior(self):
        return case_of(self.name).prior

    @pytest.fixture
    def prior(self):
        return self.make_prior()

    @pytest.fixture
    def kernel(self):
        return case_of(self.name).kernel

    def test_ours_are_all_known_by_their_kernel(self, prior):
        assert isinstance(prior, DensePrior)

    def test_covariance_is_that_of_the_twin(self, prior, kernel):
        """Dense matrices by loops, or Bessel functions; more points on either side."""
        x, y = contract_points(), contract_space().nodes

        assert_allclose(prior.covariance(x, y), kernel(x, y), rtol=1e-9, atol=1e-11)
        assert_allclose(prior.covariance(y, x), kernel(y, x), rtol=1e-9, atol=1e-11)

    def test_a_longer_range_joins_what_is_apart(self, prior):
        x = contract_points()
        longer = prior.rescaled(range=3 * prior.range)

        assert longer.covariance(x, x)[0, 1] > prior.covariance(x, x)[0, 1]


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


class TestEdgewise(PriorContract):
    name = "edgewise 1"
