"""Which study is meant, how the commands on studies end, and the options they share."""

from collections.abc import Callable
from dataclasses import dataclass
from functools import wraps
from typing import IO, Any

import click

EXIT_CODES = """
\b
Exit codes:
  0    everything went well; of run and worker: the budget is spent
  1    something unexpected happened; netbo --debug shows where
  2    wrong input: the message says what was expected, and nothing was written
  3    nothing to ask for: every place is measured, or the rest of the budget is in other hands
  130  ended by Ctrl-C or SIGTERM: all that was told is in the study, the rest was given back
"""


@dataclass(frozen=True, slots=True)
class Door:
    """The study that a command is about, and whether a program reads what it prints."""

    storage: str | None  # a path or a URL
    name: str | None
    as_json: bool = False


class Ending(click.ClickException):
    """An end that is no wrong input: one line on stderr and an exit code."""

    exit_code = 1

    def show(self, file: IO[Any] | None = None) -> None:
        """The line."""
        click.echo(" ".join(self.message.split()), err=True)


class NothingLeft(Ending):
    """There is nothing to ask for."""

    exit_code = 3


class Interrupted(Ending):
    """Somebody wanted it to end; nothing is lost."""

    exit_code = 130  # what shells give for Ctrl-C


def on_a_study(command: Callable[..., None]) -> Callable[..., None]:
    """Options that name a study, passed on as a Door."""

    @wraps(command)
    def through_the_door(storage: str | None, name: str | None, as_json: bool, **options: Any) -> None:
        command(Door(storage, name, as_json), **options)

    for option in (
        click.option("--json", "as_json", is_flag=True, help="As JSON, for programs."),
        click.option(
            "--name",
            envvar="NETBO_STUDY",
            show_envvar=True,
            help="Name of the study; not needed if the storage holds only one.",
        ),
        click.option(
            "--storage",
            envvar="NETBO_STORAGE",
            show_envvar=True,
            help="Where it is kept: a journal file, sqlite:///FILE, postgresql://..., grpc://HOST:PORT. "
            "By default NAME.journal.",
        ),
    ):
        through_the_door = option(through_the_door)
    return through_the_door
