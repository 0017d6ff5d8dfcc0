import numpy as np
from numpy.testing import assert_array_equal

from netbo.arrays import last_not_above, ranges, row_starts, rows_of


def test_rows_of_any_length_even_none():
    starts = row_starts(np.array([2, 0, 3]))

    assert_array_equal(starts, [0, 2, 2, 5])
    assert_array_equal(rows_of(starts), [0, 0, 2, 2, 2])


def test_ranges_run_both_ways():
    first, counts = np.array([10, 5, 7]), np.array([3, 0, 2])

    assert_array_equal(ranges(first, counts), [10, 11, 12, 7, 8])
    assert_array_equal(ranges(first, counts, step=np.array([-1, 1, 1])), [10, 9, 8, 7, 8])


def test_bisection_in_rows_is_searchsorted_row_by_row():
    rng = np.random.default_rng(0)
    starts = row_starts(rng.integers(1, 9, 50))
    values = np.concatenate([np.sort(rng.random(n)) for n in np.diff(starts)])
    row, keys = rng.integers(0, 50, 400), rng.random(400)
    found = last_not_above(values, starts[row], starts[row + 1] - 1, keys)
    slow = [
        starts[r] + max(0, np.searchsorted(values[starts[r] : starts[r + 1]], key, side="right") - 1)
        for r, key in zip(row, keys, strict=True)
    ]

    assert_array_equal(found, slow)
