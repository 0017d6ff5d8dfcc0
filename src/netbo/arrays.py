"""Array types, and the one place where arrays from outside are checked."""

from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from netbo.errors import BaseError

FloatArray = NDArray[np.float64]
IntArray = NDArray[np.int64]
BoolArray = NDArray[np.bool_]
SparseMatrix = Any  # scipy.sparse.csr_array: scipy ships no types


def as_float_vector(values: ArrayLike, name: str, error: type[BaseError]) -> FloatArray:
    """One-dimensional contiguous float64 copy; anything else is refused by name."""
    try:
        array = np.array(values, dtype=np.float64, ndmin=1, order="C")
    except (TypeError, ValueError) as cause:
        raise error(f"{name} must be numbers, got {values!r:.80}; convert them to float first") from cause
    if array.ndim != 1:
        raise error(f"{name} must be one-dimensional, got shape {array.shape}; flatten them first")
    return array


def as_index_vector(values: ArrayLike, name: str, error: type[BaseError]) -> IntArray:
    """One-dimensional contiguous int64 copy; fractional numbers are refused, not truncated."""
    try:
        array = np.array(values, ndmin=1, order="C")
        whole = array.astype(np.int64)
    except (TypeError, ValueError, OverflowError) as cause:
        raise error(f"{name} must be whole numbers, got {values!r:.80}; use integer indices") from cause
    if array.ndim != 1:
        raise error(f"{name} must be one-dimensional, got shape {array.shape}; flatten them first")
    if array.dtype == np.bool_ or not np.array_equal(whole, array):
        raise error(f"{name} must be whole numbers, got {values!r:.80}; use integer indices")
    return whole


def require_finite(array: FloatArray, name: str, error: type[BaseError], remedy: str) -> None:
    """Refuse NaN and infinities, naming the first."""
    bad = np.flatnonzero(~np.isfinite(array))
    if bad.size:
        raise error(f"{name} must be finite, got {array[bad[0]]} at index {bad[0]}; {remedy}")


def read_only(array: NDArray[Any]) -> NDArray[Any]:
    """The same array, locked: shared data is changed by making new data."""
    array.flags.writeable = False
    return array


def sum_by(index: IntArray, values: FloatArray, size: int) -> FloatArray:
    """Sums of the values that share an index, (size,)."""
    return np.bincount(index, weights=values, minlength=size).astype(np.float64, copy=False)
