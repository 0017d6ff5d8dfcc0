"""One problem and one method to solve it: what is repeated over the seeds of an experiment."""

import hashlib
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from functools import lru_cache
from typing import Any

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

    @property
    def n_init(self) -> int:
        """Queries of the initial design."""
        return int(self.labels["n_init"])

    def fingerprint(self) -> str:
        """Hash of everything that decides its runs, so not of the experiment it belongs to."""
        decisive = (netbo.__version__, self.n_init, self.problem, sorted(self.settings.items()), self.horizon)
        content = repr((*decisive, self.tolerance, self.batch, self.is_continuous))
        return hashlib.sha256(content.encode()).hexdigest()


@dataclass(frozen=True, slots=True)
class Run:
    """Queries of one cell with one seed, in their order."""

    n_nodes: int
    maximum: float
    edge: tuple[str, ...]
    distance: tuple[float, ...]
    value: tuple[float, ...]  # of the objective, without noise
    measured: tuple[float, ...]


def run_cell(cell: Cell, seed: int) -> Run:
    """Queries until one after the design is within the tolerance of the maximum (alg: benchmarks, Stop).

    The seed decides design, samples and measurement errors, so all methods share the first two streams. A
    batch is measured as a whole.
    """
    problem = cell.problem()
    assert problem.space is not None
    candidates = Continuum(problem.graph) if cell.is_continuous else None
    optimizer = Optimizer(problem.space, seed=seed, candidates=candidates, **cell.settings)
    rng = np.random.default_rng([seed, 1])
    places: list[Point] = []
    values: list[float] = []
    measured: list[float] = []
    while (n_asked := len(values)) < cell.n_init + cell.horizon:
        is_design = n_asked < cell.n_init
        left = cell.n_init + cell.horizon - n_asked
        for suggestion in optimizer.ask(1 if is_design else min(cell.batch, left)):
            places.append(suggestion.point)
            values.append(problem(suggestion.point))
            measured.append(problem.measure(suggestion.point, rng))
            optimizer.tell(suggestion, measured[-1])
        if not is_design and problem.maximum - max(values[n_asked:]) <= cell.tolerance:
            break
    return Run(
        problem.space.n_nodes,
        problem.maximum,
        tuple(_edge_name(place) for place in places),
        tuple(place.distance for place in places),
        tuple(values),
        tuple(measured),
    )


def rows_of(run: Run, cell: Cell, seed: int) -> pd.DataFrame:
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
            "regret": run.maximum - value,
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
