"""How thick lines may be before neighbours run into one another."""

import numpy as np
from matplotlib.axes import Axes

from netbo.arrays import FloatArray
from netbo.geometry import MetricGraph
from netbo.plotting import style
from netbo.plotting.pieces import cut_into_pieces

POINTS_AN_INCH = 72.0
SQUARE = 3 * style.FIELD_WIDTH  # side of the squares in which lines are counted
SAMPLES = 2000  # pieces of the network: shorter than a square
FILLED = 0.6  # share of the room between lines that a line may take: less would pale the colours


def field_width(graph: MetricGraph, ax: Axes) -> float:
    """Line width in points that suits a field in these axes: the usual one, less where edges lie close.

    Lines of total length L that pass through m squares of side c are m c^2 / L apart.
    """
    segments = cut_into_pieces(graph, SAMPLES).segments
    low, high = segments.min(axis=(0, 1)), segments.max(axis=(0, 1))
    extent = np.where(high > low, high - low, 1.0)
    room = axes_size(ax)
    scale = np.full(2, (room / extent).min()) if ax.get_aspect() != "auto" else room / extent
    middles = (segments.mean(axis=1) - low) * scale
    length = float(np.linalg.norm((segments[:, 1] - segments[:, 0]) * scale, axis=1).sum())
    squares = np.floor(middles / SQUARE).astype(np.int64)
    used = len(np.unique(squares[:, 0] * (squares[:, 1].max() + 1) + squares[:, 1]))
    apart = used * SQUARE**2 / length if length > 0 else np.inf
    return float(np.clip(FILLED * apart, style.LEAST_WIDTH, style.FIELD_WIDTH))


def axes_size(ax: Axes) -> FloatArray:
    """Width and height of the axes in points, before a layout shrinks them."""
    figure = ax.figure
    share = ax.get_position(original=True)
    inches = figure.get_size_inches() if hasattr(figure, "get_size_inches") else np.array([6.0, 6.0])
    return np.asarray(POINTS_AN_INCH * inches * [share.width, share.height], dtype=np.float64)
