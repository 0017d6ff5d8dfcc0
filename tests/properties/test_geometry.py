"""What no change of description may change, and distances against an independent twin."""

from dataclasses import replace
from itertools import pairwise

import numpy as np
import pytest
from hypothesis import assume, given, settings
from hypothesis import strategies as st
from numpy.testing import assert_allclose

from netbo.geometry import (
    MetricGraph,
    Points,
    contract,
    cut_at,
    merge_degree_two,
    split_at,
    uniform_points,
)
from support.strategies import metric_graphs, points_on, seeds

reproducible = settings(deadline=None, max_examples=150, derandomize=True)


def sample(graph: MetricGraph, seed: int, n: int = 7) -> Points:
    """Random points and the vertices."""
    inside = uniform_points(graph, n, np.random.default_rng(seed))
    return Points.concatenate([inside, graph.vertex_points()])


def shortest_paths_by_hand(graph: MetricGraph, x: Points) -> np.ndarray:
    """Distances of points by Floyd and Warshall, each edge divided at its points."""
    size = graph.n_vertices + len(x)
    d = np.full((size, size), np.inf)
    np.fill_diagonal(d, 0.0)
    for e in range(graph.n_edges):
        on_edge = [(float(x.z[i]), graph.n_vertices + i) for i in range(len(x)) if x.edge[i] == e]
        ends = (0.0, int(graph.tails[e])), (float(graph.lengths[e]), int(graph.heads[e]))
        stops = [ends[0], *sorted(on_edge), ends[1]]
        for (z, a), (w, b) in pairwise(stops):
            d[a, b] = d[b, a] = min(d[a, b], w - z)
    for k in range(size):
        d = np.minimum(d, d[:, [k]] + d[[k], :])
    return d[graph.n_vertices :, graph.n_vertices :]


@reproducible
@given(st.data())
def test_distances_are_those_of_floyd_and_warshall(data):
    """The twin knows no sources, no sparse matrices and no special cases."""
    graph = data.draw(metric_graphs())
    x = data.draw(points_on(graph))

    assert_allclose(graph.distance(x, x), shortest_paths_by_hand(graph, x), rtol=1e-13, atol=1e-14)


@reproducible
@given(metric_graphs(), seeds())
def test_distance_is_a_metric(graph, seed):
    x = sample(graph, seed)
    d = graph.distance(x, x)

    assert np.all(np.diag(d) == 0)
    assert_allclose(d, d.T, rtol=1e-13)
    assert np.all(d[:, :, None] + d[None, :, :] >= d[:, None, :] * (1 - 1e-12))


@reproducible
@given(metric_graphs(), seeds())
def test_either_side_may_be_searched_from(graph, seed):
    """Sources are the points of the smaller side."""
    x, y = sample(graph, seed, 3), sample(graph, seed + 1, 9)

    assert_allclose(graph.distance(x, y), graph.distance(y, x).T, rtol=1e-13)


@reproducible
@given(metric_graphs(), seeds())
def test_distance_is_infinite_exactly_between_components(graph, seed):
    x = sample(graph, seed)
    label = graph.component_of(x)

    assert np.array_equal(np.isinf(graph.distance(x, x)), label[:, None] != label)


@reproducible
@given(metric_graphs(), seeds())
def test_flipping_an_edge_changes_no_distance(graph, seed):
    x = sample(graph, seed)
    is_flipped = np.random.default_rng(seed).random(graph.n_edges) < 0.5
    flipped = replace(
        graph,
        tails=np.where(is_flipped, graph.heads, graph.tails),
        heads=np.where(is_flipped, graph.tails, graph.heads),
    )
    y = Points(x.edge, np.where(is_flipped[x.edge], graph.lengths[x.edge] - x.z, x.z))

    assert_allclose(flipped.distance(y, y), graph.distance(x, x), rtol=1e-12, atol=1e-13)
    assert flipped.diameter == pytest.approx(graph.diameter)


@reproducible
@given(metric_graphs(), seeds())
def test_renaming_vertices_changes_no_distance(graph, seed):
    x = sample(graph, seed)
    names = np.random.default_rng(seed).permutation(graph.n_vertices)
    renamed = replace(graph, tails=names[graph.tails], heads=names[graph.heads])

    assert_allclose(
        renamed.distance(Points(x.edge, x.z), Points(x.edge, x.z)), graph.distance(x, x), rtol=1e-13
    )


@reproducible
@given(metric_graphs(is_drawn=True), seeds())
def test_splitting_changes_no_distance_and_no_place(graph, seed):
    x, cuts = sample(graph, seed), sample(graph, seed + 1, 5)
    split = split_at(graph, cuts)
    y = split.transfer(x)

    assert_allclose(split.graph.distance(y, y), graph.distance(x, x), rtol=1e-12, atol=1e-13)
    assert_allclose(split.graph.embed(y), graph.embed(x), atol=1e-12)
    assert split.graph.total_length == pytest.approx(graph.total_length)
    assert split.graph.diameter == pytest.approx(graph.diameter)


