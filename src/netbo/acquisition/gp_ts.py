"""GP-TS: the maximum of a random function that could be the objective."""

from dataclasses import dataclass, field
from typing import ClassVar

import numpy as np

from netbo.acquisition.sample_path import draw_path
from netbo.acquisition.score_function import ScoreFunction
from netbo.acquisition.widths import FixedWidth, Width
from netbo.arrays import FloatArray
from netbo.geometry import Points
from netbo.posterior import Surrogate


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
