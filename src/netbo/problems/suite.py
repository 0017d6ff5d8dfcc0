"""Named problems, by which ways to search are compared; twenty of them are kept locked while tuning.

A name is network/landscape. Everything random about a problem comes from a hash of its name: no seed was
chosen. Noise is a share of the spread of the values; where it is not known, a method is not told.
"""

import hashlib
from collections.abc import Callable
from dataclasses import dataclass, replace
from functools import lru_cache

import numpy as np

from netbo.checks import explained
from netbo.errors import ParameterError
from netbo.fem import FiniteElementSpace
from netbo.geometry import MetricGraph
from netbo.problems import landscapes
from netbo.problems.benchmarks import Placement, open_rectangle_benchmark
from netbo.problems.composition import OUTER_FUNCTIONS, composed, placed_anchors
from netbo.problems.fields import needle
from netbo.problems.inversion import SourceInversion
from netbo.problems.problem import Objective, Problem, edgewise_problem
from netbo.problems.simulated import read_scan
from netbo.wording import listing

CELLS = 4_000  # of a landscape, about: finer than any mesh that is searched
SOURCE_NODES = 600  # of the mesh of an inverse problem, about
NEW_YORK = 5.26  # diameter for which the paper's chi and noise of an inverse problem are meant
SIMULATED = ("leak", "contamination", "fault")
LOCKED = 20  # problems that are judged once, after all tuning


@dataclass(frozen=True, slots=True)
class SuiteProblem:
    """A problem of the suite: its name, the noise of a measurement, and whether a method is told of it."""

    name: str
    noise: float = 0.0  # standard deviation as a share of the spread of the values
    is_noise_known: bool = True

    @property
    def network(self) -> str:
        """Name of the network."""
        return self.name.rpartition("/")[0]

    @property
    def landscape(self) -> str:
        """Name of what is searched on it."""
        return self.name.rpartition("/")[2]

    @property
    def seed(self) -> int:
        """Of everything random about it."""
        return int(_digest(self.name)[:8], 16)

    @property
    def is_locked(self) -> bool:
        """Whether it is kept aside while tuning: one of the twenty smallest hashes."""
        return self.name in _locked()

    @property
    def is_simulated(self) -> bool:
        """Whether its values come from a simulator, by way of a scan."""
        return _kind(self) in SIMULATED

    def build(self) -> Problem:
        """The problem, with its noise as a variance; made once in each process."""
        return _built(self)


def _digest(name: str) -> str:
    return hashlib.sha256(name.encode()).hexdigest()


@lru_cache(maxsize=1)
def _locked() -> frozenset[str]:
    return frozenset(sorted((each.name for each in SUITE), key=_digest)[:LOCKED])


@lru_cache(maxsize=64)
def _built(entry: SuiteProblem) -> Problem:
    problem = _BUILDERS[_kind(entry)](entry)
    return replace(problem, name=entry.name, noise=(entry.noise * problem.spread) ** 2, space=None)


def _kind(entry: SuiteProblem) -> str:
    kind = next((kind for kind in _BUILDERS if entry.landscape.startswith(kind)), None)
    assert kind is not None, entry.name
    return kind


def _dense(entry: SuiteProblem, landscape: Callable[[MetricGraph, int], Objective]) -> Problem:
    """A landscape on the network of a problem, at dense places of every edge."""
    graph = landscapes.network(entry.network)
    cell = graph.total_length / CELLS
    return edgewise_problem(entry.name, graph, landscape(graph, entry.seed), max_cell=cell)


def _paper(entry: SuiteProblem) -> Problem:
    """A function of the paper: on a rectangle at a placement, elsewhere at a random vertex."""
    outer_name, _, placement = entry.landscape.partition("-")
    outer, graph = OUTER_FUNCTIONS[outer_name], landscapes.network(entry.network)
    if placement:
        space = FiniteElementSpace.build(graph, max_cell=graph.total_length / CELLS)
        return open_rectangle_benchmark(outer, Placement(placement), space=space, noise=0.0)
    vertex = np.random.default_rng(entry.seed).integers(graph.n_vertices, size=1)
    anchors = placed_anchors(graph, graph.vertex_points(vertex), optimum=outer.minimizer)
    return composed(graph, outer, anchors)


