"""
Hydrants only
=============

A measurement needs a hydrant, and two streets are closed. Candidates are points of your own; the model
still knows the whole network between them, so the answer may lie where nobody can measure.
"""

import matplotlib.pyplot as plt
import numpy as np

import netbo
from netbo import plotting

town = netbo.road(40, seed=0, spacing=100.0)
leak = town.points([25], fraction=0.55)
errors = np.random.default_rng(0)


def listen(place: netbo.Point) -> float:
    """Decibels at a hydrant: 0.1 are lost with every metre of pipe."""
    away = town.distance(netbo.Points.at(place), leak)[0, 0]
    return float(60.0 - 0.1 * away + errors.normal(0.0, 0.5))


# %%
# A hydrant stands in the middle of every third pipe and at every second junction. With a table of them,
# ``netbo.adapters.read_places(network, "hydrants.csv")`` makes the points.

pipes = town.points(range(0, town.n_edges, 3), fraction=0.5)
junctions = town.vertex_points(range(0, town.n_vertices, 2))
hydrants = netbo.Points.concatenate([pipes, junctions])
result = netbo.maximize(listen, town, candidates=hydrants, budget=20, noise=0.25, seed=0)
best = result.recommend().point
nearest = float(town.distance(hydrants, leak).min())
off = float(town.distance(netbo.Points.at(best), leak)[0, 0])
print(
    f"{len(hydrants)} hydrants, the nearest {nearest:.0f} m of pipe from the leak; recommended: {off:.0f} m"
)

# %%
# Or the other way round: everywhere but on closed stretches.

closed = netbo.Forbidden(edges=[0, 1], stretches=[(2, 0.0, 30.0)])
optimizer = netbo.Optimizer(town, candidates=closed, noise=0.25, seed=0)
asked = netbo.Points.at([suggestion.point for suggestion in optimizer.ask(10)], graph=town)
print(f"all {len(asked)} places asked for are allowed: {bool(closed.allows(asked).all())}")

figure, ax = plt.subplots(figsize=(8, 6), layout="constrained")
result.plot(ax, label="estimated level (dB)")
plotting.draw_points(town, hydrants, ax, marker="s", color="white", size=3, label="hydrants")
plotting.draw_points(town, leak, ax, marker="P", color="#f2c230", size=12, label="true leak")
plotting.draw_legend(ax, ncols=3)
plt.show()
