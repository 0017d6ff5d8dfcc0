"""IGP-UCB: the highest upper end of the confidence band."""

from dataclasses import dataclass, field
from typing import ClassVar

import numpy as np

from netbo.acquisition.widths import ValidWidth, Width
from netbo.arrays import FloatArray
from netbo.geometry import Points
from netbo.posterior import Surrogate


@dataclass(frozen=True, slots=True)
class IgpUcb:
    """Upper confidence bound mu_{t-1}(x) + beta_t sigma_{t-1}(x) (alg:GP-bandits-FEM)."""

    hallucinates: ClassVar[bool] = True

    width: Width = field(default_factory=ValidWidth)

    def scores(self, surrogate: Surrogate, x: Points, rng: np.random.Generator) -> FloatArray:
        """Upper bounds at the candidates, (n,); nothing is drawn."""
        return surrogate.mean(x) + self.width.beta(surrogate) * surrogate.std(x)
