"""Places as they are typed in the shell: by edge and distance, by node, or by coordinates."""

from dataclasses import dataclass
from typing import Any

import click

from netbo.adapters import Network
from netbo.cli.options import gather, parse_number
from netbo.errors import ParameterError
from netbo.geometry import Point
from netbo.studies import Study


@dataclass(frozen=True, slots=True)
class PlaceOptions:
    """Where something was measured, as it was typed: by edge, node or coordinates."""

    at: tuple[str, str] | None
    node: str | None
    xy: tuple[float, float] | None
    lon_lat: tuple[float, float] | None
    crs: str | None
    limit: float | None

    def on(self, study: Study) -> tuple[Point | None, float | None]:
        """The point, None if none was typed, and how far off the network its coordinates lie."""
        typed = [each for each in (self.at, self.node, self.xy, self.lon_lat) if each is not None]
        if len(typed) > 1:
            raise ParameterError(
                "a place is said once, got several of --at, --node, --xy and --lon-lat; choose one"
            )
        if self.crs is not None and self.xy is None:
            raise ParameterError("--crs is that of --xy, got no --xy; leave it out")
        if self.at is not None:
            return parse_point(study, *self.at), None
        if self.node is not None:
            return parse_node(study, self.node), None
        if self.xy is None and self.lon_lat is None:
            return None, None
        return self._snapped(study)

    def _snapped(self, study: Study) -> tuple[Point, float]:
        network = study.network
        if self.lon_lat is not None and network.report.crs is None:
            raise ParameterError(
                "--lon-lat needs a network whose coordinate system is known, got one without; try --xy"
            )
        crs = "EPSG:4326" if self.xy is None else self.crs
        points, off = network.locate([list(self.xy or self.lon_lat or ())], crs=crs)
        far = f"{off[0]:.4g}{f' {network.report.map_unit}' if network.report.map_unit else ''}"
        if self.limit is None or not off[0] <= self.limit:
            wanted = "need --limit" if self.limit is None else f"must lie within --limit {self.limit:g}"
            raise ParameterError(
                f"coordinates {wanted}, and these lie {far} off the network; check them, or say how far off "
                "they may be"
            )
        return study.place(points), float(off[0])


place_options = gather(
    "place",
    PlaceOptions,
    click.option("--at", nargs=2, metavar="EDGE DISTANCE", help="Where it was measured, if elsewhere."),
    click.option("--node", metavar="NAME", help="The same by the name of a node: a junction, a hydrant."),
    click.option("--xy", nargs=2, type=float, metavar="X Y", help="The same by coordinates, with --limit."),
    click.option("--lon-lat", nargs=2, type=float, metavar="LON LAT", help="The same in degrees (WGS 84)."),
    click.option("--crs", help="Coordinate system of --xy, if not that of the network: EPSG:4326."),
    click.option("--limit", type=float, help="Farthest coordinates may lie off the network, in its unit."),
)


def parse_node(study: Study, text: str) -> Point:
    """The point of a node by its name."""
    return study.place(study.network.points(vertex=[as_node(study, text)]))


def as_node(study: Study, text: str) -> Any:
    """The name of a node that is meant by a text; names may be numbers or pairs."""
    known = {*study.graph.vertex_ids, *study.network.addresses.ends}
    return text if text in known else {str(each): each for each in known}.get(text, text)


def parse_point(study: Study, edge: str, distance: str) -> Point:
    """The point of an edge id and a distance along it."""
    return study.place((parse_edge(study.network, edge), parse_number(distance, "a distance")))


def parse_edge(network: Network, text: str) -> Any:
    """The edge id of a text; ids may be numbers or pairs."""
    known = {*network.addresses.ids, *network.addresses.aliases, *network.graph.edge_ids}
    return text if text in known else {str(name): name for name in known}.get(text, text)
