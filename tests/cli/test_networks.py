"""The commands for a network of one's own: what they print and write, how they go on, what they refuse."""

import json
import os

import numpy as np
import pandas as pd
import pytest
from click.testing import CliRunner

import netbo
from netbo.adapters.netbo_json import write_network
from netbo.cli import main
from netbo.cli.record import COLUMNS
from netbo.optimize import Status

LEAK = ("west", 3.2)
OBJECTIVES = """
import os
from math import exp
from pathlib import Path

CALLS = Path("calls.txt")

def loudness(place):
    "Loudest on west, 3.2 from its start; 3 from there to the middle."
    count = int(CALLS.read_text()) if CALLS.exists() else 0
    if count == int(os.environ.get("INTERRUPT_AT", -1)):
        raise KeyboardInterrupt
    CALLS.write_text(str(count + 1))
    if place.edge_id == "west":
        return 30 * exp(-abs(place.distance - 3.2))
    return 30 * exp(-3.2 - (place.distance if place.edge_id == "east" else 4.0 - place.distance))

def broken(place):
    raise RuntimeError("no\\nreading")

def sometimes(place):
    if place.edge_id == "main":
        raise RuntimeError("no\\nreading")
    return loudness(place)

limit = 3
"""


def pipes() -> netbo.MetricGraph:
    places = [(0.0, 0.0), (4.0, 0.0), (4.0, 3.0), (9.0, 0.0)]
    return netbo.MetricGraph(
        [0, 1, 1], [1, 2, 3], [4.0, 3.0, 5.0], edge_ids=["main", "east", "west"], positions=places, unit="km"
    )


@pytest.fixture
def here(tmp_path, monkeypatch):
    """A folder with a network and a module of objectives, where the user stands."""
    monkeypatch.chdir(tmp_path)
    monkeypatch.delenv("INTERRUPT_AT", raising=False)
    write_network(pipes(), tmp_path / "pipes.json")
    (tmp_path / "sound.py").write_text(OBJECTIVES)
    yield tmp_path
    import sys

    sys.modules.pop("sound", None)
    sys.path[:] = [each for each in sys.path if each != str(tmp_path)]


def run(*arguments):
    return CliRunner().invoke(main, [str(each) for each in arguments])


def search(out="run", budget=12, **options):
    given = {"objective": "sound:loudness", "noise": 0, "budget": budget, "out": out, **options}
    return run("maximize", "pipes.json", *[f"--{name}={value}" for name, value in given.items()])


def places(folder) -> list[tuple[str, str]]:
    table = pd.read_csv(folder / "observations.csv", dtype=str)
    return list(zip(table["edge"], table["z"], strict=True))


def test_inspect_prints_what_the_network_is_like(here):
    shown = run("inspect", "pipes.json")

    assert shown.exit_code == 0
    for part in ("12 km", "3 edges", "components      1: every place"):
        assert part in shown.stdout
    told = json.loads(run("inspect", "pipes.json", "--json").stdout)
    assert told["total_length"] == 12.0


def test_a_search_finds_the_place_and_leaves_everything_behind(here):
    shown = search(budget=20)

    assert shown.exit_code == 0, shown.stderr
    assert "stopped    the budget of 20 evaluations is spent" in shown.stdout
    for name in ("observations.csv", "table.csv", "map.png", "convergence.png", "map.gpkg", "report.html"):
        assert (here / "run" / name).stat().st_size > 0
    table = pd.read_csv(here / "run" / "observations.csv")
    assert tuple(table.columns) == COLUMNS
    best = table.loc[table["value"].idxmax()]
    assert best["edge"] == "west"
    assert best["distance"] == pytest.approx(3.2, abs=0.2)


def test_a_search_that_was_broken_off_goes_on_as_if_nothing_had_happened(here, monkeypatch):
    search("whole", budget=14)
    (here / "calls.txt").unlink()
    monkeypatch.setenv("INTERRUPT_AT", "6")
    search("broken", budget=14)
    before = places(here / "broken")
    monkeypatch.delenv("INTERRUPT_AT")
    shown = search("broken", budget=14)

    assert len(before) == 6
    assert "going on after 6 measurements" in shown.stdout
    assert places(here / "broken") == places(here / "whole")
    assert int((here / "calls.txt").read_text()) == 14


def test_a_larger_budget_continues_the_record(here):
    search("short", budget=9)
    search("short", budget=13)
    search("long", budget=13)

    assert places(here / "short") == places(here / "long")


def test_failures_are_recorded_with_their_reason_and_read_back(here):
    search(objective="sound:sometimes", budget=12)
    shown = search(objective="sound:sometimes", budget=14)
    table = pd.read_csv(here / "run" / "observations.csv")
    failed = table[table["status"] == Status.FAILED.value]

    assert shown.exit_code == 0, shown.stderr
    assert len(table) == 14
    assert set(failed["edge"]) == {"main"}
    assert failed["note"].str.contains(r"no\\nreading", regex=False).all()


def test_an_objective_that_always_fails_ends_the_run_with_its_reason(here):
    shown = search(objective="sound:broken")

    assert shown.exit_code == 2
    assert "one of the first" in shown.stderr
    assert len(pd.read_csv(here / "run" / "observations.csv")) >= 5


