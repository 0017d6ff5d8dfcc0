"""The three panels of the paper's figures: simple regret, reach rate, iterations to the tolerance."""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass

import numpy as np
import pandas as pd
from matplotlib.axes import Axes
from matplotlib.ticker import FixedLocator, MaxNLocator, PercentFormatter

from netbo import plotting
from netbo.arrays import FloatArray
from netbo.experiments.figures.looks import SMALL, Look
from netbo.experiments.summaries import Estimate
from netbo.plotting import style

BAR = 0.7  # width, of 1
ROOM = 1.24  # top of a panel of reach rates: numbers stand above intervals that end at 1


@dataclass(frozen=True, slots=True)
class Series:
    """A method's runs on one problem."""

    look: Look
    curves: FloatArray  # (runs, iterations) simple regret
    reached: Estimate
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
    ax: Axes, looks: Sequence[Look], rates: Sequence[Estimate], *, names: bool = True, numbers: bool = True
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
                va="bottom", size=SMALL, color=style.INK,
            )  # fmt: skip
    finish_rates(ax)
    _name_methods(ax, [look.short for look in looks] if names else [""] * len(looks))


def draw_boxes(ax: Axes, looks: Sequence[Look], iterations: Sequence[pd.Series]) -> None:
    """Box plots of the successful runs, their number above; whiskers reach the whole range."""
    for at, (look, needed) in enumerate(zip(looks, iterations, strict=True)):
        draw_box(ax, at, BAR * 0.8, look, needed)
        top = needed.max() if needed.count() else 0.0
        ax.annotate(
            f"n={needed.count()}", (at, top), (0, 3), textcoords="offset points", ha="center", va="bottom",
            size=SMALL, color=style.INK,
        )  # fmt: skip
    _name_methods(ax, [look.short for look in looks])
    finish_iterations(ax)


def draw_box(ax: Axes, at: float, width: float, look: Look, needed: pd.Series) -> None:
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
    ax.set_xticks(range(len(names)), names, size=SMALL)
    ax.tick_params(axis="x", length=0)


def thin_decades(ax: Axes) -> None:
    """0 and every other decade, as powers of ten: seven labels do not fit a small panel."""
    ticks = np.asarray(ax.yaxis.get_major_locator()())
    decades = ticks[ticks > 0]
    shown = decades[(len(decades) - 1) % 2 :: 2] if len(decades) > 4 else decades
    ax.yaxis.set_major_locator(FixedLocator([0.0, *shown]))
    labels = ["0", *(rf"$10^{{{round(np.log10(each))}}}$" for each in shown)]
    ax.set_yticks([0.0, *shown], labels)
