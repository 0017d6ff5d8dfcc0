import numba
import numpy as np
import pytest
from numba.core.errors import NumbaError
from numpy.testing import assert_allclose, assert_array_equal

from netbo.linalg import blocks
from netbo.linalg.blocks import packed_size, zero_block
from netbo.linalg.runtime import FAST_MATH

ORDERS = (1, 2, 3, 4, 5)

# Compiled like the library's kernels but not cached: numba's cache does not see that `blocks` has changed.
fresh = numba.njit(error_model="numpy", fastmath=FAST_MATH)


@fresh
def _arithmetic(a, b):
    return (
        blocks.add(a, b),
        blocks.subtract(a, b),
        blocks.negate(a),
        blocks.transpose(a),
        blocks.multiply(a, b),
        blocks.transpose_multiply(a, b),
        blocks.multiply_transpose(a, b),
    )


@fresh
def _vectors(a, x):
    return blocks.apply(a, x), blocks.apply_transpose(a, x)


@fresh
def _corners(a, value):
    return blocks.corner(a), blocks.add_corner(a, value), blocks.order_of(a)


@fresh
def _symmetric_product(a, b):
    return blocks.symmetric_product(a, b)


@fresh
def _invert(a):
    return blocks.invert(a)


@fresh
def _copies(array, like, out):
    blocks.store(out, 0, blocks.load(array, 1, like))
    blocks.store_symmetric(out, 1, blocks.load(array, 2, like))
    blocks.store_symmetric(out, 2, blocks.load_symmetric(array, 2, like))
    blocks.store_fill(out, 2, blocks.load(array, 0, like))
    return blocks.load_symmetric(array, 2, like), blocks.load_fill(out, 2, like)


@fresh
def _views(array, dense, like):
    return blocks.load_hankel(array, 1, like), blocks.load_dense(dense, 1, 2, like)


def random_block(p, seed):
    """A p x p matrix and the same as a flat tuple."""
    matrix = np.random.default_rng(seed).standard_normal((p, p))
    return matrix, flat(matrix)


def flat(matrix):
    return tuple(matrix.ravel().tolist())


def assert_blocks(found, expected):
    """Compare flat tuples with matrices."""
    for each, matrix in zip(found, expected, strict=True):
        assert_allclose(np.reshape(each, matrix.shape), matrix, rtol=1e-14, atol=1e-14)


@pytest.mark.parametrize("p", ORDERS)
def test_sums_and_products_are_those_of_matrices(p):
    A, a = random_block(p, 1)
    B, b = random_block(p, 2)

    assert_blocks(_arithmetic(a, b), [A + B, A - B, -A, A.T, A @ B, A.T @ B, A @ B.T])


@pytest.mark.parametrize("p", ORDERS)
def test_blocks_apply_to_vectors(p):
    A, a = random_block(p, 1)
    x = np.random.default_rng(3).standard_normal(p)

    assert_blocks(_vectors(a, flat(x)), [A @ x, A.T @ x])


@pytest.mark.parametrize("p", ORDERS)
def test_the_corner_is_the_last_entry(p):
    """There sits the field, and there observations add."""
    A, a = random_block(p, 4)
    last, raised, order = _corners(a, 2.5)
    A[-1, -1] += 2.5

    assert last == a[-1]
    assert order == p
    assert_array_equal(np.reshape(raised, (p, p)), A)


@pytest.mark.parametrize("p", ORDERS)
def test_a_symmetric_product_is_the_product_where_it_is_symmetric(p):
    """A product a b' with b = a m, m symmetric; entries below the diagonal are copies of those above."""
    A, a = random_block(p, 5)
    M, _ = random_block(p, 6)
    B = A @ (M + M.T)
    found = np.reshape(_symmetric_product(a, flat(B)), (p, p))

    assert_allclose(found, A @ B.T, rtol=1e-13, atol=1e-13)
    assert_array_equal(found, found.T)


@pytest.mark.parametrize("p", ORDERS)
@pytest.mark.parametrize("seed", range(5))
def test_inverse_and_determinant_of_indefinite_symmetric_blocks(p, seed):
    """The blocks of S are indefinite for p > 1: rows have to be exchanged."""
    matrix, _ = random_block(p, seed)
    A = matrix + matrix.T
    inverse, determinant = _invert(flat(A))

    assert_allclose(np.reshape(inverse, (p, p)) @ A, np.eye(p), atol=1e-11)
    assert_allclose(determinant, abs(np.linalg.det(A)), rtol=1e-12)


