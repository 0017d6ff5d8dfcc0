"""How each method looks, the same in every figure, and figures saved as PNG and PDF."""

from dataclasses import dataclass
from pathlib import Path
from types import MappingProxyType
from typing import Final

import matplotlib.pyplot as plt
import pandas as pd
from matplotlib.axes import Axes
from matplotlib.figure import Figure

from netbo.experiments.spec import DATA_BLIND, EUCLIDEAN, GP_TS, IGP_UCB, MATCHED, RANDOM, SPDE
from netbo.plotting import style

# Okabe and Ito's colours, which colour-blind readers tell apart; a kernel keeps its hue over acquisitions.
COLORS = MappingProxyType(
    {
        (SPDE, IGP_UCB): "#0072b2",
        (SPDE, GP_TS): "#56b4e9",
        (EUCLIDEAN, IGP_UCB): "#d55e00",
        (EUCLIDEAN, GP_TS): "#e69f00",
        (MATCHED, IGP_UCB): "#882255",
        (MATCHED, GP_TS): "#cc79a7",
    }
)
BASELINES = MappingProxyType({DATA_BLIND: "#009e73", RANDOM: "#8b949e"})  # whatever kernel comes along
OTHER: Final = "#b8a800"
SHORT = MappingProxyType(
    {
        SPDE: "SPDE",
        EUCLIDEAN: "Eucl.\nν = 1/2",
        MATCHED: "Eucl.\nν = 3/2",
    }
)
LINES = MappingProxyType({SPDE: "-", EUCLIDEAN: "--", MATCHED: "-."})
PROBLEMS = MappingProxyType(
    {"ackley": "Ackley", "rastrigin": "Rastrigin", "levy": "Lévy", "newyork": "New York"}
)
PAPER: Final = ("paper", "")  # presets that are drawn plain
HATCH: Final = "////"  # of what is not the paper's preset
TITLE: Final = 10.0  # points
SMALL: Final = style.SMALL_TEXT


@dataclass(frozen=True, slots=True)
class Look:
    """Method as legends call it, and how its lines and bars are drawn."""

    label: str
    short: str
    color: str
    linestyle: str
    hatch: str


def look_of(kernel: str, acquisition: str, preset: str = "paper", label: str | None = None) -> Look:
    """How a method is drawn; the same whatever experiment it comes from."""
    is_baseline = acquisition in BASELINES
    color = BASELINES.get(acquisition, COLORS.get((kernel, acquisition), OTHER))
    short = acquisition.replace("-", "-\n") if is_baseline else SHORT.get(kernel, kernel)
    named = acquisition if is_baseline else f"{kernel.replace('nu=', 'ν = ')}, {acquisition}"
    is_paper = preset in PAPER
    return Look(
        label=label or (named if is_paper else f"{named}, {preset}"),
        short=short,
        color=color,
        linestyle=":" if is_baseline else LINES.get(kernel, "-"),
        hatch="" if is_paper else HATCH,
    )


def problem_name(problem: str) -> str:
    """A problem as titles call it."""
    return PROBLEMS.get(problem, problem)


def methods_of(table: pd.DataFrame) -> list[tuple[str, str, str]]:
    """Kernel, acquisition and preset of each method, in a fixed order: kernels first, baselines last."""
    present = set(zip(table["kernel"], table["acquisition"], table["preset"], strict=True))
    kernels, rules = list(SHORT), [IGP_UCB, GP_TS, *BASELINES]
    return sorted(
        present,
        key=lambda each: (
            each[1] in BASELINES,
            each[2] not in PAPER,
            rules.index(each[1]) if each[1] in rules else len(rules),
            kernels.index(each[0]) if each[0] in kernels else len(kernels),
            each,
        ),
    )


# A figure as PNG and PDF, byte for byte the same for the same figure.

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
