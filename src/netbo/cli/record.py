"""Measurements of a run as lines of a CSV file: on disk as they arrive, read back exactly."""

import csv
import io
import os
import re
from collections.abc import Iterable, Sequence
from pathlib import Path

from netbo.adapters import Network
from netbo.errors import NetworkError, ObservationError
from netbo.geometry import Point, Points
from netbo.optimize import Status, Trial

COLUMNS = (
    "id", "edge", "distance", "fraction", "x", "y", "value", "noise", "status", "note", "edge_index", "z",
)  # fmt: skip


class Record:
    """observations.csv: a line a measurement, in the order they were told.

    edge and distance are the user's; edge_index and z are ours, and say the same without rounding.
    """

    def __init__(self, path: Path, network: Network) -> None:
        self.path, self.network = path, network

    def append(self, trial: Trial) -> None:
        """One line more; it is on disk when this returns."""
        is_new = not self.path.exists()
        with self.path.open("a", encoding="utf-8", newline="") as file:
            if is_new:
                file.write(_line(COLUMNS))
            file.write(_line(self._cells(trial)))
            file.flush()
            os.fsync(file.fileno())

    def read(self) -> tuple[list[Trial], str | None]:
        """The trials, and a sentence if a line was torn by a crash; it is then cut away and kept beside."""
        if not self.path.exists():
            return [], None
        torn = self._cut_torn_line()
        with self.path.open(encoding="utf-8", newline="") as file:
            lines = list(csv.reader(file))
        if lines and tuple(lines[0]) != COLUMNS:
            raise ObservationError(
                f"{self.path} must begin with {','.join(COLUMNS)}, got {','.join(lines[0])[:80]}; "
                "choose another folder"
            )
        return [self._trial(number, cells) for number, cells in enumerate(lines[1:])], torn

    def _cut_torn_line(self) -> str | None:
        content = self.path.read_bytes()
        if not content or content.endswith(b"\n"):
            return None
        whole, _, rest = content.rpartition(b"\n")
        kept = self.path.with_name(self.path.name + ".torn")
        with kept.open("ab") as file:
            file.write(rest + b"\n")
        with self.path.open("r+b") as file:
            file.truncate(len(whole) + 1 if whole else 0)
        if not whole:
            self.path.unlink()
        return f"the last line of {self.path} was torn by a crash; it is in {kept}, and is measured again"

    def _cells(self, trial: Trial) -> list[object]:
        point, is_drawn = trial.point, self.network.graph.dimension is not None
        address = self.network.address(point)[0]
        x, y = self.network.coordinates(point)[0, :2].tolist() if is_drawn else ("", "")
        return [
            trial.id, address.edge_id, repr(float(address.distance)), repr(float(address.fraction)), x, y,
            "" if trial.value is None else repr(trial.value),
            "" if trial.noise is None else repr(trial.noise),
            trial.status.value, _escaped(trial.note), point.edge, repr(point.z),
        ]  # fmt: skip

    def _trial(self, number: int, cells: Sequence[str]) -> Trial:
        """A line as the trial it was, numbered anew: some may have been under way at the end."""
        try:
            values = dict(zip(COLUMNS, cells, strict=True))
            edge, z = int(values["edge_index"]), float(values["z"])
            place = Points.at(Point(edge, z), graph=self.network.graph)[0]
            return Trial(
                number,
                place,
                Status(values["status"]),
                asked=place,
                value=float(values["value"]) if values["value"] else None,
                noise=float(values["noise"]) if values["noise"] else None,
                order=number,
                note=_unescaped(values["note"]),
            )
        except (ValueError, NetworkError) as reason:
            raise ObservationError(
                f"line {number + 2} of {self.path} must be a measurement, got {','.join(cells)[:80]!r} "
                f"({reason}); mend it or choose another folder; nothing was changed"
            ) from reason


def _line(cells: Iterable[object]) -> str:
    text = io.StringIO()
    csv.writer(text, lineterminator="\n").writerow(list(cells))
    return text.getvalue()


def _escaped(text: str) -> str:
    """Text on one line, so that a torn line is seen by its end."""
    return text.replace("\\", "\\\\").replace("\n", "\\n").replace("\r", "\\r")


def _unescaped(text: str) -> str:
    return re.sub(r"\\(.)", lambda found: {"n": "\n", "r": "\r"}.get(found[1], found[1]), text)
