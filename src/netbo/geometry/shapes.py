"""Networks of known shape, for examples, tests and benchmarks; all of them are drawn."""

import numpy as np
from numpy.random import Generator
from scipy.sparse import csr_array
from scipy.sparse.csgraph import minimum_spanning_tree

from netbo.arrays import BoolArray, FloatArray, IntArray
from netbo.checks import explained, require_seed
from netbo.errors import ParameterError
from netbo.geometry.curves import Curves
from netbo.geometry.graph import MetricGraph

# Networks without chance: interval, circle, star, open rectangle, grid.

CIRCLE_CORNERS = 128  # the drawing is within 0.03 % of the radius


@explained
def interval(length: float = 1.0) -> MetricGraph:
    """One edge between two vertices, drawn from (0, 0) to (length, 0).

    Parameters
    ----------
    length : float, default 1.0
        Of the edge.

    Returns
    -------
    MetricGraph
        With edge 0 from vertex 0 to vertex 1.

    Examples
    --------
    >>> interval(3.0)
    MetricGraph(2 vertices, 1 edge, total length 3, 1 component)
    """
    return MetricGraph([0], [1], [length], positions=[[0.0, 0.0], [length, 0.0]])


@explained
def circle(length: float = 1.0) -> MetricGraph:
    """One loop at one vertex, drawn as a polygon around (0, 0) but of exactly the given length.

    Parameters
    ----------
    length : float, default 1.0
        Of the loop.

    Returns
    -------
    MetricGraph
        With edge 0 from vertex 0 to itself.

    Examples
    --------
    >>> circle().diameter
    0.5
    """
    radius = length / (2 * np.pi)
    angle = np.linspace(0.0, 2 * np.pi, CIRCLE_CORNERS + 1)
    corners = radius * np.stack([np.cos(angle), np.sin(angle)], axis=1)
    corners[-1] = corners[0]
    return MetricGraph([0], [0], [length], curves=[corners])


@explained
def star(n_arms: int, length: float = 1.0) -> MetricGraph:
    """Edges of one length from vertex 0 at the centre, at equal angles.

    Parameters
    ----------
    n_arms : int
        Number of edges.
    length : float, default 1.0
        Of each edge.

    Returns
    -------
    MetricGraph
        With edge k from vertex 0 to vertex k + 1.

    Raises
    ------
    ParameterError
        If there is no arm.

    Examples
    --------
    >>> star(3, 2.0)
    MetricGraph(4 vertices, 3 edges, total length 6, 1 component)
    """
    if n_arms < 1:
        raise ParameterError(f"a star needs at least one arm, got n_arms={n_arms}; three make a fork")
    angle = 2 * np.pi * np.arange(n_arms) / n_arms
    tips = length * np.stack([np.cos(angle), np.sin(angle)], axis=1)
    return MetricGraph(
        np.zeros(n_arms, dtype=np.int64),
        np.arange(1, n_arms + 1),
        np.full(n_arms, length),
        positions=np.concatenate([np.zeros((1, 2)), tips]),
    )


@explained
def open_rectangle(width: float = 36.0, height: float = 2.0, gap: float = 1.0) -> MetricGraph:
    """Outline of a rectangle with a gap in the middle of its bottom side: close in the plane, far by road.

    Vertices in order: left gap end, bottom left, top left, top right, bottom right, right gap end; edges join
    neighbours. The total length is 2 width + 2 height - gap, by default 75.

    Parameters
    ----------
    width, height : float
        Of the rectangle, by default 36 and 2.
    gap : float, default 1.0
        Length of the opening.

    Returns
    -------
    MetricGraph
        A path of five edges.

    Raises
    ------
    ParameterError
        If the gap is not shorter than the bottom side.

    Examples
    --------
    >>> open_rectangle()
    MetricGraph(6 vertices, 5 edges, total length 75, 1 component)
    """
    if not 0 < gap < width:
        raise ParameterError(
            f"the gap must lie within the bottom side, got gap={gap}, width={width}; lower gap"
        )
    side = (width - gap) / 2
    corners: list[list[float]] = [
        [side, 0],
        [0, 0],
        [0, height],
        [width, height],
        [width, 0],
        [width - side, 0],
    ]
    return MetricGraph(range(5), range(1, 6), [side, height, width, height, side], positions=corners)


