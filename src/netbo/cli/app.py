"""The groups of commands, their exit codes, and how errors are reported.

A command's module is imported when the command is called: listing the commands needs no numerics.
"""

import re
import warnings
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from importlib import import_module
from traceback import format_exc
from typing import IO, Any

import click

from netbo import __version__
from netbo.errors import BaseError, NetworkWarning

COMMAND = "netbo.command"  # key of the command under way
UNEXPECTED, WRONG_INPUT = 1, 2  # exit codes; click uses 2 for options it does not know

EXIT_CODES = """
\b
Exit codes:
  0  everything went well
  1  something unexpected happened; --debug shows where
  2  wrong input: the message says what was expected
"""
STUDY_EXIT_CODES = """
\b
Exit codes:
  0    everything went well; of run and worker: the budget is spent
  1    something unexpected happened; netbo --debug shows where
  2    wrong input: the message says what was expected, nothing was written
  3    nothing to ask for: every place is measured, or the rest of the budget
       is in other hands
  130  ended by Ctrl-C or SIGTERM: all that was told is in the study, the rest
       was given back
"""
EXAMPLES = {  # of commands by module and name, in an order in which they can be run
    "demo.demo": ["netbo demo --quick"],
    "reproduce.reproduce": ["netbo reproduce objectives --quick"],
    "networks.inspect": [
        "netbo inspect streets.gpkg",
        "netbo inspect streets.gpkg --read snap=0.5 --read node=true",
    ],
    "networks.suggest": [
        "netbo suggest streets.gpkg --data levels.csv -n 3 --out next",
        "netbo suggest streets.gpkg --data spots.csv --limit 20 --forbid closed.csv",
    ],
    "networks.maximize": [
        "netbo maximize streets.gpkg --objective sound:level --budget 12 --out run",
    ],
    "networks.report": ["netbo report run --out page.html"],
    "study.create": [
        "netbo study create streets.gpkg --name noise",
        "netbo study create streets.gpkg --name leak --candidates hydrants.csv",
    ],
    "study.ask": ["netbo study ask -n 3 --name noise", "netbo study ask --crew north@1:50 --name noise"],
    "study.tell": [
        "netbo study tell 0 34.5 --name noise",
        "netbo study tell 1 31 --at 2 20 --name noise",
        "netbo study tell 38.5 --xy 60 1.5 --limit 5 --name noise",
    ],
    "study.fail": ["netbo study fail 2 --note 'the cover is stuck' --name noise"],
    "study.correct": ["netbo study correct 0 33.5 --name noise"],
    "study.note": ["netbo study note 0 'lorry passing' --name noise"],
    "study.withdraw": ["netbo study withdraw 0 --name noise"],
    "study.release": ["netbo study release 3 --name noise"],
    "study.enqueue": ["netbo study enqueue 1 12.5 --name noise"],
    "study.cancel": ["netbo study cancel 5 --name noise"],
    "study_import.import": [
        "netbo study import levels.csv --name noise --dry-run",
        "netbo study import levels.csv --name noise",
    ],
    "worker.run": ["netbo study run --objective sound:level --budget 8 --name noise"],
    "worker.worker": ["netbo worker --objective sound:level --budget 9 --name noise"],
    "study.status": ["netbo study status --name noise"],
    "study_files.export": [
        "netbo study export trials.csv map.gpkg page.html --name noise",
        "netbo study export next.gpx --name noise",
    ],
    "study_files.plot": ["netbo study plot map.png --what sd --name noise"],
    "study_files.repair": ["netbo study repair noise.journal"],
    "serve.serve": ["netbo study serve --demo", "netbo study serve --crew north --crew south --name noise"],
    "study_list.describe": ["netbo study describe --title 'Leaks in zone 3' --value-unit dB --name noise"],
    "study_list.list": ["netbo study list", "netbo study list --storage noise.journal --csv"],
}


class Ending(click.ClickException):
    """An end that is not wrong input: one line on stderr and an exit code."""

    exit_code = UNEXPECTED

    def show(self, file: IO[Any] | None = None) -> None:
        """Print the line."""
        click.echo(" ".join(self.message.split()), err=True)


