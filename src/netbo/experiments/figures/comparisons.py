"""Benchmarks and source inversion: a row a problem, for one acquisition rule, as the paper's figures."""

from pathlib import Path

import matplotlib.pyplot as plt
import pandas as pd
from matplotlib.figure import Figure

from netbo.experiments.figures.looks import BASELINES, TITLE, look_of, methods_of, problem_name
from netbo.experiments.figures.panels import Series, draw_row
from netbo.experiments.figures.saving import put_legend, save
from netbo.experiments.spec import DATA_BLIND, Spec
from netbo.experiments.summaries import horizon_of, reach_rate, regret_array, runs_of, tolerance_of
from netbo.plotting import style

ROW_HEIGHT = 2.6  # inches
LEGEND_HEIGHT = 0.75
WIDTH = 11.0


def draw_comparisons(spec: Spec, table: pd.DataFrame, out: Path) -> list[Path]:
    """One figure for each acquisition rule of the table, the baselines in all of them."""
    rules = [rule for rule in pd.unique(table["acquisition"]) if rule not in BASELINES]
    paths = []
    for rule in rules:
        part = table[table["acquisition"].isin([rule, *BASELINES])]
        paths += save(_draw_rows(spec, part, rule), out, f"{spec.name}-{rule.lower()}")
    return paths


def _draw_rows(spec: Spec, table: pd.DataFrame, rule: str) -> Figure:
    problems, tolerance = list(pd.unique(table["problem"])), tolerance_of(spec)
    figure, axes = plt.subplots(
        len(problems), 3, figsize=(WIDTH, ROW_HEIGHT * len(problems) + LEGEND_HEIGHT), squeeze=False,
        layout="constrained", width_ratios=(1.15, 1.0, 1.0),
    )  # fmt: skip
    for row, problem in zip(axes, problems, strict=True):
        draw_row(row, series_of(spec, table[table["problem"] == problem]), tolerance=tolerance)
        row[0].set_title(f"{problem_name(problem)}, {rule}", loc="left", fontsize=TITLE, color=style.INK)
    put_legend(figure, [axes[0, 0]], title=_how_drawn(spec, table, rule))
    return figure


def _how_drawn(spec: Spec, table: pd.DataFrame, rule: str) -> str:
    n_sources, n_runs = table["source"].nunique(), table.groupby("cell")["seed"].nunique().max()
    counted = f"{n_runs} runs" + (f" for each of {n_sources} sources" if n_sources > 1 else "")
    text = f"median and central 50 % band; bars: 95 % intervals; {counted}"
    baseline = horizon_of(spec, DATA_BLIND)
    is_shorter = baseline != horizon_of(spec, rule) and table["acquisition"].isin(list(BASELINES)).any()
    return text + (f"; baselines end after {baseline} iterations" if is_shorter else "")


def series_of(spec: Spec, table: pd.DataFrame) -> list[Series]:
    """Runs of every method in the table; cells that differ in their source only are taken together."""
    runs = runs_of(table, tolerance_of(spec))
    series = []
    for kernel, acquisition, preset in methods_of(table):
        mine, those = (
            each[
                (each["kernel"] == kernel) & (each["acquisition"] == acquisition) & (each["preset"] == preset)
            ]
            for each in (table, runs)
        )
        series.append(
            Series(
                look=look_of(kernel, acquisition, preset),
                curves=regret_array(mine, horizon_of(spec, acquisition)),
                reached=reach_rate(those),
                iterations=those["iterations"],
            )
        )
    return series
