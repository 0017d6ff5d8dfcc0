"""Which ways are compared on all problems? Ours with every option written out, random search, and Optuna.

What is written out stays as it is when the default changes: the old default is GP-TS with width 1 after a
maximin design along the network, alpha = 1, amplitude and mean learned, weak opinions on range and noise.
"""

import warnings
from collections.abc import Iterator
from dataclasses import replace
from functools import lru_cache
from typing import Any

import networkx
import numpy as np
import optuna

from netbo.acquisition import (
    Acquisition,
    FixedWidth,
    MaxVariance,
    NoisyExpectedImprovement,
    ThompsonSampling,
)
from netbo.fem import FiniteElementSpace
from netbo.geometry import MetricGraph, Point, Points, uniform_points
from netbo.optimize import (
    ROBUST,
    Combination,
    EdgewiseMatern,
    EuclideanMatern,
    Learned,
    Maximin,
    MeshFreeMatern,
    Metric,
    Model,
    NetworkMatern,
    Nodes,
    Optimizer,
    Preset,
)
from netbo.optimize.learning import NoiseVariance
from netbo.posterior import ESTIMATED, Amplitude, Belief, Beliefs, FitBounds
from netbo.problems import Problem

optuna.logging.set_verbosity(optuna.logging.WARNING)

OLD_DEFAULT = Preset(
    name="old default",
    acquisition=ThompsonSampling(FixedWidth(1.0)),
    fit=Learned(
        models=(NetworkMatern(alpha=1.0, constant_variance=False),),
        combination=Combination.CHOOSE,
        mean=ESTIMATED,
        amplitude=Amplitude.ESTIMATED,
        regularization=NoiseVariance(),
        bounds=FitBounds(range=(0.01, 10.0), sigma=(1e-3, 1e3), noise_ratio=(1e-8, 1e2)),
        beliefs=Beliefs(range=Belief(median=0.25, log_sd=2.0), noise_ratio=Belief(median=0.01, log_sd=2.0)),
        every_step=False,
    ),
    design=Maximin(8, Metric.GEODESIC),  # of as many places as components, if there are more, up to 32
)


def written_out(graph: MetricGraph, acquisition: Acquisition, seed: int, noise: float | None) -> Optimizer:
    """The old default, or it with another acquisition."""
    fewest = graph.n_vertices + graph.n_edges
    space = FiniteElementSpace.build(graph, n_nodes=max(2_000, fewest), min_cells=2)
    return Optimizer(
        space, preset=OLD_DEFAULT, acquisition=acquisition, candidates=Nodes(space), seed=seed, noise=noise,
        design=Maximin(min(max(8, graph.n_components), 32), Metric.GEODESIC), repeats=noise != 0,
        separation=0.0,
    )  # fmt: skip


def old_default(problem: Problem, seed: int, noise: float | None) -> Optimizer:
    """GP-TS."""
    return written_out(problem.graph, ThompsonSampling(FixedWidth(1.0)), seed, noise)


def noisy_ei(problem: Problem, seed: int, noise: float | None) -> Optimizer:
    """The old default with noisy expected improvement."""
    return written_out(problem.graph, NoisyExpectedImprovement(n_draws=32, n_incumbents=16), seed, noise)


def data_blind(problem: Problem, seed: int, noise: float | None) -> Optimizer:
    """The old default's design, then where its model is most uncertain."""
    return written_out(problem.graph, MaxVariance(), seed, noise)


# The algorithm as printed, which sees coordinates: its design is maximin in the plane.


@lru_cache(maxsize=16)
def drawn(graph: MetricGraph) -> MetricGraph:
    """The network itself or, if it has no drawing, laid out by its lengths (Kamada and Kawai)."""
    if graph.dimension is not None:
        return graph
    links = networkx.Graph()
    links.add_nodes_from(range(graph.n_vertices))
    ends = (each.tolist() for each in (graph.tails, graph.heads, graph.lengths))
    links.add_weighted_edges_from(zip(*ends, strict=True))
    layout = networkx.kamada_kawai_layout(links, weight="weight")
    positions = [layout[vertex] for vertex in range(graph.n_vertices)]
    return MetricGraph(graph.tails, graph.heads, graph.lengths, positions=positions, edge_ids=graph.edge_ids)


