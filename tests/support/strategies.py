"""Random metric graphs, points and seeds for hypothesis."""

import numpy as np
from hypothesis import strategies as st

from netbo.geometry import MetricGraph, Points

MAX_VERTICES, MAX_EDGES = 8, 12


def seeds() -> st.SearchStrategy[int]:
    """Seeds of numpy generators."""
    return st.integers(0, 2**32 - 1)


def lengths() -> st.SearchStrategy[float]:
    """Lengths over two orders of magnitude."""
    return st.floats(0.1, 10.0)


@st.composite
def metric_graphs(draw: st.DrawFn, *, is_drawn: bool = False) -> MetricGraph:
    """Small multigraphs: loops, parallel edges, several components, vertices of any degree."""
    vertex = st.integers(0, draw(st.integers(0, MAX_VERTICES - 1)))
    edges = draw(st.lists(st.tuples(vertex, vertex, lengths()), min_size=1, max_size=MAX_EDGES))
    used, ends = np.unique([edge[:2] for edge in edges], return_inverse=True)
    tails, heads = ends.reshape(-1, 2).T
    drawing = random_drawing(tails, heads, len(used), draw(seeds())) if is_drawn else {}
    return MetricGraph(tails, heads, [edge[2] for edge in edges], **drawing)


@st.composite
def points_on(draw: st.DrawFn, graph: MetricGraph, *, max_size: int = 6) -> Points:
    """Points of a graph, vertices and repeated points among them."""
    fraction = st.one_of(st.sampled_from([0.0, 0.5, 1.0]), st.floats(0.0, 1.0))
    edge = st.integers(0, graph.n_edges - 1)
    places = draw(st.lists(st.tuples(edge, fraction), min_size=1, max_size=max_size))
    return graph.points([place[0] for place in places], fraction=[place[1] for place in places])


def random_drawing(tails: np.ndarray, heads: np.ndarray, n_vertices: int, seed: int) -> dict[str, object]:
    """Keywords of MetricGraph for random positions, and for bent curves on about half of the edges."""
    rng = np.random.default_rng(seed)
    positions = rng.uniform(-3.0, 3.0, (n_vertices, 2))
    bends = rng.uniform(-3.0, 3.0, (len(tails), 3, 2))
    curves = [
        np.concatenate([[positions[tail]], bend, [positions[head]]]) if tail == head or is_bent else None
        for tail, head, bend, is_bent in zip(tails, heads, bends, rng.random(len(tails)) < 0.5, strict=True)
    ]
    return {"positions": positions, "curves": curves}
