import numpy as np
import pytest
from numpy.testing import assert_array_equal

import netbo
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
