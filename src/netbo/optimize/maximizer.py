"""Where the maximum may be, by sample paths: its distribution, density, modes, and a list of stretches."""

import math
from collections.abc import Hashable
from dataclasses import dataclass, field
from functools import cached_property
from statistics import NormalDist
from typing import Self

import numpy as np
from numpy.random import Generator
from numpy.typing import NDArray

from netbo.arrays import BoolArray, FloatArray, IntArray, read_only, sum_by
from netbo.checks import explained
from netbo.errors import NumericalError, ParameterError
from netbo.geometry import PLACE_TOLERANCE, MetricGraph, Point, Points, along_edges, thumbnail
from netbo.notebook import ROWS, card, table
from netbo.optimize.intervals import CandidatePieces
from netbo.optimize.search_space import SearchSpace
from netbo.posterior import Surrogate
from netbo.wording import counted

MAX_ENTRIES = 2_500_000  # of the sample paths held at once; the sampler keeps a few arrays of this size
DRAWN_VALUES = 4_000_000  # candidates times draws that take about a second
LEAST_DRAWS, MOST_DRAWS = 64, 1000  # standard errors of a probability of at most 0.0625 and 0.016
USUAL_SEPARATION = 0.05  # of modes, in diameters
ROWS_SHOWN = 20  # of a printed list
OPTIMISM_SHOWN = 0.05  # by which a list may flatter itself without saying so
TIE_DIGITS = 12  # densities that agree so far differ by rounding only


