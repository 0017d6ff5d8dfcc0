"""Files that are whole or not there, and files of others: data that is read, never run.

Atomic replacement, lines torn by a process killed while writing, JSON and XML from anywhere.
"""

import json
import os
import re
import stat
import zipfile
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import IO, Any
from xml.parsers import expat

from netbo.checks import GB, require_memory
from netbo.errors import NetworkError

TORN_SUFFIX = ".torn"
_CHUNK = 1 << 16


@contextmanager
def replacing(path: Path) -> Iterator[Path]:
    """A file to write to that becomes `path` at the end, and vanishes if there is an error on the way.

    A file that is replaced keeps its permissions; a new one has those of the umask.

    Its suffix is that of `path`, since many writers choose the format by it.
    """
    if not path.parent.is_dir():
        raise NetworkError(
            f"{path} must be in a folder that exists, got none at {path.parent}; make it first"
        )
    unfinished = path.with_name(f".{path.stem}.{os.getpid()}.unfinished{path.suffix}")
    try:
        yield unfinished
        with suppress(FileNotFoundError):
            os.chmod(unfinished, stat.S_IMODE(path.stat().st_mode))  # who may read it was decided before
        os.replace(unfinished, path)
    finally:
        unfinished.unlink(missing_ok=True)


def write_text(path: Path, text: str) -> None:
    """Text in UTF-8: a reader, or a process broken off, sees the whole file or the one before."""
    with replacing(path) as unfinished:
        unfinished.write_text(text, encoding="utf-8")


def cut_torn_line(path: Path) -> bytes:
    """Move what follows the last line break to FILE.torn, and return it; hold the file's lock meanwhile."""
    with path.open("r+b") as file:
        size = file.seek(0, os.SEEK_END)
        if size == 0:
            return b""
        file.seek(size - 1)
        if file.read(1) == b"\n":
            return b""
        start = _end_of_last_line(file.fileno(), size)
        file.seek(start)
        torn = file.read()
        with open(f"{path}{TORN_SUFFIX}", "ab") as kept:
            kept.write(torn + b"\n")
            kept.flush()
            os.fsync(kept.fileno())
        file.truncate(start)
        os.fsync(file.fileno())
    return torn


def _end_of_last_line(descriptor: int, size: int) -> int:
    """Position after the last line break, 0 if there is none."""
    end = size
    while end > 0:
        begin = max(0, end - _CHUNK)
        found = os.pread(descriptor, end - begin, begin).rfind(b"\n")
        if found >= 0:
            return begin + found + 1
        end = begin
    return 0


# Cells of CSV: spreadsheets run text that begins like a formula. An apostrophe before it makes it text again.

_FULLWIDTH = "\uff1d\uff0b\uff0d\uff20"  # = + - @ as Japanese keyboards write them
_FORMULA = re.compile(rf"'*[=+\-@\t\r{_FULLWIDTH}]")
_NUMBER = re.compile(r"[+-]?(\d+\.?\d*|\.\d+)([eE][+-]?\d+)?\Z", re.ASCII)


def as_cell(value: Any) -> Any:
    """The value as we write it to CSV: text that a spreadsheet would run begins with an apostrophe.

    An id of several parts is written as Python writes a tuple, also where JSON made a list of it.

    >>> as_cell("=1+1"), as_cell("High Street"), as_cell("-3.5"), as_cell(-3.5), as_cell(["a", 1])
    ("'=1+1", 'High Street', '-3.5', -3.5, "('a', 1)")
    """
    if isinstance(value, list | tuple):
        value = str(_tuples(value))
    if isinstance(value, str) and _FORMULA.match(value) and not _NUMBER.match(value):
        return "'" + value
    return value


def _tuples(value: Any) -> Any:
    return tuple(map(_tuples, value)) if isinstance(value, list | tuple) else value


def from_cell(text: str) -> str:
    """The text that `as_cell` made a cell of.

    >>> from_cell("'=1+1"), from_cell("'tis")
    ('=1+1', "'tis")
    """
    is_ours = text.startswith("'") and _FORMULA.match(text) and not _NUMBER.match(text[1:])
    return text[1:] if is_ours else text


# Files of others


def read_json(path: Path) -> Any:
    """The document of a JSON file; what is none, or is nested without end, is refused by name."""
    try:
        return json.loads(path.read_text(encoding="utf-8"))
    except FileNotFoundError as cause:
        raise NetworkError(f"no file is called {str(path)!r}; check the path") from cause
    except RecursionError as cause:
        raise NetworkError(
            f"{str(path)!r} is no JSON that can be read: it is nested too deeply; write it again"
        ) from cause
    except (ValueError, OSError) as cause:
        raise NetworkError(f"{str(path)!r} is no JSON that can be read: {cause}; write it again") from cause


class _RootFound(Exception):  # noqa: N818 - ends the parser, and is no error
    pass


def xml_root(file: IO[bytes], name: str) -> str:
    """Name of the outermost element of an XML file, without its namespace; "" if it is no XML.

    Refuses files that declare entities: a few lines of them can stand for gigabytes, or for other files.
    """
    found = []

    def at_root(element: str, _: Any) -> None:
        found.append(element.rpartition(":")[2])
        raise _RootFound

    def at_entity(entity: str, *_: Any) -> None:
        raise NetworkError(
            f"{name!r} declares the XML entity {entity!r}, and a network needs none; "
            "write the file without <!ENTITY"
        )

    parser = expat.ParserCreate()
    parser.StartElementHandler, parser.EntityDeclHandler = at_root, at_entity
    with suppress(_RootFound, expat.ExpatError):
        parser.ParseFile(file)
    return found[0] if found else ""


# GDAL tells formats by their content, whatever the name, and knows files that stand for others or servers.

XML_DATA = ("kml", "gpx", "osm", "FeatureCollection")  # other roots are no lines, or point elsewhere


def require_data(file: Path) -> None:
    """Refuse files that point to others, and archives that would fill the memory."""
    if not zipfile.is_zipfile(file):
        with file.open("rb") as content:
            _require_lines_inside(xml_root(content, str(file)), str(file))
        return
    with zipfile.ZipFile(file) as archive:
        size = sum(member.file_size for member in archive.infolist())
        holds = f"{file.name} holds {size / GB:.3g} GB of files"
        require_memory(size, holds, "unpack what you need", error=NetworkError)
        names = archive.namelist()
        for name in names:
            if not (name.endswith(".xml") and name[:-4] in names):  # beside its shapefile: a description
                with archive.open(name) as content:
                    _require_lines_inside(xml_root(content, f"{file.name}/{name}"), f"{file}/{name}")


def _require_lines_inside(root: str, name: str) -> None:
    if root and root not in XML_DATA:
        raise NetworkError(
            f"{name} must hold lines itself, got XML with the root <{root:.40}>, which points to other files "
            "or servers, or has no lines; read what it points to"
        )
