"""History that the optimizer of a study sees: trials collapsed and in the order they were told.

It is brought up to date by what changed: a record that is the same object as before is not looked at again.
"""

import math
from bisect import bisect_left, insort
from collections.abc import Sequence
from dataclasses import replace
from typing import Never, Self

import numpy as np

from netbo.errors import ObservationError, StudyError
from netbo.optimize import History, Status, Trial
from netbo.studies.records import TOLD_STATES, State, TrialRecord, first_trials

STATUS = {
    State.WAITING: Status.PENDING,  # it will be measured, so nobody else need go there
    State.PENDING: Status.PENDING,
    State.EXPIRED: Status.PENDING,  # its point is the next to be handed out
    State.RELEASED: Status.PENDING,
    State.OBSERVED: Status.OBSERVED,
    State.FAILED: Status.FAILED,
    State.CANCELLED: Status.CANCELLED,
    State.WITHDRAWN: Status.WITHDRAWN,
}


class StudyHistory(History):
    """Read-only history of an optimizer, made from the records of a study; ids are trial numbers."""

    def __init__(self, records: Sequence[TrialRecord] = ()) -> None:
        super().__init__()
        self._records = list(records)
        self._stood_for = {record.stands_for for record in records} - {None}
        standing = first_trials(records)
        self._firsts = list(standing)  # first trials of the points, sorted
        self._first_of = {record.id: first for first, record in standing.items() if record.id != first}
        self._times = sorted((r.ended, r.id) for r in standing.values() if r.state in TOLD_STATES)
        rank = {number: order for order, (_, number) in enumerate(self._times)}
        self._trials = [_as_trial(record, rank.get(record.id)) for record in standing.values()]
        for trial in self._trials:
            self._view(None, trial)
        self._told = len(self._times)
        self._is_timed = not any(math.isnan(time) for time, _ in self._times)  # else they have no order
        self._before: History | None = None  # the one it was made from
        self._is_changed = True  # whether what is modelled differs from that

    def after(self, records: Sequence[TrialRecord]) -> "StudyHistory":
        """The history of later records of the same study."""
        known = self._records
        changed = [record for record, old in zip(records, known, strict=False) if record is not old]
        changed += records[len(known) :]
        if len(records) < len(known) or not self._is_timed or any(map(self._is_entangled, changed)):
            return StudyHistory(records)
        found = self._copied(records)
        for record in changed:
            found._take(record, known[record.id] if record.id < len(known) else None)  # noqa: SLF001 - its own
        return found

    def _is_entangled(self, record: TrialRecord) -> bool:
        """Whether more than its own entry depends on it: it stands for another, or its entry is to vanish."""
        has_entry = record.point is not None and record.state in STATUS
        if self._has(record.id) and not has_entry:
            return True
        is_timed = record.state not in TOLD_STATES or not math.isnan(record.ended)
        return record.stands_for is not None or record.id in self._stood_for or not is_timed

    def _copied(self, records: Sequence[TrialRecord]) -> Self:
        twin = self.__copy__()
        lists = {"_records": list(records), "_firsts": list(self._firsts), "_times": list(self._times)}
        twin.__dict__.update(lists, _before=self, _is_changed=False)
        return twin

    def _take(self, record: TrialRecord, known: TrialRecord | None) -> None:
        if record.point is None or record.state not in STATUS:
            return
        at = self._at(record.id)
        old = self._trials[at] if self._has(record.id) else None
        first = self._retime(record, known)
        trial = _as_trial(record, self._rank(record))
        if old is None:
            self._firsts.insert(at, record.id)
            self._trials.insert(at, trial)
        else:
            self._trials[at] = trial
        self._view(old, trial)
        if first < len(self._times) - 1 or (old is not None and old.order is not None):
            self._rerank(first)
        is_modelled = Status.OBSERVED in (trial.status, old.status if old is not None else None)
        self._is_changed |= is_modelled and trial != old

    def _retime(self, record: TrialRecord, known: TrialRecord | None) -> int:
        """Keep the order of telling; returns the first place of it that is another's now."""
        first = len(self._times)
        before = None if known is None or known.state not in TOLD_STATES else (known.ended, known.id)
        after = None if record.state not in TOLD_STATES else (record.ended, record.id)
        if before == after:
            return first
        if before is not None:
            first = bisect_left(self._times, before)
            del self._times[first]
        if after is not None:
            insort(self._times, after)
            first = min(first, bisect_left(self._times, after))
        self._told = len(self._times)
        return first

    def _rank(self, record: TrialRecord) -> int | None:
        return bisect_left(self._times, (record.ended, record.id)) if record.state in TOLD_STATES else None

    def _rerank(self, first: int) -> None:
        for order in range(first, len(self._times)):
            at = self._at(self._times[order][1])
            old = self._trials[at]
            if old.order != order:
                self._is_changed |= old.status is Status.OBSERVED
                self._trials[at] = replace(old, order=order)
                self._view(old, self._trials[at])

    def follow(self, previous: History) -> None:
        """Take the place of another history; of the one it was made from it knows what changed."""
        if previous is not self._before:
            super().follow(previous)
        else:
            self.version_of_values = previous.version_of_values + self._is_changed
        self._before = None  # none is kept alive

    def _number(self, trial: Trial) -> int:
        """The first trial of its point."""
        return self._first_of.get(trial.id, trial.id)

    def _at(self, number: int) -> int:
        return bisect_left(self._firsts, self._first_of.get(number, number))

    def _has(self, number: int) -> bool:
        at = self._at(number)
        return at < len(self._trials) and self._trials[at].id == number

    def __getitem__(self, trial_id: int) -> Trial:
        if not isinstance(trial_id, int | np.integer) or not self._has(int(trial_id)):
            raise ObservationError(f"no trial {trial_id!r} has a place of its own in this study; see .trials")
        return self._trials[self._at(int(trial_id))]

    def _append(self, trial: Trial) -> Never:
        raise StudyError("this history is that of a study, got a new trial; call the study's ask or tell")

    def _replace(self, trial: Trial) -> Never:
        raise StudyError("this history is that of a study, got a change; call the study's own method")


def _as_trial(record: TrialRecord, order: int | None) -> Trial:
    if record.point is None:
        raise StudyError(f"trial {record.id} has no place")  # for the types: those are left out
    return Trial(
        id=record.id,
        point=record.point,
        status=STATUS[record.state],
        asked=record.asked,
        value=record.value,
        noise=record.noise,
        order=order,
        note=record.note,
    )
