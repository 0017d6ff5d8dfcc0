"""
A million nodes
===============

A road network with a mesh of a million nodes, each of them a candidate. The model is exact and sparse: it
never forms a matrix of all pairs.
"""

from time import perf_counter

import matplotlib.pyplot as plt
import numpy as np

import netbo

roads = netbo.road(2000, seed=0)
mesh = netbo.FiniteElementSpace.build(roads, max_cell=roads.total_length / 1_000_000)
source = roads.points([1234], fraction=0.5)
print(f"{roads!r}\n{mesh.n_nodes:,} nodes")


def measure(place: netbo.Point) -> float:
    """A hill that is 4 wide, along the roads."""
    return float(np.exp(-0.5 * (roads.distance(netbo.Points.at(place), source)[0, 0] / 4.0) ** 2))


# %%
# The preset "calibrated" searches the nodes of a mesh by Thompson sampling: each ask draws one sample path
# at all nodes.

began = perf_counter()
result = netbo.maximize(measure, mesh, preset="calibrated", budget=40, noise=1e-6, seed=0)
off = float(roads.distance(netbo.Points.at(result.best().point), source)[0, 0])
print(f"40 evaluations in {perf_counter() - began:.0f} s; the best place is {off:.2f} from the top")

figure, ax = plt.subplots(figsize=(8, 6), layout="constrained")
result.plot(ax, label="estimate")
plt.show()
