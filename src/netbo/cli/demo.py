"""The command `netbo demo`: searches on two networks with three priors, a table and pictures."""

from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from tempfile import TemporaryFile

import click
import matplotlib as mpl
from rich.console import Console
from rich.progress import Progress

from netbo.cli.options import PATH
from netbo.errors import ParameterError
from netbo.experiments import demo as contest
from netbo.experiments.figures.demo import draw_regrets, draw_search
from netbo.optimize.design import USUAL_SIZE
from netbo.optional import MissingPackageError

Results = list[tuple[contest.Case, dict[contest.Method, list[contest.Run]]]]


@click.command()
@click.option(
    "--out",
    type=PATH,
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
    mpl.use("agg")  # pictures go to files: no window system is needed
    _make_folder(out)
    effort, console = contest.QUICK if quick else contest.FULL, Console(highlight=False)
    cases = contest.rectangle_cases(effort)
    try:
        cases.append(contest.new_york_case(effort, seed))
    except MissingPackageError as missing:
        console.print(f"without New York: {missing}", markup=False, soft_wrap=True)
    results = _search(cases, effort, seed)
    _explain(console, results, effort, seed)
    for path in _draw(results, out):
        console.print(f"picture: {path}", markup=False, soft_wrap=True)


def _make_folder(out: Path) -> None:
    """Make the folder and check that it can be written to, before the work begins."""
    try:
        out.mkdir(parents=True, exist_ok=True)
        with TemporaryFile(dir=out):
            pass
    except OSError as reason:
        raise ParameterError(
            f"--out must be a folder that can be written to, got {out}: {reason.strerror}; choose another"
        ) from reason


def _search(cases: Sequence[contest.Case], effort: contest.Effort, seed: int) -> Results:
    """All runs: each method on each problem, once for every repetition."""
    tasks = [
        contest.Task(pose, method, seed + repetition, effort.measurements)
        for case in cases
        for method in contest.METHODS
        for repetition, pose in enumerate(case.posings)
    ]
    with _progress(len(tasks)) as step:
        runs = iter(contest.search_all(tasks, is_parallel=effort.is_parallel, progress=step))
    return [
        (case, {method: [next(runs) for _ in case.posings] for method in contest.METHODS}) for case in cases
    ]


@contextmanager
def _progress(total: int) -> Iterator[Callable[[], None]]:
    """A bar on stderr, if someone watches."""
    console = Console(stderr=True)
    with Progress(console=console, transient=True, disable=not console.is_terminal) as bar:
        task = bar.add_task("searching", total=total)
        yield lambda: bar.advance(task)


def _explain(console: Console, results: Results, effort: contest.Effort, seed: int) -> None:
    scores = [
        (case.name, method.name, contest.Score.of(found))
        for case, runs in results
        for method, found in runs.items()
    ]
    n, k = effort.measurements, effort.repetitions
    console.print(contest.score_table(scores, n))
    repetitions = (
        f"{k} repetitions, seeds {seed} to {seed + k - 1}" if k > 1 else f"1 repetition, seed {seed}"
    )
    console.print(
        f"Each row sums up {repetitions}, of {n} measurements: how far the best place measured lies below "
        "the maximum (regret; values range over 1), how many runs came within "
        f"{contest.TOLERANCE:g} of the maximum, and after how many measurements (median).\n"
        f"The first {USUAL_SIZE} measurements are spread over the network, alike for both priors. They alone "
        f"found the maximum in {_found_by_design(results)}: there the prior had no part in it.\n"
    )


def _found_by_design(results: Results) -> str:
    """In how many runs the initial design met the maximum, problem by problem."""
    counts = [
        (
            sum(run.regret[:USUAL_SIZE].min() <= contest.TOLERANCE for run in runs[contest.NETWORK]),
            len(case.posings),
        )
        for case, runs in results
    ]
    named = zip(counts, (case.name for case, _ in results), strict=True)
    return ", ".join(f"{found} of {runs} ({name})" for (found, runs), name in named)


def _draw(results: Results, out: Path) -> Iterator[Path]:
    """The first repetition with the network prior on each network, and the regret of all runs."""
    with mpl.rc_context({"font.size": 9}):
        for case, runs in results:
            if case.picture is not None:
                draw_search(runs[contest.NETWORK][0], out / case.picture, to_scale=case.to_scale)
                yield out / case.picture
        draw_regrets(results, USUAL_SIZE, out / "demo_regret.png")
        yield out / "demo_regret.png"
