"""Reader of power networks: pandapower nets and their JSON files, lines in kilometres."""

from collections.abc import Hashable
from dataclasses import dataclass
from typing import Any

import numpy as np

from netbo.adapters.assembly.assemble import assemble
from netbo.adapters.links import Links, Treatment, as_treatment, as_unit
from netbo.adapters.network import Network
from netbo.adapters.pandapower.nets import bus_switches, drawing_of, open_elements, open_ends, open_net
from netbo.wording import listing

WITHOUT_LENGTH = (Treatment.CONTRACT, Treatment.CUT, Treatment.DROP)
OFF = (Treatment.KEEP, Treatment.CUT, Treatment.DROP)
DONE = {
    Treatment.KEEP: "treated as if they were on",
    Treatment.CONTRACT: "their two ends are one place",
    Treatment.CUT: "nothing passes",
    Treatment.DROP: "left out",
}
COLUMNS = ("name", "std_type", "type", "parallel")
Words = Treatment | str


def read_pandapower(
    source: Any,
    *,
    transformers: Words = Treatment.CUT,
    open_switches: Words = Treatment.CUT,
    out_of_service: Words = Treatment.DROP,
    crs: Any = None,
    unit: str | None = None,
    **assembly: Any,
) -> Network:
    """Network of a pandapower net or JSON file; lengths are `length_km`.

    Lines are named by their index, buses by theirs; ('trafo', i), ('trafo3w', i, 'mv'), ('impedance', i) and
    ('switch', i) name the rest. Closed switches between buses are contracted.

    Parameters
    ----------
    source : pandapowerNet or path
        The net, or its JSON; it is not changed.
    transformers : Treatment or str, default "cut"
        With two or three windings, and impedances; they have no length. Cut, each voltage level is a network
        of its own, since a fault or a measurement along one says nothing of the other. "contract" joins the
        levels.
    open_switches : Treatment or str, default "cut"
        At the end of a line they detach the line there, so that it is still fed from its other end; between
        buses, or at a transformer, nothing passes. "drop" leaves such lines out, "keep" takes all switches as
        closed.
    out_of_service : Treatment or str, default "drop"
        Lines that are, or whose bus is. "cut" detaches both ends.
    crs : optional
        Coordinate system of the drawing; None decides between degrees and a schematic by `length_km`.
    unit : str, optional
        "km", as pandapower has it; there is no other.
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
    >>> import pandapower
    >>> net = pandapower.create_empty_network()
    >>> buses = [pandapower.create_bus(net, vn_kv=20.0) for _ in range(3)]
    >>> _ = [pandapower.create_line(net, a, b, 1.5, "NAYY 4x50 SE") for a, b in zip(buses, buses[1:])]
    >>> read_pandapower(net).graph
    MetricGraph(3 vertices, 2 edges, total length 3 km, 1 component)
    """
    links = links_from_pandapower(
        source, transformers=transformers, open_switches=open_switches, out_of_service=out_of_service,
        crs=crs, unit=unit,
    )  # fmt: skip
    return assemble(links, **assembly)


def links_from_pandapower(
    source: Any,
    *,
    transformers: Words = Treatment.CUT,
    open_switches: Words = Treatment.CUT,
    out_of_service: Words = Treatment.DROP,
    crs: Any = None,
    unit: str | None = None,
) -> Links:
    """Links of a pandapower net; parameters are those of `read_pandapower`."""
    net, name = open_net(source)
    rules = _Rules(
        as_treatment(transformers, "transformers", allowed=WITHOUT_LENGTH),
        as_treatment(open_switches, "open_switches", allowed=OFF),
        as_treatment(out_of_service, "out_of_service", allowed=OFF),
    )
    rows = _line_rows(net, rules) + _other_rows(net, rules)
    drawing = drawing_of(net, {bus for row in rows for bus in (row.tail, row.head)}, crs)
    return Links(
        source=name,
        ids=[row.id for row in rows],
        tails=[row.tail for row in rows],
        heads=[row.head for row in rows],
        lengths=np.array([row.length for row in rows]),
        curves=None if drawing.positions is None else [_curve(row.id, drawing.curves) for row in rows],
        positions=drawing.positions,
        crs=drawing.crs,
        unit=as_unit(unit, "km", "pandapower"),
        attributes=_attributes(net, rows),
        treatments=[row.treatment for row in rows],
        detach=[row.detach for row in rows],
        notes=[*_notes(net, rows, rules), *drawing.notes],
    )


