"""Water networks: EPANET files and wntr models, read as networks of pipes in metres."""

from __future__ import annotations

from collections.abc import Hashable, Mapping
from typing import Any

import numpy as np

from netbo.adapters.assembly.assemble import assemble
from netbo.adapters.links import Links, Treatment, as_treatment
from netbo.adapters.network import Network
from netbo.adapters.wntr.model import open_model
from netbo.arrays import FloatArray
from netbo.wording import listing

WITHOUT_LENGTH = (Treatment.CONTRACT, Treatment.CUT, Treatment.DROP)
DONE = {
    Treatment.KEEP: "kept as edges like any other",
    Treatment.CONTRACT: "their two ends are one place",
    Treatment.CUT: "nothing passes; one with a length stays, detached at its head",
    Treatment.DROP: "left out",
}
Words = Treatment | str


def read_wntr(
    source: Any,
    *,
    pumps: Words = Treatment.CONTRACT,
    valves: Words = Treatment.CONTRACT,
    closed: Words = Treatment.CUT,
    check_valves: Words = Treatment.KEEP,
    crs: Any = None,
    **assembly: Any,
) -> Network:
    """Network of an EPANET file or wntr model; the reader's options are those of `links_from_wntr`.

    assembly: options of `assemble`, such as barriers=.
    """
    links = links_from_wntr(
        source, pumps=pumps, valves=valves, closed=closed, check_valves=check_valves, crs=crs
    )
    return assemble(links, **assembly)


def links_from_wntr(
    source: Any,
    *,
    pumps: Words = Treatment.CONTRACT,
    valves: Words = Treatment.CONTRACT,
    closed: Words = Treatment.CUT,
    check_valves: Words = Treatment.KEEP,
    crs: Any = None,
) -> Links:
    """What an EPANET file (path) or a WaterNetworkModel says about its links.

    pumps, valves: they have no length. By default contracted: an address on either side is the same place.
    closed: pipes and valves that are closed at the start. A closed pipe still exists and can leak, but no
        water passes: by default it stays, detached at its head, where `leak_misfit` takes it to be closed,
        too. A closed valve vanishes and its ends stay apart. KEEP treats both as if they were open.
    check_valves: pipes through which water flows one way; kept by default.
    crs: coordinate system of the node coordinates, if they are a map; EPANET files do not say.

    Ids are the file's names of links and nodes. wntr converts to SI: lengths are in metres whatever the
    file's units. The lengths of the pipes count, never the drawing, which in EPANET is often not to scale.
    """
    model, name = open_model(source)
    rules = {
        "pump": as_treatment(pumps, "pumps", allowed=WITHOUT_LENGTH),
        "valve": as_treatment(valves, "valves", allowed=WITHOUT_LENGTH),
        "closed": as_treatment(closed, "closed"),
        "check valve": as_treatment(check_valves, "check_valves"),
        "pipe": Treatment.KEEP,
    }
    links = [link for _, link in model.links()]
    kinds = [_kind(link, rules) for link in links]
    places = _places(model)
    return Links(
        source=name,
        ids=[link.name for link in links],
        tails=[link.start_node_name for link in links],
        heads=[link.end_node_name for link in links],
        lengths=np.array([_length(link) for link in links]),
        curves=None if places is None else [_curve(link, places) for link in links],
        positions=places,
        crs=crs,
        unit="m",
        attributes=_attributes(links),
        treatments=[rules[kind] for kind in kinds],
        notes=_notes(model, kinds, rules, has_drawing=places is not None),
    )


def _is_closed(link: Any) -> bool:
    return bool(link.initial_status.name == "Closed")


def _kind(link: Any, rules: Mapping[str, Treatment]) -> str:
    """Which rule a link follows; what is closed follows `closed` unless that says to take it as open."""
    kind = link.link_type.lower()
    if kind != "pump" and _is_closed(link) and not (kind == "valve" and rules["closed"] is Treatment.KEEP):
        return "closed"
    if kind == "pipe" and link.check_valve:
        return "check valve"
    return str(kind)


def _length(link: Any) -> float:
    return float(link.length) if link.link_type == "Pipe" else np.nan


def _places(model: Any) -> dict[Hashable, tuple[float, float]] | None:
    """Coordinates of the nodes; None if they are all the same, as in files without coordinates."""
    places: dict[Hashable, tuple[float, float]] = {
        name: (float(node.coordinates[0]), float(node.coordinates[1])) for name, node in model.nodes()
    }
    return places if len(set(places.values())) > 1 else None


def _curve(link: Any, places: Mapping[Hashable, tuple[float, float]]) -> FloatArray | None:
    if not link.vertices:
        return None
    return np.array([places[link.start_node_name], *link.vertices, places[link.end_node_name]], dtype=float)


def _attributes(links: list[Any]) -> dict[str, list[Any]]:
    columns = {"diameter": "diameter", "roughness": "roughness", "minor_loss": "minor_loss"}
    of_pipes = {
        column: [getattr(link, name) if link.link_type == "Pipe" else None for link in links]
        for column, name in columns.items()
    }
    return {
        "kind": [link.link_type.lower() for link in links],
        "status": [link.initial_status.name for link in links],
        **of_pipes,
    }


def _notes(model: Any, kinds: list[str], rules: Mapping[str, Treatment], *, has_drawing: bool) -> list[str]:
    notes = [
        "wntr converts to SI: lengths and diameters are in m, whatever the file's flow units "
        f"({model.options.hydraulic.inpfile_units})"
    ]
    plurals = {"pump": "pumps", "valve": "valves", "closed": "links closed at the start",
               "check valve": "pipes with a check valve"}  # fmt: skip
    for kind, plural in plurals.items():
        names = [name for name, each in zip(model.link_name_list, kinds, strict=True) if each == kind]
        if names:
            notes.append(f"{plural} ({listing(names)}): {DONE[rules[kind]]}")
    controlled = _controlled(model, kinds)
    if controlled:
        notes.append(f"controls of the file may open what is closed at the start: {listing(controlled)}")
    if has_drawing:
        notes.append("EPANET's drawings need not be to scale: the lengths of the pipes are used")
    else:
        notes.append("the file has no coordinates: the network has lengths, but no drawing")
    return notes


def _controlled(model: Any, kinds: list[str]) -> list[str]:
    """Links that are closed at the start and on which controls act."""
    closed = {name for name, kind in zip(model.link_name_list, kinds, strict=True) if kind == "closed"}
    acted = {part.name for _, control in model.controls() for part in control.requires()}
    return sorted(closed & acted)