def _source(entry: SuiteProblem) -> Problem:
    """The log-posterior of a hidden source at a random node, scaled or raw."""
    graph = landscapes.network(entry.network)
    space = FiniteElementSpace.build(graph, max_cell=graph.total_length / SOURCE_NODES)
    node = int(np.random.default_rng(entry.seed).integers(space.n_nodes))
    scale = graph.diameter / NEW_YORK  # the solution grows with it
    inversion = SourceInversion(space, node, chi=0.2 / scale, noise_sd=0.1 * scale, seed=entry.seed)
    return inversion.problem(scaled=not entry.landscape.endswith("raw"))


def _simulated(entry: SuiteProblem) -> Problem:
    """How well an event explains what instruments saw: -log rms, or the log likelihood if it is raw."""
    scan, graph = read_scan(entry.name), landscapes.network(entry.network)
    if entry.landscape.endswith("raw"):
        n_readings = len(scan.recipe["instruments"])
        return scan.problem(graph, lambda rms: -n_readings * rms**2 / 2)
    return scan.problem(graph, lambda rms: -np.log(rms))


def _needle(entry: SuiteProblem) -> Problem:
    graph = landscapes.network(entry.network)
    return needle(graph, width=0.02 * graph.diameter, seed=entry.seed)


def _narrow_bump(graph: MetricGraph, seed: int) -> Objective:
    """The best bump is a quarter as wide as four lower ones."""
    heights = np.array([1.0, 0.75, 0.7, 0.65, 0.6])
    return landscapes.bumps(graph, np.array([0.06, 0.25, 0.25, 0.25, 0.25]), heights, seed)


def _plateaus(graph: MetricGraph, seed: int) -> Objective:
    drawn = landscapes.field(graph, 2.0, 0.5, seed)
    top = drawn.space.nodes[[int(np.argmax(drawn.values))]]
    width = np.array([0.05 * graph.diameter])
    return landscapes.Plateaus(drawn, landscapes.Bumps(graph, graph.bind(top), width, np.ones(1)))


def _jumps(graph: MetricGraph, seed: int) -> Objective:
    levels = 0.3 * np.random.default_rng(seed).standard_normal(graph.n_edges)
    return landscapes.Jumps(landscapes.field(graph, 1.0, 0.3, seed), levels)


def _queues(graph: MetricGraph, seed: int) -> Objective:
    return landscapes.Queues(graph, 0.2 + landscapes.smooth_levels(graph, seed))


def _edge_levels(graph: MetricGraph, seed: int) -> Objective:
    """Alike on edges that are near, with a share of each edge's own."""
    own = np.random.default_rng(seed).uniform(0.0, 0.3, graph.n_edges)
    return landscapes.EdgeLevels(landscapes.smooth_levels(graph, seed) + own)


_BUILDERS: dict[str, Callable[[SuiteProblem], Problem]] = {
    **dict.fromkeys(OUTER_FUNCTIONS, _paper),
    "source": _source,
    **dict.fromkeys(SIMULATED, _simulated),
    "smooth-field": lambda each: _dense(each, lambda graph, seed: landscapes.field(graph, 2.0, 0.5, seed)),
    "rough-field": lambda each: _dense(each, lambda graph, seed: landscapes.field(graph, 0.5, 0.15, seed)),
    "field": lambda each: _dense(each, lambda graph, seed: landscapes.field(graph, 1.0, 0.25, seed)),
    "plane-field": lambda each: _dense(each, lambda graph, seed: landscapes.plane_field(graph, 0.3, seed)),
    "short-plane-field": lambda each: _dense(
        each, lambda graph, seed: landscapes.plane_field(graph, 0.12, seed)
    ),
    "narrow-bump": lambda each: _dense(each, _narrow_bump),
    "needle": _needle,
    "plateaus": lambda each: _dense(each, _plateaus),
    "jumps": lambda each: _dense(each, _jumps),
    "queues": lambda each: _dense(each, _queues),
    "edge-levels": lambda each: _dense(each, _edge_levels),
    "plume": lambda each: _dense(each, landscapes.plume),
    "pits": lambda each: _dense(
        each, lambda graph, seed: landscapes.Pits(landscapes.field(graph, 1.5, 0.3, seed))
    ),
}

