"""An objective on a network whose maximum is known; those known at nodes of a mesh or along every edge."""

from collections.abc import Callable
from dataclasses import dataclass, replace
from functools import cached_property
from typing import Self, overload

import numpy as np
from numpy.random import Generator
from numpy.typing import ArrayLike

from netbo.arrays import FloatArray, IntArray, as_float_vector, read_only, require_finite, row_starts, rows_of
from netbo.checks import explained, require_nonnegative
from netbo.errors import ParameterError
from netbo.fem import FiniteElementSpace
from netbo.geometry import MetricGraph, Point, Points

Objective = Callable[[Points], FloatArray]

ATTAINED = 1e-6  # relative; a maximum farther from the value at its maximizers is a mistake, not rounding
SCANNED = 4_000  # places, about, at which the smallest value of an objective is looked for


@dataclass(frozen=True, eq=False)
class Problem:
    """An objective on a network whose maximum is known; higher is better.

    objective: f without noise, from n points to (n,) values. An object of a class, not a lambda, lets the
        problem travel to other processes.
    maximizers: where the maximum is attained, one point or more.
    noise: variance of a measurement.
    space: the mesh whose nodes the objective is defined on or is meant to be searched over, if any.

    >>> from netbo import interval
    >>> from netbo.problems import ACKLEY, composed
    >>> problem = composed(interval(), ACKLEY, [-1.0, 1.0])
    >>> problem.maximizers[0].distance, float(problem.regret(problem.maximizers)[0])
    (0.5, 0.0)
    """

    name: str
    graph: MetricGraph
    objective: Objective
    maximum: float
    maximizers: Points
    noise: float = 0.0
    space: FiniteElementSpace | None = None

    def __post_init__(self) -> None:
        require_nonnegative("noise", self.noise, "0 is a measurement without noise", kind="a finite variance")
        if self.space is not None and not self.graph.has_edges_of(self.space.graph):
            raise ParameterError(
                f"the space must lie on the graph of the problem, {self.graph!r}, got {self.space.graph!r}; "
                "build it with FiniteElementSpace.build(graph, max_cell=...)"
            )
        object.__setattr__(self, "maximizers", self.graph.bind(self.maximizers))
        self._require_attained()

    def _require_attained(self) -> None:
        if not len(self.maximizers):
            raise ParameterError("a problem needs a maximizer, got none; give one point where f is largest")
        values = self.objective(self.maximizers)
        worst = values[np.argmax(np.abs(values - self.maximum))]
        if not abs(worst - self.maximum) <= ATTAINED * (1 + abs(self.maximum)):
            raise ParameterError(
                f"the maximum must be attained at the maximizers, got {worst} there and "
                f"maximum={self.maximum}; evaluate the objective at them"
            )

    @overload
    def __call__(self, x: Point) -> float: ...
    @overload
    def __call__(self, x: Points) -> FloatArray: ...
    def __call__(self, x: Point | Points) -> float | FloatArray:
        """f without noise: a number at a `Point`, (n,) at `Points`."""
        if isinstance(x, Point):
            return float(self.objective(Points.at(x, graph=self.graph))[0])
        return self.objective(self.graph.bind(x))

    @overload
    def measure(self, x: Point, rng: Generator) -> float: ...
    @overload
    def measure(self, x: Points, rng: Generator) -> FloatArray: ...
    def measure(self, x: Point | Points, rng: Generator) -> float | FloatArray:
        """y = f(x) + N(0, noise) (eq:obsevation), independent at every point, also at repeated ones."""
        if isinstance(x, Point):
            return self(x) + float(np.sqrt(self.noise) * rng.standard_normal())
        deviations: FloatArray = np.sqrt(self.noise) * rng.standard_normal(len(x))
        return self(x) + deviations

    @overload
    def regret(self, x: Point) -> float: ...
    @overload
    def regret(self, x: Points) -> FloatArray: ...
    def regret(self, x: Point | Points) -> float | FloatArray:
        """max f - f(x), without noise."""
        return self.maximum - self(x)

    @cached_property
    def spread(self) -> float:
        """max f - min f, the smallest value over some 4,000 places: the scale on which a regret is judged."""
        points, _ = edgewise_places(self.graph, self.graph.total_length / SCANNED)
        return self.maximum - float(self.objective(points).min())

    def reachable_regret(self, candidates: Points) -> float:
        """Regret of the best candidate: what a search over the candidates cannot get below."""
        return self.maximum - self.on(candidates).maximum

    def on(self, candidates: Points) -> Self:
        """The same objective judged against the best of the candidates instead of the whole network."""
        if not len(candidates):
            raise ParameterError("a search needs candidates, got none; pass space.nodes")
        values = self(candidates)
        best = float(values.max())
        return replace(self, maximum=best, maximizers=self.graph.bind(candidates)[values == best])


