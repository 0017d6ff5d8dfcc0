"""What people tell an optimizer, checked before anything is recorded."""

import math
from collections.abc import Iterable, Sequence
from typing import Any

import numpy as np

from netbo.errors import ObservationError, PointError
from netbo.geometry import MetricGraph, Point, Points
from netbo.optimize.history import Told
from netbo.optimize.suggestion import Suggestion

FAILED = "failed"  # said instead of a value

Subject = Suggestion | int | Point | Points


def is_number(value: Any) -> bool:
    """Whether a value is one real number, of Python, numpy or an array of no dimension."""
    is_scalar = isinstance(value, int | float | np.integer | np.floating)
    is_array = isinstance(value, np.ndarray) and value.ndim == 0 and value.dtype.kind in "fiu"
    return (is_scalar or is_array) and not isinstance(value, bool)


def as_told(value: Any, noise: Any = None, note: str = "") -> Told:
    """One value with its noise variance; NaN, None and 'failed' are failures, infinities are refused."""
    variance = _as_noise(noise)
    if value is None or (isinstance(value, str) and value == FAILED):
        return Told(None, variance, note)
    if not is_number(value):
        raise ObservationError(f"a value must be a number, NaN or 'failed', got {value!r:.80}; pass a float")
    number = float(value)
    if math.isinf(number):
        raise ObservationError(
            f"a value must be finite, got {number}; tell NaN or 'failed' if the measurement failed"
        )
    return Told(None if math.isnan(number) else number, variance, note)


def _as_noise(noise: Any) -> float | None:
    if noise is None:
        return None
    if not is_number(noise):
        raise ObservationError(f"noise must be a variance, got {noise!r:.80}; pass a float")
    variance = float(noise)
    if math.isnan(variance):
        return None
    if not 0 < variance < math.inf:
        raise ObservationError(
            f"noise must be a positive variance, got {variance}; leave it out if it is that of all values"
        )
    return variance


def as_subjects(subject: Any, graph: MetricGraph) -> tuple[list[int | Point], bool]:
    """Trial ids and places meant by what was passed to tell, and whether it was one thing."""
    if isinstance(subject, Points):
        return list(graph.bind(subject)), False
    if isinstance(subject, Suggestion | Point | int | np.integer) and not isinstance(subject, bool):
        return [_as_subject(subject, graph)], True
    if isinstance(subject, str) or not isinstance(subject, Iterable):
        raise ObservationError(
            f"tell needs a suggestion, its id or a point, got {subject!r:.80}; pass what ask() returned"
        )
    return [_as_subject(each, graph) for each in subject], False


def _as_subject(subject: Any, graph: MetricGraph) -> int | Point:
    if isinstance(subject, Suggestion):
        return subject.id
    if isinstance(subject, int | np.integer) and not isinstance(subject, bool):
        return int(subject)
    return as_place(subject, graph)


def as_place(place: Any, graph: MetricGraph) -> Point:
    """A place of the network, with its address in full."""
    if isinstance(place, Points):
        if len(place) != 1:
            raise PointError(f"a measurement has one place, got {len(place)}; pass one of them")
        return graph.bind(place)[0]
    if not isinstance(place, Point):
        raise PointError(
            f"a place must be a Point or Points, got {place!r:.80}; "
            "make one with graph.points(edge, distance)"
        )
    return Points.at(place, graph=graph)[0]


def spread(values: Any, n: int, is_single: bool, name: str) -> Sequence[Any]:
    """One entry for each of n trials."""
    if is_single and (not isinstance(values, list | tuple | np.ndarray) or np.ndim(values) == 0):
        return [values]
    is_one = isinstance(values, str | Point) or not isinstance(values, Iterable) or is_number(values)
    if is_one:
        return [values] * n if name != "values" or n == 1 else _refuse(values, n)
    listed = list(values)
    if len(listed) != n:
        raise ObservationError(f"{name} must be one for each of {n} trials, got {len(listed)}")
    return listed


def _refuse(values: Any, n: int) -> Sequence[Any]:
    raise ObservationError(f"values must be one for each of {n} trials, got {values!r:.80}; pass a sequence")
