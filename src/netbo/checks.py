"""Checks of arguments that many modules share: a count, a number that is not negative."""

import math

import numpy as np

from netbo.errors import ParameterError


def require_nonnegative(name: str, value: object, remedy: str) -> None:
    """Refuse what is not a finite number of at least zero."""
    is_number = isinstance(value, int | float | np.integer | np.floating) and not isinstance(value, bool)
    if not is_number or not 0 <= float(value) < math.inf:  # type: ignore[arg-type]
        raise ParameterError(f"{name} must be a finite number, not negative, got {value!r}; {remedy}")


def require_count(name: str, value: object, remedy: str) -> None:
    """Refuse what is not a whole number of at least one."""
    if not isinstance(value, int | np.integer) or isinstance(value, bool) or value < 1:
        raise ParameterError(f"{name} must be a whole number of at least 1, got {value!r}; {remedy}")
