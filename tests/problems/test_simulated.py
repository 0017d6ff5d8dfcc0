"""Simulated problems: what is stored is what the simulators say, and the events are where the maxima are."""

import runpy
from pathlib import Path

import numpy as np
import pytest

import netbo
from netbo.errors import ParameterError
from netbo.problems import SUITE, landscapes, suite_problem
from netbo.problems.simulated import POWER, WATER, Scan, read_scan

SIMULATED = [entry for entry in SUITE if entry.is_simulated]
QUICK = ("net1/leak-raw", "net3/leak", "net2/contamination", "cigre-mv/fault")
NEAR = 0.02  # of the network's length
names = pytest.mark.parametrize("entry", SIMULATED, ids=lambda entry: entry.name)
quick_first = pytest.mark.parametrize(
    "entry",
    [
        pytest.param(each, id=each.name, marks=() if each.name in QUICK else pytest.mark.slow)
        for each in SIMULATED
    ],
)


def event(entry):
    """The true place on the network of a problem."""
    recipe, problem = read_scan(entry.name).recipe, entry.build()
    row = list(problem.graph.edge_ids).index(recipe["edge"])
    z = recipe["fraction"] * problem.graph.lengths[row]
    return netbo.Points(np.array([row]), np.array([z]), graph=problem.graph)


@pytest.fixture(scope="module")
def scan_script():
    return runpy.run_path(str(Path(__file__).parents[2] / "benchmarks" / "scan.py"))


def test_there_are_twelve_of_three_kinds_on_eight_networks():
    assert len(SIMULATED) == 12
    assert {entry.network for entry in SIMULATED} == {*WATER, *POWER}


@quick_first
def test_a_scan_is_what_the_simulator_says(entry, scan_script):
    """The event is the one that the name draws; three places are simulated again."""
    recipe, problem = scan_script["recipe_of"](entry), entry.build()
    misfit = scan_script["misfit_of"](recipe)
    values, starts = problem.objective.values, problem.objective.starts
    rows = np.array([np.argmax(values), *np.random.default_rng(1).integers(len(values), size=2)])
    edges = np.searchsorted(starts, rows, side="right") - 1
    shares = (rows - starts[edges]) / (starts[edges + 1] - starts[edges] - 1)
    again = [
        -misfit.at(problem.graph.edge_ids[edge], share) for edge, share in zip(edges, shares, strict=True)
    ]
    stored = np.concatenate([read_scan(entry.name).rms[str(each)] for each in problem.graph.edge_ids])[rows]

    assert recipe == read_scan(entry.name).recipe
    np.testing.assert_allclose(stored, again, rtol=1e-4)


@names
def test_the_maximum_is_where_the_event_is(entry):
    """Errors of the instruments move it; where no logger is near, as in Net2, by up to 200 m."""
    problem, truth = entry.build(), event(entry)
    off = problem.graph.distance(truth, problem.maximizers).min()

    assert off < NEAR * problem.graph.total_length


@names
def test_most_of_the_network_is_well_below_the_maximum(entry):
    """By more than 1 % of the spread; what is not there is where the event is hard to tell from others."""
    problem = entry.build()
    x = netbo.uniform_points(problem.graph, 4000, np.random.default_rng(2))

    assert np.mean(problem.regret(x) < 0.01 * problem.spread) < 0.25


def test_raw_problems_are_log_likelihoods_and_the_others_logarithms():
    raw, other = suite_problem("net1/leak-raw"), suite_problem("net1/leak")
    n_readings = len(read_scan(raw.name).recipe["instruments"])
    lowest = [min(map(min, read_scan(each.name).rms.values())) for each in (raw, other)]

    assert raw.build().maximum == pytest.approx(-n_readings * lowest[0] ** 2 / 2)
    assert other.build().maximum == pytest.approx(-np.log(lowest[1]))


def test_a_scan_of_another_network_is_refused():
    scan = Scan({"name": "net1/leak", "network": "net1"}, {"10": [1.0, 2.0, 3.0]})

    with pytest.raises(
        ParameterError, match=r"must fit the network net1 .* got 1 edges for 12 or other lengths"
    ):
        scan.problem(landscapes.network("net1"), np.log)
