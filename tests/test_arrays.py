import numpy as np
import pytest
from numpy.testing import assert_array_equal

from netbo.arrays import as_float_vector, as_index_vector, read_only, require_finite, sum_by
from netbo.errors import (
    BaseError,
    GraphError,
    NumericalError,
    ObservationError,
    ParameterError,
    PointError,
)


def test_vectors_are_copies_of_one_dimension():
    values = np.arange(3.0)
    copy = as_float_vector(values, "x", ParameterError)
    values[0] = 9.0

    assert_array_equal(copy, [0.0, 1.0, 2.0])
    assert_array_equal(as_float_vector(2, "x", ParameterError), [2.0])
    assert_array_equal(as_index_vector([1.0, 2.0], "i", ParameterError), [1, 2])
    assert as_index_vector([], "i", ParameterError).dtype == np.int64


def test_what_is_no_number_is_refused_by_name():
    with pytest.raises(GraphError, match=r"lengths must be numbers, got 'long'; convert them to float first"):
        as_float_vector("long", "lengths", GraphError)
    with pytest.raises(GraphError, match=r"lengths must be one-dimensional, got shape \(2, 1\); flatten"):
        as_float_vector([[1.0], [2.0]], "lengths", GraphError)


@pytest.mark.parametrize("bad", ["one", [1.5], [True, False], [None]])
def test_what_is_no_index_is_refused_by_name(bad):
    with pytest.raises(PointError, match=r"edges must be whole numbers, got .*; use integer indices"):
        as_index_vector(bad, "edges", PointError)


@pytest.mark.filterwarnings("ignore:invalid value encountered in cast:RuntimeWarning")
def test_a_missing_index_is_refused():
    with pytest.raises(PointError, match=r"edges must be whole numbers, got"):
        as_index_vector([np.nan], "edges", PointError)


def test_indices_are_one_dimensional():
    with pytest.raises(PointError, match=r"edges must be one-dimensional, got shape \(1, 2\); flatten"):
        as_index_vector([[1, 2]], "edges", PointError)


def test_the_first_value_that_is_not_finite_is_named():
    with pytest.raises(ObservationError, match=r"values must be finite, got inf at index 1; mend them"):
        require_finite(np.array([0.0, np.inf, np.nan]), "values", ObservationError, "mend them")
    require_finite(np.zeros(2), "values", ObservationError, "mend them")


def test_shared_arrays_are_locked():
    assert not read_only(np.zeros(2)).flags.writeable


def test_values_are_summed_by_index():
    assert_array_equal(sum_by(np.array([2, 0, 2]), np.array([1.0, 2.0, 3.0]), 4), [2.0, 0.0, 4.0, 0.0])
    assert_array_equal(sum_by(np.empty(0, dtype=int), np.empty(0), 2), [0.0, 0.0])


@pytest.mark.parametrize("error", [GraphError, PointError, ParameterError, ObservationError])
def test_errors_are_ours_and_those_callers_expect(error):
    assert issubclass(error, BaseError)
    assert issubclass(error, ValueError)
    assert issubclass(NumericalError, ArithmeticError)
