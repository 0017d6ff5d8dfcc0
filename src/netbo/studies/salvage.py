"""Salvage of a damaged journal: every line that can be read, put in the order it was written in.

A line knows its number and the checksum of the line before it, so doubled lines are found, moved ones are put
back, and journals that were mixed are told apart.
"""

import json
from collections.abc import Iterator, Sequence
from contextlib import suppress
from dataclasses import dataclass
from typing import Any

from netbo.studies import journal_lines as lines
from netbo.studies.journal_lines import FIRST, MARK, DamageFound, Operation

START = b'{"op_code"'  # of every line that Optuna writes
SHOWN = 60  # characters of a line that cannot be read


@dataclass(frozen=True, slots=True, eq=False)
class SalvagedLine:
    """A line that can be read."""

    at: int  # in the damaged file, from 1
    raw: bytes
    operation: Operation
    number: int  # in the journal; guessed from the line before if it does not say

    @property
    def mark(self) -> dict[str, Any] | None:
        """Its mark, if it has one."""
        return self.operation.get(MARK)

    @property
    def sum(self) -> str:
        """Checksum by which the next line refers to it."""
        return lines.sum_of(self.raw, self.operation)

    def follows(self, other: "SalvagedLine") -> bool:
        """Whether it can have been written after the other."""
        return self.mark is None or self.mark["after"] == other.sum


def salvage(content: bytes, actions: list[str]) -> list[list[SalvagedLine]]:
    """Lines of each journal in a damaged file, in their order; what was done is added to `actions`."""
    kept = _without_doubles(_whole_lines(content, actions), actions)
    return _journals(kept, actions) if kept else []


# Lines that can be read


def _whole_lines(content: bytes, actions: list[str]) -> list[SalvagedLine]:
    """Every line that can be read, also from within ones that were torn or joined."""
    found: list[SalvagedLine] = []
    number, rows = 0, content.split(b"\n")
    for at, raw in enumerate(rows, start=1):
        if not raw and at == len(rows):
            break
        pieces = list(_pieces(raw))
        for piece, operation in pieces:
            mark = operation.get(MARK)
            number = mark["line"] if mark is not None else number + 1
            found.append(SalvagedLine(at, piece, operation, number))
        if [piece for piece, _ in pieces] != [raw]:
            actions.append(f"line {at}: {_what_is_wrong(raw, len(pieces), is_last=at == len(rows))}")
    return found


def _pieces(raw: bytes) -> Iterator[tuple[bytes, Operation]]:
    with suppress(DamageFound):
        yield raw, _checked(raw)
        return
    at, decoder, text = 0, json.JSONDecoder(), raw.decode("latin-1")  # a letter a byte
    while (at := raw.find(START, at)) >= 0:
        try:
            end = decoder.raw_decode(text, at)[1]
            yield raw[at:end], _checked(raw[at:end])
            at = end
        except (ValueError, RecursionError, DamageFound):
            at += len(START)


def _checked(raw: bytes) -> Operation:
    operation = lines.parse(raw)
    mark = operation.get(MARK)
    if mark is not None and (type(mark.get("line")) is not int or not isinstance(mark.get("after"), str)):
        raise DamageFound("its mark cannot be read")
    return operation


def _what_is_wrong(raw: bytes, n_pieces: int, *, is_last: bool) -> str:
    if n_pieces:
        whole = "a whole line" if n_pieces == 1 else f"{n_pieces} whole lines"
        return f"{whole} among other bytes; kept without them"
    if is_last:
        return f"half a line of {len(raw)} bytes at the end, by a process that was killed; left out"
    if not raw:
        return "empty; left out"
    try:
        _checked(raw)
        reason = ""
    except DamageFound as damage:
        reason = str(damage)
    return (
        f"cannot be used ({reason:.80}); left out{value_in(raw)}: {raw[:SHOWN].decode('utf-8', 'replace')!r}"
    )


