"""The command `netbo study import`: many values told from a CSV file, all of them checked before any is."""

from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

import click
import numpy as np

from netbo.adapters.tables import Table, as_number, as_table
from netbo.cli.app import spoken
from netbo.cli.options import (
    PATH,
    StudyRef,
    column_options,
    read_measurements,
    show_skipped,
    study_command,
    study_options,
)
from netbo.cli.output import ADDRESS, Row, address_rows, format_table, print_json
from netbo.errors import BaseError, ObservationError, ParameterError
from netbo.geometry import Point
from netbo.optimize.arguments import FAILED, as_told
from netbo.studies import State, Study
from netbo.wording import counted

DIGITS = 9  # of a position along its edge: files round
TOLD = (State.OBSERVED, State.FAILED, State.WITHDRAWN)
TELL, ADD, KNOWN, REFUSED = "tell", "add", "known already", "refused"  # what becomes of a row
MEND = "correct or delete such rows, or pass --skip-bad"

Key = tuple[int, float, float | None]


@dataclass(frozen=True, slots=True)
class Entry:
    """A row of the file that can be told."""

    row: int
    value: float | None  # None: failed
    noise: float | None
    note: str
    trial: int | None = None  # the suggestion that it answers; None: a measurement nobody asked for
    point: Point | None = None
    off: float = 0.0
    key: str | None = None
    is_known: bool = False  # the study has it


@study_command("import")
@click.argument("data", metavar="FILE.csv", type=PATH)
@column_options("noise")
@click.option("--id", "trial", help="Column of suggestion ids; rows with an id are told at its place.")
@click.option("--note", help="Column of remarks.")
@click.option("--key", help="Column of your own keys: a row told twice under its key is told once.")
@click.option("--only-new", is_flag=True, help="Leave out rows that are in the study already.")
@click.option("--again", is_flag=True, help="Add every row, also those that are in the study already.")
@click.option("--dry-run", is_flag=True, help="Show what would become of each row, and write nothing.")
@study_options
def import_(ref: StudyRef, data: Path, only_new: bool, again: bool, dry_run: bool, **columns: Any) -> None:
    """Tell many values at once, a line each: of suggestions by --id, or measured before or elsewhere.

    A value is a number, or `failed`. The whole file is checked before anything is written. Rows with the
    place and the value of a trial are refused unless --only-new or --again says what to do with them:
    --only-new also completes an import that was broken off, and follows a file that grows. Rows with an id or
    a key are told once, however often they are read.
    """
    if again and only_new:
        raise ParameterError("--again adds every row and --only-new does not, got both; choose one")
    study, is_lenient = ref.open(), dry_run or columns["skip_bad"]
    with spoken(lambda: {"sep": "--sep"}):
        table = as_table(data, sep=columns["sep"], what="measurements")
    entries = [_compared(study, entry, table) for entry in _read(study, table, columns, is_lenient)]
    entries = _known_again(study, table, entries, again=again)
    repeated = [e for e in entries if e.is_known and e.trial is None and e.key is None]
    if dry_run:
        _print_plan(ref, study, table, entries)
        if table.bad and not columns["skip_bad"]:
            raise ParameterError(
                f"{counted(len(table.bad), 'row')} of {data} would be refused, and so the others; {MEND}"
            )
    if not columns["skip_bad"]:
        table.require_good(MEND)
    if repeated and not only_new:
        raise ParameterError(
            f"{len(repeated)} of {len(entries)} rows of {data} are in the study already, with the same "
            "place and value; --only-new adds the others, --again adds all of them once more"
        )
    if not dry_run:
        skipped = [f"{table.where(row)}: {reason}" for row, reason in sorted(table.bad.items())]
        show_skipped(data, skipped)
        _print_import(ref, study, data, skipped, entries, _write(study, data, table, entries))


# Reading: what is wrong with a row is noted in its table.


def _read(study: Study, table: Table, columns: Mapping[str, Any], is_lenient: bool) -> list[Entry]:
    """The rows that can be told, in their order; a bad one ends it unless `is_lenient`."""
    cells = _cells(table, columns)
    asked = [row for row, number in enumerate(cells["trial"]) if number is not None]
    others = [row for row in range(len(table)) if cells["trial"][row] is None]
    points = _placed(study, table, others, columns, is_lenient) if others else {}
    entries = []
    for row in sorted([*asked, *points]):
        try:
            entries.append(_entry(row, {name: column[row] for name, column in cells.items()}, points))
        except BaseError as cause:
            if not is_lenient:
                raise ObservationError(f"{table.where(row)}: {cause}") from cause
            table.note_bad(row, str(cause))
    return [entry for entry in entries if entry.row not in table.bad]


