"""The demonstration: known maxima searched for by three methods, and what the runs amount to."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import partial

import numpy as np
from rich import box
from rich.table import Table

from netbo import problems
from netbo.arrays import FloatArray
from netbo.fem import FiniteElementSpace
from netbo.geometry import Points, interval, open_rectangle
from netbo.linalg import thread_count
from netbo.optimize import EuclideanMatern, Learned, Learning, NetworkMatern, Optimizer, RandomDesign
from netbo.optimize.evaluation import one_thread_per_worker, open_executor
from netbo.optimize.presets import STEADY

# A problem is built where it is needed: arrays that travel between processes arrive writable, and numba would
# compile every kernel again for them.
Posing = Callable[[], problems.Problem]

MOST_WORKERS = 8


@dataclass(frozen=True, slots=True)
class Method:
    """A way to search: what is learned from the measurements, or nothing."""

    name: str
    fit: Learning | None  # None: places at random


NETWORK = Method("network", Learned(models=(NetworkMatern(),), beliefs=STEADY))
STRAIGHT = Method("straight line", Learned(models=(EuclideanMatern(nu=1.5),), beliefs=STEADY))  # as smooth
RANDOM = Method("none (random)", None)
METHODS = (NETWORK, STRAIGHT, RANDOM)


@dataclass(frozen=True, slots=True, eq=False)
class Task:
    """A search to be made; the seed decides everything that is random in it."""

    pose: Posing
    method: Method
    seed: int
    measurements: int


@dataclass(frozen=True, slots=True, eq=False)
class Run:
    """A search that was made: places and values in their order, and the regret of the best place so far."""

    task: Task
    points: Points
    values: FloatArray
    regret: FloatArray  # (measurements,) max f - max of f over the places so far, without noise


def search(task: Task) -> Run:
    """Measure where the optimizer asks; with the same seed all methods meet the same measurement errors."""
    problem, rng = task.pose(), np.random.default_rng(task.seed)
    optimizer = start(problem, task)
    for _ in range(task.measurements):
        suggestion = optimizer.ask()
        optimizer.tell(suggestion, problem.measure(suggestion.point, rng))
    seen = optimizer.observations
    return Run(task, seen.points, seen.values, np.minimum.accumulate(problem.regret(seen.points)))


def start(problem: problems.Problem, task: Task) -> Optimizer:
    """The calibrated preset with the method's prior, on the nodes of the problem."""
    assert problem.space is not None
    design = RandomDesign(task.measurements) if task.method.fit is None else None
    return Optimizer(
        problem.space,
        preset="calibrated",
        fit=task.method.fit,
        design=design,
        noise=problem.noise,
        seed=task.seed,
    )


def resume(problem: problems.Problem, run: Run) -> Optimizer:
    """An optimizer that knows what the run knew at its end."""
    optimizer = start(problem, run.task)
    for place, value in zip(run.points, run.values, strict=True):
        optimizer.tell(place, value)
    return optimizer


def search_all(tasks: Sequence[Task], *, is_parallel: bool, progress: Callable[[], None]) -> list[Run]:
    """The runs in the order of the tasks, in worker processes if asked for; calls `progress` after each."""
    workers = min(thread_count(), MOST_WORKERS, len(tasks)) if is_parallel else None
    if is_parallel:
        compile_kernels()
    runs = []
    with one_thread_per_worker(), open_executor(workers, search) as pool:
        for run in pool.map(search, tasks):
            runs.append(run)
            progress()
    return runs


def compile_kernels() -> None:
    """A search too small to matter: what it compiles is on disk before several workers want it at once."""
    problem = problems.composed(interval(), problems.ACKLEY, [-1.0, 1.0])
    optimizer = Optimizer(problem.graph, preset="calibrated", fit=NETWORK.fit, noise=0.0, max_cell=0.05)
    for _ in range(optimizer.design.size + 1):
        suggestion = optimizer.ask()
        optimizer.tell(suggestion, problem(suggestion.point))


# The problems of the demonstration, and how much is spent on them.


