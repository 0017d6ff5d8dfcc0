"""How commands print and draw: trials as rows of a table or of JSON, what is known so far, pictures."""

import csv
import json
import math
import sys
from collections.abc import Mapping, Sequence
from datetime import UTC, datetime
from itertools import dropwhile
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from netbo.adapters import Network
from netbo.files import as_cell
from netbo.geometry import Point, Points
from netbo.studies import State, Study, TrialRecord
from netbo.wording import extent, in_unit, length, positional, with_unit

if TYPE_CHECKING:
    from matplotlib.axes import Axes

DPI = 150  # of pictures
ADDRESS = ("id", "edge", "distance", "from", "x", "y", "z")  # columns of a table of places
Row = dict[str, Any]


def address_rows(network: Network, points: Sequence[Point]) -> list[Row]:
    """The user's address of each point, and its coordinates where there are any."""
    if not points:
        return []
    bound = Points.at(points, graph=network.graph)
    rows: list[Row] = [
        {"edge": as_json(each.edge_id), "distance": each.distance, "from": as_json(each.start)}
        for each in network.address(bound)
    ]
    if network.graph.dimension is not None:
        for row, xy in zip(rows, network.coordinates(bound).tolist(), strict=True):
            row.update(zip("xyz", xy, strict=False))
    return rows


def trial_rows(study: Study, records: Sequence[TrialRecord] | None = None) -> list[Row]:
    """One row a trial; those that never got a place are left out."""
    listed = study.records if records is None else records
    placed = [(record, record.point) for record in listed if record.point is not None]
    where = address_rows(study.network, [point for _, point in placed])
    now = study.clock.now()
    return [
        {"id": record.id, **place, **_outcome(record, now)}
        for place, (record, _) in zip(where, placed, strict=True)
    ]


def _outcome(record: TrialRecord, now: float) -> Row:
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


def as_json(value: Any) -> Any:
    """A value that JSON can hold; ids that are neither text nor number become text."""
    if isinstance(value, tuple | list):
        return [as_json(each) for each in value]
    found = value.item() if hasattr(value, "item") else value
    if isinstance(found, float):
        return found if math.isfinite(found) else None
    return found if isinstance(found, str | int | bool | type(None)) else str(found)


def print_json(document: Mapping[str, Any]) -> None:
    """Print a document; numbers have all their digits."""
    click.echo(json.dumps(document, indent=2, ensure_ascii=False, allow_nan=False))


def print_csv(rows: Sequence[Row], columns: Sequence[str]) -> None:
    """Print rows as CSV; numbers have all their digits."""
    lines = csv.writer(sys.stdout, lineterminator="\n")
    lines.writerow(columns)
    lines.writerows([as_cell(row.get(name)) for name in columns] for row in rows)


def format_table(
    rows: Sequence[Row],
    columns: Sequence[str],
    network: Network | None = None,
    value_unit: str | None = None,
) -> str:
    """A table of text: numbers to the right, words to the left, empty columns left out."""
    unit = None if network is None else network.graph.unit
    shown = [name for name in columns if any(row.get(name) not in (None, "") for row in rows)]
    units = {"distance": unit, "value": value_unit}
    heads = [with_unit(name, units.get(name)) for name in shown]
    body = [[_entry(row, name, network) for name in shown] for row in rows]
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


def _entry(row: Row, name: str, network: Network | None) -> str:
    """A cell of a table: places to the centimetre, other numbers with six digits."""
    value = row.get(name)
    if network is None or not isinstance(value, float):
        return _cell(value)
    if name in "xyz":
        return positional(value, network.decimals)
    if name == "distance":
        return length(value, network.graph.unit).split()[0]
    return _cell(value)


def _cell(value: Any) -> str:
    if value is None:
        return ""
    if isinstance(value, list):
        return str(tuple(value))
    return f"{value:.6g}" if isinstance(value, float) else one_line(str(value))


def one_line(note: str) -> str:
    """A note in one line; of a traceback only what was raised."""
    lines = note.splitlines()
    last = max((k for k, line in enumerate(lines) if line.startswith('  File "')), default=None)
    if last is not None:
        lines = list(dropwhile(lambda line: line.startswith(" "), lines[last:]))
    return " ".join(" ".join(lines).split())


def describe_point(row: Row, network: Network) -> str:
    """A point in one line: edge, distance and coordinates."""
    along = length(row["distance"], network.graph.unit)
    at = ", ".join(positional(row[axis], network.decimals) for axis in "xyz" if axis in row)
    return f"edge {_cell(row['edge'])}, {along} from {_cell(row['from'])}{f' ({at})' if at else ''}"


def headline(study: Study) -> str:
    """Name, title, direction and network of a study in one line."""
    graph, title = study.graph, f", {study.title}" if study.title else ""
    size = extent(graph.n_edges, graph.total_length, graph.unit)
    return f"study {study.name!r}{title}: {study.settings.direction} on {size}"


def duration(seconds: float) -> str:
    """Seconds as people say them.

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


# What is known so far


def best_and_recommended(study: Study) -> dict[str, Any]:
    """The best value and the recommendation, None before there is a value; and what speaks against them."""
    optimizer = study.optimizer
    if not optimizer.history.observed:
        return {"best": None, "recommendation": None, "warnings": []}
    best, found, summary = optimizer.best(), optimizer.recommend(), optimizer.summary()
    at_best, at_found = address_rows(study.network, [best.point, found.point])
    is_sure = summary.doubt is None
    spread = {
        name: value if is_sure else None
        for name, value in {"sd": found.std, "low": found.low, "high": found.high}.items()
    }
    return {
        "best": {"id": best.id, **at_best, "value": best.value},
        "recommendation": {**at_found, "mean": found.mean, **spread, "doubt": summary.doubt},
        "warnings": list(summary.warnings),
    }


def answer_lines(known: dict[str, Any], network: Network, value_unit: str | None) -> list[str]:
    """Best, recommendation and warnings, a line each."""
    best, found = known["best"], known["recommendation"]
    if best is None:
        return []
    within = found["doubt"] or f"between {found['low']:.6g} and {found['high']:.6g}"
    value, mean = in_unit(best["value"], value_unit), in_unit(found["mean"], value_unit)
    return [
        f"best         {value} at {describe_point(best, network)}, trial {best['id']}",
        f"recommended  {describe_point(found, network)}: {mean}, 95 % {within}",
        *(f"warning: {text}" for text in known["warnings"]),
    ]


# Pictures


def draw_without_window() -> None:
    """Let matplotlib draw into files only: no window system is needed."""
    import matplotlib as mpl  # noqa: PLC0415 - slow to load, and most commands draw nothing

    mpl.use("agg")


def save_picture(ax: "Axes", path: Path) -> Path:
    """Write the figure of axes, and close it."""
    from matplotlib import pyplot as plt  # noqa: PLC0415 - as above

    figure = ax.get_figure(root=True)
    assert figure is not None
    figure.savefig(path, dpi=DPI, bbox_inches="tight")
    plt.close(figure)
    return path