def test_a_torn_line_is_cut_away_kept_and_measured_again(here):
    search("whole", budget=10)
    search(budget=9)
    path = here / "run" / "observations.csv"
    content = path.read_bytes()
    last = content.splitlines(keepends=True)[-1]
    path.write_bytes(content[: -len(last) // 2])
    shown = search(budget=10)

    assert "was torn by a crash" in shown.stdout
    assert places(here / "run") == places(here / "whole")
    torn = (here / "run" / "observations.csv.torn").read_bytes().rstrip(b"\n")
    assert last.startswith(torn)


def test_a_damaged_line_is_named_and_nothing_is_changed(here):
    search(budget=9)
    path = here / "run" / "observations.csv"
    path.write_text(path.read_text().replace("observed", "obscured", 1))
    before = path.read_text()
    shown = search(budget=10)

    assert shown.exit_code == 2
    assert "line 2 of" in shown.stderr
    assert "nothing was changed" in shown.stderr
    assert path.read_text() == before


def test_another_header_is_refused(here):
    search(budget=9)
    (here / "run" / "observations.csv").write_text("a,b\n")

    assert "must begin with id,edge,distance" in search(budget=10).stderr


def test_a_folder_of_another_run_is_refused(here):
    search(budget=9)
    other = netbo.interval(3.0)
    write_network(other, here / "line.json")

    assert "noise is 0.0 there and 0.5 here" in search(budget=10, noise=0.5).stderr
    assert "seed is 0 there and 4 here" in search(budget=10, seed=4).stderr
    shown = run("maximize", "line.json", "--objective=sound:loudness", "--budget=9", "--out=run", "--noise=0")
    assert "holds a run on another network" in shown.stderr
    (here / "run" / "run.json").write_text("{}")
    assert "must be the settings of a run" in search(budget=10).stderr


def test_a_folder_in_use_is_refused_unless_its_process_is_gone(here):
    search(budget=9)
    lock = here / "run" / "run.lock"
    lock.write_text(str(os.getpid()))
    shown = search(budget=10)
    assert f"is in use by process {os.getpid()}" in shown.stderr
    lock.write_text("999999999")

    assert search(budget=10).exit_code == 0
    assert not lock.exists()


def test_a_folder_that_cannot_be_made_is_refused(here):
    (here / "file").write_text("")

    assert "--out must be a folder that can be written to, got file" in search("file/run").stderr


@pytest.mark.parametrize(
    ("name", "message"),
    [
        ("sound", "--objective must be module:function, got 'sound'"),
        ("silence:f", "--objective must name a module that can be imported, got 'silence'"),
        ("sound:noise", "--objective must name a function of sound, got 'noise'; there are"),
        ("sound:limit", "--objective must be a function, got sound:limit, a int"),
    ],
)
def test_an_objective_that_is_not_there_is_refused(here, name, message):
    shown = search(objective=name)

    assert shown.exit_code == 2
    assert message in shown.stderr
    assert not (here / "run").exists()


def test_a_module_that_lacks_a_package_says_so_itself(here):
    (here / "needy.py").write_text("import no_such_package\n")

    assert "No module named 'no_such_package'" in search(objective="needy:f").stderr


@pytest.mark.parametrize("option", ["snap", "=3"])
def test_a_reader_option_is_name_and_value(here, option):
    shown = run("inspect", "pipes.json", "--read", option)

    assert shown.exit_code == 2
    assert f"--read must be name=value, got {option!r}" in shown.stderr


def measurements(folder, n=40):
    rng = np.random.default_rng(0)
    edges = rng.choice(["main", "east", "west"], n)
    along = rng.uniform(0, 3, n) * np.where(edges == "west", 5 / 3, 1)
    values = [
        30 * np.exp(-abs(z - 2.5)) if edge == "west" else 0.1 * z
        for edge, z in zip(edges, along, strict=True)
    ]
    pd.DataFrame({"pipe": edges, "km": along, "level": values}).to_csv(folder / "levels.csv", index=False)


def test_suggest_gives_the_next_places_and_the_best_so_far(here):
    measurements(here)
    columns = ["--value=level", "--edge=pipe", "--distance=km", "--noise=0.01"]
    shown = run("suggest", "pipes.json", "--data=levels.csv", "-n", 3, *columns, "--json")
    told = json.loads(shown.stdout)

    assert shown.exit_code == 0, shown.stderr
    assert told["recommended"]["edge"] == "west"
    assert told["recommended"]["distance"] == pytest.approx(2.5, abs=0.6)
    assert len(told["next"]) == 3
    text = run("suggest", "pipes.json", "--data=levels.csv", *columns, "--out=next")
    assert "Measure next:" in text.stdout
    assert "40 measurements" in text.stdout
    for name in ("next.csv", "map.png", "map.gpkg"):
        assert (here / "next" / name).stat().st_size > 0
    assert len(pd.read_csv(here / "next" / "next.csv")) == 5


def test_suggest_names_the_columns_there_are(here):
    measurements(here)
    shown = run("suggest", "pipes.json", "--data=levels.csv", "--edge=pipe", "--distance=km")

    assert shown.exit_code == 2
    assert "level" in shown.stderr


def test_a_report_is_one_page(here):
    search(budget=10)
    shown = run("report", "run", "--out", "page.html")
    page = (here / "page.html").read_text()

    assert shown.exit_code == 0, shown.stderr
    assert "data:image/png;base64" in page
    assert "west" in page


def test_a_report_needs_a_run_with_a_value(here):
    assert "a run must be a folder with run.json, got nowhere" in run("report", "nowhere").stderr
    search(budget=9)
    (here / "run" / "observations.csv").unlink()
    assert "a report needs at least one value, got none in run" in run("report", "run").stderr
