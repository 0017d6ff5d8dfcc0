"""
Measurements on Manhattan's streets
===================================

Where is the air worst, and where to measure next? Sixty measurements come in a CSV file with the positions
of a receiver that lost its way twice.
"""

from dataclasses import dataclass
from pathlib import Path

import geopandas
import matplotlib.pyplot as plt
import momepy
import numpy as np
import pandas as pd

import netbo
from netbo import plotting
from netbo.adapters.measurements import Measurements, snap_measurements
from netbo.arrays import FloatArray
from netbo.optimize import Recommendation, Suggestion
from netbo.plotting import style

STREETS = momepy.datasets.get_path("nyc_graph", "graphml")  # saved by OSMnx
LON_LAT = "EPSG:4326"
N_MEASUREMENTS, N_NEXT = 60, 5
NOISE_SD = 2.0  # micrograms per cubic metre, of one measurement
GPS_SD = 4.0  # metres
APART = 60.0  # metres of street, between places to measure next
LIMIT = 25.0  # metres; a position farther from every street is not believed
SOURCE = (42438043, 42438045, 0), 0.35  # what nobody knows: a stack in West 88th Street, a third along it
SOURCE_COLOUR = "#f2c230"


class Air:
    """Nitrogen dioxide along the streets: a background, and a source whose plume follows them."""

    def __init__(self, network: netbo.Network) -> None:
        edge, share = SOURCE
        self.graph, self.source = network.graph, network.points([edge], fraction=share)

    def __call__(self, places: netbo.Points) -> FloatArray:
        """Concentrations in micrograms per cubic metre."""
        return np.asarray(28.0 + 34.0 * np.exp(-self.metres(places) / 150.0))

    def metres(self, places: netbo.Points) -> FloatArray:
        """Metres of street between places and the source."""
        return self.graph.distance(places, self.source)[:, 0]


def write_measurements(network: netbo.Network, path: Path, seed: int) -> None:
    """The table a van with a sensor brings home; its receiver lost its way twice."""
    rng = np.random.default_rng(seed)
    places = netbo.uniform_points(network.graph, N_MEASUREMENTS, rng)
    positions = network.graph.embed(places) + GPS_SD * rng.standard_normal((N_MEASUREMENTS, 2))
    positions[[20, 40]] += [900.0, -700.0]
    values = Air(network)(places) + NOISE_SD * rng.standard_normal(N_MEASUREMENTS)
    fixes = geopandas.GeoSeries.from_xy(*positions.T, crs=network.graph.crs).to_crs(LON_LAT)
    table = pd.DataFrame({"lon": fixes.x.round(6), "lat": fixes.y.round(6), "no2": values.round(1)})
    path.parent.mkdir(parents=True, exist_ok=True)
    table.to_csv(path, index=False)


@dataclass(frozen=True)
class Answer:
    """What the table says: the worst place, where to measure next, and how far off the first is."""

    measurements: Measurements
    recommended: Recommendation
    following: list[Suggestion]
    metres_off: float  # of street between the recommended place and the source


def answer_of(network: netbo.Network, path: Path, seed: int) -> tuple[netbo.Optimizer, Answer]:
    """From a CSV to an answer: snap, tell, ask."""
    measured = snap_measurements(network, path, limit=LIMIT, keep="near", x="lon", y="lat", value="no2")
    optimizer = netbo.Optimizer(network, noise=NOISE_SD**2, seed=seed, max_cell=10.0, separation=APART)
    optimizer.tell(measured.points, measured.values)
    found = optimizer.recommend()
    off = float(Air(network).metres(netbo.Points.at(found.point))[0])
    return optimizer, Answer(measured, found, optimizer.ask(N_NEXT), off)


def describe(network: netbo.Network, answer: Answer) -> str:
    """Addresses as the owner of the map knows them, and as a receiver does."""
    names = dict(zip(network.graph.edge_ids, network.graph.edge_attributes["name"], strict=True))

    def line(point: netbo.Point) -> str:
        places = netbo.Points.at(point, graph=network.graph)
        (address,), (lon, lat) = network.address(places), network.coordinates(places, crs=LON_LAT)[0]
        return (
            f"  {names[address.edge_id]}, {address.distance:.0f} m from node {address.start} "
            f"(lat {lat:.5f}, lon {lon:.5f})"
        )

    found, kept = answer.recommended, answer.measurements
    return "\n".join(
        [
            f"{len(kept)} of {N_MEASUREMENTS} measurements kept, "
            f"at most {kept.off.max():.0f} m off the streets",
            f"worst air, {found.mean:.0f} micrograms per cubic metre:",
            line(found.point),
            "measure next:",
            *(line(suggestion.point) for suggestion in answer.following),
            f"the source is {answer.metres_off:.0f} m of street from the recommended place",
        ]
    )


def draw(network: netbo.Network, optimizer: netbo.Optimizer, answer: Answer, path: Path) -> None:
    """What is known of the air, and how well, with the places to measure next."""
    figure, (mean, spread) = plt.subplots(1, 2, figsize=(13.0, 5.2), layout="constrained")
    graph, posterior = network.graph, optimizer.posterior
    plotting.draw_field(graph, posterior.mean, mean, label=r"estimated NO$_2$ ($\mu$g/m$^3$)")
    plotting.draw_field(
        graph, posterior.std, spread, label=r"its standard deviation ($\mu$g/m$^3$)", cmap=style.SPREAD_MAP
    )
    following = netbo.Points.at([suggestion.point for suggestion in answer.following], graph=graph)
    best = netbo.Points.at(answer.recommended.point, graph=graph)
    for ax in (mean, spread):
        plotting.draw_points(graph, answer.measurements.points, ax, size=4, label="measured")
        plotting.draw_points(graph, following, ax, marker="^", color=style.NEXT, size=9, label="measure next")
        plotting.draw_labels(graph, following, range(1, len(following) + 1), ax)
        plotting.draw_points(graph, best, ax, marker="*", color=style.FOUND, size=14, label="recommended")
        plotting.draw_points(
            graph, Air(network).source, ax, marker="P", color=SOURCE_COLOUR, size=9, label="true source"
        )
    figure.legend(*mean.get_legend_handles_labels(), loc="outside lower center", ncols=4, frameon=False)
    figure.savefig(path, dpi=110)


def main(picture: Path = Path("out/measurements_on_roads.png"), *, seed: int = 0) -> Answer:
    """Run the example: writes the table and the picture, prints and returns the answer."""
    network = netbo.read(STREETS)
    print(network.report)
    table = picture.with_suffix(".csv")
    write_measurements(network, table, seed)
    optimizer, answer = answer_of(network, table, seed)
    print(f"\n{describe(network, answer)}")
    draw(network, optimizer, answer, picture)
    print(f"measurements: {table}\npicture: {picture}")
    return answer


if __name__ == "__main__":
    main()
