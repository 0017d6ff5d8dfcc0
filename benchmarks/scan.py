"""What do the simulated events of the suite look like along every edge? Their scans, made anew.

Writes src/netbo/problems/scans for the named problems, or for all: about 15 minutes.
"""

import argparse
import json
import random
import time
from typing import Any

import numpy as np
import pandas as pd

from netbo.adapters.misfit import Misfit
from netbo.adapters.pandapower import fault_misfit, simulate_fault
from netbo.adapters.pandapower.faults import live_ends
from netbo.adapters.pandapower.nets import open_net
from netbo.adapters.wntr import contamination_misfit, leak_misfit, simulate_contamination, simulate_leak
from netbo.adapters.wntr.model import open_model
from netbo.arrays import FloatArray
from netbo.errors import NumericalError
from netbo.geometry import MetricGraph
from netbo.problems import SUITE, SuiteProblem
from netbo.problems.landscapes import network
from netbo.problems.problem import edgewise_places
from netbo.problems.simulated import PLACES, WATER, Scan, scan_path, simulator_source

INSTRUMENTS = 8
LEAK_SHARE = 0.2  # of the water that all customers draw: the flow of a leak
ACCURACY = 1e-6  # relative change of flows at which EPANET stops
PRESSURE_ERROR = 0.02  # standard deviation as a share of what the leak changes: networks differ tenfold
VOLTAGE_SD, SENSOR_SD = 0.005, 0.1  # share of the voltage before the fault; mg/L
NOTICED = 0.1  # m of water: a leak that changes less is not searched
WITNESSES, CLEARLY = 3, 10.0  # instruments that must see an event, and by how many standard deviations
RATE = 0.5  # g/s of a contamination
HOURS = tuple(range(1, 13))  # at which sensors are read
SUPPLY = {"s_sc_max_mva": 1000.0, "rx_max": 0.1}  # of the grid above
RMS = "root mean square"


def recipe_of(entry: SuiteProblem) -> dict[str, Any]:
    """An event at a random place, uniform in length, and instruments at random nodes that see it."""
    rng, graph = np.random.default_rng(entry.seed), network(entry.network)
    known, settings = _nodes(entry.network), _settings(entry)
    while True:
        row = int(rng.choice(graph.n_edges, p=graph.lengths / graph.total_length))
        fraction = round(float(rng.uniform(0.1, 0.9)), 3)
        chosen = rng.choice(len(known), min(INSTRUMENTS, len(known)), replace=False)
        recipe = {
            "name": entry.name,
            "network": entry.network,
            "event": entry.landscape.partition("-")[0],
            "edge": graph.edge_ids[row],
            "fraction": fraction,
            "instruments": [known[each] for each in sorted(chosen)],
            "seed": entry.seed,  # of the errors
            **settings,
        }
        change = change_of(recipe)
        typical = float(np.sqrt(np.mean(change**2)))
        is_leak = recipe["event"] == "leak"
        if is_leak:
            recipe["sd"] = float(f"{PRESSURE_ERROR * typical:.2g}")
        is_seen = (change > CLEARLY * recipe["sd"]).sum() >= WITNESSES
        if is_seen and not (is_leak and typical < NOTICED):
            return recipe
        print(f"  {entry.name}: too little is seen of {recipe['edge']} at {fraction}")


def change_of(recipe: dict[str, Any]) -> FloatArray:
    """By how much the event changes what each instrument shows, at most over time."""
    change = np.abs(np.array(readings_of(recipe, sd=0.0)) - np.array(readings_without(recipe)))
    return np.asarray(change.reshape(-1, len(recipe["instruments"])).max(axis=0))


def _nodes(name: str) -> list[Any]:
    """Where instruments may be."""
    if name in WATER:
        return list(water_net(name).junction_name_list)
    return sorted(live_ends(power_net(name)))


def _settings(entry: SuiteProblem) -> dict[str, Any]:
    if entry.landscape.startswith("contamination"):
        return {"sd": SENSOR_SD, "rate": RATE, "hours": list(HOURS)}
    if entry.landscape.startswith("fault"):
        return {"sd": VOLTAGE_SD, **SUPPLY}
    junctions = water_net(entry.network).junctions()
    drawn = sum(max(junction.base_demand, 0.0) for _, junction in junctions)  # wells count as nothing
    return {"flow": float(f"{LEAK_SHARE * drawn:.4g}")}


