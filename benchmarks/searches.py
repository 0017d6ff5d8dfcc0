"""One search, timed turn by turn: what targets, growth and long runs measure."""

import time

import numpy as np
from core import graph_of

import netbo
from netbo import FiniteElementSpace, Optimizer
from netbo.arrays import FloatArray
from netbo.linalg import set_threads
from netbo.problems import random_field

NOISE = 0.1**2
PRESETS = {"GP-TS": "calibrated", "default": "robust"}


def space_of(topology: str, n_nodes: int) -> FiniteElementSpace:
    """About one vertex in ten nodes (road), at most 3,000 (telecom), six (rectangle)."""
    graph = netbo.open_rectangle() if topology == "rectangle" else graph_of(topology, n_nodes)
    return FiniteElementSpace.build(graph, n_nodes=n_nodes, min_cells=2)


def milliseconds(space: FiniteElementSpace, preset: str, n: int, seed: int = 0) -> FloatArray:
    """Processor time of ask + tell in one thread, of n turns after the design.

    The objective is a draw of the prior, its range 0.3 diameters; values have noise of known variance.
    """
    set_threads(1)
    problem = random_field(space, netbo.Matern(1.0, range=0.3 * space.graph.diameter), seed, noise=NOISE)
    optimizer = Optimizer(space, seed=seed, noise=NOISE, preset=preset)
    rng, needed = np.random.default_rng(seed), []
    for _ in range(optimizer.design.size + n):
        begun = time.process_time()
        suggestion = optimizer.ask()
        spent = time.process_time() - begun
        value = problem(suggestion.point) + NOISE**0.5 * rng.standard_normal()
        begun = time.process_time()
        optimizer.tell(suggestion, value)
        needed.append(spent + time.process_time() - begun)
    return 1e3 * np.array(needed[optimizer.design.size :])


def compile_kernels() -> None:
    """What later runs need is compiled, and loaded, by short searches."""
    for preset in PRESETS.values():
        milliseconds(space_of("rectangle", 300), preset, 12)
        milliseconds(space_of("road", 25_000), preset, 2)
