"""How much b and the size of the initial design matter: rates and iterations over the values tried."""

from collections.abc import Sequence
from pathlib import Path

import matplotlib.pyplot as plt
import numpy as np
import pandas as pd
from matplotlib.axes import Axes
from matplotlib.figure import Figure
from numpy.typing import ArrayLike

from netbo.experiments import statistics
from netbo.experiments.figures import style as styles
from netbo.experiments.figures.comparisons import (
    finish_iterations,
    finish_rates,
    limit_iterations,
    thin_decades,
)
from netbo.experiments.printed import PrintedCell, printed_cell
from netbo.experiments.spec import Spec
from netbo.plotting import draw_regret, style

DODGE = 0.13  # between methods at one value: intervals must not hide each other
WIDTH = 11.0  # inches
ROW_HEIGHT = 2.6
LEGEND_HEIGHT = 0.75


def draw_b_sensitivity(spec: Spec, table: pd.DataFrame, out: Path) -> list[Path]:
    """One figure a rule: regret, reach rate and iterations over b, a row a benchmark."""
    return [
        path
        for rule in _rules(table)
        for path in styles.save(_over_b(spec, table, rule), out, f"{spec.name}-{rule.lower()}")
    ]


def draw_init_sensitivity(spec: Spec, table: pd.DataFrame, out: Path) -> list[Path]:
    """One figure a rule: reach rate and iterations over N_init, a column a mesh, the finest first."""
    return [
        path
        for rule in _rules(table)
        for path in styles.save(_over_init(spec, table, rule), out, f"{spec.name}-{rule.lower()}")
    ]


def _rules(table: pd.DataFrame) -> list[str]:
    return [rule for rule in pd.unique(table["acquisition"]) if rule not in styles.BASELINES]


def _over_b(spec: Spec, whole: pd.DataFrame, rule: str) -> Figure:
    table = whole[whole["acquisition"] == rule]
    problems, values = list(pd.unique(table["problem"])), sorted(table["b"].unique())
    figure, axes = plt.subplots(
        len(problems), 3, figsize=(WIDTH, ROW_HEIGHT * len(problems) + LEGEND_HEIGHT), squeeze=False,
        layout="constrained",
    )  # fmt: skip
    for row, problem in zip(axes, problems, strict=True):
        part = table[table["problem"] == problem]
        _draw_medians(row[0], spec, part, values)
        runs = statistics.runs_of(part, statistics.tolerance_of(spec))
        _draw_over(row[1:], runs, "b", values)
        _draw_baselines(
            row[1], statistics.runs_of(whole[whole["problem"] == problem], statistics.tolerance_of(spec))
        )
        _draw_printed(
            row[1:], [_printed(runs, rule, problem, method) for method in styles.methods_of(part)], values
        )
        row[0].set_title(
            f"{styles.problem_name(problem)}, {rule}", loc="left", fontsize=styles.TITLE, color=style.INK
        )
        limit_iterations([row[2]], statistics.horizon_of(spec, rule))
        for ax in row[1:]:
            ax.set_xlabel("b")
    title = (
        "left: medians, the paler the larger b; others: 95 % intervals; open diamonds: printed in the paper"
    )
    styles.put_legend(figure, [axes[0, 1]], title=title)
    return figure


def _over_init(spec: Spec, whole: pd.DataFrame, rule: str) -> Figure:
    table = whole[whole["acquisition"].isin([rule, *styles.BASELINES])]
    meshes, values = sorted(table["max_cell"].unique()), sorted(table["n_init"].unique())
    figure, axes = plt.subplots(
        2, len(meshes), figsize=(WIDTH, 2 * ROW_HEIGHT + LEGEND_HEIGHT), squeeze=False, layout="constrained",
        sharex=True, sharey="row",
    )  # fmt: skip
    for column, mesh in zip(axes.T, meshes, strict=True):
        part = table[table["max_cell"] == mesh]
        _draw_over(column, statistics.runs_of(part, statistics.tolerance_of(spec)), "n_init", values)
        n_nodes = int(part["n_nodes"].iloc[0])
        column[0].set_title(
            f"{rule}, h = {mesh:g}, $N_h$ = {n_nodes}", loc="left", fontsize=styles.TITLE, color=style.INK
        )
        column[1].set_xlabel("$N_{init}$")
    for ax in axes[:, 1:].ravel():
        ax.set_ylabel("")
    limit_iterations(axes[1], statistics.horizon_of(spec, rule))
    title = "reach rate with 95 % intervals; mean iterations of successful runs with 95 % intervals"
    styles.put_legend(figure, list(axes[0]), title=title)
    return figure


