"""Effects with their intervals: a dot a method, grouped by landscape, a column a metric."""

from collections.abc import Sequence
from pathlib import Path

import matplotlib.pyplot as plt
import numpy as np
import pandas as pd
from matplotlib.axes import Axes
from matplotlib.figure import Figure

from netbo.experiments.effects import Effect, metric_names, paired_effects, references_of
from netbo.experiments.figures.looks import SMALL, TITLE, look_of
from netbo.experiments.figures.saving import save
from netbo.experiments.spec import Spec
from netbo.plotting import style

WIDTH = 11.0  # inches
LINE_HEIGHT = 0.19
HEAD_HEIGHT = 1.3
PERCENT = 100.0


def draw_effects(spec: Spec, table: pd.DataFrame, out: Path) -> list[Path]:
    """One figure for each of the paper's methods that the others are measured against."""
    looks = {
        str(row.method): look_of(str(row.kernel), str(row.acquisition)).color
        for row in table[["method", "kernel", "acquisition"]].drop_duplicates().itertuples()
    }
    paths = []
    for reference in references_of(table):
        effects = paired_effects(spec, table, reference)
        if effects:
            name = f"{spec.name}-against-{reference.split(', ')[-1].lower()}"
            paths += save(_forest(spec, effects, looks), out, name)
    return paths


def _forest(spec: Spec, effects: Sequence[Effect], colors: dict[str, str]) -> Figure:
    groups = list(dict.fromkeys(each.landscapes for each in effects))
    methods = list(dict.fromkeys(each.method for each in effects))
    lines = {}
    for number, group in enumerate(groups):
        start = number * (len(methods) + 1.6)
        lines[group, ""] = start
        lines.update({(group, method): start + 1 + at for at, method in enumerate(methods)})
    height = LINE_HEIGHT * (max(lines.values()) + 1) + HEAD_HEIGHT
    figure, axes = plt.subplots(1, 3, figsize=(WIDTH, height), sharey=True, layout="constrained")
    for ax, metric in zip(axes, metric_names(spec), strict=True):
        _draw_metric(ax, [each for each in effects if each.metric == metric], lines, colors)
        ax.set_title(metric, loc="left", fontsize=TITLE, color=style.INK)
    _name_lines(axes[0], lines)
    figure.suptitle(
        f"difference from the paper's {effects[0].reference}: paired runs, 95 % intervals", fontsize=TITLE + 1
    )
    return figure


def _draw_metric(
    ax: Axes, effects: Sequence[Effect], lines: dict[tuple[str, str], float], colors: dict[str, str]
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
    ax.set_yticks(list(lines.values()), [method or group for group, method in lines], size=SMALL)
    for text, (_, method) in zip(ax.get_yticklabels(), lines, strict=True):
        text.set_fontweight("normal" if method else "bold")
    ax.set_ylim(max(lines.values()) + 0.8, -0.8)
