"""How a search went on: values in the order they came, and the best so far."""

import matplotlib.pyplot as plt
import numpy as np
from matplotlib.axes import Axes
from matplotlib.ticker import MaxNLocator
from numpy.typing import ArrayLike

from netbo.errors import ParameterError
from netbo.plotting import style

HEIGHT = 3.2  # inches
FOOT = 0.03  # where failures are marked, in shares of the height
SIGNS = {"maximize": 1, "minimize": -1}


def draw_convergence(
    values: ArrayLike,
    ax: Axes | None = None,
    *,
    direction: str = "maximize",
    reference: float | None = None,
    label: str | None = None,
) -> Axes:
    """Each value over its number, counted from 1, and the best up to it as a stair.

    values: NaN where an evaluation failed; such are marked at the foot of the picture.
    direction: "maximize" or "minimize", which values are better.
    reference: the best value there is, if it is known.
    label: of the values.
    """
    y = np.asarray(values, dtype=np.float64)
    if y.ndim != 1 or not len(y):
        raise ParameterError(f"convergence needs a vector of values, got shape {y.shape}; pass one or more")
    if direction not in SIGNS:
        raise ParameterError(f"direction must be one of {', '.join(SIGNS)}, got {direction!r}")
    if ax is None:
        ax = plt.figure(figsize=(style.FIGURE_WIDTH, HEIGHT), layout="constrained").add_subplot()
    count, sign, failed = np.arange(1, len(y) + 1), SIGNS[direction], np.isnan(y)
    if reference is not None:
        ax.axhline(reference, color=style.INK, linestyle=(0, (4, 3)), linewidth=1.1, label="optimum")
    ax.plot(
        count, sign * np.fmax.accumulate(sign * y), color=style.MEAN, linewidth=1.8, drawstyle="steps-post",
        label="best so far",
    )  # fmt: skip
    ax.plot(
        count[~failed], y[~failed], "o", markersize=style.POINT_SIZE, markerfacecolor=style.PAPER,
        markeredgecolor=style.INK, label="observations",
    )  # fmt: skip
    if failed.any():
        ax.plot(
            count[failed], np.full(failed.sum(), FOOT), "x", markersize=style.POINT_SIZE, color=style.INK,
            transform=ax.get_xaxis_transform(), label="failed",
        )  # fmt: skip
    _finish_convergence(ax, len(y), label)
    return ax


def _finish_convergence(ax: Axes, n: int, label: str | None) -> None:
    """Whole numbers below, a name for the values, a legend above."""
    ax.set_xlim(0.5, n + 0.5)
    ax.margins(y=0.08)
    ax.xaxis.set_major_locator(MaxNLocator(integer=True))
    ax.set_xlabel("evaluations")
    ax.set_ylabel(label or "")
    ax.spines[["top", "right"]].set_visible(False)
    ax.legend(loc="lower left", bbox_to_anchor=(0.0, 1.0), ncols=4, frameon=False, borderaxespad=0.2)