def narrow_rectangle() -> MetricGraph:
    """Open rectangle of width 36.5, height 1 and gap 0.2: a harder one, of total length 74.8 (not 75).

    Returns
    -------
    MetricGraph
        As by `open_rectangle`.

    Examples
    --------
    >>> narrow_rectangle()
    MetricGraph(6 vertices, 5 edges, total length 74.8, 1 component)
    """
    return open_rectangle(width=36.5, height=1.0, gap=0.2)


@explained
def grid(rows: int, columns: int, spacing: float = 1.0) -> MetricGraph:
    """Rectangular street grid; vertices row by row, first all edges along rows, then those along columns.

    Parameters
    ----------
    rows, columns : int
        Crossings in each direction.
    spacing : float, default 1.0
        Length of every edge.

    Returns
    -------
    MetricGraph
        With rows x columns vertices.

    Raises
    ------
    ParameterError
        If there are fewer than two crossings.

    Examples
    --------
    >>> grid(3, 4)
    MetricGraph(12 vertices, 17 edges, total length 17, 1 component)
    """
    if rows < 1 or columns < 1 or rows * columns < 2:
        raise ParameterError(
            f"a grid needs at least two crossings, got rows={rows}, columns={columns}; add some"
        )
    index = np.arange(rows * columns).reshape(rows, columns)
    tails = np.concatenate([index[:, :-1].ravel(), index[:-1].ravel()])
    heads = np.concatenate([index[:, 1:].ravel(), index[1:].ravel()])
    positions = spacing * np.stack([index.ravel() % columns, index.ravel() // columns], axis=1)
    return MetricGraph(tails, heads, np.full(len(tails), spacing), positions=positions)


# Random networks that look like roads and like telecommunication backbones.

MEAN_DEGREE = 3.0  # streets mostly meet in threes
JITTER = 0.2  # of a crossing, and
BEND = 0.06  # of a road, in shares of the spacing: small enough that no two roads cross
CORNERS = 7  # of a road


@explained
def road(n_vertices: int, *, seed: int, spacing: float = 1.0) -> MetricGraph:
    """Roads in a connected planar network: jittered crossings, mean degree about three, slightly bent roads.

    Lengths are the drawn ones. A spanning tree chosen at random keeps it connected; further roads between
    neighbours fill it up.

    Parameters
    ----------
    n_vertices : int
        Number of crossings.
    seed : int
        Of the random numbers.
    spacing : float, default 1.0
        Between neighbouring crossings, about.

    Returns
    -------
    MetricGraph
        With curves.

    Raises
    ------
    ParameterError
        If there are fewer than two crossings.

    Examples
    --------
    >>> graph = road(100, seed=0)
    >>> graph.n_vertices, graph.is_connected
    (100, True)
    """
    if n_vertices < 2:
        raise ParameterError(f"a road network needs two crossings, got n_vertices={n_vertices}; ask for more")
    rng = np.random.default_rng(require_seed(seed))
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


@explained
def telecom(n_vertices: int, *, attachments: int = 5, seed: int) -> MetricGraph:
    """Links of a connected network with hubs, by preferential attachment in the unit square.

    Each vertex after the first ones links to `attachments` distinct earlier vertices, drawn with probability
    proportional to their degrees. Links are straight and as long as drawn.

    Parameters
    ----------
    n_vertices : int
        Number of vertices.
    attachments : int, default 5
        Links of every newcomer.
    seed : int
        Of the random numbers.

    Returns
    -------
    MetricGraph
        With (n_vertices - attachments) x attachments edges.

    Raises
    ------
    ParameterError
        If there are not more vertices than attachments.

    Examples
    --------
    >>> telecom(50, seed=0).n_edges
    225
    """
    if not 1 <= attachments < n_vertices:
        raise ParameterError(
            f"attachments must lie in 1..{n_vertices - 1} for {n_vertices} vertices, got {attachments}; "
            "lower attachments"
        )
    rng = np.random.default_rng(require_seed(seed))
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


__all__ = [
    "circle",
    "grid",
    "interval",
    "narrow_rectangle",
    "open_rectangle",
    "road",
    "star",
    "telecom",
]
