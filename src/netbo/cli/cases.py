"""The problems of the demonstration, and how much is spent on them."""

from dataclasses import dataclass
from functools import partial

import numpy as np

from netbo.cli.contest import Posing
from netbo.fem import FiniteElementSpace
from netbo.geometry import open_rectangle
from netbo.problems import ACKLEY, Placement, Problem, new_york, new_york_inversion, open_rectangle_benchmark


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
        for placement in (Placement.GAP_END, Placement.INTERIOR)
    )
    return [
        Case("Rectangle, gap end", at_end),
        Case("Rectangle, inside", inside, "demo_rectangle.png", to_scale=False),
    ]


def new_york_case(effort: Effort, seed: int) -> Case:
    """A source to be located, at another random node in every repetition. Needs the extra 'telecom'."""
    new_york()  # says at once what is missing
    seeds = range(seed, seed + effort.repetitions)
    posings = tuple(partial(pose_new_york, each, effort.max_cell[1]) for each in seeds)
    return Case("New York, hidden source", posings, "demo_newyork.png")


def pose_rectangle(placement: Placement, max_cell: float) -> Problem:
    """Measurements have errors of standard deviation 0.05."""
    space = FiniteElementSpace.build(open_rectangle(), max_cell=max_cell)
    return open_rectangle_benchmark(ACKLEY, placement, space=space)


def pose_new_york(seed: int, max_cell: float) -> Problem:
    """Values are exact; the seed draws the source and the errors of the data that tell of it."""
    n_nodes = FiniteElementSpace.build(new_york(), max_cell=max_cell).n_nodes
    source = int(np.random.default_rng(seed).integers(n_nodes))
    return new_york_inversion(source, seed=seed, max_cell=max_cell).problem()
