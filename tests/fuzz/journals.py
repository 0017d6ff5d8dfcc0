"""Damaged journals: refused or read whole, never read in part; and what a repair must bring back."""

import json
import random
import tempfile
from pathlib import Path

from netbo.errors import BaseError
from netbo.studies import State, Study, repair_journal
from netbo.studies.journal_lines import MARK
from support.studies import GRAPH, SETTINGS, JumpingClock

PATIENCE = 5.0  # seconds that a mended study may make anybody wait


def story(path, chance):
    """A study with every kind of line, by two workers at once."""
    first = Study.create(GRAPH, name=path.stem, storage=path, lease=100.0, **SETTINGS)
    second = Study.load(path, worker="second")
    for turn in range(4):
        a = first.ask()
        b = second.ask()
        first.tell(a, round(chance.uniform(-1, 1), 6))
        second.tell(b, round(chance.uniform(-1, 1), 6), noise=0.25, note=f"turn {turn}")
        if turn == 1:
            first.enqueue((0, 0.3))
            first.add_observation((2, 1.0), round(chance.uniform(-1, 1), 6), note="by hand")
        if turn == 2:
            first.correct(0, round(chance.uniform(-1, 1), 6))
            first.storage.set_study_user_attr(0, "dashboard:note", "looks fine")
    first.tell(first.ask(), "failed", note="no signal")
    first.tell(first.ask(), round(chance.uniform(-1, 1), 6), at=(1, 0.77))
    first.ask()
    return path.read_bytes()


def without_marks(content):
    """The journal as earlier versions wrote it."""
    rows = [json.loads(line) for line in content.splitlines()]
    rows = [{key: value for key, value in row.items() if key != MARK} for row in rows]
    return b"".join(json.dumps(row, separators=(",", ":")).encode() + b"\n" for row in rows)


def doubled(rows, chance):
    at = chance.randrange(len(rows))
    to = chance.randrange(at, len(rows))
    return [*rows[: to + 1], rows[at], *rows[to + 1 :]]


def lost(rows, chance):
    at = chance.randrange(len(rows) - 1)
    n = chance.choice([1, 1, 1, 2, 5])
    return rows[:at] + rows[min(at + n, len(rows) - 1) :]


def swapped(rows, chance):
    a, b = sorted(chance.sample(range(len(rows)), 2))
    return [*rows[:a], rows[b], *rows[a + 1 : b], rows[a], *rows[b + 1 :]]


def torn(rows, chance):
    """The end of a line is missing, and with it the line break."""
    at = chance.randrange(len(rows) - 1)
    return [*rows[:at], rows[at][: chance.randrange(1, max(2, len(rows[at])))], *rows[at + 1 :]]


def zeroed(rows, chance):
    """A block that never reached the disk."""
    content = bytearray(b"".join(rows))
    at = chance.randrange(len(content) - 300)
    content[at : at + chance.choice([1, 16, 250])] = bytes(chance.choice([1, 16, 250]))
    return bytes(content).splitlines(keepends=True)


def flipped(rows, chance):
    """One byte is another."""
    at = chance.randrange(len(rows) - 1)
    row = bytearray(rows[at])
    row[chance.randrange(len(row) - 1)] ^= 1 << chance.randrange(7)
    return [*rows[:at], bytes(row), *rows[at + 1 :]]


def foreign(rows, chance):
    at = chance.randrange(1, len(rows))
    strange = chance.choice(
        [b"garbage\n", b"[1, 2]\n", b'{"no": "operation"}\n', b"\xff\xfe\n", b"\n", b"5\n"]
    )
    return [*rows[:at], *[strange] * chance.choice([1, 3]), *rows[at:]]


def twice(rows, chance):
    return rows + rows


def continued_twice(rows, chance):
    """A backup that was gone on with is appended to what it was a backup of."""
    return rows + rows[: chance.randrange(4, len(rows))]


def many(rows, chance):
    for _ in range(3):
        rows = chance.choice([doubled, lost, swapped, torn, foreign])(rows, chance)
    return rows


