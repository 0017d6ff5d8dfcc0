"""Metric graphs and their points: distances, drawings, refinements, shapes."""

from netbo.geometry.addresses import Address, Addresses
from netbo.geometry.curves import Curves
from netbo.geometry.graph import MetricGraph
from netbo.geometry.miniature import graph_facts, thumbnail
from netbo.geometry.places import (
    PLACE_TOLERANCE,
    PlaceIndex,
    as_place,
    as_places,
    distinct_places,
    is_pair,
    mean_distances,
    place_keys,
    place_vertices,
    uniform_points,
)
from netbo.geometry.points import VERTEX_TOLERANCE, Point, Points, along_edges
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
from netbo.geometry.transforms import (
    Refinement,
    contract,
    cut_at,
    merge_degree_two,
    merge_vertices,
    split_at,
)

# Older names, until 1.0.
splitting, merging, cutting, contracting = split_at, merge_degree_two, cut_at, contract

__all__ = [
    "PLACE_TOLERANCE",
    "VERTEX_TOLERANCE",
    "Address",
    "Addresses",
    "Curves",
    "MetricGraph",
    "PlaceIndex",
    "Point",
    "Points",
    "Refinement",
    "along_edges",
    "as_place",
    "as_places",
    "circle",
    "contract",
    "contracting",
    "cut_at",
    "cutting",
    "distinct_places",
    "graph_facts",
    "grid",
    "interval",
    "is_pair",
    "mean_distances",
    "merge_degree_two",
    "merge_vertices",
    "merging",
    "narrow_rectangle",
    "open_rectangle",
    "place_keys",
    "place_vertices",
    "road",
    "split_at",
    "splitting",
    "star",
    "telecom",
    "thumbnail",
    "uniform_points",
]
