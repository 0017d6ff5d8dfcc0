from dataclasses import dataclass

import numpy as np
import pytest
from numpy.testing import assert_allclose, assert_array_equal
from scipy.stats import norm

from netbo import FiniteElementSpace, Matern, Observations, condition, interval, star, whittle_matern
from netbo.errors import NumericalError, ParameterError
from netbo.optimize import Continuum, maximizer
from netbo.optimize.maximizer import MaximizerSamples, default_draws
from netbo.optimize.search_space import Forbidden, Nodes, Places
from netbo.posterior import Surrogate


@dataclass
class Independent:
    """A stand-in for a model: independent normal values, (mean, std) by candidate."""

    mean_values: np.ndarray
    std_values: np.ndarray

    def sample(self, x, rng, *, scale=1.0, n=None):
        return self.mean_values + scale * self.std_values * rng.standard_normal((n, len(x)))


def three_places() -> Places:
    graph = interval()
    return Places(graph, graph.points(0, [0.0, 0.5, 1.0]))


def star_posterior() -> tuple[Nodes, Surrogate]:
    """A star of four equal arms, measured in the same way on each."""
    graph = star(4)
    search = Nodes(FiniteElementSpace.build(graph, max_cell=0.1))
    prior = whittle_matern(search.space, Matern(alpha=1.0, range=0.7, sigma=1.0))
    x = graph.points([0, 0, 1, 2, 3], [0.0, 0.5, 0.5, 0.5, 0.5])
    return search, condition(prior, Observations(x, [0.3, 0.1, 0.1, 0.1, 0.1]), regularization=1e-4)


def test_of_two_normal_values_the_larger_is_known_in_closed_form():
    """P(a > b) = Phi((m_a - m_b) / sqrt(s_a^2 + s_b^2)); 20,000 draws: standard error below 0.0036."""
    model = Independent(np.array([0.4, 0.0, -100.0]), np.array([0.5, 1.0, 1.0]))
    samples = MaximizerSamples.draw(model, three_places(), np.random.default_rng(1), 20_000)
    expected = norm.cdf(0.4 / np.sqrt(1.25))

    assert samples.probability == pytest.approx([expected, 1 - expected, 0.0], abs=4 * 0.0036)


def test_the_value_is_that_of_the_path_at_its_maximizer():
    """E max(a, b) of two standard normals is 1 / sqrt(pi), its variance 1 - 1 / pi: standard error 0.0058."""
    model = Independent(np.array([0.0, 0.0, -100.0]), np.ones(3))
    samples = MaximizerSamples.draw(model, three_places(), np.random.default_rng(2), 20_000)

    assert samples.value.mean() == pytest.approx(1 / np.sqrt(np.pi), abs=4 * 0.0058)


def test_a_model_that_is_certain_has_one_maximizer():
    graph = interval(4.0)
    search = Nodes(FiniteElementSpace.build(graph, max_cell=0.25))
    prior = whittle_matern(search.space, Matern(alpha=1.0, range=1.0, sigma=1.0))
    values = np.where(search.points.z == 1.25, 5.0, 0.0)
    posterior = condition(prior, Observations(search.points, values), regularization=1e-4)
    samples = MaximizerSamples.draw(posterior, search, np.random.default_rng(3), 500)

    assert search.points.z[np.argmax(samples.probability)] == 1.25
    assert samples.probability.max() == 1.0
    assert_allclose(samples.value, 5.0, atol=0.1)


def test_equal_arms_are_equally_likely_to_hold_the_maximum():
    """4,000 draws: the standard error of an arm's share is below 0.0069."""
    search, posterior = star_posterior()
    samples = MaximizerSamples.draw(posterior, search, np.random.default_rng(4), 4000)
    arm = np.where(search.points.z == 0, 4, search.points.edge)  # 4 stands for the centre
    share = np.bincount(arm, samples.probability, minlength=5)

    assert share[:4] == pytest.approx((1 - share[4]) / 4, abs=4 * 0.0069)


def test_probabilities_sum_to_one_and_one_seed_gives_one_answer():
    search, posterior = star_posterior()
    one, two = (MaximizerSamples.draw(posterior, search, np.random.default_rng(5), 100) for _ in range(2))

    assert one.probability.sum() == pytest.approx(1.0, rel=1e-12)
    assert one.probability.shape == (len(search.points),)
    assert_array_equal(one.index, two.index)
    assert_array_equal(one.value, two.value)
    assert_array_equal(one.counts, one.probability * 100)


