"""Both directions of one street: found by their course, kept once, answering to both ids."""

from __future__ import annotations

import math
from collections.abc import Callable, Hashable, Iterable, Sequence
from dataclasses import dataclass

import numpy as np

from netbo.adapters.graphs.graph_rows import GraphRows, Positions
from netbo.arrays import FloatArray
from netbo.geometry.identifiers import counted

COURSE_TOLERANCE = 1e-9  # of the largest coordinate: millimetres on a map, whatever its projection
LENGTH_TOLERANCE = 1e-6  # relative: the parts of a street summed in the other order

SameStreet = Callable[[int, int], bool]


@dataclass(frozen=True, eq=False)
class TwoWays:
    """Rows to keep, the ids they answer to besides their own, and what was decided."""

    kept: list[int]
    aliases: dict[Hashable, tuple[Hashable, bool]]
    notes: tuple[str, ...]


@dataclass(frozen=True, eq=False)
class Courses:
    """Ends, lengths and courses of edges, to be compared by row."""

    rows: GraphRows
    lengths: FloatArray | None
    curves: Sequence[FloatArray | None]
    positions: Positions | None

    def is_reverse(self, one: int, other: int) -> bool:
        """Whether the other row takes the same way back; a loop must be drawn to tell."""
        a, b = self._course(one), self._course(other)
        if a is None or b is None:
            return a is b and self.rows.tails[one] != self.rows.heads[one]
        slack = COURSE_TOLERANCE * float(np.abs(a).max())
        return a.shape == b.shape and bool(np.abs(a - b[::-1]).max() <= slack)

    def is_as_long(self, one: int, other: int) -> bool:
        """Whether two rows have the same length, or neither has one."""
        if self.lengths is None:
            return True
        a, b = float(self.lengths[one]), float(self.lengths[other])
        return math.isclose(a, b, rel_tol=LENGTH_TOLERANCE) or (math.isnan(a) and math.isnan(b))

    def _course(self, row: int) -> FloatArray | None:
        tail, head, known = self.rows.tails[row], self.rows.heads[row], self.positions or {}
        if self.curves[row] is None and tail != head and tail in known and head in known:
            return np.array([known[tail], known[head]])
        return self.curves[row]


def merge_directions(
    courses: Courses, *, order: Iterable[int] | None = None, is_same_street: SameStreet = lambda i, j: True
) -> TwoWays:
    """Each pair of opposite edges of equal length and course as one; the first in `order` stays."""
    rows, waiting = courses.rows, dict[tuple[Hashable, Hashable], list[int]]()
    back_of: dict[int, int] = {}
    for row in range(len(rows.ids)) if order is None else order:
        tail, head = rows.tails[row], rows.heads[row]
        opposite = waiting.setdefault((head, tail), [])
        match = next(
            (
                other
                for other in opposite
                if is_same_street(row, other)
                and courses.is_as_long(row, other)
                and courses.is_reverse(row, other)
            ),
            None,
        )
        if match is None:
            waiting.setdefault((tail, head), []).append(row)
        else:
            opposite.remove(match)
            back_of[row] = match
    kept = [row for row in range(len(rows.ids)) if row not in back_of]
    aliases = {
        rows.ids[row]: (rows.ids[match], True)
        for row, match in back_of.items()
        if rows.ids[row] != rows.ids[match]  # one id for both directions needs no second name
    }
    return TwoWays(kept, aliases, _notes_on_pairs(len(back_of), _unequal(courses, waiting)))


def _unequal(courses: Courses, waiting: dict[tuple[Hashable, Hashable], list[int]]) -> list[tuple[int, int]]:
    """Opposite edges of one course that stayed apart because of their lengths."""
    return [
        (row, other)
        for (tail, head), several in waiting.items()
        for row in several
        for other in waiting.get((head, tail), [])
        if row < other and courses.is_reverse(row, other) and not courses.is_as_long(row, other)
    ]


def _notes_on_pairs(n_merged: int, unequal: Sequence[tuple[int, int]]) -> tuple[str, ...]:
    notes = []
    if n_merged:
        notes.append(
            f"{counted(n_merged, 'pair')} of opposite edges with one course and length became one edge each, "
            "which answers to both ids."
        )
    if unequal:
        notes.append(
            f"{counted(len(unequal), 'pair')} of opposite edges have one course but different lengths: "
            "both edges were kept."
        )
    return tuple(notes)
