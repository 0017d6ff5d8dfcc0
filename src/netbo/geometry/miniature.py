"""A network as a small image for notebooks: its edges, a function on it as colours, places marked."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import TYPE_CHECKING

import numpy as np

from netbo.arrays import FloatArray, IntArray, rows_of
from netbo.geometry.curves import Curves
from netbo.geometry.points import Points
from netbo.notebook import VIRIDIS, Plan, card, image, thin

if TYPE_CHECKING:
    from netbo.geometry.graph import MetricGraph

COLOUR_STEP = 6.0  # pixels that have one colour
BARE, FAINT, FOUND = "#57606a", "#b6bec7", "#c0392b"  # edges without a field, beneath stretches; stretches
WIDE, NARROW, THIN = 3.0, 1.2, 0.5  # pixels: coloured edges, others, either where they are many
MANY = 1_000  # pieces from which on they are thin
CHORDS, MOST_PARTS = 8, 600  # of a stretch; of all stretches

Field = Callable[[Points], FloatArray]
Stretches = tuple[IntArray, FloatArray, FloatArray]  # edge, start and end


def thumbnail(
    graph: MetricGraph,
    field: Field | None = None,
    *,
    marks: Mapping[str, Points] | None = None,
    stretches: Stretches | None = None,
    alt: str = "plan of the network",
) -> str:
    """An <img> of the network from above; edges without coordinates are laid end to end.

    field: a function of Points, shown as colours from its smallest value to its largest.
    marks: places by kind: "observed", "next", "recommended".
    stretches: parts of edges that stand out.
    """
    drawing = _drawing(graph)
    plan = Plan.of(drawing.coordinates[:, :2])
    edge, start, stop = _pieces(drawing, plan, is_coloured=field is not None)
    steps, kept = thin(plan.steps(_ends(drawing, edge, start, stop)))
    is_dense = len(kept) > MANY
    if field is None:
        colour = BARE if stretches is None else FAINT
        lines = [(colour, THIN if is_dense else NARROW, steps)]
    else:
        middle = Points(edge[kept], (start + stop)[kept] / 2 * graph.lengths[edge[kept]], graph=graph)
        lines = _coloured(steps, field(middle), 2 * THIN if is_dense else WIDE)
    if stretches is not None:
        parts = plan.steps(_along(drawing, graph.lengths, stretches))
        parts[:, 1, 0] += (parts[:, 0] == parts[:, 1]).all(axis=1)  # a short one is to be seen
        lines.append((FOUND, WIDE, thin(parts, MOST_PARTS)[0]))
    places = {
        kind: drawing.places(x.edge, x.z / graph.lengths[x.edge])[:, :2] for kind, x in (marks or {}).items()
    }
    return image(plan, lines, places, alt=alt)


def graph_card(graph: MetricGraph) -> str:
    """What a notebook shows of a graph."""
    return card(type(graph).__name__, graph_facts(graph), picture=thumbnail(graph))


def graph_facts(graph: MetricGraph) -> list[tuple[str, str]]:
    """What there is to say in a few words, by name."""
    unit = f" {graph.unit}" if graph.unit else ""
    low, high = f"{graph.lengths.min():.4g}", f"{graph.lengths.max():.4g}"
    extent = f"{high}{unit} each" if low == high else f"{low} to {high}{unit}"
    coordinates = "none" if graph.dimension is None else f"in {graph.dimension} dimensions"
    return [
        ("vertices", f"{graph.n_vertices:,}"),
        ("edges", f"{graph.n_edges:,}, of {extent}"),
        ("total length", f"{graph.total_length:,.6g}{unit or ', unit unknown'}"),
        ("components", f"{graph.n_components:,}"),
        ("coordinates", coordinates if graph.crs is None else f"{coordinates}, {graph.crs!s:.60}"),
    ]


def _drawing(graph: MetricGraph) -> Curves:
    if graph.dimension is not None:
        return graph.drawing
    ends = np.concatenate([[0.0], np.cumsum(graph.lengths)])
    return Curves.straight(*(np.stack([x, np.zeros(len(x))], axis=1) for x in (ends[:-1], ends[1:])))


def _pieces(drawing: Curves, plan: Plan, *, is_coloured: bool) -> tuple[IntArray, FloatArray, FloatArray]:
    """Edge and fractions of straight pieces, short ones if each is to have a colour of its own."""
    first = drawing.segments
    edge, low, high = rows_of(drawing.starts)[first], drawing.fractions[first], drawing.fractions[first + 1]
    if not is_coloured:
        return edge, low, high
    corners = drawing.coordinates[:, :2]
    pixels = plan.pixels(np.stack([corners[first], corners[first + 1]], axis=1))
    counts = np.maximum(np.ceil(pixels / COLOUR_STEP), 1).astype(np.int64)
    row = np.repeat(np.arange(len(first)), counts)
    number = np.arange(len(row)) - np.repeat(np.cumsum(counts) - counts, counts)
    width = (high - low)[row] / counts[row]
    begin = low[row] + number * width
    return edge[row], begin, begin + width


def _ends(drawing: Curves, edge: IntArray, start: FloatArray, stop: FloatArray) -> FloatArray:
    """Both ends of pieces in the plane, (n, 2, 2)."""
    both = np.stack([drawing.places(edge, start), drawing.places(edge, stop)], axis=1)
    return np.asarray(both[:, :, :2])


def _along(drawing: Curves, lengths: FloatArray, stretches: Stretches) -> FloatArray:
    """Stretches as short chords of their curves, (n, 2, 2)."""
    edge, start, stop = stretches
    shares = np.linspace(0.0, 1.0, CHORDS + 1)
    at = (start[:, None] + (stop - start)[:, None] * shares) / lengths[edge][:, None]
    owner = np.repeat(edge, CHORDS)
    return _ends(drawing, owner, at[:, :-1].ravel(), at[:, 1:].ravel())


def _coloured(steps: IntArray, values: FloatArray, width: float) -> list[tuple[str, float, IntArray]]:
    """Pieces by colour; those without a finite value are grey."""
    is_known = np.isfinite(values)
    low, high = (values[is_known].min(), values[is_known].max()) if is_known.any() else (0.0, 1.0)
    share = np.where(is_known, values - low, 0.0) / (high - low if high > low else 1.0)
    shade = np.where(is_known, np.minimum(share * len(VIRIDIS), len(VIRIDIS) - 1), -1).astype(np.int64)
    return [
        (FAINT if which < 0 else VIRIDIS[which], width, steps[shade == which])
        for which in np.unique(shade).tolist()
    ]
