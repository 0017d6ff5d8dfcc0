"""IGP-UCB and GP-TS on three functions of the open rectangle (fig:benchmarks_IGP-UCB, fig:benchmarks_TS)."""

from dataclasses import replace

from netbo.experiments.cell import Cell
from netbo.experiments.definitions.grid import (
    ACQUISITIONS,
    BASELINES,
    FUNCTIONS,
    KERNELS,
    N_INIT,
    PAPER_NOISE,
    PAPER_TOLERANCE,
    QUICK_HORIZON,
    cell,
    paper_methods,
    rectangle_settings,
)
from netbo.experiments.spec import Spec

NAME = "benchmarks"


def default_spec() -> Spec:
    """The paper's settings; the optimum at an end of the opening, where its tables come out."""
    return Spec(
        NAME, repetitions=60, functions=FUNCTIONS, placements=("gap-end",), kernels=KERNELS,
        acquisitions=ACQUISITIONS, baselines=BASELINES, n_init=(N_INIT,), max_cell=(0.25,), horizon_ucb=40,
        horizon_ts=60, tolerance=PAPER_TOLERANCE, noise=PAPER_NOISE,
    )  # fmt: skip


def quick_spec() -> Spec:
    """Two short repetitions on a coarse mesh."""
    return replace(
        default_spec(), quick=True, repetitions=2, max_cell=(0.5,), horizon_ucb=QUICK_HORIZON,
        horizon_ts=QUICK_HORIZON,
    )  # fmt: skip


def cells(spec: Spec) -> list[Cell]:
    """Every function with every kernel and acquisition, and the baselines."""
    methods = paper_methods(spec)
    return [cell(spec, setting, method) for setting in rectangle_settings(spec) for method in methods]
