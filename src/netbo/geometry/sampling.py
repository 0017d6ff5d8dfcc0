"""Random points of a network."""

from numpy.random import Generator

from netbo.errors import ParameterError
from netbo.geometry.graph import MetricGraph
from netbo.geometry.points import Points


def uniform_points(graph: MetricGraph, n: int, rng: Generator) -> Points:
    """Independent points, n of them, uniform in length."""
    if n < 0:
        raise ParameterError(f"n counts points, got {n}; ask for 0 or more")
    edge = rng.choice(graph.n_edges, size=n, p=graph.lengths / graph.total_length)
    # The place is drawn apart from the edge: one number for both would leave a short edge only its last
    # digits.
    return Points(edge, rng.random(n) * graph.lengths[edge], graph=graph)