def water_net(name: str) -> Any:
    """A model that EPANET solves to more digits than the file asks for: those of the instruments."""
    model, _ = open_model(simulator_source(name))
    model.options.hydraulic.accuracy = ACCURACY
    return model


def power_net(name: str) -> Any:
    """A net that can be faulted: with the strength of its supply and without static generators."""
    random.seed(0)  # pandapower draws the cables of house connections
    net, _ = open_net(simulator_source(name))
    for column, value in SUPPLY.items():
        net.ext_grid[column] = value
    net.sgen["in_service"] = False
    return net


def readings_of(recipe: dict[str, Any], *, sd: float) -> Any:
    """What the instruments show."""
    at, instruments = (recipe["edge"], recipe["fraction"]), recipe["instruments"]
    errors = {"sd": sd, "seed": recipe["seed"]}
    if recipe["event"] == "fault":
        seen = simulate_fault(power_net(recipe["network"]), *at, buses=instruments, **errors)
        return pd.Series(seen.voltages)
    model = water_net(recipe["network"])
    if recipe["event"] == "leak":
        settings = {"loggers": instruments, "times": [0.0], **errors}
        return simulate_leak(model, *at, recipe["flow"], **settings).pressures
    times = [3600.0 * hour for hour in recipe["hours"]]
    return simulate_contamination(model, *at, recipe["rate"], sensors=instruments, times=times, **errors)


def readings_without(recipe: dict[str, Any]) -> Any:
    """What they show if nothing happens."""
    if recipe["event"] == "leak":
        return readings_of({**recipe, "flow": 0.0}, sd=0.0)
    return 1.0 if recipe["event"] == "fault" else 0.0


def misfit_of(recipe: dict[str, Any]) -> Misfit:
    """The objective by simulation: minus the root mean square at each point."""
    sd, seen = recipe["sd"], readings_of(recipe, sd=recipe["sd"])
    if recipe["event"] == "fault":
        return fault_misfit(power_net(recipe["network"]), seen.to_dict(), sd, score=RMS)
    model = water_net(recipe["network"])
    if recipe["event"] == "leak":
        return leak_misfit(model, seen, recipe["flow"], sd, score=RMS)
    return contamination_misfit(model, seen, recipe["rate"], sd, score=RMS)


def scan(recipe: dict[str, Any], graph: MetricGraph) -> Scan:
    """Simulations along every edge; where there is no solution, the largest that was found elsewhere."""
    misfit, points = misfit_of(recipe), edgewise_places(graph, graph.total_length / PLACES)
    found = np.array([_rms(misfit, point) for point in points[0]])
    if np.isnan(found).any():
        print(f"  no solution at {np.isnan(found).mean():.1%} of the places")
    rounded = [float(f"{each:.7g}") for each in np.where(np.isnan(found), np.nanmax(found), found)]
    names, starts = [str(each) for each in graph.edge_ids], points[1].tolist()
    rows = zip(names, starts[:-1], starts[1:], strict=True)
    return Scan(recipe, {name: rounded[first:end] for name, first, end in rows})


def _rms(misfit: Misfit, point: Any) -> float:
    try:
        return -misfit(point)
    except NumericalError:
        return np.nan


def main() -> None:
    """Scan the named problems, or all simulated ones."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("names", nargs="*")
    names = parser.parse_args().names
    for entry in SUITE:
        if not entry.is_simulated or (names and entry.name not in names):
            continue
        begun, recipe = time.process_time(), recipe_of(entry)
        made = scan(recipe, network(entry.network))
        content = json.dumps({"recipe": made.recipe, "rms": made.rms}, separators=(",", ":"))
        scan_path(entry.name).write_text(content.replace('],"', '],\n"') + "\n", encoding="utf-8")
        spent = time.process_time() - begun
        print(f"{entry.name}: {sum(map(len, made.rms.values()))} places, {spent:.0f} s", flush=True)


if __name__ == "__main__":
    main()
