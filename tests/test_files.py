import os
from contextlib import suppress

import pytest
from hypothesis import given
from hypothesis import strategies as st

from netbo.errors import NetworkError
from netbo.files import as_cell, cut_torn_line, from_cell, replacing, write_text


def test_a_file_is_replaced_as_a_whole_or_left_as_it_was(tmp_path):
    path = tmp_path / "run.json"
    write_text(path, "first\n")

    with suppress(OSError), replacing(path) as unfinished:
        unfinished.write_text("sec")
        raise OSError("disk is full")
    assert path.read_text() == "first\n"
    assert list(tmp_path.iterdir()) == [path]


def test_a_file_in_no_folder_is_refused(tmp_path):
    with pytest.raises(NetworkError, match="must be in a folder that exists, got none at"):
        write_text(tmp_path / "nowhere" / "run.json", "")


@pytest.mark.parametrize(
    ("content", "kept", "torn"),
    [(b"", b"", b""), (b"a\n", b"a\n", b""), (b"a\nb", b"a\n", b"b"), (b"ab", b"", b"ab")],
)
def test_half_a_line_is_cut_off_and_kept_beside(tmp_path, content, kept, torn):
    path = tmp_path / "log.csv"
    path.write_bytes(content)

    assert cut_torn_line(path) == torn
    assert path.read_bytes() == kept
    assert (tmp_path / "log.csv.torn").exists() == bool(torn)


@given(st.text(alphabet="'=+-@\t\r＝ a1.", max_size=6) | st.text())
def test_text_comes_back_from_its_cell_and_no_cell_is_a_formula(text):
    """Neutralized for spreadsheets, undone by our reader, whatever apostrophes were there before."""
    cell = as_cell(text)

    assert from_cell(cell) == text
    assert not cell or cell[0] not in "=+-@\t\r＝＋－＠" or float(cell) is not None


@pytest.mark.parametrize("number", [-1, -1.5, 2, float("nan"), None, "-1", "+2.5e-3", "-.5", True])
def test_numbers_are_no_formulas(number):
    assert as_cell(number) is number


def test_a_file_that_is_replaced_keeps_its_permissions(tmp_path):
    """Somebody made it private, or shared it with a group."""
    path, new = tmp_path / "run.json", tmp_path / "new.json"
    write_text(path, "first")
    path.chmod(0o600)
    write_text(path, "second")
    before = os.umask(0o027)
    try:
        write_text(new, "first")
    finally:
        os.umask(before)

    assert path.stat().st_mode & 0o777 == 0o600
    assert new.stat().st_mode & 0o777 == 0o640
