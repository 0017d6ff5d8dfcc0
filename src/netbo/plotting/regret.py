"""How fast searches close in on a known maximum: the middle and the spread of many runs."""

import matplotlib.pyplot as plt
import numpy as np
from matplotlib.axes import Axes
from matplotlib.ticker import FixedLocator, MaxNLocator, NullLocator, StrMethodFormatter
from numpy.typing import ArrayLike

from netbo.errors import ParameterError
from netbo.plotting import style

HEIGHT = 3.2  # inches
BAND = (25.0, 75.0)  # percent: the central half of the runs
LINEAR = 0.4  # height of [0, tolerance] in decades


def draw_regret(
    regret: ArrayLike,
    ax: Axes | None = None,
    *,
    label: str | None = None,
    color: str = style.MEAN,
    linestyle: str = "-",
    tolerance: float = 0.01,
) -> Axes:
    """Median regret over the number of measurements, and a band that holds the central half of the runs.

    regret: (runs, measurements), of the best place so far, not negative; call once for each method.
    tolerance: regret at which a maximum counts as found. Above it the scale is logarithmic, below it linear,
        so that runs which reach the maximum itself stay in the picture.
    """
    curves = np.asarray(regret, dtype=np.float64)
    if curves.ndim != 2 or not curves.size:
        raise ParameterError(
            f"regret must be (runs, measurements), got shape {curves.shape}; put a single run into a list"
        )
    if not np.all(curves >= 0):
        raise ParameterError(f"regret is max f - f(x), not negative, got {curves.min()}; check the maximum")
    if not 0 < tolerance < np.inf:
        raise ParameterError(f"tolerance must be a positive regret, got {tolerance}; 0.01 is usual")
    if ax is None:
        ax = plt.figure(figsize=(style.FIGURE_WIDTH, HEIGHT), layout="constrained").add_subplot()
    count = np.arange(1, curves.shape[1] + 2)
    lasting = np.hstack([curves, curves[:, -1:]])  # a step for the last value too
    low, middle, high = np.percentile(lasting, [BAND[0], 50.0, BAND[1]], axis=0)
    ax.fill_between(count, low, high, step="post", color=color, alpha=0.2, linewidth=0)
    ax.step(count, middle, where="post", color=color, linestyle=linestyle, linewidth=1.8, label=label)
    _finish_regret(ax, tolerance)
    return ax


def _finish_regret(ax: Axes, tolerance: float) -> None:
    """Scales, names of the axes, and a line where a maximum counts as found."""
    ax.set_yscale("symlog", linthresh=tolerance, linscale=LINEAR)
    top = max(10 * tolerance, ax.dataLim.y1)
    decades = np.arange(np.ceil(np.log10(top / tolerance)) + 1)
    ax.set_ylim(-0.1 * tolerance, 1.15 * top)
    ax.yaxis.set_major_locator(FixedLocator([0.0, *tolerance * 10**decades]))
    ax.yaxis.set_minor_locator(NullLocator())
    ax.yaxis.set_major_formatter(StrMethodFormatter("{x:g}"))
    ax.set_xlim(1, ax.dataLim.x1)
    ax.xaxis.set_major_locator(MaxNLocator(integer=True, steps=[1, 5, 10]))
    if not any(line.get_gid() == "tolerance" for line in ax.lines):
        ax.axhline(tolerance, color=style.QUIET, linewidth=0.6, gid="tolerance", zorder=0)
    ax.set_xlabel("measurements")
    ax.set_ylabel("regret")
    ax.spines[["top", "right"]].set_visible(False)
