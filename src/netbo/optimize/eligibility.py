"""Which candidates may be asked for next."""

from collections.abc import Sequence
from dataclasses import dataclass, field
from functools import cached_property

import numpy as np

from netbo.arrays import BoolArray, FloatArray
from netbo.checks import require_nonnegative
from netbo.errors import ExhaustedError
from netbo.geometry import MetricGraph, PlaceIndex, Points
from netbo.optimize.search_space import SearchSpace, Surroundings
from netbo.optimize.trials import History, Status, Trial

_REMEMBERED = 256  # pending places whose distances are kept
_EQUAL = 1 - 1e-9  # farthest up to rounding


@dataclass(frozen=True, eq=False)
class EligibleCandidates:
    """The candidates that may be asked for: what failures, repeats and pending places leave.

    A place that failed is not asked for again unless it was measured since; a pending one neither, nor, where
    repeats are useless, one that was observed. Candidates nearer than `separation` to a pending place are
    closed too, unless nothing else is open: then those farthest from all pending places stay.
    """

    search: SearchSpace
    repeats: bool
    separation: float = 0.0
    _distances: dict[tuple[int, float], FloatArray] = field(default_factory=dict, repr=False)

    def __post_init__(self) -> None:
        require_nonnegative(
            "separation", self.separation, "0 lets suggestions be neighbours", kind="a length, not negative"
        )

    @cached_property
    def _index(self) -> PlaceIndex:
        return PlaceIndex(self.search.graph, self.search.points)

    def after(self, history: History) -> BoolArray:
        """Which candidates are open, (n_candidates,)."""
        pending = history.pending
        known = self._index.mask(history.measured.places(self.search.graph))
        is_closed = self._at(history.having(Status.FAILED)) & ~known
        if not self.repeats:
            is_closed |= known
        is_open = ~is_closed
        if not is_open.any():
            raise ExhaustedError(
                f"all {len(is_open)} candidates have been measured or have failed, nothing is left to ask; "
                "refine the mesh (max_cell=), add candidates, or pass repeats=True if values are noisy"
            )
        if not pending:
            return is_open
        return self._apart(is_open, pending)

    def surroundings(self, history: History, is_open: BoolArray) -> Surroundings:
        """What a search between the candidates has to know; `is_open` says which of them are open.

        Nothing is learned from a failure, so the next suggestion keeps half a cell away from it. No place
        comes nearer to pending ones than `separation`, or than the open candidates do if they cannot.
        """
        graph, pending = self.search.graph, history.pending
        known = history.measured.places(graph)
        waiting, failed = (places_of(trials, graph) for trials in (pending, history.having(Status.FAILED)))
        if len(failed):
            failed = failed[~PlaceIndex(graph, failed).mask(known)]
        apart, radius = failed, self.search.cell_lengths[failed.edge] / 2
        if pending and self.separation > 0:
            nearest = np.min([self._distance_from(trial) for trial in pending], axis=0)
            least = min(self.separation, float(nearest[is_open].min()))
            apart = Points.concatenate([failed, waiting])
            radius = np.concatenate([radius, np.full(len(waiting), least)])
        closed = [failed, waiting] if self.repeats else [failed, waiting, known]
        return Surroundings(
            graph, Points.concatenate([known, waiting]), Points.concatenate(closed), apart, radius
        )

    def _at(self, trials: Sequence[Trial]) -> BoolArray:
        if not trials:
            return np.zeros(len(self.search.points), dtype=np.bool_)
        return self._index.mask(places_of(trials, self.search.graph))

    def _apart(self, is_open: BoolArray, pending: Sequence[Trial]) -> BoolArray:
        """Open candidates away from what is pending."""
        free = is_open & ~self._at(pending)
        if self.separation > 0:
            nearest = np.min([self._distance_from(trial) for trial in pending], axis=0)
            apart = free & (nearest >= self.separation)
            if not apart.any() and free.any():
                apart = free & (nearest >= _EQUAL * nearest[free].max())
            free = apart
        if free.any():
            return free
        if not self.repeats:
            raise ExhaustedError(
                f"all open candidates are pending ({len(pending)}), nothing is left to ask; "
                "tell or cancel some of them first"
            )
        return is_open

    def _distance_from(self, trial: Trial) -> FloatArray:
        key = (trial.point.edge, trial.point.z)
        if key not in self._distances:
            if len(self._distances) >= _REMEMBERED:
                self._distances.clear()
            place = places_of([trial], self.search.graph)
            self._distances[key] = self.search.graph.distance(place, self.search.points)[0]
        return self._distances[key]


def places_of(trials: Sequence[Trial], graph: MetricGraph) -> Points:
    """Where trials were or will be measured."""
    return Points.at((trial.point for trial in trials), graph=graph)
