"""Whittle-Matérn priors of fractional smoothness from shifted operators."""

import math

import numpy as np
import pytest
from numpy.testing import assert_allclose

from netbo import FiniteElementSpace, Matern, MetricGraph, spectral
from netbo.errors import ParameterError
from netbo.fem import PointMesh
from netbo.linalg import RationalField, ShiftedHyperbolic, closed_form_power, rational_power
from netbo.priors import FractionalPrior
from support.reference import contract_points, contract_space, covariance_errors, element_kernel, nodes_at

ALPHAS = [0.3, 0.45, 0.6, 0.75, 1.25, 1.6, 2.3]


def three_components() -> FiniteElementSpace:
    """A loop, parallel edges, and two more components."""
    graph = MetricGraph([0, 1, 1, 2, 2, 4, 6], [1, 2, 2, 2, 3, 5, 7], [1.0, 0.8, 1.3, 1.7, 0.5, 1.1, 2.0])
    return FiniteElementSpace.build(graph, max_cell=0.2)


def fractional(space, matern, *, lumped=False, robin=0.0, tolerance=1e-8) -> FractionalPrior:
    theta = np.full(space.graph.n_vertices, robin)
    return FractionalPrior(space, matern, lumped, theta, tolerance)


@pytest.mark.parametrize("lumped", [False, True])
@pytest.mark.parametrize("alpha", ALPHAS)
def test_the_kernel_is_the_spectral_one_to_the_reported_error(alpha, lumped):
    """Eigenvectors of the same matrices, a Robin parameter at every vertex; relative to the variances."""
    space, matern = three_components(), Matern(alpha, range=1.5, sigma=0.7)
    prior = fractional(space, matern, lumped=lumped, robin=0.4)
    twin = spectral(space, matern, lumped=lumped, vertex_condition=0.4)
    expected = twin.covariance(space.nodes, space.nodes)
    scale = np.sqrt(np.outer(np.diag(expected), np.diag(expected)))
    found = prior.covariance(space.nodes, space.nodes)

    assert prior.error < 1e-8
    assert np.abs((found - expected) / scale).max() < 2 * prior.error
    assert_allclose(prior.variance(space.nodes), np.diag(found), rtol=max(prior.error / 10, 1e-12))


@pytest.mark.parametrize("range_", [1e-2, 1e3])
@pytest.mark.parametrize("alpha", [0.3, 0.75, 1.25])
def test_ranges_far_from_the_mesh_keep_the_error(alpha, range_):
    """Shorter than a cell, and a thousand times the network, where constants carry all variance."""
    space, matern = three_components(), Matern(alpha, range=range_, sigma=1.0)
    prior, twin = fractional(space, matern), spectral(space, matern)
    expected = twin.covariance(space.nodes, space.nodes)
    found = prior.covariance(space.nodes, space.nodes)

    assert np.abs(found - expected).max() < 3 * prior.error * expected.max()


@pytest.mark.parametrize("alpha", ALPHAS)
def test_the_covariance_is_positive_even_of_a_coarse_fit(alpha):
    space = three_components()
    prior = fractional(space, Matern(alpha, range=1.5, sigma=1.0), tolerance=0.05)
    eigenvalues = np.linalg.eigvalsh(prior.covariance(space.nodes, space.nodes))

    assert prior.power.n_terms <= 3
    assert eigenvalues.min() > -1e-13 * eigenvalues.max()


@pytest.mark.parametrize("alpha", ALPHAS)
def test_the_range_derivatives_are_those_of_differences(alpha):
    """At the default tolerance; steps of 1e-4 leave 1e-8, the fit a few times its error."""
    prior, x, step = (
        fractional(contract_space(), Matern(alpha, range=2.0, sigma=1.3)),
        contract_points(),
        1e-4,
    )
    y = contract_space().nodes
    up, down = (prior.rescaled(range=prior.range * math.exp(s)) for s in (step, -step))

    assert up.power is prior.power
    slope = (up.covariance(x, y) - down.covariance(x, y)) / (2 * step)
    assert_allclose(prior.range_derivative(x, y), slope, rtol=0, atol=1e-6)
    slope = (up.variance(y) - down.variance(y)) / (2 * step)
    assert_allclose(prior.range_derivative_of_variance(y), slope, rtol=0, atol=1e-6)