@reproducible
@given(metric_graphs(is_drawn=True), seeds())
def test_merging_changes_no_distance_and_no_place(graph, seed):
    x = sample(graph, seed)
    merged = merge_degree_two(graph)
    y = merged.transfer(x)
    has_loop = np.isin(np.arange(merged.graph.n_vertices), _loop_vertices(merged.graph))

    assert_allclose(merged.graph.distance(y, y), graph.distance(x, x), rtol=1e-12, atol=1e-12)
    assert_allclose(merged.graph.embed(y), graph.embed(x), atol=1e-12)
    assert not np.any((merged.graph.degrees == 2) & ~has_loop)


@reproducible
@given(metric_graphs(is_drawn=True), seeds())
def test_merging_undoes_splitting(graph, seed):
    """Up to vertices of degree two that were there before."""
    split = graph.split(sample(graph, seed)).merge()
    plain = graph.merge()

    assert (split.n_vertices, split.n_edges) == (plain.n_vertices, plain.n_edges)
    assert_allclose(np.sort(split.lengths), np.sort(plain.lengths), rtol=1e-13)


@reproducible
@given(metric_graphs(is_drawn=True), seeds())
def test_cutting_shortens_nothing_and_moves_nothing(graph, seed):
    x = sample(graph, seed)
    vertex = int(np.argmax(graph.degrees))
    edges = np.flatnonzero((graph.tails == vertex) | (graph.heads == vertex))
    assume(len(edges) > 1)
    cut = cut_at(graph, vertex, edges[:1])
    y = cut.transfer(x)

    assert np.all(cut.graph.distance(y, y) >= graph.distance(x, x) * (1 - 1e-12))
    assert_allclose(cut.graph.embed(y), graph.embed(x), atol=1e-12)


@reproducible
@given(metric_graphs(), seeds(), st.floats(0.1, 0.5))
def test_contracting_moves_points_by_no_more_than_what_it_removes(graph, seed, tolerance):
    is_short = (graph.lengths <= tolerance) & (graph.tails != graph.heads)
    long = np.concatenate([graph.tails[~is_short], graph.heads[~is_short]])
    assume(len(set(graph.components[long])) == graph.n_components)
    x = sample(graph, seed)
    merged = contract(graph, tolerance)
    y = merged.transfer(x)
    before, after = graph.distance(x, x), merged.graph.distance(y, y)
    removed = graph.total_length - merged.graph.total_length

    assert np.all(after <= before * (1 + 1e-12) + 1e-12)
    assert np.all((before <= after + removed + 1e-9) | np.isinf(before))


@reproducible
@given(metric_graphs(is_drawn=True), st.floats(0.1, 0.5))
def test_after_contracting_all_edges_are_drawn_between_their_vertices(graph, tolerance):
    is_short = (graph.lengths <= tolerance) & (graph.tails != graph.heads)
    assume(len(set(graph.components[graph.tails[~is_short]])) == graph.n_components)
    merged = contract(graph, tolerance).graph

    assert_allclose(merged.drawing.tail_places, merged.positions[merged.tails], atol=1e-12)
    assert_allclose(merged.drawing.head_places, merged.positions[merged.heads], atol=1e-12)


@reproducible
@given(metric_graphs(), seeds(), st.floats(1e-6, 1e6))
def test_scaling_lengths_scales_distances_and_diameter(graph, seed, factor):
    x = sample(graph, seed)
    scaled = replace(graph, lengths=factor * graph.lengths)
    y = scaled.points(x.edge, fraction=x.z / graph.lengths[x.edge])

    assert_allclose(scaled.distance(y, y), factor * graph.distance(x, x), rtol=1e-9, atol=1e-12 * factor)
    assert scaled.diameter == pytest.approx(factor * graph.diameter)


@reproducible
@given(metric_graphs())
def test_diameter_is_that_of_a_fine_sample(graph):
    """Each of the two farthest points has a sample point within half a step."""
    per_edge = 24
    edge = np.repeat(np.arange(graph.n_edges), per_edge + 1)
    x = graph.points(edge, fraction=np.tile(np.linspace(0, 1, per_edge + 1), graph.n_edges))
    label = graph.component_of(x)
    total = np.bincount(graph.components[graph.tails], graph.lengths)
    inside = x[label == np.argmax(total)]
    sampled = graph.distance(inside, inside).max()
    step = graph.lengths.max() / per_edge

    assert sampled <= graph.diameter * (1 + 1e-12)
    assert graph.diameter <= sampled + step


@reproducible
@given(metric_graphs(is_drawn=True), seeds())
def test_the_nearest_point_to_a_place_on_the_network_is_that_place(graph, seed):
    x = sample(graph, seed)
    found, off = graph.nearest(graph.embed(x))

    assert_allclose(off, 0.0, atol=1e-12)
    assert_allclose(graph.embed(found), graph.embed(x), atol=1e-12)


def _loop_vertices(graph: MetricGraph) -> np.ndarray:
    return graph.tails[graph.tails == graph.heads]
