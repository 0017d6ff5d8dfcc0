"""The user's own names of edges and vertices, and our indices of them."""

from collections.abc import Container, Hashable, Iterable, Mapping, Sequence
from difflib import get_close_matches
from itertools import islice, repeat
from typing import Any

import numpy as np

from netbo.arrays import IntArray
from netbo.errors import BaseError, GraphError, PointError

Ids = Sequence[Hashable]

MAX_IDS_SEARCHED = 10_000  # for the hint in an error message only


def as_ids(ids: Iterable[Hashable] | None, count: int, kind: str) -> Ids:
    """One unique hashable id per edge or vertex; 0, 1, 2, ... when none are given."""
    if ids is None:
        return range(count)
    known = as_sequence(ids)
    if len(known) != count:
        raise GraphError(f"{kind} ids must be {count}, got {len(known)}; give one per {kind}")
    try:
        distinct = len(set(known)) if not isinstance(known, range) else count
    except TypeError as cause:
        raise GraphError(
            f"{kind} ids must be hashable, got {known[0]!r:.60}; use strings or tuples"
        ) from cause
    if distinct != count:
        raise GraphError(
            f"{kind} ids must be unique, got {_repeated(known)!r} twice; add a counter to the id"
        )
    _require_writable(known, kind)
    return known


def _require_writable(ids: Ids, kind: str) -> None:
    """Refuse names with half a character in them: no file could hold them."""
    if isinstance(ids, range):
        return
    parts = (part for name in ids for part in (name if isinstance(name, tuple) else (name,)))
    try:
        "".join(part for part in parts if isinstance(part, str)).encode()
    except UnicodeEncodeError as cause:
        half = cause.object[cause.start]
        raise GraphError(
            f"{kind} ids must be text that can be written in UTF-8, got one with half a character "
            f"({half!r}); repair the name"
        ) from cause


def as_sequence(ids: Iterable[Hashable]) -> Ids:
    """Ids that can be counted and do not change; those of numpy become Python's own."""
    if isinstance(ids, range):
        return ids
    return tuple(ids.tolist() if isinstance(ids, np.ndarray) else ids)


def index_by_id(ids: Ids) -> Mapping[Hashable, int]:
    """Where each id stands."""
    return dict(zip(ids, range(len(ids)), strict=True))


def indices_of(asked: Any, index: Mapping[Hashable, int], kind: str, error: type[BaseError]) -> IntArray:
    """Index of each id asked for, one or several; a tuple that is itself a known id counts as one."""
    several = as_list(asked, index)
    try:
        found = np.fromiter(map(index.get, several, repeat(-1)), dtype=np.int64, count=len(several))
    except TypeError as cause:
        raise error(f"{kind} ids must be hashable, got {asked!r:.60}; pass a flat sequence of ids") from cause
    missing = np.flatnonzero(found < 0)
    if missing.size:
        raise error(
            f"no {kind} has the id {several[missing[0]]!r}; {_hint(several[missing[0]], index, kind)}"
        )
    return found


def pick(values: Any, chosen: IntArray) -> Any:
    """Values at the chosen indices: an array stays an array, anything else becomes a list."""
    if isinstance(values, np.ndarray):
        return values[chosen]
    listed = values if isinstance(values, range) else list(values)
    return [listed[position] for position in chosen.tolist()]


def as_list(asked: Any, index: Container[Hashable]) -> list[Hashable]:
    """The ids asked for, one or several; a tuple that is itself a known id counts as one."""
    if isinstance(asked, np.ndarray):
        return list(np.atleast_1d(asked).tolist())
    is_scalar = isinstance(asked, str | bytes) or not isinstance(asked, Iterable)
    if is_scalar or (isinstance(asked, tuple) and is_known(asked, index)):
        return [asked]
    return list(asked)


def is_known(asked: Any, index: Container[Hashable]) -> bool:
    """Whether something that may be no id at all is a known one."""
    try:
        return asked in index
    except TypeError:  # a tuple of arrays is no id
        return False


def require_vertex_names(
    asked: list[Hashable], edges: Container[Hashable], vertices: Container[Hashable]
) -> None:
    """Refuse names that edges have, alone or beside a vertex: it would be a guess what is meant."""
    for name in asked:
        if not is_known(name, edges):
            continue
        if is_known(name, vertices):
            raise PointError(
                f"a name must say what is meant, got {name!r}, which an edge and a vertex have; write "
                f"points({name!r}, distance) for the edge, points(vertex={name!r}) for the vertex"
            )
        raise PointError("a point needs distance or fraction, got 0 of them; pass exactly one")


def _hint(asked: Hashable, index: Mapping[Hashable, int], kind: str) -> str:
    by_text = {str(known): known for known in islice(index, MAX_IDS_SEARCHED)}
    close = get_close_matches(str(asked), by_text, n=1)
    if close:
        return f"did you mean {by_text[close[0]]!r}?"
    return f"try one of {', '.join(repr(known) for known in islice(index, 3))}, ... (graph.{kind}_ids)"


def _repeated(ids: Ids) -> Hashable:
    seen: set[Hashable] = set()
    return next(name for name in ids if name in seen or seen.add(name))  # type: ignore[func-returns-value]
