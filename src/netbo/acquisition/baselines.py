"""Baselines: the most uncertain point, and a candidate at random."""

from dataclasses import dataclass
from typing import ClassVar

import numpy as np

from netbo.arrays import FloatArray
from netbo.geometry import Points
from netbo.posterior import Surrogate


@dataclass(frozen=True, slots=True)
class MaxVariance:
    """Posterior standard deviation; no value measured so far changes the choice, only the places do."""

    hallucinates: ClassVar[bool] = True

    def scores(self, surrogate: Surrogate, x: Points, rng: np.random.Generator) -> FloatArray:
        """Standard deviations at the candidates, (n,); nothing is drawn."""
        return surrogate.std(x)


# A candidate at random: the baseline without a model.


@dataclass(frozen=True, slots=True)
class RandomSearch:
    """Independent uniform scores, so that each candidate is equally likely."""

    hallucinates: ClassVar[bool] = False

    def scores(self, surrogate: Surrogate, x: Points, rng: np.random.Generator) -> FloatArray:
        """Uniform numbers, (n,)."""
        return rng.random(len(x))
