"""A page to look around in: the network coloured by any of several functions, with values under the mouse."""

from collections.abc import Mapping, Sequence
from html import escape
from typing import Any

import matplotlib as mpl
import numpy as np
from matplotlib.colors import to_hex
from numpy.typing import NDArray

from netbo.adapters.projection import directions_of
from netbo.arrays import FloatArray
from netbo.errors import ParameterError
from netbo.geometry import MetricGraph, Points
from netbo.optional import require
from netbo.plotting import style
from netbo.plotting.canvas import Segments, cut_into_pieces
from netbo.plotting.field import values_at
from netbo.plotting.network import Field, spread_out
from netbo.plotting.scale import bar_of
from netbo.wording import with_unit

N_COLOURS = 24  # lines of one colour are one trace: browsers bear many points, not many traces
MAPS = {"sd": style.SPREAD_MAP, "acquisition": style.SCORE_MAP, "probability": style.PROBABILITY_MAP}
MARKS = {
    "observed": ("circle", style.PAPER, 9),
    "next": ("diamond", style.NEXT, 12),
    "failed": ("x", style.PAPER, 9),
    "recommended": ("star", style.FOUND, 16),
}  # symbol, colour, pixels
LINE, TARGET = 4, 10  # pixels: width of a line, size of the invisible mark that answers the mouse
PHONE = 360  # pixels
THIN_LINE, MANY = 2, 20_000  # width if the pieces are many
HEIGHT = 700
TOOLS, TITLE, MENU = 36, 30, 44  # pixels above the plan, from the top: plotly's tools, the title, the menu
BAR, LEGEND = 74, 60  # and below it, so that both are kept on a phone: the colour bar, the legend


def draw_interactive(
    graph: MetricGraph,
    fields: Mapping[str, Field],
    *,
    points: Mapping[str, Points] | None = None,
    units: Mapping[str, str] | None = None,
    labels: Mapping[str, Sequence[object]] | None = None,
    samples: int = 2000,
    title: str | None = None,
) -> Any:
    """A plotly Figure of the network: colours by one of the fields, a menu for the others, values on hover.

    fields: functions of Points by name, such as {"mean": posterior.mean, "sd": posterior.std}; the first is
        shown at first. Hovering tells edge id, distance along the edge and all fields.
    points: places to mark, by name; "observed", "next", "failed" and "recommended" have marks of their own.
    units: of the fields, by their names.
    labels: texts beside the first points, by the names of these.
    samples: pieces of the network, about.

    `figure.write_html("page.html")` makes a page that needs no network. Needs the extra 'plotly'.
    """
    plotly = require("plotly.graph_objects", extra="plotly", purpose="an interactive picture")
    if not fields:
        raise ParameterError("an interactive picture needs a field, got none; pass {'mean': posterior.mean}")
    pieces = cut_into_pieces(graph, samples)
    values = {name: values_at(field, pieces) for name, field in fields.items()}
    figure = plotly.Figure(layout=_layout(title))
    owners: list[str | None] = []  # the field each trace belongs to; None: shown with all
    for name, column in values.items():
        traces = _coloured_lines(plotly, pieces, column, name, (units or {}).get(name))
        figure.add_traces(traces)
        owners += [name] * len(traces)
    others = [_hover(plotly, pieces, values, units or {})]
    others += [_marks(plotly, graph, name, places) for name, places in (points or {}).items() if len(places)]
    others += _scale_bar(plotly, graph)
    figure.add_traces(others)
    owners += [None] * len(others)
    for name, texts in (labels or {}).items():
        _label(figure, graph, (points or {})[name][: len(texts)], texts)
    _choose(figure, list(fields), owners)
    return figure


