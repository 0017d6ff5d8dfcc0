"""Whether a model can be trusted: what it predicts of each value from all others, beside the value."""

import matplotlib.pyplot as plt
import numpy as np
from matplotlib.axes import Axes
from numpy.typing import ArrayLike

from netbo.arrays import as_float_vector
from netbo.errors import ParameterError
from netbo.plotting import style

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