def _draw_over(axes: Sequence[Axes], runs: pd.DataFrame, factor: str, values: list[float]) -> None:
    """Reach rate and mean iterations of every method over the values of a factor, evenly spaced."""
    methods = styles.methods_of(runs)
    for number, (kernel, acquisition, preset) in enumerate(methods):
        mine = runs[(runs["kernel"] == kernel) & (runs["acquisition"] == acquisition)]
        parts = [mine[mine[factor] == value] for value in values]
        look = styles.look_of(kernel, acquisition, preset)
        places = np.arange(len(values)) + DODGE * (number - (len(methods) - 1) / 2)
        for ax, estimate in zip(axes, (statistics.reach_rate, statistics.mean_iterations), strict=True):
            _draw_estimates(
                ax, places, [estimate(part) for part in parts], look.color, look.linestyle, look.label
            )
    finish_rates(axes[0])
    finish_iterations(axes[1])
    for ax in axes:
        ax.set_xticks(range(len(values)), [f"{value:g}" for value in values])
        ax.set_xlim(-0.5, len(values) - 0.5)


def _draw_estimates(
    ax: Axes, places: ArrayLike, found: list[statistics.Estimate], color: str, linestyle: str, label: str
) -> None:
    value = np.array([each.value for each in found])
    low = np.array([each.low for each in found])
    high = np.array([each.high for each in found])
    spread = np.nan_to_num(np.stack([value - low, high - value]))
    ax.errorbar(
        places, value, spread, color=color, linestyle=linestyle, linewidth=1.3, marker="o", markersize=4,
        elinewidth=1.0, capsize=2.0, label=label, zorder=3,
    )  # fmt: skip


def _printed(
    runs: pd.DataFrame, rule: str, problem: str, method: tuple[str, str, str]
) -> tuple[str, list[PrintedCell]]:
    color = styles.look_of(*method).color
    cells = (printed_cell(rule, problem, method[0], float(b)) for b in sorted(runs["b"].unique()))
    return color, [cell for cell in cells if cell is not None]


def _draw_printed(
    axes: Sequence[Axes], printed: list[tuple[str, list[PrintedCell]]], values: list[float]
) -> None:
    for color, cells in printed:
        places = [values.index(cell.b) for cell in cells]
        for ax, numbers in zip(
            axes, ([c.reach_rate for c in cells], [c.mean_iterations for c in cells]), strict=True
        ):
            ax.plot(
                places, numbers, linestyle="", marker="D", markersize=5.5, markerfacecolor="none",
                markeredgecolor=color, markeredgewidth=1.2, zorder=4,
            )  # fmt: skip
    finish_iterations(axes[1])


def _draw_baselines(ax: Axes, runs: pd.DataFrame) -> None:
    """Reach rates of what does not know b, as level lines."""
    for rule in styles.BASELINES:
        mine = runs[runs["acquisition"] == rule]
        if len(mine):
            look = styles.look_of("", rule)
            ax.axhline(
                statistics.reach_rate(mine).value, color=look.color, linestyle=look.linestyle, linewidth=1.3,
                label=look.label, zorder=1,
            )  # fmt: skip


def _draw_medians(ax: Axes, spec: Spec, table: pd.DataFrame, values: list[float]) -> None:
    """Median regret of every method at every b; the largest b palest."""
    tolerance = statistics.tolerance_of(spec)
    for kernel, acquisition, preset in styles.methods_of(table):
        look = styles.look_of(kernel, acquisition, preset)
        for rank, value in enumerate(values):
            mine = table[(table["kernel"] == kernel) & (table["b"] == value)]
            if mine.empty:
                continue
            median = np.median(
                statistics.regret_array(mine, statistics.horizon_of(spec, acquisition)), axis=0
            )
            draw_regret(median[None, :], ax, color=look.color, linestyle=look.linestyle, tolerance=tolerance)
            ax.lines[-1 if ax.lines[-1].get_gid() != "tolerance" else -2].set(
                alpha=1 - 0.75 * rank / max(1, len(values) - 1), linewidth=1.3
            )
    ax.set(xlabel="iteration", ylabel="simple regret")
    thin_decades(ax)
