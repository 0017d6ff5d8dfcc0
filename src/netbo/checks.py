"""Checks of numbers that callers pass: expected, got, try."""

import inspect
import math
import os
import sys
from collections.abc import Callable, Iterable, Mapping
from contextlib import suppress
from enum import Enum
from functools import wraps
from pathlib import Path
from types import NoneType, UnionType
from typing import Any, Literal, ParamSpec, TypeVar, Union, cast, get_args, get_origin, get_type_hints

import numpy as np
from numpy.typing import ArrayLike

from netbo.errors import BaseError, ParameterError, shown


def is_number(value: Any) -> bool:
    """Whether a value is one real number, of Python, numpy or an array of no dimension."""
    if type(value) is float:
        return True
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


def require_paths(n: int) -> int:
    """A number of sample paths, which may be none at all."""
    if not is_whole(n) or n < 0:
        raise ParameterError(f"n counts sample paths, got {shown(n)}; leave it out for one")
    return int(n)


def require_seed(seed: Any) -> int:
    """The seed as an int; refuse what random streams cannot begin with."""
    if not is_whole(seed) or seed < 0:
        raise ParameterError(f"seed must be a whole number, not negative, got {shown(seed)}; 0 will do")
    return int(seed)


def _plain(value: Any) -> Any:
    """Numbers of numpy as Python's, whose text is the number alone."""
    return value.item() if is_number(value) and hasattr(value, "item") else value


# Arguments of a wrong kind, told by the annotations of a public function: looked at only when it has failed.

P = ParamSpec("P")
R = TypeVar("R")
LARGEST_WHOLE = 2**63  # that an array can hold


def explained(function: Callable[P, R]) -> Callable[P, R]:
    """The same function; where an argument is not of its kind, that is said instead of a raw error.

    >>> @explained
    ... def half(length: float) -> float:
    ...     return length / 2
    >>> half("x")
    Traceback (most recent call last):
    netbo.errors.ParameterError: length must be a number, got 'x'; see help(half)
    """

    @wraps(function)
    def call(*args: P.args, **kwargs: P.kwargs) -> R:
        try:
            return function(*args, **kwargs)
        except BaseError:
            raise
        except Exception as error:
            found = _misfit(function, args, kwargs, error)
            if found is None:
                raise
            raise ParameterError(found) from error

    return call


C = TypeVar("C", bound=type)


def explained_class(made: C) -> C:
    """The same class; arguments of its constructor are explained as by `explained`."""
    made.__init__ = explained(made.__init__)  # type: ignore[misc]
    return made


def _misfit(
    function: Callable[..., Any], args: tuple[Any, ...], kwargs: Mapping[str, Any], error: Exception
) -> str | None:
    """A sentence on the first argument that is not of its kind; None if all are, or the call is wrong."""
    try:
        given = inspect.signature(function).bind(*args, **kwargs).arguments
    except TypeError:
        return None
    given.pop("self", None)
    given.update(given.pop("options", {}))
    hints, about = _hints(function), function.__qualname__.removesuffix(".__init__")
    for name, value in given.items():
        if name in hints and not _fits(value, hints[name]):
            return f"{name} must be {_kind(hints[name])}, got {shown(value)}; see help({about})"
    for name, value in given.items():
        if not _is_ordinary(value):
            return (
                f"{name} must be of ordinary size, and text printable, got {shown(value)}; see help({about})"
            )
        if _raised_by(value, error):
            what = f"{shown(value)}, which raised {type(error).__name__}"
            return f"{name} must be something that can be used, got {what}; see help({about})"
    return None


def _is_ordinary(value: Any) -> bool:
    """Whether numbers are finite and fit into an array, and text can be written."""
    if isinstance(value, str):
        return "\0" not in value and not any("\ud800" <= c <= "\udfff" for c in value)
    if isinstance(value, int):
        return abs(value) < LARGEST_WHOLE
    return not is_number(value) or abs(float(value)) < LARGEST_WHOLE


