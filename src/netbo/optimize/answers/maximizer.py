"""The distribution of the place where the objective is largest, by sample paths."""

from dataclasses import dataclass
from typing import Self

import numpy as np
from numpy.random import Generator

from netbo.arrays import FloatArray, IntArray, read_only
from netbo.errors import NumericalError, ParameterError
from netbo.optimize.candidates import SearchSpace
from netbo.posterior import Surrogate

MAX_ENTRIES = 2_500_000  # of the sample paths held at once; the sampler keeps a few arrays of this size
DRAWN_VALUES = 4_000_000  # candidates times draws that take about a second
LEAST_DRAWS, MOST_DRAWS = 64, 1000  # standard errors of a probability of at most 0.0625 and 0.016


def default_draws(n_candidates: int) -> int:
    """How many sample paths to draw: 1000 on small search spaces, 64 on large ones."""
    return int(np.clip(DRAWN_VALUES // max(n_candidates, 1), LEAST_DRAWS, MOST_DRAWS))


@dataclass(frozen=True, slots=True, eq=False)
class MaximizerSamples:
    """Which candidate is the largest of each sample path of the objective, and how large it is."""

    index: IntArray  # (n,)
    value: FloatArray  # (n,)
    n_candidates: int

    @classmethod
    def draw(cls, surrogate: Surrogate, search: SearchSpace, rng: Generator, n: int | None = None) -> Self:
        """The maxima of n joint sample paths at all candidates; without n, of `default_draws`."""
        n_candidates = len(search.points)
        n = default_draws(n_candidates) if n is None else n
        if n < 1:
            raise ParameterError(f"n counts sample paths, got {n}; draw at least one")
        batch = max(1, MAX_ENTRIES // n_candidates)
        index, value = np.empty(n, dtype=np.int64), np.empty(n)
        for start in range(0, n, batch):
            part = slice(start, min(start + batch, n))
            paths = surrogate.sample(search.points, rng, n=part.stop - part.start)
            index[part] = np.argmax(paths, axis=1)  # NaN counts as the largest, so none goes unseen
            value[part] = np.take_along_axis(paths, index[part, None], axis=1)[:, 0]
        if not np.isfinite(value).all():
            raise NumericalError(
                f"{np.count_nonzero(~np.isfinite(value))} of {n} sample paths have no finite maximum; "
                "check the parameters of the prior and the noise"
            )
        return cls(index=read_only(index), value=read_only(value), n_candidates=n_candidates)

    def __len__(self) -> int:
        return len(self.index)

    @property
    def counts(self) -> IntArray:
        """How many sample paths are largest at each candidate, (n_candidates,)."""
        return np.bincount(self.index, minlength=self.n_candidates)

    @property
    def probability(self) -> FloatArray:
        """Estimated probability that the objective is largest at each candidate, (n_candidates,)."""
        return self.counts / len(self)

    def require_of(self, search: SearchSpace) -> None:
        """Refuse a search space with another number of candidates than they were drawn at."""
        if len(search.points) != self.n_candidates:
            raise ParameterError(
                f"the samples were drawn at {self.n_candidates} candidates, got a search space of "
                f"{len(search.points)}; draw them again"
            )
