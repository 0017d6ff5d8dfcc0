"""Random networks that look like roads and like telecommunication backbones."""

import numpy as np
from numpy.random import Generator
from scipy.sparse import csr_array
from scipy.sparse.csgraph import minimum_spanning_tree

from netbo.arrays import BoolArray, FloatArray, IntArray
from netbo.errors import ParameterError
from netbo.geometry.curves import Curves
from netbo.geometry.graph import MetricGraph

MEAN_DEGREE = 3.0  # streets mostly meet in threes
JITTER = 0.2  # of a crossing, and
BEND = 0.06  # of a road, in shares of the spacing: small enough that no two roads cross
CORNERS = 7  # of a road


def road(n_vertices: int, *, seed: int, spacing: float = 1.0) -> MetricGraph:
    """Roads in a connected planar network: jittered crossings, mean degree about three, slightly bent roads.

    Lengths are the drawn ones. A spanning tree chosen at random keeps it connected; further roads between
    neighbours fill it up.
    """
    if n_vertices < 2:
        raise ParameterError(f"a road network needs two crossings, got n_vertices={n_vertices}; ask for more")
    rng = np.random.default_rng(seed)
    columns = int(np.ceil(np.sqrt(n_vertices)))
    index = np.arange(n_vertices)
    crossings = np.stack([index % columns, index // columns], axis=1) + rng.uniform(
        -JITTER, JITTER, (n_vertices, 2)
    )
    is_last = index % columns == columns - 1
    tails = np.concatenate([index[:-1][~is_last[:-1]], index[:-columns]])
    heads = np.concatenate([index[1:][~is_last[:-1]], index[columns:]])
    built = _connected_subset(tails, heads, n_vertices, rng)
    tails, heads = tails[built], heads[built]
    curves = _bent(spacing * crossings[tails], spacing * crossings[heads], rng)
    return MetricGraph(tails, heads, None, curves=curves, positions=spacing * crossings)


def telecom(n_vertices: int, *, attachments: int = 5, seed: int) -> MetricGraph:
    """Links of a connected network with hubs, by preferential attachment in the unit square.

    Each vertex after the first ones links to `attachments` distinct earlier vertices, drawn with probability
    proportional to their degrees. Links are straight and as long as drawn.
    """
    if not 1 <= attachments < n_vertices:
        raise ParameterError(
            f"attachments must lie in 1..{n_vertices - 1} for {n_vertices} vertices, got {attachments}; "
            "lower attachments"
        )
    rng = np.random.default_rng(seed)
    tails = np.repeat(np.arange(attachments, n_vertices), attachments)
    heads = np.empty_like(tails)
    ends = np.empty(2 * len(tails), dtype=np.int64)  # every vertex as often as its degree
    for newcomer in range(attachments, n_vertices):
        filled = (newcomer - attachments) * attachments
        new = slice(filled, filled + attachments)
        heads[new] = _distinct_hubs(ends[: 2 * filled], attachments, rng)
        ends[2 * filled : 2 * filled + attachments] = heads[new]
        ends[2 * filled + attachments : 2 * (filled + attachments)] = newcomer
    return MetricGraph(tails, heads, None, positions=rng.random((n_vertices, 2)))


def _distinct_hubs(ends: IntArray, count: int, rng: Generator) -> IntArray:
    """`count` distinct entries of ends; the first newcomer links to all earlier vertices."""
    if not len(ends):
        return np.arange(count)
    chosen: dict[int, None] = {}  # a set that remembers the order, for the same network on every machine
    while len(chosen) < count:
        chosen.update(dict.fromkeys(ends[rng.integers(len(ends), size=count)].tolist()))
    return np.array(list(chosen)[:count])


def _connected_subset(tails: IntArray, heads: IntArray, n_vertices: int, rng: Generator) -> BoolArray:
    """Random spanning tree, and random further edges up to the mean degree."""
    weights = rng.uniform(1.0, 2.0, len(tails))
    links = csr_array((weights, (tails, heads)), shape=(n_vertices, n_vertices))
    tree = minimum_spanning_tree(links).tocoo()
    is_tree = np.isin(tails * n_vertices + heads, tree.row.astype(np.int64) * n_vertices + tree.col)
    n_extra = round(MEAN_DEGREE * n_vertices / 2) - (n_vertices - 1)
    others = rng.permutation(np.flatnonzero(~is_tree))[: max(n_extra, 0)]
    is_tree[others] = True
    return np.asarray(is_tree)


def _bent(tails: FloatArray, heads: FloatArray, rng: Generator) -> Curves:
    """Half a sine wave of random height over every straight line."""
    share = np.linspace(0.0, 1.0, CORNERS)[None, :, None]
    span = (heads - tails)[:, None, :]
    normal = np.stack([-span[..., 1], span[..., 0]], axis=-1)
    height = rng.uniform(-BEND, BEND, (len(tails), 1, 1)) * np.sin(np.pi * share)
    corners = tails[:, None, :] + share * span + height * normal
    corners[:, -1] = heads
    return Curves.proportional(corners.reshape(-1, 2), CORNERS * np.arange(len(tails) + 1))