def _raised_by(value: Any, error: BaseException) -> bool:
    """Whether an error comes from a method of the value itself; a function of the user's may raise."""
    if value is None or callable(value):
        return False
    frame = error.__traceback__
    while frame is not None:
        names = frame.tb_frame.f_code.co_varnames
        if names and frame.tb_frame.f_locals.get(names[0]) is value and names[0] == "self":
            return True
        frame = frame.tb_next
    return False


def _hints(function: Callable[..., Any]) -> dict[str, Any]:
    """Annotations as types; those of packages that are imported for type checkers only are left out."""
    try:
        return get_type_hints(function)
    except NameError:
        names = {**vars(sys.modules.get("netbo.geometry", sys)), **function.__globals__}
        found = dict[str, Any]()
        for name, text in function.__annotations__.items():
            with suppress(NameError, AttributeError, TypeError):
                found[name] = eval(text, names) if isinstance(text, str) else text
        return found


def _fits(value: Any, hint: Any) -> bool:  # noqa: PLR0911 - a table of kinds
    """Whether a value is of the kind that an annotation says; what cannot be told fits."""
    origin, inside = get_origin(hint), get_args(hint)
    if hint is ArrayLike or origin is np.ndarray:
        return _is_numeric(value)
    if origin in (Union, UnionType):
        return any(_fits(value, each) for each in inside)
    if origin is Literal:
        return any(type(value) is type(each) and value == each for each in inside)
    if origin is not None:
        return _fits_container(value, origin, inside)
    if hint is float:
        return is_number(value)
    if hint is int:
        return is_whole(value) and abs(value) < LARGEST_WHOLE
    if not isinstance(hint, type) or hint is Any:
        return True
    if getattr(hint, "_is_protocol", False):
        names = [name for name in vars(hint) if not name.startswith("_") or name == "__call__"]
        return not isinstance(value, type) and all(hasattr(value, name) for name in names)
    return isinstance(value, hint)


def _fits_container(value: Any, origin: Any, inside: tuple[Any, ...]) -> bool:
    if not isinstance(origin, type):
        return True
    if not isinstance(value, origin) or (isinstance(value, str | bytes) and origin is not type):
        return False
    if origin is tuple and Ellipsis not in inside:
        several = cast("tuple[Any, ...]", value)
        return len(several) == len(inside) and all(map(_fits, several, inside))
    if isinstance(value, list | tuple | np.ndarray) and inside and issubclass(origin, Iterable):
        return all(_fits(each, inside[0]) for each in value)
    return True


def _is_numeric(value: Any) -> bool:
    try:
        array = np.asarray(value, dtype=np.float64)
        return value is not None and array.size > 0 and bool(np.isfinite(array).all())
    except Exception:
        return False


_KINDS = {float: "a number", int: "a whole number", str: "text", bool: "True or False", NoneType: "None"}


def _kind(hint: Any) -> str:  # noqa: PLR0911 - a table of kinds
    """An annotation in words."""
    origin, inside = get_origin(hint), get_args(hint)
    if hint is ArrayLike or origin is np.ndarray:
        return "numbers"
    if origin in (Union, UnionType):
        return " or ".join(dict.fromkeys(_kind(each) for each in inside))
    if origin is Literal:
        return " or ".join(map(repr, inside))
    if hint in _KINDS:
        return _KINDS[hint]
    if isinstance(hint, type) and issubclass(hint, Enum):
        return " or ".join(str(each) for each in hint)
    if inside and origin is not None and issubclass(origin, Iterable) and origin is not tuple:
        return f"a {origin.__name__} of {_kind(inside[0])}"
    if origin is tuple:
        return f"{len(inside)} values"
    named = origin if origin is not None else hint
    name = cast(str, getattr(named, "__name__", str(named)))
    return name if name.endswith("s") else f"{'an' if name[0] in 'AEIOU' else 'a'} {name}"
