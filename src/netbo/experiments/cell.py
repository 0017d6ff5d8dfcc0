"""One problem and one method to solve it: what is repeated over the seeds of an experiment."""

import hashlib
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from functools import lru_cache
from typing import Any, Protocol

import numpy as np
import pandas as pd

import netbo
from netbo.fem import FiniteElementSpace
from netbo.geometry import Point, open_rectangle
from netbo.optimize import Continuum, Optimizer
from netbo.problems import (
    OUTER_FUNCTIONS,
    Placement,
    Problem,
    SourceInversion,
    new_york,
    open_rectangle_benchmark,
)

Label = str | float | int

COLUMNS = (
    "experiment", "cell", "problem", "placement", "source", "method", "kernel", "acquisition", "preset", "b",
    "n_init", "max_cell", "n_nodes", "seed", "query", "iteration", "is_design", "edge", "distance", "value",
    "measured", "regret", "maximum",
)  # fmt: skip
NO_LABEL: Mapping[str, Label] = {  # where a label does not apply
    "problem": "", "placement": "", "source": "", "method": "", "kernel": "", "acquisition": "", "preset": "",
    "b": np.nan, "n_init": 0, "max_cell": np.nan,
}  # fmt: skip


@dataclass(frozen=True, slots=True)
class Run:
    """Queries of one cell with one seed, in their order."""

    n_nodes: int
    maximum: float
    edge: tuple[str, ...]
    distance: tuple[float, ...]
    value: tuple[float, ...]  # of the objective, without noise
    measured: tuple[float, ...]
    answers: Mapping[str, float] = field(default_factory=dict)  # of a method that answers, at the end


@dataclass(slots=True)
class Queries:
    """A run while it is made."""

    place: list[Point] = field(default_factory=list)
    value: list[float] = field(default_factory=list)
    measured: list[float] = field(default_factory=list)

    def add(self, problem: Problem, place: Point, rng: np.random.Generator) -> float:
        """Measure at a place."""
        self.place.append(place)
        self.value.append(problem(place))
        self.measured.append(problem.measure(place, rng))
        return self.measured[-1]

    def run(self, problem: Problem, n_nodes: int, answers: Mapping[str, float] | None = None) -> Run:
        """All queries, finished."""
        return Run(
            n_nodes,
            problem.maximum,
            tuple(_edge_name(place) for place in self.place),
            tuple(place.distance for place in self.place),
            tuple(self.value),
            tuple(self.measured),
            answers or {},
        )


class Repeatable(Protocol):
    """What is repeated over seeds: a problem and a way to search it."""

    @property
    def key(self) -> str:
        """Name of its folder."""

    @property
    def labels(self) -> Mapping[str, Label]:
        """Columns of the table."""

    @property
    def n_init(self) -> int:
        """Queries of the initial design."""

    @property
    def spread(self) -> float:
        """What regrets are divided by in the table."""

    def fingerprint(self) -> str:
        """Hash of everything that decides its runs."""

    def run(self, seed: int) -> Run:
        """The run with a seed."""


@dataclass(frozen=True, eq=False)
class Cell:
    """A problem and a method; `labels` are columns of the table.

    problem: builds it where it runs; arrays that travel arrive writable, and kernels would be compiled anew.
    settings: of `Optimizer`. The initial design is that of the settings; labels["n_init"] is its size.
    horizon: queries after the design, at most.
    """

    key: str  # names its folder
    labels: Mapping[str, Label]
    problem: Callable[[], Problem]
    settings: Mapping[str, Any]
    horizon: int
    tolerance: float
    batch: int = 1  # queries asked for at once
    is_continuous: bool = False  # searches the network between the nodes, too
    spread: float = 1.0  # regrets are as they are

    @property
    def n_init(self) -> int:
        """Queries of the initial design."""
        return int(self.labels["n_init"])

    def fingerprint(self) -> str:
        """Hash of everything that decides its runs, so not of the experiment it belongs to."""
        decisive = (netbo.__version__, self.n_init, self.problem, sorted(self.settings.items()), self.horizon)
        content = repr((*decisive, self.tolerance, self.batch, self.is_continuous))
        return hashlib.sha256(content.encode()).hexdigest()

    def run(self, seed: int) -> Run:
        """Queries until one after the design is within the tolerance of the maximum (alg: benchmarks, Stop).

        The seed decides design, samples and measurement errors, so all methods share the first two streams. A
        batch is measured as a whole.
        """
        problem = self.problem()
        assert problem.space is not None
        candidates = Continuum(problem.graph) if self.is_continuous else None
        optimizer = Optimizer(problem.space, seed=seed, candidates=candidates, **self.settings)
        rng, made = np.random.default_rng([seed, 1]), Queries()
        while (n_asked := len(made.value)) < self.n_init + self.horizon:
            is_design = n_asked < self.n_init
            left = self.n_init + self.horizon - n_asked
            for suggestion in optimizer.ask(1 if is_design else min(self.batch, left)):
                optimizer.tell(suggestion, made.add(problem, suggestion.point, rng))
            if not is_design and problem.maximum - max(made.value[n_asked:]) <= self.tolerance:
                break
        return made.run(problem, problem.space.n_nodes)


