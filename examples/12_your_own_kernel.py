"""
A kernel and an acquisition of your own
=======================================

Both are seams: whatever has the methods fits. Here a kernel of the distance along a tree, and a rule that
weighs the expected improvement by the hours it takes to get there.
"""

from dataclasses import dataclass, replace

import matplotlib.pyplot as plt
import numpy as np
from scipy.stats import norm

import netbo
from netbo.arrays import FloatArray
from netbo.posterior import Surrogate
from netbo.priors import KernelPrior

# %%
# A kernel: positive definite on trees. ``netbo.testing.PriorContract`` tests one in a class of four lines.


@dataclass(frozen=True, eq=False)
class AlongTheTree(KernelPrior):
    """The exponential kernel of the distance along a tree."""

    graph: netbo.MetricGraph
    range: float
    sigma: float = 1.0

    def covariance(self, x: netbo.Points, y: netbo.Points) -> FloatArray:
        """Kernel, (n, m)."""
        return np.asarray(self.sigma**2 * np.exp(-2 * self.graph.distance(x, y) / self.range))

    def variance(self, x: netbo.Points) -> FloatArray:
        """Its diagonal, (n,)."""
        return np.full(len(x), self.sigma**2)

    def rescaled(self, *, range: float | None = None, sigma: float | None = None) -> "AlongTheTree":  # noqa: A002
        """The same with other parameters."""
        return replace(self, range=range or self.range, sigma=sigma or self.sigma)

    def range_derivative(self, x: netbo.Points, y: netbo.Points) -> FloatArray:
        """Derivative in log range, (n, m)."""
        return np.asarray(2 * self.graph.distance(x, y) / self.range * self.covariance(x, y))

    def range_derivative_of_variance(self, x: netbo.Points) -> FloatArray:
        """None of the variance."""
        return np.zeros(len(x))


# %%
# An acquisition: one number for each candidate, the largest is asked for.


@dataclass(frozen=True)
class ImprovementPerHour:
    """Expected improvement, by the hours of driving from the last place and of measuring."""

    graph: netbo.MetricGraph
    speed: float
    hallucinates = True

    def scores(self, surrogate: Surrogate, x: netbo.Points, rng: np.random.Generator) -> FloatArray:
        """Score of each candidate, (n,)."""
        seen = surrogate.observations.points
        mean, std = surrogate.mean(x), np.maximum(surrogate.std(x), 1e-9)
        z = (mean - surrogate.mean(seen).max()) / std
        hours = 0.2 + self.graph.distance(x, seen[-1:])[:, 0] / self.speed
        return np.asarray(std * (z * norm.cdf(z) + norm.pdf(z)) / hours)


# %%
# Both at work: three pipes, and a leak on the longest. The slow crew drives less.

pipes = netbo.MetricGraph(
    [0, 1, 1], [1, 2, 3], None, positions=[(0, 0), (4, 0), (6, 2), (8, -3)], edge_ids=["main", "east", "west"]
)
leak = pipes.points("west", 3.2)


def listen(place: netbo.Point) -> float:
    """Loudness, weaker with the distance along the pipes."""
    return float(30 * np.exp(-pipes.distance(netbo.Points.at(place), leak)[0, 0]))


prior = AlongTheTree(pipes, range=3.0, sigma=10.0)
driven, off = {}, {}
for speed in (1000.0, 2.0):
    rule = ImprovementPerHour(pipes, speed)
    result = netbo.maximize(listen, prior, budget=25, noise=0.01, acquisition=rule, max_cell=0.05, seed=0)
    places = result.optimizer.observations.points
    between = pipes.distance(places, places)
    driven[speed] = float(np.diagonal(between, 1).sum())
    off[speed] = float(pipes.distance(netbo.Points.at(result.recommend().point), leak)[0, 0])
    print(
        f"{speed:g} km an hour: {driven[speed]:.1f} km driven, recommended {off[speed]:.2f} km from the leak"
    )

figure, ax = plt.subplots(figsize=(8, 4), layout="constrained")
result.plot(ax, label="estimated loudness, slow crew")
plt.show()
