"""What a notebook shows of an object: a small table of facts beside a small picture, nothing from outside."""

from base64 import b64encode
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from html import escape
from importlib import import_module
from types import ModuleType

import numpy as np

from netbo.arrays import FloatArray, IntArray


def page_layer() -> ModuleType:
    """The layer that makes pages: it lies above all that has one, so it is found by its name."""
    return import_module("netbo.page")


ROWS = 10  # of a table inside a card

_CELL = "padding:.1rem .6rem .1rem 0;text-align:left;vertical-align:top"
_NAME = f"{_CELL};opacity:.65;white-space:nowrap;font-weight:normal"
_WARNING = "border-left:3px solid #c0392b;padding-left:.5rem;margin:.3rem 0"


def card(
    title: str,
    facts: Iterable[tuple[str, object]],
    *,
    picture: str = "",
    warnings: Iterable[str] = (),
    rows: str = "",
) -> str:
    """HTML of one object: its kind, facts by name beside a picture, then warnings, then rows of a table.

    Every text is escaped; `picture` and `rows` are HTML, made by `image` and `table`.
    """
    body = "".join(
        f'<tr><th style="{_NAME}">{escape(name)}</th><td style="{_CELL}">{escape(str(text))}</td></tr>'
        for name, text in facts
    )
    warned = "".join(f'<div style="{_WARNING}">{escape(text)}</div>' for text in warnings)
    return (
        f'<div><strong>{escape(title)}</strong><div style="display:flex;flex-wrap:wrap;gap:1rem;'
        f'align-items:flex-start"><table style="border-collapse:collapse">{body}</table>{picture}</div>'
        f"{warned}{rows}</div>"
    )


def table(names: Sequence[str], rows: Sequence[Sequence[object]], *, n_hidden: int = 0) -> str:
    """Rows below a head, and how many more there are."""
    head = "".join(f'<th style="{_CELL}">{escape(name)}</th>' for name in names)
    body = "".join(
        f"<tr>{''.join(f'<td style={_CELL!r}>{escape(str(cell))}</td>' for cell in row)}</tr>" for row in rows
    )
    more = f"<div>... and {n_hidden} more</div>" if n_hidden > 0 else ""
    return f'<table style="border-collapse:collapse"><tr>{head}</tr>{body}</table>{more}'


def bar(words: str, share: float) -> str:
    """Words below a bar that is filled to a share."""
    width = f"{100 * min(max(share, 0.0), 1.0):.1f}%"
    filled = f'<div style="width:{width};height:100%;background:#21618c"></div>'
    return (
        f'<div style="max-width:24rem"><div style="height:.5rem;background:#d0d7de">{filled}</div>'
        f"{escape(words)}</div>"
    )


# A plan of lines and marks as an image of some ten kilobytes, however many lines there are.

WIDTH, HEIGHTS = 240, (40, 180)  # pixels; least and most high
MARGIN = 8  # pixels around the lines: room for marks
GRAIN = 4  # steps of a coordinate in a pixel: whole numbers are short
MOST_LINES = 1_500  # pieces of lines; more are drawn on a coarser grid, where neighbours fall together
MOST_MARKS = 150  # of one kind
INK = "#22272e"
VIRIDIS = (
    "#440154", "#482173", "#433e85", "#38588c", "#2d708e", "#25858e",
    "#1e9b8a", "#2ab07f", "#52c569", "#86d549", "#c2df23", "#fde725",
)  # fmt: skip
_STAR = "M0-28L7-9L27-9L11 4L17 23L0 12L-17 23L-11 4L-27-9L-7-9z"
_DIAMOND = "M0-16L16 0L0 16L-16 0z"
_CROSS = "M-16-9L-9-16L0-7L9-16L16-9L7 0L16 9L9 16L0 7L-9 16L-16 9L-7 0z"
_DOT = "M-9 0a9 9 0 1 0 18 0a9 9 0 1 0-18 0z"
MARKS = {
    "observed": (_DOT, "#fff"),
    "next": (_DIAMOND, "#56b4e9"),
    "recommended": (_STAR, "#c0392b"),
    "failed": (_CROSS, "#fff"),
}  # outline and colour


