"""Damaged journals: never read in part without a word, and mended without losing a value that was told."""

import json
import shutil

import pytest
from click.testing import CliRunner

from fuzz.journals import fuzz_journals, story, told, without_marks
from netbo.cli import main
from netbo.studies import State, Study, StudyFileError, repair_journal
from netbo.studies.journal_lines import MARK
from support.studies import JumpingClock, create, height, load, uninterrupted


@pytest.fixture
def six(tmp_path):
    """A journal with six values, and its lines: of each trial one that creates it and one that tells it."""
    study = create(tmp_path)
    for _ in range(6):
        suggestion = study.ask()
        study.tell(suggestion, height(suggestion.point))
    return tmp_path, (tmp_path / "walk.journal").read_bytes().splitlines(keepends=True)


def creating(rows, trial):
    """Number of the line that creates a trial."""
    return [at for at, row in enumerate(rows) if json.loads(row)["op_code"] == 4][trial]


def refused(folder, rows, match):
    path = folder / "walk.journal"
    path.write_bytes(b"".join(rows))
    with pytest.raises(StudyFileError, match=match):
        load(folder)
    assert path.read_bytes() == b"".join(rows)
    return repair_journal(path)


def check_all_is_there(repaired):
    clock = JumpingClock()
    study = Study.load(repaired.path, clock=clock)
    values = [(record.point, record.value) for record in study.records if record.state is State.OBSERVED]

    assert values == [(point, height(point)) for point in uninterrupted(6)]
    assert study.ask().point == uninterrupted(7)[6]
    assert clock.slept == 0.0


def test_a_doubled_line_that_creates_a_trial_is_an_error_and_left_out(six):
    """Optuna counts such lines: every later value would belong to another place."""
    folder, rows = six
    at = creating(rows, 3)
    repaired = refused(
        folder, [*rows[: at + 1], rows[at], *rows[at + 1 :]],
        rf"damaged at line {at + 2} \(it was line {at + 1}: it is there twice, or in the wrong place\); the "
        rf"{at + 1} lines before it can be read and hold 4 trials with 3 values; nothing was changed. 3 "
        r"values more stand behind it. 'netbo study repair .*walk.journal' writes a mended copy",
    )  # fmt: skip

    assert repaired.actions == (f"line {at + 2}: the same as line {at + 1}; left out",)
    check_all_is_there(repaired)


def test_a_lost_line_that_creates_a_trial_is_an_error_and_made_anew(six):
    """The line that tells its value repeats the place."""
    folder, rows = six
    at = creating(rows, 3)
    repaired = refused(
        folder, rows[:at] + rows[at + 1 :],
        rf"damaged at line {at + 1} \(it was line {at + 2}: line {at + 1} is missing before it\)",
    )  # fmt: skip

    assert repaired.actions[:2] == (
        f"line {at + 1}: 1 line that stood before it is lost",
        f"line {at + 1}: the line that created trial 3 is lost; it was created anew",
    )
    check_all_is_there(repaired)


def test_lines_in_the_wrong_order_are_an_error_and_put_right(six):
    folder, rows = six
    rows[8], rows[11] = rows[11], rows[8]
    check_all_is_there(refused(folder, rows, "damaged at line 9"))


def test_a_journal_behind_itself_is_an_error_and_halved(six):
    folder, rows = six
    repaired = refused(folder, rows + rows, rf"damaged at line {len(rows) + 1}")

    assert len(repaired.actions) == len(rows)
    check_all_is_there(repaired)


def test_a_changed_value_is_an_error_and_named(six):
    folder, rows = six
    before = str(json.loads(rows[-1])["values"][0]).encode()
    changed = rows[-1].replace(b"[" + before, b"[77.125")
    repaired = refused(folder, [*rows[:-1], changed], "its checksum does not fit: it was changed after")

    assert "left out; it told 77.125 for trial 5" in repaired.actions[0]
    assert Study.load(repaired.path).n_told == 5


