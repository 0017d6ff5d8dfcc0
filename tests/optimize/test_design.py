import pickle
from dataclasses import replace
from itertools import combinations

import numpy as np
import pytest
from hypothesis import given, settings
from numpy.testing import assert_array_equal
from scipy.spatial.distance import cdist

from netbo import FiniteElementSpace, MetricGraph, Points, grid, interval, open_rectangle, uniform_points
from netbo.errors import GraphError, ParameterError
from netbo.optimize.design import KMedian, Maximin, Metric, RandomDesign, default_size
from support.strategies import metric_graphs, seeds


def all_of(points: Points) -> np.ndarray:
    return np.ones(len(points), dtype=bool)


def run(design, graph, candidates, n: int, seed: int) -> list[int]:
    """Indices of n places, the candidates chosen before being known; one generator for each step."""
    chosen: list[int] = []
    for step in range(n):
        rng = np.random.default_rng([seed, step])
        chosen.append(design.next(graph, candidates, candidates[chosen], all_of(candidates), rng))
    return chosen


def pieces_of_three_lengths() -> MetricGraph:
    return MetricGraph([0, 2, 3, 5], [1, 3, 4, 6], [1.0, 2.0, 3.0, 4.0])


@given(metric_graphs(), seeds())
def test_every_place_is_the_farthest_from_those_before(graph, seed):
    """Slow twin: the whole matrix of distances."""
    rng = np.random.default_rng(seed)
    candidates = uniform_points(graph, 15, rng)
    chosen = run(Maximin(), graph, candidates, 8, seed)
    distance = graph.distance(candidates, candidates)

    for step in range(1, 8):
        farness = distance[chosen[:step]].min(axis=0)
        assert farness[chosen[step]] == pytest.approx(farness.max(), rel=1e-12)


@given(metric_graphs(is_drawn=True), seeds())
def test_straight_distances_follow_the_drawing(graph, seed):
    candidates = uniform_points(graph, 15, np.random.default_rng(seed))
    chosen = run(Maximin(metric=Metric.EUCLIDEAN), graph, candidates, 8, seed)
    places = graph.embed(candidates)
    distance = cdist(places, places)

    for step in range(1, 8):
        farness = distance[chosen[:step]].min(axis=0)
        assert farness[chosen[step]] == pytest.approx(farness.max(), rel=1e-12)


@given(metric_graphs(), seeds())
@settings(max_examples=50)
def test_no_candidate_is_farther_than_twice_the_best_covering_radius(graph, seed):
    """Gonzalez (1985); the best of all subsets by enumeration."""
    rng = np.random.default_rng(seed)
    candidates = uniform_points(graph, 9, rng)
    distance = graph.distance(candidates, candidates)
    for n in range(graph.n_components, 5):
        chosen = run(Maximin(), graph, candidates, n, seed)
        best = min(distance[list(each)].min(axis=0).max() for each in combinations(range(9), n))

        assert distance[chosen].min(axis=0).max() <= 2 * best * (1 + 1e-12)


@pytest.mark.parametrize("seed", range(20))
def test_every_component_is_visited_before_any_is_visited_twice(seed):
    graph = pieces_of_three_lengths()
    nodes = FiniteElementSpace.build(graph, max_cell=0.25).nodes
    components = graph.component_of(nodes[run(Maximin(), graph, nodes, 3, seed)])

    assert sorted(components.tolist()) == [0, 1, 2]


def test_larger_components_come_first():
    graph = pieces_of_three_lengths()
    nodes = FiniteElementSpace.build(graph, max_cell=0.25).nodes
    known = graph.points(0, 0.5)
    second, third = (
        Maximin().next(graph, nodes, x, all_of(nodes), np.random.default_rng(1))
        for x in (known, Points.concatenate([known, graph.points(1, 0.5)]))
    )

    assert graph.component_of(nodes[[second, third]]).tolist() == [1, 2]


def test_in_an_unvisited_component_every_candidate_is_equally_likely():
    """2,000 draws over 5 candidates: standard error of each share 0.0089."""
    graph = MetricGraph([0, 2], [1, 3], [1.0, 1.0])
    candidates = graph.points([0] * 3 + [1] * 5, [0.0, 0.5, 1.0, 0.0, 0.25, 0.5, 0.75, 1.0])
    rng = np.random.default_rng(4)
    chosen = [Maximin().next(graph, candidates, candidates[:1], all_of(candidates), rng) for _ in range(2000)]

    assert np.bincount(chosen, minlength=8)[:3].tolist() == [0, 0, 0]
    assert np.bincount(chosen)[3:] / 2000 == pytest.approx(0.2, abs=4 * 0.0089)


