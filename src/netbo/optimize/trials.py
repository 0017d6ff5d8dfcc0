"""Suggestions and the record of trials: what was asked, measured, failed and taken back."""

from __future__ import annotations

import math
from bisect import bisect_left, insort
from collections.abc import Iterable, Iterator
from dataclasses import dataclass, replace
from enum import Enum
from typing import TYPE_CHECKING, NamedTuple, Self

import numpy as np

from netbo.arrays import FloatArray, IntArray
from netbo.checks import is_whole
from netbo.errors import ObservationError, shown
from netbo.geometry import MetricGraph, Point, Points
from netbo.notebook import ROWS, card, table

if TYPE_CHECKING:
    import pandas as pd


@dataclass(frozen=True, slots=True)
class Suggestion:
    """A place to measure, and the number under which its value is told.

    Attributes
    ----------
    id : int
        Of its trial.
    point : Point
        Where: `.edge_id`, `.distance` from the tail, `.xy` if the network is drawn.

    Examples
    --------
    >>> import netbo
    >>> netbo.Optimizer(netbo.interval(2.0)).ask().point.edge_id
    0
    """

    id: int
    point: Point


# What was asked, measured, failed and taken back: the record a study is rebuilt from.


class Status(Enum):
    """What has become of a trial."""

    PENDING = "pending"  # asked, not yet told
    OBSERVED = "observed"
    FAILED = "failed"  # measured without a value: recorded, not modelled
    CANCELLED = "cancelled"  # asked, and never to be told
    WITHDRAWN = "withdrawn"  # told, and found to be wrong


@dataclass(frozen=True, slots=True)
class Trial:
    """One measurement: where it was asked for, where it was made, and what came of it."""

    id: int
    point: Point  # where it was measured; where it is to be, until then
    status: Status
    asked: Point | None = None  # where it was asked for; None if it was told without being asked
    value: float | None = None  # in the user's unit and direction; kept when a value is withdrawn
    noise: float | None = None  # its own noise variance
    order: int | None = None  # it was the order-th to be told
    note: str = ""  # why it failed


@dataclass(frozen=True, slots=True)
class Told:
    """What is said of one trial, checked."""

    value: float | None  # None: it failed
    noise: float | None
    note: str = ""
    key: str | None = None  # the user's name of the measurement, under which it is told once
    by: str = ""  # who said so


def _by_order(trial: Trial) -> int:
    return trial.order or 0


class Measured(NamedTuple):
    """Where values that count were measured, and what, in the order they were told."""

    edge: IntArray
    z: FloatArray
    value: FloatArray
    noise: FloatArray  # variances, NaN where the common one holds

    def places(self, graph: MetricGraph) -> Points:
        """Where, on a network."""
        return Points(self.edge, self.z, graph=graph)


