"""
A source in New York's network
==============================

Where is the source? Forty evaluations of a posterior on the telecommunication network of New York.
"""

from dataclasses import dataclass
from pathlib import Path

import matplotlib.pyplot as plt
import numpy as np
from matplotlib.colors import Normalize

import netbo
from netbo import plotting
from netbo.problems import Problem, new_york_inversion

PIXEL = 1 / 150  # length of a pixel of the stored drawing; it has no other unit
SOURCE = 200  # node of the true source, which the search does not know
BUDGET = 40
TRUTH = "#f2c230"  # colour of what the search does not know


@dataclass(frozen=True)
class Answer:
    """What was found, beside the most probable place of all, which enumerating the nodes finds."""

    result: netbo.Result
    problem: Problem
    regret: float  # of the best place evaluated: maximum of the posterior minus its value, scaled to 0..1
    distance_off: float  # along the network, from the best place to the most probable one


def judge(result: netbo.Result, problem: Problem) -> Answer:
    """How good the answer is, by looking at every node."""
    assert problem.space is not None
    best = problem.on(problem.space.nodes)
    found = result.best().point
    off = problem.graph.distance(netbo.Points.at(found), best.maximizers).min()
    return Answer(result, problem, float(best.regret(found)), float(off))


def draw(answer: Answer, path: Path) -> None:
    """The posterior at every node, beside what forty evaluations of it say."""
    problem, graph = answer.problem, answer.problem.graph
    figure, (truth, known, course) = plt.subplots(
        1, 3, figsize=(15.0, 5.2), width_ratios=(1, 1, 0.8), layout="constrained"
    )
    nodes = answer.result.optimizer.space.nodes
    common = Normalize(float(problem(nodes).min()), problem.maximum)  # the truth and what is known of it
    plotting.draw_field(graph, problem, truth, norm=common, label="log posterior, all of it known")
    for ax in (truth, known):
        plotting.draw_points(
            graph, problem.maximizers, ax, marker="P", color=TRUTH, size=15, label="most probable place"
        )
    answer.result.plot(known, norm=common, label=f"estimated log posterior, from {BUDGET} evaluations")
    for ax in (truth, known):
        plotting.draw_legend(ax, ncols=3)
    answer.result.plot_convergence(course, reference=problem.maximum, label="log posterior, scaled")
    path.parent.mkdir(parents=True, exist_ok=True)
    figure.savefig(path, dpi=110)


def main(picture: Path = Path("out/new_york_telecom.png"), *, seed: int = 0) -> Answer:
    """Run the example; the answer it returns is the one it prints."""
    network = netbo.read("sndlib/newyork", scale=PIXEL)
    print(network.report)
    inversion = new_york_inversion(SOURCE, scale=1 / PIXEL, seed=seed)
    assert np.allclose(inversion.space.graph.lengths, network.graph.lengths)
    problem = inversion.problem()
    result = netbo.maximize(problem, inversion.space, budget=BUDGET, noise=0.0, seed=seed)
    answer = judge(result, problem)
    found, (source,) = result.best().point, inversion.source_point
    print(
        f"\nbest: link {found.edge_id}, {found.distance:.2f} from its first end\n"
        f"the most probable of {inversion.space.n_nodes} nodes is {answer.distance_off:.2f} away, "
        f"its log posterior {answer.regret:.2g} of the whole range higher\n"
        f"the source itself is on link {source.edge_id}, {source.distance:.2f} from its first end"
    )
    draw(answer, picture)
    print(f"picture: {picture}")
    return answer


if __name__ == "__main__":
    main()
