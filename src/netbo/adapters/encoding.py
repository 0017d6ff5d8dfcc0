"""Values that JSON lacks, written so that they come back as they were: tuples, arrays, NaN, dates."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from datetime import date, datetime
from typing import Any

import numpy as np

from netbo.errors import NetworkError

PLAIN = {int, str, bool, type(None)}
TAG = "~"  # the single key of an encoded value is this and its kind


def encode(value: Any, where: str) -> Any:  # noqa: PLR0911 (one return a kind)
    """Value in JSON's own types; `where` names it in the error if it has no such form."""
    if value is None or isinstance(value, bool | int | str):
        return value
    if isinstance(value, float):
        return float(value) if np.isfinite(value) else {TAG + "float": repr(float(value))}
    if isinstance(value, np.ndarray):
        return _encode_array(value, where)
    if isinstance(value, np.generic):
        return encode(value.item(), where)
    if isinstance(value, tuple):
        return {TAG + "tuple": [encode(entry, where) for entry in value]}
    if isinstance(value, list):
        if set(map(type, value)) <= PLAIN:
            return value
        return [encode(entry, where) for entry in value]
    if isinstance(value, range):
        return {TAG + "range": [value.start, value.stop, value.step]}
    if isinstance(value, datetime):
        return {TAG + "datetime": value.isoformat()}
    if isinstance(value, date):
        return {TAG + "date": value.isoformat()}
    if isinstance(value, Mapping) and all(isinstance(key, str) for key in value):
        return {TAG + "dict": {key: encode(entry, where) for key, entry in value.items()}}
    raise NetworkError(
        f"values must be numbers, text, dates, or lists of them to be written, got {type(value).__name__} in "
        f"{where}; leave it out with attributes=[...]"
    )


def _encode_array(array: np.ndarray, where: str) -> Any:
    if array.dtype.kind in "bi":
        return {TAG + "array": array.tolist(), "dtype": array.dtype.str, "shape": list(array.shape)}
    if array.dtype.kind == "f" and array.dtype.itemsize <= 8:
        values = array.tolist() if np.isfinite(array).all() else encode(array.tolist(), where)
        return {TAG + "array": values, "dtype": array.dtype.str, "shape": list(array.shape)}
    return encode(array.tolist(), where)


def decode(value: Any) -> Any:
    """The value that was encoded."""
    if isinstance(value, list):
        return value if set(map(type, value)) <= PLAIN | {float} else [decode(entry) for entry in value]
    if not isinstance(value, dict):
        return value
    kind = next(iter(value), None)
    readers: dict[Any, Callable[[Any], Any]] = {
        TAG + "float": float,
        TAG + "tuple": lambda entries: tuple(decode(entry) for entry in entries),
        TAG + "range": lambda entries: range(*entries),
        TAG + "datetime": datetime.fromisoformat,
        TAG + "date": date.fromisoformat,
        TAG + "dict": lambda entries: {key: decode(entry) for key, entry in entries.items()},
    }
    if kind == TAG + "array":
        return _decode_array(value[kind], np.dtype(value["dtype"])).reshape(value["shape"])
    if kind not in readers:
        raise NetworkError(f"values must be of a known kind, got {kind!r}; the file is damaged or newer")
    return readers[kind](value[kind])


def _decode_array(values: Any, dtype: np.dtype[Any]) -> np.ndarray:
    try:
        return np.array(values, dtype=dtype)
    except (TypeError, ValueError):  # NaN and infinity among the numbers
        return np.array(decode(values), dtype=dtype)
