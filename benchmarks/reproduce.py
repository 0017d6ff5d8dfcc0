"""What do the paper's experiments and ours come to, run in full, and how long do they take?

Runs `netbo reproduce` for every experiment into a new folder, and keeps reach rates and times.
"""

import argparse
import math
import resource
import subprocess
import sys
import time
from pathlib import Path
from typing import Any

import pandas as pd

from netbo.experiments import DEFINITIONS
from netbo.experiments.statistics import Estimate, mean_iterations, reach_rate, runs_of
from record import write

ORDER = ("network", "objectives", "benchmarks", "inversion", "sensitivity-b", "sensitivity-init")
OURS = ("placement", "beyond")
TOLERANCES = {"1e-6": 1e-6, "0.01": 0.01}
FACTORS = ["problem", "placement", "method", "b", "n_init", "max_cell"]


def make(name: str, out: Path, jobs: int, repetitions: int | None) -> dict[str, float]:
    """Run one experiment; seconds on the clock and of the processors."""
    begin, before = time.perf_counter(), resource.getrusage(resource.RUSAGE_CHILDREN)
    command = [sys.executable, "-m", "netbo", "reproduce", name, "--jobs", str(jobs), "--out", str(out)]
    command += [] if repetitions is None else ["--reps", str(repetitions)]
    subprocess.run(command, check=True)
    after = resource.getrusage(resource.RUSAGE_CHILDREN)
    cpu = after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime
    return {"clock, s": round(time.perf_counter() - begin, 1), "processors, s": round(cpu, 1)}


def rows_of(name: str, out: Path) -> list[dict[str, Any]]:
    """One row a setting and method; sources are pooled, with intervals over the sources."""
    table = pd.read_parquet(out / name / "table.parquet")
    if not len(table):
        return []
    runs = {label: runs_of(table, tolerance) for label, tolerance in TOLERANCES.items()}
    rows = []
    for labels, part in runs["1e-6"].groupby(FACTORS, sort=False, dropna=False):
        row: dict[str, Any] = {"experiment": name, "runs": len(part)}
        row |= {factor: _plain(label) for factor, label in zip(FACTORS, labels, strict=True)}
        for label, each in runs.items():
            same = each.loc[part.index]
            row |= _figures(f"reached {label}", reach_rate(same))
            row |= _figures(f"iterations to {label}", mean_iterations(same))
        rows.append(row)
    return rows


def _figures(name: str, estimate: Estimate) -> dict[str, float | None]:
    numbers = {name: estimate.value, f"{name}, low": estimate.low, f"{name}, high": estimate.high}
    return {key: _plain(round(value, 4)) for key, value in numbers.items()}


def _plain(value: Any) -> Any:
    """A value as JSON has it, which knows no NaN."""
    value = value.item() if hasattr(value, "item") else value
    return None if isinstance(value, float) and math.isnan(value) else value


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--folder", type=Path, default=Path("out/reproduce-in-full"), help="must be new")
    parser.add_argument("--jobs", type=int, default=2)
    parser.add_argument("--reps", type=int)
    parser.add_argument("--out", type=Path)
    given = parser.parse_args()
    if given.folder.exists():
        parser.error(f"--folder must be new, or times would leave out what is there, got {given.folder}")
    assert {*ORDER, *OURS} == {*DEFINITIONS}
    times = {name: make(name, given.folder, given.jobs, given.reps) for name in (*ORDER, *OURS)}
    rows = [row for name in (*ORDER, *OURS) for row in rows_of(name, given.folder)]
    write(given.out, __doc__, {"jobs": given.jobs, "times": times, "rows": rows})


if __name__ == "__main__":
    main()