def test_two_journals_that_were_mixed_are_told_apart(tmp_path):
    import random

    content = {name: story(tmp_path / f"{name}.journal", random.Random(name)) for name in ("ash", "oak")}
    truth = [told(Study.load(tmp_path / f"{name}.journal")) for name in content]
    rows, chance = [each.splitlines(keepends=True) for each in content.values()], random.Random(5)
    mixed = []
    while any(rows):
        mixed.append(chance.choice([each for each in rows if each]).pop(0))
    (tmp_path / "mixed.journal").write_bytes(b"".join(mixed))
    repaired = repair_journal(tmp_path / "mixed.journal")
    found = [told(Study.load(path)) for path in (repaired.path, *repaired.others)]

    assert sorted(found, key=str) == sorted(truth, key=str)
    assert "lines of another journal were mixed in" in repaired.actions[-1]


@pytest.mark.parametrize("what", ["doubled", "lost"])
def test_journals_of_earlier_versions_are_held_against_themselves(six, what):
    """Without marks: a writer says how many trials it knew, and the same line cannot create two."""
    folder, rows = six
    old = without_marks(b"".join(rows)).splitlines(keepends=True)
    at = creating(old, 3)
    damaged = [*old[: at + 1], old[at], *old[at + 1 :]] if what == "doubled" else old[:at] + old[at + 1 :]
    repaired = refused(folder, damaged, r"damaged at line \d+")
    study = Study.load(repaired.path)

    assert MARK in json.loads(repaired.path.read_bytes().splitlines()[0])
    if what == "doubled":
        check_all_is_there(repaired)
    else:  # its place stood in no other line
        assert study.n_told == 5
        assert study.records[3].value == height(uninterrupted(4)[3])
        assert "its place is not known" in study.records[3].note


def test_journals_of_earlier_versions_are_gone_on_with(six):
    folder, rows = six
    (folder / "walk.journal").write_bytes(without_marks(b"".join(rows)))
    study = load(folder)
    suggestion = study.ask()
    study.tell(suggestion, height(suggestion.point))

    assert suggestion.point == uninterrupted(7)[6]
    assert load(folder).n_told == 7


def test_a_journal_restored_under_an_open_study_is_said_before_anything_is_written(tmp_path):
    path = tmp_path / "walk.journal"
    study = create(tmp_path)
    study.tell(study.ask(), 0.5)
    shutil.copy(path, tmp_path / "backup")
    study.tell(study.ask(), 0.75)
    shutil.copy(tmp_path / "backup", path)
    backup = path.read_bytes()

    for action in (study.ask, lambda: study.records, lambda: study.add_observation((0, 0.1), 1.0)):
        with pytest.raises(
            StudyFileError,
            match=r"is not the file that this study has read: 8 lines with 2 values then, 6 lines with 1 "
            r"value now; it was replaced or cut while the study was open, and nothing was written to it",
        ):
            action()
    assert path.read_bytes() == backup
    again = load(tmp_path)
    again.tell(again.ask(), 0.75)
    assert load(tmp_path).n_told == 2


def test_a_repair_overwrites_nothing(six):
    folder, rows = six
    repaired = repair_journal(folder / "walk.journal")

    assert repaired.actions == ()
    assert repaired.path.read_bytes() == b"".join(rows)
    with pytest.raises(StudyFileError, match="exists, and a repair never overwrites; name another copy"):
        repair_journal(folder / "walk.journal")
    with pytest.raises(StudyFileError, match="there is no journal"):
        repair_journal(folder / "nowhere")
    (folder / "text").write_text("nothing of the kind\n")
    with pytest.raises(StudyFileError, match="none of its lines is an operation; nothing was written"):
        repair_journal(folder / "text")


def test_the_command_says_line_by_line_what_it_did(six):
    folder, rows = six
    (folder / "walk.journal").write_bytes(b"".join([*rows[:9], rows[8], *rows[9:]]))
    out = str(folder / "copy.journal")
    text = CliRunner().invoke(main, ["study", "repair", str(folder / "walk.journal"), "--out", out])
    again = CliRunner().invoke(main, ["study", "repair", str(folder / "walk.journal"), "--json"])

    assert text.exit_code == 0
    assert text.output.splitlines() == [
        "line 10: the same as line 9; left out", f"written: {out}, 6 trials with 6 values",
    ]  # fmt: skip
    assert json.loads(again.output)["values"] == 6


def test_damaged_journals_are_refused_or_whole_and_mended():
    """Of every kind, a few; `fuzz_journals(1000, seed)` is the long form."""
    assert fuzz_journals(20, seed=1) > 10


@pytest.mark.slow
def test_many_damaged_journals_are_refused_or_whole_and_mended():
    assert fuzz_journals(300, seed=2) > 200
