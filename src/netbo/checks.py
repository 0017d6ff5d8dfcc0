"""Checks of numbers that callers pass: expected, got, try."""

import math
from typing import Any

import numpy as np

from netbo.errors import BaseError, ParameterError


def is_number(value: Any) -> bool:
    """Whether a value is one real number, of Python, numpy or an array of no dimension."""
    is_scalar = isinstance(value, int | float | np.integer | np.floating)
    is_array = isinstance(value, np.ndarray) and value.ndim == 0 and value.dtype.kind in "fiu"
    return (is_scalar or is_array) and not isinstance(value, bool)


def is_whole(value: Any) -> bool:
    """Whether a value is a whole number of Python or numpy."""
    return isinstance(value, int | np.integer) and not isinstance(value, bool)


def require_number(name: str, value: Any, remedy: str) -> float:
    """The value as a float; refuse what is no number."""
    if not is_number(value):
        raise ParameterError(f"{name} must be a number, got {value!r}; {remedy}")
    return float(value)


def require_positive(
    name: str,
    value: Any,
    remedy: str,
    *,
    kind: str = "positive and finite",
    error: type[BaseError] = ParameterError,
) -> float:
    """The value as a float; refuse what is not a finite number above zero. `kind` says what it must be.

    >>> require_positive("width", 2, "use the unit of the graph", kind="a positive length")
    2.0
    """
    if not is_number(value) or not 0 < value < math.inf:
        raise error(f"{name} must be {kind}, got {_plain(value)!r}; {remedy}")
    return float(value)


def require_nonnegative(
    name: str,
    value: Any,
    remedy: str,
    *,
    kind: str = "a finite number, not negative",
    error: type[BaseError] = ParameterError,
) -> float:
    """The value as a float; refuse what is not a finite number of at least zero."""
    if not is_number(value) or not 0 <= value < math.inf:
        raise error(f"{name} must be {kind}, got {_plain(value)!r}; {remedy}")
    return float(value)


def require_count(name: str, value: Any, remedy: str) -> int:
    """The value as an int; refuse what is not a whole number of at least one."""
    if not is_whole(value) or value < 1:
        raise ParameterError(f"{name} must be a whole number of at least one, got {value!r}; {remedy}")
    return int(value)


def _plain(value: Any) -> Any:
    """Numbers of numpy as Python's, whose text is the number alone."""
    return value.item() if is_number(value) and hasattr(value, "item") else value
