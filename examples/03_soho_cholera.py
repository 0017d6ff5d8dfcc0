"""
Cholera in Soho, 1854
=====================

Where along Soho's streets did cholera strike hardest? Forty places are surveyed, one after another, on John
Snow's map.
"""

from dataclasses import dataclass
from pathlib import Path

import geopandas
import libpysal
import matplotlib.pyplot as plt
import numpy as np
from matplotlib.colors import Normalize

import netbo
from netbo import plotting
from netbo.arrays import FloatArray

MAPS = Path(libpysal.__file__).parent / "examples" / "snow_maps"  # after John Snow's map; web-mercator
BUDGET = 40
SNAP = 0.01  # metres; many streets end a fraction of a millimetre beside the one they should meet
WALK = 50.0  # metres; a death counts less the farther one walks to it
BROAD_STREET_PUMP = 8  # its row among the water pumps
PUMP = "#f2c230"


class CholeraRate:
    """Deaths per 100 m of street around a place; deaths and street count less with every metre of walk.

    r(x) = 100 sum_i exp(-d(x, x_i)^2 / 2 w^2) deaths_i / integral exp(-d(x, y)^2 / 2 w^2) dy, w = walk
    """

    def __init__(self, network: netbo.Network, walk: float = WALK) -> None:
        people = geopandas.read_file(MAPS / "SohoPeople.shp")
        self.graph, self.walk, self.deaths = network.graph, walk, people["Count"].to_numpy(dtype=float)
        self.homes, _ = network.locate(people.get_coordinates().to_numpy(), limit=50.0)
        self.streets, self.metres = spread(self.graph, step=5.0)

    def __call__(self, place: netbo.Point) -> float:
        """Rate at one place: what a survey of its neighbourhood would find."""
        return float(self.rates(netbo.Points.at(place, graph=self.graph))[0])

    def rates(self, places: netbo.Points) -> FloatArray:
        """Rates at many places."""
        deaths = self.nearness(places, self.homes) @ self.deaths
        return np.asarray(100 * deaths / (self.nearness(places, self.streets) @ self.metres))

    def nearness(self, places: netbo.Points, others: netbo.Points) -> FloatArray:
        """Weights by walking distance, (n, m)."""
        return np.asarray(np.exp(-0.5 * (self.graph.distance(places, others) / self.walk) ** 2))


def spread(graph: netbo.MetricGraph, step: float) -> tuple[netbo.Points, FloatArray]:
    """Middles of pieces of at most `step` metres on all streets, and the lengths of the pieces."""
    counts = np.ceil(graph.lengths / step).astype(int)
    edge = np.repeat(np.arange(graph.n_edges), counts)
    number = np.arange(len(edge)) - np.repeat(np.cumsum(counts) - counts, counts)
    metres = (graph.lengths / counts)[edge]
    return netbo.Points(edge, (number + 0.5) * metres, graph=graph), metres


@dataclass(frozen=True)
class Answer:
    """The recommended place beside the true one, which a scan of every 2 m of street finds."""

    result: netbo.Result
    rate: float  # at the recommended place
    highest_rate: float
    metres_off: float  # of walk between the two
    metres_to_pump: float  # of walk from the recommended place to the pump in Broad Street


def judge(result: netbo.Result, rate: CholeraRate, pump: netbo.Points) -> Answer:
    """How good the answer is, by looking everywhere."""
    everywhere, _ = spread(rate.graph, step=2.0)
    rates = np.concatenate(
        [rate.rates(everywhere[start : start + 500]) for start in range(0, len(everywhere), 500)]
    )
    worst = everywhere[[int(np.argmax(rates))]]
    found = netbo.Points.at(result.recommend().point, graph=rate.graph)
    walks = rate.graph.distance(found, netbo.Points.concatenate([worst, pump]))[0]
    return Answer(result, float(rate.rates(found)[0]), float(rates.max()), float(walks[0]), float(walks[1]))


def draw(answer: Answer, network: netbo.Network, rate: CholeraRate, pump: netbo.Points, path: Path) -> None:
    """The true rate with the deaths, beside what forty surveys say."""
    figure, (truth, known) = plt.subplots(1, 2, figsize=(13.0, 6.2), layout="constrained")
    common = Normalize(0.0, answer.highest_rate)
    plotting.draw_field(
        network.graph, rate.rates, truth, norm=common, label="deaths per 100 m of street, all of it known"
    )
    x, y = network.graph.embed(rate.homes).T
    truth.scatter(
        x,
        y,
        s=4 * rate.deaths,
        color="white",
        edgecolors="black",
        linewidths=0.6,
        zorder=2.5,
        label="deaths by house",
    )
    answer.result.plot(known, norm=common, label=f"deaths per 100 m of street, from {BUDGET} surveys")
    for ax in (truth, known):
        plotting.draw_points(
            network.graph, pump, ax, marker="P", color=PUMP, size=11, label="Broad Street pump"
        )
        plotting.draw_legend(ax, ncols=3)
    path.parent.mkdir(parents=True, exist_ok=True)
    figure.savefig(path, dpi=110)


def main(picture: Path = Path("out/soho_cholera.png"), *, seed: int = 0) -> Answer:
    """Run the example; the answer it returns is the one it prints."""
    network = netbo.read(MAPS / "Soho_Network.shp", node=True, snap=SNAP)
    print(network.report)
    rate = CholeraRate(network)
    pumps = geopandas.read_file(MAPS / "SohoWater.shp").get_coordinates().to_numpy()
    pump, _ = network.locate(pumps[[BROAD_STREET_PUMP]])
    result = netbo.maximize(rate, network, budget=BUDGET, noise=0.0, seed=seed, max_cell=10.0)
    answer = judge(result, rate, pump)
    (address,) = network.address(netbo.Points.at(result.recommend().point, graph=network.graph))
    print(
        f"\nrecommended: street {address.edge_id}, {address.distance:.0f} m along it, "
        f"with {answer.rate:.1f} deaths per 100 m\n"
        f"a scan of every 2 m finds {answer.highest_rate:.1f}, {answer.metres_off:.0f} m away\n"
        f"the pump in Broad Street is {answer.metres_to_pump:.0f} m away"
    )
    draw(answer, network, rate, pump, picture)
    print(f"picture: {picture}")
    return answer


if __name__ == "__main__":
    main()
