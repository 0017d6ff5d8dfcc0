"""The mesh-free prior itself: its meshes, its limits, its copies. Its numbers: tests/truth."""

import pickle
from dataclasses import replace

import numpy as np
import pytest
from numpy.testing import assert_allclose, assert_array_equal

import netbo
from netbo import Matern, MetricGraph, Points
from netbo.priors import ExactPrior, MeshFreePrior, finite_element
from support.exact_kernel import exact_kernel
from support.reference import contract_graph, contract_points, contract_space

ALPHAS = (0.5, 1.0, 1.5, 2.0)


def prior_of(alpha=1.0, **options) -> MeshFreePrior:
    return netbo.whittle_matern(contract_graph(), Matern(alpha=alpha, range=1.0, sigma=1.5), **options)


def nothing() -> Points:
    return Points(np.empty(0, dtype=int), [])


@pytest.mark.parametrize("alpha", ALPHAS)
def test_every_vertex_may_have_a_condition_of_its_own(alpha):
    """theta one by one: the diagonal of the dense twin takes an array as well."""
    theta = np.linspace(0.0, 2.0, contract_graph().n_vertices)
    matern, x = Matern(alpha=alpha, range=1.5, sigma=2.0), contract_points()
    prior = netbo.whittle_matern(contract_graph(), matern, vertex_condition=theta)
    kernel = exact_kernel(contract_graph(), matern, robin=theta)

    assert_allclose(prior.covariance(x, x), kernel(x, x), rtol=1e-12, atol=1e-13)


@pytest.mark.parametrize("alpha", ALPHAS)
def test_without_points_there_is_nothing_to_say(alpha):
    prior, x = prior_of(alpha), contract_points()

    assert prior.variance(nothing()).shape == (0,)
    assert prior.covariance(nothing(), x).shape == (0, len(x))
    assert prior.covariance(x, nothing()).shape == (len(x), 0)
    assert prior.sample(nothing(), np.random.default_rng(0), n=3).shape == (3, 0)


def test_points_need_not_be_bound():
    prior, x = prior_of(), contract_points()

    assert_array_equal(prior.variance(Points(x.edge, x.z)), prior.variance(x))


def test_a_vertex_is_one_place_by_any_edge():
    """Rows of the covariance are equal, as of one variable."""
    prior = prior_of()
    by_edges = Points([0, 1, 2], [prior.graph.lengths[0], 0.0, 0.0])
    covariance = prior.covariance(by_edges, by_edges)

    assert_allclose(covariance, covariance[0, 0], rtol=1e-13)


def test_repeated_points_are_one_place():
    prior, x = prior_of(), contract_points()
    twice = Points.concatenate([x, x])
    path = prior.sample(twice, np.random.default_rng(0))

    assert_array_equal(path[: len(x)], path[len(x) :])
    assert_array_equal(prior.variance(twice)[: len(x)], prior.variance(twice)[len(x) :])


def test_the_graph_with_one_edge_has_a_kernel():
    """Neumann at both ends, p = 1: cosh(z) cosh(1 - z) / sinh(1) at kappa = tau = 1."""
    prior = netbo.whittle_matern(netbo.interval(1.0), Matern(alpha=0.5, kappa=1.0))
    z = np.array([0.0, 0.2, 1.0])

    assert_allclose(
        prior.variance(prior.graph.points(0, z)), np.cosh(z) * np.cosh(1 - z) / np.sinh(1), rtol=1e-14
    )


@pytest.mark.parametrize("alpha", ALPHAS)
def test_constant_variance_is_constant_everywhere(alpha):
    prior, x = prior_of(alpha, constant_variance=True), contract_points()
    plain = prior_of(alpha)
    sd = np.sqrt(plain.variance(x))
    correlation = plain.covariance(x, x) / np.outer(sd, sd)

    assert_array_equal(prior.variance(x), 1.5**2)
    assert_allclose(prior.covariance(x, x), 1.5**2 * correlation, rtol=1e-12, atol=1e-14)


def test_components_are_independent():
    prior = prior_of()

    assert_array_equal(prior.covariance(prior.graph.points(0, 0.3), prior.graph.points(5, [0.1, 1.0])), 0.0)


