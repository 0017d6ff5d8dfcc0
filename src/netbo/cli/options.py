"""Options that commands share, and parsers of what was typed: networks, functions, studies, addresses."""

import getpass
import inspect
import json
import socket
import sys
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from functools import partial, reduce, wraps
from importlib import import_module
from pathlib import Path
from typing import Any

import click

from netbo.adapters import Measurements, Network, read, read_places, read_stretches, snap_measurements
from netbo.adapters.read import option_names
from netbo.adapters.tables import Table
from netbo.cli.app import STUDY_EXIT_CODES, in_shell_words, spoken
from netbo.errors import ParameterError
from netbo.optimize import CandidatePlaces, Forbidden
from netbo.optimize.arguments import Candidates
from netbo.studies import Study, StudyError, study_names
from netbo.studies.storages import default_journal, without_secrets
from netbo.wording import counted, quoted

PATH = click.Path(path_type=Path)
COUNT = click.IntRange(min=1)
SECONDS = click.FloatRange(min=0, min_open=True)
COLUMN_WORDS = {
    name: f"--{name.replace('_', '-')} "
    for name in ("value", "x", "y", "edge", "distance", "crs", "limit", "sep", "skip_bad")
}
SQLITE = "sqlite:///"  # before the path of a file

Body = Callable[..., None]


def gather(
    argument: str, make: Callable[..., Any], *options: Callable[[Body], Body]
) -> Callable[[Body], Body]:
    """A decorator that adds options to a command; their values arrive as one argument, built by `make`."""
    names = tuple(inspect.signature(make).parameters)

    def decorate(body: Body) -> Body:
        @wraps(body)
        def gathered(**values: Any) -> None:
            made = make(**{name: values.pop(name) for name in names})
            body(**{argument: made}, **values)

        return add_options(*options)(gathered)

    return decorate


def add_options(*options: Callable[[Body], Body]) -> Callable[[Body], Body]:
    """A decorator that adds options to a command, in the order of its help."""
    return lambda body: reduce(lambda decorated, option: option(decorated), reversed(options), body)


# Networks and measurements


read_option = click.option(
    "--read",
    "options",
    multiple=True,
    metavar="NAME=VALUE",
    help="Option of the reader, as for netbo.read: --read length=km --read snap=0.5 --read node=true",
)


def read_network(source: str, options: Sequence[str] = ()) -> Network:
    """The network of a file, or one known by name; options are name=value, as for `netbo.read`.

    What its report warns of is said once, on stderr.
    """
    with spoken(reader_words):
        network = read(source, **parse_options(options))
    show_warnings(network)
    return network


def show_warnings(network: Network) -> None:
    """Say on stderr what the report of a network warns of."""
    for sentence in network.report.warnings:
        click.echo(f"warning: {in_shell(sentence)}", err=True)


def in_shell(text: str) -> str:
    """A sentence of a reader in the words of the shell.

    >>> in_shell("join them with snap=0.2 or node=True, or pass lengths='drawn'")
    'join them with --read snap=0.2 or --read node=true, or pass --read lengths=drawn'
    """
    return in_shell_words(text, reader_words())


def reader_words() -> dict[str, str]:
    """Options of readers, by their keywords."""
    return {name: f"--read {name}=" for name in option_names()}


def read_measurements(network: Network, data: Path | Table, columns: Mapping[str, Any]) -> Measurements:
    """The measurements of a CSV file on a network; rows that were left out of a file are listed on stderr."""
    given = {name: each for name, each in columns.items() if each is not None}
    with spoken(lambda: {"keep='near'": "--skip-bad", **COLUMN_WORDS}):
        measured = snap_measurements(network, data, **given)
    if isinstance(data, Path):
        show_skipped(data, measured.skipped)
    return measured


def show_skipped(data: Path, skipped: Sequence[str]) -> None:
    """Say on stderr which rows of a file were left out, a sentence each."""
    if skipped:
        click.echo(f"left out {counted(len(skipped), 'row')} of {data.name}:", err=True)
        for each in skipped:
            click.echo(f"  {each}", err=True)


def parse_options(options: Sequence[str]) -> dict[str, Any]:
    r"""Values of name=value: JSON where it is JSON (numbers, true, lists), text where it is not.

    >>> parse_options(["snap=0.5", "node=true", "length=km", "layer=\"5\""])
    {'snap': 0.5, 'node': True, 'length': 'km', 'layer': '5'}
    """
    values = {}
    for option in options:
        name, is_assigned, text = option.partition("=")
        if not is_assigned or not name.strip():
            raise ParameterError(f"--read must be name=value, got {option!r}; try --read snap=0.5")
        try:
            value = json.loads(text)
        except (ValueError, RecursionError):
            value = text.strip()
        values[name.strip().replace("-", "_")] = value
    return values


