"""How a search went and whether its model can be trusted: convergence, regret, calibration."""

import matplotlib.pyplot as plt
import numpy as np
from matplotlib.axes import Axes
from matplotlib.ticker import FixedLocator, MaxNLocator, NullLocator, StrMethodFormatter
from numpy.typing import ArrayLike

from netbo.arrays import as_float_vector
from netbo.checks import require_positive
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


# How fast searches close in on a known maximum: the middle and the spread of many runs.

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
    require_positive("tolerance", tolerance, "0.01 is usual", kind="a positive regret")
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


# Whether a model can be trusted: what it predicts of each value from all others, beside the value.

SIDE = 4.0  # inches
BAND_WIDTH = 2.0  # standard deviations: about 95 % of a Gaussian


def draw_calibration(
    predicted: ArrayLike,
    std: ArrayLike,
    values: ArrayLike,
    ax: Axes | None = None,
    *,
    label: str | None = None,
) -> Axes:
    """Each value over its leave-one-out prediction with a bar of two predicted standard deviations.

    Of a right model about 19 of 20 bars meet the dashed diagonal; those that do not are red.
    predicted, std, values: columns of `optimizer.check()`; what cannot be predicted (std infinite) is left
        out.
    label: of the values, with their unit.
    """
    m, s, y = (
        as_float_vector(each, f"{name} of a calibration", ParameterError)
        for each, name in ((predicted, "predictions"), (std, "standard deviations"), (values, "values"))
    )
    if not len(m) == len(s) == len(y):
        raise ParameterError(
            f"a calibration needs one prediction and one standard deviation a value, got {len(m)}, {len(s)} "
            f"and {len(y)}; take all three from one check()"
        )
    if ax is None:
        ax = plt.figure(figsize=(SIDE, SIDE), layout="constrained").add_subplot()
    is_known = np.isfinite(s)
    is_off = is_known & (np.abs(y - m) > BAND_WIDTH * s)
    for chosen, color, name in (
        (is_known & ~is_off, style.MEAN, f"within {BAND_WIDTH:g} sd"),
        (is_off, style.FOUND, "beyond"),
    ):
        if chosen.any():
            ax.errorbar(
                m[chosen], y[chosen], xerr=BAND_WIDTH * s[chosen], fmt="o", color=color,
                markersize=style.POINT_SIZE / 2, linewidth=0.8, label=name,
            )  # fmt: skip
    # An infinite line through the origin would stretch the axes to it.
    at = float(np.mean(y)) if len(y) else 0.0
    ax.axline((at, at), slope=1.0, color=style.INK, linestyle=(0, (4, 3)), linewidth=1.1, zorder=0)
    ax.set_xlabel("predicted from all others")
    ax.set_ylabel(label or "value")
    ax.spines[["top", "right"]].set_visible(False)
    if is_known.any():
        ax.legend(loc="lower left", bbox_to_anchor=(0.0, 1.0), ncols=2, frameon=False, borderaxespad=0.2)
    return ax
