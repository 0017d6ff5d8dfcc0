"""What asks and tells, set on a problem: a run that `compare` repeats, its cost, its answers judged."""

import hashlib
import inspect
import re
import time
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from functools import cached_property
from typing import Any, Protocol

import numpy as np

import netbo
from netbo.arrays import FloatArray
from netbo.experiments.cell import Label, Queries, Run
from netbo.geometry import Point, Points
from netbo.optimize import Optimizer
from netbo.optimize.arguments import as_preset
from netbo.problems import Problem, SuiteProblem

SCANNED = 4_000  # places, about, by which the share of a network that is better than one of them is measured
CPU = "cpu"  # seconds of processor time an evaluation, in ask and tell
ANSWERS = (
    "recommended",
    "covers",
    "holds",
    "listed",
    "distance",
    "best_distance",
)  # of a method that answers
MEETING = 1e-9  # diameters; a place no farther from a stretch lies in it


class Searcher(Protocol):
    """Anything that says where to measure next and takes the value."""

    def ask(self) -> Any:
        """A `Point`, or a suggestion with one."""

    def tell(self, suggestion: Any, value: float) -> Any:
        """The value measured there, or at `Points` that were never asked for."""


Method = Mapping[str, Any] | Callable[..., Searcher]


@dataclass(frozen=True, eq=False)
class Pairing:
    """A method on a problem; what `compare` repeats over seeds."""

    name: str
    method: Method
    posed: SuiteProblem | Problem
    budget: int
    n_init: int = 0  # places of a design that all methods share

    @property
    def key(self) -> str:
        """A folder's name."""
        return re.sub(r"[^a-z0-9.]+", "-", f"{self.posed.name} {self.name}".lower())

    @property
    def labels(self) -> Mapping[str, Label]:
        """Columns of the table."""
        return {"problem": self.posed.name, "method": self.name, "n_init": self.n_init}

    @cached_property
    def problem(self) -> Problem:
        """The problem itself."""
        return self.posed.build() if isinstance(self.posed, SuiteProblem) else self.posed

    @property
    def spread(self) -> float:
        """Regrets are shares of it."""
        return self.problem.spread

    def fingerprint(self) -> str:
        """Hash of everything that decides its runs; options stand for the preset they are based on, too."""
        method: Any = self.method
        if isinstance(method, Mapping):
            usual = inspect.signature(Optimizer).parameters["preset"].default
            method = (sorted(method.items()), as_preset(method.get("preset", usual)))
        posed = self.posed if isinstance(self.posed, SuiteProblem) else self.posed.name
        content = repr((netbo.__version__, method, posed, self.budget, self.n_init))
        return hashlib.sha256(re.sub(r" at 0x[0-9a-f]+", "", content).encode()).hexdigest()

    def run(self, seed: int) -> Run:
        """Evaluations up to the budget; the errors of measurements depend on seed and count alone."""
        problem, made, rng = self.problem, Queries(), np.random.default_rng([seed, 1])
        searcher, cpu = self._start(seed), 0.0
        for place in self._shared(seed):
            searcher.tell(Points.at(place, graph=problem.graph), made.add(problem, place, rng))
        while len(made.value) < self.budget:
            begun = time.process_time()
            suggestion = searcher.ask()
            cpu += time.process_time() - begun
            place = suggestion if isinstance(suggestion, Point) else suggestion.point
            value = made.add(problem, place, rng)
            begun = time.process_time()
            searcher.tell(suggestion, value)
            cpu += time.process_time() - begun
        asked = max(1, self.budget - self.n_init)
        return made.run(problem, 0, {CPU: cpu / asked, **answers_of(searcher, problem)})

    def _start(self, seed: int) -> Searcher:
        noise = None if self._is_noise_hidden else self.problem.noise
        if isinstance(self.method, Mapping):
            return Optimizer(self.problem.graph, seed=seed, **{"noise": noise} | dict(self.method))
        is_told = "noise" in inspect.signature(self.method).parameters
        return self.method(self.problem, seed, **({"noise": noise} if is_told else {}))

    @property
    def _is_noise_hidden(self) -> bool:
        return isinstance(self.posed, SuiteProblem) and not self.posed.is_noise_known

    def _shared(self, seed: int) -> list[Point]:
        """The first places, equal for all methods: random, uniform in length."""
        rng = np.random.default_rng([seed, 2])
        return list(netbo.uniform_points(self.problem.graph, self.n_init, rng))


# Answers at the end of a run, judged by the truth.


def answers_of(searcher: Any, problem: Problem) -> dict[str, float]:
    """What a method that answers says, against the truth.

    recommended: regret of the place it recommends, as a share of the spread.
    covers: whether its 95 % interval of the value there holds the maximum.
    holds: whether its 95 % interval of the best value does.
    listed: whether its list of stretches to search, 80 % of the probability, holds a maximizer.
    distance, best_distance: from the nearest maximizer to the place it recommends and to the best that it
        measured, in diameters.
    """
    if not isinstance(searcher, Optimizer):
        return {}
    found, value = searcher.recommend(), searcher.optimum()
    said = (
        problem.regret(found.point) / problem.spread,
        float(found.low <= problem.maximum <= found.high),
        float(value.low <= problem.maximum <= value.high),
        float(_is_listed(searcher, problem)),
        _from_maximizers(problem, found.point),
        _from_maximizers(problem, searcher.best().point),
    )
    return dict(zip(ANSWERS, said, strict=True))


def _from_maximizers(problem: Problem, place: Point) -> float:
    graph = problem.graph
    along = graph.distance(Points.at(place, graph=graph), problem.maximizers)
    return float(along.min()) / graph.diameter


def _is_listed(optimizer: Optimizer, problem: Problem) -> bool:
    """Whether a maximizer lies in a stretch or, at a vertex, where a stretch of another edge ends."""
    graph, best, stretches = problem.graph, problem.maximizers, optimizer.search_list().stretches
    ends = np.array([(each.start, each.end) for each in stretches]).reshape(-1, 2)
    _, edge, start, end = graph.intervals([each.edge_id for each in stretches], *ends.T)
    room = MEETING * graph.diameter
    for at, z in zip(best.edge, best.z, strict=True):
        if np.any((edge == at) & (start - room <= z) & (z <= end + room)):
            return True
    limits = Points(np.tile(edge, 2), np.concatenate([start, end]), graph=graph)
    return bool(graph.distance(limits, best).min() <= room)


def share_better(problem: Problem, values: FloatArray) -> FloatArray:
    """Which share of the network's length is better than places with these values, (n,)."""
    graph = problem.graph
    cells = np.maximum(np.round(graph.lengths / graph.total_length * SCANNED), 1).astype(np.int64)
    edge = np.repeat(np.arange(graph.n_edges), cells)
    number = np.arange(len(edge)) - np.repeat(np.cumsum(cells) - cells, cells)
    cell = (graph.lengths / cells)[edge]
    scanned = problem(Points(edge, (number + 0.5) * cell, graph=graph))
    order = np.argsort(scanned)
    above = np.append(np.cumsum(cell[order][::-1])[::-1], 0.0) / graph.total_length
    return np.asarray(above[np.searchsorted(scanned[order], values, side="right")])
