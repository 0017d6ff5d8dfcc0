"""Tables of others: CSV files whatever their separator, and DataFrames, with rows that can be named."""

from __future__ import annotations

import csv
import io
import re
from collections import Counter
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from netbo.arrays import FloatArray, IntArray
from netbo.errors import NetworkError
from netbo.files import from_cell
from netbo.wording import counted, quoted

if TYPE_CHECKING:
    import pandas as pd

SEPARATORS = ("\t", ";", ",", "|")  # in this order: commas also stand in numbers and in text
WORDS = {"tab": "\t", "\\t": "\t", "comma": ",", "semicolon": ";", "space": " "}
LISTED = 5  # rows that an error names
WHOLE = re.compile(r"-?(0|[1-9]\d{0,39})\Z", re.ASCII)  # 007 is a name
DECIMAL_COMMA = re.compile(r"[+-]?\d+,\d+([eE][+-]?\d+)?\Z", re.ASCII)
DECIMAL_POINT = re.compile(r"[+-]?\d*\.\d+([eE][+-]?\d+)?\Z", re.ASCII)


@dataclass(frozen=True, eq=False)
class Table:
    """A table by columns; `lines` are those of its file, None of a table that was in memory."""

    name: str
    frame: pd.DataFrame
    lines: IntArray | None = None
    notes: tuple[str, ...] = ()
    bad: dict[int, str] = field(default_factory=dict)  # row -> what is wrong with it, found so far

    def __len__(self) -> int:
        return len(self.frame)

    @property
    def columns(self) -> list[str]:
        """Names of the columns."""
        return [str(name) for name in self.frame.columns]

    def where(self, row: int) -> str:
        """A row as its owner finds it: the line of the file, or the row of the frame."""
        return f"row {row}" if self.lines is None else f"line {self.lines[row]}"

    def listed(self, rows: Iterable[int], say: Callable[[int], str] = lambda row: "") -> str:
        """The first rows by their places."""
        known = [int(row) for row in rows]
        unit = "rows" if self.lines is None else "lines"
        numbers = [row if self.lines is None else int(self.lines[row]) for row in known[:LISTED]]
        shown = ", ".join(f"{number}{say(row)}" for number, row in zip(numbers, known, strict=False))
        return f"{unit if len(known) > 1 else unit[:-1]} {shown}{', ...' if len(known) > LISTED else ''}"

    def column(self, name: str, option: str | None = None) -> list[Any]:
        """The values of a column, None where there is none; `option` says what names it."""
        if name not in self.columns:
            remedy = "name one of them" if option is None else f"name one of them with {option}="
            raise NetworkError(f"no column is called {name!r}; there are {quoted(self.columns)}; {remedy}")
        values = self.frame.iloc[:, self.columns.index(name)]
        return list(values.astype(object).where(values.notna(), None).tolist())

    def numbers(self, name: str, *, may_lack: bool = False) -> FloatArray:
        """A column of finite numbers, NaN in rows that are noted as bad or may lack it."""
        values = self.column(name)
        found = np.full(len(values), np.nan)
        for row, value in enumerate(values):
            if value is None and may_lack:
                continue
            number = as_number(value)
            if np.isfinite(number):
                found[row] = number
            else:
                missing = "nan" if self.lines is None else "nothing"
                shown = missing if value is None else repr(value)[:60]
                self.note_bad(row, f"column {name!r} must hold finite numbers, got {shown}")
        return found

    def note_bad(self, row: int, reason: str) -> None:
        """Remember what is wrong with a row; the first reason counts."""
        self.bad.setdefault(int(row), reason)

    def require_good(self, remedy: str) -> None:
        """Refuse a table with bad rows: the first by its line, the others counted."""
        if not self.bad:
            return
        first = min(self.bad)
        more = f" (and {counted(len(self.bad) - 1, 'row')} more)" if len(self.bad) > 1 else ""
        raise NetworkError(f"{self.bad[first]} in {self.where(first)} of {self.name}{more}; {remedy}")


def as_number(value: Any) -> float:
    """The number of a cell, NaN if it is none."""
    try:
        return np.nan if isinstance(value, bool) else float(value)
    except (TypeError, ValueError, OverflowError):
        return np.nan


def as_table(source: Any, *, sep: str | None = None, what: str = "a table") -> Table:
    """A DataFrame, or a CSV file by its path; `what` begins the message if it is neither."""
    import pandas as pd  # noqa: PLC0415 - slow to load, and only tables need it

    if isinstance(source, Table):
        table = source
    elif isinstance(source, str | Path):
        table = read_table(Path(source), sep)
    elif isinstance(source, pd.DataFrame):
        _require_columns([str(name) for name in source.columns], f"the {type(source).__name__}")
        table = Table(type(source).__name__, source.set_axis([str(name) for name in source.columns], axis=1))
    else:
        raise NetworkError(
            f"{what} must be a DataFrame or the path of a CSV, got {type(source).__name__}; "
            "make one with pandas.DataFrame(...)"
        )
    if not len(table):
        raise NetworkError(f"{what} must have a row, got an empty table; check the file")
    return table


