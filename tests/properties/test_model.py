"""What no change of description may change: covariances, posteriors, evidence, gradients."""

from dataclasses import replace

import numpy as np
from hypothesis import given, settings
from hypothesis import strategies as st
from numpy.testing import assert_allclose

import netbo
from netbo import ESTIMATED, FiniteElementSpace, Matern, MetricGraph, Observations, Points
from support.strategies import metric_graphs, seeds

reproducible = settings(deadline=None, max_examples=25, derandomize=True)
alphas = st.sampled_from([0.5, 1.0, 1.5, 2.0])
cell_sizes = st.sampled_from([0.3, 1.0, 5.0])
RTOL = 1e-9


class Model:
    """A field on a mesh, observed; and points to ask about."""

    def __init__(self, space, x, *, alpha, length=3.0, constant=False, values=None, sigma=1.4, noise=0.02):
        prior = netbo.whittle_matern(
            space, Matern(alpha=alpha, range=length, sigma=sigma), constant_variance=constant
        )
        values = np.sin(3.0 * np.arange(len(x))) if values is None else values
        data = Observations(x, values)
        self.covariance = prior.covariance(x, x)
        self.posterior = netbo.condition(prior, data, regularization=noise, mean=ESTIMATED)
        self.mean, self.std = self.posterior.mean(x), self.posterior.std(x)
        self.evidence = self.posterior.log_evidence()
        self.gradient = np.array(self.posterior.log_evidence_gradient())
        self.gain = self.posterior.information_gain()


def assert_same(one: Model, two: Model) -> None:
    """Relative to the largest entry of each."""
    for name in ("covariance", "mean", "std", "evidence", "gradient", "gain"):
        expected = getattr(one, name)
        scale = max(1.0, np.max(np.abs(expected)))
        assert_allclose(getattr(two, name), expected, rtol=0, atol=RTOL * scale, err_msg=name)


def sample(graph, space, seed, n=6) -> Points:
    """Random points, a repeated one, two nodes and the vertices."""
    rng = np.random.default_rng(seed)
    inside = netbo.uniform_points(graph, n, rng)
    nodes = space.nodes[rng.integers(0, space.n_nodes, 2)]
    return Points.concatenate([inside, inside[:1], nodes, graph.vertex_points()])


@reproducible
@given(metric_graphs(), cell_sizes, alphas, seeds(), st.booleans())
def test_flipping_edges_changes_nothing(graph, h, alpha, seed, constant):
    space = FiniteElementSpace.build(graph, max_cell=h)
    x = sample(graph, space, seed)
    flip = np.random.default_rng(seed).random(graph.n_edges) < 0.5
    flipped = replace(
        graph,
        tails=np.where(flip, graph.heads, graph.tails),
        heads=np.where(flip, graph.tails, graph.heads),
    )
    y = Points(x.edge, np.where(flip[x.edge], graph.lengths[x.edge] - x.z, x.z))
    other = FiniteElementSpace(flipped, space.cells)

    assert_same(
        Model(space, x, alpha=alpha, constant=constant), Model(other, y, alpha=alpha, constant=constant)
    )


@reproducible
@given(metric_graphs(), cell_sizes, alphas, seeds(), st.booleans())
def test_a_vertex_at_a_mesh_node_changes_nothing(graph, h, alpha, seed, constant):
    """Also on a loop, whose halves are then parallel edges."""
    space = FiniteElementSpace.build(graph, max_cell=h, min_cells=2)
    x, rng = sample(graph, space, seed), np.random.default_rng(seed)
    e = int(rng.integers(graph.n_edges))
    first = int(rng.integers(1, space.cells[e]))
    cut = graph.lengths[e] * first / space.cells[e]
    heads = graph.heads.copy()
    heads[e] = graph.n_vertices
    lengths = graph.lengths.copy()
    lengths[e] = cut
    split = MetricGraph(
        np.r_[graph.tails, graph.n_vertices],
        np.r_[heads, graph.heads[e]],
        np.r_[lengths, graph.lengths[e] - cut],
    )
    cells = np.r_[space.cells, space.cells[e] - first]
    cells[e] = first
    beyond = (x.edge == e) & (x.z > cut)
    y = Points(np.where(beyond, graph.n_edges, x.edge), np.where(beyond, x.z - cut, x.z))
    other = FiniteElementSpace(split, cells)

    assert other.n_nodes == space.n_nodes
    assert_same(
        Model(space, x, alpha=alpha, constant=constant), Model(other, y, alpha=alpha, constant=constant)
    )


