"""The folder of `netbo maximize`: settings, network, and a study whose values observations.csv shows."""

import csv
import io
import json
import logging
import os
import re
import shutil
from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, replace
from math import nan
from pathlib import Path
from typing import Any

import netbo
from netbo.adapters import Network, content_hash, read_network, write_network
from netbo.errors import NetworkError, ObservationError, ParameterError
from netbo.files import as_cell, from_cell, replacing
from netbo.geometry import Point, Points
from netbo.optimize import Optimizer, Status, Trial
from netbo.studies import State, Study
from netbo.studies.settings import read_candidates

SETTINGS, NETWORK, JOURNAL, OBSERVATIONS = "run.json", "network.json", "run.journal", "observations.csv"
LOCK, UNFINISHED = "run.lock", "run.unfinished"
STUDY = "run"  # the name of the study in its journal
COLUMNS = (
    "id", "edge", "distance", "fraction", "x", "y", "value", "noise", "status", "note", "edge_index", "z",
)  # fmt: skip

_log = logging.getLogger(__name__)


@dataclass(frozen=True)
class RunFolder:
    """Files of one run."""

    path: Path
    network: Network
    settings: Mapping[str, Any]  # of the optimizer, and the objective's name

    @property
    def options(self) -> dict[str, Any]:
        """Settings of the optimizer."""
        options = {name: value for name, value in self.settings.items() if name != "objective"}
        return options | {"candidates": read_candidates(options.get("candidates"), self.network.graph)}

    def optimizer(self) -> Optimizer:
        """An optimizer that knows all trials that were told; nothing is written."""
        journal = self.path / JOURNAL
        if journal.exists():
            trials = in_order(Study.load(journal, STUDY, network=self.network).optimizer.history)
        else:
            trials = read_observations(self.path / OBSERVATIONS, self.network)[0]
        return Optimizer(self.network, history=trials, **self.options)

    def study(self) -> Study:
        """The study of the run, made if there is none; a run of an older netbo is taken over into it."""
        if not (self.path / JOURNAL).exists():
            self._import()
        return self._study(self.path)

    def _study(self, folder: Path) -> Study:
        return Study.create(
            self.network, name=STUDY, storage=folder / JOURNAL, worker=STUDY, resume=True, **self.options
        )

    def _import(self) -> None:
        """Make the journal from observations.csv, where older versions kept all values; or leave none."""
        path, unfinished = self.path / OBSERVATIONS, self.path / UNFINISHED
        trials, torn = read_observations(path, self.network)
        if torn:
            kept = path.with_name(f"{path.name}.torn")
            with kept.open("ab") as file:
                file.write(torn + b"\n")
            _log.warning(
                "the last line of %s was torn by a crash; it is in %s, and is measured again", path, kept
            )
        shutil.rmtree(unfinished, ignore_errors=True)
        unfinished.mkdir()
        study = self._study(unfinished)
        for trial in trials:
            store(study, trial)
        os.replace(unfinished / JOURNAL, self.path / JOURNAL)
        shutil.rmtree(unfinished)


class RunLog:
    """Stores what a run was told in its study, and shows it in observations.csv."""

    def __init__(self, folder: RunFolder) -> None:
        self.folder, self.study = folder, folder.study()
        self.n_stored = self.study.n_told

    def update(self, optimizer: Optimizer) -> None:
        """Store the values that are new; they are on the disk when this returns."""
        told = in_order(optimizer.history)
        for trial in told[self.n_stored :]:
            store(self.study, trial)
            self.n_stored += 1
        if told:
            write_observations(self.folder.path / OBSERVATIONS, self.folder.network, told)


def store(study: Study, trial: Trial) -> None:
    """A trial that was told, written as one that was asked for: random streams are counted by those.

    A process that was killed between the two writes left a trial in the queue, for the same point.
    """
    queued = (each.id for each in study.records if each.state is State.WAITING and each.point == trial.point)
    number = next(queued, None)
    study.tell(
        study.enqueue(trial.point) if number is None else number,
        nan if trial.value is None else trial.value,
        trial.noise,
        note=trial.note,
    )


def in_order(trials: Iterable[Trial]) -> list[Trial]:
    """Trials that were told, in that order and numbered by it; those under way at the end are left out."""
    told = sorted((trial for trial in trials if trial.order is not None), key=lambda trial: trial.order or 0)
    return [replace(trial, id=number, order=number) for number, trial in enumerate(told)]


# Settings, and one process at a time


def claim(path: Path, network: Network, settings: Mapping[str, Any]) -> RunFolder:
    """A new folder with network and settings in it, or one that holds the same ones already."""
    stored_path = path / SETTINGS
    if not stored_path.exists():
        _make(path, network, settings)
        return RunFolder(path, network, settings)
    stored = _stored(stored_path)
    if stored["network"] != content_hash(network.graph):
        raise ParameterError(
            f"{path} holds a run on another network (its hash is {stored['network'][:12]}..., this one's "
            f"{content_hash(network.graph)[:12]}...); choose another --out"
        )
    for name in [*settings, *stored["settings"]]:
        ours, theirs = settings.get(name), stored["settings"].get(name)
        if ours != theirs:
            raise ParameterError(
                f"{path} holds another run: {name} is {theirs!r:.80} there and {ours!r:.80} here; "
                "choose another --out or the same settings"
            )
    return RunFolder(path, network, settings)