def _layout(title: str | None) -> dict[str, Any]:
    bare = {"visible": False}
    above, below = TOOLS + (TITLE if title else 0) + MENU, BAR + LEGEND
    said = {
        "text": escape(title or ""),
        "x": 0.02,
        "y": 1 - TOOLS / HEIGHT,
        "xanchor": "left",
        "yanchor": "top",
    }
    return {
        "title": said,
        "xaxis": bare,
        "yaxis": bare | {"scaleanchor": "x", "scaleratio": 1},
        "plot_bgcolor": style.PAPER,
        "height": HEIGHT,
        "margin": {"l": 10, "r": 10, "t": above, "b": below, "autoexpand": False},
        "hovermode": "closest",
        "legend": {"orientation": "h", "y": -BAR / (HEIGHT - above - below), "yanchor": "top"},
    }


def _coloured_lines(
    plotly: Any, pieces: Segments, values: FloatArray, name: str, unit: str | None
) -> list[Any]:
    """One trace a colour, one for what is not known, and one that carries the colour bar."""
    colour_map = mpl.colormaps[MAPS.get(name, style.VALUE_MAP)]
    is_known = np.isfinite(values)
    low, high = (values[is_known].min(), values[is_known].max()) if is_known.any() else (0.0, 1.0)
    step = (high - low) / N_COLOURS or 1.0
    # NaN is no number of a bin: it must not reach the cast.
    bins = np.full(len(values), -1, dtype=np.int64)
    bins[is_known] = np.clip((values[is_known] - low) / step, 0, N_COLOURS - 1).astype(np.int64)
    shades = [to_hex(colour_map((i + 0.5) / N_COLOURS)) for i in range(N_COLOURS)]
    segments = _shifted(pieces.graph, pieces.ends)
    width = LINE if len(segments) <= MANY else THIN_LINE
    lines = [
        _line(plotly, segments[bins == which], style.FAINT if which < 0 else shades[which], width)
        for which in np.unique(bins).tolist()
    ]
    scale = [[i / (N_COLOURS - 1), shade] for i, shade in enumerate(shades)]
    said = {"text": escape(with_unit(name, unit)), "side": "top"}
    lying = {"orientation": "h", "x": 0.5, "y": 0.0, "yanchor": "top", "len": 0.9, "thickness": 14}
    bar = plotly.Scatter(
        x=[None], y=[None], mode="markers", hoverinfo="skip", showlegend=False,
        marker={
            "color": [float(low)], "cmin": float(low), "cmax": float(high), "colorscale": scale,
            "showscale": True, "colorbar": {"title": said, **lying},
        },
    )  # fmt: skip
    return [*lines, bar]


def _shifted(graph: MetricGraph, places: FloatArray) -> NDArray[np.float32]:
    """Places in the plane from the lower left corner of the network: float32, which halves the page."""
    origin = graph.drawing.coordinates[:, :2].min(axis=0)
    return np.asarray(places[..., :2] - origin, dtype=np.float32)


def _line(plotly: Any, segments: NDArray[np.float32], color: str, width: int) -> Any:
    """All segments in one broken line."""
    broken = np.full((len(segments), 3, 2), np.nan, dtype=np.float32)
    broken[:, :2] = segments
    x, y = broken.reshape(-1, 2).T
    return plotly.Scattergl(
        x=x, y=y, mode="lines", line={"color": color, "width": width}, hoverinfo="skip", showlegend=False,
        connectgaps=False,
    )  # fmt: skip


def _hover(plotly: Any, pieces: Segments, values: Mapping[str, FloatArray], units: Mapping[str, str]) -> Any:
    """Invisible marks in the middles of the pieces, which know everything."""
    graph, middles = pieces.graph, pieces.middles
    ids, distance, _ = graph.address(middles)
    x, y = _shifted(graph, graph.embed(middles)).T
    unit = _literal(f" {graph.unit}") if graph.unit else ""
    said = {name: f" {units[name]}" if name in units else "" for name in values}
    rows = [
        f"{_literal(name)}: %{{customdata[{i + 1}]:.4g}}{_literal(said[name])}"
        for i, name in enumerate(values)
    ]
    return plotly.Scattergl(
        x=x, y=y, mode="markers", marker={"size": TARGET, "opacity": 0}, showlegend=False, name="",
        text=[escape(str(name)) for name in ids],
        customdata=np.stack([distance, *values.values()], axis=1).astype(np.float32),
        hovertemplate="<br>".join([f"edge %{{text}}, %{{customdata[0]:.4g}}{unit}", *rows]),
    )  # fmt: skip


