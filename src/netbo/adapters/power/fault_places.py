"""A fault put on a line of a pandapower net: the line split there, its switches kept at their ends."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import pandas as pd

from netbo.adapters.choices import listing
from netbo.adapters.misfit import require_fraction
from netbo.adapters.power.power_nets import load_pandapower, open_ends
from netbo.errors import NetworkError

END_TOLERANCE = 1e-6  # of the line; a fault this near to an end is at the bus
LOW_VOLTAGE_TOLERANCE = 10  # %; then c_max of IEC 60909 is 1.1 at every level
Relay = tuple[int, int]  # line and the bus at whose end the current is measured
ENDS = (("from_bus", "from"), ("to_bus", "to"))


@dataclass(frozen=True)
class PlacedFault:
    """Bus of a fault, and which parts of the split line are now at its two ends."""

    bus: int
    net: Any
    line: int
    at_tail: tuple[int, ...]
    at_head: tuple[int, ...]

    def ends(self, line: int, bus: int) -> list[tuple[int, str]]:
        """Parts whose currents add to that of a line at a bus, and which end of each is there."""
        parts: tuple[int, ...] = (line,)
        if line == self.line:
            is_tail = bus == self.net.line.at[self.at_tail[0], "from_bus"]
            parts = self.at_tail if is_tail else self.at_head
        return [(part, "from" if bus == self.net.line.at[part, "from_bus"] else "to") for part in parts]


def place_fault(net: Any, line: Any, fraction: float) -> PlacedFault:
    """Put a fault on a line of a net, which is changed: the line is split there unless it is an end.

    At an end that is switched off the fault stays on the line's side of the switch.
    """
    if line not in net.line.index:
        raise NetworkError(f"a fault must be on a line, got {line!r}; lines are {listing(net.line.index)}")
    share = require_fraction(fraction)
    tail, head = (int(net.line.at[line, end]) for end in ("from_bus", "to_bus"))
    end = tail if share <= END_TOLERANCE else head if share >= 1 - END_TOLERANCE else None
    if end is not None and end not in open_ends(net).get(int(line), set()):
        return PlacedFault(end, net, int(line), (int(line),), (int(line),))
    return _split(net, int(line), min(max(share, END_TOLERANCE), 1 - END_TOLERANCE))


def live_ends(net: Any) -> dict[int, tuple[int, str]]:
    """For each bus with a line that is on and switched on there: such a line and which end it is."""
    opened = {(line, bus) for line, buses in open_ends(net).items() for bus in buses}
    buses_on = set(net.bus.index[net.bus["in_service"].to_numpy(dtype=bool)].tolist())
    lines = net.line[net.line["in_service"].to_numpy(dtype=bool)]
    found: dict[int, tuple[int, str]] = {}
    for column, end in ENDS:
        for line, bus in zip(lines.index.tolist(), lines[column].tolist(), strict=True):
            if bus in buses_on and (line, bus) not in opened:
                found.setdefault(bus, (line, end))
    return found


def short_circuit(net: Any, bus: int, resistance: float) -> None:
    """Fill net.res_line_sc with currents and voltages during a three-phase fault at a bus (IEC 60909)."""
    load_pandapower("pandapower.shortcircuit").calc_sc(
        net,
        bus=bus,
        fault="3ph",
        case="max",
        lv_tol_percent=LOW_VOLTAGE_TOLERANCE,
        r_fault_ohm=resistance,
        branch_results=True,
        inverse_y=False,  # a sparse factorization: no dense inverse of the whole net for one bus
    )


def _split(net: Any, line: int, fraction: float) -> PlacedFault:
    """Split one system of a line; the part at from_bus keeps its index, the switches stay at their ends."""
    head = int(net.line.at[line, "to_bus"])
    bus = int(load_pandapower().create_bus(net, vn_kv=float(net.bus.at[head, "vn_kv"])))
    second, rest = (int(net.line.index.max()) + step for step in (1, 2))
    parts = {second: net.line.loc[[line]].set_axis([second])}
    if net.line.at[line, "parallel"] > 1:
        parts[rest] = net.line.loc[[line]].set_axis([rest])
        parts[rest]["parallel"] -= 1
    whole = float(net.line.at[line, "length_km"])
    net.line = pd.concat([net.line, *parts.values()])
    net.line.loc[[line, second], "parallel"] = 1
    net.line.at[line, "to_bus"], net.line.at[second, "from_bus"] = bus, bus
    net.line.loc[[line, second], "length_km"] = [fraction * whole, (1 - fraction) * whole]
    of_line = (net.switch["et"] == "l") & (net.switch["element"] == line)
    at_head = net.switch.index[of_line & (net.switch["bus"] == head)]
    if rest in parts:
        _copy_switches(net, net.switch.index[of_line], rest)
    net.switch.loc[at_head, "element"] = second
    others = (rest,) if rest in parts else ()
    return PlacedFault(bus, net, line, (line, *others), (second, *others))


def _copy_switches(net: Any, chosen: pd.Index, line: int) -> None:
    """The same switches at another line, with numbers of their own."""
    if len(chosen):
        copies = net.switch.loc[chosen].assign(element=line)
        start = int(net.switch.index.max()) + 1
        net.switch = pd.concat([net.switch, copies.set_axis(range(start, start + len(copies)))])
