"""The command `netbo reproduce`: runs that are missing, then table, figures and report of an experiment."""

from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path

import click
import matplotlib as mpl
from rich.console import Console
from rich.progress import BarColumn, MofNCompleteColumn, Progress, TextColumn, TimeRemainingColumn

from netbo import experiments
from netbo.cli.options import PATH
from netbo.errors import ParameterError
from netbo.optional import require

ALL = "all"


@click.command()
@click.argument("names", nargs=-1, required=True, metavar="NAME...|all")
@click.option("--reps", type=int, help="Repetitions, one seed each; by default as many as the paper's.")
@click.option("--seed", type=int, help="Seed of the first repetition; the others count on from it.")
@click.option("--jobs", type=int, default=1, show_default=True, help="Runs made at a time on this machine.")
@click.option(
    "--out",
    type=PATH,
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
    """Make the figures and tables of the paper, and of our own questions, from runs on this machine.

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
    """  # noqa: D301 - click wraps no paragraph that begins with a backspace
    mpl.use("agg")  # pictures go to files: no window system is needed
    require("pyarrow", extra="paper", purpose="writing Parquet")
    specs = with_settings([spec_of(name, quick=quick) for name in names_of(names)], settings)
    specs = [_counted(spec, reps, seed) for spec in specs]
    planned = [(spec, experiments.definition(spec.name).cells(spec), out / spec.name) for spec in specs]
    console = Console(highlight=False, soft_wrap=True)
    with experiments.open_workers(executor, jobs) as workers:
        for spec, _, folder in planned:
            experiments.claim_folder(spec, folder)
        for spec, cells, folder in planned:
            _make(spec, cells, folder, workers)
            console.print(f"{spec.name}: {folder / 'report.md'}", markup=False)


def names_of(names: Sequence[str]) -> list[str]:
    """The experiments meant, each once."""
    every = [each for name in names for each in (experiments.DEFINITIONS if name == ALL else (name,))]
    return list(dict.fromkeys(every))


def spec_of(name: str, *, quick: bool) -> experiments.Spec:
    """The spec of an experiment, or the one in a TOML file."""
    if name.endswith(".toml"):
        if quick:
            raise ParameterError(f"--quick is for experiments by name, got {name}; write quick = true in it")
        return experiments.read_spec(Path(name))
    chosen = experiments.definition(name)
    return chosen.quick_spec() if quick else chosen.default_spec()


def with_settings(specs: Sequence[experiments.Spec], settings: Sequence[str]) -> list[experiments.Spec]:
    """Every setting applied to the experiments that have it; one that none has is refused."""
    changed = list(specs)
    for setting in settings:
        name = setting.partition("=")[0].strip()
        having = [number for number, spec in enumerate(changed) if name in spec.as_dict()]
        for number in having or range(len(changed)):  # a spec without it says what it has
            changed[number] = changed[number].with_settings([setting])
    return changed


def _counted(spec: experiments.Spec, repetitions: int | None, seed: int | None) -> experiments.Spec:
    given = {"repetitions": repetitions, "seed": seed}
    return spec.updated({name: value for name, value in given.items() if value is not None})


def _make(
    spec: experiments.Spec, cells: Sequence[experiments.Cell], folder: Path, workers: experiments.Workers
) -> None:
    from netbo.experiments.figures import draw_all  # noqa: PLC0415 - only who runs needs them
    from netbo.experiments.report import write_report  # noqa: PLC0415

    others = [folder.parent / name for name in experiments.DEFINITIONS if name != spec.name]
    with show_progress(spec.name) as (progress, tell):
        table = experiments.run_experiment(
            spec, cells, folder, workers=workers, others=others, progress=progress, tell=tell
        )
    draw_all(spec, table, folder)
    write_report(spec, table, folder)


@contextmanager
def show_progress(name: str) -> Iterator[tuple[Callable[[int, int], None], Callable[[str], None]]]:
    """A bar with the time left on stderr, if someone watches; messages appear in any case."""
    console = Console(stderr=True, highlight=False, soft_wrap=True)
    columns = (TextColumn("{task.description}"), BarColumn(), MofNCompleteColumn(), TimeRemainingColumn())
    with Progress(*columns, console=console, disable=not console.is_terminal) as bar:
        task = bar.add_task(name, total=None)
        yield (
            lambda done, total: bar.update(task, completed=done, total=total),
            lambda message: console.print(message, markup=False),
        )
