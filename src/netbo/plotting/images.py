"""Pictures as bytes, for files of other kinds."""

import io
from collections.abc import Callable

from matplotlib.axes import Axes
from matplotlib.figure import Figure


def as_png(draw: Callable[[Axes], object], size: tuple[float, float], *, dpi: int = 130) -> bytes:
    """What a function draws into axes of a size in inches, as PNG.

    It is drawn without pyplot: no window opens, and no figure is left open.
    """
    figure = Figure(figsize=size, layout="constrained")
    draw(figure.add_subplot())
    stored = io.BytesIO()
    figure.savefig(stored, format="png", dpi=dpi, bbox_inches="tight")
    return stored.getvalue()