def value_in(raw: bytes) -> str:
    """Words for the value that a line tells which cannot be used."""
    with suppress(ValueError, TypeError, KeyError, AttributeError, RecursionError):
        operation = json.loads(raw)
        if lines.is_value(operation):
            told = operation.get("values") or [operation.get("value")]
            return f"; it told {told[0]!r} for trial {operation.get('trial_id', 'of its own')}"
    return ""


def _without_doubles(found: Sequence[SalvagedLine], actions: list[str]) -> list[SalvagedLine]:
    kept: list[SalvagedLine] = []
    first: dict[tuple[int | None, str], SalvagedLine] = {}
    for line in found:
        is_new_trial = line.operation["op_code"] == lines.CREATE_TRIAL
        key = (None if is_new_trial and line.mark is None else line.number, line.sum)
        if key in first:
            actions.append(f"line {line.at}: the same as line {first[key].at}; left out")
            continue
        first[key] = line
        kept.append(line)
    return kept


# Which line follows which


def _journals(kept: Sequence[SalvagedLine], actions: list[str]) -> list[list[SalvagedLine]]:
    """Lines in their order: of one journal, or of several that were mixed."""
    before = _predecessors(kept)
    after: dict[SalvagedLine, list[SalvagedLine]] = {}
    for line in kept:
        if before[line] is not None:
            after.setdefault(before[line], []).append(line)  # type: ignore[arg-type]
    journals: list[list[SalvagedLine]] = []
    for root in sorted((line for line in kept if before[line] is None), key=lambda line: line.number):
        home = _home_of(root, journals)
        paths = sorted(_paths(root, after), key=len, reverse=True)
        if home is None:
            journals.append(paths[0])
            home = journals[-1]
            begun = 0
        else:
            begun = len(home)
            home.extend(paths[0])
        for path in paths[1:]:
            shared = next(k for k, (a, b) in enumerate(zip(path, paths[0], strict=False)) if a is not b)
            if all(line.mark is None for line in path[shared:]):
                for line in path[shared:]:
                    actions.append(
                        f"line {line.at}: no line of the journal follows it; left out{value_in(line.raw)}"
                    )
            else:
                journals.append(home[: begun + shared] + path[shared:])
    return journals


def _predecessors(kept: Sequence[SalvagedLine]) -> dict[SalvagedLine, SalvagedLine | None]:
    """The line that each was written after: by checksum, or for lines that do not say the one above."""
    by_sum: dict[str, list[SalvagedLine]] = {}
    for line in kept:
        by_sum.setdefault(line.sum, []).append(line)
    found: dict[SalvagedLine, SalvagedLine | None] = {}
    above: SalvagedLine | None = None
    for line in kept:
        if line.mark is None:
            found[line] = above
        else:
            able = by_sum.get(line.mark["after"], []) if line.mark["after"] != FIRST else []
            able = [
                each for each in able if each is not line and (each.mark is None or each.number < line.number)
            ]
            found[line] = min(able, key=lambda each: abs(each.number + 1 - line.number), default=None)
        above = line
    return found


def _paths(root: SalvagedLine, after: dict[SalvagedLine, list[SalvagedLine]]) -> list[list[SalvagedLine]]:
    """All ways from a line to an end."""
    ends, open_paths = [], [[root]]
    while open_paths:
        path = open_paths.pop()
        while following := after.get(path[-1]):
            open_paths.extend([*path, other] for other in following[1:])
            path.append(following[0])
        ends.append(path)
    return ends


def _home_of(root: SalvagedLine, journals: Sequence[list[SalvagedLine]]) -> list[SalvagedLine] | None:
    """The journal that a line without a predecessor goes on with; None if it begins one."""
    if root.mark is not None and root.mark["after"] == FIRST:
        return None
    able = [each for each in journals if each[-1].number < root.number or root.mark is None]
    known = [each for each in able if any(_writer(line) == _writer(root) for line in each)]
    return next(iter(known or able), None)


def _writer(line: SalvagedLine) -> str:
    return str(line.operation["worker_id"])
