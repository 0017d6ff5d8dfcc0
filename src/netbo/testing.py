"""Contracts that every plug-in must pass: inherit one in a test class and say what is to be tested.

    class TestMyKernel(netbo.testing.PriorContract):
        def make_prior(self):
            return MyKernel(self.graph, range=1.0)

pytest then runs each claim; the classes themselves do not need it. Our own priors, acquisitions, readers and
storages pass the same ones.
"""

from abc import ABC, abstractmethod
from collections.abc import Mapping
from functools import cached_property
from types import MappingProxyType
from typing import Any

import numpy as np
from numpy.testing import assert_allclose, assert_array_equal, assert_equal

from netbo.acquisition import Acquisition
from netbo.adapters import Network
from netbo.arrays import FloatArray
from netbo.fem import FiniteElementSpace
from netbo.geometry import MetricGraph, Points, uniform_points
from netbo.optimize import Optimizer
from netbo.posterior import Observations, condition
from netbo.priors import DensePrior, Matern, Prior, whittle_matern
from netbo.studies import Study

__all__ = ["AcquisitionContract", "PriorContract", "ReaderContract", "StorageContract", "contract_graph"]

PATHS = 4000  # sample paths of a Monte Carlo claim
MOST_ERRORS = 5  # standard errors: one of 36 moments exceeds this once in 50,000 runs
STEP = 1e-5  # of central differences in logarithms: leaves about 1e-9


def contract_graph() -> MetricGraph:
    """A drawn network with a loop, parallel edges, a dead end and a second component."""
    bend = [[1.0, 0.0], [1.5, 0.8], [2.0, 0.0]]
    ring = [[2.0, 0.0], [2.6, 0.5], [2.9, 0.0], [2.6, -0.5], [2.0, 0.0]]
    curves = [None, None, bend, ring, None, None]
    positions = [[0.0, 0.0], [1.0, 0.0], [2.0, 0.0], [2.0, -1.5], [0.0, 2.0], [1.4, 2.0]]
    return MetricGraph([0, 1, 1, 2, 2, 4], [1, 2, 2, 2, 3, 5], None, positions=positions, curves=curves)


def covariance_errors(draws: FloatArray, covariance: FloatArray) -> FloatArray:
    """Second moments of centred draws (n, m) against their covariance, in standard errors."""
    variance, n = np.diag(covariance), len(draws)
    standard_error = np.sqrt((np.outer(variance, variance) + covariance**2) / n)
    errors: FloatArray = (draws.T @ draws / n - covariance) / standard_error
    return errors


class _OnGraph:
    """The network on which a contract is tested, and points of it."""

    @cached_property
    def graph(self) -> MetricGraph:
        """The network; replace it if the plug-in lives on networks of one kind."""
        return contract_graph()

    @cached_property
    def few_points(self) -> Points:
        """Six points at random."""
        return uniform_points(self.graph, 6, np.random.default_rng(6))

    @cached_property
    def many_points(self) -> Points:
        """Thirty points at random, and the six."""
        more = uniform_points(self.graph, 30, np.random.default_rng(30))
        return Points.concatenate([more, self.few_points])