@pytest.mark.parametrize("p", ORDERS)
def test_the_inverse_reads_the_upper_triangle_only(p):
    """Below it rounding may have left something else."""
    A = np.diag(np.arange(1.0, p + 1)) + 0.1
    spoiled = np.triu(A) + np.tril(np.full((p, p), np.nan), -1)
    inverse, _ = _invert(flat(spoiled))

    assert_allclose(np.reshape(inverse, (p, p)), np.linalg.inv(A), rtol=1e-13, atol=1e-14)


@pytest.mark.parametrize("p", ORDERS)
def test_a_zero_on_the_diagonal_is_no_obstacle(p):
    """Anti-triangular blocks, as without a load, have zeros there."""
    A = np.array([[1.0 + i + j if i + j < p else 0.0 for j in range(p)] for i in range(p)])
    inverse, determinant = _invert(flat(A))

    assert_allclose(np.reshape(inverse, (p, p)) @ A, np.eye(p), atol=1e-12)
    assert determinant == pytest.approx(abs(np.linalg.det(A)))


@pytest.mark.parametrize("p", [1, 2, 3, 4, 5])
def test_a_strong_corner_costs_no_entry_its_digits(p):
    """An observation of noise 1e-12: row sums times the inverse need its small entries to all digits.

    Twin: the block inverse by Schur complement of the corner, which is exact to rounding here.
    """
    matrix, _ = random_block(p, 7)
    A = matrix + matrix.T
    A[-1, -1] = 1e12
    c, M = A[:-1, -1], A[:-1, :-1]
    top = np.linalg.inv(M - np.outer(c, c) / 1e12)
    expected = np.block(
        [[top, -(top @ c)[:, None] / 1e12], [-(c @ top) / 1e12, (1 + c @ top @ c / 1e12) / 1e12]]
    )
    inverse, _ = _invert(flat(A))

    assert_allclose(np.reshape(inverse, (p, p)), expected, rtol=1e-11)


@pytest.mark.parametrize("p", ORDERS)
def test_blocks_are_read_and_written_as_rows(p):
    """Whole, as an upper triangle, and as a pivot: the triangle of its inverse with the fill behind."""
    array = np.random.default_rng(7).standard_normal((3, p * p))
    out = np.full((3, packed_size(p) + p * p), np.nan)
    symmetric, fill = _copies(array, zero_block(p), out)
    packed, upper = packed_size(p), np.triu_indices(p)
    triangle = np.zeros((p, p))
    triangle[upper] = array[2, :packed]

    assert_array_equal(np.reshape(symmetric, (p, p)), triangle + np.triu(triangle, 1).T)
    assert_array_equal(out[0, : p * p], array[1])
    assert_array_equal(out[1, :packed], array[2].reshape(p, p)[upper])
    assert_array_equal(out[2], np.r_[array[2, :packed], array[0]])
    assert_array_equal(fill, array[0])


@pytest.mark.parametrize("p", ORDERS)
def test_taylor_coefficients_make_an_anti_triangular_block(p):
    """S_ij = K_(p-1-i-j) for i + j <= p - 1, else zero."""
    array = np.random.default_rng(8).standard_normal((2, p + 1))
    dense = np.random.default_rng(9).standard_normal((p + 1, p + 2))
    hankel, view = _views(array, dense, zero_block(p))
    expected = [[array[1, p - 1 - i - j] if i + j < p else 0.0 for j in range(p)] for i in range(p)]

    assert_array_equal(np.reshape(hankel, (p, p)), expected)
    assert_array_equal(np.reshape(view, (p, p)), dense[1:, 2:])


def test_the_types_of_zeros_tell_the_order():
    assert (len(zero_block(3)), packed_size(3)) == (9, 6)


def test_block_operations_exist_only_in_compiled_code():
    with pytest.raises(RuntimeError, match=r"no interpreted form; call them inside a @kernel"):
        blocks.invert((1.0,))


@pytest.mark.parametrize("array", [np.zeros((4, 4))[:, ::2], np.zeros(4), np.zeros((3, 2), order="F")])
def test_blocks_are_read_from_contiguous_matrices_only(array):
    """Indices become pointers, without a look at strides."""

    @fresh
    def read(array, like):
        return blocks.load(array, 0, like)

    with pytest.raises(
        (TypeError, NumbaError), match=r"blocks live in C-contiguous matrices, got .*; copy it"
    ):
        read(array, zero_block(1))
