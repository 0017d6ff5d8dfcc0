"""Whatever an objective does, it ends in a value or in a reason."""

import pytest

from netbo.errors import ParameterError
from netbo.studies import Evaluator, StudyError
from netbo.studies.evaluation import evaluator
from support.objectives import sometimes_unreadable
from support.studies import (
    GRAPH,
    endless,
    hangs,
    hangs_on_the_first_edge,
    height,
    not_a_number,
    raises,
    raises_says_text_or_dies,
    says_text,
    with_negative_noise,
    with_noise,
)

POINT = GRAPH.points(1, 0.5)[0]
REASONS = [
    (raises, "RuntimeError: no signal at 0.5"),
    (not_a_number, "the objective returned nan"),
    (endless, "the objective returned inf"),
    (
        says_text,
        "the objective must return a number or a pair (value, noise variance), got '1.5' of type str",
    ),
    (with_negative_noise, "a noise variance must be positive, got -1.0"),
]


@pytest.mark.parametrize(("objective", "reason"), REASONS)
def test_what_is_no_value_has_a_reason(objective, reason):
    found = Evaluator(objective)(POINT)

    assert found.value is None
    assert reason in found.note


@pytest.mark.parametrize("timeout", [None, 60.0])
def test_an_answer_that_raises_is_a_failure_here_and_in_a_process_of_its_own(timeout):
    with evaluator(sometimes_unreadable, timeout=timeout) as evaluate:
        found = [evaluate(point) for point in GRAPH.points([0, 0, 0], [0.1, 1.9, 1.0])]

    assert [each.value is None for each in found] == [True, True, False]
    assert "could not be read as one (OverflowError)" in found[0].note
    assert "could not be read as one (RuntimeError)" in found[1].note


def test_a_value_may_bring_its_noise():
    assert (Evaluator(with_noise)(POINT).value, Evaluator(with_noise)(POINT).noise) == (height(POINT), 0.04)
    assert Evaluator(height)(POINT).noise is None


def test_in_a_process_of_its_own_an_objective_that_hangs_is_killed_and_the_next_one_is_served():
    with evaluator(hangs_on_the_first_edge, timeout=0.3) as evaluate:
        late = evaluate(GRAPH.points(0, 0.5)[0])
        evaluate.timeout = 60.0  # what works must be served on a busy machine too
        after = evaluate(POINT)

    assert (late.value, late.note) == (None, "timeout: no value within 0.3 seconds")
    assert after.value == height(POINT)


def test_in_a_process_of_its_own_text_exceptions_and_death_have_their_reasons():
    with evaluator(raises_says_text_or_dies, timeout=60.0) as evaluate:
        found = [evaluate(point) for point in GRAPH.points([0, 1, 2], [0.5, 0.5, 0.5])]

    assert [evaluation.value for evaluation in found] == [None, None, None]
    assert REASONS[0][1] in found[0].note
    assert REASONS[3][1] in found[1].note
    assert found[2].note == "the process of the objective ended with exit code 3"


def test_a_timeout_needs_an_objective_that_can_be_imported():
    with pytest.raises(ParameterError, match="worker processes must be able to import the objective"):
        Evaluator(lambda point: 1.0, timeout=1.0)
    with pytest.raises(StudyError, match="timeout must be a positive number of seconds"):
        Evaluator(hangs, timeout=0)
