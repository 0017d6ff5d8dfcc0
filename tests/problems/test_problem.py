import pickle
from concurrent.futures import ProcessPoolExecutor
from dataclasses import dataclass, replace
from multiprocessing import get_context

import numpy as np
import pytest
from numpy.testing import assert_allclose, assert_array_equal

import netbo
from netbo import FiniteElementSpace, Matern, MetricGraph, Points
from netbo.errors import ParameterError, PointError
from netbo.problems import (
    ACKLEY,
    Placement,
    Problem,
    SourceInversion,
    composed,
    needle,
    open_rectangle_benchmark,
    random_field,
)


@dataclass(frozen=True)
class Parabola:
    """1 - (z - 1)^2 on an interval."""

    def __call__(self, x):
        return 1 - (x.z - 1) ** 2


def parabola(**changes):
    graph = netbo.interval(3.0)
    fields = {"maximum": 1.0, "maximizers": Points([0], [1.0]), "noise": 0.25}
    return Problem(name="parabola", graph=graph, objective=Parabola(), **(fields | changes))


def every_kind():
    """One problem of each kind, small."""
    graph = netbo.road(9, seed=3)
    space = FiniteElementSpace.build(graph, max_cell=0.3)
    return [
        composed(graph, ACKLEY, np.linspace(-1.0, 2.0, 9), space=space),
        open_rectangle_benchmark(ACKLEY, Placement.INTERIOR),
        SourceInversion(space, source=11).problem(),
        random_field(space, Matern(alpha=1.0, range=1.0), 4),
        needle(graph, width=0.2, space=space),
    ]


def test_a_point_gives_a_number_and_points_an_array():
    problem = parabola()
    x = problem.graph.points(0, [0.0, 1.0, 3.0])

    assert problem(x[2]) == -3.0
    assert isinstance(problem(x[2]), float)
    assert_array_equal(problem(x), [0.0, 1.0, -3.0])
    assert_array_equal(problem.regret(x), [1.0, 0.0, 4.0])
    assert problem.regret(x[2]) == 4.0


def test_measurements_have_the_variance_of_the_noise():
    """20,000 draws: standard errors 0.5/sqrt(n) = 0.0035 and 0.25 sqrt(2/n) = 0.0025; four of each."""
    problem, rng = parabola(), np.random.default_rng(5)
    x = problem.graph.points(0, np.full(20_000, 2.0))
    measured = problem.measure(x, rng)

    assert abs(measured.mean() - 0.0) < 0.014
    assert abs(measured.var() - 0.25) < 0.01
    assert isinstance(problem.measure(x[0], rng), float)
    assert problem.measure(x[0], rng) != problem.measure(x[0], rng)


def test_without_noise_a_measurement_is_the_value():
    problem = parabola(noise=0.0)
    x = problem.graph.points(0, [0.5, 2.5])

    assert_array_equal(problem.measure(x, np.random.default_rng(0)), problem(x))


def test_the_same_generator_measures_the_same():
    problem = parabola()
    x = problem.graph.points(0, [0.5, 2.5])
    first, second = (problem.measure(x, np.random.default_rng(7)) for _ in range(2))

    assert_array_equal(first, second)


def test_candidates_bound_the_regret_from_below():
    """The best of 0, 0.7 and 2 is 0.7, with 1 - 0.3^2."""
    problem = parabola()
    candidates = problem.graph.points(0, [0.0, 0.7, 2.0])
    restricted = problem.on(candidates)

    assert problem.reachable_regret(candidates) == pytest.approx(0.09)
    assert restricted.maximum == pytest.approx(0.91)
    assert_array_equal(restricted.maximizers.z, [0.7])
    assert restricted.regret(candidates).min() == 0.0


@pytest.mark.parametrize("problem", every_kind(), ids=lambda problem: problem.name)
def test_a_problem_survives_pickling(problem):
    copy = pickle.loads(pickle.dumps(problem))
    x = netbo.uniform_points(problem.graph, 50, np.random.default_rng(1))

    assert_array_equal(copy(x), problem(x))
    assert (copy.name, copy.maximum, copy.noise) == (problem.name, problem.maximum, problem.noise)
    assert copy.maximizers == problem.maximizers


def test_a_spawned_process_evaluates_a_problem():
    problem = open_rectangle_benchmark(ACKLEY, Placement.CORNER)
    x = list(problem.maximizers)
    with ProcessPoolExecutor(1, mp_context=get_context("spawn")) as pool:
        values = list(pool.map(problem, x))

    assert_allclose(values, 0.0, atol=1e-15)


@pytest.mark.parametrize("problem", every_kind(), ids=lambda problem: problem.name)
def test_values_agree_at_a_vertex_from_all_its_edges(problem):
    graph = problem.graph
    edges = np.arange(graph.n_edges)
    ends = np.concatenate([graph.tails, graph.heads])
    values = np.concatenate(
        [problem(Points(edges, 0 * graph.lengths)), problem(Points(edges, graph.lengths))]
    )
    spread = [np.ptp(values[ends == vertex]) for vertex in range(graph.n_vertices)]
    near = problem(Points(edges, 1e-9 * graph.lengths))

    assert_allclose(spread, 0.0, atol=1e-12)
    assert_allclose(near, values[: graph.n_edges], atol=1e-6)


@pytest.mark.parametrize("problem", every_kind(), ids=lambda problem: problem.name)
def test_no_value_exceeds_the_known_maximum(problem):
    x = netbo.uniform_points(problem.graph, 20_000, np.random.default_rng(2))

    assert problem(x).max() <= problem.maximum + 1e-14
    assert_allclose(problem.regret(problem.maximizers), 0.0, atol=1e-14)


def test_a_variance_is_finite_and_not_negative():
    for noise in (-0.1, np.inf, np.nan):
        with pytest.raises(
            ParameterError, match=r"noise must be a finite variance, got .*; 0 is a measurement"
        ):
            parabola(noise=noise)


def test_a_problem_needs_a_maximizer():
    with pytest.raises(ParameterError, match=r"a problem needs a maximizer, got none; give one point"):
        parabola(maximizers=Points([], []))


def test_a_maximum_that_is_not_attained_is_refused():
    with pytest.raises(
        ParameterError, match=r"attained at the maximizers, got 1\.0 there and maximum=2\.0; eval"
    ):
        parabola(maximum=2.0)
    with pytest.raises(ParameterError, match=r"attained at the maximizers, got 1\.0 there and maximum=nan"):
        parabola(maximum=np.nan)


def test_the_space_lies_on_the_graph():
    other = FiniteElementSpace.build(netbo.interval(2.0), max_cell=0.5)

    with pytest.raises(
        ParameterError, match=r"space must lie on the graph of the problem, .* length 3, .*build it"
    ):
        parabola(space=other)


def test_a_search_needs_candidates():
    with pytest.raises(ParameterError, match=r"a search needs candidates, got none; pass space\.nodes"):
        parabola().reachable_regret(Points([], []))


def test_points_of_another_network_are_refused():
    x = MetricGraph([0], [1], [2.0]).points(0, 0.5)

    with pytest.raises(PointError, match=r"points must lie on"):
        parabola()(x)


def test_a_changed_problem_is_a_new_one():
    problem = parabola()

    assert replace(problem, noise=0.0).noise == 0.0
    assert problem.noise == 0.25
