"""
Several modes
=============

Two places are nearly alike. ``modes`` gives separate places with their probabilities, ``search_list`` the
shortest list of stretches that holds a share of the probability: what a crew walks when one point is not
enough.
"""

import matplotlib.pyplot as plt
import numpy as np

import netbo
from netbo import plotting

NOISE_SD = 1.0
streets = netbo.grid(4, 6)
tops = streets.points([3, 32], fraction=[0.3, 0.6])
heights = np.array([10.0, 9.9])
errors = np.random.default_rng(0)


def measure(place: netbo.Point) -> float:
    """Two hills, the second a hundredth lower than the first."""
    away = streets.distance(netbo.Points.at(place), tops)[0]
    return float((heights * np.exp(-0.5 * (away / 0.8) ** 2)).max() + errors.normal(0.0, NOISE_SD))


result = netbo.maximize(measure, streets, budget=40, noise=NOISE_SD**2, seed=0)
modes = result.modes(k=3)
for mode in modes:
    print(f"edge {mode.point.edge_id}: probability {mode.probability:.2f}, {mode.low:.2f} to {mode.high:.2f}")

# %%
# The stretches that hold 80 % of the probability of the maximum.

listed = result.search_list(0.8)
print(listed)
print(f"{listed.length:.2f} of {streets.total_length:.0f} to walk")

figure, ax = plt.subplots(figsize=(8, 5), layout="constrained")
result.plot(ax, label="estimate")
edges, starts, ends = zip(*((each.edge_id, each.start, each.end) for each in listed.stretches), strict=True)
plotting.draw_stretches(streets, edges, starts, ends, ax, label="to walk", linewidth=7)
plotting.draw_points(streets, tops, ax, marker="P", color="#f2c230", size=11, label="true tops")
plotting.draw_legend(ax, ncols=4)
plt.show()