def column_options(noise: str) -> Callable[[Body], Body]:
    """Options that name the columns of a table; `noise` is the parameter for the column of variances."""
    return add_options(
        click.option("--value", default="value", show_default=True, help="Column of the values."),
        click.option("--x", help="Column of the first coordinate (longitude, easting)."),
        click.option("--y", help="Column of the second coordinate."),
        click.option("--edge", help="Column of edge ids, instead of coordinates."),
        click.option("--distance", help="Column of distances along the edges."),
        click.option("--node", help="Column of names of nodes, instead of coordinates."),
        click.option("--noise-column", noise, help="Column of noise variances."),
        click.option("--crs", help="Coordinate system of x and y, if not that of the network: EPSG:4326."),
        click.option(
            "--limit", type=float,
            help="Farthest a place may lie off the network, in its unit (metres on a map).  "
            "[required with coordinates]",
        ),
        click.option("--sep", help="What separates cells: , ; | or tab. By default as in the first line."),
        click.option("--skip-bad", is_flag=True, help="Leave out rows that are wrong, and list them."),
    )  # fmt: skip


# Searches


def as_settings(
    *,
    minimize: bool,
    noise: float | None,
    seed: int,
    preset: str,
    acquisition: str | None,
    max_cell: float | None,
    alpha: float | None,
    constant_variance: bool | None,
) -> dict[str, Any]:
    """Settings of an optimizer as JSON can hold them."""
    direction = "minimize" if minimize else "maximize"
    return {
        "direction": direction, "noise": noise, "seed": seed, "preset": preset, "acquisition": acquisition,
        "max_cell": max_cell, "alpha": alpha, "constant_variance": constant_variance,
    }  # fmt: skip


optimizer_options = gather(
    "settings",
    as_settings,
    click.option(
        "--max-cell", type=float, help="Largest cell of mesh and grid; about 2,000 points if not given."
    ),
    click.option(
        "--alpha", type=float, help="Smoothness instead of the preset's: 0.5 is rough, 2 is smooth."
    ),
    click.option(
        "--constant-variance/--kirchhoff-variance",
        default=None,
        help="Whether values vary no more at dead ends than elsewhere, instead of as the preset has it.",
    ),
    click.option("--acquisition", help="Another rule: noisy-ei, thompson, ucb, log-ei."),
    click.option("--preset", default="robust", show_default=True, help="robust, calibrated or paper."),
    click.option("--seed", type=click.IntRange(min=0), default=0, show_default=True, help="Seed."),
    click.option("--noise", type=float, help="Variance of a measurement; 0 if exact. Learned if not given."),
    click.option("--minimize", is_flag=True, help="Look for the smallest value instead."),
)


@dataclass(frozen=True, slots=True)
class SearchTables:
    """Files that say where one may measure, and where nobody may."""

    candidates: Path | None
    candidates_crs: str | None
    candidates_limit: float | None
    forbid: Path | None

    def on(self, network: Network) -> Candidates:
        """The candidates of a search on a network; None for all of it."""
        limit, crs = self.candidates_limit, self.candidates_crs
        if self.candidates is None and (limit is not None or crs is not None):
            raise ParameterError("--candidates-crs and --candidates-limit need --candidates FILE.csv")
        forbidden = Forbidden(stretches=[] if self.forbid is None else read_stretches(network, self.forbid))
        if self.candidates is None:
            return None if forbidden.is_empty else forbidden
        places = read_places(network, self.candidates, limit=limit, crs=crs)
        return CandidatePlaces(network.graph, places, forbidden)


search_options = gather(
    "tables",
    SearchTables,
    click.option(
        "--candidates",
        type=PATH,
        metavar="FILE.csv",
        help="Measure only at the places of a table with the columns edge and distance, or node, or x and y, "
        "or lon and lat.",
    ),
    click.option(
        "--candidates-limit", type=float, help="Farthest their coordinates may lie off the network."
    ),
    click.option("--candidates-crs", help="Coordinate system of x and y, if not that of the network."),
    click.option(
        "--forbid",
        type=PATH,
        metavar="FILE.csv",
        help="Never measure on the stretches of a table with the columns edge, from and to; a whole edge "
        "where from and to are empty.",
    ),
)

