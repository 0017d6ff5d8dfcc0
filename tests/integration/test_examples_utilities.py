"""The examples on water, power and telecommunication: what they find, against the truth they hide."""

import runpy
import struct
from pathlib import Path

import matplotlib
import numpy as np
import pytest

import netbo

matplotlib.use("Agg")

EXAMPLES = Path(__file__).parents[2] / "examples"
# pandapower's stored nets are older than its tables; topohub leaves its files to the garbage collector
pytestmark = [
    pytest.mark.filterwarnings("ignore:tap_dependency_table is missing:DeprecationWarning"),
    pytest.mark.filterwarnings("ignore:unclosed file:ResourceWarning"),
    pytest.mark.filterwarnings("ignore::netbo.errors.NetworkWarning"),  # true, and not the point here
]


def load(name):
    return runpy.run_path(str(EXAMPLES / name))


def png_size(path):
    """Width and height in pixels, from the header."""
    head = path.read_bytes()[:24]
    assert head[:8] == b"\x89PNG\r\n\x1a\n"
    return struct.unpack(">II", head[16:24])


def scan(misfit, graph, n=41):
    """The largest score over three places of every edge, then over n places of the five best edges."""
    coarse = {edge: max(misfit.at(edge, x) for x in (0.1, 0.5, 0.9)) for edge in graph.edge_ids}
    best = sorted(coarse, key=coarse.get)[-5:]
    fine = {(edge, x): misfit.at(edge, x) for edge in best for x in np.linspace(0, 1, n)}
    return max(fine.items(), key=lambda item: item[1])


def test_the_leak_in_net3_is_found_and_its_pipe_named(tmp_path, capsys):
    """Sixty simulations on 66 km of pipe: the right pipe, within 50 m."""
    picture = tmp_path / "new folder" / "picture.png"
    example = load("05_leak_in_net3.py")
    answer = example["main"](picture)
    printed = capsys.readouterr().out
    (pipe, fraction), found = example["LEAK"], answer.result.recommend().point

    assert found.edge_id == pipe
    assert answer.metres_off < 50.0
    assert answer.metres_off == pytest.approx(
        abs(found.distance - fraction * found.distance / found.fraction)
    )
    assert abs(answer.score_of_truth) < 0.4  # errors of about a standard deviation
    assert abs(answer.score - answer.score_of_truth) < 0.05
    assert answer.flow == pytest.approx(example["FLOW"], rel=0.05)
    assert "the drawing is schematic" in printed
    assert f"recommended: pipe {pipe}, " in printed
    assert min(png_size(picture)) >= 600


def test_the_fault_in_mv_oberrhein_is_found_and_its_line_named(tmp_path, capsys):
    """Forty simulations on 109 km of line: the right line, within 50 m."""
    picture = tmp_path / "picture.png"
    example = load("06_fault_on_a_line.py")
    answer = example["main"](picture)
    printed = capsys.readouterr().out
    (line, _), found = example["FAULT"], answer.result.recommend().point

    assert found.edge_id == line
    assert answer.metres_off < 50.0
    assert abs(answer.score - answer.score_of_truth) < 0.1
    assert "lines with an open switch (8, 23, 31, 66, 88, 188): detached at that end" in printed
    assert f"recommended: line {line}, " in printed
    assert min(png_size(picture)) >= 600


def test_the_source_in_new_york_is_found(tmp_path, capsys):
    """Forty of 262 nodes evaluated; enumerating all of them finds no better one."""
    picture = tmp_path / "picture.png"
    example = load("07_new_york_telecom.py")
    answer = example["main"](picture)
    printed = capsys.readouterr().out
    everywhere = answer.problem(answer.problem.space.nodes)

    assert answer.result.best().value == pytest.approx(everywhere.max(), abs=1e-9)
    assert answer.regret == pytest.approx(0.0, abs=1e-9)
    assert answer.distance_off == pytest.approx(0.0, abs=1e-9)
    assert len(answer.result.history) == example["BUDGET"]
    assert "pixels of a picture" in printed
    assert min(png_size(picture)) >= 500


@pytest.mark.slow
def test_no_place_explains_the_night_better_than_the_leak_that_was_found():
    """A scan of all pipes: the best place is on the pipe of the leak, and the search has its score."""
    example = load("05_leak_in_net3.py")
    network = netbo.read(example["NET3"])
    misfit = example["read_the_loggers"](seed=0)
    result = netbo.maximize(misfit, network, budget=example["BUDGET"], noise=0.0, seed=0)
    (pipe, fraction), score = scan(misfit, network.graph)

    assert pipe == example["LEAK"][0]
    assert fraction == pytest.approx(example["LEAK"][1], abs=0.1)
    assert result.best().value == pytest.approx(score, abs=0.01)


@pytest.mark.slow
def test_no_place_explains_the_meters_better_than_the_fault_that_was_found():
    """A scan of all lines: the best place is on the line of the fault, and the search has its score."""
    example = load("06_fault_on_a_line.py")
    net = example["oberrhein"]()
    network = netbo.read(net)
    misfit = example["read_the_meters"](net, seed=0)
    result = netbo.maximize(misfit, network, budget=example["BUDGET"], noise=0.0, seed=0)
    (line, fraction), score = scan(misfit, network.graph)

    assert line == example["FAULT"][0]
    assert fraction == pytest.approx(example["FAULT"][1], abs=0.1)
    assert result.best().value == pytest.approx(score, abs=0.02)
