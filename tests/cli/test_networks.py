"""The commands for a network of one's own: what they print and write, how they go on, what they refuse."""

import csv
import json
import os
import re
import signal
import sys
from pathlib import Path

import geopandas
import numpy as np
import pandas as pd
import pytest
from click.testing import CliRunner
from numpy.testing import assert_allclose
from shapely import LineString, affinity

import netbo
from netbo.adapters.netbo_json import write_network
from netbo.cli import main
from netbo.cli.run_folder import COLUMNS, read_observations, write_observations
from netbo.optimize import Status
from netbo.studies import State, Study
from support.processes import await_file, start

LEAK = ("west", 3.2)
OBJECTIVES = """
import os
import time
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

def stops_at_the_sixth(place):
    value = loudness(place)
    if CALLS.read_text() == "6" and not Path("begun.txt").exists():
        Path("begun.txt").touch()
        time.sleep(600)
    return value

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
    sys.modules.pop("sound", None)
    sys.path[:] = [each for each in sys.path if each != str(tmp_path)]


@pytest.fixture
def undrawn(monkeypatch):
    """For claims about what is recorded: pictures, maps and pages take most of the time of a short run."""
    monkeypatch.setattr("netbo.cli.networks._write_outputs", lambda *_: [])


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


@pytest.mark.usefixtures("undrawn")
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


@pytest.mark.usefixtures("undrawn")
def test_a_value_that_arrived_is_kept_when_its_writing_is_interrupted(here, monkeypatch):
    tell, calls = Study.tell, []

    def interrupted(study, *arguments, **options):
        calls.append(arguments)
        if len(calls) == 3:
            raise KeyboardInterrupt
        return tell(study, *arguments, **options)

    monkeypatch.setattr(Study, "tell", interrupted)
    shown = search()

    assert "stopped    interrupted" in shown.stdout
    assert len(places(here / "run")) == 3
    assert states(here / "run") == [State.OBSERVED] * 3


@pytest.mark.usefixtures("undrawn")
def test_a_larger_budget_continues_the_record(here):
    search("short", budget=9)
    search("short", budget=13)
    search("long", budget=13)

    assert places(here / "short") == places(here / "long")


@pytest.mark.usefixtures("undrawn")
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


def test_a_small_budget_of_failures_ends_with_its_reason_too(here):
    shown = search(budget=2, objective="sound:broken")

    assert shown.exit_code == 2
    assert "one of 2 evaluations must give a value, got 2 failures, the last at edge" in shown.stderr
    assert len(pd.read_csv(here / "run" / "observations.csv")) == 2


@pytest.mark.usefixtures("undrawn")
def test_a_search_that_was_killed_goes_on_as_if_nothing_had_happened(here):
    """What is evaluated when the process is killed is evaluated again; nothing that was told is lost."""
    options = ("--objective=sound:stops_at_the_sixth", "--noise=0", "--budget=12")
    process = start("maximize", "pipes.json", *options, "--out=killed")
    await_file(here / "begun.txt", process)
    before = places(here / "killed")
    process.send_signal(signal.SIGKILL)
    process.communicate(timeout=60)
    shown = search("killed", objective="sound:stops_at_the_sixth")
    (here / "calls.txt").unlink()
    search("whole", objective="sound:stops_at_the_sixth")

    assert len(before) == 5
    assert "going on after 5 measurements" in shown.stdout
    assert places(here / "killed") == places(here / "whole")
    assert states(here / "killed") == [State.OBSERVED] * 12


def states(folder):
    return [record.state for record in Study.load(folder / "run.journal").records]


@pytest.mark.usefixtures("undrawn")
@pytest.mark.parametrize("lost", ["half of a value", "a value", "half of a point and its value"])
def test_a_write_that_was_broken_off_is_cut_away_kept_and_measured_again(here, lost, caplog):
    """A value takes two lines, the point and the value; a process may be killed anywhere on the way."""
    search("whole", budget=10)
    search(budget=9)
    path = here / "run" / "run.journal"
    *lines, point, value = path.read_bytes().splitlines(keepends=True)
    torn = {"half of a value": value[:40], "a value": b"", "half of a point and its value": point[:40]}[lost]
    kept = [*lines, point] if point[:40] != torn else lines
    path.write_bytes(b"".join([*kept, torn]))
    shown = search(budget=10)

    assert "going on after 8 measurements" in shown.stdout
    assert places(here / "run") == places(here / "whole")
    assert states(here / "run") == [State.OBSERVED] * 10
    assert ("ended in half a line" in caplog.text) == bool(torn)
    assert not torn or (here / "run" / "run.journal.torn").read_bytes() == torn + b"\n"


@pytest.mark.usefixtures("undrawn")
def test_a_damaged_line_is_named_and_nothing_is_changed(here):
    search(budget=9)
    path = here / "run" / "run.journal"
    path.write_text(path.read_text().replace("op_code", "code_op", 1))
    before = path.read_text()
    shown = search(budget=10)

    assert shown.exit_code == 2
    assert "run.journal is damaged at line 1" in shown.stderr
    assert "nothing was changed" in shown.stderr
    assert path.read_text() == before


@pytest.mark.usefixtures("undrawn")
def test_the_table_of_observations_is_made_from_the_study(here):
    """Whatever becomes of the table, the values are in the journal; changes are made there."""
    search(budget=9)
    table = here / "run" / "observations.csv"
    before = table.read_bytes()
    table.unlink()
    search(budget=9)
    assert table.read_bytes() == before
    assert run("study", "correct", 3, 0.5, "--storage=run/run.journal").exit_code == 0
    search(budget=9)

    assert pd.read_csv(table)["value"][3] == 0.5


@pytest.mark.usefixtures("undrawn")
def test_a_study_goes_on_where_the_search_would(here):
    for name in ("run", "study"):
        search(name, budget=9, acquisition="thompson", noise=0.01)
    search(budget=10, acquisition="thompson", noise=0.01)
    point = Study.load(here / "study" / "run.journal").ask().point

    assert (point.edge_id, repr(point.z)) == places(here / "run")[-1]


# Folders of versions that kept the values in observations.csv

OLD = """\
id,edge,distance,fraction,x,y,value,noise,status,note,edge_index,z
0,east,2.58,0.86,4.0,2.58,0.09266146224710306,0.25,observed,,1,2.58
1,west,5.0,1.0,9.0,0.0,4.958966646647597,,observed,,2,5.0
2,main,0.0,0.0,0.0,0.0,,,failed,"RuntimeError: no\\nreading, \\\\ ""quoted""\\n",0,0.0
3,west,1.212484993997599,0.2424969987995198,5.212484993997599,0.0,4.111066055026313,0.25,observed,,2,1.212484993997599
"""  # made with commit 12bd3e5: --objective sound:sometimes --seed 3; one note shortened, one noise left out


def as_before(folder):
    """The folder as it was before there were studies in it."""
    for path in folder.glob("run.journal*"):
        path.unlink()
    return folder / "observations.csv"


@pytest.mark.usefixtures("undrawn")
def test_lines_of_older_versions_are_read_exactly_and_written_alike(here):
    path, network = here / "old.csv", netbo.read("pipes.json")
    path.write_text(OLD)
    trials, torn = read_observations(path, network)
    write_observations(path, network, trials)

    assert torn == b""
    assert trials[2].note == 'RuntimeError: no\nreading, \\ "quoted"\n'
    assert [trial.value for trial in trials] == [
        0.09266146224710306,
        4.958966646647597,
        None,
        4.111066055026313,
    ]
    assert [trial.noise for trial in trials] == [0.25, None, None, 0.25]
    assert path.read_text() == OLD


@pytest.mark.usefixtures("undrawn")
def test_an_older_run_is_taken_over_whole_and_goes_on_as_it_would_have(here):
    for name in ("run", "whole"):
        search(name, objective="sound:sometimes", budget=9, acquisition="thompson")
    before = as_before(here / "run").read_bytes()
    (here / "run" / "run.unfinished").mkdir()  # taking it over was broken off
    shown = search(objective="sound:sometimes", budget=11, acquisition="thompson")
    search("whole", objective="sound:sometimes", budget=11, acquisition="thompson")
    after = (here / "run" / "observations.csv").read_bytes()

    assert "going on after 9 measurements" in shown.stdout
    assert after.startswith(before)
    assert after == (here / "whole" / "observations.csv").read_bytes()
    assert states(here / "run") == states(here / "whole")
    assert not (here / "run" / "run.unfinished").exists()


@pytest.mark.usefixtures("undrawn")
def test_a_line_of_an_older_run_that_was_torn_is_kept_and_measured_again(here, caplog):
    search("whole", budget=10)
    search(budget=9)
    path = as_before(here / "run")
    content = path.read_bytes()
    last = content.splitlines(keepends=True)[-1]
    path.write_bytes(content[: -len(last) // 2])
    search(budget=10)

    assert "was torn by a crash" in caplog.text
    assert places(here / "run") == places(here / "whole")
    torn = (here / "run" / "observations.csv.torn").read_bytes().rstrip(b"\n")
    assert last.startswith(torn)


@pytest.mark.usefixtures("undrawn")
def test_a_damaged_line_of_an_older_run_is_named_and_nothing_is_changed(here):
    search(budget=9)
    path = as_before(here / "run")
    path.write_text(path.read_text().replace("observed", "obscured", 1))
    before = path.read_text()
    shown = search(budget=10)

    assert shown.exit_code == 2
    assert "line 2 of" in shown.stderr
    assert "nothing was changed" in shown.stderr
    assert path.read_text() == before
    assert not (here / "run" / "run.journal").exists()


def test_another_header_is_refused(here):
    search(budget=9)
    as_before(here / "run").write_text("a,b\n")

    assert "must begin with id,edge,distance" in search(budget=10).stderr


@pytest.mark.usefixtures("undrawn")
def test_a_report_on_an_older_run_is_the_same_and_changes_nothing(here):
    search(budget=9)
    run("report", "run", "--out", "new.html")
    as_before(here / "run")
    before = sorted(path.name for path in (here / "run").iterdir())
    shown = run("report", "run", "--out", "old.html")

    assert shown.exit_code == 0, shown.stderr
    assert (here / "old.html").read_text() == (here / "new.html").read_text()
    assert sorted(path.name for path in (here / "run").iterdir()) == before


# What is refused


@pytest.mark.usefixtures("undrawn")
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


@pytest.mark.usefixtures("undrawn")
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


@pytest.mark.usefixtures("undrawn")
def test_a_search_obeys_its_tables_also_when_it_goes_on(here):
    (here / "hydrants.csv").write_text("edge,distance\n" + "".join(f"west,{z / 2}\n" for z in range(11)))
    (here / "closed.csv").write_text("edge,from,to\nwest,3,4\n")
    tables = {"candidates": "hydrants.csv", "forbid": "closed.csv", "alpha": 1.5}
    search("run", budget=5, **tables)
    shown = search("run", budget=7, **tables)
    other = search("run", budget=7)

    assert shown.exit_code == 0, shown.stderr
    measured = pd.read_csv(here / "run" / "observations.csv")["distance"]
    assert len(set(measured)) == 7
    assert set(measured) <= {0.0, 0.5, 1.0, 1.5, 2.0, 2.5, 4.5, 5.0}
    assert other.exit_code == 2
    assert "holds another run: alpha is 1.5 there and None here" in other.stderr


def test_suggest_obeys_its_tables(here):
    measurements(here)
    (here / "hydrants.csv").write_text("node\n0\n2\n3\n")
    (here / "closed.csv").write_text("edge\neast\n")
    columns = ["--value=level", "--edge=pipe", "--distance=km", "--noise=0.01", "--constant-variance"]
    tables = ["--candidates=hydrants.csv", "--forbid=closed.csv"]
    shown = run("suggest", "pipes.json", "--data=levels.csv", "-n", 2, *columns, *tables, "--json")
    told = json.loads(shown.stdout)

    assert shown.exit_code == 0, shown.stderr
    assert {row["x"] for row in told["next"]} <= {0.0, 9.0}
    assert told["recommended"]["x"] in {0.0, 9.0}


def test_suggest_gives_no_spread_before_five_values(here):
    measurements(here, n=4)
    columns = ["--value=level", "--edge=pipe", "--distance=km"]
    shown = run("suggest", "pipes.json", "--data=levels.csv", *columns)
    told = json.loads(run("suggest", "pipes.json", "--data=levels.csv", *columns, "--json").stdout)

    assert "sd: too few values to say" in shown.stdout
    assert " sd\n" not in shown.stdout
    assert {row["sd"] for row in [told["recommended"], *told["next"]]} == {None}


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
    assert '"still": true' in page
    assert "west" in page


def test_a_report_needs_a_run_with_a_value(here):
    assert "a run must be a folder with run.json, got nowhere" in run("report", "nowhere").stderr
    search(budget=9)
    as_before(here / "run").unlink()
    assert "a report needs at least one value, got none in run" in run("report", "run").stderr


@pytest.mark.parametrize("command", ["maximize", "suggest", "study create"])
def test_a_mesh_that_fills_the_memory_is_refused_before_anything_is_written(here, command):
    measurements(here)
    before = sorted(path.name for path in here.iterdir())
    options = {
        "maximize": ["--objective=sound:loudness", "--budget=3", "--out=run"],
        "suggest": ["--data=levels.csv", "--edge=pipe", "--distance=km", "--value=level"],
        "study create": ["--name=fine"],
    }
    shown = run(*command.split(), "pipes.json", *options[command], "--max-cell=1e-9")

    assert shown.exit_code == 2
    assert re.search(r"--max-cell 1e-09 asks for a mesh of [\d,]+ nodes, which takes .* GB", shown.stderr)
    assert "raise --max-cell, to " in shown.stderr
    assert sorted(path.name for path in here.iterdir()) == before


def test_notes_and_names_that_look_like_formulas_are_text_in_every_table(here):
    """A spreadsheet that opens them runs nothing, and reading them gives the names back."""
    graph = netbo.MetricGraph([0, 1], [1, 2], [1.0, 1.0], edge_ids=["=1+1", "@x"])
    write_network(graph, here / "odd.json")
    (here / "formula.py").write_text(
        "def f(place):\n    if place.edge_id == '@x':\n        raise ValueError('+cmd()')\n    return 1.0\n"
    )
    shown = run("maximize", "odd.json", "--objective=formula:f", "--budget=4", "--out=odd", "--noise=0")
    cells = [
        cell
        for table in ("observations.csv", "table.csv")
        for row in csv.reader((here / "odd" / table).read_text().splitlines())
        for cell in row
    ]

    assert shown.exit_code == 0, shown.stderr
    assert "'=1+1" in cells
    assert not [cell for cell in cells if cell[:1] in ("=", "+", "@", "-", "\t", "\r")]


def test_a_function_is_called_with_the_streets_of_the_file_after_noding(tmp_path, monkeypatch):
    """Two streets that cross, cut there: every value is of feature 1 or 2, as far along as the file says."""
    monkeypatch.chdir(tmp_path)
    monkeypatch.syspath_prepend(tmp_path)
    lines = [LineString([(0, 0), (1000, 0)]), LineString([(500, -400), (500, 400)])]
    placed = [affinity.translate(line, 500_000, 5_500_000) for line in lines]
    geopandas.GeoDataFrame(geometry=placed, crs="EPSG:32633").to_file("overpass.gpkg")
    Path("overpass_sound.py").write_text(
        "def measure(place):\n    return place.distance if place.edge_id == 1 else -1.0\n"
    )
    options = [
        "--objective=overpass_sound:measure",
        "--read=node=true",
        "--budget=12",
        "--noise=0",
        "--out=run",
    ]
    shown = CliRunner().invoke(main, ["maximize", "overpass.gpkg", *options])
    table = pd.read_csv("run/observations.csv")

    assert shown.exit_code == 0, shown.stderr
    assert set(table["edge"]) == {1, 2}
    expected = np.where(table["edge"] == 1, table["distance"], -1.0)
    assert_allclose(table["value"], expected)
    assert table["value"].max() > 900
    spots = {1: lambda s: (500_000 + s, 5_500_000), 2: lambda s: (500_500, 5_499_600 + s)}
    found = np.array([spots[edge](s) for edge, s in zip(table["edge"], table["distance"], strict=True)])
    assert_allclose(table[["x", "y"]], found, atol=1e-3)
