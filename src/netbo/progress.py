"""How far a run has come: a bar in a terminal, or below the cell of a notebook."""

import sys
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from typing import Any

from netbo.notebook import bar

PAUSE = 0.25  # seconds between updates in a notebook: each one travels to the browser and is stored there

Show = Callable[[int, float | None], None]  # evaluations made and the best value, None before there is one


@contextmanager
def progress_bar(what: str, total: int, *, shown: bool | None) -> Iterator[Show]:
    """A function to be called after each value; the bar shows the best one and the time left.

    shown: by default in a notebook, below the cell, and in a terminal, on stderr.
    """
    display = None if shown is False else notebook_display()
    if display is not None:
        cell = NotebookBar(what, total, display)
        try:
            yield cell.show
        finally:
            cell.end()
    elif sys.stderr.isatty() if shown is None else shown:
        with _in_terminal(what, total) as show:
            yield show
    else:
        yield lambda done, best: None


def notebook_display() -> Any:
    """IPython's module of displays if this is a notebook's kernel, else None; nothing is imported for it."""
    ipython = sys.modules.get("IPython")
    shell = None if ipython is None else ipython.get_ipython()
    return None if getattr(shell, "kernel", None) is None else sys.modules["IPython.display"]


@dataclass(slots=True)
class NotebookBar:
    """One display that is updated in place, at most every PAUSE seconds, and once at the end."""

    what: str
    total: int
    display: Any  # IPython.display
    clock: Callable[[], float] = time.monotonic
    handle: Any = None
    state: tuple[int, float | None] = (0, None)
    begun: tuple[float, int] = (0.0, 0)  # when, and with how many evaluations
    drawn: float = 0.0

    def show(self, done: int, best: float | None) -> None:
        """Show how far it has come, unless that was done just now."""
        now, self.state = self.clock(), (done, best)
        if self.handle is None:
            self.begun = now, done
        elif now - self.drawn < PAUSE:
            return
        self.drawn = now
        made = done - self.begun[1]
        self._draw(f"{_duration((now - self.begun[0]) / made * (self.total - done))} left" if made else "")

    def end(self) -> None:
        """The final state stays."""
        if self.handle is not None:
            self._draw(f"{_duration(self.clock() - self.begun[0])} in all")

    def _draw(self, timing: str) -> None:
        done, best = self.state
        said = filter(None, (f"{done} of {self.total}", _in_words(best), timing))
        words = f"{self.what}: {', '.join(said)}"
        shown = {"text/plain": words, "text/html": bar(words, done / self.total)}
        if self.handle is None:
            self.handle = self.display.display(shown, raw=True, display_id=True)
        else:
            self.handle.update(shown, raw=True)


@contextmanager
def _in_terminal(what: str, total: int) -> Iterator[Show]:
    from rich.console import Console  # noqa: PLC0415 - a run without a terminal needs none
    from rich.progress import BarColumn, MofNCompleteColumn, Progress, TextColumn, TimeRemainingColumn  # noqa: PLC0415

    columns = (
        TextColumn("{task.description}"),
        BarColumn(),
        MofNCompleteColumn(),
        TextColumn("{task.fields[best]}"),
        TimeRemainingColumn(),
    )
    with Progress(*columns, console=Console(stderr=True)) as lines:
        task = lines.add_task(what, total=total, best="")
        yield lambda done, best: lines.update(task, completed=done, best=_in_words(best))


def _in_words(best: float | None) -> str:
    return "no value yet" if best is None else f"best {best:.6g}"


def _duration(seconds: float) -> str:
    minutes, rest = divmod(round(max(seconds, 0.0)), 60)
    return f"{minutes} min {rest:02d} s" if minutes else f"{rest} s"
