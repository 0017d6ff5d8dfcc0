"""Searches and their scores."""

from functools import partial

import numpy as np
import pytest
from numpy.testing import assert_allclose, assert_array_equal

from netbo.experiments.demo import (
    METHODS,
    NETWORK,
    RANDOM,
    Run,
    Score,
    Task,
    pose_rectangle,
    resume,
    search,
    search_all,
    start,
)
from netbo.problems import Placement

POSE = partial(pose_rectangle, Placement.INTERIOR, 2.0)


def run_with(regret):
    return Run(Task(POSE, RANDOM, 0, len(regret)), None, None, np.array(regret))


def test_regret_is_that_of_the_best_place_so_far_without_noise():
    run, problem = search(Task(POSE, RANDOM, 5, 20)), POSE()
    each = [problem.maximum - problem(point) for point in run.points]

    assert_allclose(run.regret, [min(each[: i + 1]) for i in range(20)], atol=1e-15)


def test_methods_meet_the_same_measurement_errors():
    problem = POSE()
    errors = []
    for method in METHODS:
        run = search(Task(POSE, method, 2, 9))
        errors.append(run.values - problem(run.points))

    assert_allclose(errors, [errors[0]] * 3, atol=1e-12)


def test_both_priors_begin_with_the_same_places():
    first, second = (search(Task(POSE, method, 2, 9)) for method in METHODS[:2])

    assert_array_equal(first.points.edge[:8], second.points.edge[:8])
    assert_array_equal(first.points.z[:8], second.points.z[:8])


def test_a_run_resumed_knows_what_the_run_knew():
    """The posterior depends on the data and their order alone, not on who asked for them."""
    problem, task, rng = POSE(), Task(POSE, NETWORK, 1, 11), np.random.default_rng(1)
    optimizer = start(problem, task)
    for _ in range(11):
        suggestion = optimizer.ask()
        optimizer.tell(suggestion, problem.measure(suggestion.point, rng))
    resumed, nodes = resume(POSE(), search(task)).posterior, problem.space.nodes

    assert_allclose(resumed.mean(nodes), optimizer.posterior.mean(nodes), rtol=1e-8)
    assert_allclose(resumed.std(nodes), optimizer.posterior.std(nodes), rtol=1e-8)


def test_workers_find_what_one_process_finds():
    """Places of random search are compared: they depend on no rounding."""
    tasks = [Task(POSE, RANDOM, seed, 10) for seed in range(3)]
    alone = search_all(tasks, is_parallel=False, progress=lambda: None)
    done = []
    together = search_all(tasks, is_parallel=True, progress=lambda: done.append(1))

    assert len(done) == 3
    for one, other in zip(alone, together, strict=True):
        assert_array_equal(one.points.z, other.points.z)
        assert_allclose(one.regret, other.regret, rtol=1e-12)


@pytest.mark.parametrize(
    ("curves", "score"),
    [
        ([[0.5, 0.01, 0.01]], Score(regret=0.01, found=1, runs=1, needed=2.0)),
        ([[0.5, 0.4, 0.0], [0.0, 0.0, 0.0], [0.9, 0.9, 0.8]], Score(0.0, 2, 3, 3.0)),
        ([[0.0, 0.0], [0.9, 0.8]], Score(0.4, 1, 2, np.inf)),
    ],
)
def test_runs_that_never_find_the_maximum_count_as_infinite(curves, score):
    assert Score.of([run_with(curve) for curve in curves]) == score