class PriorContract(_OnGraph, ABC):
    """What holds for every prior."""

    @abstractmethod
    def make_prior(self) -> Prior:
        """The prior, on `self.graph`."""

    def test_it_is_a_prior_of_its_network(self) -> None:
        prior = self.make_prior()

        assert isinstance(prior, Prior)
        assert prior.graph is self.graph

    def test_covariance_is_symmetric_and_positive(self) -> None:
        covariance = self.make_prior().covariance(self.many_points, self.many_points)

        assert_allclose(covariance, covariance.T, rtol=1e-11, atol=1e-13 * covariance.max())
        assert np.linalg.eigvalsh(covariance).min() > -1e-11 * covariance.max()

    def test_variance_is_the_diagonal(self) -> None:
        prior, x = self.make_prior(), self.many_points

        assert_allclose(prior.variance(x), np.diag(prior.covariance(x, x)), rtol=1e-10)

    def test_sigma_multiplies_and_the_range_stays(self) -> None:
        prior, x = self.make_prior(), self.few_points
        doubled = prior.rescaled(sigma=2 * prior.sigma)

        assert_allclose([doubled.range, doubled.sigma], [prior.range, 2 * prior.sigma], rtol=1e-13)
        assert_allclose(doubled.covariance(x, x), 4 * prior.covariance(x, x), rtol=1e-11)
        assert_allclose(doubled.variance(x), 4 * prior.variance(x), rtol=1e-11)

    def test_another_range_is_another_kernel_of_the_same_sigma(self) -> None:
        prior, x = self.make_prior(), self.few_points
        longer = prior.rescaled(range=3 * prior.range)

        assert_allclose([longer.range, longer.sigma], [3 * prior.range, prior.sigma], rtol=1e-13)
        assert np.abs(longer.covariance(x, x) - prior.covariance(x, x)).max() > 0

    def test_the_range_derivative_is_that_of_differences(self) -> None:
        """In log range at fixed sigma, for priors known by their kernel."""
        prior, x, y = self.make_prior(), self.few_points, self.many_points
        if not isinstance(prior, DensePrior):
            return
        up, down = (prior.rescaled(range=prior.range * np.exp(s)) for s in (STEP, -STEP))
        slope = (up.covariance(x, y) - down.covariance(x, y)) / (2 * STEP)
        of_variance = (up.variance(y) - down.variance(y)) / (2 * STEP)
        scale = 1e-8 * prior.sigma**2

        assert_allclose(prior.range_derivative(x, y), slope, rtol=1e-6, atol=scale)
        assert_allclose(prior.range_derivative(y, x), slope.T, rtol=1e-6, atol=scale)
        assert_allclose(prior.range_derivative_of_variance(y), of_variance, rtol=1e-6, atol=scale)

    def test_paths_have_the_shape_asked_for_and_follow_the_seed(self) -> None:
        prior, x = self.make_prior(), self.few_points
        first, second, other = (prior.sample(x, np.random.default_rng(seed), n=2) for seed in (1, 1, 2))

        assert_equal(prior.sample(x, np.random.default_rng(0)).shape, (len(x),))
        assert_equal(prior.sample(x, np.random.default_rng(0), n=0).shape, (0, len(x)))
        assert_equal(first.shape, (2, len(x)))
        assert_array_equal(first, second)
        assert not np.allclose(first, other)

    def test_paths_have_the_covariance(self) -> None:
        """Every mean and second moment of 4,000 paths at six points within five standard errors."""
        prior, x = self.make_prior(), self.few_points
        paths, expected = prior.sample(x, np.random.default_rng(11), n=PATHS), prior.covariance(x, x)

        assert np.abs(covariance_errors(paths, expected)).max() < MOST_ERRORS
        assert np.abs(paths.mean(axis=0) / np.sqrt(np.diag(expected) / PATHS)).max() < MOST_ERRORS

    def test_conditioning_is_gaussian_regression(self) -> None:
        """eq:postmean and eq:postcov with dense inverses, the mean known."""
        prior, x, noise = self.make_prior(), self.many_points, 0.05 * self.make_prior().sigma ** 2
        data = Observations(self.few_points, np.random.default_rng(5).standard_normal(6))
        posterior = condition(prior, data, regularization=noise)
        T = prior.covariance(data.points, data.points) + noise * np.eye(len(data))
        k = prior.covariance(x, data.points)
        covariance = prior.covariance(x, x) - k @ np.linalg.solve(T, k.T)

        assert_allclose(posterior.mean(x), k @ np.linalg.solve(T, data.values), rtol=1e-7, atol=1e-7)
        assert_allclose(posterior.covariance(x, x), covariance, rtol=1e-7, atol=1e-8 * prior.sigma**2)


class AcquisitionContract(_OnGraph, ABC):
    """What holds for every acquisition rule."""

    @abstractmethod
    def make_acquisition(self) -> Acquisition:
        """The rule."""

    def make_posterior(self, n: int = 10) -> Any:
        """A posterior of n noisy values, so that the incumbent is in doubt."""
        space = FiniteElementSpace.build(self.graph, max_cell=self.graph.total_length / 40)
        prior = whittle_matern(space, Matern(alpha=1.0, range=self.graph.diameter / 2, sigma=1.3))
        rng = np.random.default_rng(5)
        data = Observations(uniform_points(self.graph, n, rng), rng.standard_normal(n))
        return condition(prior, data, regularization=0.05, mean=0.3)

    def _scores(self, seed: int = 3, **chosen: Any) -> FloatArray:
        posterior, x = chosen.get("posterior"), chosen.get("x", self.many_points)
        given = self.make_posterior() if posterior is None else posterior
        return self.make_acquisition().scores(given, x, np.random.default_rng(seed))

    def test_every_candidate_has_one_score(self) -> None:
        scores = self._scores()

        assert isinstance(self.make_acquisition(), Acquisition)
        assert_equal(scores.shape, (len(self.many_points),))
        assert not np.isnan(scores).any()
        assert np.isfinite(scores.max())

    def test_no_candidates_have_no_scores(self) -> None:
        assert_equal(self._scores(x=self.many_points[:0]).shape, (0,))

    def test_without_observations_there_are_scores(self) -> None:
        assert np.isfinite(self._scores(posterior=self.make_posterior(0))).all()

    def test_the_same_seed_gives_the_same_scores(self) -> None:
        assert_array_equal(self._scores(seed=3), self._scores(seed=3))

    def test_a_rule_that_draws_nothing_lets_pending_places_repel(self) -> None:
        """A random rule needs no hallucination: its next draw differs anyway."""
        rng = np.random.default_rng(3)
        before = rng.bit_generator.state
        self.make_acquisition().scores(self.make_posterior(), self.many_points, rng)
        draws = rng.bit_generator.state != before

        assert self.make_acquisition().hallucinates is (not draws)

    def test_an_optimizer_asks_by_it(self) -> None:
        """Six places in a row on the nodes of a mesh, the batch included, all of them on the network."""
        optimizer = Optimizer(self.graph, acquisition=self.make_acquisition(), noise=0.01, max_cell=0.5)
        for step in range(optimizer.design.size):
            optimizer.tell(optimizer.ask(), np.sin(step))
        batch = optimizer.ask(6)

        assert len({(each.point.edge, each.point.z) for each in batch}) > 1
        assert all(0 <= each.point.z <= self.graph.lengths[each.point.edge] for each in batch)


