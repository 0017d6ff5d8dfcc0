"""The pictures of a page, as images inside its text."""

from __future__ import annotations

from base64 import b64encode
from collections.abc import Callable
from functools import partial
from html import escape
from typing import TYPE_CHECKING

from netbo.optimize.history import Status
from netbo.optimize.pictures import draw_view
from netbo.plotting import draw_calibration, style
from netbo.plotting.canvas import as_png, plan_size

if TYPE_CHECKING:
    from matplotlib.axes import Axes

    from netbo.optimize.result import Result

PROFILE_HEIGHT, SQUARE = 3.2, 4.0  # inches
LEGEND_HEIGHT = 0.4  # inches below a plan
CAPTIONS = {
    "mean": "What is expected",
    "sd": "How uncertain that is: pale near measurements",
    "probability": "Where the best value may be",
}


def embed_pictures(result: Result, label: str | None) -> list[tuple[str, str]]:
    """Names and bodies of the sections with maps, convergence and calibration; only what there is to see."""
    history = result.optimizer.history
    sections = []
    if history.having(Status.OBSERVED):
        sections.append(("Maps", _maps(result, label)))
    if history.having(Status.OBSERVED) or history.having(Status.FAILED):
        drawn = _image(
            lambda ax: result.plot_convergence(ax, label=label),
            (style.FIGURE_WIDTH, PROFILE_HEIGHT),
            "Values in the order measured, and the best so far",
        )
        sections.append(("Convergence", drawn))
    if history.having(Status.OBSERVED):
        check = result.check()
        drawn = _image(
            lambda ax: draw_calibration(check.predicted, check.std, check.value, ax, label=label),
            (SQUARE, SQUARE),
            "Each value beside its prediction from all others",
        )
        sections.append(("Calibration", drawn))
    return sections


def _maps(result: Result, label: str | None) -> str:
    graph = result.optimizer.graph
    width, height = (style.FIGURE_WIDTH, PROFILE_HEIGHT) if graph.dimension is None else plan_size(graph)
    images = [
        _image(
            partial(draw_view, result.optimizer, what, label=label),
            (width, height + LEGEND_HEIGHT),
            caption,
        )
        for what, caption in CAPTIONS.items()
    ]
    return f'<div class="pictures">\n{"".join(images)}</div>'


def _image(draw: Callable[[Axes], object], size: tuple[float, float], caption: str) -> str:
    data, text = b64encode(as_png(draw, size)).decode("ascii"), escape(caption)
    image = f'<img alt="{text}" src="data:image/png;base64,{data}">'
    return f"<figure>{image}<figcaption>{text}</figcaption></figure>\n"
