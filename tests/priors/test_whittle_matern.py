import pickle

import numpy as np
import pytest
from numpy.testing import assert_allclose, assert_array_equal

import netbo
from netbo import FiniteElementSpace, Matern
from netbo.errors import ParameterError
from netbo.priors import MeshFreePrior
from support.reference import contract_graph, contract_points, contract_space

ALPHAS = (0.5, 1.0, 1.5, 2.0)


@pytest.mark.parametrize("constant", [False, True])
@pytest.mark.parametrize("lumped", [False, True])
@pytest.mark.parametrize("alpha", ALPHAS)
def test_the_block_form_is_the_spectral_form(alpha, lumped, constant):
    """eq:kh-nodewise from eigenpairs against the factorization, with Robin vertices of all kinds."""
    space, x = contract_space(), contract_points()
    theta = np.linspace(0.0, 2.0, space.graph.n_vertices)
    matern = Matern(alpha=alpha, range=1.5, sigma=2.0)
    options = {"lumped": lumped, "vertex_condition": theta, "constant_variance": constant}
    block = netbo.whittle_matern(space, matern, **options)
    eigen = netbo.spectral(space, matern, **options)

    assert_allclose(block.covariance(x, space.nodes), eigen.covariance(x, space.nodes), rtol=1e-9, atol=1e-10)
    assert_allclose(block.variance(space.nodes), eigen.variance(space.nodes), rtol=1e-10)


@pytest.mark.parametrize("alpha", ALPHAS)
def test_far_from_vertices_the_variance_is_sigma_squared(alpha):
    """sigma is the standard deviation on the infinite line; a mesh of 1/40 of the range leaves 1e-3."""
    space = FiniteElementSpace.build(netbo.interval(20.0), max_cell=0.025)
    prior = netbo.whittle_matern(space, Matern(alpha=alpha, range=1.0, sigma=1.7))
    variance = prior.variance(space.graph.points(0, 10.0))[0]
    rough = 2e-2 if alpha == 0.5 else 1e-3  # hats have O(h) of the variance of a rough field

    assert variance == pytest.approx(1.7**2, rel=rough)


def test_a_dead_end_has_twice_the_variance():
    """Kirchhoff at degree one is Neumann: the field is reflected (item 9 of the notes on the paper)."""
    space = FiniteElementSpace.build(netbo.interval(20.0), max_cell=0.02)
    prior = netbo.whittle_matern(space, Matern(alpha=1.0, range=1.0, sigma=1.0))

    assert prior.variance(space.graph.points(0, [0.0, 20.0])) == pytest.approx([2.0, 2.0], rel=1e-3)


def test_constant_variance_is_constant():
    space = contract_space()
    prior = netbo.whittle_matern(space, Matern(alpha=1.0, range=1.0, sigma=1.5), constant_variance=True)
    x = contract_points()

    assert_array_equal(prior.variance(space.nodes), 1.5**2)
    assert_allclose(np.diag(prior.covariance(x, x)), 1.5**2, rtol=1e-12)


def test_a_strong_vertex_condition_pins_the_field():
    """theta -> infinity is Dirichlet."""
    space = contract_space()
    matern = Matern(alpha=0.5, range=1.0, sigma=1.0)
    theta = np.zeros(space.graph.n_vertices)
    theta[3] = 1e9
    free, pinned = (netbo.whittle_matern(space, matern, vertex_condition=t) for t in (0.0, theta))
    end = space.graph.vertex_points([3])

    assert free.variance(end)[0] > 1.0
    assert pinned.variance(end)[0] < 1e-8


def test_components_are_independent():
    graph, space = contract_graph(), contract_space()
    prior = netbo.whittle_matern(space, Matern(alpha=1.0, range=1.0))

    assert_array_equal(prior.covariance(graph.points(0, 0.3), graph.points(5, [0.1, 1.0])), 0.0)


def test_many_points_are_solved_for_a_few_at_a_time(monkeypatch):
    """COLUMNS bounds the memory; the result does not depend on it."""
    from netbo.priors import finite_element

    space = contract_space()
    prior = netbo.whittle_matern(space, Matern(alpha=1.0, range=1.0))
    expected = prior.covariance(space.nodes, space.nodes)
    monkeypatch.setattr(finite_element, "COLUMNS", 3)

    assert_allclose(prior.covariance(space.nodes, space.nodes), expected, rtol=1e-13, atol=1e-14)


def test_another_sigma_reuses_the_unit_field():
    """Only the range changes the factor."""
    prior = netbo.whittle_matern(contract_space(), Matern(alpha=1.0, range=1.0, sigma=1.0))
    prior.variance(contract_points())
    rescaled = prior.rescaled(sigma=2.0)

    assert rescaled.unit.factor is prior.unit.factor
    assert prior.rescaled(range=3.0).unit.factor is not prior.unit.factor


