"""Objective that locates a fault: short circuits by pandapower compared with meter readings."""

import copy
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from typing import Any

import numpy as np
import pandas as pd

from netbo.adapters.misfit import (
    END_TOLERANCE,
    Misfit,
    MisfitScore,
    as_score,
    as_second_sd,
    require_fraction,
    require_sd,
    residuals_of,
)
from netbo.adapters.pandapower.nets import load_pandapower, open_ends, open_net, quiet
from netbo.arrays import FloatArray
from netbo.checks import require_nonnegative
from netbo.errors import NetworkError, NumericalError
from netbo.wording import listing

# A fault put on a line of a pandapower net: the line split there, its switches kept at their ends.

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


VOLTAGE_FACTOR = 1.1  # c_max of IEC 60909 with 10 % tolerance at low voltage: the same at every level
RATIO_TOLERANCE = 1e-9  # of transformers; rounding only


@dataclass(frozen=True)
class FaultReadings:
    """What meters show during a fault.

    voltages: by bus, as a share of the voltage before the fault.
    currents: by (line, bus), in kA at that end of the line.
    """

    voltages: dict[int, float]
    currents: dict[Relay, float]


@dataclass(frozen=True, eq=False)
class FaultMisfit(Misfit):
    """A function of a `Point` on a line: how well a fault there explains the readings; picklable.

    Made by `fault_misfit`, which checks what it is given.
    """

    event, edge = "fault", "line"

    net: Any = field(repr=False)
    source: str
    readings: FaultReadings
    sd: float
    current_sd: float
    resistance: float
    score: MisfitScore

    def residuals(self, edge: Any, fraction: float) -> FloatArray:
        """Simulated minus measured, in standard deviations: voltages, then currents."""
        voltages, currents = self.readings.voltages, self.readings.currents
        simulated = _simulate(self.net, (edge, fraction, self.resistance), voltages, currents)
        return np.concatenate(
            [
                residuals_of(list(simulated.voltages.values()), list(voltages.values()), self.sd),
                residuals_of(list(simulated.currents.values()), list(currents.values()), self.current_sd),
            ]
        )

    def __repr__(self) -> str:
        return (
            f"FaultMisfit({self.source}: {len(self.readings.voltages)} voltages with sd {self.sd:g}, "
            f"{len(self.readings.currents)} currents with sd {self.current_sd:g} kA)"
        )


