"""Indexed form of links: vertices numbered, curves packed and directed from tail to head."""

from collections.abc import Hashable, Mapping, Sequence
from dataclasses import dataclass
from itertools import chain
from typing import Any

import numpy as np

from netbo.adapters.assembly.directions import Ends, Packed, direct_curves, pack_curves, shared_positions
from netbo.adapters.links import Links, Treatment
from netbo.arrays import FloatArray, IntArray, ranges, row_starts, rows_of
from netbo.errors import NetworkError
from netbo.geometry.identifiers import Ids
from netbo.wording import counted

TRUST = 2.0  # links say that their curves run from tail to head: only a clear misfit is turned


@dataclass(frozen=True, eq=False)
class Lines:
    """One polyline per link in one array, and the positions of the vertices."""

    coordinates: FloatArray  # (n_corners, 2 or 3)
    starts: IntArray
    positions: FloatArray  # (n_vertices, 2 or 3)

    @property
    def dimension(self) -> int:
        """2 or 3."""
        return int(self.coordinates.shape[1])


@dataclass(frozen=True, eq=False)
class Draft:
    """Links by index, without those to be dropped."""

    links: Links
    rows: IntArray  # of `links`
    ids: Ids
    tails: IntArray
    heads: IntArray
    vertex_ids: Ids
    lengths: FloatArray  # as given, NaN where not
    treatments: Sequence[Treatment]
    lines: Lines | None
    n_turned: int
    notes: tuple[str, ...]


def make_draft(links: Links) -> Draft:
    """Draft of links; curves stored from head to tail are turned, and counted."""
    treatments = links.treatments or [Treatment.KEEP] * links.n_links
    rows = np.flatnonzero([each is not Treatment.DROP for each in treatments])
    if not rows.size:
        raise NetworkError(f"a network needs at least one link, got only dropped ones in {links.source}")
    ids = [links.ids[row] for row in rows.tolist()]
    packed, notes = _pack(links, rows, ids)
    if links.tails is not None and links.heads is not None:
        tails, heads, names = number_vertices(
            [links.tails[row] for row in rows.tolist()], [links.heads[row] for row in rows.tolist()]
        )
    else:
        tails, heads, names = _number_places(*_require_packed(packed))
    lines, n_turned, more = _draw(links, packed, (tails, heads), names)
    return Draft(
        links, rows, ids, tails, heads, names,
        np.full(len(rows), np.nan) if links.lengths is None else links.lengths[rows],
        [treatments[row] for row in rows.tolist()],
        lines, n_turned, (*notes, *more),
    )  # fmt: skip


def _pack(links: Links, rows: IntArray, ids: Ids) -> tuple[Packed | None, list[str]]:
    """All curves in one array; heights go where there is a map, whose unit need not be theirs."""
    if links.curves is None:
        return None, []
    curves = [_checked(links.curves[row], name) for row, name in zip(rows.tolist(), ids, strict=True)]
    widths = {curve.shape[1] for curve in curves if len(curve)}
    notes = []
    if links.crs is not None and 3 in widths:
        curves = [curve[:, :2] for curve in curves]
        notes.append("heights of the curves were left out: lengths are those on the map")
    elif len(widths) > 1:
        drawn = zip(ids, curves, strict=True)
        flat = next(name for name, curve in drawn if curve.shape[1] == 2 and len(curve))
        raise NetworkError(
            f"curves must all have heights or none, got none on link {flat!r}; drop or add heights"
        )
    width = 2 if links.crs is not None else max(widths, default=2)
    coordinates, starts = pack_curves(curves, width)
    bad = np.flatnonzero(~np.isfinite(coordinates).all(axis=1))
    if bad.size:
        name = ids[int(rows_of(starts)[bad[0]])]
        raise NetworkError(
            f"coordinates must be finite, got {coordinates[bad[0]]} on link {name!r}; repair its geometry"
        )
    return (coordinates + 0.0, starts), notes  # -0.0 and 0.0 are one place


_NO_CURVE: FloatArray = np.empty((0, 2))


def _checked(curve: Any, name: Hashable) -> FloatArray:
    if curve is None:
        return _NO_CURVE
    try:
        array = np.asarray(curve, dtype=np.float64)
    except (TypeError, ValueError) as cause:
        raise NetworkError(
            f"curves must be numbers, got {curve!r:.60} on link {name!r}; pass (k, 2) arrays"
        ) from cause
    if array.ndim != 2 or len(array) < 2 or array.shape[1] not in (2, 3):
        raise NetworkError(
            f"curves need two corners or more, got shape {array.shape} on link {name!r}; "
            "its geometry is empty or no line: repair or drop it"
        )
    return array


