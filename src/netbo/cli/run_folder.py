"""A run in a folder: settings, network and measurements, so that it can go on and be looked at."""

import json
import os
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import netbo
from netbo.adapters import Network
from netbo.adapters.netbo_json import content_hash, read_network, write_network
from netbo.cli.record import Record
from netbo.errors import ParameterError
from netbo.optimize import Optimizer

SETTINGS, NETWORK, OBSERVATIONS, LOCK = "run.json", "network.json", "observations.csv", "run.lock"


@dataclass(frozen=True)
class RunFolder:
    """The files of one run."""

    path: Path
    network: Network
    settings: Mapping[str, Any]  # of the optimizer, and the objective's name

    @property
    def record(self) -> Record:
        """The measurements."""
        return Record(self.path / OBSERVATIONS, self.network)

    def optimizer(self) -> tuple[Optimizer, str | None]:
        """An optimizer that has all measurements, and what is to be said about them."""
        trials, torn = self.record.read()
        options = {name: value for name, value in self.settings.items() if name != "objective"}
        return Optimizer(self.network, history=trials, **options), torn


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
                f"{path} holds another run: {name} is {theirs!r} there and {ours!r} here; "
                "choose another --out or the same settings"
            )
    return RunFolder(path, network, settings)


def open_run(path: Path) -> RunFolder:
    """The run of a folder, as it was claimed."""
    if not (path / SETTINGS).exists():
        raise ParameterError(
            f"a run must be a folder with {SETTINGS}, got {path}; make one with netbo maximize"
        )
    stored = _stored(path / SETTINGS)
    return RunFolder(path, read_network(path / NETWORK), stored["settings"])


@contextmanager
def only_one(path: Path) -> Iterator[None]:
    """Nobody else may write to the folder meanwhile."""
    lock = path / LOCK
    try:
        handle = os.open(lock, os.O_CREAT | os.O_EXCL | os.O_WRONLY)
    except FileExistsError:
        holder = _holder(lock)
        if holder is not None:
            raise ParameterError(
                f"{path} is in use by process {holder}; wait for it, or choose another --out"
            ) from None
        lock.unlink(missing_ok=True)  # its process is gone
        handle = os.open(lock, os.O_CREAT | os.O_EXCL | os.O_WRONLY)
    try:
        with os.fdopen(handle, "w") as file:
            file.write(str(os.getpid()))
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


def _make(path: Path, network: Network, settings: Mapping[str, Any]) -> None:
    try:
        path.mkdir(parents=True, exist_ok=True)
        write_network(network, path / NETWORK)
        content = {
            "netbo": netbo.__version__,
            "network": content_hash(network.graph),
            "source": network.report.source,
            "settings": dict(settings),
        }
        unfinished = path / f"{SETTINGS}.unfinished"
        unfinished.write_text(json.dumps(content, indent=2) + "\n", encoding="utf-8")
        os.replace(unfinished, path / SETTINGS)
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
