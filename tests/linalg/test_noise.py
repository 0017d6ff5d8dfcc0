import numpy as np
import pytest
from numpy.testing import assert_array_equal

import netbo
from netbo.errors import ParameterError
from netbo.linalg import FieldNoise, hat_elements
from support.reference import covariance_errors, hyperbolic_elements, taylor_matrices

DRAWS = 20_000


def small_space() -> netbo.FiniteElementSpace:
    """A loop, a single-cell loop, parallel edges: 9 nodes."""
    graph = netbo.MetricGraph([0, 0, 0, 1], [0, 1, 1, 1], [1.0, 0.7, 1.4, 0.4])
    return netbo.FiniteElementSpace(graph, np.array([3, 2, 4, 1]))


def noise_covariance(K, p):
    """Covariance of the right-hand side, rows of a node together (formula 5 of the numerics)."""
    n = len(K[0])
    blocks = {
        1: {(0, 0): K[0]},
        2: {(0, 0): K[1]},
        3: {(0, 0): -K[2], (1, 1): K[0]} if p == 3 else {},
        4: {(0, 0): K[3], (0, 1): K[2], (1, 0): K[2], (1, 1): K[1]} if p == 4 else {},
    }[p]
    covariance = np.zeros((n * p, n * p))
    for (i, j), block in blocks.items():
        covariance[i::p, j::p] = block
    return covariance


@pytest.mark.parametrize("p", [1, 2, 3, 4])
@pytest.mark.parametrize("kind", ["consistent", "lumped", "hyperbolic"])
def test_right_hand_sides_have_the_covariance_of_formula_five(kind, p):
    """20,000 draws; every entry within five standard errors. Robin parameters add to K_0 only."""
    space, robin = small_space(), np.array([0.8, 0.3])
    cells = 1.5 * space.cell_lengths
    elements = (
        hyperbolic_elements(cells, p + 1)
        if kind == "hyperbolic"
        else hat_elements(cells, p + 1, lumped=kind == "lumped")
    )
    noise, rng = FieldNoise(space.topology, elements, p, robin), np.random.default_rng(p)
    draws = np.zeros((DRAWS, space.n_nodes, p))
    for draw in draws:
        noise.add(rng, 1.0, draw)
    expected = noise_covariance(taylor_matrices(space.topology, elements, robin), p)
    drawn = np.flatnonzero(np.diag(expected) > 1e-14)
    quiet = np.setdiff1d(np.arange(len(expected)), drawn)
    flat = draws.reshape(DRAWS, -1)

    assert np.abs(covariance_errors(flat[:, drawn], expected[np.ix_(drawn, drawn)])).max() < 5
    assert_array_equal(flat[:, quiet], 0.0)


def test_noise_is_added_and_scaled():
    space = small_space()
    noise = FieldNoise(space.topology, hat_elements(space.cell_lengths, 3, lumped=False), 2, np.zeros(2))
    once, twice = np.ones((2, space.n_nodes, 2))
    noise.add(np.random.default_rng(0), 1.0, once)
    noise.add(np.random.default_rng(0), 2.0, twice)

    np.testing.assert_allclose(twice - 1, 2 * (once - 1), rtol=1e-12, atol=1e-14)


def test_orders_without_a_known_noise_are_refused():
    space = small_space()

    with pytest.raises(ParameterError, match=r"samples exist for 2 alpha = 1, 2, 3, 4, got 5; lower alpha"):
        FieldNoise(space.topology, hat_elements(space.cell_lengths, 6, lumped=False), 5, np.zeros(2))