# Objectives known at the nodes of a mesh; between them linear, so the maximum is at a node.


@dataclass(frozen=True, eq=False)
class NodalFunction:
    """The function of V_h with given values at the nodes."""

    space: FiniteElementSpace
    values: FloatArray  # (N_h,)

    def __call__(self, x: Points) -> FloatArray:
        """Values at the points, (n,); linear between nodes."""
        return self.space.locate(x).interpolate(self.values)


@explained
def nodal_problem(
    name: str, space: FiniteElementSpace, values: ArrayLike, *, scaled: bool = False, noise: float = 0.0
) -> Problem:
    """Problem with given values at the nodes; `scaled` maps them to [-1, 0]."""
    nodal = as_float_vector(values, "nodal values", ParameterError)
    if len(nodal) != space.n_nodes:
        raise ParameterError(
            f"nodal values must be one for each of {space.n_nodes} nodes, got {len(nodal)}; "
            "order them as space.nodes"
        )
    require_finite(nodal, "nodal values", ParameterError, "an objective needs a number at every node")
    if scaled:
        if not np.ptp(nodal) > 0:
            raise ParameterError(
                f"values must vary to be scaled, got {nodal[0]} at all {len(nodal)} nodes; pass scaled=False"
            )
        nodal = (nodal - nodal.max()) / np.ptp(nodal)
    highest = float(nodal.max())
    return Problem(
        name=name,
        graph=space.graph,
        objective=NodalFunction(space, np.asarray(read_only(nodal))),
        maximum=highest,
        maximizers=space.nodes[np.flatnonzero(nodal == highest)],
        noise=noise,
        space=space,
    )


def nearest_nodes(space: FiniteElementSpace, x: Points) -> IntArray:
    """Index of the node at the nearer end of each point's cell, the one towards the tail in a tie."""
    at = space.locate(x)
    return np.where(at.fraction > 0.5, at.right, at.left)


# Objectives known along every edge by itself: they may jump where edges meet.


@dataclass(frozen=True, eq=False)
class EdgewiseFunction:
    """Linear between equally spaced places of every edge; at a vertex each edge has a value of its own."""

    graph: MetricGraph
    starts: IntArray  # (n_edges + 1,): the values of edge e are starts[e] .. starts[e + 1] - 1, tail to head
    values: FloatArray

    def __call__(self, x: Points) -> FloatArray:
        """Values at the points, (n,)."""
        first, last = self.starts[x.edge], self.starts[x.edge + 1] - 1
        along = x.z / self.graph.lengths[x.edge] * (last - first)
        left = np.minimum(first + along.astype(np.int64), last - 1)
        share = first + along - left
        return np.asarray((1 - share) * self.values[left] + share * self.values[left + 1])


def edgewise_places(graph: MetricGraph, max_cell: float) -> tuple[Points, IntArray]:
    """Equally spaced places of every edge from end to end, at most `max_cell` apart; where rows start."""
    cells = np.maximum(np.ceil(graph.lengths / max_cell), 2).astype(np.int64)
    starts = row_starts(cells + 1)
    edge = rows_of(starts)
    share = (np.arange(len(edge)) - starts[edge]) / cells[edge]
    return Points(edge, share * graph.lengths[edge], graph=graph), starts


def edgewise_problem(name: str, graph: MetricGraph, objective: Objective, *, max_cell: float) -> Problem:
    """An objective as it is at equally spaced places of every edge, and linear between them."""
    points, starts = edgewise_places(graph, max_cell)
    values = np.asarray(objective(points), dtype=np.float64)
    require_finite(values, "values", ParameterError, "an objective needs a number everywhere")
    highest = float(values.max())
    function = EdgewiseFunction(graph, starts, np.asarray(read_only(values)))
    return Problem(name, graph, function, highest, points[np.flatnonzero(values == highest)])