def _cells(table: Table, columns: Mapping[str, Any]) -> dict[str, list[Any]]:
    """Cells of the columns that were named, None where there is no column or nothing in it."""
    nothing = [None] * len(table)
    named = {name: columns[name] for name in ("trial", "value", "noise", "note", "key")}
    return {name: nothing if column is None else table.column(column) for name, column in named.items()} | {
        "needs_key": [named["key"] is not None] * len(table)
    }


def _entry(row: int, cell: Mapping[str, Any], points: Mapping[int, tuple[Point, float]]) -> Entry:
    value, noise = cell["value"], cell["noise"]
    is_failed = value == FAILED
    if not is_failed and not np.isfinite(as_number(value)):
        raise ObservationError(f"a value must be a finite number or 'failed', got {value!r:.60}; write 12.5")
    if noise is not None and not np.isfinite(as_number(noise)):
        raise ObservationError(
            f"noise must be a variance, got {noise!r:.60}; leave the cell empty if unknown"
        )
    told = as_told(
        FAILED if is_failed else as_number(value),
        None if noise is None else as_number(noise),
        str(cell["note"] or ""),
    )
    said = (row, told.value, told.noise, told.note)
    if cell["trial"] is not None:
        number = _plain(cell["trial"])
        if not isinstance(number, int):
            raise ObservationError(f"the id of a suggestion is a whole number, got {number!r:.60}; mend it")
        return Entry(*said, trial=number)
    if cell["needs_key"] and cell["key"] is None:
        raise ObservationError("a row needs its key, got nothing; fill it, or leave out --key")
    point, off = points[row]
    return Entry(*said, point=point, off=off, key=None if cell["key"] is None else str(_plain(cell["key"])))


def _plain(cell: Any) -> Any:
    """A whole number where pandas has a float, since cells of its column are empty."""
    return int(cell) if isinstance(cell, float) and cell.is_integer() else cell


def _placed(
    study: Study, table: Table, rows: Sequence[int], columns: Mapping[str, Any], is_lenient: bool
) -> dict[int, tuple[Point, float]]:
    """Point and distance off the network of rows without a suggestion."""
    value = columns["value"]
    frame = table.frame.iloc[list(rows)].reset_index(drop=True)
    is_failed = [cell == FAILED for cell in table.column(value)]
    if any(is_failed[row] for row in rows):  # they have a place all the same
        frame[value] = [0.0 if is_failed[row] else table.column(value)[row] for row in rows]
    bad = {k: table.bad[row] for k, row in enumerate(rows) if row in table.bad}
    part = Table(
        table.name, frame, None if table.lines is None else table.lines[list(rows)], table.notes, bad
    )
    words = {name: columns[name] for name in ("value", "x", "y", "edge", "distance", "crs", "limit")}
    try:
        measured = read_measurements(study.network, part, {**words, "skip_bad": is_lenient})
    except BaseError:
        if not is_lenient or len(part.bad) < len(rows) or len(rows) == len(table):
            raise
        measured = None  # not one of them is good, but there are suggestions
    for k, reason in part.bad.items():
        table.note_bad(rows[k], reason)
    return (
        {}
        if measured is None
        else {
            rows[k]: (point, off)
            for k, point, off in zip(
                measured.rows.tolist(), measured.points, measured.off.tolist(), strict=True
            )
        }
    )


# What the study has already


def _compared(study: Study, entry: Entry, table: Table) -> Entry:
    """The row, known if its suggestion or its key was told the same; noted as bad if it was told another."""
    try:
        if entry.trial is not None:
            return _compared_with_trial(study, entry, entry.trial)
        if entry.key is not None and entry.point is not None:
            found = study.trial_store.find(entry.key, entry.point, entry.value)
            return replace(entry, is_known=found is not None)
    except ObservationError as cause:
        table.note_bad(entry.row, str(cause))
    return entry


def _compared_with_trial(study: Study, entry: Entry, number: int) -> Entry:
    record = study.trial_store.record(number) if number >= 0 else None
    if record is None:
        raise ObservationError(f"no suggestion has the id {number}; netbo study status shows them")
    is_told = record.state in TOLD
    is_known = is_told and entry.value in (record.value, study.trial_store.first_value(record))
    if is_told and not is_known:
        raise ObservationError(
            f"trial {number} is {record.state.value}, value {record.value}, got {entry.value}; "
            f"netbo study correct {number} VALUE replaces it"
        )
    return replace(entry, point=record.point, is_known=is_known)


