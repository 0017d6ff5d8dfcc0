"""Network: a metric graph, the report on it, and the addresses of points in the user's own ids."""

from __future__ import annotations

import traceback
import warnings
from collections.abc import Iterable, Iterator
from dataclasses import dataclass, replace
from functools import cached_property
from inspect import currentframe
from itertools import takewhile
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import ArrayLike

from netbo.adapters.diagnostics import inspect_graph, warnings_of
from netbo.adapters.findings import Finding, findings_of
from netbo.adapters.projection import decimals_of, transform
from netbo.adapters.proximity import find_duplicates
from netbo.adapters.report import NetworkReport
from netbo.arrays import FloatArray
from netbo.checks import explained
from netbo.errors import NetworkWarning, PointError
from netbo.geometry import Address, Addresses, MetricGraph, Point, Points, graph_facts, thumbnail
from netbo.notebook import card, page_layer
from netbo.wording import counted


@dataclass(frozen=True, eq=False)
class Network:
    """A network as its owner knows it; `maximize`, `Optimizer` and `Study` take it.

    Made by `netbo.read` and the readers, or by `as_network` from a graph; `graph, report = network` unpacks
    it.

    Parameters
    ----------
    graph : MetricGraph
        Drawn in a metric coordinate system (`graph.crs`); a link that was cut in several is there as edges
        (id, 0), (id, 1), ..., and its points are addressed by the whole link.
    report : NetworkReport
        What was found and what was done, to be read before trust; print it.

    Examples
    --------
    >>> import netbo
    >>> network = as_network(netbo.star(3))
    >>> network
    Network(MetricGraph(4 vertices, 3 edges, total length 3, 1 component))
    >>> network.address(network.points(2, fraction=0.25))[0].distance
    0.25
    """

    graph: MetricGraph
    report: NetworkReport

    @cached_property
    def addresses(self) -> Addresses:
        """Which interval of which link each edge is."""
        return Addresses.of_graph(self.graph) if self.graph.addresses is None else self.graph.addresses

    def __iter__(self) -> Iterator[Any]:
        yield self.graph
        yield self.report

    def __repr__(self) -> str:
        warned = (
            f", {counted(len(self.report.warnings), 'warning')} in .report" if self.report.warnings else ""
        )
        return f"Network({self.graph!r}{warned})"

    def _repr_html_(self) -> str:
        facts = [("source", self.report.source), *graph_facts(self.graph)]
        return card("Network", facts, picture=thumbnail(self.graph), warnings=self.report.warnings)

    def explore(self, *, title: str | None = None) -> Any:
        """The network and what was found in it as a page to look around in; a notebook shows it.

        Parameters
        ----------
        title : str, optional
            Of the page.

        Returns
        -------
        Explored
            Its `write_html(path)` writes the page.
        """
        return page_layer().explore(self, title=title)

    @cached_property
    def findings(self) -> tuple[Finding, ...]:
        """What the report warns of and names, one by one: kind, sentence, your name of it, and its place.

        Examples
        --------
        >>> import netbo
        >>> [(each.kind, each.name) for each in as_network(netbo.star(3)).findings]
        [('dead end', 1), ('dead end', 2), ('dead end', 3)]
        """
        return findings_of(self)

    def warn(self) -> None:
        """Show what the report warns of as a Python warning, unless it was shown or printed before."""
        if not self.report.warnings or getattr(self.report, "was_shown", False):
            return
        object.__setattr__(self.report, "was_shown", True)
        sentences = "".join(f"\n  - {sentence}" for sentence in self.report.warnings)
        _warn_caller(
            f"the report on {self.report.source} has {counted(len(self.report.warnings), 'warning')}; "
            f"print(network.report) shows all of it{sentences}"
        )

    @explained
    def points(
        self,
        edge_ids: Any = None,
        distance: ArrayLike | None = None,
        *,
        fraction: ArrayLike | None = None,
        start: Any = None,
        vertex: Any = None,
    ) -> Points:
        """Points at a distance along your links, at a fraction (0 to 1) of them, or at your vertices.

        Measured along the whole link also where it was cut into pieces. Other ids of a link (the second
        direction of a street) measure from their own tail.

        Parameters
        ----------
        edge_ids : hashable or sequence, optional
            Your ids, one or several; one is repeated as needed. Without distance and fraction they are names
            of vertices: junctions, hydrants, buses.
        distance, fraction : array_like, optional
            Exactly one of them, for links.
        start : hashable or sequence, optional
            The end from which it counts, by default the tail.
        vertex : hashable or sequence, optional
            Names of vertices, instead of links; needed where a link has the same name.

        Returns
        -------
        Points
            Bound to the graph.

        Raises
        ------
        PointError
            If an id is unknown or a distance lies beyond its link.
        """
        return self.graph.points(edge_ids, distance, fraction=fraction, start=start, vertex=vertex)

    def address(self, points: Points | Point | Iterable[Point], *, start: Any = None) -> list[Address]:
        """Your address of each point.

        Parameters
        ----------
        points : Points, Point or iterable of Point
            Points of the graph.
        start : hashable or sequence, optional
            The end from which distances count, by default the tail.

        Returns
        -------
        list of Address
            Link id, distance and fraction, and the end from which they count.
        """
        bound = self._bound(points)
        row, measure = self.addresses.measure(bound.edge, bound.z)
        from_head = np.zeros(len(row), dtype=np.bool_)
        if start is not None:
            from_head = self.addresses.from_head(row, from_head, start)
        length = self.addresses.lengths[row]
        distance = np.where(from_head, length - measure, measure)
        names = self.addresses
        return [
            Address(names.ids[link], along, share, names.heads[link] if flipped else names.tails[link])
            for link, along, share, flipped in zip(
                row.tolist(), distance.tolist(), (distance / length).tolist(), from_head.tolist(), strict=True
            )
        ]

    def locate(
        self, xy: ArrayLike, *, crs: Any = None, limit: float | None = None
    ) -> tuple[Points, FloatArray]:
        """Points of the network nearest to places, and how far off it the places lie.

        Parameters
        ----------
        xy : array_like
            Coordinates, (n, 2).
        crs : optional
            Their coordinate system, by default that of the source.
        limit : float, optional
            Farthest a place may lie off, in the unit of the map: metres once projected.

        Returns
        -------
        points : Points
            Bound to the graph.
        off : ndarray
            Distances in the unit of the map, (n,).

        Raises
        ------
        PointError
            If a place lies beyond the limit.
        """
        source = self.report.crs if crs is None else crs
        if source is None or self.graph.crs is None:
            return self.graph.nearest(xy, limit)
        places = np.atleast_2d(np.asarray(xy, dtype=np.float64))
        if places.ndim != 2 or places.shape[1] != 2:
            raise PointError(
                f"places on a map must have shape (n, 2), got {places.shape}; give x and y of each"
            )
        return self.graph.nearest(transform(places, source, self.graph.crs), limit)

    def coordinates(self, points: Points | Point | Iterable[Point], *, crs: Any = None) -> FloatArray:
        """Coordinates of points.

        Parameters
        ----------
        points : Points, Point or iterable of Point
            Points of the graph.
        crs : optional
            Coordinate system of the answer, by default that of the source.

        Returns
        -------
        ndarray
            (n, 2 or 3).
        """
        places = self.graph.embed(self._bound(points))
        return transform(places, self.graph.crs, self.report.crs if crs is None else crs)

    @cached_property
    def decimals(self) -> int | None:
        """Decimals of `coordinates` that tell centimetres apart; None where nobody knows their unit."""
        return decimals_of(self.report.crs)

    def _bound(self, points: Points | Point | Iterable[Point]) -> Points:
        return self.graph.bind(points if isinstance(points, Points) else Points.at(points))


