"""Networks without chance: interval, circle, star, open rectangle, grid."""

import numpy as np

from netbo.errors import ParameterError
from netbo.geometry.graph import MetricGraph

CIRCLE_CORNERS = 128  # the drawing is within 0.03 % of the radius


def interval(length: float = 1.0) -> MetricGraph:
    """One edge between two vertices, drawn from (0, 0) to (length, 0).

    >>> interval(3.0)
    MetricGraph(2 vertices, 1 edge, total length 3, 1 component)
    """
    return MetricGraph([0], [1], [length], positions=[[0.0, 0.0], [length, 0.0]])


def circle(length: float = 1.0) -> MetricGraph:
    """One loop at one vertex, drawn as a polygon around (0, 0) but of exactly the given length."""
    radius = length / (2 * np.pi)
    angle = np.linspace(0.0, 2 * np.pi, CIRCLE_CORNERS + 1)
    corners = radius * np.stack([np.cos(angle), np.sin(angle)], axis=1)
    corners[-1] = corners[0]
    return MetricGraph([0], [0], [length], curves=[corners])


def star(n_arms: int, length: float = 1.0) -> MetricGraph:
    """Edges of one length from vertex 0 at the centre, at equal angles."""
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


def open_rectangle(width: float = 36.0, height: float = 2.0, gap: float = 1.0) -> MetricGraph:
    """Outline of a rectangle with a gap in the middle of its bottom side: close in the plane, far by road.

    Vertices in order: left gap end, bottom left, top left, top right, bottom right, right gap end; edges join
    neighbours. The total length is 2 width + 2 height - gap, by default 75.

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
    """Open rectangle of width 36.5, height 1 and gap 0.2: a harder one, of total length 74.8 (not 75)."""
    return open_rectangle(width=36.5, height=1.0, gap=0.2)


def grid(rows: int, columns: int, spacing: float = 1.0) -> MetricGraph:
    """Rectangular street grid; vertices row by row, first all edges along rows, then those along columns."""
    if rows < 1 or columns < 1 or rows * columns < 2:
        raise ParameterError(
            f"a grid needs at least two crossings, got rows={rows}, columns={columns}; add some"
        )
    index = np.arange(rows * columns).reshape(rows, columns)
    tails = np.concatenate([index[:, :-1].ravel(), index[:-1].ravel()])
    heads = np.concatenate([index[:, 1:].ravel(), index[1:].ravel()])
    positions = spacing * np.stack([index.ravel() % columns, index.ravel() // columns], axis=1)
    return MetricGraph(tails, heads, np.full(len(tails), spacing), positions=positions)
