"""Trial store: reads and writes the trials of one study in an Optuna storage."""

from collections.abc import Hashable
from contextlib import suppress
from dataclasses import replace
from typing import Any

import numpy as np
from optuna.distributions import BaseDistribution, FloatDistribution, IntDistribution
from optuna.exceptions import UpdateFinishedTrialError
from optuna.storages import BaseStorage
from optuna.trial import FrozenTrial, TrialState, create_trial

from netbo.errors import ObservationError, ParameterError, shown
from netbo.geometry import PLACE_TOLERANCE, MetricGraph, Point
from netbo.optimize.trials import Told
from netbo.studies import records as stored
from netbo.studies.resilience import Clock


class TrialStore:
    """The trials of one study; one method per fact, in as few writes as possible."""

    def __init__(self, storage: BaseStorage, study_id: int, graph: MetricGraph, clock: Clock) -> None:
        self.storage, self.study_id, self.graph, self.clock = storage, study_id, graph, clock
        self._distributions: dict[str, BaseDistribution] = {
            stored.EDGE: IntDistribution(0, graph.n_edges - 1),
            stored.POSITION: FloatDistribution(0, 1),
        }
        self._points = stored.PointCache(graph)
        # Optuna never changes finished trials, so each of them is read once.
        self._finished_prefix: list[stored.TrialRecord] = []  # of the trials 0, 1, ... that are all finished
        self._finished: dict[int, stored.TrialRecord] = {}  # of other finished trials
        self._n_corrections: dict[int, int] = {}  # by trial
        self._interrupted_tells: list[stored.TrialRecord] = []  # with a value, still running for Optuna

    # Reading

    def records(self) -> list[stored.TrialRecord]:
        """All trials by number, corrections applied."""
        trials = self.storage.get_all_trials(self.study_id, deepcopy=False)
        corrections = stored.read_corrections(self.storage.get_study_user_attrs(self.study_id))
        self._n_corrections = {trial: len(each) for trial, each in corrections.items()}
        done = len(self._finished_prefix)
        rest = [self._read(trial) for trial in trials[done:]]
        self._interrupted_tells = [
            record
            for record, trial in zip(rest, trials[done:], strict=True)
            if record.state in (stored.State.OBSERVED, stored.State.FAILED) and not trial.state.is_finished()
        ]
        records = self._finished_prefix + rest
        while done < len(trials) and trials[done].state.is_finished():
            self._finished_prefix.append(records[done])
            self._finished.pop(done, None)
            done += 1
        for number, first in stored.repeated_keys(records).items():
            note = f"told twice at once under the key {records[number].own_key!r}: trial {first} counts"
            records[number] = replace(records[number], state=stored.State.VOID, note=note)
        for number, each in corrections.items():
            if number < len(records):
                records[number] = stored.apply_corrections(records[number], each, self._points)
        return records

    def record(self, number: int) -> stored.TrialRecord | None:
        """One trial, corrections applied; None if there is none of that number."""
        try:
            trial = self.storage.get_trial(self.key_of(number))
        except KeyError:
            return None
        corrections = stored.read_corrections(self.storage.get_study_user_attrs(self.study_id), number)
        mine = corrections.get(number, [])
        self._n_corrections[number] = len(mine)
        if self._read(trial).own_key is not None:  # others may have it too
            return self.records()[number]
        return stored.apply_corrections(self._read(trial), mine, self._points)

    def changes(self) -> dict[int, list[stored.Correction]]:
        """What was said of trials later, as it was written, in its order."""
        return stored.read_corrections(self.storage.get_study_user_attrs(self.study_id))

    def first_value(self, record: stored.TrialRecord) -> float | None:
        """The value as it was first told: a correction leaves it."""
        values = self.storage.get_trial(record.key).values
        return values[0] if values else None

    def find(self, key: str, point: Point, value: float | None) -> int | None:
        """Trial of a user's key, by its value now or as first told; ObservationError if it says another."""
        if not isinstance(key, str) or not key:
            raise ParameterError(f"a key must be text, got {shown(key)}; name the measurement, as in 'A-17'")
        for record in self.records():
            if record.own_key != key:
                continue
            apart = np.inf if record.point is None else abs(record.point.z - point.z)
            near = PLACE_TOLERANCE * float(self.graph.lengths[point.edge])
            is_there = record.point is not None and record.point.edge == point.edge and apart <= near
            if not is_there or value not in (record.value, self.first_value(record)):
                raise ObservationError(
                    f"the key {key!r} is that of trial {record.id}, value {record.value}, got the value "
                    f"{value} or another place; correct(id, value) replaces a value"
                )
            return record.id
        return None

    def key_of(self, number: int) -> int:
        """Storage key of a trial of the study."""
        return self.storage.get_trial_id_from_study_id_trial_number(self.study_id, number)

    def _read(self, trial: FrozenTrial) -> stored.TrialRecord:
        number, prefix = trial.number, self._finished_prefix
        known = prefix[number] if number < len(prefix) else self._finished.get(number)
        if known is not None:
            return known
        record = stored.read_record(trial, self._points)
        if trial.state.is_finished():
            self._finished[number] = record
        return record

    # New trials; each returns number and key

    def create(self, point: Point, lease: dict[str, Any], **attributes: Any) -> tuple[int, int]:
        """Insert a running trial with its point, in one write."""
        return self._insert_at(point, TrialState.RUNNING, {stored.LEASE: lease}, attributes)

    def enqueue(self, point: Point, **attributes: Any) -> tuple[int, int]:
        """Insert a trial that waits to be handed out."""
        return self._insert_at(point, TrialState.WAITING, {}, {"queued": True, **attributes})

    def add_observation(self, point: Point, told: Told, key: str | None = None) -> tuple[int, int]:
        """Insert a finished trial that was never asked for, under a key of the user's if there is one."""
        state = TrialState.FAIL if told.value is None else TrialState.COMPLETE
        place: dict[str, Any] = {"asked": False} if key is None else {"asked": False, "key": key}
        outcome = {stored.TOLD: self._outcome(told, None)} if _says_more(told) else {}
        return self._insert_at(point, state, outcome, place, told.value)

    def add_once(self, point: Point, told: Told, key: str) -> int:
        """Number of the measurement of a key, recorded if there is none; of two at once the first counts."""
        known = self.find(key, point, told.value)
        if known is not None:
            return known
        number = self.add_observation(point, told, key)[0]
        try:
            found = self.find(key, point, told.value)
        except ObservationError:  # another value or place, which somebody told meanwhile
            self.add_correction(number, stored.WITHDRAW)
            raise
        return number if found is None else found

    def reserve(self, lease: dict[str, Any]) -> tuple[int, int]:
        """Insert a running trial that has no point yet."""
        return self._insert(create_trial(state=TrialState.RUNNING, user_attrs={stored.LEASE: lease}))

    def _insert_at(
        self,
        point: Point,
        state: TrialState,
        attributes: dict[str, Any],
        place: dict[str, Any],
        value: float | None = None,
    ) -> tuple[int, int]:
        self._points.add(point)
        trial = create_trial(
            state=state,
            value=value,
            params=self._parameters(point),
            distributions=self._distributions,
            user_attrs={**attributes, stored.PLACE: _place(point, place)},
        )
        return self._insert(trial)

    def _insert(self, trial: FrozenTrial) -> tuple[int, int]:
        key = self.storage.create_new_trial(self.study_id, template_trial=trial)
        return self.storage.get_trial(key).number, key

    def _parameters(self, point: Point) -> dict[str, Any]:
        fraction = min(1.0, point.z / float(self.graph.lengths[point.edge]))
        return {stored.EDGE: int(point.edge), stored.POSITION: float(fraction)}

    # Running trials; UpdateFinishedTrialError if another worker finished them

    def set_point(self, key: int, point: Point, **attributes: Any) -> None:
        """Give a reserved trial its point; it counts once the last write is done."""
        self._points.add(point)
        for name, value in self._parameters(point).items():
            self.storage.set_trial_param(key, name, float(value), self._distributions[name])
        self.storage.set_trial_user_attr(key, stored.PLACE, _place(point, attributes))

    def claim(self, record: stored.TrialRecord, lease: dict[str, Any]) -> bool:
        """Hand out a queued trial; False if another worker did."""
        try:
            if not self.storage.set_trial_state_values(record.key, TrialState.RUNNING):
                return False
        except UpdateFinishedTrialError:
            return False
        self.storage.set_trial_user_attr(record.key, stored.LEASE, lease)
        return True

    def set_expiry(self, record: stored.TrialRecord, expires: float | None) -> None:
        """Move the end of the lease of a running trial."""
        if record.point is None:
            lease = {"worker": record.worker, "expires": expires}
            self.storage.set_trial_user_attr(record.key, stored.LEASE, lease)
        else:
            self.storage.set_trial_user_attr(record.key, stored.RENEWED, {"expires": expires})

    def renew_lease(self, key: int, seconds: float) -> bool:
        """Restart the lease of a pending trial; False if it is finished. Thread-safe."""
        expiry = {"expires": self.clock.now() + seconds}
        try:
            self.storage.set_trial_user_attr(key, stored.RENEWED, expiry)
        except UpdateFinishedTrialError:
            return False
        return True

    def tell(self, record: stored.TrialRecord, told: Told, at: Point | None = None) -> None:
        """Write the outcome of a trial; noise, note and point first, with the value, so that none is lost."""
        if _says_more(told) or at is not None:
            self.storage.set_trial_user_attr(record.key, stored.TOLD, self._outcome(told, at))
        self.finish(record, told.value)

    def finish(self, record: stored.TrialRecord, value: float | None) -> None:
        """Set the final state of a trial that was told."""
        if value is None:
            self.storage.set_trial_state_values(record.key, TrialState.FAIL)
        else:
            self.storage.set_trial_state_values(record.key, TrialState.COMPLETE, [value])

    def finish_interrupted_tells(self) -> None:
        """Finish trials whose worker died between its two writes; their values count anyway."""
        for record in self._interrupted_tells:
            with suppress(UpdateFinishedTrialError):
                self.finish(record, record.value)

    def close(self, key: int, state: stored.State, note: str = "") -> None:
        """End a trial without a value, unless it is finished."""
        with suppress(UpdateFinishedTrialError):
            self.storage.set_trial_user_attr(key, stored.CLOSED, {"state": state.value, "note": note})
            self.storage.set_trial_state_values(key, TrialState.FAIL)

    # Finished trials

    def add_correction(self, trial: int, kind: str, **values: Any) -> None:
        """Append a correction to a finished trial; nothing is overwritten."""
        counter = self._n_corrections.get(trial, 0) + 1
        correction = {"kind": kind, "time": self.clock.now(), **values}
        self.storage.set_study_user_attr(self.study_id, stored.correction_key(trial, counter), correction)

    def tell_late(self, trial: int, told: Told, at: Point | None) -> None:
        """Append the outcome of a trial that was closed."""
        self.add_correction(trial, stored.TELL, **self._outcome(told, at))

    def _outcome(self, told: Told, at: Point | None) -> dict[str, Any]:
        outcome: dict[str, Any] = {"value": told.value, "time": self.clock.now()}
        if told.noise is not None:
            outcome["noise"] = told.noise
        outcome |= {name: said for name in ("note", "key", "by") if (said := getattr(told, name))}
        if at is not None:
            outcome["at"] = {"edge": int(at.edge), **_place(at, {})}
        return outcome


def _says_more(told: Told) -> bool:
    return told.noise is not None or bool(told.note or told.key or told.by)


def _place(point: Point, attributes: dict[str, Any]) -> dict[str, Any]:
    """Attributes of a point: the exact distance since a fraction rounds, the user's address for people."""
    named = {"edge_id": as_json(point.edge_id), "distance": float(point.z)}
    along = {} if point.distance == point.z else {"distance_along_edge_id": float(point.distance)}
    return {**named, **along, **attributes}


def as_note(note: Any) -> str:
    """The note of a trial if it is text, of any letters: a worker tells what others raised."""
    if not isinstance(note, str):
        raise ParameterError(f"a note must be text, got {shown(note)}; say what is worth remembering")
    return note


def as_json(edge_id: Hashable) -> Any:
    """Edge id as a JSON value for people; the number of the edge is what is read back."""
    if isinstance(edge_id, str | int | float | bool | type(None)):
        return edge_id
    if isinstance(edge_id, tuple):
        return [as_json(each) for each in edge_id]
    return str(edge_id)
