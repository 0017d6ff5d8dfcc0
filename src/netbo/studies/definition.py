"""Create and load studies: network, settings and format are attributes of an Optuna study."""

import os
from dataclasses import dataclass, fields
from importlib.metadata import version
from pathlib import Path
from typing import Any, Self

from optuna.exceptions import DuplicatedStudyError
from optuna.storages import BaseStorage
from optuna.study import StudyDirection

from netbo.adapters import Network, as_network, content_hash, dump, load, read_network
from netbo.checks import optional_line, require_text
from netbo.errors import StudyError, StudyFileError, shown
from netbo.geometry import MetricGraph
from netbo.optimize import Optimizer
from netbo.studies.resilience import new_worker_name
from netbo.studies.settings import StudySettings
from netbo.studies.storages import StorageLike, default_journal, open_storage, without_optuna_info
from netbo.wording import quoted

FORMAT = 1
ABOUT = "netbo:study"  # user attribute: format, hash of the network, settings
WORDS = "netbo:"  # user attributes netbo:title and netbo:value_unit, which may change
NETWORK = "netbo:network"  # system attribute: large, and nobody reads it in a dashboard
SHOWN = 12  # characters of a hash that people see
DIRECTIONS = {"maximize": StudyDirection.MAXIMIZE, "minimize": StudyDirection.MINIMIZE}


@dataclass(frozen=True, slots=True)
class StudyDefinition:
    """Network and settings of a study."""

    source: Network
    graph: MetricGraph
    settings: StudySettings
    hash: str

    def optimizer(self) -> Optimizer:
        """Optimizer of the study, without trials; it knows the network."""
        optimizer = self.settings.optimizer(self.graph)
        optimizer.network = self.source
        return optimizer


@dataclass(frozen=True, slots=True)
class StudyWords:
    """What a study says to people: its title and the unit of its values. They are no settings."""

    title: str | None
    value_unit: str | None

    @classmethod
    def of(cls, title: Any, value_unit: Any) -> Self:
        """Checked words; an empty text stays one, since it takes away what was said."""
        given = {"title": title, "value_unit": value_unit}
        remedy = "say in a few words what the study is about, and the unit as on an axis, as in 'l/s'"
        checked = {name: optional_line(name, text, remedy) for name, text in given.items()}
        return cls(**{name: checked[name] or (None if given[name] is None else "") for name in given})

    @classmethod
    def read(cls, attributes: dict[str, Any]) -> Self:
        """Words as they were stored; anybody may write there, so what is no line of text is passed over."""
        stored = {field.name: attributes.get(WORDS + field.name) for field in fields(cls)}
        lines = {
            name: text if isinstance(text, str) and text.isprintable() else ""
            for name, text in stored.items()
        }
        return cls(**{name: line or None for name, line in lines.items()})

    def write(self, storage: BaseStorage, study_id: int) -> None:
        """Store what differs; None leaves what is there."""
        there = self.read(storage.get_study_user_attrs(study_id))
        for field in fields(self):
            text = getattr(self, field.name)
            if text is not None and text != (getattr(there, field.name) or ""):
                storage.set_study_user_attr(study_id, WORDS + field.name, text)


@dataclass(frozen=True, slots=True)
class OpenStudy:
    """A study in an open storage, with an optimizer that has no trials yet."""

    name: str
    storage: BaseStorage
    study_id: int
    definition: StudyDefinition
    optimizer: Optimizer


def create_study(
    network: Network | MetricGraph,
    settings: StudySettings,
    *,
    name: str,
    storage: StorageLike | None,
    network_file: str | os.PathLike[str] | None,
    resume: bool,
) -> OpenStudy:
    """Create a study, or with `resume` load it; nothing is written before everything is checked."""
    if not isinstance(name, str) or not name:
        raise StudyError(f"a study needs a name, got {shown(name)}")
    require_text("name", name, "choose another", error=StudyError)
    graph = graph_of(network)
    definition = StudyDefinition(as_network(network), graph, settings, content_hash(graph))
    optimizer = definition.optimizer()
    reference = None if network_file is None else _as_reference(network_file, definition, name)
    opened = open_storage(default_journal(name) if storage is None else storage, existing=False)
    if resume and _is_study(opened, name):
        study_id, found = read_definition(opened, name, network)
        _require_same_settings(name, found.settings, settings)
        return OpenStudy(name, opened, study_id, found, optimizer)
    study_id = write_definition(opened, name, definition, reference)
    return OpenStudy(name, opened, study_id, definition, optimizer)


def load_study(storage: StorageLike, name: str | None, network: Network | MetricGraph | None) -> OpenStudy:
    """Load the study of that name, or the only one of a storage."""
    opened = open_storage(storage, existing=True)
    found = _only_name(opened) if name is None else name
    study_id, definition = read_definition(opened, found, network)
    return OpenStudy(found, opened, study_id, definition, definition.optimizer())


def reopen_study(kind: type[Any], address: tuple[Any, ...], worker: str | None, clock: Any) -> Any:
    """A study that was copied or pickled: another worker of the same one."""
    name, storage, study_id, definition = address
    opened = OpenStudy(
        name, open_storage(storage, existing=True), study_id, definition, definition.optimizer()
    )
    return kind(opened, worker=new_worker_name(worker), clock=clock)


