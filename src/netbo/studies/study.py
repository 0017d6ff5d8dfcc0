"""Study: ask-and-tell optimization whose trials are stored before anybody acts on them."""

from __future__ import annotations

import os
from collections.abc import Iterable, Sequence
from contextlib import suppress
from dataclasses import replace
from threading import RLock
from typing import TYPE_CHECKING, Any, Literal, Unpack, overload

from optuna.exceptions import UpdateFinishedTrialError
from optuna.storages import BaseStorage

from netbo.adapters import Network
from netbo.checks import explained, is_whole, require_count, require_text
from netbo.errors import ExhaustedError, ObservationError, ParameterError, StudyError, shown
from netbo.geometry import MetricGraph, Point, as_place
from netbo.optimize import Optimizer, Suggestion
from netbo.optimize.arguments import SearchOptions, as_network_given, as_told
from netbo.optimize.trials import Told
from netbo.studies.definition import OpenStudy, StudyWords, create_study, graph_of, load_study, reopen_study
from netbo.studies.dispatch import AskRequest, Crew, Dispatcher, count_handed_out, require_crews
from netbo.studies.overview import Described
from netbo.studies.records import CORRECT, NOTE, TOLD_STATES, WITHDRAW, State, TrialRecord, trials_table
from netbo.studies.resilience import Clock, as_clock, new_worker_name
from netbo.studies.settings import ASKING_SECONDS, StudySettings, require_seconds
from netbo.studies.storages import StorageLike, reopened, uncached
from netbo.studies.trial_store import TrialStore, as_note

if TYPE_CHECKING:
    import pandas as pd

    from netbo.optimize.evaluation import Objective
    from netbo.studies.worker import WorkSummary

STUDY: Literal["study"] = "study"  # the lease that the study was made with
MOST_AT_ONCE = 10_000  # suggestions; nobody waits for more
FOUND_BY_IT = "its trials are found by it"
_OPEN = (State.PENDING, State.WAITING)
_CLOSED = (State.FAILED, State.CANCELLED, State.EXPIRED, State.RELEASED)

Lease = float | None | Literal["study"]


