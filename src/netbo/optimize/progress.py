"""A line that says how far a run has come."""

import sys
from collections.abc import Callable, Iterator
from contextlib import contextmanager

from netbo.optimize.history import Status
from netbo.optimize.optimizer import Optimizer
from netbo.optimize.stopping import Budget


@contextmanager
def progress_bar(optimizer: Optimizer, budget: Budget, *, shown: bool | None) -> Iterator[Callable[[], None]]:
    """A function to be called after each value; the bar goes to stderr, by default if that is a terminal.

    It shows evaluations done, the best value so far and the time left at the pace of the last ones.
    """
    if not (sys.stderr.isatty() if shown is None else shown):
        yield lambda: None
        return
    from rich.console import Console  # noqa: PLC0415 - a run without a terminal needs none
    from rich.progress import BarColumn, MofNCompleteColumn, Progress, TextColumn, TimeRemainingColumn  # noqa: PLC0415

    columns = (
        TextColumn("{task.description}"),
        BarColumn(),
        MofNCompleteColumn(),
        TextColumn("{task.fields[best]}"),
        TimeRemainingColumn(),
    )
    with Progress(*columns, console=Console(stderr=True)) as bar:
        task = bar.add_task(optimizer.direction, total=budget.evaluations, best="")

        def update() -> None:
            done = budget.evaluations - budget.left(optimizer)
            bar.update(task, completed=done, best=_best(optimizer))

        update()
        yield update


def _best(optimizer: Optimizer) -> str:
    if not optimizer.history.having(Status.OBSERVED):
        return "no value yet"
    return f"best {optimizer.best().value:.6g}"
