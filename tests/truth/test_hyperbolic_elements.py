"""The core takes any element: with hyperbolic ones it gives the true kernel on any mesh."""

import numpy as np
import pytest

from netbo.linalg import BlockFactor, Elements, Topology

LENGTH = 1.7


def hyperbolic_elements(cells):
    """K_0, K_1 of kappa [[coth, -csch], [-csch, coth]] in s = kappa^2 at s = 1 (NUMERICS, formula 7)."""
    off = np.stack(
        [-1 / np.sinh(cells), -(1 / np.sinh(cells) - cells * np.cosh(cells) / np.sinh(cells) ** 2) / 2]
    )
    half = cells / 2
    row = np.stack([np.tanh(half), (np.tanh(half) + half / np.cosh(half) ** 2) / 2])
    return Elements(off=np.ascontiguousarray(off.T), row=np.ascontiguousarray(row.T))


def green(x, length, s=1.0):
    """G(x, x) of s - d^2/dx^2 on [0, length] with Neumann ends."""
    kappa = np.sqrt(s)
    return np.cosh(kappa * x) * np.cosh(kappa * (length - x)) / (kappa * np.sinh(kappa * length))


def green_slope(x, length):
    """-dG/ds at s = 1 by the complex step: exact to rounding."""
    return -(np.imag(green(x, length, 1.0 + 1e-30j)) / 1e-30)


@pytest.mark.parametrize("cells", [[1, 1], [2, 3], [1, 40]])
@pytest.mark.parametrize("order", [1, 2])
def test_hyperbolic_elements_give_the_true_kernel_at_the_nodes_of_any_mesh(cells, order):
    """On the interval G is known in closed form; its s-derivative is the kernel of alpha = 1."""
    lengths = np.array([0.6, LENGTH - 0.6])
    counts = np.array(cells)
    offsets = np.concatenate([[0], np.cumsum(counts - 1)])
    topology = Topology(tails=np.array([0, 1]), heads=np.array([1, 2]), offsets=offsets, n_vertices=3)
    inner = [
        start + lengths[e] * np.arange(1, n) / n
        for e, (start, n) in enumerate(zip((0, 0.6), cells, strict=True))
    ]
    x = np.concatenate([[0.0, 0.6, LENGTH], *inner])
    factor = BlockFactor(topology, hyperbolic_elements(lengths / counts), order)
    expected = green(x, LENGTH) if order == 1 else green_slope(x, LENGTH)

    np.testing.assert_allclose(factor.select().variances, expected, rtol=1e-12)
