"""The benchmarks of speed run, on the smallest meshes; tables and picture can be made of what they write."""

import importlib
import sys
from pathlib import Path

import pytest

BENCHMARKS = Path(__file__).parents[2] / "benchmarks"
OWN = {"core", "growth", "long_runs", "peer_times", "record", "rivals", "searches", "speed_tables", "start"}
OWN |= {"newcomer", "targets", "threads", "timing", "ways"}


@pytest.fixture
def benchmark_module(monkeypatch):
    monkeypatch.syspath_prepend(str(BENCHMARKS))
    for name in ("NUMBA_NUM_THREADS", "OMP_NUM_THREADS", "OPENBLAS_NUM_THREADS", "MKL_NUM_THREADS"):
        monkeypatch.setenv(name, "1")
    before = set(sys.modules)
    yield importlib.import_module
    for name in OWN - before:
        sys.modules.pop(name, None)


@pytest.fixture
def make(benchmark_module, monkeypatch, tmp_path):
    """Run a benchmark as a program, with options, into a folder."""

    def run(name, *options, **constants):
        module = benchmark_module(name)
        for constant, value in constants.items():
            monkeypatch.setattr(module, constant, value)
        arguments = [f"{name}.py", *options, "--out", str(tmp_path / f"{name}.json")]
        monkeypatch.setattr(sys, "argv", arguments)
        module.main()

    return run


def lines_of(text):
    """Cells of a table in Markdown without its head."""
    return [[cell.strip() for cell in line.strip("|").split("|")] for line in text.splitlines()[2:]]


def test_tables_and_picture_are_made_of_what_the_benchmarks_write(make, benchmark_module, tmp_path):
    """Every table, with the figures of the records; tools that are not installed are named."""
    searches = benchmark_module("searches")

    def three_turns(space, preset, n):
        return searches.milliseconds(space, preset, 3)

    quick = {"compile_kernels": lambda: None}
    make(
        "targets",
        "--turns",
        "3",
        "--largest",
        "300",
        minima=lambda actions, _: dict.fromkeys(actions, 1e-4),
        **quick,
    )
    make("growth", "--largest", "3000", FIRST=300, memory=lambda *_: 0.25, milliseconds=three_turns, **quick)
    make("threads", "--nodes", "3000", TRIAD=3_000)
    make("long_runs", "--turns", "40", **quick)
    make("rivals", "--largest", "300", "--budget", "0.01", bandwidth=lambda: 1e10)
    make("peer_times", "--only", "netbo, GP-TS", "--only", "Optuna TPE", SIZES=(300,), TURNS=2)
    make("start", "--repeats", "1", PROGRAMS={"posterior": "pass"})
    drawn = [sys.executable, "-c", "open('roads.png', 'wb').write(bytes(20_000))"]
    make("newcomer", steps=lambda *_: {"clone": ["true"], "picture": drawn, "second picture": drawn})
    tables = benchmark_module("speed_tables")
    shown = {name: lines_of(tables.table(name, tmp_path)) for name in [*tables.TABLES, "machine"]}

    assert [row[3] for row in shown["targets"]] == ["GP-TS", "default", "likelihood and gradient"]
    assert all(row[7] in ("yes", "no") for row in shown["targets"])
    assert [row[:2] for row in shown["asks"]] == [row[:2] for row in shown["growth"]]
    assert [row[5] for row in shown["growth"]] == ["0.25"] * 4
    assert [row[0] for row in shown["threads"]] == ["rectangle", "road", "STREAM triad"]
    assert [row[:2] for row in shown["long runs"][:2]] == [["GP-TS", "optimizer"], ["GP-TS", "study"]]
    assert shown["rivals"][0][3] == "0.0072"  # 30 numbers a node at 10 GB/s
    assert [row[0] for row in shown["peers"]] == ["netbo, GP-TS", "Optuna TPE"]
    assert [row[:2] for row in shown["starts"]] == [["posterior", "cold"], ["posterior", "warm"]]
    walked = {step: float(seconds) for step, seconds in shown["newcomer"]}
    assert walked["from clone to picture"] == pytest.approx(walked["clone"] + walked["picture"], abs=0.02)
    assert len(shown["machine"]) == len(tables.RECORDS)

    tables.draw(tmp_path, tmp_path / "speed.png")
    assert (tmp_path / "speed.png").stat().st_size > 10_000


def test_other_ways_have_the_same_posterior_mean(benchmark_module):
    """On a small mesh, where the precision matrix has its digits."""
    rivals = benchmark_module("rivals")
    case = rivals.Case("rectangle", 300)
    ours = case.mean(exact=False)

    for way in (rivals.superlu, rivals.dense):
        assert way(case, case.precision())[1] == pytest.approx(ours, rel=1e-6, abs=1e-8)


def test_a_tool_that_is_missing_or_too_large_is_left_out_with_the_reason(
    benchmark_module, monkeypatch, capsys
):
    def missing(problem, space):
        raise ModuleNotFoundError("No module named 'boats'", name="boats")

    peers = benchmark_module("peer_times")
    monkeypatch.setattr(peers, "SIZES", (300,))
    monkeypatch.setattr(peers, "WAYS", {"boats": (missing, 0), "huge": (missing, 10**12)})

    assert peers.measure("boats")[0]["not run"] == "not installed: boats"
    assert "make peers" in capsys.readouterr().out
    assert peers.measure("huge")[0]["not run"].startswith("1000000000000 matrices of")


def test_without_records_a_table_says_so(benchmark_module, tmp_path):
    tables = benchmark_module("speed_tables")

    assert {tables.table(name, tmp_path) for name in [*tables.TABLES, "machine"]} == {tables.NOT_YET}
