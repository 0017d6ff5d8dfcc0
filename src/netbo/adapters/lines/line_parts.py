"""The lines of a frame's features: one each, or several where the parts of a feature do not join."""

from __future__ import annotations

from collections.abc import Hashable, Sequence
from dataclasses import dataclass
from itertools import pairwise
from typing import Any

import numpy as np

from netbo.arrays import FloatArray
from netbo.errors import NetworkError
from netbo.geometry.identifiers import counted
from netbo.optional import require

LINES = ("LineString", "LinearRing", "MultiLineString")


@dataclass(frozen=True, eq=False)
class LineParts:
    """Lines with their ids, the feature each belongs to, and its share of the feature's drawn length."""

    ids: list[Hashable]
    curves: list[FloatArray]
    features: list[int]
    shares: FloatArray
    notes: tuple[str, ...]


def line_parts(
    ids: Sequence[Hashable], geometries: Sequence[Any], source: str, *, heights: bool
) -> LineParts:
    """Lines of the features; a part of a feature whose parts do not join is named (id, part)."""
    _require_lines(ids, geometries, source)
    names: list[Hashable] = []
    curves: list[FloatArray] = []
    features: list[int] = []
    shares: list[float] = []
    n_split = 0
    for feature, (name, geometry) in enumerate(zip(ids, geometries, strict=True)):
        parts = _joined(geometry)
        n_split += len(parts) > 1
        names += [name] if len(parts) == 1 else [(name, number) for number in range(len(parts))]
        curves += [np.asarray(part.coords, dtype=np.float64) for part in parts]
        features += [feature] * len(parts)
        shares += _shares(parts)
    curves, notes = _without_heights(curves, heights)
    if n_split:
        notes.append(
            f"{counted(n_split, 'feature')} of several parts that do not join: each part is an edge of its "
            "own, named (id, part)."
        )
    return LineParts(names, curves, features, np.array(shares), tuple(notes))


def _require_lines(ids: Sequence[Hashable], geometries: Sequence[Any], source: str) -> None:
    for name, geometry in zip(ids, geometries, strict=True):
        if geometry is None or geometry.is_empty:
            raise NetworkError(
                f"every feature needs a line, got an empty geometry at {name!r} in {source}; "
                "keep the others with frame[frame.geometry.notna() & ~frame.is_empty]"
            )
        if geometry.geom_type not in LINES:
            raise NetworkError(
                f"features must be lines, got a {geometry.geom_type} at {name!r} in {source}; "
                "keep the lines with frame[frame.geom_type == 'LineString']"
            )
        parts = getattr(geometry, "geoms", [geometry])
        if not all(np.isfinite(np.asarray(part.coords)).all() for part in parts):
            raise NetworkError(
                f"lines must have finite coordinates, got an invalid geometry at {name!r} in {source}; "
                "repair or drop the feature"
            )


def _shares(parts: Sequence[Any]) -> list[float]:
    """Share of each part in the drawn length of all."""
    if len(parts) == 1:
        return [1.0]
    lengths = np.array([part.length for part in parts])
    return list((lengths / lengths.sum()).tolist())


def _joined(geometry: Any) -> list[Any]:
    """One line if the parts join end to end, else the parts."""
    if geometry.geom_type != "MultiLineString":
        return [geometry]
    parts = list(geometry.geoms)
    if len(parts) == 1:
        return parts
    merged = require("shapely", extra="geo", purpose="joining parts of lines").line_merge(geometry)
    if merged.geom_type != "LineString":
        return parts
    return [merged if _runs_like(merged, parts[0]) else merged.reverse()]


def _runs_like(line: Any, part: Any) -> bool:
    """Whether the line passes the first two corners of one of its parts in their order."""
    corners = list(line.coords)
    return (part.coords[0], part.coords[1]) in pairwise(corners)


def _without_heights(curves: list[FloatArray], heights: bool) -> tuple[list[FloatArray], list[str]]:
    widths = {curve.shape[1] for curve in curves}
    if widths == {2} or (heights and widths == {3}):
        return curves, []
    return [curve[:, :2] for curve in curves], [
        "Only some lines have heights: heights were left out."
        if heights
        else "Heights of the lines were left out; pass heights=True to keep them."
    ]
