"""Lines of a journal: each carries its number and checksums, so none is doubled, lost or changed unseen.

A line of ours ends in a mark, a key that Optuna does not read:

    "netbo": {"line": 7, "after": CHECKSUM OF LINE 6, "trial": 2, "sum": CHECKSUM OF ALL BEFORE IT}

Lines without a mark were written by others, or by earlier versions: they are counted, and held against what
the lines before them allow. Optuna numbers trials by counting the lines that create them; one such line too
many or too few, and every value after it would belong to another place.
"""

import json
import re
import zlib
from dataclasses import dataclass, field
from typing import Any, cast

from optuna.trial import TrialState

from netbo.studies.records import EDGE, PLACE, POSITION, TOLD

# Numbers of Optuna's operations, private to it; test_optuna_internals watches them.
CREATE_STUDY, DELETE_STUDY, STUDY_USER_ATTR, STUDY_SYSTEM_ATTR, CREATE_TRIAL, SET_PARAM, SET_STATE = range(7)
INTERMEDIATE, TRIAL_USER_ATTR, TRIAL_SYSTEM_ATTR, DISCARD = range(7, 11)
OF_STUDIES = (DELETE_STUDY, STUDY_USER_ATTR, STUDY_SYSTEM_ATTR, CREATE_TRIAL)
OF_TRIALS = (SET_PARAM, SET_STATE, INTERMEDIATE, TRIAL_USER_ATTR, TRIAL_SYSTEM_ATTR)
OPEN = (TrialState.RUNNING, TrialState.WAITING)

MARK = "netbo"
FIRST = "00000000"  # what the first line follows
_SUM = re.compile(rb',"sum":"([0-9a-f]{8})"\}\}\s*$')

Operation = dict[str, Any]


class DamageFound(Exception):  # noqa: N818 - no error of users: files and repairs make sentences of it
    """Why a line cannot be the next one of a journal."""


def checksum(text: bytes) -> str:
    """CRC-32 in eight letters: it finds accidents, not forgers."""
    return f"{zlib.crc32(text):08x}"


def parse(line: bytes) -> Operation:
    """Operation of a line as it is written; DamageFound if it is none, or was changed since."""
    try:
        operation = json.loads(line)
        code = operation["op_code"]
    except (ValueError, TypeError, KeyError, RecursionError) as cause:
        raise DamageFound(f"{type(cause).__name__}: {cause}") from cause
    if type(code) is not int or not CREATE_STUDY <= code <= DISCARD:
        raise DamageFound(f"there is no operation {code!r:.40}")
    if not isinstance(operation.get("worker_id"), str):
        raise DamageFound("it does not say who wrote it")
    subject = "study_id" if code in OF_STUDIES else "trial_id" if code in OF_TRIALS else None
    if subject is not None and type(operation.get(subject)) is not int:
        raise DamageFound(f"{subject} must be a number, got {operation.get(subject)!r:.40}")
    if MARK in operation:
        _require_sum(line, operation[MARK])
    return cast(Operation, operation)


def _require_sum(line: bytes, mark: Any) -> None:
    found = _SUM.search(line)
    if found is None or not isinstance(mark, dict) or found.group(1).decode() != mark.get("sum"):
        raise DamageFound("its checksum is missing")
    if checksum(line[: found.start()]) != mark["sum"]:
        raise DamageFound("its checksum does not fit: it was changed after it was written")


def sum_of(line: bytes, operation: Operation) -> str:
    """Checksum by which the next line refers to this one."""
    return str(operation[MARK]["sum"]) if MARK in operation else checksum(line)


def is_value(operation: Operation) -> bool:
    """Whether a line tells the value of a trial."""
    return operation["op_code"] in (CREATE_TRIAL, SET_STATE) and operation.get("state") == TrialState.COMPLETE


