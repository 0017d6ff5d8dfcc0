import pickle

import numpy as np
import pytest
from numpy.testing import assert_allclose, assert_array_equal

import netbo
from netbo import FiniteElementSpace, MetricGraph
from netbo.errors import ParameterError
from netbo.problems import SourceInversion, SourceLoad, SourcePrior
from support.reference import mass_and_stiffness

TAILS, HEADS, LENGTHS = [0, 1, 1, 3, 2], [1, 2, 1, 2, 0], [1.0, 2.3, 1.4, 1.7, 0.9]


def tangled_space(flipped=()):
    """A loop, a cycle and a dead end, without symmetry; the named edges run the other way."""
    ends = [(h, t) if e in flipped else (t, h) for e, (t, h) in enumerate(zip(TAILS, HEADS, strict=True))]
    tails, heads = zip(*ends, strict=True)
    return FiniteElementSpace.build(MetricGraph(tails, heads, LENGTHS), max_cell=0.2)


@pytest.mark.parametrize("prior", SourcePrior)
@pytest.mark.parametrize("load", SourceLoad)
def test_the_posterior_is_that_of_a_dense_solve(load, prior):
    """Every column by a dense solve with matrices assembled by loops, every term as eq:LP prints it."""
    space = tangled_space()
    inversion = SourceInversion(space, source=17, chi=0.3, load=load, prior=prior, noise_sd=0.05, seed=3)
    C, G = mass_and_stiffness(space)
    n = len(C)
    columns = np.linalg.solve(0.09 * C + G, np.eye(n) if load is SourceLoad.POINT else C)
    truth = columns[:, 17]
    largest = np.argsort(-truth)[: n // 2]
    noise = 0.05 * np.random.default_rng(3).standard_normal(n // 2)
    log_prior = np.log(C.sum(axis=1) / C.sum()) if prior is SourcePrior.NODE_MASS else -np.log(C.sum())
    misfit = [np.sum((truth[largest] + noise - columns[largest, i]) ** 2) for i in range(n)]
    expected = -np.array(misfit) / (2 * 0.05**2) + log_prior

    assert_allclose(inversion.solution, truth, rtol=1e-10)
    assert_array_equal(inversion.observed, largest)
    assert_allclose(inversion.data, truth[largest] + noise, rtol=1e-10)
    assert_allclose(inversion.log_posterior, expected, rtol=1e-9)
    assert inversion.mode == np.argmax(expected)


def test_a_point_source_on_a_circle_spreads_as_the_green_function():
    """(chi^2 - d^2/dz^2) p = delta on length l: cosh(chi (l/2 - d)) / (2 chi sinh(chi l/2)), hats O(h^2)."""
    chi, length = 0.7, 4.0
    space = FiniteElementSpace.build(netbo.circle(length), n_nodes=400)
    solution = SourceInversion(space, source=123, chi=chi).solution
    d = space.graph.distance(space.nodes, space.nodes[[123]])[:, 0]

    assert_allclose(solution, np.cosh(chi * (2 - d)) / (2 * chi * np.sinh(2 * chi)), rtol=1e-5)


@pytest.mark.parametrize("source", [1, 17])
def test_a_load_spreads_as_much_as_it_brings_in(source):
    """chi^2 times the integral of p is the integral of g: 1 for a point, (C 1)_i for a tent."""
    space = tangled_space()
    weights = space.lumped_mass
    point, tent = (SourceInversion(space, source, chi=0.3, load=load).solution for load in SourceLoad)

    assert 0.09 * weights @ point == pytest.approx(1.0)
    assert 0.09 * weights @ tent == pytest.approx(weights[source])


@pytest.mark.parametrize("prior", SourcePrior)
@pytest.mark.parametrize("load", SourceLoad)
def test_with_tiny_noise_the_mode_is_the_source(load, prior):
    space = tangled_space()
    for source in range(space.n_nodes):
        inversion = SourceInversion(space, source, load=load, prior=prior, noise_sd=1e-6, seed=source)

        assert inversion.mode == source
        assert inversion.problem().maximizers == inversion.source_point


def test_the_node_prior_adds_half_the_degree_at_vertices():
    """On cells of one length: log(deg / 2) more than at nodes of degree two; the density adds nothing."""
    space = FiniteElementSpace.build(netbo.star(5), max_cell=0.25)
    mass, density = (SourceInversion(space, 0, prior=prior).log_prior for prior in SourcePrior)

    assert mass[0] - mass[-1] == pytest.approx(np.log(5 / 2))
    assert mass[1] - mass[-1] == pytest.approx(np.log(1 / 2))
    assert np.exp(mass).sum() == pytest.approx(1.0)
    assert np.ptp(density) == 0.0
    assert np.exp(density[0]) * space.graph.total_length == pytest.approx(1.0)


@pytest.mark.parametrize("flipped", [(0,), (2,), (1, 3, 4)])
@pytest.mark.parametrize("load", SourceLoad)
def test_flipping_edges_changes_no_posterior(load, flipped):
    space, other = tangled_space(), tangled_space(flipped)
    nodes = space.nodes
    is_flipped = np.isin(nodes.edge, flipped)
    same = netbo.Points(nodes.edge, np.where(is_flipped, space.graph.lengths[nodes.edge] - nodes.z, nodes.z))
    index = other.basis(same).toarray().argmax(axis=1)  # number of each node in the other mesh
    here = SourceInversion(space, source=20, load=load, seed=2)
    there = SourceInversion(other, source=int(index[20]), load=load, seed=2)

    assert_allclose(there.log_posterior[index], here.log_posterior, rtol=1e-9)
    assert_allclose(there.problem()(same), here.problem()(nodes), atol=1e-9)


def test_half_of_the_nodes_are_observed_where_the_solution_is_largest():
    inversion = SourceInversion(tangled_space(), source=9)
    rest = np.setdiff1d(np.arange(inversion.space.n_nodes), inversion.observed)

    assert len(inversion.observed) == inversion.space.n_nodes // 2
    assert inversion.solution[inversion.observed].min() >= inversion.solution[rest].max()
    assert len(SourceInversion(inversion.space, source=9, n_observed=3).data) == 3


def test_the_problem_is_scaled_to_the_unit_interval():
    inversion = SourceInversion(tangled_space(), source=9)
    scaled, raw = inversion.problem(), inversion.problem(scaled=False)
    nodes, log_posterior = inversion.space.nodes, inversion.log_posterior

    assert (scaled(nodes).min(), scaled(nodes).max(), scaled.maximum) == (-1.0, 0.0, 0.0)
    assert_allclose(raw(nodes), log_posterior)
    assert raw.maximum == log_posterior.max()
    assert_allclose(scaled(nodes), (log_posterior - log_posterior.max()) / np.ptp(log_posterior))


def test_between_nodes_the_objective_is_linear():
    inversion = SourceInversion(tangled_space(), source=9)
    problem, space = inversion.problem(), inversion.space
    x = space.graph.points(1, 0.5 * space.cell_lengths[1])
    ends = space.graph.points(1, [0.0, space.cell_lengths[1]])

    assert problem(x)[0] == pytest.approx(problem(ends).mean())


def test_the_same_seed_gives_the_same_data():
    space = tangled_space()
    first, same, other = (SourceInversion(space, 9, seed=seed).data for seed in (1, 1, 2))

    assert_array_equal(first, same)
    assert not np.array_equal(first, other)


def test_an_inversion_survives_pickling_after_use():
    inversion = SourceInversion(tangled_space(), source=9)
    expected = inversion.log_posterior

    assert_array_equal(pickle.loads(pickle.dumps(inversion)).log_posterior, expected)


@pytest.mark.parametrize("source", [-1, 10_000])
def test_a_source_is_a_node(source):
    with pytest.raises(ParameterError, match=rf"source must be a node in 0\.\.\d+, got {source}; see space"):
        SourceInversion(tangled_space(), source)


@pytest.mark.parametrize("count", [0, 10_000])
def test_some_nodes_are_observed(count):
    with pytest.raises(ParameterError, match=rf"n_observed must lie in 1\.\.\d+, got {count}; leave it out"):
        SourceInversion(tangled_space(), 0, n_observed=count)


@pytest.mark.parametrize("value", [0.0, -1.0, np.inf, np.nan])
def test_chi_and_noise_are_positive(value):
    with pytest.raises(ParameterError, match=r"chi must be positive and finite, got .*; the paper's is 0\.2"):
        SourceInversion(tangled_space(), 0, chi=value)
    with pytest.raises(
        ParameterError, match=r"noise_sd must be positive and finite, got .*; the paper's is 0\.1"
    ):
        SourceInversion(tangled_space(), 0, noise_sd=value)