@pytest.mark.parametrize(
    ("alpha", "count"), [(0.4, 4000), (0.75, 10_000), (1.25, 4000), (1.75, 4000), (2.3, 4000)]
)
def test_paths_have_the_covariance(alpha, count):
    """Sums of independent fields at four nodes; every second moment within five standard errors."""
    space = FiniteElementSpace.build(contract_space().graph, max_cell=1.0)
    prior = fractional(space, Matern(alpha, range=2.0, sigma=1.3), robin=0.3, tolerance=0.05)
    rng, nodes = np.random.default_rng(8), [0, 2, 5, 7]
    paths = np.array([prior.field.path(rng)[nodes] for _ in range(count)]) * math.sqrt(prior.matern.amplitude)
    covariance = prior.covariance(space.nodes[nodes], space.nodes[nodes])

    assert np.abs(covariance_errors(paths, covariance)).max() < 5


def test_one_path_is_drawn_by_solves_and_many_from_the_covariance():
    """Both at points inside cells: 2,000 paths either way, five standard errors."""
    prior, x = fractional(contract_space(), Matern(0.75, range=2.0, sigma=1.3)), contract_points()
    rng = np.random.default_rng(2)
    solved = np.array([prior.sample(x, rng) for _ in range(2000)])
    covariance = prior.covariance(x, x)

    assert np.abs(covariance_errors(solved, covariance)).max() < 5
    assert np.abs(covariance_errors(prior.sample(x, rng, n=2000), covariance)).max() < 5


def test_another_sigma_shares_the_field_and_another_range_the_fit():
    prior = fractional(contract_space(), Matern(0.75, range=2.0, sigma=1.3))
    field = prior.field

    assert prior.rescaled(sigma=5.0).field is field
    assert prior.rescaled(range=2.2).power is prior.power
    assert prior.rescaled(range=200.0).lowest == pytest.approx(prior.lowest * 1e-4)


@pytest.mark.parametrize("lumped", [False, True])
def test_the_bound_on_the_spectrum_holds(lumped):
    """Unequal cells and Robin vertices; all eigenvalues, dense."""
    graph = MetricGraph([0, 1, 1], [1, 2, 1], [1.0, 0.03, 2.0])
    space, matern = FiniteElementSpace.build(graph, max_cell=0.4), Matern(0.75, kappa=1.7)
    eigenvalues = spectral(space, matern, lumped=lumped, vertex_condition=30.0).eigenvalues
    prior = fractional(space, matern, lumped=lumped, robin=30.0)
    smallest = matern.kappa**2 / (matern.kappa**2 + eigenvalues.max())

    assert prior.lowest < smallest < 100 * prior.lowest


@pytest.mark.parametrize("alpha", [0.75, 1.25])
def test_large_shifts_take_columns_instead_of_partial_fractions(alpha):
    """The closed form has shifts up to 1e5, whose powers would drown the variance in rounding errors."""
    space, matern = contract_space(), Matern(alpha, range=2.0, sigma=1.3)
    prior = fractional(space, matern)
    prior.__dict__["power"] = closed_form_power(2 * alpha, 1e-9)
    steep = prior.field.steep(smoother=True)
    x = space.nodes
    expected = spectral(space, matern)

    assert steep is not None
    assert steep.power.shifts.max() > 1e3
    assert_allclose(prior.variance(x), expected.variance(x), rtol=1e-8)
    derivative = expected.range_derivative_of_variance(x)
    assert_allclose(prior.range_derivative_of_variance(x), derivative, rtol=0, atol=1e-7)