class Study(Described):
    """Ask-and-tell optimization on a network, persistent and shared by all who open its storage.

    Made by `Study.create`, found again by `Study.load`. Every method first reads what others wrote; what
    it writes is in the storage when it returns.

    Attributes
    ----------
    name, network, graph, settings, storage, worker
        As created; `worker` is the name in the records of its trials.
    trial_store, dispatcher
        Read and write trials, and hand them out.

    Examples
    --------
    >>> import netbo, optuna
    >>> storage = optuna.storages.InMemoryStorage()  # or a path, which stays: "leak.journal"
    >>> study = netbo.Study.create(netbo.interval(2.0), name="leak", storage=storage, noise=0.01)
    >>> suggestion = study.ask()
    >>> study.tell(suggestion, 0.7)
    0
    >>> netbo.Study.load(storage).n_told
    1
    """

    def __init__(self, opened: OpenStudy, *, worker: str | None = None, clock: Clock | None = None) -> None:
        self.name, self._definition = opened.name, opened.definition
        self.network, self.graph = opened.definition.source, opened.definition.graph
        self.settings: StudySettings = opened.definition.settings
        self.network_hash = opened.definition.hash
        self.clock: Clock = as_clock(clock)
        named = worker is not None
        self._worker_given = require_text("worker", worker, FOUND_BY_IT, error=StudyError) if named else None
        self._store = TrialStore(opened.storage, opened.study_id, self.graph, self.clock)
        self.dispatcher = Dispatcher(self._store, opened.optimizer, self.settings.asking_lease)
        self._begin_process(worker or new_worker_name())

    # Processes: a study that was forked or pickled opens its storage anew and asks under a name of its own.

    def _begin_process(self, worker: str) -> None:
        self._worker, self._turns = worker, RLock()  # a lock may have been held when the process was forked
        self._process = os.getpid()

    def _notice_fork(self) -> None:
        if self._process != os.getpid():
            self._store.storage = reopened(self._store.storage)
            self._begin_process(new_worker_name(self._worker_given))

    def _arguments(self, storage: BaseStorage) -> tuple[Any, ...]:
        address = (self.name, storage, self._store.study_id, self._definition)
        return type(self), address, self._worker_given, self.clock

    def __reduce__(self) -> tuple[Any, ...]:
        return reopen_study, self._arguments(uncached(self.storage))

    def __copy__(self) -> Any:
        return reopen_study(*self._arguments(self.storage))

    @property
    def _lock(self) -> RLock:
        """Threads of this process take turns; processes do so in the storage."""
        self._notice_fork()
        return self._turns

    @property
    def worker(self) -> str:
        """Name in the records of its trials; another one in each process."""
        self._notice_fork()
        return self._worker

    @property
    def trial_store(self) -> TrialStore:
        """Reads and writes the trials."""
        self._notice_fork()
        return self._store

    @property
    def storage(self) -> BaseStorage:
        """Where the study lives."""
        return self.trial_store.storage

    @classmethod
    @explained
    def create(
        cls,
        network: Any,
        *,
        name: str,
        storage: StorageLike | None = None,
        preset: str = "robust",
        acquisition: str | None = None,
        direction: str = "maximize",
        seed: int = 0,
        lease: float | None = None,
        asking_lease: float = ASKING_SECONDS,
        network_file: str | os.PathLike[str] | None = None,
        title: str | None = None,
        value_unit: str | None = None,
        resume: bool = False,
        worker: str | None = None,
        clock: Clock | None = None,
        **options: Unpack[SearchOptions],
    ) -> Study:
        """Create a study of a network.

        Parameters
        ----------
        network : Network, MetricGraph, path or object
            Where to measure: a network, or what `netbo.read` makes one of. What its report warns of is shown,
            once (`NetworkWarning`).
        name : str
            By which others load the study.
        storage : path, str or optuna.storages.BaseStorage, optional
            Journal file (by default NAME.journal), URL (sqlite:///FILE, postgresql://..., grpc://HOST:PORT),
            or open storage.
        preset, acquisition, noise, direction, seed, repeats, separation, max_cell
            As for `Optimizer`, by name and number.
        candidates : SearchSpace, Points, Forbidden or "continuum", optional
            Where to ask; by default anywhere on the network.
        design : Design or int, optional
            The first places, as a Maximin or a RandomDesign, or how many.
        lease : float, optional
            Seconds after which a suggestion that was neither told nor renewed is handed out again; by
            default never.
        asking_lease : float
            Seconds that computing a suggestion may take before its worker is taken for dead.
        network_file : path, optional
            Network JSON file to refer to instead of storing the network in the study.
        title, value_unit : str, optional
            What the study is about, and the unit of its values ("l/s"), for people; see `describe`.
        resume : bool
            Load the study if it exists; network and settings must be the same.
        worker : str, optional
            Name of who asks; by default made of host, process and a random number.
        clock : Clock, optional
            Clock of leases; by default that of this machine.

        Raises
        ------
        StudyError
            The name is taken, or a setting cannot be stored.
        StudyFileError
            The storage cannot be opened.

        Examples
        --------
        >>> import netbo, optuna
        >>> storage = optuna.storages.InMemoryStorage()
        >>> Study.create(netbo.interval(2.0), name="leak", storage=storage).settings.preset
        'robust'
        """
        words = StudyWords.of(title, value_unit)
        source = as_network_given(network) or network
        settings = StudySettings.of(
            graph_of(source), preset=preset, acquisition=acquisition, direction=direction, seed=seed,
            lease=lease, asking_lease=asking_lease, **options,
        )  # fmt: skip
        opened = create_study(
            source, settings, name=name, storage=storage, network_file=network_file, resume=resume
        )
        study = cls(opened, worker=worker, clock=clock)
        words.write(study.storage, study.trial_store.study_id)
        return study

    @classmethod
    def load(
        cls,
        storage: StorageLike,
        name: str | None = None,
        *,
        network: Network | MetricGraph | None = None,
        worker: str | None = None,
        clock: Clock | None = None,
    ) -> Study:
        """Load a study.

        Parameters
        ----------
        storage : path, str or optuna.storages.BaseStorage
            As for `create`.
        name : str, optional
            May be left out if the storage holds one study.
        network : Network or MetricGraph, optional
            The network of the study; by default the one it stores or refers to.
        worker, clock
            As for `create`.

        Raises
        ------
        StudyError
            There is no such study, or it belongs to another network.
        StudyFileError
            There is no such file, or it is damaged.

        Examples
        --------
        >>> import netbo, optuna
        >>> storage = optuna.storages.InMemoryStorage()
        >>> study = Study.create(netbo.interval(2.0), name="leak", storage=storage)
        >>> Study.load(storage).name
        'leak'
        """
        return cls(load_study(storage, name, network), worker=worker, clock=clock)

    def __repr__(self) -> str:
        return f"Study({self.name!r}, {self.graph!r}, {self.optimizer.history!r})"

    @property
    def optimizer(self) -> Optimizer:
        """Optimizer with the trials as they are in the storage now."""
        with self._lock:
            self.dispatcher.refresh()
            optimizer = self.dispatcher.optimizer
            optimizer.value_unit = self.value_unit
            return optimizer

    @property
    def trials(self) -> pd.DataFrame:
        """All trials as a table."""
        return trials_table(self.records)

    @property
    def records(self) -> list[TrialRecord]:
        """All trials by id, void ones included, as they are in the storage now."""
        with self._lock:
            return self.dispatcher.refresh()

    # Asking

    @overload
    def ask(self, *, lease: Lease = ..., budget: int | None = ...) -> Suggestion: ...
    @overload
    def ask(self, n: int, *, lease: Lease = ..., budget: int | None = ...) -> list[Suggestion]: ...
    @overload
    def ask(
        self, *, crews: Sequence[Crew], lease: Lease = ..., budget: int | None = ...
    ) -> list[Suggestion]: ...
    def ask(
        self,
        n: int | None = None,
        *,
        crews: Sequence[Crew] | None = None,
        lease: Lease = STUDY,
        budget: int | None = None,
    ) -> Suggestion | list[Suggestion]:
        """Suggest where to measure next; suggestions are pending until told.

        Enqueued points come first, then those of trials whose lease ran out, then new ones.

        Parameters
        ----------
        n : int, optional
            Size of a batch; it is smaller if there are not so many points.
        crews : sequence of Crew, optional
            One suggestion for each, by where it is and what driving costs.
        lease : float or None, optional
            Seconds, or None for a lease that never ends; by default that of the study.
        budget : int, optional
            Number of points to hand out in all, by any worker.

        Returns
        -------
        Suggestion, or list of Suggestion with `n` or `crews`

        Raises
        ------
        BudgetError
            The budget is handed out.
        ExhaustedError
            No point is left to measure.

        Examples
        --------
        >>> import netbo, optuna
        >>> storage = optuna.storages.InMemoryStorage()
        >>> study = Study.create(netbo.interval(2.0), name="leak", storage=storage)
        >>> [suggestion.id for suggestion in study.ask(2)]
        [0, 1]
        """
        seconds = self._seconds(lease)
        if budget is not None:
            require_count("budget", budget, "count the evaluations you can afford, or leave it out")
        if crews is not None:
            return self._ask_several(
                [self._request(crew, seconds, budget) for crew in require_crews(crews, n)]
            )
        request = AskRequest(self.worker, seconds, budget)
        if n is None:
            with self._lock:
                return self.dispatcher.ask(request)
        if not is_whole(n) or not 1 <= n <= MOST_AT_ONCE:
            raise ParameterError(
                f"n counts suggestions, got {shown(n)}; ask for one or more, {MOST_AT_ONCE} at most"
            )
        return self._ask_several([request] * int(n))

    def _ask_several(self, requests: Sequence[AskRequest]) -> list[Suggestion]:
        with self._lock:
            suggestions = [self.dispatcher.ask(requests[0])]
            with suppress(ExhaustedError):
                suggestions.extend(self.dispatcher.ask(request) for request in requests[1:])
        return suggestions

    def _seconds(self, lease: Any) -> float | None:
        seconds = self.settings.lease if isinstance(lease, str) and lease == STUDY else lease
        require_seconds(seconds, "lease", or_none=True)
        return None if seconds is None else float(seconds)

    def _request(self, crew: Crew, lease: Any, budget: int | None) -> AskRequest:
        placed = crew if crew.at is None else replace(crew, at=self.place(crew.at))
        return AskRequest(crew.name, lease, budget, placed.travel(self.records))

    @explained
    def enqueue(self, place: Any) -> int:
        """Enqueue a point, given as for `place`, to be handed out next; returns the id of its trial."""
        point = self.place(place)
        with self._lock:
            return self.trial_store.enqueue(point, grace=self.settings.asking_lease)[0]

    @explained
    def renew(self, suggestion: Suggestion | int, lease: Lease = STUDY) -> bool:
        """Restart the lease of a pending suggestion; False if it is no longer pending."""
        seconds = self._seconds(lease)
        with self._lock:
            record = self._record(suggestion)
            if record.state is not State.PENDING:
                return False
            with suppress(UpdateFinishedTrialError):
                self.trial_store.set_expiry(record, None if seconds is None else self.clock.now() + seconds)
                return True
        return False

    @explained
    def release(self, suggestion: Suggestion | int) -> None:
        """Release a pending suggestion: its point is the next to be handed out."""
        self._close(suggestion, State.RELEASED, (State.PENDING,))

    def release_worker(self, worker: str) -> list[int]:
        """Release all suggestions of a worker known to be dead; returns their ids."""
        require_text("worker", worker, "see the column worker of .trials", error=StudyError)
        with self._lock:
            held = [r for r in self.trial_store.records() if r.worker == worker]
            held = [r for r in held if r.state in (State.PENDING, State.ASKING)]
            for record in held:
                self.trial_store.close(record.key, State.RELEASED, f"{worker} is dead")
        return [record.id for record in held]

    @explained
    def cancel(self, suggestion: Suggestion | int) -> None:
        """Cancel a pending or enqueued suggestion; a value told for it later still counts."""
        self._close(suggestion, State.CANCELLED, _OPEN)

    def _close(self, suggestion: Suggestion | int, state: State, allowed: Iterable[State]) -> None:
        with self._lock:
            record = self._record(suggestion)
            if record.state not in allowed:
                raise ObservationError(
                    f"only pending trials can be {state.value}, got trial {record.id}, {record.state.value}; "
                    "withdraw(id) takes a value back"
                )
            self.trial_store.close(record.key, state)

    # Telling

    @explained
    def tell(
        self, suggestion: Suggestion | int, value: Any, noise: Any = None, at: Any = None, *, note: str = "",
        key: str | None = None, by: str = "",
    ) -> int:  # fmt: skip
        """Record the outcome of a suggestion; it is in the storage when this returns.

        A value for a trial that was cancelled, or whose lease ran out, counts all the same.

        Parameters
        ----------
        suggestion : Suggestion or int
            What `ask` returned, or its id.
        value : float or "failed"
            NaN and "failed" are recorded and not modelled.
        noise : float, optional
            Variance of this value.
        at : Point, Points of one, (edge id, distance) or name of a vertex, optional
            Where it was measured, if not where it was asked for.
        note : str
            Remark for the record.
        key : str, optional
            Your name of this value: told again under it, as after a lost reply, it is not told twice.
        by : str
            Who says so.

        Returns
        -------
        int
            Id of the trial.

        Raises
        ------
        ObservationError
            There is no such trial, or it has a value; see `correct`.

        Examples
        --------
        >>> import netbo, optuna
        >>> storage = optuna.storages.InMemoryStorage()
        >>> study = Study.create(netbo.interval(2.0), name="leak", storage=storage)
        >>> number = study.tell(study.ask(), 0.7, noise=0.01, at=(0, 0.5), note="upstream")
        >>> study.records[number].point.distance
        0.5
        """
        told = replace(as_told(value, noise, as_note(note)), key=key, by=as_note(by))
        point = None if at is None else self.place(at)
        with self._lock:
            record = self._record(suggestion)
            if key and record.told_key == key and told.value in self._values(record):
                return record.id
            if record.state in _OPEN:
                try:
                    self.trial_store.tell(record, told, point)
                except UpdateFinishedTrialError:  # expired, or told by another worker, just now
                    record = self._record(record.id)
                else:
                    return record.id
                if record.state in (State.OBSERVED, State.FAILED) and _holds(record, told):
                    # Another worker finished the trial between our two writes. Append the outcome as well:
                    # others may have read the trial before our first write, and finished ones are read once.
                    self.trial_store.tell_late(record.id, told, point)
                    return record.id
            self._tell_late(record, told, point)
        return record.id

    def _values(self, record: TrialRecord) -> tuple[float | None, ...]:
        """The value of a trial now, and as it was first told."""
        return record.value, self.trial_store.first_value(record)

    def _tell_late(self, record: TrialRecord, told: Told, point: Point | None) -> None:
        if record.state not in _CLOSED:
            raise ObservationError(
                f"trial {record.id} cannot be told: it is {record.state.value}, value {record.value}; "
                "correct(id, value) replaces a value, add_observation(point, value) adds one"
            )
        self.trial_store.tell_late(record.id, told, point)

    @explained
    def add_observation(
        self,
        place: Any,
        value: Any,
        noise: Any = None,
        *,
        note: str = "",
        key: str | None = None,
        by: str = "",
    ) -> int:
        """Record a measurement that was never asked for; arguments as for `tell`, returns the id.

        Under a key of your own, such as the number of a sample, it is recorded once however often it is told.
        """
        told, point = replace(as_told(value, noise, as_note(note)), by=as_note(by)), self.place(place)
        with self._lock:
            store = self.trial_store
            return store.add_observation(point, told)[0] if key is None else store.add_once(point, told, key)

    @explained
    def correct(self, suggestion: Suggestion | int, value: Any, noise: Any = None, *, by: str = "") -> None:
        """Replace the value of a trial that was told; the old one stays in the storage."""
        told = as_told(value, noise)
        if told.value is None:
            raise ObservationError(f"a correction must be a number, got {value!r}; try withdraw(id)")
        said = {"value": told.value} | ({} if told.noise is None else {"noise": told.noise})
        self._change(suggestion, CORRECT, TOLD_STATES, by, **said)

    @explained
    def withdraw(self, suggestion: Suggestion | int, *, by: str = "") -> None:
        """Withdraw a value: it stays in the record and is no longer modelled."""
        self._change(suggestion, WITHDRAW, (State.OBSERVED,), by)

    @explained
    def note(self, suggestion: Suggestion | int, text: str, *, by: str = "") -> None:
        """Set the note of any trial."""
        self._change(suggestion, NOTE, tuple(State), by, note=as_note(text))

    def _change(
        self, suggestion: Suggestion | int, kind: str, allowed: Iterable[State], by: str, **said: Any
    ) -> None:
        said |= {"by": as_note(by)} if by else {}
        with self._lock:
            record = self._record(suggestion)
            if record.state not in allowed:
                raise ObservationError(
                    f"{kind} needs a trial that was told, got trial {record.id}, {record.state.value}; "
                    "tell(id, value) tells it, cancel(id) gives it up"
                )
            self.trial_store.add_correction(record.id, kind, **said)

    # Counting and evaluating

    @property
    def pending(self) -> list[TrialRecord]:
        """Trials handed out and not yet told."""
        return [record for record in self.records if record.state is State.PENDING]

    @property
    def n_told(self) -> int:
        """Number of evaluations made, failed ones included."""
        return sum(trial.order is not None for trial in self.optimizer.history)

    @property
    def n_handed_out(self) -> int:
        """Number of evaluations made or pending: what a budget counts."""
        return count_handed_out(self.records)

    def work(self, objective: Objective, *, budget: int, **options: Any) -> WorkSummary:
        """Evaluate an objective until the budget is spent; options as for `netbo.studies.work`."""
        from netbo.studies.worker import work  # noqa: PLC0415 - a study on paper needs no workers

        return work(self, objective, budget=budget, **options)

    # Arguments

    @explained
    def place(self, where: Any) -> Point:
        """Point of the network from a Point, Points of one, (edge id, distance), or the name of a vertex."""
        return as_place(where, self.graph)

    def _record(self, suggestion: Suggestion | int) -> TrialRecord:
        number = suggestion.id if isinstance(suggestion, Suggestion) else suggestion
        is_number = isinstance(number, int) and not isinstance(number, bool) and number >= 0
        record = self.trial_store.record(number) if is_number else None
        if record is None:
            n = len(self.trial_store.records())
            known = f"0..{n - 1}" if n else "none yet"
            raise ObservationError(f"the trials of {self.name!r} are {known}, got {number!r}; see .trials")
        return record


def _holds(record: TrialRecord, told: Told) -> bool:
    return (record.value, record.noise, record.note) == (told.value, told.noise, told.note)
