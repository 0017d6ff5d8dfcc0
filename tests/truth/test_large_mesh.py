"""A mesh of 1e5 nodes, where no dense twin exists: bounds, and a second description of the same network."""

import numpy as np
import pytest
from numpy.testing import assert_allclose

import netbo
from netbo import ESTIMATED, FiniteElementSpace, Matern, MetricGraph, Observations, Points

N = 100_000


@pytest.fixture(scope="module")
def space():
    return FiniteElementSpace.build(netbo.road(1000, seed=1), n_nodes=N)


def halved(space):
    """Every edge of two or more cells cut at a mesh node: the same nodes, twice the vertices."""
    graph, cells = space.graph, space.cells
    cut = np.flatnonzero(cells > 1)
    first = cells.copy()
    first[cut] = (cells[cut] + 1) // 2
    middle = graph.n_vertices + np.arange(len(cut))
    heads = graph.heads.copy()
    heads[cut] = middle
    lengths = graph.lengths * first / cells
    rest = graph.lengths[cut] * (cells[cut] - first[cut]) / cells[cut]
    halves = MetricGraph(np.r_[graph.tails, middle], np.r_[heads, graph.heads[cut]], np.r_[lengths, rest])
    second = np.full(graph.n_edges, -1)
    second[cut] = graph.n_edges + np.arange(len(cut))

    def moved(x: Points) -> Points:
        beyond = (x.z > lengths[x.edge]) & (second[x.edge] >= 0)
        edge = np.where(beyond, second[x.edge], x.edge)
        return Points(edge, np.where(beyond, x.z - lengths[x.edge], x.z), graph=halves)

    return FiniteElementSpace(halves, np.r_[first, cells[cut] - first[cut]]), moved


def observations(space, n=300) -> Observations:
    rng = np.random.default_rng(0)
    points = Points.concatenate(
        [netbo.uniform_points(space.graph, n // 2, rng), space.nodes[rng.integers(0, N, n // 2)]]
    )
    return Observations(points, rng.standard_normal(n))


@pytest.mark.parametrize("reach", [1e-5, 0.1, 1e3], ids=["long range", "usual range", "short range"])
@pytest.mark.parametrize("p", [1, 2, 4])
def test_a_large_mesh_gives_finite_numbers_within_their_bounds(space, p, reach):
    """0 <= posterior variance <= prior variance; the gain is at most that of independent places."""
    prior = netbo.whittle_matern(space, Matern(alpha=p / 2, range=1 / reach, sigma=1.0))
    data = observations(space)
    posterior = netbo.condition(prior, data, regularization=0.01)
    before, after = prior.variance(space.nodes), posterior.variance(space.nodes)
    bound = np.log1p(prior.variance(data.points) / 0.01).sum() / 2

    assert space.n_nodes > 0.99 * N
    assert np.all(np.isfinite(before) & np.isfinite(after) & np.isfinite(posterior.mean(space.nodes)))
    assert np.all(after >= 0)
    assert np.all(after <= before * (1 + 1e-9))
    assert 0 < posterior.information_gain() < bound
    assert np.all(np.isfinite(posterior.log_evidence_gradient()))


@pytest.mark.parametrize("reach", [1e-3, 0.1, 10.0])
@pytest.mark.parametrize("p", [1, 2, 3, 4])
def test_vertices_of_degree_two_change_nothing(space, p, reach):
    """The same V_h with other chains and another vertex system: mean, std, evidence, gradient to 1e-9."""
    other, moved = halved(space)
    data, matern = observations(space), Matern(alpha=p / 2, range=1 / reach, sigma=1.0)
    twice = Observations(moved(data.points), data.values)
    one, two = (
        netbo.condition(netbo.whittle_matern(s, matern), d, regularization=0.01, mean=ESTIMATED)
        for s, d in ((space, data), (other, twice))
    )
    x = netbo.uniform_points(space.graph, 500, np.random.default_rng(1))

    assert other.n_nodes == space.n_nodes
    assert_allclose(two.mean(moved(x)), one.mean(x), rtol=1e-9, atol=1e-9)
    assert_allclose(two.std(moved(x)), one.std(x), rtol=1e-9)
    assert two.log_evidence() == pytest.approx(one.log_evidence(), rel=1e-9)
    assert two.information_gain() == pytest.approx(one.information_gain(), rel=1e-9)
    assert_allclose(two.log_evidence_gradient(), one.log_evidence_gradient(), rtol=1e-8, atol=1e-7)