def study_names(storage: StorageLike) -> list[str]:
    """Names of the netbo studies in a storage.

    Parameters
    ----------
    storage : path, str or optuna.storages.BaseStorage
        Journal file, URL or open storage, as for `Study.load`.

    Returns
    -------
    list of str
        Studies made by Optuna alone are left out.

    Raises
    ------
    StudyFileError
        There is no such file, or it is damaged.

    Examples
    --------
    >>> import netbo, optuna
    >>> storage = optuna.storages.InMemoryStorage()
    >>> study = netbo.Study.create(netbo.interval(2.0), name="leak", storage=storage)
    >>> study_names(storage)
    ['leak']
    """
    return names_in(open_storage(storage, existing=True))


def graph_of(network: Network | MetricGraph) -> MetricGraph:
    """Metric graph of a network."""
    graph = getattr(network, "graph", network)
    if not isinstance(graph, MetricGraph):
        raise StudyError(
            f"a study needs a network, got {type(network).__name__}; "
            "read one with netbo.read(...) or make a MetricGraph"
        )
    return graph


def write_definition(
    storage: BaseStorage, name: str, definition: StudyDefinition, reference: Path | None = None
) -> int:
    """Store the network and settings of a new study; returns its key in the storage.

    The attribute that marks a netbo study is written last: one that was interrupted before is completed.
    """
    try:
        with without_optuna_info():
            study_id = storage.create_new_study([DIRECTIONS[definition.settings.direction]], name)
    except DuplicatedStudyError as cause:
        study_id = storage.get_study_id_from_name(name)
        if ABOUT in storage.get_study_user_attrs(study_id) or storage.get_all_trials(study_id):
            raise StudyError(
                f"there is a study named {name!r} already; load it with Study.load(storage, {name!r}), pass "
                "resume=True to go on with it, or choose another name"
            ) from cause
    if reference is None:
        storage.set_study_system_attr(study_id, NETWORK, dump(definition.source))
    about: dict[str, Any] = {
        "format": FORMAT,
        "name": name,
        "netbo": version("netbo"),
        "network": definition.hash,
        "network_file": None if reference is None else str(reference),
        "settings": definition.settings.as_dict(),
    }
    storage.set_study_system_attr(study_id, ABOUT, about)  # twice: a study is nothing without its settings
    storage.set_study_user_attr(study_id, ABOUT, about)
    return study_id


def read_definition(
    storage: BaseStorage, name: str, network: Network | MetricGraph | None
) -> tuple[int, StudyDefinition]:
    """Key and definition of a study; `network` must be the one it was made for."""
    require_text("name", name, "see study_names(storage)", error=StudyError)
    study_id = _find(storage, name)
    about = storage.get_study_user_attrs(study_id).get(ABOUT)
    if about is None and storage.get_all_trials(study_id, deepcopy=False):  # it is lost, but not its copy
        about = storage.get_study_system_attrs(study_id).get(ABOUT)
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
    return study_id, StudyDefinition(
        as_network(source), graph, StudySettings.from_dict(about.get("settings")), expected
    )


def require_same_network(name: str, expected: str, found: str) -> None:
    """Raise StudyError if the networks differ."""
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
        listed = quoted(names, none="no study")
        raise StudyError(f"the storage holds {listed}, got the name {name!r}") from cause


def names_in(storage: BaseStorage) -> list[str]:
    """Names of the netbo studies in an open storage."""
    return [
        study.study_name
        for study in storage.get_all_studies()
        if ABOUT in study.user_attrs
        or (ABOUT in study.system_attrs and storage.get_all_trials(study._study_id, deepcopy=False))  # noqa: SLF001
    ]


def _only_name(storage: BaseStorage) -> str:
    names = names_in(storage)
    if len(names) != 1:
        listed = quoted(names)
        raise StudyError(f"a storage of one study needs no name, got {listed}; pass name=")
    return names[0]


def _is_study(storage: BaseStorage, name: str) -> bool:
    return name in names_in(storage)


def _as_reference(path: str | os.PathLike[str], definition: StudyDefinition, name: str) -> Path:
    """Absolute path of a checked network file, since other workers start elsewhere."""
    if not isinstance(path, str | os.PathLike):
        raise StudyError(
            f"network_file must be a path, got {shown(path)}; write_network(path, network) makes one"
        )
    absolute = Path(require_text("network_file", os.fspath(path), "rename it", error=StudyError)).resolve()
    require_same_network(name, definition.hash, content_hash(graph_of(read_network(absolute))))
    return absolute


def _require_same_settings(name: str, kept: StudySettings, given: StudySettings) -> None:
    for field in fields(StudySettings):
        there, here = getattr(kept, field.name), getattr(given, field.name)
        if there != here:
            is_bare, is_left_out = (each is None or each is False for each in (there, here))
            made = f"without {field.name}=" if is_bare else f"with {field.name}={there!r}"
            got = f"no {field.name}=" if is_left_out else f"{field.name}={here!r}"
            raise StudyError(
                f"the study {name!r} was made {made}, got {got}; "
                "load it with Study.load to go on, or choose another name"
            )
