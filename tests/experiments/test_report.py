import re

import numpy as np
import pytest

import netbo
from netbo.experiments import Spec, definition
from netbo.experiments.report import TITLES, write_report
from support.tables import both_kernels, cell_rows, table_of

SPEC = Spec(
    "benchmarks", repetitions=60, seed=7, functions=("ackley",), horizon_ucb=10, horizon_ts=10, tolerance=1e-6
)
ALWAYS, NEVER = [1, 2, 3, 2, 1] * 12, [None] * 60


def report(spec, table, out):
    return write_report(spec, table, out).read_text(encoding="utf-8")


def rows_of(text, *words):
    return [
        line for line in text.splitlines() if line.startswith("|") and all(word in line for word in words)
    ]


def test_the_head_names_experiment_seed_repetitions_and_version(tmp_path):
    text = report(SPEC, both_kernels(ALWAYS, NEVER), tmp_path)

    assert text.startswith("# IGP-UCB and GP-TS on benchmark functions\n")
    assert f"netbo {netbo.__version__}" in text
    assert "- repetitions: 60\n" in text
    assert "- seed: 7\n" in text


def test_ours_stands_beside_the_printed_number_with_a_verdict(tmp_path):
    """Printed for SPDE, IGP-UCB on Ackley: 100 %, 4.27; Euclidean: 41.7 %, 11.16."""
    text = report(SPEC, both_kernels(ALWAYS, NEVER), tmp_path)
    (spde,), (euclidean,) = (rows_of(text, name) for name in ("SPDE, IGP-UCB", "nu=1/2, IGP-UCB"))

    assert "| 100 % (94-100 %) | 100 % | agrees: printed 100 % lies inside our interval 94-100 % |" in spde
    assert "differs: printed 4.27 lies outside our interval 1.61-1.99; ours needs 2.5 fewer" in spde
    assert "| 0 % (0-6 %) | 41.7 % | differs: printed 41.7 % lies outside our interval 0-6 %" in euclidean
    assert "0 successful run(s) of ours give no interval" in euclidean


def test_a_sentence_counts_what_agrees(tmp_path):
    """Reach rates: 100 % agrees; 41.7, 83.3 and 16.7 % differ from 0, 100 and 0."""
    text = report(SPEC, both_kernels(ALWAYS, NEVER), tmp_path)

    assert "Of 4 printed reach rates: 1 agree, 3 differ; about 0.2 would lie outside" in text


def test_what_the_paper_does_not_have_is_called_ours(tmp_path):
    text = report(SPEC, both_kernels(ALWAYS, NEVER), tmp_path)
    (row,) = rows_of(text, "| random |")

    assert row.count("| ours |") == 2


def test_where_nothing_is_printed_there_is_a_figure_only(tmp_path):
    spec = Spec("inversion", sources=2, horizon_ucb=10, horizon_ts=10, tolerance=1e-6)
    table = table_of(
        cell_rows([1, 2], problem="newyork", placement="", source="3"),
        cell_rows([None, 2], problem="newyork", placement="", source="4"),
    )
    (row,) = rows_of(report(spec, table, tmp_path), "SPDE, IGP-UCB")

    assert row.endswith("| figure only |")
    assert "| 75 % (" in row
    assert "| 50 % to 100 % |" in row


def test_the_sentences_of_the_paper_are_quoted_with_label_and_verdict(tmp_path):
    text = report(SPEC, both_kernels(ALWAYS, NEVER), tmp_path)

    assert re.search(
        r'- "the SPDE kernel consistently .*" \(`ssec:numerical results`\): \*\*agrees\*\*\.', text
    )


@pytest.mark.parametrize(("design", "lucky", "rate"), [(0.0, 240 + 120, "100 %"), (0.5, 0, "50 %")])
def test_the_report_closes_with_what_counting_the_design_would_change(tmp_path, design, lucky, rate):
    """A design with regret 0 makes every run a success if it counts; without it half of them are."""
    last = report(SPEC, both_kernels(ALWAYS, NEVER, design=design), tmp_path).splitlines()[-1]

    assert f"in {lucky} of 360 runs" in last
    assert last.endswith(f"would be {rate} instead of 50 %.")


def test_figures_in_the_folder_are_linked_with_the_label_of_the_papers(tmp_path):
    (tmp_path / "benchmarks-gp-ts.png").touch()
    text = report(SPEC, both_kernels(), tmp_path)

    assert "[benchmarks-gp-ts](benchmarks-gp-ts.png) ([PDF](benchmarks-gp-ts.pdf))" in text
    assert "`fig:benchmarks_TS` (figure only)" in text


def test_the_same_table_gives_the_same_text(tmp_path):
    first, second = (report(SPEC, both_kernels(), tmp_path) for _ in range(2))

    assert first == second
    assert not re.search(r"\d{4}-\d{2}-\d{2}|\d{2}:\d{2}", first)


@pytest.mark.parametrize("name", ["network", "objectives"])
def test_pictures_have_a_report_without_numbers(name, tmp_path):
    text = report(definition(name).default_spec(), both_kernels()[:0], tmp_path)

    assert TITLES[name] in text
    assert "figure only" in text
    assert "## Numbers" not in text


def test_b_and_the_size_of_the_design_are_columns_where_they_vary(tmp_path):
    table = table_of(
        *(cell_rows([1, 2], b=b) for b in (0.0, 0.5)), cell_rows([1], acquisition="random", b=np.nan)
    )
    of_b = report(Spec("sensitivity-b", b=(0.0, 0.5), tolerance=1e-6, horizon_ucb=10), table, tmp_path)
    sizes = table_of(*(cell_rows([1, 2], n_init=n, max_cell=h) for n in (1, 8) for h in (0.25, 0.5)))
    of_init = report(Spec("sensitivity-init", tolerance=1e-6, horizon_ucb=10), sizes, tmp_path)

    assert "| function | b | method | runs |" in of_b
    assert rows_of(of_b, "| ackley | 0.5 | SPDE, IGP-UCB |")
    assert "| h | N_init | method | runs |" in of_init
    assert rows_of(of_init, "| 0.25 | 8 | SPDE, IGP-UCB |")


def test_effects_are_reported_with_pairs_interval_and_verdict(tmp_path):
    """Twenty pairs, all won by the calibrated preset: 100 points, and 9 queries fewer than the horizon.

    Wilson's upper bound for 0 of 20 is z^2 / (20 + z^2) = 16.1 %, z = 1.96.
    """
    spec = Spec("beyond", horizon_ucb=10, horizon_ts=10, tolerance=1e-6)
    table = table_of(
        cell_rows([None] * 20, acquisition="GP-TS"),
        cell_rows([1] * 20, acquisition="GP-TS", method="ours", preset="calibrated", b=np.nan),
    )
    text = report(spec, table, tmp_path)

    assert "### Against SPDE, GP-TS" in text
    assert rows_of(
        text, "| all landscapes | ours | reach rate, Tol = 1e-06 | 20 | +100.0 | +83.9 to +100.0 | better |"
    )
    assert rows_of(text, "| ours | queries to 0.01 | 20 | -9.0 | -9.0 to -9.0 | better |")
    assert "Our own experiment" in text