def open_run(path: Path) -> RunFolder:
    """The run of a folder, with the network and settings in it."""
    if not (path / SETTINGS).exists():
        raise ParameterError(
            f"a run must be a folder with {SETTINGS}, got {path}; make one with netbo maximize"
        )
    stored = _stored(path / SETTINGS)
    return RunFolder(path, read_network(path / NETWORK), stored["settings"])


def _make(path: Path, network: Network, settings: Mapping[str, Any]) -> None:
    content = {
        "netbo": netbo.__version__,
        "network": content_hash(network.graph),
        "source": network.report.source,
        "settings": dict(settings),
    }
    try:
        path.mkdir(parents=True, exist_ok=True)
        write_network(network, path / NETWORK)
        with replacing(path / SETTINGS) as unfinished:  # last: a folder without it is made anew
            unfinished.write_text(json.dumps(content, indent=2) + "\n", encoding="utf-8")
    except OSError as reason:
        raise ParameterError(
            f"--out must be a folder that can be written to, got {path}: {reason.strerror}; choose another"
        ) from reason


def _stored(path: Path) -> dict[str, Any]:
    try:
        stored = json.loads(path.read_text(encoding="utf-8"))
        if not isinstance(stored["network"], str) or not isinstance(stored["settings"], dict):
            raise TypeError("its fields are of other types")  # noqa: TRY301 - one message for all damage
    except (ValueError, KeyError, TypeError) as reason:
        raise ParameterError(
            f"{path} must be the settings of a run, got {type(reason).__name__}: {reason}; "
            "choose another folder"
        ) from reason
    return dict(stored)


@contextmanager
def only_one(path: Path) -> Iterator[None]:
    """Refuse a folder that another process works on; the lock of a process that is gone is removed."""
    lock = path / LOCK
    if _holder(lock) is None:
        lock.unlink(missing_ok=True)
    try:
        with lock.open("x", encoding="utf-8") as file:
            file.write(str(os.getpid()))
    except FileExistsError:
        raise ParameterError(
            f"{path} is in use by process {_holder(lock)}; wait for it, or choose another --out"
        ) from None
    try:
        yield
    finally:
        lock.unlink(missing_ok=True)


def _holder(lock: Path) -> int | None:
    """The process that holds the lock, None if it has ended."""
    try:
        number = int(lock.read_text(encoding="utf-8"))
        os.kill(number, 0)
    except (OSError, ValueError):
        return None
    return number


# observations.csv: edge and distance are the user's; edge_index and z are ours, the same without rounding


def write_observations(path: Path, network: Network, trials: Sequence[Trial]) -> None:
    """A line a trial, in the order they were told; the file is replaced as a whole."""
    points = Points.at([trial.point for trial in trials], graph=network.graph)
    is_drawn = network.graph.dimension is not None
    corners = network.coordinates(points)[:, :2].tolist() if is_drawn else [("", "")] * len(trials)
    rows = [
        [
            trial.id, str(address.edge_id), float(address.distance), float(address.fraction), *xy,
            trial.value, trial.noise, trial.status.value, _escaped(trial.note),
            trial.point.edge, trial.point.z,
        ]
        for trial, address, xy in zip(trials, network.address(points), corners, strict=True)
    ]  # fmt: skip
    with replacing(path) as unfinished, unfinished.open("w", encoding="utf-8", newline="") as file:
        csv.writer(file, lineterminator="\n").writerows(
            [COLUMNS, *([as_cell(each) for each in row] for row in rows)]
        )


def read_observations(path: Path, network: Network) -> tuple[list[Trial], bytes]:
    """Trials of a file that older versions appended to, and the end of a line torn by a crash."""
    whole, _, torn = path.read_bytes().rpartition(b"\n") if path.exists() else (b"", b"", b"")
    lines = list(csv.reader(io.StringIO(whole.decode("utf-8"), newline="")))
    if lines and tuple(lines[0]) != COLUMNS:
        raise ObservationError(
            f"{path} must begin with {','.join(COLUMNS)}, got {','.join(lines[0])[:80]}; "
            "choose another folder"
        )
    return [_read_trial(path, network, number, cells) for number, cells in enumerate(lines[1:])], torn


def _read_trial(path: Path, network: Network, number: int, cells: Sequence[str]) -> Trial:
    try:
        values = dict(zip(COLUMNS, cells, strict=True))
        point = Points.at(Point(int(values["edge_index"]), float(values["z"])), graph=network.graph)[0]
        return Trial(
            number,
            point,
            Status(values["status"]),
            asked=point,
            value=float(values["value"]) if values["value"] else None,
            noise=float(values["noise"]) if values["noise"] else None,
            order=number,
            note=_unescaped(from_cell(values["note"])),
        )
    except (ValueError, NetworkError) as reason:
        raise ObservationError(
            f"line {number + 2} of {path} must be a measurement, got {','.join(cells)[:80]!r} "
            f"({reason}); mend it or choose another folder; nothing was changed"
        ) from reason


def _escaped(text: str) -> str:
    """Text on one line."""
    return text.replace("\\", "\\\\").replace("\n", "\\n").replace("\r", "\\r")


def _unescaped(text: str) -> str:
    return re.sub(r"\\(.)", lambda found: {"n": "\n", "r": "\r"}.get(found[1], found[1]), text)