def _literal(text: str) -> str:
    """Text in a template of what is shown on hovering: neither markup nor a variable."""
    return escape(text).replace("{", "&#123;")


def _marks(plotly: Any, graph: MetricGraph, name: str, places: Points) -> Any:
    bound = graph.bind(places)
    x, y = _shifted(graph, graph.embed(bound)).T
    symbol, color, size = MARKS.get(name, MARKS["observed"])
    unit = escape(f" {graph.unit}") if graph.unit else ""
    return plotly.Scatter(
        x=x, y=y, mode="markers", name=name,
        marker={"symbol": symbol, "color": color, "size": size, "line": {"color": style.INK, "width": 1}},
        text=[f"edge {escape(str(each.edge_id))}, {each.distance:.4g}{unit}" for each in bound],
        hovertemplate=f"{_literal(name)}<br>%{{text}}<extra></extra>",
    )  # fmt: skip


def _scale_bar(plotly: Any, graph: MetricGraph) -> list[Any]:
    """A line below the plan, as long as it says, and an arrow where y points north; [] if nobody knows."""
    bar, (_, is_north_up) = bar_of(graph), directions_of(graph.crs)
    words = "   ".join([*([] if bar is None else [bar[1]]), *(["↑ N"] if is_north_up else [])])
    if not words:
        return []
    below = -0.06 * float(np.ptp(graph.drawing.coordinates[:, :2], axis=0).max())
    return [
        plotly.Scatter(
            x=[0.0, 0.0 if bar is None else bar[0]], y=[below, below], mode="lines+text", hoverinfo="skip",
            line={"color": style.INK, "width": 3}, text=["", f" {escape(words)}"],
            textposition="middle right", cliponaxis=False, showlegend=False,
        )
    ]  # fmt: skip


def _label(figure: Any, graph: MetricGraph, points: Points, texts: Sequence[object]) -> None:
    """Texts beside points, moved apart as if the plan were as wide as a phone."""
    places = graph.embed(points)[:, :2]
    extent = float(np.ptp(graph.drawing.coordinates[:, :2], axis=0).max()) or 1.0
    said = [str(text) for text in texts]
    offsets, shifted = spread_out(places * (PHONE / extent), said), _shifted(graph, places).tolist()
    for (x, y), (right, up), text in zip(shifted, offsets.tolist(), said, strict=True):
        figure.add_annotation(
            x=x, y=y, ax=right, ay=-up, text=escape(text), arrowhead=0, arrowwidth=1, arrowcolor=style.INK,
            standoff=5, font={"size": 11, "color": style.INK}, bgcolor="rgba(255,255,255,0.7)", borderpad=0,
        )  # fmt: skip


def _choose(figure: Any, names: list[str], owners: list[str | None]) -> None:
    """Show the traces of the first field, and a menu for the others if there are any."""
    shown = {name: [owner in (None, name) for owner in owners] for name in names}
    for trace, is_shown in zip(figure.data, shown[names[0]], strict=True):
        trace.visible = is_shown
    if len(names) > 1:
        buttons = [{"label": name, "method": "restyle", "args": [{"visible": shown[name]}]} for name in names]
        place = {"x": 0.0, "xanchor": "left", "y": 1.0, "yanchor": "bottom"}
        figure.update_layout(
            updatemenus=[{"buttons": buttons, "direction": "right", **place, "type": "buttons"}]
        )
