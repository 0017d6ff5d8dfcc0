"""
Noise
=====

Under noise the best value flatters: of many noisy values the largest is largest partly by luck.
``recommend()`` is the place of the largest posterior mean, with an interval for the quantity there.
``noise`` is a variance; left out, it is learned.
"""

import matplotlib.pyplot as plt
import numpy as np

import netbo

TOP, NOISE_SD = 10.0, 2.0
line = netbo.star(3, length=5.0)
peak = line.points([1], [2.0])


def search(noise: float | None, seed: int) -> netbo.Result:
    """Forty noisy values of a hill of height 10."""
    errors = np.random.default_rng(seed)

    def measure(place: netbo.Point) -> float:
        away = line.distance(netbo.Points.at(place), peak)[0, 0]
        return float(TOP * np.exp(-0.5 * (away / 1.5) ** 2) + errors.normal(0.0, NOISE_SD))

    return netbo.maximize(measure, line, budget=40, noise=noise, seed=seed)


# %%
# Ten runs each, with the variance known and with the variance learned, seeds 0 to 9, none left out.

runs = {
    "known": [search(NOISE_SD**2, seed) for seed in range(10)],
    "learned": [search(None, seed) for seed in range(10)],
}
flattery = {name: [run.best().value - TOP for run in each] for name, each in runs.items()}
excess = {name: [run.recommend().mean - TOP for run in each] for name, each in runs.items()}
for name, best in flattery.items():
    print(
        f"noise {name:7s}  best value over the truth by {np.mean(best):+.2f}, "
        f"recommended mean by {np.mean(excess[name]):+.2f}"
    )

# %%
# The boxes are over the ten runs; zero is the true maximum.

figure, ax = plt.subplots(figsize=(7, 4), layout="constrained")
boxes = [flattery["known"], excess["known"], flattery["learned"], excess["learned"]]
ax.boxplot(
    boxes, tick_labels=[f"{said}\n{noise}" for noise in runs for said in ("best value", "recommended")]
)
ax.axhline(0.0, color="black", linewidth=1)
ax.set_ylabel("said minus true maximum")
plt.show()