def test_forbidden_places_are_never_the_maximizer():
    search, posterior = star_posterior()
    half = Nodes(search.space, Forbidden(edges=[0, 1]))
    samples = MaximizerSamples.draw(posterior, half, np.random.default_rng(6), 200)
    found = half.points[samples.index]

    assert ((found.edge >= 2) | (found.z == 0)).all()


def test_batches_hold_no_more_than_the_limit(monkeypatch):
    sizes = []

    class Recording(Independent):
        def sample(self, x, rng, *, scale=1.0, n=None):
            sizes.append(n)
            return super().sample(x, rng, scale=scale, n=n)

    model = Recording(np.zeros(3), np.ones(3))
    whole = MaximizerSamples.draw(model, three_places(), np.random.default_rng(7), 25)
    monkeypatch.setattr(maximizer, "MAX_ENTRIES", 30)
    parts = MaximizerSamples.draw(model, three_places(), np.random.default_rng(7), 25)
    monkeypatch.setattr(maximizer, "MAX_ENTRIES", 1)
    MaximizerSamples.draw(model, three_places(), np.random.default_rng(7), 2)

    assert sizes == [25, 10, 10, 5, 1, 1]
    assert_array_equal(parts.index, whole.index)  # a stream of normals does not care how it is cut
    assert_array_equal(parts.value, whole.value)


@pytest.mark.parametrize(("n", "draws"), [(1, 1000), (4000, 1000), (10_000, 400), (10**6, 64)])
def test_default_draws_fall_with_the_candidates(n, draws):
    assert default_draws(n) == draws


def test_the_default_number_is_drawn_when_none_is_given():
    samples = MaximizerSamples.draw(
        Independent(np.zeros(3), np.ones(3)), three_places(), np.random.default_rng(8)
    )

    assert len(samples) == 1000


def test_at_least_one_path_is_drawn():
    with pytest.raises(ParameterError, match=r"n counts sample paths, got 0; draw at least one"):
        MaximizerSamples.draw(
            Independent(np.zeros(3), np.ones(3)), three_places(), np.random.default_rng(9), 0
        )


@pytest.mark.parametrize("bad", [np.nan, np.inf])
def test_paths_without_a_finite_maximum_are_an_error(bad):
    model = Independent(np.array([0.0, bad, 0.0]), np.ones(3))

    with pytest.raises(NumericalError, match=r"5 of 5 sample paths have no finite maximum"):
        MaximizerSamples.draw(model, three_places(), np.random.default_rng(10), 5)


def test_samples_belong_to_their_search_space():
    samples = MaximizerSamples(np.array([0]), np.array([1.0]), n_candidates=2)

    with pytest.raises(
        ParameterError, match=r"drawn at 2 candidates, got a search space of 3; draw them again"
    ):
        samples.require_of(three_places())


def test_a_measured_place_between_candidates_counts_for_the_one_of_its_stretch():
    """The best of exact values lies off the grid: no path is larger at a grid point."""
    graph = interval(4.0)
    search = Continuum(graph, n_points=9)
    x = graph.points(0, [0.1, 1.13, 2.2, 3.4])
    prior = whittle_matern(graph, Matern(alpha=1.0, range=8.0, sigma=1.0))
    posterior = condition(prior, Observations(x, [0.0, 3.0, 0.1, 0.0]), regularization=1e-8)
    rng = np.random.default_rng(8)
    with_them = MaximizerSamples.draw(posterior, search, rng, 300, places=x)
    without = MaximizerSamples.draw(posterior, search, rng, 300)
    winner = int(np.argmin(np.abs(search.points.z - 1.13)))

    assert (with_them.value >= 3.0 - 1e-3).all()
    assert (without.value < 3.0).mean() > 0.5
    assert with_them.probability[winner] > 0.95
    assert with_them.n_candidates == len(search.points)


def test_a_search_among_candidates_has_no_places_between_them():
    search, posterior = star_posterior()
    places = search.graph.points(0, [0.123])
    one = MaximizerSamples.draw(posterior, search, np.random.default_rng(9), 50, places=places)
    two = MaximizerSamples.draw(posterior, search, np.random.default_rng(9), 50)

    assert_array_equal(one.value, two.value)


def test_places_where_nobody_may_measure_are_no_maximizers():
    graph = interval(4.0)
    search = Continuum(graph, n_points=9, forbidden=Forbidden(stretches=[(0, 1.0, 2.0)]))
    more, owner = search.between(graph.points(0, [0.3, 1.5, 3.3]))

    assert not ((more.z > 1.0) & (more.z < 2.0)).any()
    assert {0.3, 3.3} <= set(more.z.tolist())
    assert (np.abs(search.points.z[owner] - more.z) <= 0.5).all()
