"""
Batches and crews
=================

Three crews measure at the same time. Each round asks for three places at once: what is pending repels, so
the crews do not meet. One cover is stuck, and the search goes on without the value.
"""

import matplotlib.pyplot as plt
import numpy as np

import netbo
from netbo import plotting

APART = 2.0  # between crews of one round, along the streets
ROUNDS, CREWS = 8, 3
NOISE_SD = 0.3

streets = netbo.grid(5, 7)
source = streets.points([30], fraction=0.4)
errors = np.random.default_rng(0)


def measure(place: netbo.Point) -> float:
    """A level that halves every 0.7 along the streets, with an error."""
    away = streets.distance(netbo.Points.at(place), source)[0, 0]
    return float(20.0 * 0.5 ** (away / 0.7) + errors.normal(0.0, NOISE_SD))


# %%
# ``ask(3)`` hands out three places; they are pending until they are told. Values may come in any order.

optimizer = netbo.Optimizer(streets, noise=NOISE_SD**2, separation=APART, seed=0)
for number in range(ROUNDS):
    batch = optimizer.ask(CREWS)
    for crew, suggestion in enumerate(batch):
        if number == 1 and crew == 0:
            optimizer.tell(suggestion, "failed", note="the cover is stuck")
        else:
            optimizer.tell(suggestion, measure(suggestion.point))
print(optimizer.history)

# %%
# The last round, and what is known after it.

places = netbo.Points.at([suggestion.point for suggestion in batch], graph=streets)
between = streets.distance(places, places)[np.triu_indices(CREWS, k=1)]
found = optimizer.recommend()
off = float(streets.distance(netbo.Points.at(found.point), source)[0, 0])
print(f"crews of the last round: at least {between.min():.2f} apart")
print(f"recommended: edge {found.point.edge_id}, {off:.3f} from the source")

figure, ax = plt.subplots(figsize=(8, 5), layout="constrained")
plotting.draw_field(streets, optimizer.posterior.mean, ax, label="estimated level")
plotting.draw_points(streets, optimizer.observations.points, ax, size=4, label="measured")
plotting.draw_points(streets, places, ax, marker="^", size=9, label="last round")
plotting.draw_points(streets, source, ax, marker="P", color="#f2c230", size=11, label="true source")
plotting.draw_legend(ax, ncols=3)
plt.show()
