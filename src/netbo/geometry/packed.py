"""Rows of different lengths in one array: row r of `values` is values[starts[r]:starts[r + 1]]."""

import numpy as np

from netbo.arrays import FloatArray, IntArray


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
