"""Comparisons of methods: benchmarks, inversion, placements, effects with intervals."""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from pathlib import Path

import matplotlib.pyplot as plt
import numpy as np
import pandas as pd
from matplotlib.axes import Axes
from matplotlib.figure import Figure
from matplotlib.ticker import FixedLocator, MaxNLocator, PercentFormatter

from netbo import plotting
from netbo.arrays import FloatArray
from netbo.experiments import statistics
from netbo.experiments.figures import style as styles
from netbo.experiments.spec import DATA_BLIND, Spec
from netbo.plotting import style

# The three panels of the paper's figures: simple regret, reach rate, iterations to the tolerance.

BAR = 0.7  # width, of 1
ROOM = 1.24  # top of a panel of reach rates: numbers stand above intervals that end at 1


@dataclass(frozen=True, slots=True)
class Series:
    """A method's runs on one problem."""

    look: styles.Look
    curves: FloatArray  # (runs, iterations) simple regret
    reached: statistics.Estimate
    iterations: pd.Series  # of each run, NaN where the tolerance was not reached


def draw_row(axes: Sequence[Axes], series: Sequence[Series], *, tolerance: float) -> None:
    """Regret, reach rate and iterations of several methods into three axes."""
    for each in series:
        plotting.draw_regret(
            each.curves, axes[0], label=each.look.label, color=each.look.color,
            linestyle=each.look.linestyle, tolerance=tolerance,
        )  # fmt: skip
    axes[0].set(xlabel="iteration", ylabel="simple regret")
    thin_decades(axes[0])
    draw_reach_bars(axes[1], [each.look for each in series], [each.reached for each in series])
    draw_boxes(axes[2], [each.look for each in series], [each.iterations for each in series])


def draw_reach_bars(
    ax: Axes,
    looks: Sequence[styles.Look],
    rates: Sequence[statistics.Estimate],
    *,
    names: bool = True,
    numbers: bool = True,
) -> None:
    """Reach rates as bars with their intervals and, above them, the percent."""
    for at, (look, rate) in enumerate(zip(looks, rates, strict=True)):
        if np.isnan(rate.value):
            continue
        ax.bar(
            at, rate.value, BAR, color=look.color, hatch=look.hatch, edgecolor="white", linewidth=0.8,
            zorder=2, label=look.label,
        )  # fmt: skip
        spread = [[rate.value - rate.low], [rate.high - rate.value]]
        for color, linewidth in (("white", 2.6), (style.INK, 1.0)):  # a casing: some bars are dark
            ax.errorbar(
                at, rate.value, spread, color=color, linewidth=linewidth, capsize=2.5, capthick=linewidth,
                zorder=3,
            )  # fmt: skip
        if numbers:
            ax.annotate(
                f"{100 * rate.value:.0f}", (at, rate.high), (0, 2), textcoords="offset points", ha="center",
                va="bottom", size=styles.SMALL, color=style.INK,
            )  # fmt: skip
    finish_rates(ax)
    _name_methods(ax, [look.short for look in looks] if names else [""] * len(looks))


def draw_boxes(ax: Axes, looks: Sequence[styles.Look], iterations: Sequence[pd.Series]) -> None:
    """Box plots of the successful runs, their number above; whiskers reach the whole range."""
    for at, (look, needed) in enumerate(zip(looks, iterations, strict=True)):
        draw_box(ax, at, BAR * 0.8, look, needed)
        top = needed.max() if needed.count() else 0.0
        ax.annotate(
            f"n={needed.count()}", (at, top), (0, 3), textcoords="offset points", ha="center", va="bottom",
            size=styles.SMALL, color=style.INK,
        )  # fmt: skip
    _name_methods(ax, [look.short for look in looks])
    finish_iterations(ax)


def draw_box(ax: Axes, at: float, width: float, look: styles.Look, needed: pd.Series) -> None:
    """One box plot: median, quartiles, and the whole range."""
    known = needed.dropna().to_numpy(dtype=np.float64)
    if not len(known):
        return
    parts = ax.boxplot(
        [known], positions=[at], widths=width, whis=(0, 100), patch_artist=True, manage_ticks=False,
        medianprops={"color": style.INK, "linewidth": 1.4}, zorder=2,
    )  # fmt: skip
    for box in parts["boxes"]:
        box.set(facecolor=look.color, edgecolor=style.INK, linewidth=0.8, hatch=look.hatch)
    for line in (*parts["whiskers"], *parts["caps"]):
        line.set(color=style.INK, linewidth=0.8)


def finish_rates(ax: Axes) -> None:
    """Scale of reach rates, the same in every panel."""
    ax.set_ylim(0, ROOM)
    ax.yaxis.set_major_locator(FixedLocator([0, 0.25, 0.5, 0.75, 1]))
    ax.yaxis.set_major_formatter(PercentFormatter(1.0))
    _finish(ax, "reach rate")


def finish_iterations(ax: Axes) -> None:
    """Scale of iterations: from 0, whole numbers."""
    ax.set_ylim(0, max(1.0, 1.12 * ax.dataLim.y1) if np.isfinite(ax.dataLim.y1) else 1.0)
    ax.yaxis.set_major_locator(MaxNLocator(5, integer=True))
    _finish(ax, "iterations to Tol")