@pytest.mark.parametrize("alpha", [0.4, 0.75, 1.25, 1.75])
def test_hyperbolic_elements_give_the_same_field_on_every_mesh(alpha):
    """The divided differences of exact elements: adding nodes changes no covariance between the others."""
    graph, rng = contract_space().graph, np.random.default_rng(4)
    power, robin = rational_power(2 * alpha, 1e-8), np.full(graph.n_vertices, 0.2)
    points = graph.points([0, 2, 3, 5], fraction=[0.3, 0.6, 0.5, 0.9])
    more = graph.points(rng.integers(0, 6, 25), fraction=rng.uniform(size=25))
    covariances, variances = [], []
    for mesh in (PointMesh.through(graph, points), PointMesh.through(graph, points, more)):
        field = RationalField(mesh.topology, ShiftedHyperbolic(mesh.cell_lengths), power, robin)
        nodes = nodes_at(mesh, points)
        unit = np.eye(mesh.n_nodes)[nodes]
        covariances.append([column[:, nodes] for column in field.columns(unit, smoother=True)])
        variances.append(field.selected().variances[nodes])

    assert_allclose(covariances[0], covariances[1], rtol=1e-10, atol=1e-12)
    assert_allclose(covariances[0][0], covariances[0][0].T, rtol=1e-10, atol=1e-12)
    assert_allclose(variances[0], np.diag(covariances[0][0]), rtol=1e-8)


@pytest.mark.parametrize("alpha", [0.75, 1.25])
def test_fine_hats_approach_hyperbolic_elements(alpha):
    """The continuum's kernel: cells of 0.004 leave about h^2 of it."""
    graph, matern = contract_space().graph, Matern(alpha, kappa=1.0)
    fine = FiniteElementSpace.build(graph, max_cell=0.004)
    points = graph.points([0, 2, 3, 5], fraction=[0.25, 0.5, 0.5, 0.75])
    mesh, power = PointMesh.through(graph, points), rational_power(2 * alpha, 1e-9)
    exact = RationalField(
        mesh.topology, ShiftedHyperbolic(mesh.cell_lengths), power, np.zeros(graph.n_vertices)
    )
    nodes = nodes_at(mesh, points)
    expected = exact.columns(np.eye(mesh.n_nodes)[nodes])[0][:, nodes]

    assert_allclose(fractional(fine, matern).covariance(points, points), expected, atol=2e-4 * expected.max())


def test_rough_paths_between_hyperbolic_nodes_are_drawn_and_smooth_ones_are_not():
    """n <= 1 has a perturbation for every element; beyond it only elements linear in s have one."""
    graph = contract_space().graph
    mesh, theta = PointMesh.through(graph, contract_points()), np.zeros(graph.n_vertices)
    rough, smooth = (
        RationalField(mesh.topology, ShiftedHyperbolic(mesh.cell_lengths), rational_power(b, 1e-2), theta)
        for b in (1.5, 2.5)
    )
    rng = np.random.default_rng(5)
    paths = np.array([rough.path(rng) for _ in range(4000)])

    assert np.abs(covariance_errors(paths, rough.columns(np.eye(mesh.n_nodes))[0])).max() < 5
    assert rough.has_paths
    assert not smooth.has_paths


def test_smooth_fields_between_hyperbolic_nodes_are_sampled_from_their_covariance():
    space = contract_space()
    prior, x = fractional(space, Matern(1.25, range=2.0, sigma=1.0)), contract_points()
    prior.__dict__["shifted"] = ShiftedHyperbolic(prior.matern.kappa * space.cell_lengths)

    assert prior.sample(x, np.random.default_rng(0)).shape == (len(x),)


def test_inside_cells_the_field_is_linear():
    """e(x) with two entries, as the paper's k_h."""
    space, matern = contract_space(), Matern(0.6, range=2.0, sigma=1.3)
    x = contract_points()

    assert_allclose(
        fractional(space, matern).covariance(x, x), element_kernel(space, matern)(x, x), rtol=0, atol=1e-7
    )


def test_an_accuracy_out_of_reach_is_refused_at_once():
    space = contract_space()
    with pytest.raises(ParameterError, match="can be approximated to"):
        fractional(space, Matern(0.75, range=2.0), tolerance=1e-18)
    with pytest.raises(ParameterError, match="the power 2 is whole"):
        fractional(space, Matern(1.0, range=2.0))
