"""What makes a plan a map: a scale bar, an arrow to the north, and a legend below them."""

import numpy as np
from matplotlib.artist import Artist
from matplotlib.axes import Axes
from matplotlib.lines import Line2D
from matplotlib.offsetbox import (
    AnchoredOffsetbox,
    AuxTransformBox,
    DrawingArea,
    HPacker,
    OffsetBox,
    TextArea,
    VPacker,
)
from matplotlib.patches import Polygon
from matplotlib.transforms import ScaledTranslation

from netbo.adapters.projection import directions_of
from netbo.geometry import MetricGraph
from netbo.plotting import style

BAR = 0.22  # of the plan's width, at most
SAME_SCALE = 0.05  # by which drawn lengths may differ from given ones; else the drawing is schematic
HEIGHT = 24.0  # points that bar and arrow take below the plan
ARROW = (8.0, 17.0)  # points wide and high
NAME = "netbo-scale"


def unit_of_drawing(graph: MetricGraph) -> tuple[float, str] | None:
    """The length that one unit of the drawing stands for, and its unit; None where nobody knows.

    Lengths tell it where they keep to the drawing; else the coordinate system does, where it is a projection.
    """
    if graph.unit:
        drawn = graph.drawing.drawn_lengths()
        ratio = graph.lengths[drawn > 0] / drawn[drawn > 0]
        low, high = np.quantile(ratio, [0.05, 0.95]) if len(ratio) else (1.0, np.inf)
        if high <= low * (1 + SAME_SCALE):
            return float(np.median(ratio)), graph.unit
    unit, _ = directions_of(graph.crs)
    return None if unit is None else (1.0, unit)


def bar_of(graph: MetricGraph) -> tuple[float, str] | None:
    """A round length of at most BAR of the plan, in units of the drawing, and in words."""
    known, extent = unit_of_drawing(graph), np.ptp(graph.drawing.coordinates[:, :2], axis=0)
    most = BAR * max(float(extent[0]), float(extent[1]) / 2)
    if known is None or most <= 0:
        return None
    per_unit, unit = known
    power = 10.0 ** np.floor(np.log10(most * per_unit))
    length = power * max(step for step in (1, 2, 5) if step * power <= most * per_unit * (1 + 1e-9))
    words = f"{length / 1000:g} km" if unit == "m" and length >= 1000 else f"{length:g} {unit}"
    return length / per_unit, words


def draw_scale(graph: MetricGraph, ax: Axes) -> Axes:
    """A scale bar below the plan and, where y points north, an arrow; nothing where neither is known.

    The bar is as long as the axes show its length, also after zooming; axes that have one keep it.
    """
    bar, (_, is_north_up) = bar_of(graph), directions_of(graph.crs)
    parts: list[Artist] = [*([_arrow()] if is_north_up else []), *([] if bar is None else [_bar(ax, *bar)])]
    if not parts or has_scale(ax):
        return ax
    box = AnchoredOffsetbox(
        "upper left", child=HPacker(children=parts, align="center", pad=0, sep=6), frameon=False, pad=0,
        borderpad=0.3, bbox_to_anchor=(0.0, 0.0), bbox_transform=ax.transAxes,
    )  # fmt: skip
    box.set_gid(NAME)
    ax.add_artist(box)
    return ax


def has_scale(ax: Axes) -> bool:
    """Whether the axes have a bar or an arrow."""
    return any(artist.get_gid() == NAME for artist in ax.artists)


def draw_legend(ax: Axes, *, ncols: int = 4) -> Axes:
    """The legend of the axes below the plan and below its scale bar."""
    figure, place = ax.get_figure(root=True), ax.transAxes
    if figure is not None and has_scale(ax):
        place = place + ScaledTranslation(0, -HEIGHT / 72, figure.dpi_scale_trans)
    ax.legend(loc="upper center", bbox_to_anchor=(0.5, 0.0), bbox_transform=place, ncols=ncols, frameon=False)
    return ax


def _bar(ax: Axes, length: float, words: str) -> OffsetBox:
    line = AuxTransformBox(ax.transData)
    line.add_artist(Line2D([0.0, length], [0.0, 0.0], color=style.INK, linewidth=2.5, solid_capstyle="butt"))
    text = TextArea(words, textprops={"size": style.SMALL_TEXT, "color": style.INK, "parse_math": False})
    return VPacker(children=[text, line], align="center", pad=0, sep=2)


def _arrow() -> OffsetBox:
    width, height = ARROW
    area = DrawingArea(width, height)
    tips = [(0, 0), (width / 2, height), (width, 0), (width / 2, height / 4)]
    area.add_artist(Polygon(tips, closed=True, color=style.INK, linewidth=0))
    letter = TextArea("N", textprops={"size": style.SMALL_TEXT, "color": style.INK})
    return HPacker(children=[letter, area], align="center", pad=0, sep=1)
