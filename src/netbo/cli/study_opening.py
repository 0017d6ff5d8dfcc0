"""Making and opening the study that was named on the command line."""

import getpass
import socket
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

import click

from netbo.adapters import Network
from netbo.cli.reading import read_network
from netbo.cli.study_door import Door
from netbo.cli.study_rows import headline, print_json
from netbo.errors import ParameterError
from netbo.geometry import Point
from netbo.geometry.identifiers import counted
from netbo.studies import Study, StudyError, study_names
from netbo.studies.storages import default_journal

SQLITE = "sqlite:///"  # before the path of a file


def make_study(
    door: Door,
    source: str,
    *,
    options: Sequence[str] = (),
    network_file: Path | None = None,
    resume: bool = False,
    settings: Mapping[str, Any],
) -> None:
    """Make a study of a network and say so."""
    if not door.name:
        raise ParameterError("a new study needs a name, got none; try --name NAME, or set NETBO_STUDY")
    network, storage = read_network(source, options), storage_of(door)
    if not resume and _exists(storage) and door.name in study_names(storage):
        # Asked before it is tried: Optuna's journal gets a line also when a study cannot be made.
        raise ParameterError(
            f"there is a study named {door.name!r} already; go on with it by --resume, or choose another "
            "--name"
        )
    study = Study.create(
        network, name=door.name, storage=storage, network_file=network_file, resume=resume, **settings
    )
    if door.as_json:
        print_json(
            {
                "study": study.name,
                "network": study.network_hash,
                "settings": study.settings.as_dict(),
                "trials": len(study.records),
            }
        )
        return
    begun = f"; it has {counted(len(study.records), 'trial')}" if study.records else ""
    click.echo(f"{headline(study)}{begun}")
    if "://" not in storage:
        click.echo(f"kept in {storage}")


def open_study(door: Door, worker: str | None = None) -> Study:
    """The study that is meant; errors are in the words of the shell."""
    storage = storage_of(door)
    if not _exists(storage):
        raise ParameterError(
            f"there is no study file {storage}; make it with netbo study create NETWORK --name NAME "
            f"--storage {storage}"
        )
    try:
        return Study.load(storage, door.name or None, worker=worker)
    except StudyError as cause:
        names = study_names(storage)
        is_known = door.name in names if door.name else len(names) == 1
        if is_known:
            raise
        listed = ", ".join(repr(name) for name in names) if names else "no study"
        meant = f"got --name {door.name}" if door.name else "and it is not said which is meant"
        raise ParameterError(f"the storage holds {listed}, {meant}; say --name NAME") from cause


def storage_of(door: Door) -> str:
    """Path or URL of the storage."""
    if door.storage:
        return door.storage
    if door.name:
        return str(default_journal(door.name))
    raise ParameterError(
        "it must be said which study is meant, got neither --storage nor --name; try --storage FILE.journal, "
        "or set NETBO_STORAGE"
    )


def _exists(storage: str) -> bool:
    """Whether there is a file; what is no file is there or not when it is opened."""
    path = storage.removeprefix(SQLITE)
    return "://" in path or Path(path).exists()


def whoever() -> str | None:
    """A name for who asks by hand: user and machine; None if the machine does not know its user."""
    try:
        return f"{getpass.getuser()}@{socket.gethostname()}"
    except (OSError, KeyError):
        return None


def place_of(study: Study, edge: str, distance: str) -> Point:
    """A place that was typed: an edge id and a distance along it."""
    return study.place((edge_named(study.network, edge), number_of(distance, "a distance")))


def edge_named(network: Network, text: str) -> Any:
    """The id that was typed; what is typed is text, and ids may be numbers or pairs."""
    known = {*network.addresses.ids, *network.addresses.aliases, *network.graph.edge_ids}
    return text if text in known else {str(name): name for name in known}.get(text, text)


def number_of(text: str, what: str) -> float:
    """A number that was typed."""
    try:
        return float(text)
    except ValueError:
        raise ParameterError(f"{what} must be a number, got {text!r}; write it as 12.5 or 1e-3") from None


def trial_of(text: str) -> int:
    """The id of a trial that was typed."""
    if not (text.isascii() and text.isdigit()):
        raise ParameterError(
            f"the ID of a trial is a whole number, got {text!r}; netbo study status shows them"
        )
    return int(text)