DAMAGES = (doubled, lost, swapped, torn, zeroed, flipped, foreign, twice, continued_twice, many)
SEEN_WITHOUT_MARKS = (foreign, torn)  # others change what no earlier version could know


def told(study):
    """Value and place by trial."""
    records = [record for record in study.records if record.state is State.OBSERVED]
    return {r.id: (int(r.point.edge), float(r.point.z), r.value) for r in records}


def value_lines(content, whole):
    """Trials whose value stands in a line as it was, and those that are corrected or told late in one."""
    found, changed = {}, set()
    for row in set(content.split(b"\n")) & set(whole.split(b"\n")):
        try:
            line = json.loads(row)
            if line["op_code"] == 6 and line["state"] == 1:
                found[line["trial_id"]] = line["values"][0]
            changed |= {int(key.split(":")[2]) for key in line.get("user_attr", {}) if "change" in key}
        except (ValueError, TypeError, KeyError):
            continue
    return found, changed


def settings_lines(whole):
    return [row for row in whole.split(b"\n") if b'_attr":{"netbo:study":' in row]


def check_damaged(path, content, whole, truth, *, is_marked):
    """The judge: what the file says is the truth or an error, and a repair loses no value that is there."""
    path.write_bytes(content)
    try:
        seen = told(Study.load(path))
    except BaseError:
        seen = None
    if is_marked:
        assert seen is None or seen == truth or whole.startswith(content), "read in part, without a word"
    assert path.read_bytes() == content
    mended = path.with_name("mended.journal")
    for old in path.parent.glob("mended*"):
        old.unlink()
    repaired = repair_journal(path, mended)
    said = "\n".join(repaired.actions)
    clock, (lines, changed) = JumpingClock(), value_lines(content, whole)
    if not any(row in content for row in settings_lines(whole)):
        assert seen is None
        assert all(repr(value) in said for value in lines.values())
        return True
    study = Study.load(mended, network=GRAPH, clock=clock)
    found = told(study)
    for trial, value in lines.items():
        if trial in found:
            assert found[trial] == truth[trial] or (trial not in changed and found[trial][2] == value), trial
        else:
            assert repr(value) in said or any(r.value == value for r in study.records), f"{trial} is lost"
    first, _ = value_lines(whole, whole)  # before corrections
    assert set(found.values()) <= {*truth.values(), *((*truth[t][:2], v) for t, v in first.items())}
    assert seen is not None or repaired.actions, "damage that a repair does not speak of"
    clock.slept = 0.0
    study.tell(study.ask(), 0.5)
    assert clock.slept < PATIENCE
    assert Study.load(mended, network=GRAPH).n_told == study.n_told
    return seen is None


def fuzz_journals(n, seed, say=lambda *_: None):
    """Damage n journals; returns how many were refused. AssertionError at the first silent loss."""
    refused = 0
    with tempfile.TemporaryDirectory() as name:
        folder, stories = Path(name), []
        for number in range(min(5, 1 + n // 10)):
            chance = random.Random(f"{seed}-{number}")
            whole = story(folder / f"story{number}.journal", chance)
            stories.append((whole, told(Study.load(folder / f"story{number}.journal"))))
        for case in range(n):
            chance = random.Random(f"{seed}-{case}-damage")
            whole, truth = chance.choice(stories)
            damage = DAMAGES[case % len(DAMAGES)]
            is_marked = damage not in SEEN_WITHOUT_MARKS or chance.random() < 0.7
            whole = whole if is_marked else without_marks(whole)
            content = b"".join(damage(whole.splitlines(keepends=True), chance))
            try:
                is_refused = check_damaged(folder / "bad.journal", content, whole, truth, is_marked=is_marked)
            except Exception as error:
                raise AssertionError(f"case {case} of seed {seed}, {damage.__name__}: {error}") from error
            refused += is_refused
            say(case, damage.__name__, is_refused)
    return refused
