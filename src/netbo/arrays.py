"""Array types, the one place where arrays from outside are checked, and rows packed in one array."""

from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from netbo.errors import BaseError, shown

FloatArray = NDArray[np.float64]
IntArray = NDArray[np.int64]
BoolArray = NDArray[np.bool_]
SparseMatrix = Any  # scipy.sparse.csr_array: scipy ships no types


def as_float_vector(values: ArrayLike, name: str, error: type[BaseError]) -> FloatArray:
    """One-dimensional contiguous float64 copy; anything else is refused by name."""
    try:
        array = np.array(values, dtype=np.float64, ndmin=1, order="C")
    except Exception as cause:  # objects raise what they like
        raise error(f"{name} must be numbers, got {shown(values)}; convert them to float first") from cause
    if array.ndim != 1:
        raise error(f"{name} must be one-dimensional, got shape {array.shape}; flatten them first")
    return array


def as_index_vector(values: ArrayLike, name: str, error: type[BaseError]) -> IntArray:
    """One-dimensional contiguous int64 copy; fractional numbers are refused, not truncated."""
    try:
        array = np.array(values, ndmin=1, order="C")
        whole = array.astype(np.int64)
    except Exception as cause:
        raise error(f"{name} must be whole numbers, got {shown(values)}; use integer indices") from cause
    if array.ndim != 1:
        raise error(f"{name} must be one-dimensional, got shape {array.shape}; flatten them first")
    if array.dtype == np.bool_ or not np.array_equal(whole, array):
        raise error(f"{name} must be whole numbers, got {values!r:.80}; use integer indices")
    return whole


def require_finite(array: FloatArray, name: str, error: type[BaseError], remedy: str) -> None:
    """Refuse NaN and infinities, naming the first."""
    is_finite = np.isfinite(array)
    if not is_finite.all():
        bad = np.flatnonzero(~is_finite)
        raise error(f"{name} must be finite, got {array[bad[0]]} at index {bad[0]}; {remedy}")


def read_only(array: NDArray[Any]) -> NDArray[Any]:
    """The same array, locked: shared data is changed by making new data."""
    array.flags.writeable = False
    return array


def sum_by(index: IntArray, values: FloatArray, size: int) -> FloatArray:
    """Sums of the values that share an index, (size,)."""
    return np.bincount(index, weights=values, minlength=size).astype(np.float64, copy=False)


# Rows of different lengths in one array: row r of `values` is values[starts[r]:starts[r + 1]].


def row_starts(counts: IntArray) -> IntArray:
    """Where each row begins, and at the end where the last one stops, from the lengths of the rows."""
    return np.concatenate([np.zeros(1, dtype=np.int64), np.cumsum(counts, dtype=np.int64)])


def rows_of(starts: IntArray) -> IntArray:
    """Row of every entry."""
    return np.repeat(np.arange(len(starts) - 1, dtype=np.int64), np.diff(starts))


def ranges(first: IntArray, counts: IntArray, *, step: IntArray | int = 1) -> IntArray:
    """first[r], first[r] + step[r], ... with counts[r] terms, for all r in one array."""
    within = np.arange(int(counts.sum()), dtype=np.int64) - np.repeat(np.cumsum(counts) - counts, counts)
    steps = np.repeat(np.broadcast_to(np.asarray(step, dtype=np.int64), counts.shape), counts)
    return np.repeat(first, counts) + steps * within


def last_not_above(values: FloatArray, first: IntArray, last: IntArray, keys: FloatArray) -> IntArray:
    """For each key the last entry in first..last (both included) whose value is at most the key, else first.

    Bisection of all keys at once. Adding the row number to sorted values would allow one searchsorted, but
    would cost the digits that the row number takes.
    """
    low, high = first.copy(), last.copy()
    while np.any(low < high):
        middle = (low + high + 1) // 2
        is_right = values[middle] <= keys
        low = np.where(is_right, middle, low)
        high = np.where(is_right, high, np.maximum(middle - 1, low))
    return low
