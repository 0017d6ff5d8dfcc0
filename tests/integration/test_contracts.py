"""The contracts of netbo.testing: our readers and storages pass them, and broken plug-ins do not."""

from dataclasses import dataclass, replace

import networkx
import numpy as np
import pytest

import netbo
from netbo import testing
from netbo.priors import KernelPrior


class TestReaderOfNetworkx(testing.ReaderContract):
    def make_network(self):
        streets = networkx.grid_2d_graph(3, 4)
        networkx.set_edge_attributes(streets, 2.5, "length")
        return netbo.read(streets)


class TestReaderOfGraphs(testing.ReaderContract):
    def make_network(self):
        return netbo.read(testing.contract_graph())


class TestReaderOfLines(testing.ReaderContract):
    """Two streets that cross without a vertex, noded: the user's ids are not those of the pieces."""

    def make_network(self):
        import geopandas
        import shapely

        streets = [shapely.LineString([(0, 0), (800, 0)]), shapely.LineString([(500, -200), (500, 400)])]
        frame = geopandas.GeoDataFrame({"name": ["High", "Mill"]}, geometry=streets, crs="EPSG:32633")
        return netbo.read(frame, node=True)


class TestJournal(testing.StorageContract):
    @pytest.fixture(autouse=True)
    def _folder(self, tmp_path):
        self.path = tmp_path / "contract.journal"

    def make_storage(self):
        return self.path


class TestSqlite(TestJournal):
    def make_storage(self):
        return f"sqlite:///{self.path}"


@dataclass(frozen=True, eq=False)
class Exponential(KernelPrior):
    """Positive on trees; the derivative may be forgotten."""

    graph: netbo.MetricGraph
    range: float = 1.0
    sigma: float = 1.0
    slope: float = 2.0

    def covariance(self, x, y):
        return self.sigma**2 * np.exp(-2 * self.graph.distance(x, y) / self.range)

    def variance(self, x):
        return np.full(len(x), self.sigma**2)

    def rescaled(self, *, range=None, sigma=None):  # noqa: A002
        return replace(self, range=range or self.range, sigma=sigma or self.sigma)

    def range_derivative(self, x, y):
        return self.slope * self.graph.distance(x, y) / self.range * self.covariance(x, y)

    def range_derivative_of_variance(self, x):
        return np.zeros(len(x))


class TestKernelOfAStranger(testing.PriorContract):
    graph = netbo.star(3, length=2.0)

    def make_prior(self):
        return Exponential(self.graph)


def test_a_wrong_derivative_does_not_pass():
    class Wrong(TestKernelOfAStranger):
        def make_prior(self):
            return Exponential(self.graph, slope=1.0)

    with pytest.raises(AssertionError):
        Wrong().test_the_range_derivative_is_that_of_differences()


def test_an_acquisition_without_scores_does_not_pass():
    class Nothing:
        hallucinates = True

        def scores(self, surrogate, x, rng):
            return np.full(len(x), np.nan)

    class Broken(testing.AcquisitionContract):
        def make_acquisition(self):
            return Nothing()

    with pytest.raises(AssertionError):
        Broken().test_every_candidate_has_one_score()


def test_a_storage_that_forgets_does_not_pass(tmp_path):
    class Forgetful(testing.StorageContract):
        count = 0

        def make_storage(self):
            self.count += 1
            return tmp_path / f"{self.count}.journal"

        def reopen(self, storage):
            fresh = self.make_storage()
            netbo.Study.create(testing.contract_graph(), name="contract", storage=fresh, **self.settings)
            return fresh

    with pytest.raises((AssertionError, netbo.errors.BaseError)):
        Forgetful().test_what_was_told_is_there_when_it_is_opened_again()