def read_table(path: Path, sep: str | None = None) -> Table:
    """The table of a CSV file, its separator found in the first line unless given.

    Numbers may have decimal commas where these separate no cells. Rows with too many or too few cells are
    noted as bad.
    """
    import pandas as pd  # noqa: PLC0415 - as above

    lines, rows, separator = _rows_of(path, sep)
    header = [from_cell(cell) for cell in rows[0]]
    _require_columns(header, path.name)
    bad: dict[int, str] = {}
    body = rows[1:]
    for number, cells in enumerate(body):
        if len(cells) != len(header):
            bad[number] = f"a row must have {counted(len(header), 'cell')}, got {len(cells)}"
            cells[:] = [*cells, *[""] * len(header)][: len(header)]
    notes = []
    if separator != "," and _has_decimal_commas(body):
        body = [[c.replace(",", ".") if DECIMAL_COMMA.match(c) else c for c in cells] for cells in body]
        notes.append("numbers are read with decimal commas")
    columns = {name: _typed([cells[k] for cells in body]) for k, name in enumerate(header)}
    return Table(path.name, pd.DataFrame(columns), np.array(lines[1:], dtype=np.int64), tuple(notes), bad)


def _rows_of(path: Path, sep: str | None) -> tuple[list[int], list[list[str]], str]:
    """Lines at which rows begin, their cells, and what separates them; the header is the first row."""
    text = _text_of(path)
    if not text.strip():
        raise NetworkError(f"{path.name} must be a table with a header, got an empty file; check it")
    separator = _separator(text, sep)
    reader = csv.reader(io.StringIO(text, newline=""), delimiter=separator, skipinitialspace=True)
    lines, rows, begin = [], [], 1
    try:
        for cells in reader:
            if any(cell.strip() for cell in cells):
                lines.append(begin)
                rows.append([from_cell(cell.strip(" ")) for cell in cells])
            begin = reader.line_num + 1
    except csv.Error as cause:
        raise NetworkError(
            f"{str(path)!r} is no CSV that can be read: {cause} in line {begin}; check the quotes there"
        ) from cause
    return lines, rows, separator


def _text_of(path: Path) -> str:
    try:
        content = path.read_bytes()
    except OSError as cause:
        raise NetworkError(f"{str(path)!r} is no CSV that can be read: {cause}; check the path") from cause
    encoding = "utf-16" if content[:2] in (b"\xff\xfe", b"\xfe\xff") else "utf-8-sig"
    try:
        return content.decode(encoding)
    except UnicodeDecodeError as cause:
        line = content[: cause.start].count(b"\n") + 1
        raise NetworkError(
            f"{path.name} must be text in UTF-8, got the byte 0x{content[cause.start]:02x} in line {line}; "
            "save it as CSV UTF-8"
        ) from cause


def _separator(text: str, sep: str | None) -> str:
    """What separates cells: as given, by sign or by word, or what the first line has."""
    if sep is not None:
        sign = WORDS.get(sep, sep)
        if not isinstance(sign, str) or len(sign) != 1 or sign in '"\r\n':
            raise NetworkError(
                f"sep must be one sign, such as ',' or ';', or tab, got {sep!r}; leave it out to find it"
            )
        return sign
    header = re.sub(r'"[^"]*"', "", next(line for line in text.splitlines() if line.strip()))
    return next((sign for sign in SEPARATORS if sign in header), ",")


def _require_columns(header: Sequence[str], name: str) -> None:
    repeated = [column for column, count in Counter(header).items() if count > 1]
    if repeated:
        raise NetworkError(
            f"columns must have names of their own, got {repeated[0]!r} twice in {name}; rename one"
        )


def _has_decimal_commas(rows: Iterable[Sequence[str]]) -> bool:
    cells = [cell for row in rows for cell in row]
    return any(map(DECIMAL_COMMA.match, cells)) and not any(map(DECIMAL_POINT.match, cells))


def _typed(cells: Sequence[str]) -> pd.Series[Any]:
    """Whole numbers or numbers if all cells are, else text; None where there is nothing."""
    import pandas as pd  # noqa: PLC0415 - as above

    filled = [cell for cell in cells if cell]
    kind: Callable[[str], Any] = str
    if all(map(WHOLE.match, filled)):
        kind = int
    elif all(_is_decimal(cell) for cell in filled):
        kind = float
    values = [kind(cell) if cell else None for cell in cells]
    return pd.Series(values, dtype=object if kind is not float else np.float64).infer_objects()


def _is_decimal(cell: str) -> bool:
    is_name = re.match(r"[+-]?(0\d|\d{41})", cell) is not None  # 007 again
    return not is_name and "_" not in cell and not np.isnan(as_number(cell))
