"""A search from the shell: each measurement on disk as it arrives, tables and pictures at the end."""

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

import matplotlib as mpl
from rich.console import Console

from netbo.cli.objective import load_objective
from netbo.cli.outputs import write_outputs
from netbo.cli.reading import read_network
from netbo.cli.run_folder import OBSERVATIONS, claim, only_one
from netbo.optimize import Result, run


def search(
    source: str,
    objective: str,
    budget: int,
    out: Path,
    *,
    options: Sequence[str] = (),
    jobs: int = 1,
    settings: Mapping[str, Any],
) -> None:
    """Evaluate the objective where the optimizer asks, until the record holds `budget` measurements."""
    mpl.use("agg")  # pictures go to files: no window system is needed
    console = Console(highlight=False, soft_wrap=True)
    f = load_objective(objective)
    folder = claim(out, read_network(source, options), {"objective": objective, **settings})
    with only_one(out):
        optimizer, torn = folder.optimizer()
        if torn:
            console.print(torn, markup=False)
        if len(optimizer.history):
            console.print(f"going on after {len(optimizer.history)} measurements in {out / OBSERVATIONS}")
        record = folder.record
        result = run(
            f, optimizer, budget=budget, executor=None if jobs == 1 else jobs,
            callbacks=lambda _, trial: record.append(trial),
        )  # fmt: skip
        tell(console, result, write_outputs(result, folder.network, out))


def tell(console: Console, result: Result, written: Sequence[Path]) -> None:
    """The summary, and what was written where."""
    console.print(str(result.summary()), markup=False)
    console.print(f"stopped    {result.stopped}", markup=False)
    for path in written:
        console.print(f"written    {path}", markup=False)
