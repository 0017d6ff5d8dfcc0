"""Where is the source? The log-posterior on New York searched by IGP-UCB and GP-TS (fig:ipbo-ts-tele)."""

from dataclasses import replace

from netbo.experiments.cell import Cell
from netbo.experiments.definitions.grid import (
    ACQUISITIONS,
    BASELINES,
    KERNELS,
    N_INIT,
    NUGGET,
    PAPER_TOLERANCE,
    QUICK_HORIZON,
    Setting,
    cell,
    paper_methods,
)
from netbo.experiments.posing import draw_sources
from netbo.experiments.spec import Spec

NAME = "inversion"
SOURCES = 8  # results differ by source; the paper shows one and does not say which
EXACT = 0.0  # the noise of the log-posterior, which is computed, not measured


def default_spec() -> Spec:
    """The paper's settings, over several sources."""
    return Spec(
        NAME, repetitions=50, sources=SOURCES, kernels=KERNELS, acquisitions=ACQUISITIONS,
        baselines=BASELINES, n_init=(N_INIT,), max_cell=(0.25,), horizon_ucb=40, horizon_ts=40,
        tolerance=PAPER_TOLERANCE, noise=NUGGET,
    )  # fmt: skip


def quick_spec() -> Spec:
    """Two sources on a coarse mesh, two short repetitions each."""
    return replace(
        default_spec(), quick=True, repetitions=2, sources=2, max_cell=(0.5,), horizon_ucb=QUICK_HORIZON,
        horizon_ts=QUICK_HORIZON,
    )  # fmt: skip


def cells(spec: Spec) -> list[Cell]:
    """Every source with every kernel and acquisition, and the baselines; R = 0, as nothing is measured."""
    methods = paper_methods(spec, noise_bound=0.0)
    return [cell(spec, setting, method) for setting in source_settings(spec) for method in methods]


def source_settings(spec: Spec) -> list[Setting]:
    """All sources on all meshes with all sizes of the design."""
    return [
        Setting(pose, n_init, EXACT)
        for max_cell in spec.max_cell or ()
        for pose in draw_sources(spec.sources or 1, max_cell)
        for n_init in spec.n_init or ()
    ]