def test_a_strong_vertex_condition_pins_the_field():
    """theta -> infinity is Dirichlet."""
    theta = np.zeros(contract_graph().n_vertices)
    theta[3] = 1e9
    end = contract_graph().vertex_points([3])

    assert prior_of(0.5).variance(end)[0] > 1.0
    assert prior_of(0.5, vertex_condition=theta).variance(end)[0] < 1e-8


def test_a_mesh_is_kept_for_the_same_points():
    """Also for another prior on the same network, unless its junctions are wide; the latest six are."""
    graph = netbo.star(3)
    prior, x = netbo.whittle_matern(graph, Matern(alpha=1.0, range=1.0)), graph.points(0, [0.2, 0.7])
    first = prior.on(x).space
    others = [prior.graph.points(0, [z]) for z in (0.1, 0.2, 0.3)]
    for other in others:
        prior.on(other)

    assert isinstance(prior.on(x), ExactPrior)
    assert prior.on(x).space is first
    assert prior.rescaled(range=7.0).on(x).space is first
    assert netbo.whittle_matern(graph, Matern(alpha=1.5, range=2.0)).on(x).space is first
    assert replace(prior, junction_gap=0.1).on(x).space is not first
    assert prior.on(others[0], x).space is not first
    prior.on(Points(x.edge, x.z))

    assert prior.on(x).space is not first


@pytest.mark.parametrize("constant", [False, True])
def test_a_prior_travels_between_processes(constant):
    """Also after use; the copy starts without meshes."""
    prior, x = prior_of(constant_variance=constant), contract_points()
    expected = prior.covariance(x, x), prior.variance(x), prior.sample(x, np.random.default_rng(0))
    copy = pickle.loads(pickle.dumps(prior))

    assert_array_equal(copy.covariance(x, x), expected[0])
    assert_array_equal(copy.variance(x), expected[1])
    assert_array_equal(copy.sample(x, np.random.default_rng(0)), expected[2])
    assert repr(copy) == repr(prior)


def test_a_rescaled_prior_keeps_what_else_it_is():
    prior = prior_of(constant_variance=True, vertex_condition=0.3).rescaled(range=4.0, sigma=2.0)

    assert prior.is_constant
    assert_array_equal(prior.vertex_condition, 0.3)
    assert prior.range == pytest.approx(4.0, rel=1e-14)
    assert prior.sigma == pytest.approx(2.0, rel=1e-14)


def test_variance_at_many_points_forms_no_large_matrix():
    """1e5 places: far from vertices sigma squared, within what a selected inverse takes."""
    graph = netbo.road(200, seed=0)
    short = float(graph.lengths.min()) / 50
    prior = netbo.whittle_matern(graph, Matern(alpha=1.0, range=short, sigma=2.0))
    x = netbo.uniform_points(graph, 100_000, np.random.default_rng(0))
    from_ends = np.minimum(x.z, graph.lengths[x.edge] - x.z)
    inner = from_ends > 10 * short

    assert inner.sum() > 30_000
    assert_allclose(prior.variance(x)[inner], 4.0, rtol=1e-10)


def test_hats_on_a_fine_mesh_are_near():
    """The finite element door and the mesh-free door speak of the same field."""
    matern = Matern(alpha=1.0, range=1.5, sigma=1.3)
    space = netbo.FiniteElementSpace.build(contract_graph(), max_cell=0.01)
    hats, exact = netbo.whittle_matern(space, matern), netbo.whittle_matern(contract_graph(), matern)
    x = contract_points()

    assert_allclose(hats.covariance(x, x), exact.covariance(x, x), atol=2e-4)
    assert contract_space().graph is exact.graph


def test_a_loop_alone_is_a_circle():
    """One vertex, one edge that ends where it begins: the variance is the same everywhere."""
    graph = MetricGraph([0], [0], [3.0])
    prior = netbo.whittle_matern(graph, Matern(alpha=1.0, range=1.0))

    assert_allclose(np.ptp(prior.variance(graph.points(0, [0.0, 0.1, 1.7, 3.0]))), 0.0, atol=1e-14)


# Junctions that keep their arms apart


