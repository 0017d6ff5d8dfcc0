"""A figure as PNG and PDF, byte for byte the same for the same figure."""

from pathlib import Path

import matplotlib.pyplot as plt
from matplotlib.axes import Axes
from matplotlib.figure import Figure

DPI = 150


def save(figure: Figure, out: Path, name: str) -> list[Path]:
    """Write NAME.png and NAME.pdf into a folder, which is made if need be, and close the figure."""
    out.mkdir(parents=True, exist_ok=True)
    png, pdf = out / f"{name}.png", out / f"{name}.pdf"
    figure.savefig(png, dpi=DPI, metadata={"Software": None})
    figure.savefig(pdf, metadata={"CreationDate": None, "Producer": None, "Creator": None})
    plt.close(figure)
    return [png, pdf]


def put_legend(figure: Figure, axes: list[Axes], *, columns: int = 5, title: str | None = None) -> None:
    """One legend for all axes beneath them, each label once."""
    labelled = {}
    for ax in axes:
        handles, labels = ax.get_legend_handles_labels()
        labelled.update({label: handle for handle, label in zip(handles, labels, strict=True)})
    figure.legend(
        list(labelled.values()), list(labelled), loc="outside lower center", ncols=columns, frameon=False,
        title=title,
    )  # fmt: skip