@dataclass(frozen=True)
class _Rules:
    transformers: Treatment
    open_switches: Treatment
    out_of_service: Treatment


@dataclass(frozen=True)
class _Row:
    """One link."""

    id: Hashable
    tail: int
    head: int
    length: float = np.nan
    treatment: Treatment = Treatment.KEEP
    detach: str | None = None
    kind: str = "line"


def _line_rows(net: Any, rules: _Rules) -> list[_Row]:
    opened = open_ends(net)
    in_service = net.bus["in_service"]
    rows = []
    for line, tail, head, length, is_on in net.line[
        ["from_bus", "to_bus", "length_km", "in_service"]
    ].itertuples():
        treatment, detach, kind = Treatment.KEEP, None, "line"
        if not (is_on and in_service[tail] and in_service[head]):
            treatment, detach, kind = rules.out_of_service, "both", "line out of service"
        elif line in opened:
            ends = opened[line] & {tail, head}
            treatment, kind = rules.open_switches, "line with an open switch"
            detach = "both" if len(ends) == 2 else "tail" if tail in ends else "head"
        rows.append(_Row(int(line), int(tail), int(head), float(length), treatment, detach, kind))
    return rows


def _other_rows(net: Any, rules: _Rules) -> list[_Row]:
    """Links without a length."""
    rows = [
        _Row(
            ("switch", int(index)),
            int(bus),
            int(other),
            treatment=Treatment.CONTRACT,
            kind="closed bus switch",
        )
        for index, bus, other in bus_switches(net, closed=True)[["bus", "element"]].itertuples()
    ]
    is_open = Treatment.CONTRACT if rules.open_switches is Treatment.KEEP else rules.open_switches
    rows += [
        _Row(("switch", int(index)), int(bus), int(other), treatment=is_open, kind="open bus switch")
        for index, bus, other in bus_switches(net, closed=False)[["bus", "element"]].itertuples()
    ]
    for table, key, ends in (
        ("trafo", "t", {"": ("hv_bus", "lv_bus")}),
        ("trafo3w", "t3", {"mv": ("hv_bus", "mv_bus"), "lv": ("hv_bus", "lv_bus")}),
        ("impedance", "", {"": ("from_bus", "to_bus")}),
    ):
        opened = open_elements(net, key) if key and rules.open_switches is not Treatment.KEEP else set()
        for index, element in net[table].iterrows():
            off = index in opened or not element["in_service"]
            rows += [
                _Row(
                    (table, int(index), winding) if winding else (table, int(index)),
                    int(element[tail]),
                    int(element[head]),
                    treatment=Treatment.CUT if off else rules.transformers,
                    kind="transformer",
                )
                for winding, (tail, head) in ends.items()
            ]
    return rows


def _curve(name: Hashable, curves: dict[int, Any]) -> Any:
    return curves.get(name) if isinstance(name, int) else None


def _attributes(net: Any, rows: list[_Row]) -> dict[str, list[Any]]:
    lines = net.line
    columns: dict[str, list[Any]] = {"kind": [row.kind for row in rows]}
    for column in COLUMNS:
        if column in lines:
            values = lines[column].to_dict()
            columns[column] = [values.get(row.id) if isinstance(row.id, int) else None for row in rows]
    voltage = net.bus["vn_kv"].to_dict()
    return columns | {"vn_kv": [float(voltage[row.tail]) for row in rows]}


def _notes(net: Any, rows: list[_Row], rules: _Rules) -> list[str]:
    plurals = {
        "line with an open switch": (
            "lines with an open switch",
            "detached at that end" if rules.open_switches is Treatment.CUT else DONE[rules.open_switches],
        ),
        "open bus switch": ("open switches between buses", DONE[rules.open_switches]),
        "closed bus switch": ("closed switches between buses", DONE[Treatment.CONTRACT]),
        "line out of service": ("lines out of service", DONE[rules.out_of_service]),
        "transformer": ("transformers and impedances", DONE[rules.transformers]),
    }
    notes = []
    for kind, (plural, done) in plurals.items():
        names = [row.id for row in rows if row.kind == kind]
        if names:
            notes.append(f"{plural} ({listing(names)}): {done}")
    several = [int(index) for index in net.line.index[net.line["parallel"] > 1]]
    if several:
        notes.append(f"lines of several parallel systems ({listing(several)}): one edge each")
    return notes
