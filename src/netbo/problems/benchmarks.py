"""The paper's benchmarks on the open rectangle, with the optimum where one wants it (ssec:benchmarks)."""

from dataclasses import replace
from enum import Enum

import numpy as np

from netbo.arrays import FloatArray
from netbo.errors import GraphError, ParameterError
from netbo.fem import FiniteElementSpace
from netbo.geometry import MetricGraph, Points, open_rectangle
from netbo.problems.composition import OuterFunction, composed
from netbo.problems.problem import Problem, nearest_nodes

ANCHOR_SPAN = 3.0  # a runs over three waves of Ackley and Rastrigin from one gap end to the other
DEFAULT_CELL = 0.25  # the paper's middle mesh: 301 nodes on the open rectangle
INTERIOR_SHARE = 0.37  # of the total length: neither end, corner, middle nor a simple fraction
NEAR_GAP_SHARE = 0.02


class Placement(Enum):
    """Where on the open rectangle the optimum sits; the paper says nothing, and results hinge on it."""

    GAP_END = "gap-end"  # the left end of the opening, where the paper's tables come out
    INTERIOR = "interior"  # a generic place
    MID_TOP = "mid-top"
    CORNER = "corner"  # top left
    NEAR_GAP = "near-gap"  # 2 % of the total length from the left end of the opening


def open_rectangle_benchmark(
    outer: OuterFunction,
    placement: Placement,
    *,
    graph: MetricGraph | None = None,
    space: FiniteElementSpace | None = None,
    noise: float = 0.05**2,
) -> Problem:
    """g(a(x)) on the open rectangle with its optimum at the placement, scaled to [-1, 0].

    a(v) = opt + 3 (s(v) - s*), where s is the arc length from the left gap end in shares of the total, s* its
    value at the optimum and opt the minimizer of g. Edges follow one another, so a is linear in arc length
    and g(a(x)) is smallest exactly at s*. The optimum is moved to the nearest node of the space (by default
    cells of at most 0.25), so that a search over the nodes can reach it.
    """
    space = _as_space(graph, space)
    graph = space.graph
    _require_rectangle(graph)
    place = _place(graph, space, placement)
    share, optimum = (_arc_length(graph, x) / graph.total_length for x in (graph.vertex_points(), place))
    problem = composed(
        graph,
        outer,
        outer.minimizer + ANCHOR_SPAN * (share - optimum),
        space=space,
        noise=noise,
        name=f"{outer.name}/{placement.value}",
    )
    return replace(problem, maximizers=place)  # the node itself, not a rounding error beside it


def _as_space(graph: MetricGraph | None, space: FiniteElementSpace | None) -> FiniteElementSpace:
    if space is None:
        return FiniteElementSpace.build(open_rectangle() if graph is None else graph, max_cell=DEFAULT_CELL)
    if graph is not None and not graph.has_edges_of(space.graph):
        raise ParameterError(f"the space must lie on {graph!r}, got {space.graph!r}; pass only the space")
    return space


def _require_rectangle(graph: MetricGraph) -> None:
    path = np.arange(5)
    if not (np.array_equal(graph.tails, path) and np.array_equal(graph.heads, path + 1)):
        raise GraphError(
            f"this benchmark needs the five edges of open_rectangle() in order, got {graph!r}; "
            "on other networks use composed(graph, outer, placed_anchors(graph, place))"
        )


def _place(graph: MetricGraph, space: FiniteElementSpace, placement: Placement) -> Points:
    """The node nearest to the placement, one point."""
    total = graph.total_length
    wanted = {
        Placement.GAP_END: 0.0,
        Placement.INTERIOR: INTERIOR_SHARE * total,
        Placement.MID_TOP: graph.lengths[:2].sum() + graph.lengths[2] / 2,
        Placement.CORNER: graph.lengths[:2].sum(),
        Placement.NEAR_GAP: NEAR_GAP_SHARE * total,
    }[placement]
    begins = _begins(graph)
    edge = np.searchsorted(begins, [wanted], side="right") - 1
    return space.nodes[nearest_nodes(space, Points(edge, wanted - begins[edge], graph=graph))]


def _arc_length(graph: MetricGraph, x: Points) -> FloatArray:
    """Distance along the path from vertex 0."""
    return _begins(graph)[x.edge] + x.z


def _begins(graph: MetricGraph) -> FloatArray:
    """Arc length at the tail of each edge."""
    return np.concatenate([[0.0], np.cumsum(graph.lengths)[:-1]])