@dataclass(frozen=True, slots=True, eq=False)
class Plan:
    """Where a plan lies in its image: coordinates in whole steps, y downwards."""

    low: FloatArray
    scale: float  # steps a unit of the coordinates
    size: tuple[int, int]  # pixels

    @classmethod
    def of(cls, corners: FloatArray) -> "Plan":
        """The plan of all corners, (n, 2), as large as fits."""
        low, high = corners.min(axis=0), corners.max(axis=0)
        largest = float((high - low).max()) or 1.0  # all in one place: anything will do
        extent = np.maximum(high - low, 1e-9 * largest)
        inner = WIDTH - 2 * MARGIN
        scale = min(inner / extent[0], (HEIGHTS[1] - 2 * MARGIN) / extent[1])
        height = int(np.clip(np.ceil(scale * extent[1]) + 2 * MARGIN, *HEIGHTS))
        centre = (low + high) / 2
        return cls(centre - np.array([WIDTH, height]) / (2 * scale), GRAIN * scale, (WIDTH, height))

    def steps(self, places: FloatArray) -> IntArray:
        """Places (..., 2) in steps from the upper left corner."""
        at = np.rint((places - self.low) * self.scale).astype(np.int64)
        at[..., 1] = GRAIN * self.size[1] - at[..., 1]
        return at

    def pixels(self, segments: FloatArray) -> FloatArray:
        """Lengths in the image of straight pieces, (n, 2, 2)."""
        return np.asarray(np.linalg.norm(segments[:, 1] - segments[:, 0], axis=1) * (self.scale / GRAIN))


def thin(steps: IntArray, most: int = MOST_LINES) -> tuple[IntArray, IntArray]:
    """Pieces that can be told apart, (n, 2, 2) in steps and at most so many, and which they were.

    On a grid that is made coarser until they are few enough, pieces without extent and copies are left out.
    """
    step = 1
    while True:
        coarse = (steps + step // 2) // step
        (x, y), (to_x, to_y) = coarse[:, 0].T, coarse[:, 1].T
        is_backward = (x > to_x) | ((x == to_x) & (y > to_y))
        ordered = np.where(is_backward[:, None, None], coarse[:, ::-1], coarse).reshape(-1, 4)
        seen = np.flatnonzero((x != to_x) | (y != to_y))
        first = np.sort(np.unique(ordered[seen], axis=0, return_index=True)[1])
        if len(first) <= most:
            return step * coarse[seen[first]], seen[first]
        step *= 2


def image(
    plan: Plan,
    lines: Sequence[tuple[str, float, IntArray]],
    marks: Mapping[str, FloatArray],
    *,
    alt: str,
) -> str:
    """An <img> of lines, each of a colour and a width in pixels, and of marks by their kind on top."""
    width, height = plan.size
    parts = [
        f'<path d="{_path(steps)}" stroke="{colour}" stroke-width="{GRAIN * thick:g}"/>'
        for colour, thick, steps in lines
        if len(steps)
    ]
    for kind, places in marks.items():
        outline, colour = MARKS[kind]
        at = np.unique(plan.steps(places), axis=0)
        at = at[:: -(-len(at) // MOST_MARKS)]
        moved = "".join(f'<use href="#{kind}" x="{x}" y="{y}"/>' for x, y in at.tolist())
        mark = f'<path id="{kind}" d="{outline}" fill="{colour}" stroke="{INK}" stroke-width="4"/>'
        parts.append(f"<defs>{mark}</defs>{moved}")
    svg = (
        f'<svg xmlns="http://www.w3.org/2000/svg" width="{width}" height="{height}" '
        f'viewBox="0 0 {GRAIN * width} {GRAIN * height}"><rect width="100%" height="100%" fill="#fff"/>'
        f'<g fill="none" stroke-linecap="round" stroke-linejoin="round">{"".join(parts)}</g></svg>'
    )
    data = b64encode(svg.encode()).decode("ascii")
    return (
        f'<img alt="{escape(alt)}" width="{width}" height="{height}" src="data:image/svg+xml;base64,{data}">'
    )


def _path(steps: IntArray) -> str:
    """All pieces in one path; what begins where the last one ended goes on without a jump."""
    parts, at = [], None
    for (x, y), (to_x, to_y) in steps.tolist():
        parts.append(f"l{to_x - x} {to_y - y}" if at == (x, y) else f"M{x} {y}l{to_x - x} {to_y - y}")
        at = (to_x, to_y)
    return "".join(parts)