def run_cell(cell: Repeatable, seed: int) -> Run:
    """The run of a cell with a seed: a function, so that it can be sent to other processes."""
    return cell.run(seed)


def rows_of(run: Run, cell: Repeatable, seed: int) -> pd.DataFrame:
    """The run as rows of the tidy table, one a query."""
    query = np.arange(len(run.value))
    value = np.array(run.value, dtype=np.float64)
    return pd.DataFrame(
        {
            **NO_LABEL,
            "experiment": "",
            "cell": cell.key,
            **cell.labels,
            "n_nodes": run.n_nodes,
            "seed": seed,
            "query": query,
            "iteration": np.maximum(query - cell.n_init + 1, 0),
            "is_design": query < cell.n_init,
            "edge": run.edge,
            "distance": run.distance,
            "value": value,
            "measured": run.measured,
            "regret": (run.maximum - value) / cell.spread,
            "maximum": run.maximum,
        }
    )[list(COLUMNS)]


def _edge_name(place: Point) -> str:
    names = place.edge_id
    return "-".join(str(name) for name in names) if isinstance(names, tuple) else str(names)


# The problems of the experiments, built where they are solved and once in each process.

SOURCE_SEED = 0  # of the choice of sources: the same whatever the seed of the repetitions


@dataclass(frozen=True, slots=True)
class Rectangle:
    """A benchmark function on the open rectangle, its optimum at the placement (ssec:benchmarks)."""

    function: str
    placement: str
    max_cell: float
    noise: float

    def __call__(self) -> Problem:
        """The problem."""
        return _rectangle(self)


@dataclass(frozen=True, slots=True)
class Source:
    """The log-posterior of a hidden source on New York (ssec:MAP)."""

    node: int
    max_cell: float

    def inversion(self) -> SourceInversion:
        """The inverse problem itself: solution, data and log-posterior."""
        return SourceInversion(_new_york(self.max_cell), source=self.node, seed=self.node)

    def __call__(self) -> Problem:
        """The problem."""
        return _source(self)


def draw_sources(n: int, max_cell: float) -> list[Source]:
    """n sources at different random nodes; needs the extra 'telecom'."""
    n_nodes = _new_york(max_cell).n_nodes
    nodes = np.random.default_rng(SOURCE_SEED).choice(n_nodes, min(n, n_nodes), replace=False)
    return [Source(int(node), max_cell) for node in nodes]


@lru_cache(maxsize=64)
def _rectangle(pose: Rectangle) -> Problem:
    space = FiniteElementSpace.build(open_rectangle(), max_cell=pose.max_cell)
    outer, placement = OUTER_FUNCTIONS[pose.function], Placement(pose.placement)
    return open_rectangle_benchmark(outer, placement, space=space, noise=pose.noise)


@lru_cache(maxsize=64)
def _source(pose: Source) -> Problem:
    return pose.inversion().problem()


@lru_cache(maxsize=8)
def _new_york(max_cell: float) -> FiniteElementSpace:
    return FiniteElementSpace.build(new_york(), max_cell=max_cell)
