from collections import Counter

import pytest

from netbo.experiments.claims import _CHECKS
from netbo.experiments.printed import B_TABLES, REPETITIONS, SENTENCES, printed_cell, sentences


@pytest.mark.parametrize("cell", B_TABLES, ids=str)
def test_every_printed_rate_is_a_count_of_60_runs(cell):
    """A mistyped rate would most likely be no multiple of 1/60 rounded to 0.1 %."""
    assert abs(cell.reached / REPETITIONS - cell.reach_rate) <= 0.0005 + 1e-12


@pytest.mark.parametrize("cell", B_TABLES, ids=str)
def test_every_printed_mean_is_a_whole_number_of_iterations_over_the_successful_runs(cell):
    """Sum = mean times successes must be a whole number up to the rounding of the mean to 0.01."""
    total = cell.mean_iterations * cell.reached

    assert abs(total - round(total)) <= 0.005 * cell.reached + 1e-9


def test_both_tables_have_three_functions_five_b_and_two_kernels():
    counts = Counter((cell.label, cell.problem, cell.kernel) for cell in B_TABLES)

    assert len(B_TABLES) == 60
    assert set(counts.values()) == {5}
    assert {cell.b for cell in B_TABLES} == {0.0, 0.05, 0.1, 0.2, 0.5}
    assert {cell.label for cell in B_TABLES} == {
        "tab:benchmarks_IGP-UCB_b_sensitivity",
        "tab:benchmarks_GP-TS_b_sensitivity",
    }


@pytest.mark.parametrize(
    ("acquisition", "problem", "kernel", "b", "rate", "iterations"),
    [
        ("IGP-UCB", "ackley", "SPDE", 0.0, 1.0, 4.27),
        ("IGP-UCB", "levy", "Euclidean nu=1/2", 0.05, 0.05, 11.33),
        ("GP-TS", "rastrigin", "SPDE", 0.5, 0.95, 11.05),
        ("GP-TS", "levy", "Euclidean nu=1/2", 0.5, 0.017, 1.0),
    ],
)
def test_printed_numbers_are_found_by_their_labels(acquisition, problem, kernel, b, rate, iterations):
    cell = printed_cell(acquisition, problem, kernel, b)

    assert (cell.reach_rate, cell.mean_iterations) == pytest.approx((rate, iterations))


@pytest.mark.parametrize(
    ("kernel", "b"), [("Euclidean nu=3/2", 0.0), ("SPDE", 0.3), ("SPDE", float("nan")), ("none", 0.0)]
)
def test_nothing_is_printed_for_what_the_paper_does_not_have(kernel, b):
    assert printed_cell("IGP-UCB", "ackley", kernel, b) is None


def test_every_sentence_has_one_check_and_every_check_a_sentence():
    keys = [each.key for each in SENTENCES]

    assert sorted(keys) == sorted(_CHECKS)


def test_experiments_of_our_own_have_no_sentences():
    assert sentences("placement") == sentences("beyond") == ()
    assert len(sentences("inversion")) == 3
