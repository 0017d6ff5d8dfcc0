from dataclasses import replace
from itertools import combinations

import matplotlib
import matplotlib.pyplot as plt
import numpy as np
import pytest
from matplotlib.colors import to_rgb
from numpy.testing import assert_allclose

from netbo.errors import ParameterError
from netbo.experiments import Spec, definition
from netbo.experiments.figures import draw_all
from netbo.experiments.figures.comparisons import draw_boxes, draw_reach_bars, draw_row, series_of
from netbo.experiments.figures.style import BASELINES, COLORS, HATCH, look_of, methods_of, problem_name, save
from netbo.experiments.statistics import Estimate, reach_rate, runs_of
from support.tables import HORIZON, both_kernels, cell_rows, table_of

matplotlib.use("Agg")


@pytest.fixture(autouse=True)
def _closed_figures():
    yield
    plt.close("all")


def spec_of(name):
    spec = definition(name).quick_spec()
    return spec if spec.horizon_ucb is None else replace(spec, horizon_ucb=HORIZON, horizon_ts=HORIZON)


def calibrated(found, **labels):
    return cell_rows(
        found, acquisition="GP-TS", method="calibrated, GP-TS", preset="calibrated", b=np.nan, **labels
    )


def beyond_table():
    sources = {"problem": "newyork", "placement": ""}
    return table_of(
        *(both_kernels(placement=place) for place in ("gap-end", "interior")),
        *(calibrated([1, 1, 2, None], placement=place) for place in ("gap-end", "interior")),
        *(both_kernels(source=source, **sources) for source in ("3", "4")),
        *(calibrated([1, None, 2, 3], source=source, **sources) for source in ("3", "4")),
    )


TABLES = {
    "network": lambda: both_kernels()[:0],
    "objectives": lambda: both_kernels()[:0],
    "benchmarks": lambda: table_of(*(both_kernels(problem=name) for name in ("ackley", "levy"))),
    "inversion": lambda: table_of(
        *(both_kernels(problem="newyork", placement="", source=node) for node in ("3", "4"))
    ),
    "sensitivity-b": lambda: table_of(
        both_kernels(), *(cell_rows([1, 2], acquisition=rule, b=0.5) for rule in ("IGP-UCB", "GP-TS"))
    ),
    "sensitivity-init": lambda: table_of(
        *(both_kernels(n_init=n, max_cell=h) for n in (1, 8) for h in (0.25, 0.5))
    ),
    "placement": lambda: table_of(*(both_kernels(placement=place) for place in ("gap-end", "corner"))),
    "beyond": beyond_table,
}
FIGURES = {
    "network": ["network"],
    "objectives": ["objectives"],
    "benchmarks": ["benchmarks-igp-ucb", "benchmarks-gp-ts"],
    "inversion": ["inversion-landscape", "inversion-igp-ucb", "inversion-gp-ts"],
    "sensitivity-b": ["sensitivity-b-igp-ucb", "sensitivity-b-gp-ts"],
    "sensitivity-init": ["sensitivity-init-igp-ucb", "sensitivity-init-gp-ts"],
    "placement": ["placement"],
    "beyond": ["beyond-against-igp-ucb", "beyond-against-gp-ts"],
}


@pytest.mark.parametrize("name", TABLES)
def test_every_figure_is_written_as_png_and_pdf(name, tmp_path):
    paths = draw_all(spec_of(name), TABLES[name](), tmp_path)

    assert [path.name for path in paths] == [
        f"{stem}.{end}" for stem in FIGURES[name] for end in ("png", "pdf")
    ]
    assert all(path.read_bytes()[:4] in (b"\x89PNG", b"%PDF") for path in paths)
    assert plt.get_fignums() == []


def test_there_are_figures_for_every_experiment_and_for_no_other():
    with pytest.raises(ParameterError, match=r"figures exist for network, objectives, .*, got 'nonsense'"):
        draw_all(Spec("nonsense"), both_kernels(), None)


def test_a_method_without_any_success_is_drawn(tmp_path):
    table = both_kernels([None, None], [None, None])

    assert len(draw_all(spec_of("benchmarks"), table, tmp_path)) == 4


