"""Finished runs on disk: one small file each, written at once or not at all, and checked when read."""

import hashlib
import json
import os
from dataclasses import asdict
from pathlib import Path
from typing import Any

from netbo.errors import BaseError
from netbo.experiments.cell import Cell, Run


class PartError(BaseError, ValueError):
    """A partial result that cannot be used; it is computed again."""


def part_path(out: Path, cell: Cell, seed: int) -> Path:
    """Where the run of a cell with a seed is kept."""
    return out / "parts" / cell.key / f"{seed}.json"


def write_part(path: Path, cell: Cell, run: Run) -> None:
    """Keep a run with the hash of its content and of the cell it belongs to."""
    content = json.dumps(asdict(run))
    write_atomically(path, json.dumps({"cell": cell.fingerprint(), "hash": _hash(content), "run": content}))


def read_part(path: Path, cell: Cell) -> Run | None:
    """The run, None if there is none; a PartError says what is wrong with the file."""
    try:
        stored = json.loads(path.read_bytes())
        fingerprint, expected, content = stored["cell"], stored["hash"], stored["run"]
    except FileNotFoundError:
        return None
    except (ValueError, KeyError, TypeError) as reason:
        raise PartError(f"{path} is not a partial result ({type(reason).__name__})") from reason
    if not isinstance(content, str) or _hash(content) != expected:
        raise PartError(f"{path} was changed after it was written")
    if fingerprint != cell.fingerprint():
        raise PartError(f"{path} was made with other settings")
    fields: dict[str, Any] = json.loads(content)
    for name, value in fields.items():
        fields[name] = tuple(value) if isinstance(value, list) else value
    return Run(**fields)


def write_atomically(path: Path, text: str) -> None:
    """A reader, or a run broken off, sees the whole file or none."""
    path.parent.mkdir(parents=True, exist_ok=True)
    unfinished = path.with_name(path.name + ".unfinished")
    unfinished.write_text(text, encoding="utf-8")
    os.replace(unfinished, path)


def _hash(content: str) -> str:
    return hashlib.sha256(content.encode()).hexdigest()
