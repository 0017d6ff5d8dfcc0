"""Reach rates by where the optimum sits: a row a placement, a column a function, a bar a method."""

from pathlib import Path

import matplotlib.pyplot as plt
import pandas as pd

from netbo.experiments.figures.looks import TITLE, look_of, methods_of, problem_name
from netbo.experiments.figures.panels import draw_reach_bars
from netbo.experiments.figures.saving import put_legend, save
from netbo.experiments.spec import Spec
from netbo.experiments.summaries import reach_rate, runs_of, tolerance_of
from netbo.plotting import style

PANEL = (4.0, 1.75)  # inches
LEGEND_OF_ALL = 1.3


def draw_placements(spec: Spec, table: pd.DataFrame, out: Path) -> list[Path]:
    """One figure; hatched bars are those of the calibrated preset."""
    runs, methods = runs_of(table, tolerance_of(spec)), methods_of(table)
    places, problems = list(pd.unique(table["placement"])), list(pd.unique(table["problem"]))
    width = max(PANEL[0] * len(problems), 8.0)
    figure, axes = plt.subplots(
        len(places), len(problems), figsize=(width, PANEL[1] * len(places) + LEGEND_OF_ALL), squeeze=False,
        layout="constrained", sharex=True, sharey=True,
    )  # fmt: skip
    for row, place in zip(axes, places, strict=True):
        for ax, problem in zip(row, problems, strict=True):
            here = runs[(runs["placement"] == place) & (runs["problem"] == problem)]
            rates = [reach_rate(_of(here, method)) for method in methods]
            draw_reach_bars(ax, [look_of(*method) for method in methods], rates, names=False)
            ax.set_title(f"{problem_name(problem)}, {place}", loc="left", fontsize=TITLE, color=style.INK)
            ax.label_outer()
    n_runs = table.groupby("cell")["seed"].nunique().max()
    title = f"reach rate (%) with 95 % intervals, {n_runs} runs; hatched: calibrated preset"
    put_legend(figure, list(axes.ravel()), columns=4 if len(problems) > 2 else 2, title=title)
    return save(figure, out, spec.name)


def _of(runs: pd.DataFrame, method: tuple[str, str, str]) -> pd.DataFrame:
    kernel, acquisition, preset = method
    chosen = (runs["kernel"] == kernel) & (runs["acquisition"] == acquisition) & (runs["preset"] == preset)
    return runs[chosen]
