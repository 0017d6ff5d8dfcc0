"""Who wins: reach rates of methods with intervals, and their regrets over evaluations."""

from collections.abc import Mapping, Sequence
from itertools import cycle
from types import MappingProxyType
from typing import TYPE_CHECKING

import matplotlib.pyplot as plt
import numpy as np
import pandas as pd
from matplotlib.axes import Axes
from matplotlib.figure import Figure
from matplotlib.ticker import FixedLocator, FuncFormatter, NullLocator, PercentFormatter

from netbo.experiments.figures import style as styles
from netbo.experiments.statistics import regret_array
from netbo.plotting import style

if TYPE_CHECKING:
    from netbo.experiments.comparison import Comparison

PALETTE = ("#0072b2", "#d55e00", "#009e73", "#cc79a7", "#e69f00", "#56b4e9", "#882255")  # Okabe and Ito's
LINES = ("-", "--", ":")  # a round of colours each
BASELINE = "#8b949e"  # of random search
WIDTH, ROW, LEAST = 11.0, 0.3, 3.6  # inches: of the picture, of a method, of few methods


def draw_leaderboard(found: "Comparison") -> Figure:
    """Two panels: who arrives how often, best mean rank on top, and the median regret after each evaluation.

    Only the pairs of problem and seed that all methods have are counted.
    """
    common, board = found.paired(), found.leaderboard()
    looks = looks_of(list(board["method"]))
    height = max(LEAST, ROW * len(board) + 1.4)
    figure = plt.figure(figsize=(WIDTH, height), layout="constrained")
    left, right = figure.subplots(1, 2, width_ratios=[1.0, 1.25])
    _draw_rates(left, board, looks, found.tolerance)
    _draw_regrets(right, common, board["method"].tolist(), looks)
    problems, seeds = common.table["problem"].nunique(), common.table["seed"].nunique()
    figure.suptitle(
        f"{problems} problem{'s' * (problems > 1)}, {seeds} seed{'s' * (seeds > 1)}", size=styles.TITLE
    )
    return figure


def looks_of(methods: Sequence[str]) -> Mapping[str, tuple[str, str]]:
    """Colour and line of each method; random search is grey."""
    all_looks = cycle((color, line) for line in LINES for color in PALETTE)
    looks = {each: (BASELINE, "-") if each == "random" else next(all_looks) for each in methods}
    return MappingProxyType(looks)


def _draw_rates(
    ax: Axes, board: pd.DataFrame, looks: Mapping[str, tuple[str, str]], tolerance: float
) -> None:
    """A bar a method, its interval, and the number."""
    for at, row in enumerate(board.to_dict("records")):
        color, line = looks[row["method"]]
        rate, low, high = (float(row[name]) for name in ("reached", "low", "high"))
        hatch = {"-": "", "--": styles.HATCH, ":": "...."}[line]
        ax.barh(at, rate, 0.7, color=color, hatch=hatch, edgecolor="white", linewidth=0.8, zorder=2)
        for ink, width in (("white", 2.6), (style.INK, 1.0)):  # a casing: some bars are dark
            ax.errorbar(
                rate, at, xerr=[[rate - low], [high - rate]], capsize=2.5, capthick=width, color=ink,
                linewidth=width, zorder=3,
            )  # fmt: skip
        ax.annotate(
            f"{rate:.0%}", (high, at), (4, 0), textcoords="offset points", va="center", size=styles.SMALL,
            color=style.INK,
        )  # fmt: skip
    ax.set_yticks(
        range(len(board)), [f"{row['method']}  {row['rank']:.2f}" for row in board.to_dict("records")]
    )
    ax.set_ylim(len(board) - 0.4, -0.6)
    ax.set_xlim(0, 1.12)
    ax.xaxis.set_major_locator(FixedLocator([0, 0.25, 0.5, 0.75, 1]))
    ax.xaxis.set_major_formatter(PercentFormatter(1.0))
    ax.set_title("method, mean rank", loc="left", size=styles.SMALL, color=style.QUIET)
    ax.set_xlabel(f"runs within {tolerance:.0%} of the range, with 95 % intervals")
    ax.grid(axis="x", color="#e3e6ea", linewidth=0.7)
    _finish(ax)


def _draw_regrets(
    ax: Axes, common: "Comparison", methods: Sequence[str], looks: Mapping[str, tuple[str, str]]
) -> None:
    """Median regret of all runs after each evaluation; linear below the tolerance, logarithmic above."""
    count = np.arange(1, common.budget + 1)
    for method in methods:
        rows = common.table[common.table["method"] == method].assign(is_design=False)
        median = np.median(regret_array(rows, common.budget), axis=0)
        color, line = looks[method]
        ax.plot(count, median, color=color, linestyle=line, linewidth=1.8, label=method)
    _finish_regrets(ax, common.tolerance, [mark for mark in common.checkpoints if mark <= common.budget])
    ax.legend(frameon=False, fontsize=styles.SMALL, loc="upper left", bbox_to_anchor=(1.0, 1.0))


def _finish_regrets(ax: Axes, tolerance: float, marks: Sequence[int]) -> None:
    ax.set_yscale("symlog", linthresh=tolerance, linscale=0.4)
    top = max(10 * tolerance, ax.dataLim.y1)
    ax.set_ylim(-0.1 * tolerance, 1.15 * top)
    ticks = tolerance * np.array([0, 1, 3, 10, 30, 100])
    ax.yaxis.set_major_locator(FixedLocator(ticks[ticks <= 1.15 * top]))
    ax.yaxis.set_minor_locator(NullLocator())
    ax.yaxis.set_major_formatter(FuncFormatter(lambda value, _: f"{value:.0%}"))
    ax.xaxis.set_major_locator(FixedLocator([1, *marks]))
    ax.axhline(tolerance, color=style.QUIET, linewidth=0.6, zorder=0)
    for mark in marks:
        ax.axvline(mark, color="#e3e6ea", linewidth=0.7, zorder=0)
    ax.set_xlim(left=1)
    ax.set_xlabel("evaluations")
    ax.set_ylabel("median regret, share of the range")
    _finish(ax)


def _finish(ax: Axes) -> None:
    ax.set_axisbelow(True)
    ax.spines[["top", "right"]].set_visible(False)