@explained
def default_draws(n_candidates: int) -> int:
    """How many sample paths to draw: 1000 on small search spaces, 64 on large ones."""
    return int(np.clip(DRAWN_VALUES // max(n_candidates, 1), LEAST_DRAWS, MOST_DRAWS))


@dataclass(frozen=True, slots=True, eq=False)
class MaximizerSamples:
    """Which candidate is the largest of each sample path of the objective, and how large the path is."""

    index: IntArray  # (n,)
    value: FloatArray  # (n,)
    n_candidates: int

    @classmethod
    def draw(
        cls,
        surrogate: Surrogate,
        search: SearchSpace,
        rng: Generator,
        n: int | None = None,
        *,
        places: Points | None = None,
    ) -> Self:
        """The maxima of n joint sample paths at all candidates; without n, of `default_draws`.

        places: where a path may be larger than at any candidate, such as measured ones between them; a
            maximum there counts for the candidate of that stretch.
        """
        n_candidates = len(search.points)
        more, owner = search.between(search.points[:0] if places is None else places)
        points, owner = search.points, np.concatenate([np.arange(n_candidates), owner])
        if len(more):
            points = Points.concatenate([points, more])
        n = default_draws(n_candidates) if n is None else n
        if n < 1:
            raise ParameterError(f"n counts sample paths, got {n}; draw at least one")
        batch = max(1, MAX_ENTRIES // len(points))
        index, value = np.empty(n, dtype=np.int64), np.empty(n)
        for start in range(0, n, batch):
            part = slice(start, min(start + batch, n))
            paths = surrogate.sample(points, rng, n=part.stop - part.start)
            index[part] = np.argmax(paths, axis=1)  # NaN counts as the largest, so none goes unseen
            value[part] = np.take_along_axis(paths, index[part, None], axis=1)[:, 0]
        if not np.isfinite(value).all():
            raise NumericalError(
                f"{np.count_nonzero(~np.isfinite(value))} of {n} sample paths have no finite maximum; "
                "check the parameters of the prior and the noise"
            )
        return cls(index=read_only(owner[index]), value=read_only(value), n_candidates=n_candidates)

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
        return cls(search.graph, ordered, _on_pieces(ordered, samples.probability, weights))

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


# Its separate modes.


@dataclass(frozen=True, slots=True)
class Mode:
    """A place, the probability that the maximum is near it, and what the objective is there."""

    point: Point
    probability: float  # that the maximum lies within the separation, and near no earlier mode
    probability_error: float  # standard error of the probability, from the number of sample paths
    mean: float
    low: float  # ends of the credible interval of the objective at the point
    high: float


@explained
def modes(
    samples: MaximizerSamples,
    surrogate: Surrogate,
    search: SearchSpace,
    k: int,
    separation: float,
    *,
    level: float = 0.95,
) -> list[Mode]:
    """Up to k places farther than `separation` from each other, the most probable first.

    Greedy: the most probable candidate, of equals the one with the largest mean, takes all sample paths whose
    maximum lies within `separation` along the network; the next is chosen from what remains. So there are
    fewer than k when nothing remains. The interval is mean -+ quantile * std at `level`.
    """
    _require(k, separation, level)
    samples.require_of(search)
    drawn, counts = np.unique(samples.index, return_counts=True)
    mean = surrogate.mean(search.points[drawn])
    order = np.lexsort((drawn, -mean, -counts))
    remaining = np.ones(len(drawn), dtype=np.bool_)
    centres: list[int] = []
    taken: list[int] = []
    while remaining.any() and len(centres) < k:
        centre = int(order[np.argmax(remaining[order])])
        near = remaining & _within(search, drawn, centre, separation)
        centres.append(centre)
        taken.append(int(counts[near].sum()))
        remaining &= ~near
    at = search.points[drawn[centres]]
    quantile = NormalDist().inv_cdf((1 + level) / 2)
    half_width = [quantile * std for std in surrogate.std(at).tolist()]  # Python's overflow without a word
    found = [
        _mode(point, count / len(samples), len(samples), value, width)
        for point, count, value, width in zip(at, taken, mean[centres].tolist(), half_width, strict=True)
    ]
    return sorted(found, key=lambda mode: -mode.probability)


def _within(search: SearchSpace, drawn: IntArray, centre: int, separation: float) -> BoolArray:
    """Which drawn candidates lie within the separation of one of them: one search from it."""
    points = search.points[drawn]
    distance: FloatArray = search.graph.distance(points[centre : centre + 1], points)[0]
    return np.asarray(distance <= separation)


def _mode(point: Point, probability: float, n: int, mean: float, half_width: float) -> Mode:
    return Mode(
        point=point,
        probability=probability,
        probability_error=math.sqrt(probability * (1 - probability) / n),
        mean=mean,
        low=mean - half_width,
        high=mean + half_width,
    )


def _require(k: int, separation: float, level: float) -> None:
    if k < 1:
        raise ParameterError(f"k counts the modes to find, got {k}; ask for one or more")
    if not separation >= 0:
        raise ParameterError(
            f"separation must be a length, not negative, got {separation}; a tenth of the diameter is a start"
        )
    if not 0 < level < 1:
        raise ParameterError(f"level must lie between 0 and 1, got {level}; 0.95 is usual")


# The shortest list of stretches that probably hold it.


@dataclass(frozen=True, slots=True)
class Stretch:
    """Part of an edge from one distance to another, measured from the tail; a single place if both agree."""

    edge_id: Hashable
    start: float
    end: float
    probability: float  # that the maximum lies in it

    @property
    def length(self) -> float:
        """How long it is."""
        return self.end - self.start


@dataclass(frozen=True, slots=True, repr=False)
class SearchList:
    """Stretches to search, the most probable first; print it to read it."""

    stretches: tuple[Stretch, ...]
    length: float  # of all stretches
    probability: float  # that the maximum lies in one of them, as a share of the sample paths
    held_out: float  # the same for lists made from half of the paths, measured on the other half
    by_edge: dict[Hashable, float]  # probability of every edge, in the list or not; they sum to 1
    searchable_length: float
    unit: str | None = None
    graph: MetricGraph | None = field(default=None, compare=False)

    def __repr__(self) -> str:
        return f"SearchList({self._extent})"

    def _repr_html_(self) -> str:
        facts = [("holds", self._extent), *([("rather", self._doubt)] if self._doubt else [])]
        listed = table(self._rows[0], self._rows[1 : ROWS + 1], n_hidden=len(self.stretches) - ROWS)
        seen = "" if self.graph is None else self._picture(self.graph)
        return card("SearchList", facts, picture=seen, rows=listed)

    def _picture(self, graph: MetricGraph) -> str:
        start, end = np.array([(each.start, each.end) for each in self.stretches]).T
        parts = graph.intervals([each.edge_id for each in self.stretches], start, end)[1:]
        return thumbnail(graph, stretches=parts, alt="stretches to search")

    @property
    def _extent(self) -> str:
        unit = f" {self.unit}" if self.unit else ""
        extent = f" on {self.length:.4g} of {self.searchable_length:.4g}{unit}" if self.length else ""
        stretches = counted(len(self.stretches), "stretch", "stretches")
        return f"{self.probability:.0%} of the probability of the maximum{extent}, in {stretches}"

    @property
    def _doubt(self) -> str:
        said = f"{self.held_out:.0%}, judged by sample paths the list was not made from"
        return said if self.held_out < self.probability - OPTIMISM_SHOWN else ""

    @property
    def _rows(self) -> list[tuple[str, ...]]:
        """Names of the columns, then the first stretches."""
        unit = f" {self.unit}" if self.unit else ""
        first = self.stretches[:ROWS_SHOWN]
        rows = [(str(e.edge_id), f"{e.start:.4g}", f"{e.end:.4g}", f"{e.probability:.1%}") for e in first]
        return [("edge", f"from{unit}", f"to{unit}", "probability"), *rows]

    def __str__(self) -> str:
        head, rows = self._extent + (f"\n(rather {self._doubt})" if self._doubt else ""), self._rows
        widths = [max(map(len, column)) for column in zip(*rows, strict=True)]
        lines = [
            "  ".join(
                [row[0].ljust(widths[0]), *(c.rjust(w) for c, w in zip(row[1:], widths[1:], strict=True))]
            )
            for row in rows
        ]
        hidden = len(self.stretches) - ROWS_SHOWN
        return "\n".join([head, *lines, *([f"... and {hidden} more"] if hidden > 0 else [])])


@explained
def search_list(samples: MaximizerSamples, search: SearchSpace, mass: float = 0.8) -> SearchList:
    """The shortest stretches that hold at least the share `mass` of the maximizer's probability.

    Each candidate's probability lies evenly on the network it stands for. Candidates are taken whole, those
    of highest density first, so nothing shorter holds as much as the list does. Single places are taken most
    probable first. With few sample paths a list is too short, since it is fitted to them: `held_out` well
    below `probability` says so, and more paths or a coarser mesh help.
    """
    if not 0 < mass <= 1:
        raise ParameterError(f"mass must be a share above 0 and up to 1, got {mass}; 0.8 is usual")
    samples.require_of(search)
    pieces = search.pieces
    probability = _on_pieces(pieces, samples.probability, search.weights)
    taken = _densest(samples.index, search.weights, mass)
    is_taken = np.zeros(samples.n_candidates, dtype=np.bool_)
    is_taken[taken] = True
    listed = is_taken[pieces.owner]
    stretches = _joined(pieces[listed], probability[listed], search.graph)
    return SearchList(
        stretches=stretches,
        length=float(search.weights[taken].sum()),
        probability=float(np.mean(is_taken[samples.index])),
        held_out=_held_out(samples.index, search.weights, mass),
        by_edge=_by_edge(pieces, probability, search.graph),
        searchable_length=float(search.weights.sum()),
        unit=search.graph.unit,
        graph=search.graph,
    )


def _on_pieces(pieces: CandidatePieces, probability: FloatArray, weights: FloatArray) -> FloatArray:
    """Probability of each piece: that of its owner, in proportion to length."""
    owner = pieces.owner
    share = np.divide(pieces.lengths, weights[owner], out=np.ones(len(owner)), where=weights[owner] > 0)
    return probability[owner] * share


def _densest(index: IntArray, weights: FloatArray, mass: float) -> IntArray:
    """Candidates of highest density that hold the mass of the draws; of equals the first."""
    drawn, counts = np.unique(index, return_counts=True)
    density = counts / weights[drawn] if weights.any() else counts.astype(np.float64)
    order = np.lexsort((drawn, -np.round(density / density.max(), TIE_DIGITS)))
    enough = int(np.ceil(mass * len(index) * (1 - PLACE_TOLERANCE)))
    n_taken = int(np.searchsorted(np.cumsum(counts[order]), enough)) + 1
    return drawn[order[:n_taken]]


def _held_out(index: IntArray, weights: FloatArray, mass: float) -> float:
    """Share of every other draw that lies in the list made from the rest, both ways; NaN for one draw."""
    if len(index) < 2:
        return float("nan")
    halves = index[::2], index[1::2]
    shares = [
        np.mean(np.isin(test, _densest(train, weights, mass))) for train, test in (halves, halves[::-1])
    ]
    return float(np.mean(shares))


def _joined(pieces: CandidatePieces, probability: FloatArray, graph: MetricGraph) -> tuple[Stretch, ...]:
    """Stretches of pieces that touch on one edge of the user, most probable first, then along the network."""
    table = graph.address_table
    row, start, end, mass = _on_links(pieces, probability, graph)
    order = np.lexsort((start, row))
    row, start, end = row[order], start[order], end[order]
    begins = np.ones(len(order), dtype=np.bool_)
    gap = start[1:] - end[:-1]
    begins[1:] = (row[1:] != row[:-1]) | (gap > PLACE_TOLERANCE * table.lengths[row[1:]])
    first = np.flatnonzero(begins)
    last = np.append(first[1:], len(order)) - 1
    total = np.add.reduceat(mass[order], first)
    ranked = np.argsort(-np.round(total, TIE_DIGITS), kind="stable")
    return tuple(
        Stretch(table.ids[row[a]], float(start[a]), float(end[b]), float(p))
        for a, b, p in zip(first[ranked], last[ranked], total[ranked], strict=True)
    )


def _by_edge(pieces: CandidatePieces, probability: FloatArray, graph: MetricGraph) -> dict[Hashable, float]:
    """Probability of the user's edges that have any, most probable first."""
    row, _, _, mass = _on_links(pieces, probability, graph)
    total = sum_by(row, mass, len(graph.address_table))
    ranked = np.argsort(-np.round(total, TIE_DIGITS), kind="stable")
    return {graph.address_table.ids[link]: float(total[link]) for link in ranked[total[ranked] > 0].tolist()}


def _on_links(
    pieces: CandidatePieces, probability: FloatArray, graph: MetricGraph
) -> tuple[IntArray, FloatArray, FloatArray, FloatArray]:
    """Pieces on the user's edges: which, from, to, and their probability, shared out by length."""
    number, row, start, end = graph.address_table.stretches(pieces.edge, pieces.start, pieces.end)
    total = sum_by(number, end - start, len(probability))[number]
    share = np.divide(end - start, total, out=np.ones(len(number)), where=total > 0)
    return row, start, end, probability[number] * share
