"""The command `netbo compare`: ways to search on the suite of problems, and who wins."""

from collections.abc import Sequence
from fnmatch import fnmatch
from pathlib import Path
from typing import Any

import click
import matplotlib.pyplot as plt
from rich.console import Console
from rich.table import Table

from netbo.cli.options import COUNT, PATH, load_objective
from netbo.cli.reproduce import show_progress
from netbo.errors import ParameterError
from netbo.experiments import Comparison, Method
from netbo.experiments import compare as run_comparison
from netbo.problems import SUITE
from netbo.wording import listing

PRESETS = ("calibrated", "paper", "paper-euclidean")
RULES = ("restless", "noisy-ei", "thompson", "ucb", "log-ei", "max-variance", "random")


@click.command()
@click.argument("methods", nargs=-1, required=True, metavar="METHOD...")
@click.option("--problem", "patterns", multiple=True, help="Name or pattern, such as 'grid/*'; repeatable.")
@click.option("--locked", is_flag=True, help="The problems that are kept aside while tuning, too.")
@click.option("--reps", type=COUNT, default=20, show_default=True, help="Seeds of a method on a problem.")
@click.option("--budget", type=COUNT, default=60, show_default=True, help="Evaluations of a run.")
@click.option("--shared", type=click.IntRange(min=0), default=0, help="Random places all begin with.")
@click.option("--seed", type=int, default=0, show_default=True, help="Of the first repetition.")
@click.option("--jobs", type=COUNT, default=1, show_default=True, help="Runs at a time on this machine.")
@click.option("--executor", help="sequential, processes, dask (a cluster here) or dask://host:port.")
@click.option(
    "--out", type=PATH, default=Path("out/compare"), show_default=True,
    help="Folder of the runs; a comparison broken off goes on where it stopped.",
)  # fmt: skip
def compare(
    methods: tuple[str, ...],
    patterns: tuple[str, ...],
    locked: bool,
    reps: int,
    budget: int,
    shared: int,
    seed: int,
    jobs: int,
    executor: str | None,
    out: Path,
) -> None:
    """Compare ways to search on problems whose maxima are known; the first METHOD is set against the others.

    A METHOD is default, a preset (calibrated, paper, paper-euclidean), an acquisition (noisy-ei, thompson,
    ucb, log-ei, max-variance, random), or MODULE:FUNCTION: a function of (problem, seed) that returns an
    object with ask and tell. Methods, problems and repetitions can be added later to the folder of a
    comparison.

    \b
    netbo compare default random --problem 'tree-40/*' --reps 2 --budget 20
    """  # noqa: D301 - click wraps no paragraph that begins with a backspace
    chosen = {name: method_of(name) for name in methods}
    with show_progress("compare") as (progress, _):
        found = run_comparison(
            chosen, problems_of(patterns, locked=locked), reps, budget=budget, shared=shared, seed=seed,
            out=out, jobs=jobs, executor=executor, progress=progress,
        )  # fmt: skip
    console = Console(highlight=False, soft_wrap=True)
    console.print(board_of(found))
    _print_losses(found, console)
    picture = out / "leaderboard.png"
    figure = found.plot()
    figure.savefig(picture, dpi=150)
    plt.close(figure)
    console.print(f"every evaluation: {out / 'table.parquet'}; picture: {picture}", markup=False)


def method_of(name: str) -> Method:
    """The method of a name."""
    if name == "default":
        return {}
    if name in PRESETS:
        return {"preset": name}
    if name in RULES:
        return {"acquisition": name}
    if ":" in name:
        return load_objective(name, option="METHOD")
    raise ParameterError(
        f"METHOD must be default, {', '.join((*PRESETS, *RULES))} or module:function, got {name!r}"
    )


def problems_of(patterns: Sequence[str], *, locked: bool) -> list[Any]:
    """The problems of the suite that fit a pattern; those named in full are never left out."""
    named = [each for each in SUITE if each.name in patterns]
    fitting = [
        each
        for each in SUITE
        if (locked or not each.is_locked) and (not patterns or any(fnmatch(each.name, p) for p in patterns))
    ]
    found = [each for each in SUITE if each in named or each in fitting]
    if not found:
        names = [each.name for each in SUITE]
        raise ParameterError(
            f"--problem must fit a problem of the suite, got {', '.join(patterns)}; try {listing(names)}"
        )
    return found


def board_of(found: Comparison) -> Table:
    """The leaderboard for people."""
    formats = {"reached": "{:.0%}", "evaluations": "{:.1f}", "rank": "{:.2f}", "ms an ask": "{:.3g}"}
    board = found.leaderboard().drop(columns=["low", "high"])
    table = Table(box=None, pad_edge=False)
    table.add_column("method")
    for name in board.columns[1:]:
        table.add_column(str(name), justify="right")
    for row in board.to_dict("records"):
        figures = (formats.get(str(name), "{:.2%}").format(row[name]) for name in board.columns[1:])
        table.add_row(str(row["method"]), *figures)
    return table


def _print_losses(found: Comparison, console: Console) -> None:
    method = found.methods[0]
    worse = found.losses(method).query("p_holm <= 0.05")
    for row in worse.itertuples(index=False):
        console.print(
            f"{method} arrives less often than {row.rival} on {row.problem}: {row.difference:+.0%}, "
            f"p = {row.p_holm:.2g} after Holm", markup=False,
        )  # fmt: skip
    if worse.empty and len(found.methods) > 1:
        console.print(f"on no problem {method} arrives less often than another (5 %, Holm)", markup=False)
