import numpy as np
import pytest
from numpy.testing import assert_allclose, assert_array_equal

import netbo
from netbo.linalg import ordering
from netbo.linalg.ordering import analyse


def filled(n, rank, tails, heads):
    """Lower pattern of the factor in elimination order, by eliminating vertex by vertex."""
    pattern = np.eye(n, dtype=bool)
    pattern[rank[tails], rank[heads]] = pattern[rank[heads], rank[tails]] = True
    for k in range(n):
        later = np.flatnonzero(pattern[k + 1 :, k]) + k + 1
        pattern[np.ix_(later, later)] = True
    return np.tril(pattern, -1)


@pytest.mark.parametrize(
    "graph",
    [netbo.road(60, seed=0), netbo.telecom(60, seed=1), netbo.grid(5, 6), netbo.star(7), netbo.circle()],
)
def test_the_pattern_is_that_of_elimination(graph):
    """Every entry that elimination fills is stored, and none besides."""
    n = graph.n_vertices
    pattern = analyse(n, graph.tails, graph.heads)
    expected = filled(n, pattern.rank, graph.tails, graph.heads)
    found = np.zeros((n, n), dtype=bool)
    for k in range(pattern.n_head):
        rows = pattern.rows[pattern.starts[k] : pattern.starts[k + 1]]
        found[rows, k] = True

        assert np.all(np.diff(rows) > 0)

    assert_array_equal(np.sort(pattern.rank), np.arange(n))
    assert_array_equal(found[:, : pattern.n_head], expected[:, : pattern.n_head])


def test_every_edge_knows_its_entry():
    """Loops have none, edges between tail vertices are in the dense block."""
    graph = netbo.telecom(300, seed=2)
    pattern = analyse(graph.n_vertices, graph.tails, graph.heads)
    low = np.minimum(pattern.rank[graph.tails], pattern.rank[graph.heads])
    high = np.maximum(pattern.rank[graph.tails], pattern.rank[graph.heads])
    inside = pattern.slots >= 0
    columns = np.repeat(np.arange(pattern.n_head), np.diff(pattern.starts))

    assert pattern.n_tail > 0
    assert_array_equal(pattern.slots == -2, low >= pattern.n_head)
    assert_array_equal(columns[pattern.slots[inside]], low[inside])
    assert_array_equal(pattern.rows[pattern.slots[inside]], high[inside])


def test_a_loop_has_no_entry():
    pattern = analyse(2, np.array([0, 0]), np.array([0, 1]))

    assert pattern.slots[0] == -1
    assert pattern.slots[1] >= 0


def test_fill_of_a_planar_network_stays_small():
    """Minimum degree: a few entries a vertex, where the natural order would have hundreds."""
    graph = netbo.road(3000, seed=0)
    pattern = analyse(graph.n_vertices, graph.tails, graph.heads)

    assert len(pattern.rows) < 10 * graph.n_vertices


def edges_of_hubs(n_hubs, n_leaves, rng):
    """Every leaf hangs at one of the hubs, some at two; the hubs form a ring."""
    leaves = np.arange(n_hubs, n_hubs + n_leaves)
    tails = [np.arange(n_hubs), rng.integers(0, n_hubs, n_leaves), rng.integers(0, n_hubs, n_leaves // 4)]
    heads = [np.roll(np.arange(n_hubs), 1), leaves, rng.choice(leaves, n_leaves // 4)]
    return np.concatenate(tails), np.concatenate(heads)


def test_hubs_come_last_and_fill_nothing_that_minimum_degree_would_not(monkeypatch):
    """Minimum degree takes half a minute for a hub of 100,000 neighbours; what it finds is: hubs last."""
    tails, heads = edges_of_hubs(5, 600, np.random.default_rng(3))
    searched = analyse(605, tails, heads)
    monkeypatch.setattr(ordering, "HUB", 50)
    found = analyse(605, tails, heads)

    assert_array_equal(np.sort(found.rank[:5]), np.arange(600, 605))
    assert len(found.rows) <= len(searched.rows)


def test_hubs_alone_are_ordered_too(monkeypatch):
    monkeypatch.setattr(ordering, "HUB", 3)
    tails, heads = np.triu_indices(6, 1)

    assert_array_equal(np.sort(analyse(6, tails, heads).rank), np.arange(6))


def test_the_answers_do_not_depend_on_where_hubs_stand(monkeypatch):
    """Every order of elimination is right."""
    graph = netbo.telecom(80, seed=3)
    matern = netbo.Matern(alpha=1.0, range=1.0)
    data = netbo.Observations(graph.points([0, 3, 5], [0.0, 0.0, 0.0]), [1.0, -1.0, 0.5])
    means = []
    for hub in (ordering.HUB, 4):
        monkeypatch.setattr(ordering, "HUB", hub)
        mesh = netbo.FiniteElementSpace.build(graph, n_nodes=400)
        means.append(netbo.condition(netbo.whittle_matern(mesh, matern), data, noise=0.01).mean(mesh.nodes))

    assert_allclose(*means, atol=1e-12)


def test_a_star_of_a_hundred_thousand_edges_has_the_variances_of_its_symmetry():
    """By hand: n - 1 modes are zero at the hub, tanh(1) at a tip; one has no slope there, coth(1)."""
    graph = netbo.star(100_000, length=1.0)
    prior = netbo.whittle_matern(graph, netbo.Matern(alpha=0.5, kappa=1.0, tau=1.0))
    tips = graph.points([0, 50_000, 99_999], [1.0, 1.0, 1.0])

    n = graph.n_edges
    assert_allclose(prior.variance(tips), np.tanh(1.0) * (1 - 1 / n) + 1 / np.tanh(1.0) / n, rtol=1e-12)
