"""Cells from problems and methods: what all definitions have in common."""

import re
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from typing import Any

from netbo.experiments.cell import Cell, Label
from netbo.experiments.methods import (
    Method,
    SpreadThenRandom,
    baseline,
    is_given,
    paper_method,
    straight_design,
)
from netbo.experiments.posing import Rectangle, Source
from netbo.experiments.spec import DATA_BLIND, EUCLIDEAN, GP_TS, IGP_UCB, MATCHED, RANDOM, SPDE, Spec
from netbo.optimize import Design

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
    settings: dict[str, Any] = {**method.settings, "design": design or straight_design(n_init)}
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
