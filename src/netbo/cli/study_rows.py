"""Trials in the words of their user: rows for tables and for JSON."""

import json
import math
from collections.abc import Mapping, Sequence
from datetime import UTC, datetime
from itertools import dropwhile
from typing import Any

import click

from netbo.adapters import Network
from netbo.geometry import Point, Points
from netbo.geometry.identifiers import counted
from netbo.studies import Record, State, Study

Row = dict[str, Any]


def places(network: Network, points: Sequence[Point]) -> list[Row]:
    """The user's address of each point, and its coordinates where there are any."""
    if not points:
        return []
    bound = Points.at(points, graph=network.graph)
    rows: list[Row] = [
        {"edge": plain(each.edge_id), "distance": each.distance, "from": plain(each.start)}
        for each in network.address(bound)
    ]
    if network.graph.dimension is not None:
        for row, xy in zip(rows, network.coordinates(bound).tolist(), strict=True):
            row.update(zip("xyz", xy, strict=False))
    return rows


def trial_rows(study: Study, records: Sequence[Record] | None = None) -> list[Row]:
    """One row a trial; those that never got a place are left out."""
    listed = study.records if records is None else records
    placed = [(record, record.point) for record in listed if record.point is not None]
    where = places(study.network, [point for _, point in placed])
    now = study.clock.now()
    return [
        {"id": record.id, **place, **_said(record, now)}
        for place, (record, _) in zip(where, placed, strict=True)
    ]


def _said(record: Record, now: float) -> Row:
    is_open = record.state is State.PENDING
    return {
        "value": record.value,
        "noise": record.noise,
        "status": record.state.value,
        "worker": record.worker,
        "began": _iso(record.began),
        "ended": _iso(record.ended),
        "age": now - record.began if is_open and math.isfinite(record.began) else None,  # seconds
        "expires": _iso(record.expires) if is_open else None,
        "stands_for": record.stands_for,
        "note": record.note,
    }


def _iso(seconds: float | None) -> str | None:
    if seconds is None or not math.isfinite(seconds):
        return None
    return datetime.fromtimestamp(seconds, UTC).isoformat(timespec="seconds")


def plain(value: Any) -> Any:
    """A value as JSON has it; ids that are neither text nor number become text."""
    if isinstance(value, tuple | list):
        return [plain(each) for each in value]
    found = value.item() if hasattr(value, "item") else value
    if isinstance(found, float):
        return found if math.isfinite(found) else None
    return found if isinstance(found, str | int | bool | type(None)) else str(found)


def print_json(document: Mapping[str, Any]) -> None:
    """A document on stdout; numbers have all their digits."""
    click.echo(json.dumps(document, indent=2, ensure_ascii=False, allow_nan=False))


def aligned(rows: Sequence[Row], columns: Sequence[str], unit: str | None = None) -> str:
    """A table: numbers to the right, words to the left, without columns that say nothing."""
    shown = [name for name in columns if any(row.get(name) not in (None, "") for row in rows)]
    heads = [f"distance [{unit}]" if name == "distance" and unit else name for name in shown]
    body = [[_cell(row.get(name)) for name in shown] for row in rows]
    widths = [max(len(line[k]) for line in [heads, *body]) for k in range(len(shown))]
    is_number = [all(isinstance(row.get(name), int | float | None) for row in rows) for name in shown]
    lines = [
        "  ".join(
            text.rjust(width) if right else text.ljust(width)
            for text, width, right in zip(line, widths, is_number, strict=True)
        ).rstrip()
        for line in [heads, *body]
    ]
    return "\n".join(lines)


def _cell(value: Any) -> str:
    if value is None:
        return ""
    if isinstance(value, list):
        return str(tuple(value))
    return f"{value:.6g}" if isinstance(value, float) else in_short(str(value))


def in_short(note: str) -> str:
    """A note in one line; of a traceback only what was raised."""
    lines = note.splitlines()
    last = max((k for k, line in enumerate(lines) if line.startswith('  File "')), default=None)
    if last is not None:
        lines = list(dropwhile(lambda line: line.startswith(" "), lines[last:]))
    return " ".join(" ".join(lines).split())


def in_words(row: Row, unit: str | None) -> str:
    """A place in one line: edge, distance and coordinates."""
    along = f"{row['distance']:.6g}{f' {unit}' if unit else ''}"
    at = ", ".join(f"{row[axis]:.6g}" for axis in "xyz" if axis in row)
    return f"edge {_cell(row['edge'])}, {along} from {_cell(row['from'])}{f' ({at})' if at else ''}"


def headline(study: Study) -> str:
    """Which study, and what it is about."""
    graph = study.graph
    length = f"{float(graph.lengths.sum()):.6g}{f' {graph.unit}' if graph.unit else ''}"
    extent = f"{counted(graph.n_edges, 'edge')}, {length} in all"
    return f"study {study.name!r}: {study.settings.direction} on {extent}"


def duration(seconds: float) -> str:
    """A time as people say it.

    >>> [duration(each) for each in (0.2, 59, 60, 3725, 200000)]
    ['0 s', '59 s', '1 min', '1 h 2 min', '2 d 7 h']
    """
    whole = max(0, int(seconds))
    if whole < 60:
        return f"{whole} s"
    for large, small, size in (("d", "h", 86400), ("h", "min", 3600)):
        if whole >= size:
            part = whole % size // (3600 if small == "h" else 60)
            return f"{whole // size} {large}" + (f" {part} {small}" if part else "")
    return f"{whole // 60} min"
