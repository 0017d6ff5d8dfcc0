"""The distribution of the place where the objective is largest, by sample paths, and its density."""

from dataclasses import dataclass
from functools import cached_property
from typing import Self

import numpy as np
from numpy.random import Generator
from numpy.typing import NDArray

from netbo.arrays import BoolArray, FloatArray, IntArray, read_only
from netbo.errors import NumericalError, ParameterError
from netbo.geometry import MetricGraph, Points, along_edges
from netbo.optimize.search_space import CandidatePieces, SearchSpace
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


# How the probability of the best value is spread along the network.


@dataclass(frozen=True, eq=False)
class MaximizerDensity:
    """Probability of the best value on disjoint pieces of the network, each with its share, evenly spread.

    Call it with Points for the density there, per unit of length. Pieces are sorted along the edges; places
    of your own are pieces without length, whose density is infinite or, elsewhere, zero.
    """

    graph: MetricGraph
    pieces: CandidatePieces
    probability: FloatArray  # of each piece; they sum to 1

    @classmethod
    def of(cls, samples: MaximizerSamples, search: SearchSpace) -> Self:
        """Each candidate's share of the samples, on the network it stands for."""
        samples.require_of(search)
        pieces, weights = search.pieces, search.weights
        ordered = pieces[np.lexsort((pieces.start, pieces.edge))]
        owner = ordered.owner
        share = np.divide(ordered.lengths, weights[owner], out=np.ones(len(owner)), where=weights[owner] > 0)
        return cls(search.graph, ordered, samples.probability[owner] * share)

    @property
    def has_length(self) -> bool:
        """Whether it is spread along the network, not over single places."""
        return bool((self.pieces.lengths > 0).any())

    def __call__(self, x: Points) -> FloatArray:
        """Probability per unit of length, (n,)."""
        bound, pieces = self.graph.bind(x), self.pieces
        last = np.searchsorted(self._starts, along_edges(bound.edge, bound.z), side="right") - 1
        is_within = (last >= 0) & (pieces.edge[last] == bound.edge) & (pieces.end[last] >= bound.z)
        length = pieces.lengths[last]
        with np.errstate(divide="ignore", invalid="ignore"):
            density = np.where(self.probability[last] > 0, self.probability[last] / length, 0.0)
        return np.where(is_within, density, 0.0)

    def mass(self, edge: IntArray, start: FloatArray, end: FloatArray) -> FloatArray:
        """Probability that the best value lies between two distances along each edge, (n,).

        Stretches are closed at `start` and open at `end`, except at the end of an edge: those that cover an
        edge share its probability, single places included.
        """
        is_last = np.asarray(end >= self.graph.lengths[edge])
        mass = self._before(edge, end, with_end=is_last) - self._before(edge, start)
        return np.maximum(mass, 0.0)  # differences of sums: rounding

    def _before(self, edge: IntArray, z: FloatArray, *, with_end: BoolArray | bool = False) -> FloatArray:
        """Probability of all that comes before a place, edge by edge."""
        pieces, total = self.pieces, np.concatenate([[0.0], np.cumsum(self.probability)])
        keys = along_edges(edge, z)
        count = np.searchsorted(self._starts, keys, side="left")
        count = np.where(with_end, np.searchsorted(self._starts, keys, side="right"), count)
        last = np.maximum(count - 1, 0)
        is_inside = (count > 0) & (pieces.edge[last] == edge) & (pieces.end[last] > z)
        length = np.where(is_inside, pieces.lengths[last], 1.0)
        beyond = np.where(is_inside, self.probability[last] * (pieces.end[last] - z) / length, 0.0)
        return np.asarray(total[count] - beyond)

    @cached_property
    def _starts(self) -> NDArray[np.complex128]:
        return along_edges(self.pieces.edge, self.pieces.start)
