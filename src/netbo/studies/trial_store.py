"""Reading and writing the trials of one study in a storage: one method a fact, in as few writes as can be."""

from __future__ import annotations

from collections.abc import Hashable
from contextlib import suppress
from typing import Any

from optuna.distributions import BaseDistribution, FloatDistribution, IntDistribution
from optuna.exceptions import UpdateFinishedTrialError
from optuna.storages import BaseStorage
from optuna.trial import FrozenTrial, TrialState, create_trial

from netbo.geometry import MetricGraph, Point
from netbo.optimize.trials import Told
from netbo.studies.records import (
    CLOSED,
    EDGE,
    LEASE,
    PLACE,
    POSITION,
    RENEWED,
    TOLD,
    Record,
    State,
    change_key,
    overlay,
    read_changes,
    read_record,
)
from netbo.studies.resilience import Clock


class Ledger:
    """The trials of one study."""

    def __init__(self, storage: BaseStorage, study_id: int, graph: MetricGraph, clock: Clock) -> None:
        self.storage, self.study_id, self.graph, self.clock = storage, study_id, graph, clock
        self._distributions: dict[str, BaseDistribution] = {
            EDGE: IntDistribution(0, graph.n_edges - 1),
            POSITION: FloatDistribution(0, 1),
        }
        self._settled: list[Record] = []  # the first trials, all finished: Optuna never changes those
        self._finished: dict[int, Record] = {}  # others that are
        self._changes: dict[int, int] = {}  # how many each trial has
        self._half_told: list[Record] = []  # values that are there, of trials that still run for Optuna

    def records(self) -> list[Record]:
        """All trials by number, with what was said of them later."""
        trials = self.storage.get_all_trials(self.study_id, deepcopy=False)
        changes = read_changes(self.storage.get_study_user_attrs(self.study_id))
        self._changes = {trial: len(each) for trial, each in changes.items()}
        done = len(self._settled)
        rest = [self._read(trial) for trial in trials[done:]]
        self._half_told = [
            record
            for record, trial in zip(rest, trials[done:], strict=True)
            if record.state in (State.OBSERVED, State.FAILED) and not trial.state.is_finished()
        ]
        records = self._settled + rest
        while done < len(trials) and trials[done].state.is_finished():
            self._settled.append(records[done])
            self._finished.pop(done, None)
            done += 1
        for number, said in changes.items():
            if number < len(records):
                records[number] = overlay(records[number], said, self.graph)
        return records

    def record(self, number: int) -> Record | None:
        """One trial, with what was said of it later; None if there is none of that number."""
        try:
            trial = self.storage.get_trial(self.key_of(number))
        except KeyError:
            return None
        changes = read_changes(self.storage.get_study_user_attrs(self.study_id), number)
        self._changes[number] = len(changes.get(number, ()))
        return overlay(self._read(trial), changes.get(number, []), self.graph)

    def _read(self, trial: FrozenTrial) -> Record:
        number = trial.number
        known = self._settled[number] if number < len(self._settled) else self._finished.get(number)
        if known is not None:
            return known
        record = read_record(trial, self.graph)
        if trial.state.is_finished():
            self._finished[number] = record
        return record

    # New trials

    def create(self, point: Point, lease: dict[str, Any], **said: Any) -> tuple[int, int]:
        """A running trial with its place, in one write; number and key."""
        return self._add(TrialState.RUNNING, point, {LEASE: lease}, said)

    def enqueue(self, point: Point, **said: Any) -> tuple[int, int]:
        """A trial that waits to be handed out."""
        return self._add(TrialState.WAITING, point, {}, {"queued": True, **said})

    def observe(self, point: Point, told: Told) -> tuple[int, int]:
        """A trial that was never asked for, finished at once."""
        state = TrialState.FAIL if told.value is None else TrialState.COMPLETE
        said = {TOLD: self._said(told, None)} if told.noise is not None or told.note else {}
        return self._add(state, point, said, {"asked": False}, told.value)

    def reserve(self, lease: dict[str, Any]) -> tuple[int, int]:
        """A running trial that has no place yet; number and key."""
        return self._new(create_trial(state=TrialState.RUNNING, user_attrs={LEASE: lease}))

    def _add(
        self,
        state: TrialState,
        point: Point,
        attributes: dict[str, Any],
        said: dict[str, Any],
        value: float | None = None,
    ) -> tuple[int, int]:
        trial = create_trial(
            state=state,
            value=value,
            params=self._parameters(point),
            distributions=self._distributions,
            user_attrs={**attributes, PLACE: _place(point, said)},
        )
        return self._new(trial)

    def _new(self, trial: FrozenTrial) -> tuple[int, int]:
        key = self.storage.create_new_trial(self.study_id, template_trial=trial)
        return self.storage.get_trial(key).number, key

    def _parameters(self, point: Point) -> dict[str, Any]:
        fraction = min(1.0, point.z / float(self.graph.lengths[point.edge]))
        return {EDGE: int(point.edge), POSITION: float(fraction)}

    # Changes to running trials; UpdateFinishedTrialError if somebody else finished them

    def place(self, key: int, point: Point, **said: Any) -> None:
        """Give a reserved trial its place; it counts once the last write is done."""
        for name, value in self._parameters(point).items():
            self.storage.set_trial_param(key, name, float(value), self._distributions[name])
        self.storage.set_trial_user_attr(key, PLACE, _place(point, said))

    def take(self, record: Record, lease: dict[str, Any]) -> bool:
        """Hand out a trial that waits; False if somebody else did."""
        try:
            if not self.storage.set_trial_state_values(record.key, TrialState.RUNNING):
                return False
        except UpdateFinishedTrialError:
            return False
        self.storage.set_trial_user_attr(record.key, LEASE, lease)
        return True

    def renew(self, record: Record, expires: float | None) -> None:
        """Another end of the lease of a trial that runs."""
        if record.point is None:
            lease = {"worker": record.worker, "expires": expires}
            self.storage.set_trial_user_attr(record.key, LEASE, lease)
        else:
            self.storage.set_trial_user_attr(record.key, RENEWED, {"expires": expires})

    def key_of(self, number: int) -> int:
        """Number in the storage of a trial of the study."""
        return self.storage.get_trial_id_from_study_id_trial_number(self.study_id, number)

    def keep(self, key: int, seconds: float) -> bool:
        """Begin the lease of a pending trial anew; False if it is finished. Any thread may call it."""
        said = {"expires": self.clock.now() + seconds}
        try:
            self.storage.set_trial_user_attr(key, RENEWED, said)
        except UpdateFinishedTrialError:
            return False
        return True

    def conclude(self, record: Record, told: Told, at: Point | None = None) -> None:
        """What came of a trial. Anything beyond the value is written first, with the value: none is lost."""
        if told.noise is not None or told.note or at is not None:
            self.storage.set_trial_user_attr(record.key, TOLD, self._said(told, at))
        self.finish(record, told.value)

    def finish(self, record: Record, value: float | None) -> None:
        """Optuna's own state of a trial that was told."""
        if value is None:
            self.storage.set_trial_state_values(record.key, TrialState.FAIL)
        else:
            self.storage.set_trial_state_values(record.key, TrialState.COMPLETE, [value])

    def finish_half_told(self) -> None:
        """Complete what a worker began to tell before it died; the value is there and counts anyway."""
        for record in self._half_told:
            with suppress(UpdateFinishedTrialError):
                self.finish(record, record.value)

    def close(self, key: int, state: State, note: str = "") -> None:
        """End a trial without a value, unless somebody else finished it."""
        with suppress(UpdateFinishedTrialError):
            self.storage.set_trial_user_attr(key, CLOSED, {"state": state.value, "note": note})
            self.storage.set_trial_state_values(key, TrialState.FAIL)

    # Changes to finished trials

    def change(self, trial: int, kind: str, **said: Any) -> None:
        """Something said of a trial after it was finished; nothing is overwritten."""
        counter = self._changes.get(trial, 0) + 1
        value = {"kind": kind, "time": self.clock.now(), **said}
        self.storage.set_study_user_attr(self.study_id, change_key(trial, counter), value)

    def tell_late(self, trial: int, told: Told, at: Point | None) -> None:
        """What came of a trial that was given up."""
        self.change(trial, "tell", **self._said(told, at))

    def _said(self, told: Told, at: Point | None) -> dict[str, Any]:
        said: dict[str, Any] = {"value": told.value, "time": self.clock.now()}
        if told.noise is not None:
            said["noise"] = told.noise
        if told.note:
            said["note"] = told.note
        if at is not None:
            said["at"] = {"edge": int(at.edge), "distance": float(at.z), "edge_id": as_json(at.edge_id)}
        return said


def _place(point: Point, said: dict[str, Any]) -> dict[str, Any]:
    """For people: the edge by its user's id; for us: the exact distance, since a fraction rounds."""
    return {"edge_id": as_json(point.edge_id), "distance": float(point.z), **said}


def as_json(edge_id: Hashable) -> Any:
    """An id as JSON can show it; the number of the edge is what counts."""
    if isinstance(edge_id, str | int | float | bool | type(None)):
        return edge_id
    if isinstance(edge_id, tuple):
        return [as_json(each) for each in edge_id]
    return str(edge_id)
