"""The methods of the experiments: what a row of the table calls them, and the settings behind the names."""

from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from typing import Any

import numpy as np
from numpy.random import Generator

from netbo.acquisition import GpTs, IgpUcb, MaxVariance, PaperWidth
from netbo.arrays import BoolArray
from netbo.experiments.spec import DATA_BLIND, EUCLIDEAN, GP_TS, IGP_UCB, MATCHED, RANDOM, SPDE
from netbo.geometry import MetricGraph, Points
from netbo.optimize import (
    CALIBRATED,
    PAPER,
    PAPER_EUCLIDEAN,
    EuclideanMatern,
    Learned,
    Maximin,
    MeshFreeMatern,
    Metric,
    NetworkMatern,
    RandomDesign,
)
from netbo.optimize.presets import STEADY
from netbo.posterior import Amplitude

BATCH = 4
NOT_APPLICABLE = float("nan")

_KERNELS: Mapping[str, Mapping[str, Any]] = {
    SPDE: {"preset": PAPER},
    EUCLIDEAN: {"preset": PAPER_EUCLIDEAN},
    MATCHED: {
        "preset": PAPER_EUCLIDEAN,
        "fit": Learned(  # all of PAPER's but the distance
            models=(EuclideanMatern(nu=1.5, tau=1.0),),
            mean=0.0,
            amplitude=Amplitude.FIXED_TAU,
            every_step=True,
        ),
    },
}


@dataclass(frozen=True, eq=False)
class Method:
    """A way to optimize; `settings` are those of `Optimizer` except noise and design."""

    label: str
    kernel: str
    acquisition: str
    preset: str
    settings: Mapping[str, Any] = field(default_factory=dict)
    b: float = NOT_APPLICABLE
    batch: int = 1
    is_continuous: bool = False


@dataclass(frozen=True)
class SpreadThenRandom:
    """The initial design of all others, then places at random: no model is ever asked for."""

    first: Maximin
    size: int
    then: RandomDesign = field(default_factory=RandomDesign, repr=False)

    def next(
        self, graph: MetricGraph, candidates: Points, known: Points, allowed: BoolArray, rng: Generator
    ) -> int:
        """Index of the candidate to measure next."""
        design = self.first if len(known) < self.first.size else self.then
        return design.next(graph, candidates, known, allowed, rng)


def paper_method(
    kernel: str, acquisition: str, *, b: float = 0.0, noise_bound: float | None = None
) -> Method:
    """alg: benchmarks with one of the kernels; noise_bound is R, by default that of the noise."""
    width = PaperWidth(noise_bound=noise_bound, misspecification=b)
    rule = {IGP_UCB: IgpUcb, GP_TS: GpTs}[acquisition](width)
    settings = {**_KERNELS[kernel], "acquisition": rule}
    return Method(f"{kernel}, {acquisition}", kernel, acquisition, "paper", settings, b)


def baseline(name: str) -> Method:
    """data-blind: the largest posterior deviation under the SPDE kernel; random: without a model."""
    if name == DATA_BLIND:
        return Method(DATA_BLIND, SPDE, DATA_BLIND, "paper", {"preset": PAPER, "acquisition": MaxVariance()})
    return Method(RANDOM, "none", RANDOM, "")


def calibrated_method(acquisition: str = GP_TS) -> Method:
    """What users get; GP-TS unless they say otherwise."""
    rule = CALIBRATED.acquisition if acquisition == GP_TS else "ucb"
    return Method(f"calibrated, {acquisition}", SPDE, acquisition, "calibrated", {"acquisition": rule})


def calibrated_variants() -> list[Method]:
    """What may be changed about the calibrated preset, one thing at a time."""
    base = calibrated_method()
    evidence = Learned(models=(NetworkMatern(0.5), NetworkMatern(1.0)), beliefs=STEADY)
    mesh_free = {"fit": Learned(models=(MeshFreeMatern(1.0),), beliefs=STEADY)}
    return [
        replace(base, label=f"calibrated, batches of {BATCH}", batch=BATCH),
        replace(base, label="calibrated, alpha by evidence", settings={"fit": evidence}),
        replace(base, label="calibrated, mesh-free", settings=mesh_free),
        replace(base, label="calibrated, continuum", settings=mesh_free, is_continuous=True),
    ]


def calibrated_euclidean() -> Method:
    """The straight-line twin of the calibrated preset: as smooth, and everything else alike."""
    fit = Learned(models=(EuclideanMatern(nu=1.5),), beliefs=STEADY)
    return Method(f"calibrated, {MATCHED}", MATCHED, GP_TS, "calibrated", {"fit": fit})


def straight_design(n_init: int) -> Maximin:
    """The paper's initial design, maximin in straight-line distance (rmk:maximin design)."""
    return Maximin(n_init, Metric.EUCLIDEAN)


def is_given(value: float) -> bool:
    """Whether a label applies."""
    return not np.isnan(value)
