import math
import pickle
from fractions import Fraction

import numpy as np
import pytest

from netbo import Point
from netbo.errors import ObservationError
from netbo.optimize.evaluation import Attempt, Failure, as_answer, last_line
from support.objectives import Unreadable, fails_near_the_tail, sometimes_unreadable


@pytest.mark.parametrize(
    "returned", [2, 2.0, np.float32(2), np.int64(2), np.array(2.0), np.array(2), Fraction(4, 2)]
)
def test_numbers_of_every_make_are_values(returned):
    assert as_answer(returned) == (2.0, None)


@pytest.mark.parametrize("pair", [(2.0, 0.25), [2, np.float64(0.25)], (np.array(2.0), np.array(0.25))])
def test_a_pair_is_a_value_and_its_noise(pair):
    assert as_answer(pair) == (2.0, 0.25)


def test_nan_is_a_value_that_failed_and_none_the_noise_of_all():
    assert math.isnan(as_answer(math.nan)[0])
    assert as_answer((2.0, None)) == (2.0, None)


@pytest.mark.parametrize(
    "returned",
    [None, "failed", True, np.True_, 1j, np.array([2.0]), (1.0, 2.0, 3.0), (1.0, "low"), (None, 1.0), {}],
)
def test_anything_else_is_named_in_the_error(returned):
    with pytest.raises(ObservationError, match=f"must return a number.*type {type(returned).__name__};"):
        as_answer(returned)


UNREADABLE = [10**400, 10**5000, -(10**400), (10**400, 1.0), (1.0, Unreadable()), Unreadable()]


@pytest.mark.parametrize("returned", UNREADABLE, ids=range(len(UNREADABLE)))
def test_an_answer_that_raises_is_named_with_what_it_raised(returned):
    with pytest.raises(ObservationError, match=r"could not be read as one \((Overflow|Runtime)Error\)"):
        as_answer(returned)


def test_an_answer_that_raises_is_a_failure_of_the_objective_where_its_exception_is_caught():
    attempt = Attempt(sometimes_unreadable, (Exception,))
    failures = [attempt(Point(0, z)) for z in (0.1, 0.3, 1.9)]

    assert all(type(failure) is Failure for failure in failures)
    assert ["OverflowError" in failure.text for failure in failures] == [True, True, False]
    with pytest.raises(ObservationError, match="could not be read"):
        Attempt(sometimes_unreadable, ())(Point(0, 0.1))


def test_an_expected_exception_becomes_its_traceback_from_the_objective_on():
    attempt = pickle.loads(pickle.dumps(Attempt(fails_near_the_tail, (RuntimeError,))))
    failure = attempt(Point(0, 0.25))

    assert isinstance(failure, Failure)
    assert "fails_near_the_tail" in failure.text
    assert "self.objective" not in failure.text
    assert last_line(failure.text) == "RuntimeError: no signal at 0.25"
    assert attempt(Point(0, 1.0)) == 1.0


def test_other_exceptions_pass():
    with pytest.raises(RuntimeError, match="no signal"):
        Attempt(fails_near_the_tail, (OSError,))(Point(0, 0.25))


def test_a_text_without_words_has_no_last_line():
    assert last_line("\n \n") == "no reason given"