class History:
    """Trials by id, in the order of their ids; it only grows, and every change replaces a whole trial.

    What is asked of it at every turn is kept up to date trial by trial: a turn costs the same however long
    the record is.
    """

    def __init__(self, trials: Iterable[Trial] = ()) -> None:
        self._trials: list[Trial] = []
        self.version_of_values = 0  # counts changes to what is modelled
        self._start_views()
        for trial in trials:
            if not isinstance(trial, Trial):
                raise ObservationError(f"a history consists of trials, got {shown(trial)}; see .history")
            if trial.id != len(self._trials):
                raise ObservationError(
                    f"trials must be numbered 0, 1, 2, ..., got {trial.id} after {len(self._trials)} trials; "
                    "pass a whole history"
                )
            self._trials.append(trial)
            self._view(None, trial)
        self._told = 1 + max((t.order for t in self._trials if t.order is not None), default=-1)

    def __copy__(self) -> Self:
        twin = object.__new__(type(self))
        twin.__dict__.update(self.__dict__)
        twin._trials = list(self._trials)
        twin._groups = {status: list(group) for status, group in self._groups.items()}
        twin._observed, twin._in_table = list(self._observed), list(self._in_table)
        twin._table = self._table.copy()
        return twin

    def _start_views(self) -> None:
        self._groups: dict[Status, list[Trial]] = {status: [] for status in Status}  # in their order
        self._observed: list[Trial] = []  # in the order they were told
        self._n_asked = 0
        self._table, self._in_table = np.empty((4, 16)), list[Trial]()  # columns, and of which trials

    def _number(self, trial: Trial) -> int:
        """By which trials are in order."""
        return trial.id

    def _view(self, old: Trial | None, new: Trial) -> None:
        """A trial takes its place in all views, and that of what it was before."""
        if old is not None:
            self._n_asked -= old.asked is not None
            group = self._groups[old.status]
            del group[bisect_left(group, self._number(old), key=self._number)]
            if old.status is Status.OBSERVED:
                at = bisect_left(self._observed, _by_order(old), key=_by_order)
                while self._observed[at].id != old.id:
                    at += 1
                del self._observed[at]
        self._n_asked += new.asked is not None
        insort(self._groups[new.status], new, key=self._number)
        if new.status is Status.OBSERVED:
            insort(self._observed, new, key=_by_order)

    def __len__(self) -> int:
        return len(self._trials)

    def __iter__(self) -> Iterator[Trial]:
        return iter(tuple(self._trials))

    def __getitem__(self, trial_id: int) -> Trial:
        if not is_whole(trial_id) or not 0 <= trial_id < len(self._trials):
            known_ids = f"0..{len(self) - 1}" if len(self) else "none yet"
            raise ObservationError(f"trials are {known_ids}, got {trial_id!r}; see .history")
        return self._trials[trial_id]

    def __repr__(self) -> str:
        counts = {status: self.count(status) for status in Status}
        listed = ", ".join(f"{count} {status.value}" for status, count in counts.items() if count)
        return f"History({listed or 'empty'})"

    def _repr_html_(self) -> str:
        last = self._trials[-ROWS:]
        rows = [
            (trial.id, trial.point.edge_id, f"{trial.point.distance:.6g}", trial.status.value,
             "" if trial.value is None else f"{trial.value:.6g}", (trial.note.splitlines() or [""])[-1])
            for trial in last
        ]  # fmt: skip
        counts = [(status.value, self.count(status)) for status in Status if self.count(status)]
        names = ("id", "edge", "distance", "status", "value", "note")
        listed = table(names, rows, n_hidden=len(self) - len(last)) if rows else ""
        return card("History", counts or [("trials", "none yet")], rows=listed)

    def having(self, status: Status) -> list[Trial]:
        """Trials of one status, in their order."""
        return list(self._groups[status])

    def count(self, status: Status) -> int:
        """How many trials have a status."""
        return len(self._groups[status])

    @property
    def observed(self) -> list[Trial]:
        """Trials with a value that counts, in the order they were told."""
        return list(self._observed)

    @property
    def measured(self) -> Measured:
        """The same as arrays."""
        known, now = len(self._in_table), self._observed
        if self._in_table != now[:known]:  # the same objects, unless something was corrected
            known = 0
        if len(now) > self._table.shape[1]:
            grown = np.empty((4, 2 * len(now)))
            grown[:, :known] = self._table[:, :known]
            self._table = grown
        for at, trial in enumerate(now[known:], known):
            noise = math.nan if trial.noise is None else trial.noise
            self._table[:, at] = (trial.point.edge, trial.point.z, trial.value or 0.0, noise)
        self._in_table[known:] = now[known:]
        edge, z, value, noise = self._table[:, : len(now)].copy()
        return Measured(edge.astype(np.int64), z, value, noise)

    def require_observed(self, what: str) -> None:
        """Refuse what needs a value before there is one."""
        if not self._observed:
            raise ObservationError(f"{what} needs at least one observation, got none; tell some values first")

    @property
    def pending(self) -> list[Trial]:
        """Trials asked for and not yet told."""
        return self.having(Status.PENDING)

    @property
    def n_asked(self) -> int:
        """Suggestions handed out so far, cancelled ones included: it numbers the random streams."""
        return self._n_asked

    def follow(self, previous: History) -> None:
        """Take the place of another history: what is modelled counts as changed only where it differs."""
        before, now = previous.observed, self.observed
        pairs = zip(before, now, strict=False)
        is_changed = len(before) != len(now) or any(a is not b and a != b for a, b in pairs)
        self.version_of_values = previous.version_of_values + is_changed

    def ask(self, point: Point) -> Trial:
        """A new pending trial."""
        return self._append(Trial(len(self), point, Status.PENDING, asked=point))

    def add(self, point: Point, told: Told) -> Trial:
        """A new trial that was never asked for."""
        return self._conclude(self._append(Trial(len(self), point, Status.PENDING)), point, told)

    def require_open(self, trial_id: int) -> Trial:
        """A trial that may still be told: pending, failed or cancelled."""
        trial = self[trial_id]
        if trial.status in (Status.OBSERVED, Status.WITHDRAWN):
            raise ObservationError(
                f"trial {trial_id} is already told ({trial.status.value}, value {trial.value}); "
                "correct(id, value) replaces a value, and a repeat is told by its point"
            )
        return trial

    def tell(self, trial_id: int, told: Told, at: Point | None = None) -> Trial:
        """What came of a trial, measured where it was asked for or elsewhere."""
        trial = self.require_open(trial_id)
        return self._conclude(trial, trial.point if at is None else at, told)

    def cancel(self, trial_id: int) -> Trial:
        """A pending trial that will never be told."""
        trial = self[trial_id]
        if trial.status is not Status.PENDING:
            raise ObservationError(
                f"only pending trials can be cancelled, got trial {trial_id}, {trial.status.value}; "
                "withdraw(id) takes a value back"
            )
        return self._replace(replace(trial, status=Status.CANCELLED))

    def correct(self, trial_id: int, told: Told) -> Trial:
        """Another value for a trial that was told, withdrawn or failed."""
        trial = self[trial_id]
        if trial.status in (Status.PENDING, Status.CANCELLED):
            raise ObservationError(
                f"only told trials can be corrected, got trial {trial_id}, {trial.status.value}; use tell"
            )
        return self._replace(
            replace(
                trial,
                status=Status.OBSERVED,
                value=told.value,
                noise=trial.noise if told.noise is None else told.noise,
                note="",
            )
        )

    def withdraw(self, trial_id: int) -> Trial:
        """A value that no longer counts; it stays in the record."""
        trial = self[trial_id]
        if trial.status is not Status.OBSERVED:
            raise ObservationError(
                f"only observed values can be withdrawn, got trial {trial_id}, {trial.status.value}; "
                "cancel(id) takes a pending suggestion back"
            )
        return self._replace(replace(trial, status=Status.WITHDRAWN))

    def table(self) -> pd.DataFrame:
        """All trials, one a row: where, what, which status, in which order told, where it was asked."""
        import pandas as pd  # noqa: PLC0415 - a table is for people; asking and telling need none

        rows = [
            {
                "edge": trial.point.edge_id,
                "distance": trial.point.distance,
                "value": math.nan if trial.value is None else trial.value,
                "noise": math.nan if trial.noise is None else trial.noise,
                "status": trial.status.value,
                "order": trial.order,
                "asked_edge": None if trial.asked is None else trial.asked.edge_id,
                "asked_distance": math.nan if trial.asked is None else trial.asked.distance,
                "note": trial.note,
            }
            for trial in self._trials
        ]
        columns = [
            "edge", "distance", "value", "noise", "status", "order", "asked_edge", "asked_distance", "note",
        ]  # fmt: skip
        table = pd.DataFrame(rows, columns=columns, index=pd.RangeIndex(len(rows), name="id"))
        return table.astype({"order": "Int64"})

    def _append(self, trial: Trial) -> Trial:
        self._trials.append(trial)
        self._view(None, trial)
        return trial

    def _replace(self, trial: Trial) -> Trial:
        old = self._trials[trial.id]
        if Status.OBSERVED in (trial.status, old.status):
            self.version_of_values += 1
        self._trials[trial.id] = trial
        self._view(old, trial)
        return trial

    def _conclude(self, trial: Trial, point: Point, told: Told) -> Trial:
        status = Status.FAILED if told.value is None else Status.OBSERVED
        order, self._told = self._told, self._told + 1
        return self._replace(
            replace(
                trial,
                point=point,
                status=status,
                value=told.value,
                noise=told.noise,
                order=order,
                note=told.note,
            )
        )
