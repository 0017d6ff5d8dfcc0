"""Reader of water networks: EPANET files and wntr models, pipes in metres."""

from collections.abc import Hashable, Mapping
from typing import Any

import numpy as np

from netbo.adapters.assembly.assemble import assemble
from netbo.adapters.links import Links, Treatment, as_treatment, as_unit
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
    unit: str | None = None,
    **assembly: Any,
) -> Network:
    """Network of an EPANET file or wntr model.

    Ids are the file's names of links and nodes. wntr converts to SI: lengths are in metres whatever the
    file's units. The lengths of the pipes count, never the drawing, which in EPANET is often not to scale.

    Parameters
    ----------
    source : path or wntr.network.WaterNetworkModel
        The file or model; it is not changed.
    pumps, valves : Treatment or str, default "contract"
        They have no length. Contracted, an address on either side is the same place.
    closed : Treatment or str, default "cut"
        Pipes and valves that are closed at the start. A closed pipe still exists and can leak, but no water
        passes: cut, it stays, detached at its head, where `leak_misfit` takes it to be closed, too. A closed
        valve vanishes and its ends stay apart. "keep" treats both as if they were open.
    check_valves : Treatment or str, default "keep"
        Pipes through which water flows one way.
    crs : optional
        Coordinate system of the node coordinates, if they are a map; EPANET files do not say.
    unit : str, optional
        "m", as wntr converts; there is no other.
    **assembly
        Options of `assemble`, such as barriers=.

    Returns
    -------
    Network
        Graph, report and addresses.

    Raises
    ------
    NetworkError
        If the file cannot be read, or an option is no treatment.

    Examples
    --------
    >>> import wntr
    >>> model = wntr.network.WaterNetworkModel()
    >>> model.add_reservoir("lake", base_head=50.0)
    >>> model.add_junction("town")
    >>> model.add_pipe("main", "lake", "town", length=1200.0)
    >>> read_wntr(model).graph
    MetricGraph(2 vertices, 1 edge, total length 1200 m, 1 component)
    """
    links = links_from_wntr(
        source, pumps=pumps, valves=valves, closed=closed, check_valves=check_valves, crs=crs, unit=unit
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
    unit: str | None = None,
) -> Links:
    """Links of an EPANET file or wntr model; parameters are those of `read_wntr`."""
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
        unit=as_unit(unit, "m", "EPANET by way of wntr"),
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
