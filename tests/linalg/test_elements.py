import numpy as np
import pytest
from numpy.testing import assert_allclose

from netbo import FiniteElementSpace
from netbo.linalg import hat_elements
from support.reference import assembled, contract_graph, mass_and_stiffness


@pytest.mark.parametrize("lumped", [False, True])
def test_hat_elements_assemble_to_mass_and_stiffness(lumped):
    """K = kappa^2 C + G and K' = C, in the unit of length 1/kappa."""
    kappa = 1.7
    space = FiniteElementSpace.build(contract_graph(), max_cell=0.3)
    C, G = mass_and_stiffness(space)
    C = np.diag(C.sum(axis=1)) if lumped else C
    elements = hat_elements(kappa * space.cell_lengths, 3, lumped=lumped)
    K, K1, K2, K3 = (assembled(space.topology, elements.off[:, j], elements.row[:, j]) for j in range(4))

    assert_allclose(K, kappa * C + G / kappa, rtol=1e-13, atol=1e-13)
    assert_allclose(K1, kappa * C, rtol=1e-13, atol=1e-13)
    assert not K2.any()
    assert not K3.any()


def test_row_sums_keep_their_digits_on_tiny_cells():
    """The row sum h / 2 is 1e-16 of the diagonal here: stored apart, none of its digits is lost."""
    elements = hat_elements(np.array([1e-8]), 1, lumped=False)

    assert elements.row[0, 0] == 0.5e-8
    assert elements.off[0, 0] == pytest.approx(-1e8, rel=1e-15)


def test_the_order_is_the_number_of_derivatives():
    assert hat_elements(np.array([0.1, 0.2]), 4, lumped=False).order == 4