SUITE = (
    SuiteProblem("open-rectangle/ackley-interior", 0.05),
    SuiteProblem("open-rectangle/ackley-corner", 0.2),
    SuiteProblem("open-rectangle/rastrigin-gap-end", 0.05),
    SuiteProblem("open-rectangle/levy-interior"),
    SuiteProblem("narrow-rectangle/rastrigin-interior", 0.05, is_noise_known=False),
    SuiteProblem("narrow-rectangle/levy-mid-top"),
    SuiteProblem("road-150/ackley", 0.05),
    SuiteProblem("grid/rastrigin", 0.05),
    SuiteProblem("wheel/levy", 0.2, is_noise_known=False),
    SuiteProblem("tree-40/ackley"),
    SuiteProblem("new-york/source-1"),
    SuiteProblem("new-york/source-2"),
    SuiteProblem("new-york/source-3", is_noise_known=False),
    SuiteProblem("new-york/source-raw"),
    SuiteProblem("sndlib/germany50/source"),
    SuiteProblem("sndlib/germany50/source-raw", is_noise_known=False),
    SuiteProblem("sndlib/cost266/source"),
    SuiteProblem("road-150/smooth-field", 0.05),
    SuiteProblem("road-500/smooth-field", 0.2),
    SuiteProblem("sndlib/germany50/rough-field", 0.05),
    SuiteProblem("grid/rough-field"),
    SuiteProblem("tree-120/field", 0.05, is_noise_known=False),
    SuiteProblem("islands/field", 0.05),
    SuiteProblem("river/field"),
    SuiteProblem("grid/plane-field", 0.05),
    SuiteProblem("grid/short-plane-field"),
    SuiteProblem("sndlib/cost266/plane-field", 0.2),
    SuiteProblem("road-50/narrow-bump"),
    SuiteProblem("tree-40/narrow-bump", 0.05),
    SuiteProblem("tree-120/narrow-bump"),
    SuiteProblem("ladder/narrow-bump", 0.05, is_noise_known=False),
    SuiteProblem("islands/narrow-bump"),
    SuiteProblem("river/narrow-bump", 0.05),
    SuiteProblem("road-500/needle"),
    SuiteProblem("ladder/needle", 0.05),
    SuiteProblem("islands/needle", is_noise_known=False),
    SuiteProblem("road-50/plateaus"),
    SuiteProblem("grid/plateaus", 0.05),
    SuiteProblem("sndlib/janos-us-ca/plateaus", is_noise_known=False),
    SuiteProblem("road-150/jumps", 0.05),
    SuiteProblem("wheel/jumps"),
    SuiteProblem("road-50/queues", 0.05),
    SuiteProblem("grid/queues", 0.2),
    SuiteProblem("road-150/edge-levels", 0.05),
    SuiteProblem("sndlib/germany50/edge-levels"),
    SuiteProblem("river/plume", 0.05),
    SuiteProblem("road-50/pits"),
    SuiteProblem("tree-40/pits", is_noise_known=False),
    SuiteProblem("net1/leak"),
    SuiteProblem("net1/leak-raw"),
    SuiteProblem("net2/leak", is_noise_known=False),
    SuiteProblem("net3/leak"),
    SuiteProblem("ky4/leak"),
    SuiteProblem("net2/contamination"),
    SuiteProblem("net3/contamination", is_noise_known=False),
    SuiteProblem("oberrhein/fault"),
    SuiteProblem("oberrhein/fault-raw"),
    SuiteProblem("cigre-mv/fault"),
    SuiteProblem("case33bw/fault", is_noise_known=False),
    SuiteProblem("vorstadt/fault"),
)


@explained
def suite_problem(name: str) -> SuiteProblem:
    """A problem of the suite by its name."""
    found = next((each for each in SUITE if each.name == name), None)
    if found is None:
        names = [each.name for each in SUITE]
        raise ParameterError(
            f"a problem of the suite is network/landscape, got {name!r}; try {listing(names)}"
        )
    return found
