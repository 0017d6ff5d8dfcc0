"""A few seconds of the fuzz; `make fuzz` runs the rest."""

from fuzz import numbers


def test_random_graphs_and_data_agree_with_arbitrary_precision():
    wrong = [f"{case}: {found}" for case, found in numbers.wrong_cases(150, seed=2026)]

    assert not wrong
