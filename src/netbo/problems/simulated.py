"""Leaks, contaminations and faults of the suite: simulated once along every edge, then read from files.

A scan holds the root mean square of the residuals, in standard deviations of the instruments, at equally
spaced places of every edge, and the recipe by which it was made: `benchmarks/scan.py`. The networks are those
that come with wntr and pandapower.
"""

import json
from collections.abc import Callable
from dataclasses import dataclass
from importlib.resources import files
from pathlib import Path
from typing import Any

import numpy as np

from netbo.arrays import FloatArray
from netbo.errors import ParameterError
from netbo.geometry import MetricGraph
from netbo.problems.problem import EdgewiseFunction, Problem, edgewise_places

PLACES = 1_200  # of a scan, about; every edge has three at least
WATER = {"net1": "Net1", "net2": "Net2", "net3": "Net3", "ky4": "ky4"}
POWER = {
    "oberrhein": "mv_oberrhein.json",
    "cigre-mv": "create_cigre_network_mv",
    "case33bw": "case33bw",
    "vorstadt": "create_kerber_vorstadtnetz_kabel_1",
}


def simulator_source(name: str) -> Any:
    """What a simulator brings along: path of an EPANET file or of a pandapower net, or a net."""
    if name in WATER:
        from netbo.adapters.wntr.model import load_wntr  # noqa: PLC0415 - needs the extra 'water'

        return load_wntr().library.ModelLibrary().get_filepath(WATER[name])
    from netbo.adapters.pandapower.nets import load_pandapower, quiet  # noqa: PLC0415 - 'power'

    networks = load_pandapower("pandapower.networks")
    if POWER[name].endswith(".json"):  # pandapower's own function runs a power flow too: seconds
        return Path(networks.__file__).parent / POWER[name]
    with quiet():
        return getattr(networks, POWER[name])()


@dataclass(frozen=True)
class Scan:
    """An event as a simulator sees it from every edge.

    recipe: what was simulated: network, event, edge, fraction, instruments, errors.
    rms: root mean squares of the residuals by the edge's name, at equally spaced places from tail to head.
    """

    recipe: dict[str, Any]
    rms: dict[str, list[float]]

    def problem(self, graph: MetricGraph, score: Callable[[FloatArray], FloatArray]) -> Problem:
        """The problem on the network of the scan; `score` makes of the mean squares what is maximized."""
        points, starts = edgewise_places(graph, graph.total_length / PLACES)
        edges, counts = [str(each) for each in graph.edge_ids], np.diff(starts).tolist()
        if {name: len(row) for name, row in self.rms.items()} != dict(zip(edges, counts, strict=True)):
            raise ParameterError(
                f"a scan must fit the network {self.recipe['network']} of the installed simulator, got "
                f"{len(self.rms)} edges for {len(edges)} or other lengths; make it anew: benchmarks/scan.py"
            )
        values = score(np.concatenate([self.rms[name] for name in edges]))
        highest = float(values.max())
        best = points[np.flatnonzero(values == highest)]
        return Problem(self.recipe["name"], graph, EdgewiseFunction(graph, starts, values), highest, best)


def scan_path(name: str) -> Any:
    """Where the scan of a problem lies in the package."""
    return files("netbo.problems") / "scans" / f"{name.replace('/', '-')}.json"


def read_scan(name: str) -> Scan:
    """The scan of a problem of the suite."""
    return Scan(**json.loads(scan_path(name).read_text(encoding="utf-8")))
