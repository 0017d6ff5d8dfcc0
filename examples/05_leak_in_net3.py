"""
A leak in EPANET's Net3
=======================

Sixty simulated leaks are set against a night of readings at twelve loggers. Leak, loggers and their
accuracy were chosen so that the answer can be told: with readings good to 0.2 psi instead of 0.02
neighbouring pipes explain them equally well, and a leak on pipe 173 took 80 simulations.
"""

from dataclasses import dataclass
from pathlib import Path

import matplotlib.pyplot as plt
import numpy as np
from wntr.library import ModelLibrary

import netbo
from netbo import plotting
from netbo.adapters.wntr import LeakMisfit, leak_misfit, simulate_leak
from netbo.arrays import FloatArray

NET3 = ModelLibrary().get_filepath("Net3")  # an example of EPANET's own, in feet, gallons a minute and psi
LEAK = ("113", 0.4)  # pipe and fraction: what the search does not know
FLOW = 300.0  # gallons a minute: nor this
LOGGERS = ["15", "35", "105", "113", "143", "151", "163", "189", "197", "205", "219", "247"]
NIGHT = 3600.0 * np.arange(6)  # seconds; one reading an hour from midnight to five
SD = 0.02  # psi, of an hour's mean of a logger that reads every few seconds
BUDGET = 60
TRUTH, FOUND = "#f2c230", "#c0392b"  # colours of what the search does not know, and of its answer


@dataclass(frozen=True)
class Answer:
    """What was found, how far it is from the leak along the pipes, and how well both explain the readings."""

    result: netbo.Result
    metres_off: float
    score: float  # at the recommended place
    score_of_truth: float
    flow: float  # that explains the readings best at the recommended place


def read_the_loggers(seed: int) -> LeakMisfit:
    """The readings of a night with the leak, and the function that says how well another leak explains them.

    In the field the readings come from the loggers' files; here they are simulated, with errors.
    """
    readings = simulate_leak(NET3, *LEAK, FLOW, loggers=LOGGERS, times=NIGHT.tolist(), sd=SD, seed=seed)
    return leak_misfit(NET3, readings.pressures, sd=SD)


def judge(result: netbo.Result, misfit: LeakMisfit, network: netbo.Network) -> Answer:
    """The recommended place beside the true one."""
    pipe, fraction = LEAK
    found = result.recommend().point
    off = network.graph.distance(netbo.Points.at(found), network.points(pipe, fraction=fraction))[0, 0]
    flow = misfit.flow_at(found.edge_id, found.fraction or 0.0)
    return Answer(result, float(off), misfit(found), misfit.at(pipe, fraction), flow)


def along(misfit: LeakMisfit, pipe: str, n: int = 21) -> tuple[FloatArray, FloatArray]:
    """Fractions of a pipe, and the score of a leak there."""
    fractions = np.linspace(0.0, 1.0, n)
    return fractions, np.array([misfit.at(pipe, fraction) for fraction in fractions])


def draw(answer: Answer, misfit: LeakMisfit, network: netbo.Network, path: Path) -> None:
    """The network as the search knows it, the pipe it recommends, and the search in its order."""
    graph, (pipe, fraction) = network.graph, LEAK
    figure, axes = plt.subplot_mosaic(
        [["plan", "pipe"], ["plan", "course"]],
        figsize=(12.5, 6.4),
        width_ratios=(1.3, 1),
        layout="constrained",
    )
    plan, profile, course = (axes[name] for name in ("plan", "pipe", "course"))
    found, seen = answer.result.recommend().point, answer.result.optimizer.observations
    plotting.draw_field(
        graph, answer.result.posterior.mean, plan, label="estimated score of a leak there",
    )  # fmt: skip
    truth, meters = network.points(pipe, fraction=fraction), graph.vertex_indices(LOGGERS)
    rows = (
        (truth, "P", TRUTH, 15, "true leak"),
        (graph.vertex_points(meters), "v", "white", 8, "loggers"),
        (seen.points, "o", "white", 4, "simulated leaks"),
        (netbo.Points.at(found), "*", FOUND, 10, "recommended"),
    )
    for places, marker, color, size, label in rows:
        plotting.draw_points(graph, places, plan, marker=marker, color=color, size=size, label=label)
    plotting.draw_legend(plan, ncols=2)
    fractions, scores = along(misfit, str(found.edge_id))
    length = graph.lengths[graph.edge_indices(found.edge_id)[0]]
    profile.plot(fractions * length, scores, color="black", label=f"score along pipe {found.edge_id}")
    profile.axvline(found.distance, color=FOUND, linestyle="--", label="recommended")
    if found.edge_id == pipe:
        profile.axvline(fraction * length, color=TRUTH, linewidth=3, zorder=0, label="true leak")
    profile.set_xlabel("metres from the pipe's first node")
    profile.set_ylabel("score")
    profile.legend(loc="lower center", bbox_to_anchor=(0.5, 1.0), ncols=3, frameon=False)
    answer.result.plot_convergence(course, reference=scores.max(), label="score")
    path.parent.mkdir(parents=True, exist_ok=True)
    figure.savefig(path, dpi=110)


def main(picture: Path = Path("out/leak_in_net3.png"), *, seed: int = 0) -> Answer:
    """Run the example; the answer it returns is the one it prints."""
    network = netbo.read(NET3)
    print(network.report)
    misfit = read_the_loggers(seed)
    print(f"\n{misfit}")
    result = netbo.maximize(misfit, network, budget=BUDGET, noise=0.0, seed=seed)
    answer = judge(result, misfit, network)
    found = result.recommend().point
    print(
        f"\nrecommended: pipe {found.edge_id}, {found.distance:.0f} m from its first node, "
        f"{answer.flow:.0f} gallons a minute, score {answer.score:.2f}\n"
        f"the leak is on pipe {LEAK[0]}, {answer.metres_off:.0f} m of pipe away, "
        f"{FLOW:.0f} gallons a minute, score {answer.score_of_truth:.2f} (about 0: errors only)"
    )
    draw(answer, misfit, network, picture)
    print(f"picture: {picture}")
    return answer


if __name__ == "__main__":
    main()
