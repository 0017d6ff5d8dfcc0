"""How the probability of the best value is spread along the network."""

from dataclasses import dataclass
from functools import cached_property
from typing import Self

import numpy as np
from numpy.typing import NDArray

from netbo.arrays import BoolArray, FloatArray, IntArray
from netbo.geometry import MetricGraph, Points, along_edges
from netbo.optimize.answers.maximizer import MaximizerSamples
from netbo.optimize.candidates import SearchSpace
from netbo.optimize.intervals import Pieces


@dataclass(frozen=True, eq=False)
class MaximizerDensity:
    """Probability of the best value on disjoint pieces of the network, each with its share, evenly spread.

    Call it with Points for the density there, per unit of length. Pieces are sorted along the edges; places
    of your own are pieces without length, whose density is infinite or, elsewhere, zero.
    """

    graph: MetricGraph
    pieces: Pieces
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