def test_the_first_place_is_any_allowed_candidate():
    """2,000 draws over 4 candidates: standard error of each share 0.0097."""
    graph = interval()
    candidates = graph.points(0, np.linspace(0, 1, 8))
    allowed = np.arange(8) % 2 == 0
    none = Points([], [], graph=graph)
    rng = np.random.default_rng(5)
    for design in (Maximin(), RandomDesign()):
        chosen = [design.next(graph, candidates, none, allowed, rng) for _ in range(2000)]
        share = np.bincount(chosen, minlength=8) / 2000

        assert_array_equal(share[1::2], 0.0)
        assert share[::2] == pytest.approx(0.25, abs=4 * 0.0097)


def test_a_design_that_remembers_chooses_what_a_fresh_one_chooses():
    """Also when a pending place is withdrawn, so that there are fewer known places than before."""
    graph = grid(4, 5)
    nodes = FiniteElementSpace.build(graph, max_cell=0.3).nodes
    used = Maximin()
    order = run(used, graph, nodes, 10, seed=6)
    for known in (order[:9], order[3:7], order[::-1], order[:1]):
        rngs = [np.random.default_rng(7) for _ in range(2)]
        both = [
            design.next(graph, nodes, nodes[known], all_of(nodes), rng)
            for design, rng in zip((used, Maximin()), rngs, strict=True)
        ]

        assert both[0] == both[1]
    assert [run(Maximin(), graph, nodes, 10, seed=6) for _ in range(2)] == [order, order]


def test_a_design_goes_from_graph_to_graph():
    design = Maximin()
    for graph in (interval(1.0), interval(3.0)):
        candidates = graph.points(0, fraction=[0.0, 0.4, 1.0])

        assert design.next(graph, candidates, candidates[:1], all_of(candidates), None) == 2


def test_each_place_costs_one_search(monkeypatch):
    graph = grid(4, 5)
    nodes = FiniteElementSpace.build(graph, max_cell=0.3).nodes
    searched = []
    original = MetricGraph.distance
    monkeypatch.setattr(
        MetricGraph, "distance", lambda self, x, y: searched.append(len(x)) or original(self, x, y)
    )
    run(Maximin(), graph, nodes, 10, seed=6)

    assert searched == [1] * 9


def test_only_allowed_candidates_are_chosen():
    graph = interval()
    candidates = graph.points(0, [0.0, 0.3, 0.6, 1.0])
    chosen = Maximin().next(graph, candidates, candidates[:1], np.array([True, True, True, False]), None)

    assert chosen == 2


def test_known_places_need_not_be_candidates():
    graph = interval()
    candidates = graph.points(0, [0.0, 0.3, 1.0])

    assert Maximin().next(graph, candidates, graph.points(0, 0.9), all_of(candidates), None) == 0


def test_the_metric_matters_on_the_open_rectangle():
    """From one end of the gap the other end is the farthest by road and one of the nearest by air."""
    graph = open_rectangle()
    nodes = FiniteElementSpace.build(graph, max_cell=0.5).nodes
    by_road, by_air = (
        nodes[Maximin(metric=m).next(graph, nodes, graph.points(0, 0.0), all_of(nodes), None)] for m in Metric
    )

    assert by_road.xy == (18.5, 0.0)
    assert by_air.xy in {(0.0, 2.0), (36.0, 2.0)}


def test_a_design_takes_every_candidate_once_until_none_is_left():
    graph = interval()
    candidates = graph.points(0, [0.0, 0.1, 0.1, 0.7, 1.0])
    allowed, chosen, rng = all_of(candidates), [], np.random.default_rng(0)
    for _ in range(5):
        chosen.append(Maximin().next(graph, candidates, candidates[chosen], allowed, rng))
        allowed[chosen[-1]] = False

    assert sorted(chosen) == [0, 1, 2, 3, 4]
    assert candidates[chosen[:4]].z.tolist().count(0.1) < 2  # its twin only when nothing else is left


def test_copies_and_pickles_leave_the_distances_behind():
    graph = grid(3, 3)
    nodes = FiniteElementSpace.build(graph, max_cell=0.01).nodes
    design = Maximin(5)
    run(design, graph, nodes, 3, seed=0)

    assert len(pickle.dumps(design)) < 1000
    assert pickle.loads(pickle.dumps(design)) == design == replace(design)


