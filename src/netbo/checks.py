"""Checks of numbers that callers pass: expected, got, try."""

import math
import os
from contextlib import suppress
from pathlib import Path
from typing import Any

import numpy as np

from netbo.errors import BaseError, ParameterError, shown


def is_number(value: Any) -> bool:
    """Whether a value is one real number, of Python, numpy or an array of no dimension."""
    is_scalar = isinstance(value, int | float | np.integer | np.floating)
    is_array = isinstance(value, np.ndarray) and value.ndim == 0 and value.dtype.kind in "fiu"
    if not (is_scalar or is_array) or isinstance(value, bool | np.timedelta64):
        return False
    try:
        float(value)
    except Exception:  # a whole number beyond every float, or a class of somebody's own
        return False
    return True


def is_whole(value: Any) -> bool:
    """Whether a value is a whole number of Python or numpy."""
    return isinstance(value, int | np.integer) and not isinstance(value, bool | np.timedelta64)


def require_number(name: str, value: Any, remedy: str) -> float:
    """The value as a float; refuse what is no number."""
    if not is_number(value):
        raise ParameterError(f"{name} must be a number, got {shown(value)}; {remedy}")
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
        raise error(f"{name} must be {kind}, got {shown(_plain(value))}; {remedy}")
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
        raise error(f"{name} must be {kind}, got {shown(_plain(value))}; {remedy}")
    return float(value)


def require_text(name: str, value: Any, remedy: str, *, error: type[BaseError] = ParameterError) -> str:
    """The value if it is text that can be stored: a lone half of a character cannot."""
    is_text = isinstance(value, str)
    with suppress(UnicodeEncodeError):
        if is_text:
            value.encode()
            return str(value)
    raise error(f"{name} must be text that UTF-8 can write, got {shown(value)}; {remedy}")


def require_count(name: str, value: Any, remedy: str) -> int:
    """The value as an int; refuse what is not a whole number of at least one."""
    if not is_whole(value) or value < 1:
        raise ParameterError(f"{name} must be a whole number of at least one, got {shown(value)}; {remedy}")
    return int(value)


def optional_line(name: str, text: Any, remedy: str) -> str | None:
    """A line of text without spaces at its ends; None for None and for nothing but spaces.

    >>> optional_line("title", " Leaks ", "say it in words"), optional_line("title", "", "say it in words")
    ('Leaks', None)
    """
    if text is None:
        return None
    if not isinstance(text, str) or not text.isprintable():
        raise ParameterError(f"{name} must be one line of text, got {text!r:.80}; {remedy}")
    return text.strip() or None


# Memory: what would not fit is refused before it is allocated, since the kernel kills without a word.

MEMORY_VARIABLE = "NETBO_MEMORY"  # GB that may be used, instead of what the machine has
CONTAINER_LIMITS = ("/sys/fs/cgroup/memory.max", "/sys/fs/cgroup/memory/memory.limit_in_bytes")
GB = 1e9
UNKNOWN_MEMORY = 64 * GB  # of a machine that does not say


def memory_size() -> float:
    """Bytes that the machine or the container has, or as many GB as NETBO_MEMORY says."""
    if chosen := os.environ.get(MEMORY_VARIABLE):
        try:
            size = float(chosen) * GB
        except ValueError:
            size = math.nan
        if not size > 0:
            raise ParameterError(f"{MEMORY_VARIABLE} must be a number of GB, got {chosen!r}; try 16")
        return size
    sizes = [UNKNOWN_MEMORY]
    with suppress(AttributeError, OSError, ValueError):  # sysconf is not everywhere
        sizes.append(float(os.sysconf("SC_PHYS_PAGES")) * os.sysconf("SC_PAGE_SIZE"))
    for limit in CONTAINER_LIMITS:
        with suppress(OSError, ValueError):  # "max" is no number
            sizes.append(float(Path(limit).read_text(encoding="ascii")))
    return min(sizes[1:] or sizes)


def require_memory(size: float, what: str, remedy: str, *, error: type[BaseError] = ParameterError) -> None:
    """Refuse what takes more bytes than there are; `what` begins the sentence."""
    known = memory_size()
    if size > known:
        raise error(
            f"{what}, which takes some {size / GB:.3g} GB of memory, got {known / GB:.3g} GB; {remedy} "
            f"(or set {MEMORY_VARIABLE} to the GB that may be used)"
        )


def _plain(value: Any) -> Any:
    """Numbers of numpy as Python's, whose text is the number alone."""
    return value.item() if is_number(value) and hasattr(value, "item") else value