class ReaderContract(ABC):
    """What holds for every reader of networks."""

    @abstractmethod
    def make_network(self) -> Network:
        """What the reader makes of a file or an object."""

    def test_it_is_a_network_with_a_report(self) -> None:
        network = self.make_network()

        assert isinstance(network, Network)
        assert_equal(network.report.n_edges, network.graph.n_edges)
        assert network.report.source
        assert str(network.report)

    def test_the_users_addresses_lead_back_to_the_same_place(self) -> None:
        """A point has the user's own edge id and distance, and they find it again."""
        network = self.make_network()
        points = uniform_points(network.graph, 50, np.random.default_rng(0))
        addresses = network.address(points)
        found = network.points([each.edge_id for each in addresses], [each.distance for each in addresses])
        apart = np.diag(network.graph.distance(points, found))

        assert_allclose(apart, 0.0, atol=1e-9 * network.graph.total_length)

    def test_it_can_be_searched(self) -> None:
        optimizer = Optimizer(self.make_network().graph, noise=0.01)
        suggestion = optimizer.ask()

        assert_equal(optimizer.tell(suggestion, 1.0), [suggestion.id])


class StorageContract(ABC):
    """What holds for every storage of studies."""

    settings: Mapping[str, Any] = MappingProxyType({"noise": 0.01, "seed": 3, "max_cell": 0.5, "design": 4})

    @abstractmethod
    def make_storage(self) -> Any:
        """A storage without studies, as `Study.create(storage=...)` takes it; a new one at each call."""

    def reopen(self, storage: Any) -> Any:
        """The same storage as another process would open it."""
        return storage

    def _study(self) -> tuple[Study, Any]:
        storage = self.make_storage()
        return Study.create(contract_graph(), name="contract", storage=storage, **self.settings), storage

    def test_what_was_told_is_there_when_it_is_opened_again(self) -> None:
        study, storage = self._study()
        first, second, third = study.ask(3)
        study.tell(first, 0.25)
        study.tell(second, "failed")
        again = Study.load(self.reopen(storage), "contract")

        assert_equal(again.best().value, 0.25)
        assert_equal([record.id for record in again.pending], [third.id])
        assert_equal(again.n_told, 2)  # a failure is an answer

    def test_a_correction_replaces_the_value_and_a_withdrawal_removes_it(self) -> None:
        study, storage = self._study()
        first, second = study.ask(2)
        study.tell(first, 1.0)
        study.tell(second, 2.0)
        study.correct(first, 5.0)
        study.withdraw(second)
        again = Study.load(self.reopen(storage), "contract")

        assert_equal(again.optimizer.observations.values.tolist(), [5.0])

    def test_it_asks_what_an_optimizer_asks(self) -> None:
        """Opened anew for every trial: the next place depends on what is stored, on nothing else."""
        study, storage = self._study()
        twin = Optimizer(study.graph, **{**self.settings, "design": study.optimizer.design})
        for step in range(8):
            opened, expected = Study.load(self.reopen(storage), "contract"), twin.ask()
            asked = opened.ask()
            twin.tell(expected, np.cos(step))
            opened.tell(asked, np.cos(step))

            assert_equal((asked.point.edge, asked.point.z), (expected.point.edge, expected.point.z))
