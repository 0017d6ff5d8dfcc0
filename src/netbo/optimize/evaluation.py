"""One evaluation of the objective: what it is given, what it may return, and what is kept when it fails."""

import traceback
from collections.abc import Callable
from dataclasses import dataclass
from numbers import Real
from typing import Any

import numpy as np

from netbo.errors import ObservationError
from netbo.geometry import Point

Objective = Callable[[Point], Any]  # a number, NaN if it failed, or a pair of value and noise variance


@dataclass(frozen=True, slots=True)
class Failure:
    """An exception that was expected, as text."""

    text: str


@dataclass(frozen=True, slots=True)
class Attempt:
    """The objective, its expected exceptions caught where they happen: what is raised is not a failed value.

    It travels to other processes if the objective does.
    """

    objective: Objective
    catch: tuple[type[BaseException], ...]

    def __call__(self, point: Point) -> Any:
        """What the objective returns, or a Failure."""
        try:
            return self.objective(point)
        except self.catch as error:
            below = None if error.__traceback__ is None else error.__traceback__.tb_next
            return Failure("".join(traceback.format_exception(type(error), error, below)))


def as_answer(returned: Any) -> tuple[float, float | None]:
    """Value and noise variance from what an objective returned; None is the noise of all values."""
    is_pair = isinstance(returned, tuple | list) and len(returned) == 2
    value, noise = map(_as_number, returned) if is_pair else (_as_number(returned), None)
    if value is None or (is_pair and noise is None and returned[1] is not None):
        raise ObservationError(
            f"the objective must return a number or a pair (value, noise variance), got {returned!r:.80} "
            f"of type {type(returned).__name__}; return a float, NaN if the measurement failed"
        )
    return value, noise


def _as_number(x: Any) -> float | None:
    """A real number of any package's making, or None if it is something else."""
    if isinstance(x, bool):
        return None
    if isinstance(x, Real):
        return float(x)
    array = np.asarray(x) if hasattr(x, "__array__") else np.empty(1)
    return float(array) if array.shape == () and array.dtype.kind in "fiu" else None


def last_line(text: str) -> str:
    """The last line that says something."""
    return next((line for line in reversed(text.splitlines()) if line.strip()), "no reason given").strip()
