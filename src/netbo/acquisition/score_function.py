"""The scores of one decision: a function of the place alone, however often it is asked."""

from collections.abc import Callable
from typing import Protocol, runtime_checkable

import numpy as np

from netbo.acquisition.protocol import Acquisition
from netbo.arrays import FloatArray
from netbo.geometry import Points
from netbo.posterior import Surrogate

ScoreFunction = Callable[[Points], FloatArray]


@runtime_checkable
class Deciding(Protocol):
    """An acquisition whose scores are random, and the same function of the place until the decision."""

    def begin(self, surrogate: Surrogate, rng: np.random.Generator) -> ScoreFunction:
        """The scores of one decision."""


def score_function(acquisition: Acquisition, surrogate: Surrogate, rng: np.random.Generator) -> ScoreFunction:
    """The scores of one decision: what `begin` gives where there is one, else `scores` as it is."""
    if isinstance(acquisition, Deciding):
        return acquisition.begin(surrogate, rng)
    return lambda x: acquisition.scores(surrogate, x, rng)