def _warn_caller(message: str) -> None:
    """A warning at the line outside the package that led here."""
    home = str(Path(__file__).parents[1])
    frames = (frame.f_code.co_filename for frame, _ in traceback.walk_stack(currentframe()))
    inside = sum(1 for _ in takewhile(lambda name: name.startswith(home), frames))
    warnings.warn(message, NetworkWarning, stacklevel=inside + 1)


# A bare graph as a network: its own ids are its addresses.


@explained
def as_network(graph: Network | MetricGraph, *, gap_tolerance: float | None = None) -> Network:
    """The network itself, or a graph with a report and its own ids as addresses."""
    if isinstance(graph, Network):
        return graph
    drawing = None if graph.dimension is None else graph.drawing
    duplicates = find_duplicates(graph.tails, graph.heads, graph.lengths, drawing)
    crs = graph.crs if graph.crs is None or isinstance(graph.crs, str) else graph.crs.to_string()
    report = NetworkReport(
        source="a graph",
        n_links=graph.n_edges,
        duplicates=duplicates.named(graph.edge_ids),
        crs=crs,
        crs_name=crs,
        projection=crs,
        projection_name=crs,
        has_vertex_ids=True,
        **inspect_graph(graph, graph.n_vertices, gap_tolerance, crs),
    )
    return Network(graph, replace(report, warnings=warnings_of(report)))