class NothingLeft(Ending):
    """There is no point to ask for."""

    exit_code = 3


class Interrupted(Ending):
    """Ctrl-C or SIGTERM; nothing that was told is lost."""

    exit_code = 130  # what shells give for Ctrl-C


class LazyCommand(click.Command):
    """Entry of a list of commands: module and one line of help of a command that is not imported yet."""

    def __init__(self, name: str, module: str, short_help: str) -> None:
        super().__init__(name, short_help=short_help)
        self.module = module

    def load(self) -> click.Command:
        """The command itself; in its module `import` is called `import_`."""
        module, name = import_module(self.module), str(self.name)
        command: click.Command = getattr(module, name if hasattr(module, name) else f"{name}_")
        listed = EXAMPLES.get(f"{self.module.rpartition('.')[2]}.{name}", [])
        if listed and "Examples:" not in (command.epilog or ""):
            lines = "\n".join(f"  {line}" for line in listed)
            command.epilog = f"\b\nExamples:\n{lines}\n\n{command.epilog or ''}"
        return command


class LazyGroup(click.Group):
    """A group whose commands are imported when they are called, not when they are listed."""

    def add(self, module: str, **short_helps: str) -> None:
        """List commands of a module, each with one line of help."""
        for name, short_help in short_helps.items():
            self.add_command(LazyCommand(name, f"netbo.cli.{module}", short_help))

    def get_command(self, ctx: click.Context, cmd_name: str) -> click.Command | None:
        """The command of a name, imported now."""
        command = super().get_command(ctx, cmd_name)
        loaded = command.load() if isinstance(command, LazyCommand) else command
        ctx.meta[COMMAND] = loaded  # for the words of its errors
        return loaded

    def format_commands(self, ctx: click.Context, formatter: click.HelpFormatter) -> None:
        """Write the list of commands from their entries."""
        with formatter.section("Commands"):
            formatter.write_dl(
                [(name, self.commands[name].get_short_help_str()) for name in sorted(self.commands)]
            )


# Messages are written in Python's words, name=value. Where they are said in a shell they name its options.


PHRASES = {  # of Python's messages, as the shell says them
    "correct(id, value)": "netbo study correct ID VALUE",
    "withdraw(id)": "netbo study withdraw ID",
    "add_observation(point, value)": "netbo study import",
    "see .trials": "netbo study status shows them",
    "load it with Study.load to go on": "give the same options to go on",
    ", or an object, got": ", got",
    " or None to learn it": ", left out to learn it",
    ", or None for one that never ends": "",
    "None goes anywhere": "leave it out to go anywhere",
    " or use spectral()": "",
}


def in_shell_words(message: str, spelled: Mapping[str, str]) -> str:
    """A message with the shell's spelling of keywords: `spelled` maps each to the option that begins it.

    >>> in_shell_words("choose with layer=, or pass node=True", {"layer": "--read layer=", "node": "--node "})
    'choose with --read layer=..., or pass --node'
    >>> in_shell_words("max_cell=0.1 is too fine; raise max_cell", {"max_cell": "--max-cell "})
    '--max-cell 0.1 is too fine; raise --max-cell'
    """
    for phrase, option in PHRASES.items():
        message = message.replace(phrase, option)
    for phrase, option in spelled.items():
        if "=" in phrase:
            message = message.replace(phrase, option)
        elif re.search(rf"\b{phrase}\b", message):
            begin = rf"(?<![\w'\".-]){phrase}"
            keyword = rf"{begin}=('[^']*'|\"[^\"]*\"|[\w.:/+-]*\w)?"
            for found in reversed(list(re.finditer(keyword, message))):
                message = message[: found.start()] + _with_value(option, found[1]) + message[found.end() :]
            if "_" in phrase and option.endswith(" "):
                message = re.sub(rf"{begin}\b", option.rstrip(), message)
    return message


def _with_value(option: str, value: str | None) -> str:
    if option.endswith("="):  # NAME=VALUE, in the words of JSON
        words = {None: "...", "True": "true", "False": "false", "None": "null"}
        return option + words.get(value, (value or "").strip("'\""))
    return option.rstrip() if value in (None, "True") else option + value


