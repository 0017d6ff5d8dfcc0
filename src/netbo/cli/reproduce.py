"""The figures and tables of the paper: run what is missing, then table, figures and report."""

from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path

import matplotlib as mpl
from rich.console import Console
from rich.progress import BarColumn, MofNCompleteColumn, Progress, TextColumn, TimeRemainingColumn

from netbo.errors import ParameterError
from netbo.experiments import (
    DEFINITIONS,
    Cell,
    Spec,
    Workers,
    claim_folder,
    definition,
    open_workers,
    read_spec,
    run_experiment,
)
from netbo.optional import require

ALL = "all"


def reproduce_all(
    names: Sequence[str],
    out: Path,
    *,
    repetitions: int | None = None,
    seed: int | None = None,
    jobs: int = 1,
    quick: bool = False,
    executor: str | None = None,
    settings: Sequence[str] = (),
) -> None:
    """Every experiment named, each in a folder of its own; what cannot work is refused before any begins."""
    mpl.use("agg")  # pictures go to files: no window system is needed
    require("pyarrow", extra="paper", purpose="writing Parquet")
    specs = with_settings([spec_of(name, quick=quick) for name in names_of(names)], settings)
    specs = [_counted(spec, repetitions, seed) for spec in specs]
    planned = [(spec, definition(spec.name).cells(spec), out / spec.name) for spec in specs]
    console = Console(highlight=False, soft_wrap=True)
    with open_workers(executor, jobs) as workers:
        for spec, _, folder in planned:
            claim_folder(spec, folder)
        for spec, cells, folder in planned:
            _make(spec, cells, folder, workers)
            console.print(f"{spec.name}: {folder / 'report.md'}", markup=False)


def names_of(names: Sequence[str]) -> list[str]:
    """The experiments meant, each once."""
    every = [each for name in names for each in (DEFINITIONS if name == ALL else (name,))]
    return list(dict.fromkeys(every))


def spec_of(name: str, *, quick: bool) -> Spec:
    """The spec of an experiment, or the one in a TOML file."""
    if name.endswith(".toml"):
        if quick:
            raise ParameterError(f"--quick is for experiments by name, got {name}; write quick = true in it")
        return read_spec(Path(name))
    chosen = definition(name)
    return chosen.quick_spec() if quick else chosen.default_spec()


def with_settings(specs: Sequence[Spec], settings: Sequence[str]) -> list[Spec]:
    """Every setting applied to the experiments that have it; one that none has is refused."""
    changed = list(specs)
    for setting in settings:
        name = setting.partition("=")[0].strip()
        having = [number for number, spec in enumerate(changed) if name in spec.as_dict()]
        for number in having or range(len(changed)):  # a spec without it says what it has
            changed[number] = changed[number].with_settings([setting])
    return changed


def _counted(spec: Spec, repetitions: int | None, seed: int | None) -> Spec:
    given = {"repetitions": repetitions, "seed": seed}
    return spec.updated({name: value for name, value in given.items() if value is not None})


def _make(spec: Spec, cells: Sequence[Cell], folder: Path, workers: Workers) -> None:
    from netbo.experiments.figures import draw_all  # noqa: PLC0415 - only who runs needs them
    from netbo.experiments.report import write_report  # noqa: PLC0415

    others = [folder.parent / name for name in DEFINITIONS if name != spec.name]
    with _progress(spec.name) as (progress, tell):
        table = run_experiment(
            spec, cells, folder, workers=workers, others=others, progress=progress, tell=tell
        )
    draw_all(spec, table, folder)
    write_report(spec, table, folder)


@contextmanager
def _progress(name: str) -> Iterator[tuple[Callable[[int, int], None], Callable[[str], None]]]:
    """A bar with the time left on stderr, if someone watches; messages appear in any case."""
    console = Console(stderr=True, highlight=False, soft_wrap=True)
    columns = (TextColumn("{task.description}"), BarColumn(), MofNCompleteColumn(), TimeRemainingColumn())
    with Progress(*columns, console=console, disable=not console.is_terminal) as bar:
        task = bar.add_task(name, total=None)
        yield (
            lambda done, total: bar.update(task, completed=done, total=total),
            lambda message: console.print(message, markup=False),
        )