def fault_misfit(
    net: Any,
    voltages: Mapping[int, float],
    sd: float,
    *,
    currents: Mapping[Relay, float] | None = None,
    current_sd: float | None = None,
    resistance: float = 0.0,
    score: MisfitScore | str = MisfitScore.LOG_ROOT_MEAN_SQUARE,
) -> FaultMisfit:
    """How well a three-phase fault at (line, fraction) explains measured voltages and currents.

    A fault pulls down the voltage of every bus, the more the nearer the bus is to the way the current takes:
    what remains at bus k is |1 - Z_kf / (Z_ff + resistance)|. A few buses along the feeders, and the currents
    at their heads, therefore tell the place. Shares of the voltage before the fault are compared, so the
    level of that voltage is not needed. Of parallel systems in one line one is faulted. A line switched off
    at an end is faulted up to there.

    Parameters
    ----------
    net : pandapowerNet or path
        The net; it is never changed. The strength of the supplying grid must be in net.ext_grid
        (s_sc_max_mva, rx_max); loads are neglected, as in IEC 60909.
    voltages : mapping
        {bus: share of the voltage before the fault that remained}.
    sd : float
        Standard deviation of one of them.
    currents : mapping, optional
        {(line, bus): kA at that end of the line}, at nominal voltage.
    current_sd : float, optional
        Standard deviation of a current in kA; needed with `currents`.
    resistance : float, default 0.0
        Of the fault, in ohm.
    score : MisfitScore or str
        "log root mean square", "root mean square" or "log likelihood".

    Returns
    -------
    FaultMisfit
        A function of a `Point` on the network that `read_pandapower` reads.

    Raises
    ------
    NetworkError
        If a meter is at no bus or line, or pandapower cannot compute short circuits of the net.
    ParameterError
        If a standard deviation, the resistance or the score are wrong.

    Examples
    --------
    >>> import pandapower
    >>> net = pandapower.create_empty_network()
    >>> buses = [pandapower.create_bus(net, vn_kv=20.0) for _ in range(2)]
    >>> _ = pandapower.create_ext_grid(net, buses[0], s_sc_max_mva=1000.0, rx_max=0.1)
    >>> _ = pandapower.create_line(net, *buses, 4.0, "NA2XS2Y 1x240 RM/25 12/20 kV")
    >>> readings = simulate_fault(net, 0, 0.5, buses=[0, 1])
    >>> misfit = fault_misfit(net, readings.voltages, sd=0.01)
    >>> misfit.at(0, 0.5) > 0 > misfit.at(0, 0.9)
    True
    """
    opened, source = open_net(net)
    readings = FaultReadings(dict(voltages), dict(currents or {}))
    if not (readings.voltages or readings.currents):
        raise NetworkError("a misfit needs readings, got none; give {bus: share of the voltage}")
    for value in (*readings.voltages.values(), *readings.currents.values()):
        if not np.isfinite(value):
            raise NetworkError(f"readings must be finite, got {value}; leave missing ones out")
    prepared = copy.deepcopy(opened)
    _require_meters(prepared, readings.voltages, readings.currents)
    _require_short_circuits(prepared, needs_voltages=bool(readings.voltages))
    return FaultMisfit(
        prepared,
        source,
        readings,
        require_sd(sd, "sd"),
        as_second_sd(current_sd, "current_sd", readings="currents", has_readings=bool(readings.currents)),
        require_nonnegative("resistance", resistance, "a bolted fault has 0 ohm"),
        as_score(score),
    )


def simulate_fault(
    net: Any,
    line: int,
    fraction: float,
    *,
    buses: Iterable[int],
    relays: Iterable[Relay] = (),
    resistance: float = 0.0,
    sd: float = 0.0,
    current_sd: float = 0.0,
    seed: int = 0,
) -> FaultReadings:
    """What meters at buses and relays would show during a fault, plus normal errors: data to try on.

    Parameters
    ----------
    net : pandapowerNet or path
        The net, which is not changed.
    line : int
        Where the fault is, and
    fraction : float
        the share of the line before it, from its from_bus.
    buses : iterable of int
        Buses whose voltages are read.
    relays : iterable of (line, bus)
        Ends of lines whose currents are read.
    resistance : float, default 0.0
        Of the fault, in ohm.
    sd, current_sd : float, default 0.0
        Standard deviations of the errors.
    seed : int, default 0
        Of the errors.

    Returns
    -------
    FaultReadings
        Voltages by bus and currents by (line, bus).

    Raises
    ------
    NetworkError
        If a line, bus or relay is unknown.
    NumericalError
        If the faulted line has no supply.
    """
    opened, _ = open_net(net)
    at = list(buses), list(relays)
    _require_meters(opened, *at)
    _require_short_circuits(opened, needs_voltages=bool(at[0]))
    exact = _simulate(opened, (line, fraction, resistance), *at)
    rng = np.random.default_rng(seed)
    return FaultReadings(
        {bus: value + sd * rng.standard_normal() for bus, value in exact.voltages.items()},
        {relay: value + current_sd * rng.standard_normal() for relay, value in exact.currents.items()},
    )