def test_the_same_figure_gives_the_same_bytes(tmp_path):
    def written(folder):
        figure, ax = plt.subplots()
        ax.plot([1, 2])
        return [path.read_bytes() for path in save(figure, tmp_path / folder, "figure")]

    assert written("first") == written("second")


def test_no_two_methods_share_a_colour():
    """They are at least 0.2 apart in RGB, where black and white are sqrt(3) apart."""
    colors = [*COLORS.values(), *BASELINES.values()]

    assert all(
        np.linalg.norm(np.subtract(to_rgb(first), to_rgb(second))) > 0.2
        for first, second in combinations(colors, 2)
    )


def test_a_method_has_one_colour_whatever_the_experiment_and_the_preset():
    assert look_of("SPDE", "GP-TS").color == look_of("SPDE", "GP-TS", "calibrated").color
    assert look_of("SPDE", "data-blind").color == look_of("none", "data-blind").color
    assert [look_of("SPDE", "GP-TS", preset).hatch for preset in ("paper", "calibrated")] == ["", HATCH]


def test_unknown_methods_and_problems_are_drawn_under_their_own_names():
    look = look_of("tree", "EI")

    assert look.label == "tree, EI"
    assert look.color not in {*COLORS.values(), *BASELINES.values()}
    assert [problem_name(each) for each in ("levy", "mine")] == ["Lévy", "mine"]


def test_kernels_come_before_baselines_in_a_fixed_order():
    table = both_kernels().sample(frac=1.0, random_state=1)

    assert [(kernel, rule) for kernel, rule, _ in methods_of(table)] == [
        ("SPDE", "IGP-UCB"),
        ("Euclidean nu=1/2", "IGP-UCB"),
        ("SPDE", "GP-TS"),
        ("Euclidean nu=1/2", "GP-TS"),
        ("SPDE", "data-blind"),
        ("none", "random"),
    ]


def test_bars_are_as_high_as_reach_rates_and_lines_as_their_intervals():
    _, ax = plt.subplots()
    rate = reach_rate(runs_of(cell_rows([1, None, 2, 3]), 1e-6))
    draw_reach_bars(ax, [look_of("SPDE", "IGP-UCB")], [rate])

    assert [bar.get_height() for bar in ax.patches] == [0.75]
    ends = ax.collections[0].get_segments()[0][:, 1]
    assert_allclose(sorted(ends), [rate.low, rate.high])


def test_a_rate_of_no_runs_leaves_its_place_empty():
    _, ax = plt.subplots()
    nothing = Estimate(np.nan, np.nan, np.nan, 0)
    draw_reach_bars(ax, [look_of("SPDE", "IGP-UCB")], [nothing])

    assert len(ax.patches) == 0


def test_boxes_show_successful_runs_only_and_their_number():
    _, ax = plt.subplots()
    needed = runs_of(cell_rows([2, None, 4, 6]), 1e-6)["iterations"]
    draw_boxes(ax, [look_of("SPDE", "IGP-UCB")], [needed])
    medians = [line.get_ydata() for line in ax.lines if len(set(line.get_ydata())) == 1]

    assert [text.get_text() for text in ax.texts] == ["n=3"]
    assert any(np.all(median == 4) for median in medians)


def test_a_row_draws_the_median_of_every_method_in_its_colour():
    spec = Spec("benchmarks", horizon_ucb=HORIZON, horizon_ts=HORIZON, tolerance=1e-6)
    series = series_of(spec, both_kernels())
    _, axes = plt.subplots(1, 3)
    draw_row(axes, series, tolerance=1e-6)
    lines = {line.get_color(): line.get_ydata() for line in axes[0].lines}

    assert len(series) == 6
    for each in series:
        assert_allclose(lines[each.look.color][:-1], np.median(each.curves, axis=0))


def test_runs_of_several_sources_are_taken_together():
    table = table_of(*(cell_rows([1, None], source=node) for node in ("3", "4", "5")))
    (series,) = series_of(Spec("inversion", horizon_ucb=HORIZON), table)

    assert series.curves.shape == (6, HORIZON)
    assert series.reached.value == 0.5
