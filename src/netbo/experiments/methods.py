"""The methods of the experiments: names in the table, the settings behind them, cells of a grid."""

import re
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field, replace
from typing import Any

import numpy as np
from numpy.random import Generator

from netbo.acquisition import GpTs, IgpUcb, MaxVariance, PaperWidth
from netbo.arrays import BoolArray
from netbo.experiments.cell import Cell, Label, Rectangle, Source
from netbo.experiments.spec import DATA_BLIND, EUCLIDEAN, GP_TS, IGP_UCB, MATCHED, RANDOM, SPDE, Spec
from netbo.geometry import MetricGraph, Points
from netbo.optimize import (
    CALIBRATED,
    PAPER,
    PAPER_EUCLIDEAN,
    Design,
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
    """The default before the suite decided on another; GP-TS unless said otherwise."""
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


# Cells from problems and methods.

KERNELS = (SPDE, EUCLIDEAN, MATCHED)
ACQUISITIONS = (IGP_UCB, GP_TS)
BASELINES = (DATA_BLIND, RANDOM)
FUNCTIONS = ("ackley", "rastrigin", "levy")
PAPER_TOLERANCE = 1e-6
PAPER_NOISE = 0.05**2
NUGGET = 1e-4  # variance, on New York where values are exact
N_INIT = 8
QUICK_HORIZON = 10


@dataclass(frozen=True, slots=True)
class Setting:
    """Where a method is tried: the problem, and the sizes of design and mesh."""

    pose: Rectangle | Source
    n_init: int
    exact_noise: float  # what a calibrated method is told of the noise; others get the spec's


def rectangle_settings(spec: Spec) -> list[Setting]:
    """All combinations of functions, placements, meshes and sizes of the design."""
    noise = spec.noise or PAPER_NOISE
    return [
        Setting(Rectangle(function, placement, max_cell, noise), n_init, noise)
        for function in spec.functions or ()
        for placement in spec.placements or ("gap-end",)
        for max_cell in spec.max_cell or ()
        for n_init in spec.n_init or ()
    ]


def paper_methods(
    spec: Spec, *, b: Iterable[float] = (0.0,), noise_bound: float | None = None
) -> list[Method]:
    """Every kernel with every acquisition at every b, then the baselines."""
    combined = [
        paper_method(kernel, acquisition, b=each, noise_bound=noise_bound)
        for acquisition in spec.acquisitions or ()
        for kernel in spec.kernels or ()
        for each in b
    ]
    return [*combined, *(baseline(name) for name in spec.baselines or ())]


def cell(spec: Spec, setting: Setting, method: Method, *, design: Design | None = None) -> Cell:
    """One cell; the initial design is the paper's unless another is given."""
    pose, n_init = setting.pose, setting.n_init
    horizon = (spec.horizon_ts if method.acquisition == GP_TS else None) or spec.horizon_ucb or 1
    settings: dict[str, Any] = {"preset": CALIBRATED, **method.settings}
    settings["design"] = design or straight_design(n_init)
    settings["noise"] = setting.exact_noise if method.preset == "calibrated" else spec.noise
    if method.acquisition == RANDOM:
        settings["design"] = SpreadThenRandom(straight_design(n_init), n_init + horizon)
    labels: dict[str, Label] = {
        **_problem_labels(pose),
        "experiment": spec.name,
        "method": method.label,
        "kernel": method.kernel,
        "acquisition": method.acquisition,
        "preset": method.preset,
        "b": method.b,
        "n_init": n_init,
        "max_cell": pose.max_cell,
    }
    return Cell(
        key=_key(labels, method.b),
        labels=labels,
        problem=pose,
        settings=settings,
        horizon=horizon,
        tolerance=spec.tolerance or 0.0,
        batch=method.batch,
        is_continuous=method.is_continuous,
    )


def _problem_labels(pose: Rectangle | Source) -> dict[str, str]:
    if isinstance(pose, Source):
        return {"problem": "newyork", "source": str(pose.node)}
    return {"problem": pose.function, "placement": pose.placement}


def _key(labels: Mapping[str, Label], b: float) -> str:
    """A folder's name that tells the cell from all others of its experiment."""
    place = labels.get("placement") or labels.get("source")
    words = [str(labels["problem"]), str(place), str(labels["method"])]
    words += [f"b{b:g}"] if is_given(b) else []
    words += [f"n{labels['n_init']}", f"h{labels['max_cell']:g}"]
    return re.sub(r"[^a-z0-9.]+", "-", " ".join(words).lower())
