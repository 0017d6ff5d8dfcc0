"""What the leaderboard compares: ways written out stay as they were, other tools ask and tell."""

import importlib
import itertools
import sys
from pathlib import Path

import numpy as np
import pytest

import netbo
from netbo.experiments import Comparison, compare
from netbo.problems import SUITE, Problem, suite_problem

OPEN = next(each.name for each in SUITE if not each.is_locked and each.network.startswith("tree"))
BENCHMARKS = Path(__file__).parents[2] / "benchmarks"
ASKED = {  # after the design, by the default of the commit on which the old default was written out
    0.0: [(0, 16.524), (2, 18.282), (4, 7.285), (2, 26.916), (2, 19.633), (2, 5.218)],
    0.01: [(1, 1.865), (1, 2.992), (1, 1.218), (1, 1.481), (2, 2.962), (1, 2.008)],
    None: [(1, 1.857), (1, 1.654), (4, 1.008), (1, 1.466), (2, 2.962), (1, 0.857)],
}


@pytest.fixture
def benchmark_module(monkeypatch):
    monkeypatch.syspath_prepend(str(BENCHMARKS))
    before = set(sys.modules)
    yield importlib.import_module
    for name in {"ways", "leaderboard", "record", "leaderboard_tables"} - before:
        sys.modules.pop(name, None)


class Waves:
    def __call__(self, x):
        return np.sin(0.3 * x.z + x.edge) + 0.1 * x.edge


def waves(graph):
    """A problem of which only network and values matter."""
    best = graph.points(0, 0.0)
    return Problem("waves", graph, Waves(), float(Waves()(best)[0]), best)


def asked(optimizer, noise):
    """Places after the design of 8, as edge and distance."""
    rng, graph, places = np.random.default_rng(0), optimizer.graph, []
    for _ in range(14):
        suggestion = optimizer.ask()
        point = netbo.Points.at(suggestion.point, graph=graph)
        places.append((int(point.edge[0]), float(point.z[0])))
        error = 0.1 * rng.standard_normal() * (noise != 0)
        optimizer.tell(suggestion, float(Waves()(point)[0]) + error)
    return places[8:]


def test_a_network_without_a_drawing_is_laid_out_for_ways_that_see_coordinates(benchmark_module):
    """The printed algorithms start with a maximin design in the plane; points are those of the network."""
    graph = netbo.MetricGraph([0, 1, 1], [1, 2, 3], [4.0, 3.0, 5.0])
    ways, line = benchmark_module("ways"), netbo.star(3)
    place = ways.paper(waves(graph), 0, 0.0).ask().point

    assert ways.drawn(line) is line
    assert graph.bind(netbo.Points.at(place, graph=ways.drawn(graph))).graph is graph
    assert ways.drawn(graph).dimension == 2


@pytest.mark.parametrize("noise", ASKED)
def test_the_old_default_asks_what_it_always_asked(noise, benchmark_module):
    """Its options are written out, so a new default does not change what it is compared with."""
    graph = netbo.open_rectangle() if noise == 0 else netbo.star(5, length=3.0)
    places = asked(benchmark_module("ways").old_default(waves(graph), 3, noise), noise)

    assert [edge for edge, _ in places] == [edge for edge, _ in ASKED[noise]]
    np.testing.assert_allclose([z for _, z in places], [z for _, z in ASKED[noise]], atol=1e-3)


def test_ways_of_the_leaderboard_ask_and_tell(benchmark_module):
    ways = benchmark_module("ways")
    methods = {name: getattr(ways, name) for name in ("noisy_ei", "data_blind", "RandomSearch", "OptunaTpe")}
    found = compare(methods, [OPEN], repetitions=1, budget=12)

    assert found.methods == list(methods)
    assert len(found.table) == 4 * 12


def test_an_ablation_leaves_out_one_part_each(benchmark_module):
    """The kernels, the search space, the rule or the design: no two ways are the same."""
    board = benchmark_module("leaderboard")
    problem, made = suite_problem(OPEN).build(), []
    for way in map(board.method_of, board.ABLATION.values()):
        found = way(problem, 0, 0.01) if callable(way) else netbo.Optimizer(problem.graph, noise=0.01, **way)
        made.append((found.fit.models, type(found.search), found.acquisition, found.design))

    assert all(one != other for one, other in itertools.combinations(made, 2))


def test_optuna_learns_from_places_that_were_given(benchmark_module):
    ways = benchmark_module("ways")
    found = compare({"tpe": ways.OptunaTpe}, [OPEN], repetitions=1, budget=6, shared=4)

    assert len(found.table) == 6


def test_problems_of_slow_peers_are_chosen_by_hash_and_hold_simulated_ones(benchmark_module):
    """Nobody picked them by results."""
    board = benchmark_module("leaderboard")
    chosen = board.peer_problems()

    assert len(chosen) == 12
    assert sum(each.is_simulated for each in chosen) == 3


def test_a_part_is_kept_method_by_method_and_shown_in_tables(tmp_path, monkeypatch, benchmark_module):
    board, tables = benchmark_module("leaderboard"), benchmark_module("leaderboard_tables")
    for methods in (["random"], ["Optuna TPE", "default"]):
        words = ["ours", "--only", *methods, "--problem", OPEN, "--seeds", "2", "--budget", "12"]
        folders = ["--work", str(tmp_path / "work"), "--out", str(tmp_path / "records")]
        monkeypatch.setattr(sys, "argv", ["leaderboard.py", *words, *folders])
        board.main()
    found = Comparison.read(tmp_path / "records")
    shown = {name: tables.table(name, tmp_path / "records") for name in tables.TABLES}

    assert sorted(found.methods) == ["Optuna TPE", "default", "random"]
    assert all(shown[name].startswith("| ") for name in ("all", "duels", "random", "problems", "parts"))
    assert shown["all"].count("\n") == 4
    assert OPEN in shown["problems"]
    assert shown["simulators"] == tables.NOT_YET
