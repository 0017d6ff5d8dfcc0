import numpy as np
import pytest
from numpy.testing import assert_allclose

import netbo
from netbo import FiniteElementSpace, Matern
from netbo.errors import NumericalError, ParameterError
from netbo.priors import DensePrior
from support.reference import contract_points, contract_space, mass_and_stiffness


def test_eigenpairs_solve_the_generalized_problem():
    """G psi = mu C psi, orthonormal in C."""
    space = contract_space()
    prior = netbo.spectral(space, Matern(alpha=0.75, range=1.0))
    C, G = mass_and_stiffness(space)
    psi, mu = prior.eigenvectors, prior.eigenvalues

    assert_allclose(G @ psi, C @ psi * mu, atol=1e-9)
    assert_allclose(psi.T @ C @ psi, np.eye(space.n_nodes), atol=1e-11)
    assert_allclose(mu[:2], 0.0, atol=1e-11)  # constants on the two components


def test_another_range_keeps_the_eigenpairs():
    prior = netbo.spectral(contract_space(), Matern(alpha=0.75, range=1.0))

    assert prior.rescaled(range=2.0).eigenvectors is prior.eigenvectors


@pytest.mark.parametrize("constant", [False, True])
@pytest.mark.parametrize("alpha", [0.5, 0.75, 2.0])
def test_derivatives_in_the_range_are_those_of_differences(alpha, constant):
    prior = netbo.spectral(
        contract_space(), Matern(alpha=alpha, range=1.0, sigma=1.2), constant_variance=constant
    )
    x, step = contract_points(), 1e-5
    up, down = (prior.rescaled(range=np.exp(s)) for s in (step, -step))
    slope = (up.covariance(x, x) - down.covariance(x, x)) / (2 * step)

    assert isinstance(prior, DensePrior)
    assert_allclose(prior.range_derivative(x, x), slope, rtol=1e-6, atol=1e-8)
    assert_allclose(prior.range_derivative_of_variance(x), np.diag(slope), rtol=1e-6, atol=1e-8)


def test_large_spaces_are_sent_to_the_block_form():
    space = FiniteElementSpace.build(netbo.interval(), n_nodes=2001)

    with pytest.raises(ParameterError, match=r"dense, at most 2000 nodes, got 2001; use whittle_matern or a"):
        netbo.spectral(space, Matern(alpha=1.0, range=1.0))


@pytest.mark.parametrize("reach", [1e-6, 1e-3, 1.0])
@pytest.mark.parametrize("alpha", [0.5, 1.0, 2.0])
def test_a_long_range_drowns_in_no_rounding(alpha, reach):
    """The constants of each component have eigenvalue 0 exactly; eigh alone leaves eps times the largest."""
    graph = netbo.MetricGraph([0, 1, 1, 3], [1, 2, 1, 4], [1.0, 2.0, 0.7, 1.5])
    space = netbo.FiniteElementSpace.build(graph, max_cell=0.1)
    matern = netbo.Matern(alpha=alpha, range=graph.diameter / reach)
    block = netbo.whittle_matern(space, matern).covariance(space.nodes, space.nodes)
    found = netbo.spectral(space, matern).covariance(space.nodes, space.nodes)

    assert_allclose(found, block, rtol=1e-9, atol=1e-12 * block.max())  # 0 between components


def test_cells_of_very_unequal_size_are_refused_rather_than_wrong():
    """With cells of 5e-10 and 5e8 eigh knows no small eigenvalue; the block form has all its digits."""
    graph = netbo.MetricGraph([0, 1, 2, 0], [1, 2, 3, 3], [1e-9, 1.0, 1e9, 3e3])
    space = netbo.FiniteElementSpace.build(graph, n_nodes=30, min_cells=2)
    matern = netbo.Matern(alpha=1.0, range=1e3)

    assert np.isfinite(netbo.whittle_matern(space, matern).variance(space.nodes)).all()
    with pytest.raises(NumericalError, match=r"known to .* only .*; use whittle_matern"):
        netbo.spectral(space, matern).variance(space.nodes)
