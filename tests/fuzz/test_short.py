"""A few seconds of the fuzz; `make fuzz` runs the rest."""

from fuzz import arguments, files, numbers


def test_random_graphs_and_data_agree_with_arbitrary_precision():
    wrong = [f"{case}: {found}" for case, found in numbers.wrong_cases(150, seed=2026)]

    assert not wrong


def test_extreme_cases_are_right_to_1e_6_or_say_that_they_are_not():
    """Lengths from 1e-12 to 1e12, noise down to 1e-12, points within 1e-10 of a vertex."""
    silent = [f"{case}: {found}" for case, found, is_said in numbers.extreme_cases(200, 3) if not is_said]

    assert not silent


def test_bad_arguments_end_in_a_sentence_and_change_nothing():
    assert not arguments.wrong_cases(800, seed=2026)


def test_the_functions_that_no_bad_argument_reaches_are_few():
    """Helpers between the layers and figures; a new public function belongs into the table of good calls."""
    assert set(arguments.unknown_functions()) <= arguments.LEFT_OUT


def test_hostile_and_damaged_files_are_harmless():
    assert not files.wrong_files(14, seed=2026, names=1)
