"""The problems of the experiments, built where they are solved and once in each process."""

from dataclasses import dataclass
from functools import lru_cache

import numpy as np

from netbo.fem import FiniteElementSpace
from netbo.geometry import open_rectangle
from netbo.problems import (
    OUTER_FUNCTIONS,
    Placement,
    Problem,
    SourceInversion,
    new_york,
    open_rectangle_benchmark,
)

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
