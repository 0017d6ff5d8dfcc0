"""Stretches of drawn edges: where their curves bend."""

import numpy as np

from netbo.arrays import FloatArray, IntArray
from netbo.geometry.curves import Curves
from netbo.geometry.packed import ranges, rows_of
from netbo.geometry.places import along_edges


def corners_within(
    drawing: Curves, edge: IntArray, start: FloatArray, stop: FloatArray
) -> tuple[IntArray, IntArray]:
    """Number of the stretch and index of the corner, for all corners strictly inside stretches of edges.

    start, stop: fractions of the edges, start <= stop. Corners of a stretch come in order.

    >>> import numpy as np
    >>> from netbo.geometry import MetricGraph
    >>> graph = MetricGraph([0], [1], None, curves=[[[0, 0], [1, 0], [1, 1]]])
    >>> corners_within(graph.drawing, np.array([0, 0]), np.array([0.0, 0.6]), np.array([0.6, 1.0]))
    (array([0]), array([1]))
    """
    corners = along_edges(rows_of(drawing.starts), drawing.fractions)
    first = np.searchsorted(corners, along_edges(edge, start), side="right")
    stops = np.searchsorted(corners, along_edges(edge, stop), side="left")
    counts = np.maximum(stops - first, 0)
    return np.repeat(np.arange(len(edge)), counts), ranges(first, counts)
