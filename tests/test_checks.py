import re
from collections.abc import Sequence

import numpy as np
import pytest

from netbo import checks
from netbo.checks import (
    explained,
    memory_size,
    require_count,
    require_memory,
    require_nonnegative,
    require_number,
    require_positive,
    require_seed,
)
from netbo.errors import NetworkError, ParameterError


@pytest.mark.parametrize("value", [2, 2.0, np.float32(2), np.int64(2), np.array(2.0)])
def test_numbers_of_every_make_are_numbers(value):
    each = require_number, require_positive, require_nonnegative

    assert [check("x", value, "pass a float") for check in each] == [2.0, 2.0, 2.0]


BAD = [0, -1.0, np.nan, np.inf, True, "2", None, [1.0], 10**400, 10**5000, np.timedelta64(2, "s")]


@pytest.mark.parametrize("value", BAD, ids=range(len(BAD)))
def test_what_is_not_positive_is_refused_and_shown(value):
    with pytest.raises(ParameterError, match=r"width must be a positive length, got .*; use metres"):
        require_positive("width", value, "use metres", kind="a positive length")


def test_numbers_of_numpy_are_shown_as_numbers_and_the_error_is_the_callers():
    with pytest.raises(NetworkError, match=r"snap must be a finite distance, got -0\.5; use 0"):
        require_nonnegative("snap", np.float64(-0.5), "use 0", kind="a finite distance", error=NetworkError)


@pytest.mark.parametrize("value", [0, -1, 1.0, True, "1", None, np.timedelta64(2, "s")])
def test_what_counts_nothing_is_refused(value):
    with pytest.raises(ParameterError, match=r"n must be a whole number of at least one, got .*; try 1"):
        require_count("n", value, "try 1")


def test_text_is_no_number():
    with pytest.raises(ParameterError, match="alpha must be a number, got '1'; pass a float"):
        require_number("alpha", "1", "pass a float")


def test_the_memory_is_that_of_the_machine_or_its_container_or_what_was_said(tmp_path, monkeypatch):
    monkeypatch.delenv("NETBO_MEMORY", raising=False)
    limit = tmp_path / "memory.max"
    monkeypatch.setattr(checks, "CONTAINER_LIMITS", (str(limit),))
    whole = memory_size()
    limit.write_text("max\n")

    assert 1e8 < whole == memory_size()
    limit.write_text("123456789\n")
    assert memory_size() == 123456789
    monkeypatch.setenv("NETBO_MEMORY", "2.5")
    assert memory_size() == 2.5e9
    require_memory(2.4e9, "a table", "make it smaller")
    with pytest.raises(
        ParameterError, match=r"a table, which takes some 2\.6 GB of memory, got 2\.5 GB; make it"
    ):
        require_memory(2.6e9, "a table", "make it smaller")


@pytest.mark.parametrize("text", ["much", "-1", "nan"])
def test_a_memory_that_is_no_number_is_refused(monkeypatch, text):
    monkeypatch.setenv("NETBO_MEMORY", text)

    with pytest.raises(ParameterError, match="NETBO_MEMORY must be a number of GB"):
        memory_size()


@explained
def measured(length: float, count: int = 1, names: Sequence[str] = (), at: tuple[float, float] | None = None):
    return length / count, [name.upper() for name in names], at and at[0] + at[1]


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        ({"length": "x"}, "length must be a number, got 'x'; see help(measured)"),
        ({"length": 1.0, "count": "2"}, "count must be a whole number, got '2'"),
        ({"length": 1.0, "names": [1]}, "names must be a Sequence of text, got [1]"),
        ({"length": 1.0, "at": ("a", 1.0)}, "at must be 2 values or None, got ('a', 1.0)"),
    ],
)
def test_an_argument_of_a_wrong_kind_is_named_when_a_function_fails_over_it(arguments, message):
    with pytest.raises(ParameterError, match=re.escape(message)):
        measured(**arguments)


def test_what_a_function_can_use_is_not_looked_at():
    """Annotations explain failures; they are no second opinion on what works."""
    assert measured(4, True) == (4.0, [], None)


def test_errors_that_no_argument_is_to_blame_for_stay_what_they_are():
    with pytest.raises(ZeroDivisionError):
        measured(1.0, 0)
    with pytest.raises(TypeError, match="unexpected keyword argument 'lenght'"):
        measured(lenght=1.0)


def test_a_seed_is_not_negative():
    with pytest.raises(ParameterError, match="seed must be a whole number, not negative, got -1"):
        require_seed(-1)