def longer_at_junctions(graph, gap):
    """The same network with longer edges, and how far its points move."""
    before, after = (gap * (graph.degrees[ends] > 2) for ends in (graph.tails, graph.heads))
    return netbo.MetricGraph(graph.tails, graph.heads, graph.lengths + before + after), before


@pytest.mark.parametrize("alpha", [0.5, 1.0, 1.5])
@pytest.mark.parametrize("constant", [False, True])
def test_a_junction_gap_is_a_network_with_longer_edges_there(alpha, constant):
    graph = netbo.road(20, seed=3)
    wide, before = longer_at_junctions(graph, 0.4)
    x = netbo.uniform_points(graph, 40, np.random.default_rng(1))
    ends = netbo.Points(np.r_[x.edge, 0, 0], np.r_[x.z, 0.0, graph.lengths[0]], graph=graph)
    y = netbo.Points(ends.edge, ends.z + before[ends.edge], graph=wide)
    matern = netbo.Matern(alpha, range=0.3 * graph.diameter, sigma=1.3)
    apart = netbo.whittle_matern(graph, matern, junction_gap=0.4, constant_variance=constant)
    twin = netbo.whittle_matern(wide, matern, constant_variance=constant)
    values = np.random.default_rng(2).normal(size=10)
    one = netbo.condition(apart, netbo.Observations(ends[:10], values), regularization=0.01)
    two = netbo.condition(twin, netbo.Observations(y[:10], values), regularization=0.01)

    np.testing.assert_allclose(apart.covariance(ends, ends), twin.covariance(y, y), rtol=1e-12)
    np.testing.assert_allclose(one.mean(ends), two.mean(y), rtol=1e-9, atol=1e-12)
    np.testing.assert_allclose(one.std(ends), two.std(y), rtol=1e-9)
    assert one.log_evidence() == pytest.approx(two.log_evidence(), rel=1e-12)


def test_arms_of_one_junction_may_differ_and_ends_without_one_do_not():
    graph = netbo.star(3, length=1.0)
    hub = int(np.argmax(graph.degrees))
    z = np.where(graph.tails == hub, 0.0, graph.lengths)
    arms = netbo.Points(np.arange(3), z, graph=graph)
    prior = netbo.whittle_matern(graph, netbo.Matern(1.0, range=2.0, sigma=1.0), junction_gap=0.5)
    correlation = prior.covariance(arms, arms)[0, 1] / prior.variance(arms)[0]
    path = netbo.MetricGraph([0, 1], [1, 2], [1.0, 1.0])
    middle = netbo.Points([0, 1], [1.0, 0.0], graph=path)
    through = netbo.whittle_matern(path, netbo.Matern(1.0, range=2.0, sigma=1.0), junction_gap=0.5)

    assert correlation < 0.9
    assert through.covariance(middle, middle)[0, 1] == pytest.approx(through.variance(middle)[0], rel=1e-12)


@pytest.mark.parametrize(("alpha", "gap"), [(0.75, 0.5), (1.0, -1.0), (1.0, np.inf)])
def test_a_junction_gap_is_a_length_of_a_whole_field(alpha, gap):
    with pytest.raises(netbo.errors.ParameterError, match="junction"):
        netbo.whittle_matern(netbo.star(3), netbo.Matern(alpha, range=1.0), junction_gap=gap)


def test_a_junction_gap_needs_no_mesh():
    space = netbo.FiniteElementSpace.build(netbo.star(3), max_cell=0.5)
    with pytest.raises(netbo.errors.ParameterError, match="needs a network"):
        netbo.whittle_matern(space, netbo.Matern(1.0, range=1.0), junction_gap=0.5)


@pytest.mark.parametrize("alpha", [0.5, 1.0, 1.5])
def test_small_and_large_meshes_agree_on_the_determinant(alpha, monkeypatch):
    """p log|K| and its slope come from S on small meshes, which needs no kernels for p = 1, else from K."""
    small = prior_of(alpha).on(contract_points()).unit
    found = small.log_determinant, small.log_determinant_derivative
    monkeypatch.setattr(finite_element, "SMALL_MESH", 0)
    large = prior_of(alpha).on(contract_points()).unit

    assert found == pytest.approx((large.log_determinant, large.log_determinant_derivative), rel=1e-12)
    assert large._stiffness.order == 1
