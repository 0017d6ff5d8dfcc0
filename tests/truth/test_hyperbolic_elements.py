"""The core takes any element: with hyperbolic ones it gives the true kernel on any mesh."""

import mpmath as mp
import numpy as np
import pytest
from numpy.testing import assert_allclose

from netbo.linalg import BlockFactor, Topology
from support.reference import hyperbolic_elements

LENGTHS = np.array([0.6, 1.1])


def whittle_matern_variance(x, order):
    """k(x, x) of p = order on an interval with Neumann ends: (-1)^(p-1) G^(p-1)(s) / (p-1)! at s = 1.

    G(s) = cosh(kappa x) cosh(kappa (L - x)) / (kappa sinh(kappa L)), kappa = sqrt(s).
    """
    length = mp.mpf(float(LENGTHS.sum()))

    def green(s):
        kappa = mp.sqrt(s)
        return mp.cosh(kappa * x) * mp.cosh(kappa * (length - x)) / (kappa * mp.sinh(kappa * length))

    with mp.workdps(40):
        return float((-1) ** (order - 1) * mp.taylor(green, 1, order - 1)[-1])


@pytest.mark.parametrize("cells", [(1, 1), (2, 3), (1, 40)])
@pytest.mark.parametrize("order", [1, 2, 3, 4])
def test_hyperbolic_elements_give_the_true_kernel_at_the_nodes_of_any_mesh(cells, order):
    """On the interval the Green's function, and with it the kernel of every order, is known."""
    counts = np.array(cells)
    offsets = np.concatenate([[0], np.cumsum(counts - 1)])
    topology = Topology(tails=np.array([0, 1]), heads=np.array([1, 2]), offsets=offsets, n_vertices=3)
    starts = np.array([0.0, LENGTHS[0]])
    inner = [start + L * np.arange(1, n) / n for start, L, n in zip(starts, LENGTHS, cells, strict=True)]
    x = np.concatenate([[0.0, LENGTHS[0], LENGTHS.sum()], *inner])
    factor = BlockFactor(topology, hyperbolic_elements(LENGTHS / counts, order), order)
    expected = [whittle_matern_variance(z, order) for z in x]

    assert_allclose(factor.select().variances, expected, rtol=1e-12)
