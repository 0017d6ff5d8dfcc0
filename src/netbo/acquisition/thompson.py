"""GP-TS: the maximum of a sample path, a random function that could be the objective."""

import warnings
from collections.abc import Callable
from dataclasses import dataclass, field
from functools import cached_property
from typing import ClassVar, Protocol, runtime_checkable

import numpy as np

from netbo.acquisition.base import ScoreFunction
from netbo.acquisition.ucb import FixedWidth, Width
from netbo.arrays import FloatArray
from netbo.checks import explained_class
from netbo.errors import AccuracyWarning
from netbo.fem import FiniteElementSpace
from netbo.geometry import Points
from netbo.posterior import MixturePosterior, Observations, Posterior, Surrogate, condition
from netbo.priors import FiniteElementPrior, MeshFreePrior

# A random function that could be the objective: one function, however often it is asked.


SamplePath = Callable[[Points], FloatArray]

# What was drawn is conditioned on with these noise variances, relative to sigma^2. The block system bears the
# first to all digits; the second is the jitter that paths of dense covariances are drawn with.
BLOCK_NOISE, DENSE_NOISE = 1e-24, 1e-12


@runtime_checkable
class DrawsPaths(Protocol):
    """A surrogate that draws paths in its own way."""

    def path(self, rng: np.random.Generator) -> SamplePath:
        """One draw of the objective."""


def draw_path(surrogate: Surrogate, rng: np.random.Generator) -> SamplePath:
    """One draw of the objective, to be asked at any points, in any order.

    A mixture draws its component once. A surrogate of another kind answers the first question as `sample`
    does, and every later one as if it were the first.
    """
    if isinstance(surrogate, MixturePosterior):
        drawn = int(rng.choice(len(surrogate.components), p=surrogate.weights))
        return draw_path(surrogate.components[drawn], rng)
    if isinstance(surrogate, DrawsPaths):
        return surrogate.path(rng)
    if not isinstance(surrogate, Posterior):
        return lambda x: surrogate.sample(x, rng)
    prior = surrogate.prior
    if isinstance(prior, FiniteElementPrior) and isinstance(prior.space, FiniteElementSpace):
        return NodalPath(surrogate, prior, prior.space, rng)
    return GrowingPath(surrogate, rng)


@dataclass(eq=False)
class NodalPath:
    """A draw in V_h: its values at the nodes are all there is, a(x) sum_i w_i e_i(x) around the mean."""

    posterior: Posterior
    prior: FiniteElementPrior
    space: FiniteElementSpace
    rng: np.random.Generator

    @cached_property
    def _nodal(self) -> tuple[FloatArray, float]:
        """Deviations of the unscaled field from the mean at the nodes, and the mean."""
        nodes = self.space.nodes
        deviations, means = self.posterior.draw(nodes, self.rng, 1)
        path = self.posterior.mean(nodes) + deviations[0]
        return (path - means[0]) / self.prior.scale(self.space.locate(nodes)), float(means[0])

    def __call__(self, x: Points) -> FloatArray:
        """The path at x, (n,)."""
        nodal, mean = self._nodal
        at = self.space.locate(x)
        return mean + self.prior.scale(at) * at.interpolate(nodal)


@dataclass(eq=False)
class GrowingPath:
    """A draw that knows its past: new values are drawn given all that were drawn before.

    The first questions also draw the constant mean, if it is estimated: with it fixed, values that are all
    but exact leave the system well conditioned.
    """

    posterior: Posterior
    rng: np.random.Generator
    _given: Posterior | None = field(default=None, init=False)  # knows all drawn values but the last
    _last: Observations = field(default_factory=lambda: Observations(Points.at([]), []), init=False)

    def __call__(self, x: Points) -> FloatArray:
        """The path at x, (n,)."""
        with warnings.catch_warnings():
            warnings.simplefilter("ignore", AccuracyWarning)  # what was drawn agrees up to rounding alone
            values = self._first(x) if self._given is None else self._next(self._given, x)
        prior = self.posterior.prior
        noise = BLOCK_NOISE if isinstance(prior, MeshFreePrior) else DENSE_NOISE
        self._last = Observations(x, values, np.full(len(x), noise * prior.sigma**2))
        return values

    def _first(self, x: Points) -> FloatArray:
        posterior = self.posterior
        deviations, means = posterior.draw(x, self.rng, 1)
        self._given = condition(
            posterior.prior,
            posterior.observations,
            regularization=posterior.regularization,
            mean=float(means[0]),
        )
        path: FloatArray = posterior.mean(x) + deviations[0]
        return path

    def _next(self, given: Posterior, x: Points) -> FloatArray:
        self._given = given.extend(self._last)  # not before: most paths are asked only once
        return self._given.sample(x, self.rng)


@explained_class
@dataclass(frozen=True, slots=True)
class GpTs:
    """Thompson sampling, f_t ~ GP(mu_{t-1}, v_t^2 k_{t-1}) (alg:GP-bandits-FEM).

    With width 1 the draw is from the posterior itself, and a query is chosen as often as it is the best.
    """

    hallucinates: ClassVar[bool] = False

    width: Width = field(default_factory=lambda: FixedWidth(1.0))

    def scores(self, surrogate: Surrogate, x: Points, rng: np.random.Generator) -> FloatArray:
        """One sample path at the candidates, (n,)."""
        return surrogate.sample(x, rng, scale=self.width.sampling(surrogate))

    def begin(self, surrogate: Surrogate, rng: np.random.Generator) -> ScoreFunction:
        """One sample path, the same function at whatever points it is asked for."""
        path, width = draw_path(surrogate, rng), self.width.sampling(surrogate)
        if width == 1:
            return path

        def scaled(x: Points) -> FloatArray:
            mean = surrogate.mean(x)
            return mean + width * (path(x) - mean)

        return scaled


ThompsonSampling = GpTs  # the field's name
