"""The observed places at which the objective may be largest."""

import numpy as np

from netbo.geometry import Points
from netbo.posterior import Surrogate

OPTIMISM = 2.0  # standard deviations above the mean by which places are ranked


def observed_places(surrogate: Surrogate) -> Points:
    """The observed points, each place once; a vertex is one place, from whichever edge it is addressed."""
    points = surrogate.observations.points
    edge, z = points.edge, points.z
    if points.graph is not None:
        graph = points.graph
        at_head = z == graph.lengths[edge]
        is_vertex = at_head | (z == 0)
        vertex = np.where(at_head, graph.heads[edge], graph.tails[edge])
        edge, z = np.where(is_vertex, -1 - vertex, edge), np.where(is_vertex, 0.0, z)
    _, first = np.unique(np.stack([edge.astype(np.float64), z]), axis=1, return_index=True)
    return points[np.sort(first)]


def likely_incumbents(surrogate: Surrogate, n: int) -> Points:
    """At most n observed places with the largest mean + 2 std, largest first."""
    places = observed_places(surrogate)
    upper = surrogate.mean(places) + OPTIMISM * surrogate.std(places)
    return places[np.argsort(-upper, kind="stable")[:n]]