@reproducible
@given(metric_graphs(), cell_sizes, alphas, seeds())
def test_renaming_vertices_and_edges_changes_nothing(graph, h, alpha, seed):
    """Another order of vertices is another order of elimination."""
    space = FiniteElementSpace.build(graph, max_cell=h)
    x, rng = sample(graph, space, seed), np.random.default_rng(seed)
    vertex, edge = rng.permutation(graph.n_vertices), rng.permutation(graph.n_edges)
    renamed = MetricGraph(vertex[graph.tails][edge], vertex[graph.heads][edge], graph.lengths[edge])
    y = Points(np.argsort(edge)[x.edge], x.z)
    other = FiniteElementSpace(renamed, space.cells[edge])

    assert_same(Model(space, x, alpha=alpha), Model(other, y, alpha=alpha))


@reproducible
@given(metric_graphs(), cell_sizes, alphas, seeds(), st.sampled_from([1e-6, 0.3048, 1000.0, 1e9]))
def test_the_unit_of_length_changes_nothing(graph, h, alpha, seed, unit):
    """Lengths and range in another unit; sigma is a standard deviation and has none of it."""
    space = FiniteElementSpace.build(graph, max_cell=h)
    x = sample(graph, space, seed)
    rescaled = replace(graph, lengths=graph.lengths * unit)
    other = FiniteElementSpace(rescaled, space.cells)

    assert_same(
        Model(space, x, alpha=alpha, length=3.0),
        Model(other, Points(x.edge, x.z * unit), alpha=alpha, length=3.0 * unit),
    )


@reproducible
@given(
    metric_graphs(),
    alphas,
    seeds(),
    st.sampled_from([1e-5, 0.1, 30.0, 1e6]),
    st.sampled_from([-1e3, 0.0, 7.0]),
)
def test_the_unit_of_values_changes_nothing(graph, alpha, seed, a, b):
    """y -> a (y + b) with sigma and noise in that unit: evidence by -n log a, the rest not at all."""
    space = FiniteElementSpace.build(graph, max_cell=1.0)
    x = sample(graph, space, seed)
    values = np.sin(3.0 * np.arange(len(x)))
    one = Model(space, x, alpha=alpha, values=values)
    two = Model(space, x, alpha=alpha, values=a * (values + b), sigma=1.4 * a, noise=0.02 * a**2)
    two.covariance, two.std, two.mean = two.covariance / a**2, two.std / a, two.mean / a - b
    two.evidence += len(x) * np.log(a)

    assert_same(one, two)


@reproducible
@given(metric_graphs(), cell_sizes, alphas, seeds())
def test_components_do_not_see_each_other(graph, h, alpha, seed):
    """Posterior of one component with data on all, and with its own data alone."""
    space = FiniteElementSpace.build(graph, max_cell=h)
    x = sample(graph, space, seed)
    values = np.sin(3.0 * np.arange(len(x)))
    prior = netbo.whittle_matern(space, Matern(alpha=alpha, range=3.0))
    own = graph.component_of(x) == graph.component_of(x)[0]
    every = netbo.condition(prior, Observations(x, values), regularization=0.02)
    alone = netbo.condition(prior, Observations(x[own], values[own]), regularization=0.02)

    assert_allclose(every.mean(x[own]), alone.mean(x[own]), rtol=RTOL, atol=RTOL)
    assert_allclose(every.std(x[own]), alone.std(x[own]), rtol=RTOL)
