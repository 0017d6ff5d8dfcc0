"""Repair of a damaged journal: a mended copy, and a sentence for every line that is not as it was.

Trials whose first line is lost are created anew: a line that tells a value repeats the place. A value whose
line cannot be used is named in the report.
"""

from collections.abc import Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from optuna.distributions import FloatDistribution, IntDistribution, distribution_to_json
from optuna.study import StudyDirection
from optuna.trial import TrialState

from netbo.checks import explained
from netbo.errors import StudyFileError
from netbo.files import replacing
from netbo.studies import journal_lines as lines
from netbo.studies.definition import ABOUT, DIRECTIONS
from netbo.studies.journal_lines import MARK, DamageFound, JournalState, Operation
from netbo.studies.records import CLOSED, EDGE, PLACE, POSITION, TOLD, State
from netbo.studies.salvage import SalvagedLine, salvage, value_in
from netbo.wording import counted

REPAIR = "netbo-repair"  # who writes the lines that are made anew
MENDED = ".mended"  # before the suffix of the copy
NEVER = "1970-01-01T00:00:00.000000+00:00"
_FINISHED = (TrialState.COMPLETE, TrialState.FAIL, TrialState.PRUNED)


@dataclass(frozen=True, slots=True)
class JournalRepair:
    """A mended copy of a journal, and what was done to make it.

    Examples
    --------
    >>> JournalRepair(Path("leak.mended.journal"), ("line 7: the same as line 6; left out",), 20, 5, 4).values
    4
    """

    path: Path
    actions: tuple[str, ...]  # in the order of the lines; empty if there was no damage
    lines: int
    trials: int
    values: int
    others: tuple[Path, ...] = ()  # copies of other journals whose lines were mixed in


@explained
def repair_journal(path: str | Path, out: str | Path | None = None) -> JournalRepair:
    """Write a mended copy of a damaged journal; the file itself is left alone.

    Parameters
    ----------
    path : path
        The journal.
    out : path, optional
        The copy, which must not exist; by default NAME.mended.journal beside it.

    Returns
    -------
    JournalRepair
        With a sentence for every line that is not as it was.

    Raises
    ------
    StudyFileError
        There is no such file, no line of it is one of a journal, or the copy exists.

    Examples
    --------
    >>> import netbo, tempfile
    >>> folder = Path(tempfile.mkdtemp())
    >>> study = netbo.Study.create(netbo.interval(2.0), name="leak", storage=folder / "leak.journal")
    >>> number = study.tell(study.ask(), 0.7)
    >>> whole = (folder / "leak.journal").read_bytes().splitlines(keepends=True)
    >>> _ = (folder / "leak.journal").write_bytes(b"".join([*whole[:-1], whole[-2], whole[-1]]))
    >>> repaired = netbo.studies.repair_journal(folder / "leak.journal")
    >>> len(repaired.actions), "the same as line" in repaired.actions[0]
    (1, True)
    >>> netbo.Study.load(repaired.path).n_told
    1
    """
    source = Path(path)
    if not source.is_file():
        raise StudyFileError(f"there is no journal {source}; name the file that is damaged")
    target = source.with_name(f"{source.stem}{MENDED}{source.suffix}") if out is None else Path(out)
    actions: list[str] = []
    journals = salvage(source.read_bytes(), actions)
    if not journals:
        raise StudyFileError(
            f"{source} is no journal: none of its lines is an operation; nothing was written"
        )
    targets = [target] + [
        target.with_name(f"{target.stem}-{k}{target.suffix}") for k in range(2, len(journals) + 1)
    ]
    for each in targets:
        if each.exists():
            raise StudyFileError(f"{each} exists, and a repair never overwrites; name another copy")
    states = []
    for each, journal in zip(targets, journals, strict=True):
        rebuilt = _Rebuilt(source.stem, journal, actions).run()
        with replacing(each) as unfinished:
            unfinished.write_bytes(b"".join(rebuilt.written))
        states.append(rebuilt.state)
        if each is not target:
            actions.append(
                f"lines of another journal were mixed in; it has {counted(rebuilt.state.values, 'value')} "
                f"and was written to {each}"
            )
    first = states[0]
    return JournalRepair(target, tuple(actions), first.lines, first.trials, first.values, tuple(targets[1:]))


