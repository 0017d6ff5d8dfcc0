"""What a run found, on the user's map."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from netbo.adapters.export import points_frame, write_map, write_observations
from netbo.adapters.short_lines import ShortLines, graph_of
from netbo.adapters.waypoints import WAYPOINTS, Waypoint, degrees_of, lines_of, write_waypoints
from netbo.errors import ParameterError
from netbo.geometry import MetricGraph, Point, Points
from netbo.optimize.maximizer import Mode
from netbo.optimize.results.figures import density, view
from netbo.optimize.trials import Status, Trial
from netbo.wording import in_unit, length

if TYPE_CHECKING:
    from netbo.adapters.network import Network
    from netbo.optimize.answers import Recommendation
    from netbo.optimize.optimizer import Optimizer


N_MODES = 5


def export(
    optimizer: Optimizer,
    path: Path,
    network: Network | None,
    max_piece: float | None,
    title: str | None = None,
) -> Path:
    """By its suffix a map, a table of all trials (.csv), or waypoints (.gpx, .kml)."""
    source = _source(optimizer, network)
    if path.suffix.lower() in WAYPOINTS:
        return write_waypoints(path, waypoints(optimizer, source), title or "Search on a network")
    trials = list(optimizer.history)
    if path.suffix.lower() == ".csv":
        points = Points.at([trial.point for trial in trials], graph=optimizer.graph)
        return write_observations(
            path, source, _moved(points, source), _numbers(trials, "value"),
            noise=_numbers(trials, "noise"), status=[trial.status.value for trial in trials],
            value_unit=optimizer.value_unit,
        )  # fmt: skip
    return write_map(
        path,
        source,
        _columns(optimizer, source, max_piece),
        layers=_layers(optimizer, source),
        max_piece=max_piece,
    )


def _source(optimizer: Optimizer, network: Network | None) -> Network | MetricGraph:
    graph = optimizer.graph
    if network is None:
        return graph if optimizer.network is None else optimizer.network
    if not network.graph.has_edges_of(graph):
        raise ParameterError(
            f"network must be the one that was searched, {graph!r}, got {network.graph!r}; "
            "pass what netbo.read returned for this run"
        )
    return network


def _columns(optimizer: Optimizer, source: Network | MetricGraph, max_piece: float | None) -> dict[str, Any]:
    """The views; the probability of a piece is that of its whole length: it sums to 1 over the map."""
    lines = ShortLines.cut(source, max_piece)
    functions = {what: view(optimizer, what).function for what in ("mean", "sd", "acquisition")}
    values = {what: function(_moved(lines.middles, optimizer.graph)) for what, function in functions.items()}
    return values | {"probability": density(optimizer).mass(lines.edge, *lines.ends)}


def _layers(optimizer: Optimizer, source: Network | MetricGraph) -> dict[str, Any]:
    frames = {}
    for name, statuses in {
        "observations": (Status.OBSERVED, Status.FAILED),
        "next": (Status.PENDING,),
    }.items():
        trials = [trial for trial in optimizer.history if trial.status in statuses]
        if trials:
            columns: dict[str, Any] = {"id": [trial.id for trial in trials]}
            if name == "observations":
                columns |= {
                    "value": _numbers(trials, "value"),
                    "noise": _numbers(trials, "noise"),
                    "status": [trial.status.value for trial in trials],
                    **_unit_column(optimizer, len(trials)),
                }
            frames[name] = points_frame(
                source, _moved(Points.at([trial.point for trial in trials]), source), columns
            )
    return frames | {"candidates": _candidates(optimizer, source)}


def waypoints(optimizer: Optimizer, source: Network | MetricGraph) -> list[Waypoint]:
    """Next places, what was measured or failed, and stretches to search once there is a value."""
    kinds = {Status.PENDING: "next", Status.OBSERVED: "observed", Status.FAILED: "failed"}
    trials = [trial for status in kinds for trial in optimizer.history.having(status)]
    if not trials:
        raise ParameterError("waypoints need a trial, got none; ask for a place or tell a value first")
    unit, at = optimizer.value_unit, [trial.point for trial in trials]
    places = degrees_of(source, _moved(Points.at(at), source))
    found = [
        Waypoint(
            kinds[trial.status],
            f"{trial.id}" if trial.value is None else f"{trial.id}: {in_unit(trial.value, unit)}",
            ", ".join(filter(None, [_address(trial.point, optimizer), trial.note])),
            place,
        )
        for trial, place in zip(trials, places, strict=True)
    ]
    return found + (_stretches(optimizer, source) if optimizer.history.observed else [])


def _address(point: Point, optimizer: Optimizer) -> str:
    return f"edge {point.edge_id}, {length(point.distance, optimizer.graph.unit)}"


def _stretches(optimizer: Optimizer, source: Network | MetricGraph) -> list[Waypoint]:
    """The search list: each stretch by its middle, with its course."""
    listed, graph = optimizer.search_list().stretches, optimizer.graph
    ids, start, end = ([getattr(each, name) for each in listed] for name in ("edge_id", "start", "end"))
    middle = degrees_of(source, _moved(graph.points(ids, (np.array(start) + end) / 2), source))
    number, edge, first, last = graph.intervals(ids, start, end)
    found = []
    for k, each in enumerate(listed):
        part = number == k
        ends = f"{each.start:.6g} to {length(each.end, graph.unit)}"
        found.append(
            Waypoint(
                "search",
                f"search {k + 1}: {each.probability:.0%}",
                f"edge {each.edge_id}, {ends}, holds the best place with probability {each.probability:.1%}",
                middle[k],
                lines_of(source, edge[part], first[part], last[part]),
            )
        )
    return found


def _candidates(optimizer: Optimizer, source: Network | MetricGraph) -> Any:
    """Where the best value may be: the recommended place, then the modes with their probabilities."""
    best, modes = optimizer.recommend(), optimizer.modes(N_MODES)
    places = _moved(Points.at([best.point, *(mode.point for mode in modes)]), source)
    found: list[Recommendation | Mode] = [best, *modes]
    columns: dict[str, Any] = {
        "kind": ["recommended", *("mode" for _ in modes)],
        "mean": [each.mean for each in found],
        "low": [each.low for each in found],
        "high": [each.high for each in found],
        "probability": [np.nan, *(mode.probability for mode in modes)],
        **_unit_column(optimizer, len(found)),
    }
    return points_frame(source, places, columns)


def _unit_column(optimizer: Optimizer, n: int) -> dict[str, list[str]]:
    return {"value_unit": [optimizer.value_unit] * n} if optimizer.value_unit else {}


def _numbers(trials: list[Trial], name: str) -> list[float]:
    values = [getattr(trial, name) for trial in trials]
    return [np.nan if value is None else float(value) for value in values]


def _moved(points: Points, onto: Network | MetricGraph) -> Points:
    """The same places, bound to the graph of the other: both have the same edges."""
    return Points(points.edge, points.z, graph=graph_of(onto))
