"""One search for a known maximum, by each of three methods, under equal conditions."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass

import numpy as np

from netbo.arrays import FloatArray
from netbo.geometry import Points, interval
from netbo.linalg import thread_count
from netbo.optimize import EuclideanMatern, Learned, Learning, NetworkMatern, Optimizer, RandomDesign
from netbo.optimize.evaluation import one_thread_per_worker, open_executor
from netbo.optimize.presets import STEADY
from netbo.problems import ACKLEY, Problem, composed

# A problem is built where it is needed: arrays that travel between processes arrive writable, and numba would
# compile every kernel again for them.
Posing = Callable[[], Problem]

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


def start(problem: Problem, task: Task) -> Optimizer:
    """The calibrated preset with the method's prior, on the nodes of the problem."""
    assert problem.space is not None
    design = RandomDesign(task.measurements) if task.method.fit is None else None
    return Optimizer(problem.space, fit=task.method.fit, design=design, noise=problem.noise, seed=task.seed)


def resume(problem: Problem, run: Run) -> Optimizer:
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
    problem = composed(interval(), ACKLEY, [-1.0, 1.0])
    optimizer = Optimizer(problem.graph, fit=NETWORK.fit, noise=0.0, max_cell=0.05)
    for _ in range(optimizer.design.size + 1):
        suggestion = optimizer.ask()
        optimizer.tell(suggestion, problem(suggestion.point))