@pytest.mark.parametrize(("n_components", "size"), [(1, 8), (8, 8), (9, 9), (40, 32)])
def test_the_default_size_reaches_every_component_within_reason(n_components, size):
    tails = 2 * np.arange(n_components)

    assert default_size(MetricGraph(tails, tails + 1, np.ones(n_components))) == size


@pytest.mark.parametrize("design", [Maximin, RandomDesign])
def test_a_design_has_a_size(design):
    with pytest.raises(ParameterError, match=r"a design needs at least one measurement, got size=0"):
        design(0)


@pytest.mark.parametrize("design", [Maximin(), RandomDesign()])
@pytest.mark.parametrize("allowed", [np.zeros(2, dtype=bool), np.ones(3, dtype=bool)])
def test_some_candidate_has_to_be_allowed(design, allowed):
    graph = interval()
    candidates = graph.points(0, [0.0, 1.0])

    with pytest.raises(ParameterError, match=r"a design needs an allowed candidate, got . allowed of 2"):
        design.next(graph, candidates, candidates[:1], allowed, np.random.default_rng(0))


@pytest.mark.parametrize("n_known", [0, 1])
def test_straight_distances_need_coordinates(n_known):
    graph = MetricGraph([0], [1], [1.0])
    candidates = graph.points(0, [0.0, 1.0])

    with pytest.raises(GraphError, match=r"a Euclidean design needs places, got a graph without coordinates"):
        Maximin(metric=Metric.EUCLIDEAN).next(
            graph, candidates, candidates[:n_known], all_of(candidates), np.random.default_rng(0)
        )


# The k-median design


def mean_distance(graph, places, n=4_000):
    """Of the network from the nearest of the places, at even steps along every edge."""
    edge = np.repeat(np.arange(graph.n_edges), n // graph.n_edges)
    z = graph.lengths[edge] * np.tile(
        (np.arange(n // graph.n_edges) + 0.5) * graph.n_edges / n, graph.n_edges
    )
    near = graph.distance(places, Points(edge, z, graph=graph)).min(axis=0)
    return float(np.average(near, weights=graph.lengths[edge]))


def test_the_first_median_place_of_a_line_is_its_middle():
    """Of 128 random candidates and distances to 1,000 random points: within a tenth of the best there is."""
    graph = interval(8.0)
    candidates = FiniteElementSpace.build(graph, max_cell=0.1).nodes
    for seed in range(5):
        [first] = run(KMedian(), graph, candidates, 1, seed)
        assert mean_distance(graph, candidates[[first]]) <= 1.1 * 2.0


def test_median_places_bring_a_branching_network_nearer_than_farthest_ones():
    """Maximin goes to the ends of the branches: eight places of each on a comb."""
    n = 12
    tails = np.r_[np.arange(n - 1), np.arange(n)]
    graph = MetricGraph(tails, np.r_[np.arange(1, n), np.arange(n, 2 * n)], np.ones(2 * n - 1))
    candidates = FiniteElementSpace.build(graph, max_cell=0.1).nodes
    median, farthest = (
        [mean_distance(graph, candidates[run(design, graph, candidates, 8, seed)]) for seed in range(5)]
        for design in (KMedian(), Maximin())
    )

    assert max(median) < 0.8 * min(farthest)


@given(metric_graphs(), seeds())
@settings(max_examples=30)
def test_every_component_has_a_median_place_before_the_second_round(graph, seed):
    """A component without one counts as two diameters away: a quarter of the length is worth a place.

    The first place there saves 3/2 diameters of its share s, a second elsewhere at most 1/2 of 1 - s.
    """
    n = graph.n_components
    candidates = FiniteElementSpace.build(graph, max_cell=graph.lengths.min() / 2).nodes
    if len(candidates) > 128:  # all are compared
        candidates = candidates[np.linspace(0, len(candidates) - 1, 128).astype(int)]
    lengths = np.bincount(graph.components[graph.tails], graph.lengths)
    if lengths.min() < 0.25 * lengths.sum() or len(np.unique(graph.component_of(candidates))) < n:
        return  # too short, or without a candidate
    chosen = run(KMedian(), graph, candidates, n, seed)

    assert sorted(graph.component_of(candidates[chosen]).tolist()) == list(range(n))


def test_a_median_place_is_allowed():
    graph = interval(8.0)
    candidates = FiniteElementSpace.build(graph, max_cell=0.1).nodes
    allowed = candidates.z > 7.0

    place = KMedian(3).next(graph, candidates, candidates[:0], allowed, np.random.default_rng(0))
    assert allowed[place]
