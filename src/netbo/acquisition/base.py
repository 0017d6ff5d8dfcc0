"""What the optimizer asks of an acquisition rule, and the scores of one decision."""

from collections.abc import Callable
from typing import Protocol, runtime_checkable

import numpy as np

from netbo.arrays import FloatArray
from netbo.geometry import Points
from netbo.posterior import Surrogate


@runtime_checkable
class Acquisition(Protocol):
    """A score for every candidate; the next query is the candidate with the largest (alg:GP-bandits-FEM).

    A rule of one's own needs no base class:

    >>> class Greedy:
    ...     hallucinates = True
    ...
    ...     def scores(self, surrogate, x, rng):
    ...         return surrogate.mean(x)
    >>> isinstance(Greedy(), Acquisition)
    True
    """

    @property
    def hallucinates(self) -> bool:
        """Whether queries without an answer are first added at their posterior mean, so that they repel.

        False for rules that draw at random: their next draw differs anyway.
        """

    def scores(self, surrogate: Surrogate, x: Points, rng: np.random.Generator) -> FloatArray:
        """Scores of the candidates, (n,); -inf where a query is worthless, never NaN."""


# The scores of one decision: a function of the place alone, however often it is asked.


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
