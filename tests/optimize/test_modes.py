import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy.stats import norm

from netbo import FiniteElementSpace, Matern, Observations, condition, interval, star, whittle_matern
from netbo.errors import ParameterError
from netbo.geometry import MetricGraph
from netbo.optimize.maximizer import MaximizerSamples, modes
from netbo.optimize.search_space import Nodes, Places
from support.strategies import metric_graphs, points_on, seeds


class Flat:
    """A stand-in for a model: mean x.z, standard deviation 2."""

    def mean(self, x):
        return x.z

    def std(self, x):
        return np.full(len(x), 2.0)


def samples_with(counts: list[int]) -> MaximizerSamples:
    index = np.repeat(np.arange(len(counts)), counts)
    return MaximizerSamples(index, np.zeros(len(index)), n_candidates=len(counts))


def line(z: list[float]) -> Places:
    graph = interval(10.0)
    return Places(graph, graph.points(0, z))


@st.composite
def graphs_with_draws(draw):
    graph = draw(metric_graphs())
    search = Places(graph, draw(points_on(graph, max_size=12)))
    rng = np.random.default_rng(draw(seeds()))
    counts = rng.integers(0, 5, len(search.points))
    counts[0] += 1
    return search, samples_with(counts.tolist()), draw(st.integers(1, 5)), draw(st.floats(0.0, 5.0))


@given(graphs_with_draws())
def test_modes_are_apart_and_share_the_draws(case):
    search, samples, k, separation = case
    found = modes(samples, Flat(), search, k, separation)
    at = search.graph.points([mode.point.edge_id for mode in found], [mode.point.distance for mode in found])
    distance = search.graph.distance(at, at)
    np.fill_diagonal(distance, np.inf)
    total = sum(mode.probability for mode in found)

    assert 1 <= len(found) <= k
    assert (distance > separation).all()
    assert total <= 1 + 1e-12
    assert len(found) == k or total == pytest.approx(1.0)
    assert [mode.probability for mode in found] == sorted((m.probability for m in found), reverse=True)


def test_a_mode_takes_what_is_near_and_the_next_comes_from_the_rest():
    """Draws at 0, 1, 2 | 5, 6; the peak at 1 takes its neighbours, then 6 takes 5."""
    search = line([0.0, 1.0, 2.0, 5.0, 6.0, 9.0])
    first, second = modes(samples_with([1, 4, 1, 1, 3, 0]), Flat(), search, 5, 1.0)

    assert (first.point.distance, first.probability) == (1.0, 0.6)
    assert (second.point.distance, second.probability) == (6.0, 0.4)


def test_the_most_probable_mode_is_first_although_another_was_the_higher_peak():
    search = line([0.0, 4.0, 4.5, 5.0])
    found = modes(samples_with([4, 2, 3, 2]), Flat(), search, 2, 1.0)

    assert [mode.point.distance for mode in found] == [4.5, 0.0]
    assert [mode.probability for mode in found] == pytest.approx([7 / 11, 4 / 11])


def test_of_equally_probable_candidates_the_larger_mean_is_the_centre():
    search = line([1.0, 3.0, 2.0])

    assert modes(samples_with([2, 2, 2]), Flat(), search, 1, 10.0)[0].point.distance == 3.0


def test_separation_is_measured_along_the_network():
    """Tips of a star are 2 apart by road although 1.41 by air."""
    graph = star(4)
    search = Places(graph, graph.points(range(4), 1.0))

    assert len(modes(samples_with([1, 1, 1, 1]), Flat(), search, 4, 1.9)) == 4
    assert len(modes(samples_with([1, 1, 1, 1]), Flat(), search, 4, 2.0)) == 1


def test_the_interval_has_the_quantiles_of_the_model():
    graph = interval(3.0)
    space = FiniteElementSpace.build(graph, max_cell=0.1)
    prior = whittle_matern(space, Matern(alpha=1.0, range=1.0, sigma=1.0))
    posterior = condition(prior, Observations(graph.points(0, [1.0, 2.0]), [1.0, 0.5]), regularization=0.01)
    search = Nodes(space)
    samples = MaximizerSamples.draw(posterior, search, np.random.default_rng(1), 300)
    for mode in modes(samples, posterior, search, 3, 0.5, level=0.9):
        x = graph.points(mode.point.edge_id, mode.point.distance)
        value = norm(posterior.mean(x)[0], posterior.std(x)[0])

        assert (mode.low, mode.high) == pytest.approx((value.ppf(0.05), value.ppf(0.95)), rel=1e-9)
        assert mode.mean == pytest.approx(value.mean(), rel=1e-12)


def test_the_error_is_the_spread_over_repeated_draws():
    """400 repeats of 50 draws at p = 0.3: the standard deviation is known to 3.5 %."""
    rng = np.random.default_rng(2)
    search = line([0.0, 5.0])
    found = []
    for _ in range(400):
        first = rng.binomial(50, 0.3)
        near = modes(samples_with([first, 50 - first]), Flat(), search, 2, 1.0)
        found.append(next(mode for mode in near if mode.point.distance == 0.0))

    assert np.std([mode.probability for mode in found]) == pytest.approx(np.sqrt(0.3 * 0.7 / 50), rel=0.14)
    assert np.mean([mode.probability_error for mode in found]) == pytest.approx(
        np.sqrt(0.3 * 0.7 / 50), rel=0.03
    )


def test_each_mode_costs_one_search(monkeypatch):
    search = line([0.0, 2.0, 4.0, 6.0, 8.0])
    searched = []
    original = MetricGraph.distance
    monkeypatch.setattr(
        MetricGraph, "distance", lambda self, x, y: searched.append(len(x)) or original(self, x, y)
    )
    modes(samples_with([1, 1, 1, 1, 1]), Flat(), search, 3, 1.0)

    assert searched == [1, 1, 1]


@pytest.mark.parametrize(
    ("k", "separation", "level", "message"),
    [
        (0, 1.0, 0.95, r"k counts the modes to find, got 0"),
        (1, -1.0, 0.95, r"separation must be a length, not negative, got -1.0"),
        (1, np.nan, 0.95, r"separation must be a length, not negative, got nan"),
        (1, 1.0, 1.0, r"level must lie between 0 and 1, got 1.0"),
        (1, 1.0, 0.0, r"level must lie between 0 and 1, got 0.0"),
    ],
)
def test_settings_are_checked(k, separation, level, message):
    with pytest.raises(ParameterError, match=message):
        modes(samples_with([1]), Flat(), line([0.0]), k, separation, level=level)


def test_samples_of_another_search_space_are_refused():
    with pytest.raises(ParameterError, match=r"drawn at 2 candidates, got a search space of 1"):
        modes(samples_with([1, 1]), Flat(), line([0.0]), 1, 1.0)