@contextmanager
def spoken(spelled: Callable[[], Mapping[str, str]]) -> Iterator[None]:
    """Errors of ours in the words of the shell; `spelled` is asked only if there is one."""
    try:
        yield
    except BaseError as error:
        said = in_shell_words(str(error), spelled())
        if said == str(error):
            raise
        raise type(error)(said) from error


class MainGroup(LazyGroup):
    """The outermost group: an error is one line and an exit code, with --debug also its traceback."""

    def invoke(self, ctx: click.Context) -> Any:
        """Run a command."""
        try:
            return super().invoke(ctx)
        except (click.ClickException, click.exceptions.Exit, click.Abort, BrokenPipeError):
            raise  # click knows what to do with these
        except Exception as error:
            if ctx.params.get("debug"):
                click.echo(format_exc(), err=True)
            is_ours = isinstance(error, BaseError)
            message = (
                in_shell_words(str(error), _own_options(ctx))
                if is_ours
                else f"unexpected {type(error).__name__}: {error}"
            )
            click.echo(f"error: {' '.join(message.split())}", err=True)
            ctx.exit(WRONG_INPUT if is_ours else UNEXPECTED)


def _own_options(ctx: click.Context) -> dict[str, str]:
    """Options of the command that was called, by the keywords that Python has for them."""
    command = ctx.meta.get(COMMAND)
    options = [each for each in getattr(command, "params", ()) if isinstance(each, click.Option)]
    longest = {str(each.name): max(each.opts, key=len) for each in options}
    return {name: f"{option} " for name, option in longest.items() if option == f"--{name.replace('_', '-')}"}


@click.group(cls=MainGroup, epilog=EXIT_CODES, context_settings={"help_option_names": ["-h", "--help"]})
@click.version_option(__version__, prog_name="netbo")
@click.option("--debug", is_flag=True, help="Show the whole traceback of an error.")
def main(debug: bool) -> None:
    """Bayesian optimization on networks: find where along a network a quantity is largest.

    Start with `netbo demo`; `netbo COMMAND --help` explains a command.
    """
    warnings.simplefilter("ignore", NetworkWarning)  # commands say it in their own words


@click.group(
    cls=LazyGroup, short_help="A study that survives: create, ask, tell, share.", epilog=STUDY_EXIT_CODES
)
def study() -> None:
    """Keep every measurement in a file or a database, and share it with other people and machines.

    Every command names its study by --storage, by --name (kept in NAME.journal), or by the environment
    variables NETBO_STORAGE and NETBO_STUDY.
    """


main.add_command(study)
main.add("demo", demo="Search two networks; print a table, draw pictures.")
main.add("compare", compare="Set ways to search against each other on known problems.")
main.add("reproduce", reproduce="Make the paper's figures and tables, and ours.")
main.add(
    "networks",
    inspect="Read a network and say what it is like before it is trusted.",
    maximize="Search a network with a function of your own.",
    suggest="Where to measure next, from measurements you have.",
    report="A run as one page to look at or to send.",
)
study.add(
    "study",
    create="Make a study of a network.",
    ask="Where to measure next.",
    tell="Record what was measured.",
    fail="Record that there is no value.",
    cancel="Give up a place.",
    release="Give a place to whoever asks next.",
    correct="Replace a value.",
    withdraw="Take a value back.",
    note="Say something of a trial.",
    enqueue="Put a place of your own in line.",
    status="How the study stands.",
)
study.add("serve", serve="Serve a live map for crews and managers.")
study.add(
    "study_files",
    export="Write tables, maps and pages.",
    plot="Draw the network and what is known.",
    repair="Mend a damaged journal, in a copy.",
)
study.add(
    "study_list",
    describe="Give a study a title, and its values a unit.",
    list="The studies of a folder or a storage.",
)
study.add("study_import", **{"import": "Tell many values of a CSV file."})
study.add("worker", run="Evaluate a function until the budget is spent.")
for group in (main, study):
    group.add("worker", worker="Join a shared study until its budget is spent.")