def limit_iterations(axes: Iterable[Axes], horizon: int) -> None:
    """One scale for several panels, no higher than the horizon: an interval may be, a run cannot."""
    together = list(axes)
    highest = max((ax.dataLim.y1 for ax in together if np.isfinite(ax.dataLim.y1)), default=1.0)
    for ax in together:
        ax.set_ylim(0, 1.08 * min(max(highest, 1.0), horizon))


def _finish(ax: Axes, label: str) -> None:
    ax.set_ylabel(label)
    ax.grid(axis="y", color="#e3e6ea", linewidth=0.7)
    ax.set_axisbelow(True)
    ax.spines[["top", "right"]].set_visible(False)


def _name_methods(ax: Axes, names: Sequence[str]) -> None:
    ax.set_xlim(-0.6, len(names) - 0.4)
    ax.set_xticks(range(len(names)), names, size=styles.SMALL)
    ax.tick_params(axis="x", length=0)


def thin_decades(ax: Axes) -> None:
    """0 and every other decade, as powers of ten: seven labels do not fit a small panel."""
    ticks = np.asarray(ax.yaxis.get_major_locator()())
    decades = ticks[ticks > 0]
    shown = decades[(len(decades) - 1) % 2 :: 2] if len(decades) > 4 else decades
    ax.yaxis.set_major_locator(FixedLocator([0.0, *shown]))
    labels = ["0", *(rf"$10^{{{round(np.log10(each))}}}$" for each in shown)]
    ax.set_yticks([0.0, *shown], labels)


# Effects with their intervals: a dot a method, grouped by landscape, a column a metric.

WIDTH = 11.0  # inches
LINE_HEIGHT = 0.19
HEAD_HEIGHT = 1.3
PERCENT = 100.0


def draw_effects(spec: Spec, table: pd.DataFrame, out: Path) -> list[Path]:
    """One figure for each of the paper's methods that the others are measured against."""
    looks = {
        str(row.method): styles.look_of(str(row.kernel), str(row.acquisition)).color
        for row in table[["method", "kernel", "acquisition"]].drop_duplicates().itertuples()
    }
    paths = []
    for reference in statistics.references_of(table):
        effects = statistics.paired_effects(spec, table, reference)
        if effects:
            name = f"{spec.name}-against-{reference.split(', ')[-1].lower()}"
            paths += styles.save(_forest(spec, effects, looks), out, name)
    return paths


def _forest(spec: Spec, effects: Sequence[statistics.Effect], colors: dict[str, str]) -> Figure:
    groups = list(dict.fromkeys(each.landscapes for each in effects))
    methods = list(dict.fromkeys(each.method for each in effects))
    lines = {}
    for number, group in enumerate(groups):
        start = number * (len(methods) + 1.6)
        lines[group, ""] = start
        lines.update({(group, method): start + 1 + at for at, method in enumerate(methods)})
    height = LINE_HEIGHT * (max(lines.values()) + 1) + HEAD_HEIGHT
    figure, axes = plt.subplots(1, 3, figsize=(WIDTH, height), sharey=True, layout="constrained")
    for ax, metric in zip(axes, statistics.metric_names(spec), strict=True):
        _draw_metric(ax, [each for each in effects if each.metric == metric], lines, colors)
        ax.set_title(metric, loc="left", fontsize=styles.TITLE, color=style.INK)
    _name_lines(axes[0], lines)
    figure.suptitle(
        f"difference from the paper's {effects[0].reference}: paired runs, 95 % intervals",
        fontsize=styles.TITLE + 1,
    )
    return figure


def _draw_metric(
    ax: Axes,
    effects: Sequence[statistics.Effect],
    lines: dict[tuple[str, str], float],
    colors: dict[str, str],
) -> None:
    is_rate = effects[0].metric.startswith("reach")
    scale = PERCENT if is_rate else 1.0
    for each in effects:
        found = each.difference
        spread = np.maximum([[found.value - found.low], [found.high - found.value]], 0.0)
        ax.errorbar(
            scale * found.value, lines[each.landscapes, each.method], xerr=scale * spread, fmt="o",
            markersize=5, color=colors[each.method], ecolor=style.INK, elinewidth=1.0, capsize=2.0,
            markeredgecolor=style.INK, markeredgewidth=0.6,
        )  # fmt: skip
    ax.axvline(0.0, color=style.QUIET, linewidth=1.0, zorder=0)
    ax.set_xlabel("points more (right is better)" if is_rate else "queries more (left is better)")
    ax.grid(axis="x", color="#e3e6ea", linewidth=0.7)
    ax.set_axisbelow(True)
    ax.spines[["top", "right", "left"]].set_visible(False)
    ax.tick_params(axis="y", length=0)


def _name_lines(ax: Axes, lines: dict[tuple[str, str], float]) -> None:
    ax.set_yticks(list(lines.values()), [method or group for group, method in lines], size=styles.SMALL)
    for text, (_, method) in zip(ax.get_yticklabels(), lines, strict=True):
        text.set_fontweight("normal" if method else "bold")
    ax.set_ylim(max(lines.values()) + 0.8, -0.8)