@dataclass(slots=True)
class JournalState:
    """What the lines of a journal so far amount to, as far as the next line can be judged by it."""

    lines: int = 0
    last: str = FIRST  # checksum of the last line
    names: dict[int, str] = field(default_factory=dict)  # of studies, by number
    n_studies: int = 0  # deleted ones included
    trials: int = 0  # of all studies: their keys are 0, 1, 2, ...
    values: int = 0
    numbers: dict[int, int] = field(default_factory=dict)  # trials of a study
    places: dict[int, dict[str, Any]] = field(default_factory=dict)  # of trials that are not finished
    finished: set[int] = field(default_factory=set)
    _void: set[int] = field(default_factory=set)  # trials whose writer expected another number
    _creating: set[str] = field(default_factory=set)  # checksums of unmarked lines that create trials

    def read(self, line: bytes) -> Operation:
        """Operation of the next line; DamageFound, and nothing changed, if it cannot be the next one."""
        operation = parse(line)
        mark = operation.get(MARK)
        if mark is not None:
            self._require_next(mark)
        self._require_possible(operation)
        last = sum_of(line, operation)
        if operation["op_code"] == CREATE_TRIAL and mark is None:
            if last in self._creating:
                raise DamageFound("it creates a trial that an equal line has created")
            self._creating.add(last)
        self._apply(operation)
        self.lines, self.last = self.lines + 1, last
        return operation

    def write(self, operation: Operation) -> bytes:
        """The operation as the next line, with its mark; it counts once it is read."""
        code, mark = operation["op_code"], {"line": self.lines + 1, "after": self.last}
        if code == CREATE_TRIAL and operation["study_id"] in self.names:
            mark["trial"] = self.trials
        if code == SET_STATE and is_value(operation) and operation["trial_id"] in self.places:
            mark["place"] = self.places[operation["trial_id"]]  # twice: a value is worth nothing without it
        text = json.dumps({**operation, MARK: mark}, separators=(",", ":")).encode()[:-2]
        return text + f',"sum":"{checksum(text)}"}}}}\n'.encode()

    def _require_next(self, mark: dict[str, Any]) -> None:
        line, expected = mark.get("line"), self.lines + 1
        if type(line) is not int:
            raise DamageFound(f"its number must be {expected}, got {line!r:.40}")
        if line < expected:
            raise DamageFound(f"it was line {line}: it is there twice, or in the wrong place")
        if line > expected:
            lost = f"line {expected} is" if line == expected + 1 else f"lines {expected} to {line - 1} are"
            raise DamageFound(f"it was line {line}: {lost} missing before it")
        if mark.get("after") != self.last:
            raise DamageFound("it was written after another line than the one before it")
        if mark.get("trial", self.trials) != self.trials:
            raise DamageFound(f"it created trial {mark['trial']!r:.40}, and would now be {self.trials}")

    def _require_possible(self, operation: Operation) -> None:
        code = operation["op_code"]
        if code in OF_STUDIES and not 0 <= operation["study_id"] < self.n_studies:
            raise DamageFound(f"study {operation['study_id']} was never created")
        if code in OF_TRIALS and not 0 <= operation["trial_id"] < self.trials:
            raise DamageFound(f"trial {operation['trial_id']} was not created before it")
        if code == SET_STATE and is_value(operation) and operation["trial_id"] in self._void:
            raise DamageFound(
                f"it tells a value of trial {operation['trial_id']}, which was another when it was created"
            )
        if code == CREATE_TRIAL:
            seen, number = seen_by(operation), self.numbers.get(operation["study_id"], 0)
            if seen is not None and seen > number:
                raise DamageFound(f"{seen} trials were there before it, and now there are {number}")

    def _apply(self, operation: Operation) -> None:
        code = operation["op_code"]
        self.values += is_value(operation)
        if code == CREATE_STUDY and operation.get("study_name") not in self.names.values():
            self.names[self.n_studies] = operation.get("study_name", "")
            self.n_studies += 1
        elif code == DELETE_STUDY:
            self.names.pop(operation["study_id"], None)
        elif code == CREATE_TRIAL and operation["study_id"] in self.names:
            number = self.numbers.get(operation["study_id"], 0)
            if seen_by(operation) not in (None, number):
                self._void.add(self.trials)
            self._keep_place(self.trials, operation.get("params"), operation.get("user_attrs"))
            if operation.get("state", TrialState.RUNNING) not in OPEN:
                self._finish(self.trials)
            self.numbers[operation["study_id"]] = number + 1
            self.trials += 1
        elif code == SET_PARAM:
            params = {operation.get("param_name"): operation.get("param_value_internal")}
            self._keep_place(operation["trial_id"], params, None)
        elif code == TRIAL_USER_ATTR:
            self._keep_place(operation["trial_id"], None, operation.get("user_attr"))
        elif code == SET_STATE and operation.get("state") not in OPEN:
            self._finish(operation["trial_id"])

    def _finish(self, trial: int) -> None:
        self.finished.add(trial)
        self.places.pop(trial, None)

    def _keep_place(self, trial: int, params: Any, attributes: Any) -> None:
        said = {
            **(params if isinstance(params, dict) else {}),
            **(attributes if isinstance(attributes, dict) else {}),
        }
        kept = {name: said[name] for name in (EDGE, POSITION, PLACE, TOLD) if name in said}
        if kept:
            self.places[trial] = {**self.places.get(trial, {}), **kept}


def seen_by(operation: Operation) -> int | None:
    """How many trials the writer of a new trial knew of; None if it does not say."""
    attributes = operation.get("user_attrs")
    place = attributes.get(PLACE) if isinstance(attributes, dict) else None
    seen = place.get("seen") if isinstance(place, dict) else None
    return seen if type(seen) is int else None
