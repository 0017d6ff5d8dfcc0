"""All runs of an experiment, resumed where they were broken off, as one tidy table."""

import hashlib
import json
from collections.abc import Callable, Sequence
from contextlib import suppress
from dataclasses import asdict
from pathlib import Path
from typing import Any

import pandas as pd

import netbo
from netbo.adapters.export import write_csv
from netbo.errors import BaseError, ParameterError
from netbo.experiments.cell import COLUMNS, Repeatable, Run, rows_of, run_cell
from netbo.experiments.spec import Spec
from netbo.experiments.workers import Workers, open_workers
from netbo.files import replacing, write_text
from netbo.optional import require

# Finished runs on disk: one small file each, written at once or not at all, and checked when read.


class PartError(BaseError, ValueError):
    """A partial result that cannot be used; it is computed again."""


def part_path(out: Path, cell: Repeatable, seed: int) -> Path:
    """Where the run of a cell with a seed is kept."""
    return out / "parts" / cell.key / f"{seed}.json"


def write_part(path: Path, cell: Repeatable, run: Run) -> None:
    """Keep a run with the hash of its content and of the cell it belongs to."""
    content = json.dumps(asdict(run))
    path.parent.mkdir(parents=True, exist_ok=True)
    write_text(path, json.dumps({"cell": cell.fingerprint(), "hash": _hash(content), "run": content}))


def read_part(path: Path, cell: Repeatable) -> Run | None:
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


def _hash(content: str) -> str:
    return hashlib.sha256(content.encode()).hexdigest()


Progress = Callable[[int, int], object]  # runs that are there, runs in all
Tell = Callable[[str], object]

TABLE = "table"  # .parquet and .csv


def run_experiment(
    spec: Spec,
    cells: Sequence[Repeatable],
    out: Path,
    *,
    workers: Workers | None = None,
    others: Sequence[Path] = (),
    progress: Progress = lambda done, total: None,
    tell: Tell = lambda message: None,
) -> pd.DataFrame:
    """The tidy table of every cell with every seed; runs found in the folder are not made again.

    out: a folder of its own; it is refused if it holds the runs of another spec or version.
    others: folders of other experiments, whose runs are taken where they are the same.
    progress: called after each run; tell: called with what people should know.
    """
    claim_folder(spec, out)
    runs = all_runs(cells, spec.seeds, out, workers=workers, others=others, progress=progress, tell=tell)
    table = tidy(cells, spec.seeds, runs)
    write_table(table, out)
    return table


def all_runs(
    cells: Sequence[Repeatable],
    seeds: Sequence[int],
    out: Path,
    *,
    workers: Workers | None = None,
    others: Sequence[Path] = (),
    progress: Progress = lambda done, total: None,
    tell: Tell = lambda message: None,
) -> dict[tuple[Repeatable, int], Run]:
    """The runs of every cell with every seed; those found in the folder are not made again."""
    _require_distinct(cells)
    calls = [(cell, seed) for seed in seeds for cell in cells]  # so that time left is estimated fairly
    runs = _finished(calls, out, others, tell)
    missing = [number for number in range(len(calls)) if number not in runs]
    progress(len(runs), len(calls))
    if missing:
        runs |= _make(calls, missing, out, workers, lambda done: progress(done, len(calls)))
    return {calls[number]: run for number, run in runs.items()}


def claim_folder(spec: Spec, out: Path) -> None:
    """Write the spec into a new folder, or refuse one that holds another."""
    path = out / "spec.json"
    try:
        out.mkdir(parents=True, exist_ok=True)
        stored = json.loads(path.read_text(encoding="utf-8")) if path.exists() else None
    except OSError as reason:
        raise ParameterError(
            f"--out must be a folder that can be written to, got {out}: {reason.strerror}; choose another"
        ) from reason
    except ValueError as reason:
        raise ParameterError(
            f"{path} must be the spec of an experiment, got {reason}; choose another --out"
        ) from reason
    if stored is None:
        content = {"netbo": netbo.__version__, "fingerprint": spec.fingerprint(), "spec": spec.as_dict()}
        write_text(path, json.dumps(content, indent=2) + "\n")
        return
    if stored.get("netbo") != netbo.__version__:
        raise ParameterError(
            f"{out} holds results of netbo {stored.get('netbo')}, this is {netbo.__version__}; "
            "choose another --out"
        )
    if difference := spec.difference(stored.get("spec", {})):
        name, ours, theirs = difference
        raise ParameterError(
            f"{out} holds another experiment: {name} is {theirs!r} there and {ours!r} here; "
            "choose another --out or the same settings"
        )


def tidy(
    cells: Sequence[Repeatable], seeds: Sequence[int], runs: dict[tuple[Repeatable, int], Run]
) -> pd.DataFrame:
    """One row a query, cells in their order, seeds within them: the same whoever made the runs."""
    parts = [rows_of(runs[cell, seed], cell, seed) for cell in cells for seed in seeds]
    if not parts:
        return pd.DataFrame({name: [] for name in COLUMNS})
    return pd.concat(parts, ignore_index=True)


def write_table(table: pd.DataFrame, out: Path, name: str = TABLE) -> None:
    """The table as Parquet and CSV."""
    require("pyarrow", extra="paper", purpose="writing Parquet")
    with replacing(out / f"{name}.parquet") as unfinished:
        table.to_parquet(unfinished, index=False)
    write_csv(out / f"{name}.csv", table)


def _finished(
    calls: Sequence[tuple[Repeatable, int]], out: Path, others: Sequence[Path], tell: Tell
) -> dict[int, Run]:
    found = {}
    for number, (cell, seed) in enumerate(calls):
        path = part_path(out, cell, seed)
        try:
            run = read_part(path, cell)
        except PartError as reason:
            tell(f"{reason}; that run is made again")
            continue
        if run is None and (run := _taken(cell, seed, others)):
            write_part(path, cell, run)
        if run is not None:
            found[number] = run
    return found


def _taken(cell: Repeatable, seed: int, others: Sequence[Path]) -> Run | None:
    """The same run of another experiment, if there is one."""
    for folder in others:
        with suppress(PartError):  # of another cell by the same name, or damaged: not ours to mend
            if run := read_part(part_path(folder, cell, seed), cell):
                return run
    return None


def _make(
    calls: Sequence[tuple[Repeatable, int]],
    missing: Sequence[int],
    out: Path,
    workers: Workers | None,
    advance: Callable[[int], object],
) -> dict[int, Run]:
    """The missing runs, each on disk as soon as it is known."""
    if workers is None:
        with open_workers() as opened:
            return _make(calls, missing, out, opened, advance)
    made, done = {}, len(calls) - len(missing)
    for number, run in workers.completed(run_cell, [calls[each] for each in missing]):
        cell, seed = calls[missing[number]]
        write_part(part_path(out, cell, seed), cell, run)
        made[missing[number]] = run
        advance(done + len(made))
    return made


def _require_distinct(cells: Sequence[Repeatable]) -> None:
    keys = [cell.key for cell in cells]
    twice = sorted({key for key in keys if keys.count(key) > 1})
    if twice:
        raise ParameterError(f"cells need keys of their own, got {twice[0]!r} twice; name what differs")
