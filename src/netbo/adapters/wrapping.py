"""A bare graph as a network: its own ids are its addresses."""

from __future__ import annotations

from dataclasses import replace

from netbo.adapters.addresses import Addresses
from netbo.adapters.assembly.duplicates import find_twins
from netbo.adapters.network import Network
from netbo.adapters.report import Duplicate, NetworkReport
from netbo.adapters.reports.cautions import cautions_of
from netbo.adapters.reports.inspection import inspect_graph
from netbo.geometry import MetricGraph


def as_network(graph: Network | MetricGraph, *, gap_tolerance: float | None = None) -> Network:
    """The network itself, or a graph with a report and its own ids as addresses."""
    if isinstance(graph, Network):
        return graph
    drawing = None if graph.dimension is None else graph.drawing
    twins = find_twins(graph.tails, graph.heads, graph.lengths, drawing)
    crs = graph.crs if graph.crs is None or isinstance(graph.crs, str) else graph.crs.to_string()
    report = NetworkReport(
        source="a graph",
        n_links=graph.n_edges,
        duplicates=tuple(
            Duplicate(graph.edge_ids[first], graph.edge_ids[second], is_reversed)
            for first, second, is_reversed in zip(
                twins.first.tolist(), twins.second.tolist(), twins.is_reversed.tolist(), strict=True
            )
        ),
        crs=crs,
        crs_name=crs,
        projection=crs,
        projection_name=crs,
        **inspect_graph(graph, graph.n_vertices, gap_tolerance),
    )
    return Network(graph, replace(report, warnings=cautions_of(report)), Addresses.of_graph(graph))