ROW_HEIGHT = 2.6  # inches
LEGEND_HEIGHT = 0.75


def draw_comparisons(spec: Spec, table: pd.DataFrame, out: Path) -> list[Path]:
    """One figure for each acquisition rule of the table, the baselines in all of them."""
    rules = [rule for rule in pd.unique(table["acquisition"]) if rule not in styles.BASELINES]
    paths = []
    for rule in rules:
        part = table[table["acquisition"].isin([rule, *styles.BASELINES])]
        paths += styles.save(_draw_rows(spec, part, rule), out, f"{spec.name}-{rule.lower()}")
    return paths


def _draw_rows(spec: Spec, table: pd.DataFrame, rule: str) -> Figure:
    problems, tolerance = list(pd.unique(table["problem"])), statistics.tolerance_of(spec)
    figure, axes = plt.subplots(
        len(problems), 3, figsize=(WIDTH, ROW_HEIGHT * len(problems) + LEGEND_HEIGHT), squeeze=False,
        layout="constrained", width_ratios=(1.15, 1.0, 1.0),
    )  # fmt: skip
    for row, problem in zip(axes, problems, strict=True):
        draw_row(row, series_of(spec, table[table["problem"] == problem]), tolerance=tolerance)
        row[0].set_title(
            f"{styles.problem_name(problem)}, {rule}", loc="left", fontsize=styles.TITLE, color=style.INK
        )
    styles.put_legend(figure, [axes[0, 0]], title=_how_drawn(spec, table, rule))
    return figure


def _how_drawn(spec: Spec, table: pd.DataFrame, rule: str) -> str:
    n_sources, n_runs = table["source"].nunique(), table.groupby("cell")["seed"].nunique().max()
    counted = f"{n_runs} runs" + (f" for each of {n_sources} sources" if n_sources > 1 else "")
    text = f"median and central 50 % band; bars: 95 % intervals; {counted}"
    baseline = statistics.horizon_of(spec, DATA_BLIND)
    is_shorter = (
        baseline != statistics.horizon_of(spec, rule)
        and table["acquisition"].isin(list(styles.BASELINES)).any()
    )
    return text + (f"; baselines end after {baseline} iterations" if is_shorter else "")


def series_of(spec: Spec, table: pd.DataFrame) -> list[Series]:
    """Runs of every method in the table; cells that differ in their source only are taken together."""
    runs = statistics.runs_of(table, statistics.tolerance_of(spec))
    series = []
    for kernel, acquisition, preset in styles.methods_of(table):
        mine, those = (
            each[
                (each["kernel"] == kernel) & (each["acquisition"] == acquisition) & (each["preset"] == preset)
            ]
            for each in (table, runs)
        )
        series.append(
            Series(
                look=styles.look_of(kernel, acquisition, preset),
                curves=statistics.regret_array(mine, statistics.horizon_of(spec, acquisition)),
                reached=statistics.reach_rate(those),
                iterations=those["iterations"],
            )
        )
    return series


# Reach rates by where the optimum sits: a row a placement, a column a function, a bar a method.

PANEL = (4.0, 1.75)  # inches
LEGEND_OF_ALL = 1.3


def draw_placements(spec: Spec, table: pd.DataFrame, out: Path) -> list[Path]:
    """One figure; hatched bars are those of the calibrated preset."""
    runs, methods = statistics.runs_of(table, statistics.tolerance_of(spec)), styles.methods_of(table)
    places, problems = list(pd.unique(table["placement"])), list(pd.unique(table["problem"]))
    width = max(PANEL[0] * len(problems), 8.0)
    figure, axes = plt.subplots(
        len(places), len(problems), figsize=(width, PANEL[1] * len(places) + LEGEND_OF_ALL), squeeze=False,
        layout="constrained", sharex=True, sharey=True,
    )  # fmt: skip
    for row, place in zip(axes, places, strict=True):
        for ax, problem in zip(row, problems, strict=True):
            here = runs[(runs["placement"] == place) & (runs["problem"] == problem)]
            rates = [statistics.reach_rate(_of(here, method)) for method in methods]
            draw_reach_bars(ax, [styles.look_of(*method) for method in methods], rates, names=False)
            ax.set_title(
                f"{styles.problem_name(problem)}, {place}", loc="left", fontsize=styles.TITLE, color=style.INK
            )
            ax.label_outer()
    n_runs = table.groupby("cell")["seed"].nunique().max()
    title = f"reach rate (%) with 95 % intervals, {n_runs} runs; hatched: calibrated preset"
    styles.put_legend(figure, list(axes.ravel()), columns=4 if len(problems) > 2 else 2, title=title)
    return styles.save(figure, out, spec.name)


def _of(runs: pd.DataFrame, method: tuple[str, str, str]) -> pd.DataFrame:
    kernel, acquisition, preset = method
    chosen = (runs["kernel"] == kernel) & (runs["acquisition"] == acquisition) & (runs["preset"] == preset)
    return runs[chosen]
