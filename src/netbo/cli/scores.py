"""What several runs amount to, as numbers and as a table for people."""

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from rich import box
from rich.table import Table

from netbo.cli.contest import Run

TOLERANCE = 0.01  # regret at which a maximum counts as found; objectives range over 1


@dataclass(frozen=True, slots=True)
class Score:
    """Of runs of one method on one problem."""

    regret: float  # median at the end
    found: int  # runs that came within the tolerance
    runs: int
    needed: float  # median number of measurements until then, counting runs that failed as infinite

    @classmethod
    def of(cls, runs: Sequence[Run]) -> "Score":
        """The score of some runs."""
        counts = [_needed(run) for run in runs]
        return cls(
            regret=float(np.median([run.regret[-1] for run in runs])),
            found=int(np.isfinite(counts).sum()),
            runs=len(runs),
            needed=float(np.median(counts)),
        )


def _needed(run: Run) -> float:
    is_found = run.regret <= TOLERANCE
    return float(np.argmax(is_found)) + 1 if is_found.any() else np.inf


def score_table(scores: Sequence[tuple[str, str, Score]], measurements: int) -> Table:
    """One row for each problem and prior."""
    table = Table(box=box.SIMPLE_HEAD, pad_edge=False)
    table.add_column("problem", no_wrap=True)
    table.add_column("prior", no_wrap=True)
    for title in ("median\nregret", "found", "measurements\nneeded"):
        table.add_column(title, justify="right", no_wrap=True)
    last = None
    for problem, prior, score in scores:
        if last not in (None, problem):
            table.add_section()
        needed = f"{score.needed:g}" if np.isfinite(score.needed) else f"> {measurements}"
        table.add_row(problem, prior, f"{score.regret:.3f}", f"{score.found} of {score.runs}", needed)
        last = problem
    return table
