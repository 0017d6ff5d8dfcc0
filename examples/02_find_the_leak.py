"""
A leak in a small town
======================

Where is the leak? Somebody listens at 30 places along the pipes, chosen one after another; each reading has
an error.
"""

from pathlib import Path

import matplotlib.pyplot as plt
import numpy as np

import netbo
from netbo import plotting
from netbo.arrays import FloatArray

BUDGET = 30
NOISE_SD = 1.5  # dB, of one reading; told to the search, as it is on the data sheet of most instruments
LEAK = ("Mill Lane", 130.0)  # what the search does not know
LEAK_LEVEL, BACKGROUND = 62.0, 28.0  # dB
ATTENUATION = 0.09  # dB per metre of pipe
TRUTH = "#f2c230"  # colour of what the search does not know

JUNCTIONS = {
    "pump": (0, 200), "A": (150, 210), "B": (330, 220), "C": (520, 200), "D": (700, 230), "E": (160, 380),
    "F": (340, 400), "G": (530, 390), "H": (690, 410), "I": (340, 560), "J": (520, 580), "K": (170, 40),
    "L": (350, 50), "M": (540, 30), "farm": (860, 330), "school": (160, 540),
}  # in metres  # fmt: skip
PIPES = {
    "Main Street W": ("pump", "A"), "Main Street": ("A", "B"), "Main Street E": ("B", "C"),
    "Station Road": ("C", "D"), "Well Lane": ("A", "E"), "Church Lane": ("B", "F"), "Mill Lane": ("C", "G"),
    "Orchard Lane": ("D", "H"), "High Street W": ("E", "F"), "High Street": ("F", "G"),
    "High Street E": ("G", "H"), "Hill Road": ("F", "I"), "Quarry Road": ("G", "J"), "Top Road": ("I", "J"),
    "River Lane": ("A", "K"), "Bridge Lane": ("B", "L"), "Ferry Lane": ("C", "M"), "River Road W": ("K", "L"),
    "River Road": ("L", "M"), "Farm Track": ("H", "farm"), "School Lane": ("E", "school"),
}  # fmt: skip


def town() -> netbo.MetricGraph:
    """The pipes, straight between their junctions and named after the streets above them."""
    number = {name: index for index, name in enumerate(JUNCTIONS)}
    tails, heads = zip(*((number[tail], number[head]) for tail, head in PIPES.values()), strict=True)
    return netbo.MetricGraph(
        tails, heads, None, positions=list(JUNCTIONS.values()), edge_ids=PIPES, vertex_ids=JUNCTIONS, unit="m"
    )


class Listening:
    """A microphone on a pipe: the leak, weaker with every metre of pipe, above the background."""

    def __init__(self, graph: netbo.MetricGraph, seed: int) -> None:
        self.graph, self.leak = graph, graph.points(*LEAK)
        self.rng = np.random.default_rng(seed)

    def __call__(self, place: netbo.Point) -> float:
        """One reading, in dB."""
        (level,) = self.level(netbo.Points.at(place))
        return float(level + NOISE_SD * self.rng.standard_normal())

    def level(self, places: netbo.Points) -> FloatArray:
        """Levels without errors: powers add, and the sound takes the shortest way."""
        leak = LEAK_LEVEL - ATTENUATION * self.graph.distance(places, self.leak)[:, 0]
        return np.asarray(10 * np.log10(10 ** (leak / 10) + 10 ** (BACKGROUND / 10)))

    def distance(self, place: netbo.Point) -> float:
        """Metres of pipe between a place and the leak."""
        return float(self.graph.distance(netbo.Points.at(place), self.leak)[0, 0])


def describe(result: netbo.Result) -> str:
    """What is known, the places to consider, and where to dig."""
    rows = [
        f"{mode.point.edge_id!s:13s} at {mode.point.distance:4.0f} m: {mode.probability:4.0%}, "
        f"{mode.mean:.1f} dB ({mode.low:.1f} to {mode.high:.1f})"
        for mode in result.modes()
    ]
    return "\n".join(
        [str(result.summary()), "", "loudest place, by probability", *rows, "", str(result.search_list(0.9))]
    )


def draw(result: netbo.Result, listen: Listening, path: Path) -> None:
    """The town as the search knows it in the end, the pipe of the leak, and the readings in their order."""
    graph = listen.graph
    figure, axes = plt.subplot_mosaic(
        [["plan", "pipe"], ["plan", "course"]], figsize=(12.0, 6.0), width_ratios=(1.25, 1),
        layout="constrained",
    )  # fmt: skip
    plan, pipe = axes["plan"], axes["pipe"]
    result.plot(plan, label="estimated level (dB)")
    plotting.draw_points(graph, listen.leak, plan, marker="P", color=TRUTH, size=10, label="true leak")
    plotting.draw_edge_ids(graph, plan, size=6.5)
    plotting.draw_legend(plan, ncols=3)
    posterior = result.posterior
    plotting.draw_profile(
        graph, posterior, pipe, edges=["Ferry Lane", "Mill Lane", "Quarry Road"], reference=listen.level,
        label="level (dB)",
    )  # fmt: skip
    pipe.legend(loc="lower center", ncols=2, frameon=False)
    result.plot_convergence(axes["course"], reference=LEAK_LEVEL, label="level (dB)")
    path.parent.mkdir(parents=True, exist_ok=True)
    figure.savefig(path, dpi=110)


def main(picture: Path = Path("out/find_the_leak.png"), *, seed: int = 0) -> tuple[netbo.Result, float]:
    """Run the example: what was found, and how many metres of pipe the recommended place is off."""
    listen = Listening(town(), seed)
    result = netbo.maximize(listen, listen.graph, budget=BUDGET, noise=NOISE_SD**2, seed=seed, max_cell=5.0)
    print(describe(result))
    off = listen.distance(result.recommend().point)
    edge, distance = LEAK
    print(f"\nthe leak is on {edge}, {distance:g} m: the recommended place is {off:.0f} m of pipe away")
    draw(result, listen, picture)
    print(f"picture: {picture}")
    return result, off


if __name__ == "__main__":
    main()