def _simulate(
    net: Any, fault: tuple[Any, float, float], buses: Iterable[int], relays: Iterable[Relay]
) -> FaultReadings:
    """Readings without errors."""
    line, fraction, resistance = fault
    changed = copy.deepcopy(net)
    with quiet():
        placed = place_fault(changed, line, fraction)
        try:
            short_circuit(changed, placed.bus, resistance)
        except ValueError as cause:
            raise NumericalError(
                f"pandapower cannot compute a fault at {fraction:g} of line {line}, got {cause}; "
                "check the supply of that line"
            ) from cause
    results = changed.res_line_sc
    live = live_ends(changed)
    voltages = {bus: float(results.at[live[bus][0], f"vm_{live[bus][1]}_pu"]) for bus in buses}
    currents = {
        relay: abs(sum(_current(results, part, end) for part, end in placed.ends(*relay))) for relay in relays
    }
    return FaultReadings(
        {bus: share / VOLTAGE_FACTOR for bus, share in voltages.items()},
        {relay: current / VOLTAGE_FACTOR for relay, current in currents.items()},
    )


def _current(results: Any, line: int, end: str) -> complex:
    """Phasor of the current into a line at one of its ends, in kA."""
    size, angle = results.at[line, f"ikss_{end}_ka"], results.at[line, f"ikss_{end}_degree"]
    return complex(size * np.exp(1j * np.deg2rad(angle)))


def _require_meters(net: Any, buses: Iterable[int], relays: Iterable[Relay]) -> None:
    live = live_ends(net)
    for bus in buses:
        if bus not in live:
            raise NetworkError(
                f"voltage meters must be at a bus with a line that is on, got {bus!r}; such buses are "
                f"{listing(sorted(live))}"
            )
    for relay in relays:
        if not isinstance(relay, tuple) or len(relay) != 2 or relay[0] not in net.line.index:
            raise NetworkError(
                f"currents are measured at (line, bus), got {relay!r}; lines are {listing(net.line.index)}"
            )
        ends = [int(net.line.at[relay[0], end]) for end in ("from_bus", "to_bus")]
        if relay[1] not in ends:
            raise NetworkError(f"line {relay[0]!r} ends at buses {ends[0]} and {ends[1]}, got {relay[1]!r}; "
                               "name one of them")  # fmt: skip


def _require_short_circuits(net: Any, *, needs_voltages: bool) -> None:
    """One trial, so that what the net lacks is said at once."""
    grids = net.ext_grid[net.ext_grid["in_service"].astype(bool)]
    missing = [each for each in ("s_sc_max_mva", "rx_max") if each not in grids or grids[each].isna().any()]
    if len(grids) and missing:
        raise NetworkError(
            f"short circuits need the strength of the supplying grid, got no {missing[0]} in net.ext_grid; "
            "set s_sc_max_mva (say 1000) and rx_max (say 0.1)"
        )
    if needs_voltages:
        _require_ratios(net)
    trial = copy.deepcopy(net)
    supplied = grids["bus"] if len(grids) else net.line["from_bus"]
    try:
        with quiet():
            short_circuit(trial, int(supplied.iloc[0]), 0.0)
    except Exception as cause:  # pandapower raises whatever the missing column provokes
        raise NetworkError(
            f"pandapower must be able to compute short circuits of the net, got {cause}; complete it (static "
            "generators need k, or in_service False)"
        ) from cause


def _require_ratios(net: Any) -> None:
    """pandapower gives no voltages during a fault where a transformer's ratio is not that of its buses."""
    of_bus = net.bus["vn_kv"]
    for table, low in (("trafo", "lv"), ("trafo3w", "mv"), ("trafo3w", "lv")):
        units = net[table]
        rated = units["vn_hv_kv"] / units[f"vn_{low}_kv"]
        between = of_bus[units["hv_bus"]].to_numpy() / of_bus[units[f"{low}_bus"]].to_numpy()
        off = np.flatnonzero(np.abs(rated.to_numpy() / between - 1) > RATIO_TOLERANCE)
        if off.size:
            raise NetworkError(
                "rated voltages of transformers must be those of their buses for voltages during a fault, "
                f"got another ratio in {table} {units.index[off[0]]}; change them, or use currents only"
            )
