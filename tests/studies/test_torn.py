"""A journal cut off at any byte: what was told is there, what was torn is kept, and the study goes on."""

import logging

import pytest

from netbo.studies import State, Study
from support.studies import create, height


def exchanges(folder):
    """A study with every kind of line at its end; and the values it holds after each line."""
    study = create(folder)
    path = folder / "walk.journal"
    for _ in range(2):
        suggestion = study.ask()
        study.tell(suggestion, height(suggestion.point))
    after = {path.stat().st_size: values(study)}
    steps = [
        study.ask,
        lambda: study.tell(2, 0.75),
        study.ask,
        lambda: study.tell(3, 0.5, noise=0.1, note="two lines: the note with the value, and the end"),
        lambda: study.add_observation((1, 0.25), 0.125),
        lambda: study.correct(0, 0.0625),
        lambda: study.withdraw(1),
    ]
    for step in steps:
        step()
        after[path.stat().st_size] = values(study)
    return path.read_bytes(), after


def values(study):
    return {record.id: record.value for record in study.records if record.state is State.OBSERVED}


def check_cuts(folder, caplog, every):
    whole, after = exchanges(folder)
    path, torn = folder / "cut.journal", folder / "cut.journal.torn"
    starts = [0, *(at + 1 for at, byte in enumerate(whole) if byte == ord("\n"))]
    for end in range(min(after), len(whole) + 1, every):
        torn.unlink(missing_ok=True)
        path.write_bytes(whole[:end])
        line = max(start for start in starts if start <= end)
        promised = after[max(size for size in after if size <= end)]
        coming = after[min(size for size in after if size >= end)]
        study = Study.load(path)
        found = values(study)
        caplog.clear()
        number = study.add_observation((2, 1.5), 0.375)

        assert found in (promised, coming), f"cut at byte {end}"
        assert values(Study.load(path)) == {**found, number: 0.375}
        assert path.read_bytes().startswith(whole[:line])
        if line < end:
            assert torn.read_bytes() == whole[line:end] + b"\n"
            assert f"ended in half a line of {end - line} bytes" in caplog.text
        else:
            assert not torn.exists()
            assert caplog.text == ""


def test_a_journal_cut_off_here_and_there_loses_nothing_that_was_told(tmp_path, caplog):
    with caplog.at_level(logging.WARNING):
        check_cuts(tmp_path, caplog, every=37)


@pytest.mark.slow
def test_a_journal_cut_off_at_any_byte_loses_nothing_that_was_told(tmp_path, caplog):
    with caplog.at_level(logging.WARNING):
        check_cuts(tmp_path, caplog, every=1)