def _known_again(study: Study, table: Table, entries: Sequence[Entry], *, again: bool) -> list[Entry]:
    """Rows that are in the study, or in the file before: by suggestion, by key, or by place and value.

    One that is twice in the file is known by place and value only if it is twice in the study.
    """
    there = Counter[Key]() if again else _told_places(study)
    seen: dict[int | str, Entry] = {}
    compared = []
    for entry in entries:
        name = entry.trial if entry.trial is not None else entry.key
        is_known = entry.is_known
        if name is None and entry.point is not None:
            found = _place_and_value(study, entry.point, entry.value)
            is_known = there[found] > 0
            there[found] -= 1
        elif name is not None and name in seen:
            is_known, first = True, seen[name]
            if (first.value, first.point) != (entry.value, entry.point):
                table.note_bad(entry.row, f"{name!r} stands for another value in {table.where(first.row)}")
        elif name is not None:
            seen[name] = entry
        compared.append(replace(entry, is_known=is_known))
    return compared


def _told_places(study: Study) -> Counter[Key]:
    """How often each place has each value, also as first told: a correction leaves that."""
    stored = study.storage.get_all_trials(study.trial_store.study_id, deepcopy=False)
    return Counter(
        _place_and_value(study, record.point, value)
        for record in study.records
        if record.point is not None and record.state in TOLD
        for value in {record.value, *(stored[record.id].values or [])}
    )


def _place_and_value(study: Study, point: Point, value: float | None) -> Key:
    return int(point.edge), round(point.z / float(study.graph.lengths[point.edge]), DIGITS), value


# Writing and printing


def _write(study: Study, data: Path, table: Table, entries: Sequence[Entry]) -> list[int]:
    """Ids of the trials that were told or added."""
    written = []
    for entry in entries:
        if entry.is_known or entry.row in table.bad:
            continue
        value = FAILED if entry.value is None else entry.value
        note = entry.note or f"{data.name}, {table.where(entry.row)}"
        if entry.trial is not None:
            written.append(study.tell(entry.trial, value, entry.noise, note=note))
        else:
            written.append(study.add_observation(entry.point, value, entry.noise, note=note, key=entry.key))
    return written


def _print_import(
    ref: StudyRef,
    study: Study,
    data: Path,
    skipped: list[str],
    entries: Sequence[Entry],
    written: list[int],
) -> None:
    asked = {entry.trial for entry in entries}
    told, added = [n for n in written if n in asked], [n for n in written if n not in asked]
    left_out = sum(entry.is_known for entry in entries)
    off = max((entry.off for entry in entries), default=0.0)
    if ref.as_json:
        print_json({
            "study": study.name, "unit": study.graph.unit, "added": added, "told": told,
            "left_out": left_out, "skipped": skipped, "farthest_off": off,
        })  # fmt: skip
        return
    if told:
        click.echo(f"{counted(len(told), 'suggestion')} told from {data.name}")
    if added or not told:
        ids = f", the last as trial {added[-1]}" if added else ""
        click.echo(f"{counted(len(added), 'measurement')} of {data.name} added{ids}")
    if left_out:
        click.echo(f"{counted(left_out, 'row')} left out: in the study already")
    if off:
        unit = f" {study.graph.unit}" if study.graph.unit else ""
        click.echo(f"snapped from up to {off:.4g}{unit} off the network")


def _print_plan(ref: StudyRef, study: Study, table: Table, entries: Sequence[Entry]) -> None:
    """What would become of each row, in the order of the file."""
    good = [entry for entry in entries if entry.row not in table.bad and entry.point is not None]
    places = address_rows(study.network, [entry.point for entry in good if entry.point is not None])
    rows: dict[int, Row] = {
        entry.row: {
            "what": KNOWN if entry.is_known else ADD if entry.trial is None else TELL,
            "id": entry.trial, **place, "off": entry.off or None, "key": entry.key,
            "value": FAILED if entry.value is None else entry.value,
            "noise": entry.noise, "note": entry.note, "reason": None,
        }
        for entry, place in zip(good, places, strict=True)
    } | {row: {"what": REFUSED, "reason": reason} for row, reason in table.bad.items()}  # fmt: skip
    plan = [{"at": table.where(row), **rows[row]} for row in sorted(rows)]
    if ref.as_json:
        print_json({"study": study.name, "unit": study.graph.unit, "dry_run": True, "rows": plan})
        return
    columns = ("at", "what", *ADDRESS, "off", "value", "noise", "key", "note", "reason")
    click.echo(format_table(plan, columns, study.network, study.value_unit))
    counts = Counter(row["what"] for row in plan)
    click.echo(f"\n{', '.join(f'{n} {what}' for what, n in counts.items())}; nothing was written")
