"""Networks and what lives on them: New York with a sample of the prior, the benchmarks, the inversion."""

from collections.abc import Sequence
from pathlib import Path

import matplotlib.pyplot as plt
import numpy as np
from matplotlib.axes import Axes
from matplotlib.colors import Normalize

from netbo import plotting
from netbo.experiments.cell import Source
from netbo.experiments.figures.style import SMALL, TITLE, problem_name, put_legend, save
from netbo.fem import FiniteElementSpace
from netbo.plotting import style
from netbo.priors import Matern, whittle_matern
from netbo.problems import (
    OUTER_FUNCTIONS,
    NodalFunction,
    Placement,
    new_york,
    open_rectangle_benchmark,
)

SAMPLE_CELL = 0.05  # of the sampled field; finer than a point of the picture
PRINTED = Matern(alpha=1.0, kappa=1.0, tau=1.0)  # fig:metric graph example
OPTIMUM = "#e8402a"
MAP_SIZE = (10.5, 4.6)  # inches, of two plans of New York


def draw_new_york(out: Path, *, seed: int) -> list[Path]:
    """The telecommunication network, and a sample of the prior on it (fig:metric graph example).

    alpha = kappa = tau = 1, and the sample is scaled to [-1, 1], as the paper says.
    """
    space = FiniteElementSpace.build(new_york(), max_cell=SAMPLE_CELL)
    drawn = whittle_matern(space, PRINTED).sample(space.nodes, np.random.default_rng(seed))
    path = np.asarray(drawn, dtype=np.float64).ravel()
    scaled = 2 * (path - path.min()) / np.ptp(path) - 1
    figure, (left, right) = plt.subplots(1, 2, figsize=MAP_SIZE, layout="constrained")
    plotting.draw_network(space.graph, left, vertex_size=7.0, color=style.INK)
    plotting.draw_field(
        space.graph, NodalFunction(space, scaled), right, norm=Normalize(-1, 1), label="sample", linewidth=3.5
    )
    _title(left, "Telecommunication network in New York")
    _title(right, "Sample of the prior, α = κ = τ = 1, scaled to [-1, 1]")
    return save(figure, out, "network")


def draw_objectives(
    out: Path, *, functions: Sequence[str] | None = None, placements: Sequence[str] | None = None
) -> list[Path]:
    """The benchmarks on the open rectangle (fig:true-benchmarks-openrectangle), at one or more placements."""
    chosen = [
        (OUTER_FUNCTIONS[name], Placement(place))
        for place in placements or (Placement.GAP_END.value,)
        for name in functions or OUTER_FUNCTIONS
    ]
    figure, axes = plt.subplots(
        len(chosen), 1, figsize=(9.0, 1.75 * len(chosen) + 0.4), layout="constrained", squeeze=False
    )
    for ax, (outer, placement) in zip(axes[:, 0], chosen, strict=True):
        problem = open_rectangle_benchmark(outer, placement)
        plotting.draw_field(
            problem.graph, problem.objective, ax, norm=Normalize(-1, 0), label="value", linewidth=6.0,
            to_scale=False,
        )  # fmt: skip
        plotting.draw_points(
            problem.graph, problem.maximizers, ax, marker="*", color=OPTIMUM, size=13, label="optimum"
        )
        ax.margins(0.03, 0.25)
        _title(ax, f"{problem_name(outer.name)}, optimum: {placement.value}")
    axes[0, 0].annotate(
        "drawn higher than it is: 36 wide, 2 high, its opening 1", (0.5, 0.5), xycoords="axes fraction",
        ha="center", va="center", color=style.INK, size=SMALL,
    )  # fmt: skip
    put_legend(figure, [axes[0, 0]])
    return save(figure, out, "objectives")


def draw_inversion(out: Path, source: Source) -> list[Path]:
    """Solution and log-posterior of one source (fig:ipbo-solution_posterior_tele)."""
    inversion = source.inversion()
    space = inversion.space
    figure, axes = plt.subplots(1, 2, figsize=(MAP_SIZE[0], MAP_SIZE[1] + 0.4), layout="constrained")
    scaled = inversion.problem().objective(space.nodes)
    fields = ((inversion.solution, "$p_h$"), (scaled, "LP, scaled to [-1, 0]"))
    for ax, (values, label) in zip(axes, fields, strict=True):
        plotting.draw_field(space.graph, NodalFunction(space, values), ax, label=label, linewidth=3.5)
        plotting.draw_points(
            space.graph, inversion.source_point, ax, marker="*", color=OPTIMUM, size=21, label="true source"
        )
        plotting.draw_points(
            space.graph, space.nodes[[inversion.mode]], ax, marker="D", size=6, label="posterior mode"
        )
    _title(axes[0], f"Solution of the equation, source at node {source.node}")
    _title(axes[1], "Log-posterior of the source's place")
    put_legend(figure, [axes[1]])
    return save(figure, out, "inversion-landscape")


def _title(ax: Axes, text: str) -> None:
    ax.set_title(text, loc="left", fontsize=TITLE, color=style.INK)
