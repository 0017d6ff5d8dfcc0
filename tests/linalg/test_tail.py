import numpy as np
import pytest
from numpy.testing import assert_allclose

from netbo.linalg.dense_tail import factor_tail


def quasi_definite(n, p, rng):
    """Symmetric matrix of n nodes whose p x p pivots are invertible in any order, and its row sums."""
    m = n * p
    A = rng.standard_normal((m, m)) / m
    A = A + A.T
    signs = np.array([-1.0 if i < p // 2 else 1.0 for i in range(p)])
    A[np.arange(m), np.arange(m)] += np.tile(signs, n) * 4
    blocks = A.reshape(n, p, n, p).transpose(0, 2, 1, 3)
    return A, blocks.sum(axis=1).reshape(n, p * p)


@pytest.mark.parametrize("p", [1, 2, 3, 4])
@pytest.mark.parametrize("n", [1, 5, 60, 131])
def test_the_tail_is_factored_panel_by_panel(n, p):
    """One node, one panel, several panels and a last one that is not full."""
    rng = np.random.default_rng(n)
    A, rows = quasi_definite(n, p, rng)
    lower = np.tril(A)
    for k in range(n):  # what lies on or above the block diagonal is not to be read
        lower[p * k : p * k + p, p * k :] = np.nan
    x = rng.standard_normal((n, p))
    factor = factor_tail(lower, rows.copy(), p)

    assert factor.log_determinant == pytest.approx(np.linalg.slogdet(A)[1], rel=1e-11, abs=1e-11)
    assert_allclose(factor.solve(x), np.linalg.solve(A, x.ravel()).reshape(n, p), rtol=1e-9, atol=1e-12)
    assert_allclose(factor.inverse(p), np.linalg.inv(A), rtol=1e-9, atol=1e-12)


def test_an_empty_tail_is_the_identity():
    factor = factor_tail(np.empty((0, 0)), np.empty((0, 4)), 2)

    assert factor.log_determinant == 0.0
    assert factor.solve(np.empty((0, 2))).shape == (0, 2)
    assert factor.inverse(2).shape == (0, 0)