def paper(problem: Problem, seed: int, noise: float | None) -> Optimizer:
    """IGP-UCB with the network kernel."""
    return Optimizer(drawn(problem.graph), preset="paper", seed=seed, noise=noise)


def paper_euclidean(problem: Problem, seed: int, noise: float | None) -> Optimizer:
    """IGP-UCB with the Euclidean kernel."""
    return Optimizer(drawn(problem.graph), preset="paper-euclidean", seed=seed, noise=noise)


# The default without one of its parts.


def on_nodes(problem: Problem, seed: int, noise: float | None) -> Optimizer:
    """The default on the nodes of a mesh: none between them, none on the arms of junctions."""
    graph = problem.graph
    nodes = max(2_000, graph.n_vertices + graph.n_edges)
    return Optimizer(FiniteElementSpace.build(graph, n_nodes=nodes, min_cells=2), seed=seed, noise=noise)


KERNELS = (MeshFreeMatern(), EdgewiseMatern())  # of the default
MORE_KERNELS = (MeshFreeMatern(alpha=1.5), MeshFreeMatern(junction_gap=0.5))  # which it once had as well


def with_models(*models: Model) -> Learned:
    """The default's way to learn with other kernels."""
    assert isinstance(ROBUST.fit, Learned)
    return replace(ROBUST.fit, models=models)


def with_straight_lines(problem: Problem, seed: int, noise: float | None) -> Optimizer:
    """The default with a kernel of the drawing as well."""
    fit = with_models(*KERNELS, EuclideanMatern(nu=1.5))
    return Optimizer(drawn(problem.graph), fit=fit, seed=seed, noise=noise)


class RandomSearch:
    """Places at random, uniform in length; no model."""

    def __init__(self, problem: Problem, seed: int) -> None:
        self.places = self._endless(problem.graph, np.random.default_rng([seed, 3]))

    @staticmethod
    def _endless(graph: MetricGraph, rng: np.random.Generator) -> Iterator[Point]:
        while True:
            yield uniform_points(graph, 1, rng)[0]

    def ask(self) -> Point:
        """A random place."""
        return next(self.places)

    def tell(self, suggestion: Any, value: float) -> None:
        """Nothing is learned."""


# Optuna: a categorical edge and a share of its length.


class OptunaSearch:
    """An Optuna study over (edge, share of its length), with a sampler as it comes."""

    def __init__(self, problem: Problem, sampler: optuna.samplers.BaseSampler) -> None:
        self.graph = problem.graph
        self.study = optuna.create_study(sampler=sampler, direction="maximize")
        self.space: dict[str, optuna.distributions.BaseDistribution] = {
            "edge": optuna.distributions.CategoricalDistribution(list(range(self.graph.n_edges))),
            "share": optuna.distributions.FloatDistribution(0.0, 1.0),
        }
        self.trial: optuna.Trial | None = None

    def ask(self) -> Point:
        """What the sampler suggests."""
        self.trial = self.study.ask(self.space)
        edge, share = self.trial.params["edge"], self.trial.params["share"]
        return Points(np.array([edge]), np.array([share * self.graph.lengths[edge]]), graph=self.graph)[0]

    def tell(self, suggestion: Point | Points, value: float) -> None:
        """The value of the trial, or of a place that was never asked for."""
        if isinstance(suggestion, Point):
            assert self.trial is not None
            self.study.tell(self.trial, value)
            return
        [edge], [z] = suggestion.edge.tolist(), suggestion.z.tolist()
        known = {"edge": edge, "share": z / self.graph.lengths[edge]}
        self.study.add_trial(optuna.create_trial(params=known, distributions=self.space, value=value))


class OptunaTpe(OptunaSearch):
    """Optuna's default sampler; noise is no matter to it."""

    def __init__(self, problem: Problem, seed: int) -> None:
        super().__init__(problem, optuna.samplers.TPESampler(seed=seed))


class OptunaGp(OptunaSearch):
    """Optuna's Gaussian processes: Matérn 5/2, log EI; exact values are said to be so. Needs torch."""

    def __init__(self, problem: Problem, seed: int, noise: float | None) -> None:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")  # an option that may change
            sampler = optuna.samplers.GPSampler(seed=seed, deterministic_objective=noise == 0)
        super().__init__(problem, sampler)
