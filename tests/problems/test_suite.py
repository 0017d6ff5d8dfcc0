"""The suite: every maximum is known, everything random comes from a name, twenty problems are locked."""

import hashlib

import numpy as np
import pytest

import netbo
from netbo import problems
from netbo.problems import SUITE, landscapes, suite_problem
from netbo.problems.problem import edgewise_places

names = pytest.mark.parametrize("entry", SUITE, ids=lambda entry: entry.name)


def test_there_are_sixty_problems_each_with_a_name_of_its_own():
    assert len({entry.name for entry in SUITE}) == len(SUITE) == 60


def test_the_twenty_problems_with_the_smallest_hashes_are_locked():
    digests = sorted(hashlib.sha256(entry.name.encode()).hexdigest() for entry in SUITE)
    locked = [entry for entry in SUITE if entry.is_locked]

    assert len(locked) == 20
    assert {hashlib.sha256(entry.name.encode()).hexdigest() for entry in locked} == set(digests[:20])


@names
def test_no_place_is_better_than_the_known_maximum(entry):
    """At places between and beside those by which the landscape was made."""
    problem = entry.build()
    x = netbo.uniform_points(problem.graph, 3000, np.random.default_rng(0))
    dense, _ = edgewise_places(problem.graph, problem.graph.total_length / 777)

    assert problem.spread > 0
    assert max(problem(x).max(), problem(dense).max()) <= problem.maximum + 1e-9 * problem.spread


@names
def test_noise_is_a_share_of_the_spread(entry):
    problem = entry.build()

    assert problem.noise == pytest.approx((entry.noise * problem.spread) ** 2)


def test_a_problem_is_the_same_whenever_it_is_built(monkeypatch):
    entry = suite_problem("road-50/plateaus")
    first = entry.build()
    problems.suite._built.cache_clear()
    landscapes.network.cache_clear()
    again = entry.build()
    x = netbo.uniform_points(first.graph, 50, np.random.default_rng(1))

    assert again is not first
    np.testing.assert_array_equal(again.objective(again.graph.bind(x)), first(x))


def test_an_unknown_name_is_refused_with_some_that_are_known():
    with pytest.raises(netbo.errors.ParameterError, match=r"got 'road/needle'; try 'open-rectangle/"):
        suite_problem("road/needle")


def test_edgewise_problems_jump_where_edges_meet():
    problem = suite_problem("wheel/jumps").build()
    graph = problem.graph
    at_centre = netbo.Points(np.arange(3), np.zeros(3), graph=graph)  # three spokes begin at vertex 0

    assert set(graph.tails[:3]) == {0}
    assert np.ptp(problem(at_centre)) > 0.01


def test_an_edgewise_function_is_linear_between_its_places():
    graph = netbo.star(3)
    problem = problems.edgewise_problem("wave", graph, lambda x: np.sin(5 * x.z) * (1 + x.edge), max_cell=0.1)
    ends = netbo.Points(np.array([2, 2]), np.array([0.2, 0.3]), graph=graph)
    between = netbo.Points(np.array([2]), np.array([0.225]), graph=graph)

    assert problem(between)[0] == pytest.approx([0.75, 0.25] @ (3 * np.sin(5 * ends.z)))


def test_a_plume_keeps_its_mass_but_for_decay():
    """At a confluence loads add up: concentration times flow, flow the number of springs above."""
    graph = landscapes.network("river")
    plume = landscapes.plume(graph, 5)
    springs = {edge: _springs(graph, edge) for edge in range(graph.n_edges)}
    ends = plume.inflow * np.exp(-plume.decay * graph.lengths)
    clean = 0
    for edge in range(graph.n_edges):
        above = np.flatnonzero(graph.heads == graph.tails[edge])
        mixed = sum(ends[each] * springs[each] for each in above)
        let_in = plume.inflow[edge] * springs[edge] - mixed
        clean += abs(let_in) < 1e-9

        assert let_in > -1e-9
    assert clean == graph.n_edges - 3  # three reaches are let into


def _springs(graph, edge):
    above = np.flatnonzero(graph.heads == graph.tails[edge])
    return sum(_springs(graph, each) for each in above) if len(above) else 1
