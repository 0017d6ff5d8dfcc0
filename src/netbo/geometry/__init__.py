"""Metric graphs and their points: distances, drawings, refinements, shapes."""

from netbo.geometry.curves import Curves
from netbo.geometry.graph import MetricGraph
from netbo.geometry.places import (
    PLACE_TOLERANCE,
    PlaceIndex,
    along_edges,
    distinct_places,
    place_keys,
    place_vertices,
    uniform_points,
)
from netbo.geometry.points import VERTEX_TOLERANCE, Point, Points
from netbo.geometry.shapes import (
    circle,
    grid,
    interval,
    narrow_rectangle,
    open_rectangle,
    road,
    star,
    telecom,
)
from netbo.geometry.transforms import Refinement, contracting, cutting, merge_vertices, merging, splitting

__all__ = [
    "PLACE_TOLERANCE",
    "VERTEX_TOLERANCE",
    "Curves",
    "MetricGraph",
    "PlaceIndex",
    "Point",
    "Points",
    "Refinement",
    "along_edges",
    "circle",
    "contracting",
    "cutting",
    "distinct_places",
    "grid",
    "interval",
    "merge_vertices",
    "merging",
    "narrow_rectangle",
    "open_rectangle",
    "place_keys",
    "place_vertices",
    "road",
    "splitting",
    "star",
    "telecom",
    "uniform_points",
]
