"""The group of commands, its exit codes, and how errors are told."""

from pathlib import Path
from traceback import format_exc
from typing import Any

import click

from netbo import __version__
from netbo.cli import networks, study
from netbo.errors import BaseError

UNEXPECTED, WRONG_INPUT = 1, 2  # exit codes; click uses 2 for options it does not know

EXIT_CODES = """
\b
Exit codes:
  0  everything went well
  1  something unexpected happened; --debug shows where
  2  wrong input: the message says what was expected
"""


class _Group(click.Group):
    """Commands whose errors are one line, unless someone is debugging."""

    def invoke(self, ctx: click.Context) -> Any:
        try:
            return super().invoke(ctx)
        except (click.ClickException, click.exceptions.Exit, click.Abort, BrokenPipeError):
            raise  # click knows what to do with these
        except Exception as error:
            if ctx.params.get("debug"):
                click.echo(format_exc(), err=True)
            is_ours = isinstance(error, BaseError)
            message = str(error) if is_ours else f"unexpected {type(error).__name__}: {error}"
            click.echo(f"error: {' '.join(message.split())}", err=True)
            ctx.exit(WRONG_INPUT if is_ours else UNEXPECTED)


@click.group(cls=_Group, epilog=EXIT_CODES, context_settings={"help_option_names": ["-h", "--help"]})
@click.version_option(__version__, prog_name="netbo")
@click.option("--debug", is_flag=True, help="Show the whole traceback of an error.")
def main(debug: bool) -> None:
    """Bayesian optimization on networks: find where along a network a quantity is largest.

    Start with `netbo demo`; `netbo COMMAND --help` explains a command.
    """


@main.command(short_help="Search two networks; print a table, draw pictures.")
@click.option(
    "--out",
    type=click.Path(path_type=Path),
    default=Path("out/demo"),
    show_default=True,
    help="Folder for the pictures; made if it does not exist.",
)
@click.option(
    "--seed",
    type=click.IntRange(min=0),
    default=0,
    show_default=True,
    help="Seed of the first repetition; the others count on from it.",
)
@click.option("--quick", is_flag=True, help="One short repetition on coarse meshes, in a few seconds.")
def demo(out: Path, seed: int, quick: bool) -> None:
    """Search two networks with and without knowing them, print a table, draw pictures.

    On an open rectangle and on the telecommunication network of New York, Bayesian optimization with the
    network prior, the same with a straight-line prior, and random search look for a maximum that is known.
    Takes less than a minute.
    """
    from netbo.cli.demo import run_demo  # noqa: PLC0415 - loads matplotlib, which help does not need

    run_demo(out, seed, quick=quick)


@main.command(short_help="Make the paper's figures and tables, and ours.")
@click.argument("names", nargs=-1, required=True, metavar="NAME...|all")
@click.option("--reps", type=int, help="Repetitions, one seed each; by default as many as the paper's.")
@click.option("--seed", type=int, help="Seed of the first repetition; the others count on from it.")
@click.option("--jobs", type=int, default=1, show_default=True, help="Runs made at a time on this machine.")
@click.option(
    "--out",
    type=click.Path(path_type=Path),
    default=Path("out/reproduce"),
    show_default=True,
    help="Folder for one folder an experiment; a run broken off goes on where it stopped.",
)
@click.option("--quick", is_flag=True, help="Few short repetitions on coarse meshes, to see that it works.")
@click.option("--executor", help="sequential, processes, dask (a cluster here) or dask://host:port.")
@click.option("--set", "settings", multiple=True, metavar="FIELD=VALUE", help="Change a field of the spec.")
def reproduce(
    names: tuple[str, ...],
    reps: int | None,
    seed: int | None,
    jobs: int,
    out: Path,
    quick: bool,
    executor: str | None,
    settings: tuple[str, ...],
) -> None:
    r"""Make the figures and tables of the paper, and of our own questions, from runs on this machine.

    \b
    network           New York and a sample of the prior
    objectives        the three benchmark functions
    benchmarks        IGP-UCB and GP-TS on them, 60 repetitions
    inversion         a hidden source on New York, 50 repetitions
    sensitivity-b     the misspecification term: both tables of the paper
    sensitivity-init  size of the initial design and of the mesh
    placement         where the optimum sits, both presets
    beyond            what each departure from the paper brings
    all               everything above

    A NAME that ends in .toml is a file with the fields of a spec. Each experiment gets a tidy table (Parquet
    and CSV), figures (PDF and PNG) and report.md, which sets our numbers beside the printed ones.
    """
    from netbo.cli.reproduce import reproduce_all  # noqa: PLC0415 - loads matplotlib and pandas

    reproduce_all(
        names, out, repetitions=reps, seed=seed, jobs=jobs, quick=quick, executor=executor, settings=settings
    )


for command in (networks.inspect, networks.maximize, networks.suggest, networks.report):
    main.add_command(command)
main.add_command(study.study)
main.add_command(study.worker)