def _inside(document: dict[str, Any], key: str) -> dict[str, Any]:
    """An object in another; empty if there is none."""
    found = document.get(key)
    return found if isinstance(found, dict) else {}


# The journal written anew


@dataclass(slots=True)
class _Rebuilt:
    """A journal that is written line by line; what is lost and can be known is made anew."""

    name: str  # of the study, if the line with its name is lost
    journal: Sequence[SalvagedLine]
    actions: list[str]
    state: JournalState = field(default_factory=JournalState)
    written: list[bytes] = field(default_factory=list)

    def run(self) -> "_Rebuilt":
        previous: SalvagedLine | None = None
        for line in self.journal:
            self._say_order(previous, line)
            operation = {key: value for key, value in line.operation.items() if key != MARK}
            try:
                self._create_missing_study(line)
                self._create_missing_trials(line)
                self._place(line)
                self._write(operation)
            except DamageFound as damage:
                self.actions.append(f"line {line.at}: {damage}; left out{value_in(line.raw)}")
            previous = line
        self._close_without_place()
        self._say_pending()
        self._say_lost_settings()
        return self

    def _write(self, operation: Operation) -> None:
        written = self.state.write(operation)
        self.state.read(written)
        self.written.append(written)

    def _say_order(self, previous: SalvagedLine | None, line: SalvagedLine) -> None:
        if previous is not None and line.at < previous.at:
            self.actions.append(f"line {line.at}: put behind line {previous.at}, which it followed")
        if previous is not None and line.number == previous.number + 1 and not line.follows(previous):
            self.actions.append(
                f"line {previous.at}: changed after it was written; kept{value_in(previous.raw)}"
            )
        number = 0 if previous is None else previous.number
        if line.mark is not None and line.number > number + 1:
            n = line.number - number - 1
            self.actions.append(
                f"line {line.at}: {counted(n, 'line')} that stood before it {'is' if n == 1 else 'are'} lost"
            )

    def _create_missing_study(self, line: SalvagedLine) -> None:
        study = line.operation.get("study_id") if line.operation["op_code"] in lines.OF_STUDIES else None
        if study is None or study != self.state.n_studies:
            return
        about = self._about(study)
        name = str(about.get("name", self.name))
        direction = DIRECTIONS.get(str(_inside(about, "settings").get("direction")), StudyDirection.MAXIMIZE)
        operation = {"op_code": lines.CREATE_STUDY, "study_name": name, "directions": [int(direction)]}
        self._write({**operation, "worker_id": REPAIR})
        self.actions.append(f"line {line.at}: the line that created study {name!r} is lost; it was made anew")

    def _about(self, study: int) -> dict[str, Any]:
        """What a study says of itself, twice."""
        for line in self.journal:
            if line.operation.get("study_id") == study:
                for kind in ("user_attr", "system_attr"):
                    if about := _inside(_inside(line.operation, kind), ABOUT):
                        return about
        return {}

    def _create_missing_trials(self, line: SalvagedLine) -> None:
        operation, code = line.operation, line.operation["op_code"]
        missing = 0
        if code == lines.CREATE_TRIAL:
            seen = lines.seen_by(operation)
            known = self.state.numbers.get(operation["study_id"], 0)
            missing = max(0, (seen or 0) - known)
            if line.mark is not None:
                missing = line.mark.get("trial", self.state.trials) - self.state.trials
        elif code in lines.OF_TRIALS:
            missing = max(0, operation["trial_id"] + 1 - self.state.trials)
        if missing < 0:
            raise DamageFound(f"it creates trial {self.state.trials + missing}, which is there")
        if missing > len(self.journal):
            raise DamageFound(f"{missing} trials before it are not there")
        for _ in range(missing):
            self._create_trial(operation.get("study_id", max(self.state.names, default=0)), line)

    def _create_trial(self, study: int, line: SalvagedLine) -> None:
        trial = self.state.trials
        operation: Operation = {
            "op_code": lines.CREATE_TRIAL, "worker_id": REPAIR, "study_id": study, "datetime_start": None,
        }  # fmt: skip
        if not self._is_heard_of(trial):  # an open trial without a place would be waited for
            note = "the line that created it is lost"
            closed = {CLOSED: {"state": State.VOID.value, "note": note}}
            operation |= {"state": int(TrialState.FAIL), "user_attrs": closed}
        self._write(operation)
        self.actions.append(
            f"line {line.at}: the line that created trial {trial} is lost; it was created anew"
        )

    def _is_heard_of(self, trial: int) -> bool:
        """Whether a later line gives a trial its place or its end."""
        for line in self.journal:
            operation = line.operation
            if operation["op_code"] in lines.OF_TRIALS and operation["trial_id"] == trial:
                has_place = PLACE in _inside(operation, "user_attr")
                if has_place or operation.get("state") in _FINISHED:
                    return True
        return False

    def _place(self, line: SalvagedLine) -> None:
        """Before a value: its place, if the lines that gave it are lost."""
        place = line.mark.get("place") if line.mark is not None else None
        if not isinstance(place, dict) or not lines.is_value(line.operation):
            return
        trial = line.operation["trial_id"]
        if trial in self.state.finished or self.state.places.get(trial) == place:
            return
        spares = {
            EDGE: IntDistribution(0, max(0, int(place.get(EDGE, 0)))),
            POSITION: FloatDistribution(0, 1),
        }
        for name in (EDGE, POSITION, PLACE, TOLD):
            if name not in place or self.state.places.get(trial, {}).get(name) == place[name]:
                continue
            said: Operation = {"op_code": lines.TRIAL_USER_ATTR, "user_attr": {name: place[name]}}
            if name in spares:
                said = {"op_code": lines.SET_PARAM, "param_name": name, "param_value_internal": place[name]}
                said["distribution"] = distribution_to_json(spares[name])
            self._write({**said, "worker_id": REPAIR, "trial_id": trial})
        self.actions.append(f"line {line.at}: the place of trial {trial} is lost, and known from its value")

    def _close_without_place(self) -> None:
        """Nobody will ever place them, and everybody would wait for it."""
        for trial in range(self.state.trials):
            if trial in self.state.finished or {EDGE, POSITION, PLACE} <= set(
                self.state.places.get(trial, {})
            ):
                continue
            note = {"state": State.VOID.value, "note": "the lines with its place are lost"}
            said: list[Operation] = [
                {"op_code": lines.TRIAL_USER_ATTR, "user_attr": {CLOSED: note}},
                {
                    "op_code": lines.SET_STATE,
                    "state": int(TrialState.FAIL),
                    "values": None,
                    "datetime_complete": NEVER,
                },
            ]
            for each in said:
                self._write({**each, "worker_id": REPAIR, "trial_id": trial})
            self.actions.append(f"trial {trial} has neither a place nor a value; it was closed")

    def _say_pending(self) -> None:
        """A line that is lost may have told a value: say which trials have none."""
        if not any(" lost" in action or "left out" in action for action in self.actions):
            return
        open_trials = [str(key) for key in range(self.state.trials) if key not in self.state.finished]
        if open_trials:
            self.actions.append(f"without a value or an end: trial {', '.join(open_trials)}")

    def _say_lost_settings(self) -> None:
        """Without settings there is no study to load: its values are said one by one."""
        if all(self._about(study) for study in self.state.names):
            return
        self.actions.append(
            "both lines with the settings are lost: make the study anew and tell it what follows"
        )
        for line in self.journal:
            if lines.is_value(line.operation):
                place = _inside(line.mark or {}, "place") or _inside(line.operation, "params")
                distance = _inside(place, PLACE).get("distance", place.get(POSITION))
                where = f"edge number {place.get(EDGE)}, {distance}"
                self.actions.append(f"line {line.at}{value_in(line.raw)}; at {where}")
