"""What does keeping a study cost beside the numerics of asking, and does it grow with the trials?

ask + tell of a study less those of an optimizer; journal file and SQLite.
"""

import os

for _variable in ("OPENBLAS_NUM_THREADS", "OMP_NUM_THREADS"):
    os.environ.setdefault(_variable, "1")  # waiting threads would count

import argparse
import tempfile
import time
from collections.abc import Callable
from functools import partial
from pathlib import Path
from typing import Any

import numpy as np

import netbo
from netbo import Optimizer
from netbo.arrays import FloatArray
from netbo.problems import random_field
from netbo.studies import Study
from record import write

NOISE, NODES = 0.1**2, 300
STORAGES: dict[str, Callable[[Path], str]] = {
    "journal": lambda folder: str(folder / "study.journal"),
    "SQLite": lambda folder: f"sqlite:///{folder / 'study.db'}",
}


def seconds(action: Callable[[], Any]) -> tuple[FloatArray, Any]:
    """Wall-clock and processor seconds of an action, and what it returned."""
    begun = np.array([time.perf_counter(), time.process_time()])
    found = action()
    return np.array([time.perf_counter(), time.process_time()]) - begun, found


def one_run(storage: str, n: int, seed: int) -> FloatArray:
    """What ask + tell of a study needed more than those of an optimizer, turn by turn, (n, 2) seconds."""
    graph = netbo.open_rectangle()
    cell = graph.total_length / NODES
    space = netbo.FiniteElementSpace.build(graph, max_cell=cell)
    problem = random_field(space, netbo.Matern(1.0, range=0.3 * graph.diameter), seed, noise=NOISE)
    study = Study.create(graph, name="s", storage=storage, noise=NOISE, seed=seed, max_cell=cell)
    optimizer, rng = Optimizer(graph, noise=NOISE, seed=seed, max_cell=cell), np.random.default_rng(seed)
    more = np.empty((n, 2))
    for i in range(n):
        asked, ours = seconds(study.ask)
        bare, theirs = seconds(optimizer.ask)
        if ours.point != theirs.point:
            raise AssertionError(f"ask {i} of the study differs: {ours.point}, {theirs.point}")
        value = problem(ours.point) + NOISE**0.5 * rng.standard_normal()
        told = seconds(partial(study.tell, ours, value))[0]
        more[i] = asked + told - bare - seconds(partial(optimizer.tell, theirs, value))[0]
    return more


def write_and_sync(folder: Path, n: int = 200) -> float:
    """Median milliseconds of one append that is on the disk when it returns: what nobody can save."""
    needed = []
    with open(folder / "probe", "ab", buffering=0) as file:
        for _ in range(n):
            begun = time.perf_counter()
            file.write(b"x" * 300)
            os.fsync(file.fileno())
            needed.append(time.perf_counter() - begun)
    return 1e3 * float(np.median(needed))


def measure(name: str, n: int, runs: int, folder: Path) -> dict[str, Any]:
    overheads = []
    for seed in range(-1, runs):  # the first compiles
        with tempfile.TemporaryDirectory(dir=folder) as inner:
            more = one_run(STORAGES[name](Path(inner)), 12 if seed < 0 else n, max(seed, 0))
        if seed >= 0:
            overheads.append(1e3 * more)
    overhead = np.array(overheads)
    wall, processor = overhead[..., 0], overhead[..., 1]
    row = {
        "storage": name,
        "trials": n,
        "runs": runs,
        "overhead of ask + tell, ms median": round(float(np.median(wall)), 2),
        "ms 95 %": round(float(np.quantile(wall, 0.95)), 2),
        "ms median of the last 50": round(float(np.median(wall[:, -50:])), 2),
        "processor ms median": round(float(np.median(processor)), 2),
    }
    print(*row.values(), sep="  ", flush=True)
    return row


def measure_growth(name: str, n: int, folder: Path) -> dict[str, Any]:
    """Processor time of what a study costs among the first trials, and after n of them."""
    with tempfile.TemporaryDirectory(dir=folder) as inner:
        processor = 1e3 * one_run(STORAGES[name](Path(inner)), n, 0)[:, 1]
    first, last = (float(np.median(part)) for part in (processor[12:112], processor[-100:]))  # 12 compile
    row = {
        "storage": name,
        "trials": n,
        "processor ms median of the first 100": round(first, 2),
        "of the last 100": round(last, 2),
        "ratio": round(last / first, 2),
    }
    print(*row.values(), sep="  ", flush=True)
    return row


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--out", type=Path)
    parser.add_argument("--folder", type=Path, default=Path(tempfile.gettempdir()))
    arguments = parser.parse_args()
    with tempfile.TemporaryDirectory(dir=arguments.folder) as inner:
        probe = write_and_sync(Path(inner))
    print("one write and fsync:", round(probe, 2), "ms")
    rows = [measure(name, 300, 3, arguments.folder) for name in STORAGES]
    growth = [measure_growth(name, 2000, arguments.folder) for name in STORAGES]
    write(
        arguments.out,
        __doc__ or "",
        {
            "noise": NOISE,
            "nodes": NODES,
            "ms of one write and fsync, median": round(probe, 2),
            "rows": rows,
            "growth": growth,
        },
    )


if __name__ == "__main__":
    main()
