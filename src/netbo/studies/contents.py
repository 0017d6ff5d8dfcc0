"""What a study says of itself: its network, settings and format, as attributes of an Optuna study."""

from __future__ import annotations

from dataclasses import dataclass
from importlib.metadata import version
from pathlib import Path
from typing import Any

from optuna.exceptions import DuplicatedStudyError
from optuna.storages import BaseStorage
from optuna.study import StudyDirection

from netbo.adapters.netbo_json import content_hash, dump, load, read_network
from netbo.adapters.network import Network
from netbo.adapters.wrapping import as_network
from netbo.errors import StudyError, StudyFileError
from netbo.geometry import MetricGraph
from netbo.studies.settings import StudySettings
from netbo.studies.storages import quiet

FORMAT = 1
ABOUT = "netbo:study"  # user attribute: format, hash of the network, settings
NETWORK = "netbo:network"  # system attribute: large, and nobody reads it in a dashboard
SHOWN = 12  # characters of a hash that people see
DIRECTIONS = {"maximize": StudyDirection.MAXIMIZE, "minimize": StudyDirection.MINIMIZE}


@dataclass(frozen=True, slots=True)
class Contents:
    """Network and settings of a study."""

    source: Network
    graph: MetricGraph
    settings: StudySettings
    hash: str


def graph_of(network: Network | MetricGraph) -> MetricGraph:
    """The graph of a network."""
    graph = getattr(network, "graph", network)
    if not isinstance(graph, MetricGraph):
        raise StudyError(
            f"a study needs a network, got {type(network).__name__}; "
            "read one with netbo.read(...) or make a MetricGraph"
        )
    return graph


def write_contents(storage: BaseStorage, name: str, contents: Contents, reference: Path | None = None) -> int:
    """A new study with its network and settings; returns its number in the storage.

    What makes it a study of ours is written last: one that was interrupted before is completed.
    """
    try:
        with quiet():
            study_id = storage.create_new_study([DIRECTIONS[contents.settings.direction]], name)
    except DuplicatedStudyError as cause:
        study_id = storage.get_study_id_from_name(name)
        if ABOUT in storage.get_study_user_attrs(study_id) or storage.get_all_trials(study_id):
            raise StudyError(
                f"there is a study named {name!r} already; load it with Study.load(storage, {name!r}), pass "
                "resume=True to go on with it, or choose another name"
            ) from cause
    if reference is None:
        storage.set_study_system_attr(study_id, NETWORK, dump(contents.source))
    about = {
        "format": FORMAT,
        "netbo": version("netbo"),
        "network": contents.hash,
        "network_file": None if reference is None else str(reference),
        "settings": contents.settings.as_dict(),
    }
    storage.set_study_user_attr(study_id, ABOUT, about)
    return study_id


def read_contents(
    storage: BaseStorage, name: str, network: Network | MetricGraph | None
) -> tuple[int, Contents]:
    """A study's number and contents; `network` must be the one it was made for."""
    study_id = _find(storage, name)
    about = storage.get_study_user_attrs(study_id).get(ABOUT)
    if not isinstance(about, dict) or not isinstance(about.get("network"), str):
        raise StudyError(
            f"the study {name!r} holds no network: netbo did not make it, or was interrupted while it did; "
            "make it with Study.create(...)"
        )
    if about.get("format") != FORMAT:
        raise StudyError(
            f"the study {name!r} must be of format {FORMAT}, got {about.get('format')!r} written by netbo "
            f"{about.get('netbo')}; install that version"
        )
    expected = about["network"]
    source: Network | MetricGraph = (
        network if network is not None else _stored_network(storage, study_id, about, name)
    )
    graph = graph_of(source)
    require_same_network(name, expected, content_hash(graph))
    return study_id, Contents(
        as_network(source), graph, StudySettings.from_dict(about.get("settings")), expected
    )


def require_same_network(name: str, expected: str, found: str) -> None:
    """Refuse a study of another network."""
    if found != expected:
        raise StudyError(
            f"the study {name!r} was made for the network {expected[:SHOWN]}, got the network "
            f"{found[:SHOWN]}: "
            "its edges, lengths, ids or positions differ; load the network it was made for"
        )


def _stored_network(storage: BaseStorage, study_id: int, about: dict[str, Any], name: str) -> Network:
    reference = about.get("network_file")
    if reference is not None:
        if not Path(str(reference)).is_file():
            raise StudyFileError(
                f"the study {name!r} refers to the network file {reference}, which does not exist; "
                "pass the network itself: Study.load(storage, name, network=...)"
            )
        return read_network(Path(str(reference)))
    written = storage.get_study_system_attrs(study_id).get(NETWORK)
    if not isinstance(written, dict):
        raise StudyError(f"the study {name!r} has lost its network; pass it: Study.load(..., network=...)")
    return load(written)


def _find(storage: BaseStorage, name: str) -> int:
    try:
        return storage.get_study_id_from_name(name)
    except KeyError as cause:
        names = [study.study_name for study in storage.get_all_studies()]
        listed = ", ".join(repr(each) for each in names) if names else "no study"
        raise StudyError(f"the storage holds {listed}, got the name {name!r}") from cause
