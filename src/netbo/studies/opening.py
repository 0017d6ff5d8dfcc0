"""Making and finding studies."""

from __future__ import annotations

import os
from dataclasses import dataclass, fields
from pathlib import Path

from optuna.storages import BaseStorage

from netbo.adapters.netbo_json import content_hash, read_network
from netbo.adapters.network import Network
from netbo.adapters.wrapping import as_network
from netbo.errors import StudyError
from netbo.geometry import MetricGraph
from netbo.optimize import Optimizer
from netbo.studies.contents import (
    ABOUT,
    Contents,
    graph_of,
    read_contents,
    require_same_network,
    write_contents,
)
from netbo.studies.settings import StudySettings
from netbo.studies.storages import StorageLike, default_journal, open_storage


@dataclass(frozen=True, slots=True)
class Opened:
    """A study that was found or made."""

    name: str
    storage: BaseStorage
    study_id: int
    contents: Contents
    optimizer: Optimizer


def create_study(
    network: Network | MetricGraph,
    settings: StudySettings,
    *,
    name: str,
    storage: StorageLike | None,
    network_file: str | os.PathLike[str] | None,
    resume: bool,
) -> Opened:
    """A new study, or with `resume` the one there is; nothing is written before everything is checked."""
    if not isinstance(name, str) or not name:
        raise StudyError(f"a study needs a name, got {name!r}")
    graph = graph_of(network)
    contents = Contents(as_network(network), graph, settings, content_hash(graph))
    optimizer = settings.optimizer(graph)
    reference = None if network_file is None else _as_reference(network_file, contents, name)
    opened = open_storage(default_journal(name) if storage is None else storage, existing=False)
    if resume and _is_study(opened, name):
        study_id, found = read_contents(opened, name, network)
        _require_same_settings(name, found.settings, settings)
        return Opened(name, opened, study_id, found, optimizer)
    study_id = write_contents(opened, name, contents, reference)
    return Opened(name, opened, study_id, contents, optimizer)


def load_study(storage: StorageLike, name: str | None, network: Network | MetricGraph | None) -> Opened:
    """The study of a name, or the only one there is."""
    opened = open_storage(storage, existing=True)
    found = _only_name(opened) if name is None else name
    study_id, contents = read_contents(opened, found, network)
    return Opened(found, opened, study_id, contents, contents.settings.optimizer(contents.graph))


def study_names(storage: StorageLike) -> list[str]:
    """Names of the studies of ours in a storage."""
    return _names(open_storage(storage, existing=True))


def _names(storage: BaseStorage) -> list[str]:
    return [study.study_name for study in storage.get_all_studies() if ABOUT in study.user_attrs]


def _only_name(storage: BaseStorage) -> str:
    names = _names(storage)
    if len(names) != 1:
        listed = ", ".join(repr(name) for name in names) if names else "none"
        raise StudyError(f"a storage of one study needs no name, got {listed}; pass name=")
    return names[0]


def _is_study(storage: BaseStorage, name: str) -> bool:
    return name in _names(storage)


def _as_reference(path: str | os.PathLike[str], contents: Contents, name: str) -> Path:
    """A file that holds the network, checked; absolute, since others will start elsewhere."""
    absolute = Path(path).resolve()
    require_same_network(name, contents.hash, content_hash(graph_of(read_network(absolute))))
    return absolute


def _require_same_settings(name: str, kept: StudySettings, given: StudySettings) -> None:
    for field in fields(StudySettings):
        there, here = getattr(kept, field.name), getattr(given, field.name)
        if there != here:
            raise StudyError(
                f"the study {name!r} was made with {field.name}={there!r}, got {here!r}; load it with "
                "Study.load to go on, or choose another name"
            )