def _require_packed(packed: Packed | None) -> Packed:
    if packed is None or not np.diff(packed[1]).all():
        raise NetworkError(
            "links without vertex ids need a curve each, got one without; nothing says what it joins"
        )
    return packed


def number_vertices(tails: Sequence[Hashable], heads: Sequence[Hashable]) -> tuple[IntArray, IntArray, Ids]:
    """Numbers of the vertices in the order in which the links name them."""
    index: dict[Hashable, int] = {}
    try:
        both = chain.from_iterable(zip(tails, heads, strict=True))
        ends = [index.setdefault(name, len(index)) for name in both]
    except TypeError as cause:
        raise NetworkError(f"vertex ids must be hashable, got {tails[0]!r:.60}; use text") from cause
    pairs = np.array(ends, dtype=np.int64).reshape(-1, 2)
    return pairs[:, 0].copy(), pairs[:, 1].copy(), list(index)


def _number_places(coordinates: FloatArray, starts: IntArray) -> tuple[IntArray, IntArray, Ids]:
    """Numbers of the distinct ends of the curves in the order of the links: only equal coordinates meet."""
    places = np.stack([coordinates[starts[:-1]], coordinates[starts[1:] - 1]], axis=1)
    flat = places.reshape(-1, places.shape[2])
    _, first, inverse = np.unique(flat, axis=0, return_index=True, return_inverse=True)
    order = np.empty(len(first), dtype=np.int64)
    order[np.argsort(first)] = np.arange(len(first))
    pairs = order[inverse.ravel()].reshape(-1, 2)
    return pairs[:, 0].copy(), pairs[:, 1].copy(), range(len(first))


def _draw(links: Links, packed: Packed | None, ends: Ends, names: Ids) -> tuple[Lines | None, int, list[str]]:
    """The drawing of all links from tail to head, None where a link is neither drawn nor between places."""
    positions = as_positions(links.positions, names, width=2 if links.crs is not None else None)
    if packed is None and positions is None:
        return None, 0, []
    if packed is not None and positions is not None and packed[0].shape[1] != positions.shape[1]:
        raise NetworkError(
            f"curves and positions must share one dimension, got {packed[0].shape[1]} and "
            f"{positions.shape[1]}; drop or add heights"
        )
    if packed is None:
        width = 2 if positions is None else positions.shape[1]
        packed = np.empty((0, width)), np.zeros(len(ends[0]) + 1, dtype=np.int64)
    if positions is None and links.tails is not None:
        positions = shared_positions(packed, ends, len(names))
    elif positions is None:
        positions = np.full((len(names), packed[0].shape[1]), np.nan)
    directed = direct_curves(packed, ends, positions, trust=TRUST)
    positions = directed.positions
    missing = np.isnan(positions).any(axis=1)
    if missing.any():
        first = names[int(np.flatnonzero(missing)[0])]
        count = counted(int(missing.sum()), "vertex", "vertices")
        note = f"the network is not drawn: {count} without a position, the first is {first!r}"
        return None, 0, [note]
    lines = Lines(*_complete(directed.packed, positions, ends), positions)
    return lines, int(directed.is_turned.sum()), []


def _complete(packed: Packed, positions: FloatArray, ends: Ends) -> Packed:
    """A line for every link, straight where there is no curve."""
    coordinates, starts = packed
    counts = np.diff(starts)
    is_straight = counts == 0
    pool = np.concatenate([coordinates, positions])
    new_counts = np.where(is_straight, 2, counts)
    corners, new_starts = ranges(starts[:-1], new_counts), row_starts(new_counts)
    corners[new_starts[:-1][is_straight]] = len(coordinates) + ends[0][is_straight]
    corners[new_starts[1:][is_straight] - 1] = len(coordinates) + ends[1][is_straight]
    return pool[corners], new_starts


def as_positions(
    positions: Mapping[Hashable, Sequence[float]] | None, names: Ids, *, width: int | None
) -> FloatArray | None:
    """Places of the vertices, NaN where the source has none."""
    if positions is None:
        return None
    known = [positions.get(name) for name in names]
    lengths = {len(place) for place in known if place is not None}
    if not lengths:
        return None
    columns = min(lengths) if width is None else width
    table = np.full((len(names), columns), np.nan)
    for row, place in enumerate(known):
        if place is not None:
            table[row] = place[:columns]
    bad = np.flatnonzero(np.isinf(table).any(axis=1))
    if bad.size:
        raise NetworkError(
            f"positions must be finite, got {table[bad[0]]} at vertex {names[bad[0]]!r}; repair it"
        )
    return table + 0.0
