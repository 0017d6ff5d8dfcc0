"""What studies are about and how they stand: title and unit of one, the list of all."""

import math
import os
from dataclasses import asdict, dataclass, replace
from datetime import UTC, datetime
from pathlib import Path
from typing import TYPE_CHECKING, Any

from optuna.storages import BaseStorage

from netbo.errors import BaseError, StudyFileError
from netbo.optimize import Answers, Summary
from netbo.optimize.arguments import as_sign
from netbo.studies.definition import StudyWords, names_in, read_definition
from netbo.studies.records import State, TrialRecord, as_time, read_corrections
from netbo.studies.resilience import SystemClock
from netbo.studies.storages import JOURNAL_SUFFIX, StorageLike, open_storage
from netbo.studies.trial_store import TrialStore
from netbo.wording import extent, in_unit


class Described(Answers):
    """Answers of a study that says what it is about: title and unit of the values, changed by anybody."""

    if TYPE_CHECKING:

        @property
        def trial_store(self) -> TrialStore:
            """Reads and writes the trials."""

    @property
    def title(self) -> str | None:
        """What the study is about; None if nobody said."""
        return self._words().title

    @property
    def value_unit(self) -> str | None:
        """Unit of the values; None if nobody said."""
        return self._words().value_unit

    def describe(self, *, title: str | None = None, value_unit: str | None = None) -> None:
        """Change the title or the unit of the values; an empty text takes it away, None leaves it.

        Parameters
        ----------
        title : str, optional
            One line.
        value_unit : str, optional
            As on an axis, such as "l/s". It is said beside values; none of them is converted.

        Raises
        ------
        ParameterError
            It is not one line of text.

        Examples
        --------
        >>> import netbo, optuna
        >>> storage = optuna.storages.InMemoryStorage()
        >>> study = netbo.Study.create(netbo.interval(2.0), name="leak", storage=storage, value_unit="l/s")
        >>> study.describe(title="Leaks in zone 3")
        >>> study.title, study.value_unit
        ('Leaks in zone 3', 'l/s')
        """
        StudyWords.of(title, value_unit).write(self.trial_store.storage, self.trial_store.study_id)

    def summary(self) -> Summary:
        """What is known and how far it can be trusted, as of an optimizer; a title comes first."""
        found, title = super().summary(), self.title
        return replace(found, facts=(f"title      {title}", *found.facts)) if title else found

    def _words(self) -> StudyWords:
        return StudyWords.read(self.trial_store.storage.get_study_user_attrs(self.trial_store.study_id))


@dataclass(frozen=True, slots=True, kw_only=True)
class StudyOverview:
    """One study at a glance.

    Attributes
    ----------
    name, title
        What it is called; `title` is None unless somebody gave one.
    network, direction
        Extent of the network in words, and "maximize" or "minimize".
    n_values, n_failed, n_pending
        Trials that count, that gave no value, and that are handed out.
    best, value_unit
        The best value observed and its unit; None if there is none.
    changed
        When a trial was last asked for, told or corrected (UTC).
    journal
        The file, where a folder was listed.
    problem
        Why nothing more is known: a damaged file, a network file that is gone. Empty otherwise.

    Examples
    --------
    >>> StudyOverview(name="leak", best=47.1, value_unit="l/s").best_in_words
    '47.1 l/s'
    """

    name: str
    title: str | None = None
    network: str = ""
    direction: str = ""
    n_values: int = 0
    n_failed: int = 0
    n_pending: int = 0
    best: float | None = None
    value_unit: str | None = None
    changed: datetime | None = None
    journal: str | None = None
    problem: str = ""

    @property
    def best_in_words(self) -> str:
        """The best value with its unit; empty if there is none."""
        return "" if self.best is None else in_unit(self.best, self.value_unit)


def list_studies(storage: StorageLike = ".") -> list[StudyOverview]:
    """The studies of a storage, or of all journal files in a folder.

    A study or, in a folder, a file that cannot be read is listed with its problem.

    Parameters
    ----------
    storage : path, str or optuna.storages.BaseStorage
        A folder, or as for `Study.load`; by default the working folder.

    Returns
    -------
    list of StudyOverview
        By file and in the order they were made; studies made by Optuna alone are left out.

    Raises
    ------
    StudyFileError
        There is no such folder or file, or the file is damaged.

    Examples
    --------
    >>> import netbo, optuna
    >>> storage = optuna.storages.InMemoryStorage()
    >>> study = netbo.Study.create(netbo.interval(2.0), name="leak", storage=storage, title="Zone 3")
    >>> [(each.name, each.title, each.n_values) for each in list_studies(storage)]
    [('leak', 'Zone 3', 0)]
    """
    if isinstance(storage, str | os.PathLike) and "://" not in os.fspath(storage):
        path = Path(storage)
        if path.is_dir():
            return [each for file in sorted(path.glob(f"*{JOURNAL_SUFFIX}")) for each in _of_file(file)]
    return _of_storage(open_storage(storage, existing=True))


def _of_file(path: Path) -> list[StudyOverview]:
    try:
        return _of_storage(open_storage(path, existing=True), str(path))
    except (StudyFileError, OSError) as cause:
        return [StudyOverview(name=path.stem, journal=str(path), problem=str(cause))]


def _of_storage(storage: BaseStorage, journal: str | None = None) -> list[StudyOverview]:
    return [_overview(storage, name, journal) for name in names_in(storage)]


def _overview(storage: BaseStorage, name: str, journal: str | None) -> StudyOverview:
    attributes = storage.get_study_user_attrs(storage.get_study_id_from_name(name))
    words: dict[str, Any] = {"name": name, "journal": journal, **asdict(StudyWords.read(attributes))}
    try:
        study_id, definition = read_definition(storage, name, None)
        records = TrialStore(storage, study_id, definition.graph, SystemClock()).records()
    except BaseError as cause:
        return StudyOverview(**words, problem=str(cause))
    graph, direction = definition.graph, definition.settings.direction
    states = [record.state for record in records]
    return StudyOverview(
        **words, network=extent(graph.n_edges, graph.total_length, graph.unit), direction=direction,
        n_values=states.count(State.OBSERVED), n_failed=states.count(State.FAILED),
        n_pending=states.count(State.PENDING), best=_best(records, direction),
        changed=_last_change(records, attributes),
    )  # fmt: skip


def _best(records: list[TrialRecord], direction: str) -> float | None:
    sign = as_sign(direction)
    values = [record.value for record in records if record.state is State.OBSERVED]
    return max((value for value in values if value is not None), key=lambda y: sign * y, default=None)


def _last_change(records: list[TrialRecord], attributes: dict[str, Any]) -> datetime | None:
    times = [time for record in records for time in (record.began, record.ended)]
    for corrections in read_corrections(attributes).values():
        times += [as_time(each.get("time"), math.nan) for each in corrections]
    latest = max((time for time in times if math.isfinite(time)), default=None)
    return None if latest is None else datetime.fromtimestamp(latest, UTC)