@dataclass(frozen=True, slots=True)
class Effort:
    """Repetitions, measurements of each, and the mesh."""

    repetitions: int
    measurements: int
    max_cell: tuple[float, float]  # of the rectangle and of New York
    is_parallel: bool


FULL = Effort(repetitions=10, measurements=30, max_cell=(0.25, 0.25), is_parallel=True)
QUICK = Effort(repetitions=1, measurements=12, max_cell=(1.0, 0.5), is_parallel=False)


@dataclass(frozen=True, slots=True, eq=False)
class Case:
    """A problem, posed once for each repetition."""

    name: str
    posings: tuple[Posing, ...]
    picture: str | None = None  # file that shows the first repetition
    to_scale: bool = True  # whether the network can be drawn with one scale for both directions


def rectangle_cases(effort: Effort) -> list[Case]:
    """Ackley's function along the open rectangle, largest at an end of the opening or at a generic place."""
    at_end, inside = (
        effort.repetitions * (partial(pose_rectangle, placement, effort.max_cell[0]),)
        for placement in (problems.Placement.GAP_END, problems.Placement.INTERIOR)
    )
    return [
        Case("Rectangle, gap end", at_end),
        Case("Rectangle, inside", inside, "demo_rectangle.png", to_scale=False),
    ]


def new_york_case(effort: Effort, seed: int) -> Case:
    """A source to be located, at another random node in every repetition. Needs the extra 'telecom'."""
    problems.new_york()  # says at once what is missing
    seeds = range(seed, seed + effort.repetitions)
    posings = tuple(partial(pose_new_york, each, effort.max_cell[1]) for each in seeds)
    return Case("New York, hidden source", posings, "demo_newyork.png")


def pose_rectangle(placement: problems.Placement, max_cell: float) -> problems.Problem:
    """Measurements have errors of standard deviation 0.05."""
    space = FiniteElementSpace.build(open_rectangle(), max_cell=max_cell)
    return problems.open_rectangle_benchmark(problems.ACKLEY, placement, space=space)


def pose_new_york(seed: int, max_cell: float) -> problems.Problem:
    """Values are exact; the seed draws the source and the errors of the data that tell of it."""
    n_nodes = FiniteElementSpace.build(problems.new_york(), max_cell=max_cell).n_nodes
    source = int(np.random.default_rng(seed).integers(n_nodes))
    return problems.new_york_inversion(source, seed=seed, max_cell=max_cell).problem()


# What several runs amount to, as numbers and as a table for people.

TOLERANCE = 0.01  # regret at which a maximum counts as found; objectives range over 1


@dataclass(frozen=True, slots=True)
class Score:
    """Of runs of one method on one problem."""

    regret: float  # median at the end
    found: int  # runs that came within the tolerance
    runs: int
    needed: float  # median number of measurements until then, counting runs that failed as infinite

    @classmethod
    def of(cls, runs: Sequence[Run]) -> "Score":
        """The score of some runs."""
        counts = [_needed(run) for run in runs]
        return cls(
            regret=float(np.median([run.regret[-1] for run in runs])),
            found=int(np.isfinite(counts).sum()),
            runs=len(runs),
            needed=float(np.median(counts)),
        )


def _needed(run: Run) -> float:
    is_found = run.regret <= TOLERANCE
    return float(np.argmax(is_found)) + 1 if is_found.any() else np.inf


def score_table(scores: Sequence[tuple[str, str, Score]], measurements: int) -> Table:
    """One row for each problem and prior."""
    table = Table(box=box.SIMPLE_HEAD, pad_edge=False)
    table.add_column("problem", no_wrap=True)
    table.add_column("prior", no_wrap=True)
    for title in ("median\nregret", "found", "measurements\nneeded"):
        table.add_column(title, justify="right", no_wrap=True)
    last = None
    for problem, prior, score in scores:
        if last not in (None, problem):
            table.add_section()
        needed = f"{score.needed:g}" if np.isfinite(score.needed) else f"> {measurements}"
        table.add_row(problem, prior, f"{score.regret:.3f}", f"{score.found} of {score.runs}", needed)
        last = problem
    return table
