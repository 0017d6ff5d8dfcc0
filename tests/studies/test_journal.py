"""Journal files: torn lines, damage, and locks whose owners died."""

import json
import logging
import os
import time

import pytest

from netbo.studies import Study, StudyFileError
from netbo.studies.journal import GuardedLock, check_journal
from studies.stress_workers import Process, hold_lock
from support.studies import create, height, load, uninterrupted


def told(folder, n):
    """A study with n values."""
    study = create(folder)
    for _ in range(n):
        suggestion = study.ask()
        study.tell(suggestion, height(suggestion.point))
    return study


@pytest.mark.parametrize("torn", [b"{", b'{"op_code":6,"worker_id":"x', b"\0\0\0\0", b'{"op_code": 4}'])
def test_a_torn_last_line_is_cut_off_kept_and_said(tmp_path, caplog, torn):
    told(tmp_path, 5)
    path = tmp_path / "walk.journal"
    whole = path.read_bytes()
    path.write_bytes(whole + torn)
    resumed = load(tmp_path)
    with caplog.at_level(logging.WARNING):
        suggestion = resumed.ask()
    resumed.tell(suggestion, height(suggestion.point))

    assert suggestion.point == uninterrupted(6)[5]
    assert (tmp_path / "walk.journal.torn").read_bytes() == torn + b"\n"
    assert path.read_bytes().startswith(whole)
    assert f"ended in half a line of {len(torn)} bytes" in caplog.text
    assert "walk.journal.torn" in caplog.text
    assert all(json.loads(line) for line in path.read_bytes().splitlines())
    assert load(tmp_path).n_told == 6


def test_every_cut_through_the_last_line_can_be_mended(tmp_path):
    """Killed after any number of bytes: what was told before is there, and the study goes on."""
    told(tmp_path, 3)
    path = tmp_path / "walk.journal"
    whole = path.read_bytes()
    start = whole.rindex(b"\n", 0, len(whole) - 1) + 1
    for end in range(start + 1, len(whole), 17):
        path.write_bytes(whole[:end])
        resumed = load(tmp_path)
        assert resumed.n_told == 2
        resumed.tell(2, 0.5)
        assert load(tmp_path).n_told == 3


def test_a_line_torn_by_another_worker_while_this_one_lives_is_cut_off_too(tmp_path):
    study = told(tmp_path, 2)
    with open(tmp_path / "walk.journal", "ab") as file:
        file.write(b'{"op_code":6,"tri')
    suggestion = study.ask()
    study.tell(suggestion, 1.0)

    assert load(tmp_path).n_told == 3


def test_reading_alone_changes_nothing(tmp_path):
    told(tmp_path, 3)
    path = tmp_path / "walk.journal"
    torn = path.read_bytes() + b'{"op'
    path.write_bytes(torn)
    study = load(tmp_path)
    study.summary()
    study.best()

    assert path.read_bytes() == torn
    assert not (tmp_path / "walk.journal.torn").exists()


@pytest.mark.parametrize(
    "damage", [b"garbage\n", b"[1, 2]\n", b"5\n", b'{"no": "operation"}\n', b"\xff\xfe\n"]
)
@pytest.mark.parametrize("where", ["middle", "end"])
def test_any_other_damage_is_refused_with_what_can_be_read(tmp_path, damage, where):
    told(tmp_path, 4)
    path = tmp_path / "walk.journal"
    lines = path.read_bytes().splitlines(keepends=True)
    at = len(lines) if where == "end" else len(lines) - 2  # after the values of all, or of three
    broken = b"".join([*lines[:at], damage, *lines[at:]])
    path.write_bytes(broken)
    values = 4 if where == "end" else 3

    with pytest.raises(
        StudyFileError,
        match=rf"is damaged at line {at + 1} .*; the {at} lines before it can be read and hold {values} "
        rf"trials with {values} values; nothing was changed",
    ):
        load(tmp_path)
    assert path.read_bytes() == broken


def test_damage_done_while_a_study_is_open_is_said(tmp_path):
    study = told(tmp_path, 2)
    with open(tmp_path / "walk.journal", "ab") as file:
        file.write(b"garbage\nmore garbage\n")

    with pytest.raises(StudyFileError, match=r"is damaged at line \d+ .* hold 2 trials with 2 values"):
        study.ask()


def test_what_was_recovered_can_be_gone_on_with(tmp_path):
    """As the message says: keep the lines before the damage."""
    told(tmp_path, 4)
    path = tmp_path / "walk.journal"
    lines = path.read_bytes().splitlines(keepends=True)
    path.write_bytes(b"".join([*lines[:-1], b"garbage\n"]))
    found = check_journal(path)
    copy = tmp_path / "copy.journal"
    copy.write_bytes(b"".join(lines[: found.lines]))

    assert (found.trials, found.values, found.bad_line) == (4, 3, len(lines))
    assert Study.load(copy).n_told == 3


def test_a_file_of_json_that_is_no_journal_is_refused(tmp_path):
    (tmp_path / "walk.journal").write_text('{"op_code": 99}\n')

    with pytest.raises(
        StudyFileError, match=r"is no journal of Optuna: line 1 is no operation \(there is no operation 99\)"
    ):
        load(tmp_path)


def test_a_folder_is_no_journal(tmp_path):
    with pytest.raises(StudyFileError, match="a journal is a file, got the folder"):
        Study.load(tmp_path)
    with pytest.raises(StudyFileError, match=r"the folder .* of the journal does not exist; make it first"):
        create(tmp_path / "nowhere")


def test_the_lock_of_a_killed_process_is_free_at_once(tmp_path):
    """Optuna's own lock would be waited for 30 seconds."""
    path = str(tmp_path / "walk.journal")
    holder = Process(hold_lock, path=path)
    holder.expect("held")
    assert os.path.islink(path + ".lock")
    holder.kill()
    begun = time.monotonic()
    lock = GuardedLock(path)
    lock.acquire()
    waited = time.monotonic() - begun
    lock.release()

    assert waited < 15.0  # half of Optuna's grace: it was not waited for
    assert not os.path.lexists(path + ".lock")


def test_the_lock_of_a_living_stranger_is_respected(tmp_path):
    """A dashboard holds Optuna's lock without our guard: it is not broken."""
    from threading import Timer

    from optuna.storages.journal import JournalFileSymlinkLock

    path = str(tmp_path / "walk.journal")
    open(path, "w").close()
    stranger, released = JournalFileSymlinkLock(path), []
    stranger.acquire()

    def let_go():
        released.append(True)
        stranger.release()

    timer = Timer(0.3, let_go)
    timer.start()
    lock = GuardedLock(path)
    lock.acquire()
    lock.release()
    timer.join()

    assert released
