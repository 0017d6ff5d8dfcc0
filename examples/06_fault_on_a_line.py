"""
A fault on a line
=================

Where on the lines of mv_oberrhein is the fault? Forty simulated faults are set against what the meters saw.
"""

import warnings
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import matplotlib.pyplot as plt
import numpy as np
from pandapower.networks import mv_oberrhein

import netbo
from netbo import plotting
from netbo.adapters.pandapower import FaultMisfit, fault_misfit, simulate_fault
from netbo.arrays import FloatArray

FAULT = (120, 0.35)  # line and fraction: what the search does not know
BUSES = [39, 319, 71, 248, 236, 51, 50, 34, 169, 229]  # two substations and eight secondary ones
RELAYS = [(62, 319), (193, 319), (162, 39), (165, 39)]  # line and bus: the heads of the four feeders
SD = 0.002  # of a voltage, as a share of the voltage before the fault
CURRENT_SD = 0.01  # kA
BUDGET = 40
TRUTH, FOUND = "#f2c230", "#c0392b"  # colours of what the search does not know, and of its answer


@dataclass(frozen=True)
class Answer:
    """What was found, how far it is from the fault along the lines, and how well both explain readings."""

    result: netbo.Result
    metres_off: float
    score: float  # at the recommended place
    score_of_truth: float


def oberrhein() -> Any:
    """The medium-voltage network, with what a short circuit needs to know of the supplying grid."""
    with warnings.catch_warnings():
        warnings.simplefilter(
            "ignore", DeprecationWarning
        )  # the stored net is older than pandapower's tables
        net = mv_oberrhein()
    net.ext_grid[["s_sc_max_mva", "rx_max"]] = 1000.0, 0.1
    net.sgen["in_service"] = False  # what inverters feed into a fault is left out
    return net


def read_the_meters(net: Any, seed: int) -> FaultMisfit:
    """The readings during the fault, and the function that says how well another fault explains them.

    In the field the readings come from relays and meters; here they are simulated, with errors.
    """
    readings = simulate_fault(
        net, *FAULT, buses=BUSES, relays=RELAYS, sd=SD, current_sd=CURRENT_SD, seed=seed
    )
    return fault_misfit(
        net,
        readings.voltages,
        SD,
        currents=readings.currents,
        current_sd=CURRENT_SD,
    )


def judge(result: netbo.Result, misfit: FaultMisfit, network: netbo.Network) -> Answer:
    """The recommended place beside the true one."""
    line, fraction = FAULT
    found = result.recommend().point
    off = network.graph.distance(netbo.Points.at(found), network.points(line, fraction=fraction))[0, 0]
    return Answer(result, 1000 * float(off), misfit(found), misfit.at(line, fraction))


def along(misfit: FaultMisfit, line: int, n: int = 21) -> tuple[FloatArray, FloatArray]:
    """Fractions of a line, and the score of a fault there."""
    fractions = np.linspace(0.0, 1.0, n)
    return fractions, np.array([misfit.at(line, fraction) for fraction in fractions])


def draw(answer: Answer, misfit: FaultMisfit, network: netbo.Network, path: Path) -> None:
    """The network as the search knows it, the line it recommends, and the search in its order."""
    graph, (line, fraction) = network.graph, FAULT
    figure, axes = plt.subplot_mosaic(
        [["plan", "line"], ["plan", "course"]],
        figsize=(12.5, 6.4),
        width_ratios=(1.3, 1),
        layout="constrained",
    )
    plan, profile, course = (axes[name] for name in ("plan", "line", "course"))
    found, seen = answer.result.recommend().point, answer.result.optimizer.observations
    plotting.draw_field(
        graph, answer.result.posterior.mean, plan, label="estimated score of a fault there",
    )  # fmt: skip
    truth, meters = network.points(line, fraction=fraction), graph.vertex_indices(BUSES)
    rows = (
        (truth, "P", TRUTH, 15, "true fault"),
        (graph.vertex_points(meters), "v", "white", 8, "meters"),
        (seen.points, "o", "white", 4, "simulated faults"),
        (netbo.Points.at(found), "*", FOUND, 10, "recommended"),
    )
    for places, marker, color, size, label in rows:
        plotting.draw_points(graph, places, plan, marker=marker, color=color, size=size, label=label)
    plotting.draw_legend(plan, ncols=2)
    fractions, scores = along(misfit, int(str(found.edge_id)))
    length = 1000 * graph.lengths[graph.edge_indices(found.edge_id)[0]]
    profile.plot(fractions * length, scores, color="black", label=f"score along line {found.edge_id}")
    profile.axvline(1000 * found.distance, color=FOUND, linestyle="--", label="recommended")
    if found.edge_id == line:
        profile.axvline(fraction * length, color=TRUTH, linewidth=3, zorder=0, label="true fault")
    profile.set_xlabel("metres from the line's first bus")
    profile.set_ylabel("score")
    profile.legend(loc="lower center", bbox_to_anchor=(0.5, 1.0), ncols=3, frameon=False)
    answer.result.plot_convergence(course, reference=scores.max(), label="score")
    path.parent.mkdir(parents=True, exist_ok=True)
    figure.savefig(path, dpi=110)


def main(picture: Path = Path("out/fault_on_a_line.png"), *, seed: int = 0) -> Answer:
    """Run the example; the answer it returns is the one it prints."""
    net = oberrhein()
    network = netbo.read(net)
    print(network.report)
    misfit = read_the_meters(net, seed)
    print(f"\n{misfit}")
    result = netbo.maximize(misfit, network, budget=BUDGET, noise=0.0, seed=seed)
    answer = judge(result, misfit, network)
    found = result.recommend().point
    print(
        f"\nrecommended: line {found.edge_id}, {1000 * found.distance:.0f} m from its first bus, "
        f"score {answer.score:.2f}\n"
        f"the fault is on line {FAULT[0]}, {answer.metres_off:.0f} m of line away, "
        f"score {answer.score_of_truth:.2f} (about 0: errors only)"
    )
    draw(answer, misfit, network, picture)
    print(f"picture: {picture}")
    return answer


if __name__ == "__main__":
    main()
