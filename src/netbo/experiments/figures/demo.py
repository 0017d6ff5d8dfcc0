"""The pictures of the demonstration: what was to be found, what is known at the end, how it was found."""

from collections.abc import Mapping, Sequence
from pathlib import Path

import matplotlib.pyplot as plt
import numpy as np
from matplotlib.axes import Axes
from matplotlib.cm import ScalarMappable
from matplotlib.colors import BoundaryNorm, Normalize
from matplotlib.figure import Figure
from matplotlib.image import imread, imsave
from matplotlib.ticker import NullLocator

from netbo import plotting
from netbo.experiments.demo import NETWORK, RANDOM, STRAIGHT, TOLERANCE, Case, Method, Run, resume
from netbo.optimize.design import default_size
from netbo.plotting import style
from netbo.plotting.network import Field
from netbo.problems import Problem

Results = Sequence[tuple[Case, Mapping[Method, Sequence[Run]]]]

DPI = 100
SHADE = 8  # of 255: step of the colours stored
TITLE = 10.0  # points
ORDER_MAP = "plasma"  # of the order of measurements: not to be mistaken for a value
OPTIMUM = "#e8402a"
DESIGN = "#eef0f3"
LINES = (  # dashes above the full line: where both are equal both are seen
    (NETWORK, "network prior", style.MEAN, "-"),
    (STRAIGHT, "straight-line prior", "#d9822b", "--"),
    (RANDOM, "random search", "#6e7781", ":"),
)


def draw_search(run: Run, path: Path, *, to_scale: bool) -> None:
    """Truth, posterior mean and sd, and the places measured in their order, as four plans of the network."""
    problem = run.task.pose()
    optimizer = resume(problem, run)
    posterior, nodes = optimizer.posterior, optimizer.space.nodes
    values = np.concatenate([problem(nodes), posterior.mean(nodes)])
    common = Normalize(float(values.min()), float(values.max()))
    spread = Normalize(0.0, float(posterior.std(nodes).max()))
    figure, panels = _panels(to_scale)
    _draw_plan(problem, problem.objective, panels[0], "value", norm=common, to_scale=to_scale)
    _draw_plan(problem, posterior.mean, panels[1], "value", norm=common, to_scale=to_scale)
    _draw_plan(problem, posterior.std, panels[2], "sd", style.SPREAD_MAP, norm=spread, to_scale=to_scale)
    _draw_order(problem, run, panels[3], to_scale=to_scale)
    if not to_scale:
        _annotate_gap(panels[0])
        panels[3].margins(y=0.2)  # room for the star
    titles = (
        "The truth, hidden from the search",
        f"Estimate after {len(run.points)} measurements (posterior mean)",
        "What is still uncertain (posterior sd)",
        "Where it measured, coloured by order",
    )
    for ax, title in zip(panels, titles, strict=True):
        ax.set_title(title, loc="left", fontsize=TITLE, color=style.INK)
    figure.legend(*panels[3].get_legend_handles_labels(), loc="outside lower center", ncols=3, frameon=False)
    _save(figure, path)


def _panels(to_scale: bool) -> tuple[Figure, list[Axes]]:
    """Two rows of two, or four rows for a network that is long and thin."""
    shape, size = ((2, 2), (8.2, 8.4)) if to_scale else ((4, 1), (9.0, 6.8))
    figure, panels = plt.subplots(*shape, figsize=size, layout="constrained")
    return figure, list(panels.ravel())


def _draw_plan(
    problem: Problem,
    field: Field,
    ax: Axes,
    label: str,
    cmap: str = style.VALUE_MAP,
    *,
    norm: Normalize,
    to_scale: bool,
) -> None:
    """A function on the network and a star at the true maximum."""
    plotting.draw_field(
        problem.graph, field, ax, cmap=cmap, norm=norm, label=label, linewidth=3.0 if to_scale else 6.0,
        vertex_size=5.0 if to_scale else 0.0, to_scale=to_scale,
    )  # fmt: skip
    plotting.draw_points(problem.graph, problem.maximizers, ax, marker="*", color=OPTIMUM, size=14)


def _draw_order(problem: Problem, run: Run, ax: Axes, *, to_scale: bool) -> None:
    """Measurements coloured by their number; squares are those of the initial design."""
    graph, n = problem.graph, len(run.points)
    first = min(default_size(graph), n)
    norm = BoundaryNorm(np.arange(n + 1) + 0.5, 256)
    plotting.draw_network(graph, ax, vertex_size=5.0 if to_scale else 0.0, to_scale=to_scale)
    plotting.draw_points(
        graph, problem.maximizers, ax, marker="*", color=OPTIMUM, size=20, label="true optimum"
    )
    for part, marker, label in (
        (slice(0, first), "s", f"first {first}, spread evenly"),
        (slice(first, n), "o", "then chosen by the model"),
    ):
        plotting.draw_points(
            graph, run.points[part], ax, values=np.arange(1, n + 1)[part], cmap=ORDER_MAP, norm=norm,
            marker=marker, label=label,
        )  # fmt: skip
    bar = ax.figure.colorbar(
        ScalarMappable(norm, ORDER_MAP), ax=ax, label="measurement", ticks=[1, *range(5, n + 1, 5)],
        fraction=0.05, pad=0.01, aspect=12,
    )  # fmt: skip
    bar.ax.yaxis.set_minor_locator(NullLocator())


def _annotate_gap(ax: Axes) -> None:
    """What makes the open rectangle hard for straight lines."""
    ax.annotate(
        "drawn higher than it is: 36 wide, 2 high;\nthe ends of the opening are 1 apart in the plane, "
        "75 along the network", (0.5, 0.5), xycoords="axes fraction", ha="center", va="center",
        color=style.INK, size=style.SMALL_TEXT,
    )  # fmt: skip


def draw_regrets(results: Results, design: int, path: Path) -> None:
    """Regret of each method on each problem: median and central half of the runs."""
    figure, panels = plt.subplots(
        1, len(results), figsize=(3.3 * len(results) + 0.4, 3.9), sharey=True, squeeze=False,
        layout="constrained",
    )  # fmt: skip
    for ax, (case, runs) in zip(panels[0], results, strict=True):
        for method, label, color, linestyle in LINES:
            plotting.draw_regret(
                [run.regret for run in runs[method]], ax, label=label, color=color, linestyle=linestyle,
                tolerance=TOLERANCE,
            )  # fmt: skip
        shared = f"first {design}, same for both priors"
        ax.axvspan(1, design + 1, color=DESIGN, linewidth=0, zorder=-1, label=shared)
        ax.set_title(case.name, loc="left", fontsize=TITLE, color=style.INK)
        ax.label_outer()
    panels[0, 0].annotate(
        f"found: within {TOLERANCE:g}", (design + 1, TOLERANCE), (4, -3), textcoords="offset points",
        va="top", size=style.SMALL_TEXT, color=style.INK,
    )  # fmt: skip
    n_runs = len(results[0][0].posings)
    figure.legend(
        *panels[0, 0].get_legend_handles_labels(), loc="outside lower center", ncols=4, frameon=False,
        title=f"median and central half of {n_runs} runs" if n_runs > 1 else "one run",
    )  # fmt: skip
    _save(figure, path)


def _save(figure: Figure, path: Path) -> None:
    """As a PNG with colours rounded by at most 4 of 255: unseen, and a third fewer bytes."""
    figure.savefig(path, dpi=DPI)
    plt.close(figure)
    pixels = np.round(imread(path) * 255 / SHADE) * SHADE
    imsave(path, np.minimum(pixels, 255).astype(np.uint8), pil_kwargs={"optimize": True})