objective_option = click.option(
    "--objective", required=True, metavar="MODULE:FUNCTION", help="Called with a netbo.Point."
)


def load_objective(name: str, option: str = "--objective") -> Callable[..., Any]:
    """The function MODULE:FUNCTION; modules of the current folder come before installed ones."""
    module_name, is_split, attribute = name.partition(":")
    if not (is_split and module_name and attribute):
        raise ParameterError(f"{option} must be module:function, got {name!r}; try {option} leak:misfit")
    here = str(Path.cwd())
    if here not in sys.path:
        sys.path.insert(0, here)
    try:
        found: Any = import_module(module_name)
    except ModuleNotFoundError as missing:
        if missing.name != module_name.partition(".")[0]:
            raise  # the module is there, and needs something that is not: its own message says what
        raise ParameterError(
            f"{option} must name a module that can be imported, got {module_name!r}, and there is none in "
            f"{here}; run from the folder of {module_name}.py"
        ) from missing
    for part in attribute.split("."):
        if not hasattr(found, part):
            there = [each for each in vars(found) if callable(getattr(found, each)) and each[0] != "_"]
            raise ParameterError(
                f"{option} must name a function of {module_name}, got {attribute!r}; there are "
                f"{', '.join(there) or 'none'}"
            )
        found = getattr(found, part)
    if not callable(found):
        raise ParameterError(f"{option} must be a function, got {name}, a {type(found).__name__}")
    return found  # type: ignore[no-any-return]


# Studies


@dataclass(frozen=True, slots=True)
class StudyRef:
    """Which study a command is about, and whether a program reads what it prints."""

    storage: str | None  # a path or a URL
    name: str | None
    as_json: bool = False

    @property
    def location(self) -> str:
        """Path or URL of the storage."""
        if self.storage:
            return self.storage
        if self.name:
            return str(default_journal(self.name))
        raise ParameterError(
            "it must be said which study is meant, got neither --storage nor --name; try --storage "
            "FILE.journal, or set NETBO_STORAGE"
        )

    @property
    def is_stored(self) -> bool:
        """Whether there is a file; what is no file is there or not when it is opened."""
        path = self.location.removeprefix(SQLITE)
        return "://" in path or Path(path).exists()

    def open(self, worker: str | None = None) -> Study:
        """The study; errors name options of the shell."""
        if not self.is_stored:
            where = without_secrets(self.location)
            raise ParameterError(
                f"there is no study file {where}; make it with netbo study create NETWORK --name NAME "
                f"--storage {where}"
            )
        try:
            return Study.load(self.location, self.name or None, worker=worker)
        except StudyError as cause:
            names = study_names(self.location)
            is_known = self.name in names if self.name else len(names) == 1
            if is_known:
                raise
            listed = quoted(names, none="no study")
            meant = f"got --name {self.name}" if self.name else "and it is not said which is meant"
            raise ParameterError(f"the storage holds {listed}, {meant}; say --name NAME") from cause


study_command = partial(click.command, epilog=STUDY_EXIT_CODES)

storage_option = partial(click.option, "--storage", envvar="NETBO_STORAGE", show_envvar=True)
json_option = click.option("--json", "as_json", is_flag=True, help="As JSON, for programs.")
words_options = add_options(
    click.option("--title", metavar="TEXT", help="What the study is about, for people."),
    click.option("--value-unit", metavar="UNIT", help="Unit of the values, said beside them: l/s."),
)

study_options = gather(
    "ref",
    StudyRef,
    storage_option(
        help="Where it is kept: a journal file, sqlite:///FILE, postgresql://..., grpc://HOST:PORT. "
        "By default NAME.journal.",
    ),
    click.option(
        "--name",
        envvar="NETBO_STUDY",
        show_envvar=True,
        help="Name of the study; not needed if the storage holds only one.",
    ),
    json_option,
)


def default_worker() -> str | None:
    """Name of whoever asks by hand: user and machine; None if the machine does not know its user."""
    try:
        return f"{getpass.getuser()}@{socket.gethostname()}"
    except (OSError, KeyError):
        return None


def parse_number(text: str, what: str) -> float:
    """A number; `what` it is begins the message if it is none."""
    try:
        return float(text)
    except ValueError:
        raise ParameterError(f"{what} must be a number, got {text!r}; write it as 12.5 or 1e-3") from None


def parse_trial(text: str) -> int:
    """The id of a trial."""
    if not (text.isascii() and text.isdigit()):
        raise ParameterError(
            f"the ID of a trial is a whole number, got {text!r}; netbo study status shows them"
        )
    return int(text)