@pytest.mark.parametrize("constant", [False, True])
def test_a_prior_travels_between_processes(constant):
    """Also after use, with its factors."""
    space, x = contract_space(), contract_points()
    prior = netbo.whittle_matern(space, Matern(alpha=1.0, range=1.0), constant_variance=constant)
    expected = prior.covariance(x, x), prior.variance(x), prior.sample(x, np.random.default_rng(0))
    copy = pickle.loads(pickle.dumps(prior))

    assert_array_equal(copy.covariance(x, x), expected[0])
    assert_array_equal(copy.variance(x), expected[1])
    assert_array_equal(copy.sample(x, np.random.default_rng(0)), expected[2])


@pytest.mark.parametrize("where", [3, "network", None])
def test_the_prior_needs_a_network_or_a_space(where):
    with pytest.raises(
        ParameterError,
        match=rf"needs a network or a finite element space, got {type(where).__name__}; make one",
    ):
        netbo.whittle_matern(where, Matern(alpha=1.0, range=1.0))


@pytest.mark.parametrize("alpha", ALPHAS)
def test_a_network_gives_the_true_kernel(alpha):
    prior = netbo.whittle_matern(contract_graph(), Matern(alpha=alpha, range=1.0), vertex_condition=0.2)

    assert isinstance(prior, MeshFreePrior)
    assert prior.graph is contract_graph()
    assert not prior.is_constant
    assert_array_equal(prior.vertex_condition, 0.2)


def test_a_network_has_no_mass_to_lump():
    with pytest.raises(
        ParameterError, match=r"lumped mass belongs to a mesh, got a network; leave lumped out"
    ):
        netbo.whittle_matern(contract_graph(), Matern(alpha=1.0, range=1.0), lumped=True)


@pytest.mark.parametrize("alpha", ALPHAS)
def test_a_range_so_long_that_the_variance_is_no_number_is_refused(alpha):
    """The variance is at least kappa^(-2p) / (tau^2 length)."""
    matern = Matern(alpha=alpha, kappa=float(np.exp(-175.0 / alpha)), tau=1.0)

    with pytest.raises(
        ParameterError, match=r"prior variance must be a number, got about exp\(\d+\) for kappa"
    ):
        netbo.whittle_matern(contract_graph(), matern)


@pytest.mark.parametrize("alpha", ALPHAS)
def test_a_long_range_whose_variance_is_a_number_is_allowed(alpha):
    """A constant over the network, variance kappa^(-2p) / (tau^2 length); at 1e240 still to 1e-12."""
    graph = netbo.interval(7.0)
    kappa = 10.0 ** (-60 / alpha)
    prior = netbo.whittle_matern(graph, Matern(alpha=alpha, kappa=kappa, tau=1.0))
    variance = prior.variance(graph.points(0, [0.0, 3.0]))

    assert_allclose(np.log(variance), -4 * alpha * np.log(kappa) - np.log(7.0), rtol=1e-13)


@pytest.mark.parametrize("where", [contract_space(), contract_graph()], ids=["hats", "mesh-free"])
def test_smoother_fields_than_order_four_are_refused(where):
    with pytest.raises(
        ParameterError, match=r"alpha must be 1/2, 1, 3/2, 2 or fractional, got 2.5; lower alpha or use spec"
    ):
        netbo.whittle_matern(where, Matern(alpha=2.5, range=1.0))


@pytest.mark.parametrize(
    ("door", "where"),
    [
        (netbo.whittle_matern, contract_space()),
        (netbo.whittle_matern, contract_graph()),
        (netbo.spectral, contract_space()),
    ],
    ids=["hats", "mesh-free", "spectral"],
)
def test_vertex_conditions_are_checked(door, where):
    space, matern = where, Matern(alpha=1.0, range=1.0)

    with pytest.raises(
        ParameterError, match=r"one number or one for each of 6 vertices, got 2; 0 is Kirchhoff"
    ):
        door(space, matern, vertex_condition=[0.0, 1.0])
    with pytest.raises(ParameterError, match=r"must be finite and not negative, got -1.0; 0 is Kirchhoff"):
        door(space, matern, vertex_condition=-1.0)
    with pytest.raises(ParameterError, match=r"must be finite and not negative, got nan"):
        door(space, matern, vertex_condition=np.nan)
    with pytest.raises(ParameterError, match=r"vertex_condition must be numbers, got 'kirchhoff'"):
        door(space, matern, vertex_condition="kirchhoff")
    with pytest.raises(ParameterError, match=r"vertex_condition must be one-dimensional, got shape \(1, 1\)"):
        door(space, matern, vertex_condition=[[0.0]])
