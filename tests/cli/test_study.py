"""The commands for studies, beside the same studies used from Python; what they refuse; how they end."""

import doctest
import io
import json
import os
import re
import shlex
import signal
import sys
import time
from pathlib import Path

import geopandas as gpd
import pandas as pd
import pytest
from click.testing import CliRunner
from matplotlib.image import imread
from shapely import LineString

import netbo
from netbo.adapters.netbo_json import content_hash, write_network
from netbo.cli import main
from netbo.cli.app import STUDY_EXIT_CODES, study
from netbo.cli.output import address_rows
from netbo.cli.worker import total_work
from netbo.errors import ParameterError
from netbo.optimize import MeshFreeMatern
from netbo.studies import Crew, State, Study, Work
from support.printed_pages import UpToLastDigits
from support.processes import await_file, start

GUIDE = Path(__file__).parents[2] / "docs" / "guides" / "studies-shell.md"
SETTINGS = {"noise": 0.0, "seed": 1, "max_cell": 0.5, "design": 3}
OBJECTIVES = """
import os
import time
from math import exp
from pathlib import Path

def loudness(place):
    if place.edge_id == "west":
        return 30 * exp(-abs(place.distance - 3.2))
    return 30 * exp(-3.2 - (place.distance if place.edge_id == "east" else 4.0 - place.distance))

def stops_at_the_fourth(place):
    calls = Path("calls.txt")
    with calls.open("a") as file:
        file.write(".")
    if len(calls.read_text()) >= 4:
        Path("begun.txt").touch()
        time.sleep(600)
    return loudness(place)

def broken(place):
    raise RuntimeError("no\\nreading")

def dies(place):
    os._exit(3)
"""
LEVELS = "pipe,km,level,variance\nwest,3.0,12.0,0.5\neast,1.0,2.0,0.25\nwest,3.0,12.0,0.5\n"
COLUMNS = ("--edge=pipe", "--distance=km", "--value=level")


def pipes(edge_ids=("main", "east", "west")):
    places = [(0.0, 0.0), (4.0, 0.0), (4.0, 3.0), (9.0, 0.0)]
    return netbo.MetricGraph(
        [0, 1, 1], [1, 2, 3], [4.0, 3.0, 5.0], edge_ids=edge_ids, positions=places, unit="km"
    )


@pytest.fixture
def here(tmp_path, monkeypatch):
    """A folder with a network, objectives and measurements, where the user stands."""
    monkeypatch.chdir(tmp_path)
    monkeypatch.syspath_prepend(tmp_path)
    for name in ("NETBO_STORAGE", "NETBO_STUDY"):
        monkeypatch.delenv(name, raising=False)
    write_network(pipes(), tmp_path / "pipes.json")
    (tmp_path / "sound.py").write_text(OBJECTIVES)
    (tmp_path / "levels.csv").write_text(LEVELS)
    yield tmp_path
    sys.modules.pop("sound", None)


def invoke(*arguments):
    return CliRunner().invoke(main, [str(each) for each in arguments])


def run(command, *arguments):
    """A command on the study `leak` that must go well."""
    shown = invoke("study", command, *arguments, "--name=leak")
    assert shown.exit_code == 0, shown.stderr
    return shown.stdout


def told(command, *arguments):
    return json.loads(run(command, *arguments, "--json"))


def create(*options):
    given = [f"--{name.replace('_', '-')}={value}" for name, value in SETTINGS.items()]
    return run("create", "pipes.json", *given, *options)


def leak():
    return Study.load("leak.journal")


def twin(name="twin", **options):
    """The same study, made and used from Python."""
    return Study.create(pipes(), name=name, **{**SETTINGS, **options})


def observed(study):
    return [(r.point, r.value) for r in study.records if r.state is State.OBSERVED]


def height(point):
    from sound import loudness

    return loudness(point)


# Making and naming


def test_a_study_keeps_the_network_and_the_settings_it_was_given(here):
    text = create("--minimize", "--lease=60", "--separation=0.5", "--acquisition=ucb", "--preset=paper")
    study = leak()

    assert text == "study 'leak': minimize on 3 edges, 12 km in all\nkept in leak.journal\n"
    assert study.network_hash == content_hash(pipes())
    expected = {
        **SETTINGS,
        "direction": "minimize",
        "lease": 60.0,
        "separation": 0.5,
        "acquisition": "ucb",
        "preset": "paper",
    }
    assert expected.items() <= study.settings.as_dict().items()


def test_a_study_may_refer_to_a_network_file(here):
    run("create", "pipes.json", "--network-file=pipes.json")
    assert leak().graph.edge_ids[2] == "west"
    (here / "pipes.json").unlink()

    shown = invoke("study", "status", "--name=leak")
    assert shown.exit_code == 2
    assert "refers to the network file" in shown.stderr


def test_a_study_is_gone_on_with_only_if_that_is_said(here):
    create()
    run("ask")

    assert told(
        "create", "pipes.json", "--noise=0", "--seed=1", "--max-cell=0.5", "--design=3", "--resume"
    ) == {
        "study": "leak",
        "network": content_hash(pipes()),
        "settings": leak().settings.as_dict(),
        "trials": 1,
    }
    assert "it has 1 trial" in create("--resume")


def test_a_study_is_named_by_options_by_the_environment_or_by_being_the_only_one(here, monkeypatch):
    for name in ("north", "south"):
        assert (
            invoke("study", "create", "pipes.json", "--storage=all.journal", f"--name={name}").exit_code == 0
        )
    both = invoke("study", "status", "--storage=all.journal")
    other = invoke("study", "status", "--storage=all.journal", "--name=west")
    monkeypatch.setenv("NETBO_STORAGE", "all.journal")
    monkeypatch.setenv("NETBO_STUDY", "south")

    assert (both.exit_code, other.exit_code) == (2, 2)
    assert "holds 'north', 'south', and it is not said which is meant; say --name" in both.stderr
    assert "holds 'north', 'south', got --name west" in other.stderr
    assert json.loads(invoke("study", "status", "--json").stdout)["study"] == "south"


def test_sqlite_is_a_storage_as_well(here):
    for command in (["create", "pipes.json", "--noise=0"], ["ask"], ["tell", "0", "2.5"]):
        shown = invoke("study", *command, "--storage=sqlite:///leak.db", "--name=leak")
        assert shown.exit_code == 0, shown.stderr

    assert Study.load("sqlite:///leak.db").best().value == 2.5


def test_a_title_and_a_unit_are_shown_and_changed(here):
    create("--title=Leaks in zone 3")
    assert run("describe", "--value-unit=dB") == (
        "study       leak\ntitle       Leaks in zone 3\nvalue unit  dB\n"
    )
    run("ask")
    text = run("tell", 0, 2.5)
    document = told("status")

    assert "value [dB]" in text
    assert run("status").startswith("study 'leak', Leaks in zone 3: maximize")
    assert "2.5 dB at edge" in run("status")
    assert (document["title"], document["value_unit"]) == ("Leaks in zone 3", "dB")
    assert told("describe", "--title=") == {"study": "leak", "title": None, "value_unit": "dB"}


def test_studies_of_a_folder_are_listed_for_people_and_programs(here):
    create("--title=Zone 3", "--value-unit=dB")
    run("enqueue", "west", 2.5)
    run("ask")
    run("tell", 0, 2.5)
    lines = invoke("study", "list").stdout.splitlines()
    document = json.loads(invoke("study", "list", "--json").stdout)["studies"]
    table = pd.read_csv(io.StringIO(invoke("study", "list", "--storage=leak.journal", "--csv").stdout))

    assert re.split("  +", lines[0]) == [
        "name", "title", "network", "direction", "values", "pending", "best", "changed", "file",
    ]  # fmt: skip
    assert re.split("  +", lines[1])[:7] == [
        "leak", "Zone 3", "3 edges, 12 km in all", "maximize", "1", "0", "2.5 dB",
    ]  # fmt: skip
    assert len(document) == len(table) == 1
    for row in (document[0], table.iloc[0]):
        assert (row["name"], row["n_values"], row["best"], row["value_unit"]) == ("leak", 1, 2.5, "dB")


def test_where_there_is_no_study_the_list_says_so(here):
    assert invoke("study", "list").stdout == "no studies in this folder\n"
    shown = invoke("study", "list", "--storage=none.journal")
    assert (shown.exit_code, "there is no study file" in shown.stderr) == (2, True)
    assert invoke("study", "list", "--csv", "--json").exit_code == 2


# Where one may measure


def test_workers_obey_the_candidates_and_the_closed_stretches_of_a_study(here):
    (here / "hydrants.csv").write_text("edge,distance\nmain,1\nmain,2\nwest,1\nwest,4.5\neast,3\n")
    (here / "closed.csv").write_text("edge,from,to\nwest,4,5\neast,,\n")
    create("--candidates=hydrants.csv", "--forbid=closed.csv")
    shown = invoke("study", "run", "--objective=sound:loudness", "--budget=9", "--name=leak")

    assert shown.exit_code == 3
    assert "3 of 9 evaluations are made" in shown.stderr
    places = {(point.edge_id, point.distance) for point, _ in observed(leak())}
    assert places == {("main", 1.0), ("main", 2.0), ("west", 1.0)}


def test_candidates_may_be_nodes_or_coordinates(here):
    (here / "nodes.csv").write_text("node,name\n0,a\n3,b\n")
    (here / "spots.csv").write_text("x,y\n2.0,0.1\n")
    invoke("study", "create", "pipes.json", "--name=nodes", "--candidates=nodes.csv")
    shown = invoke("study", "create", "pipes.json", "--name=spots", "--candidates=spots.csv")
    assert (shown.exit_code, "need a limit" in shown.stderr) == (2, True)
    invoke(
        "study", "create", "pipes.json", "--name=spots", "--candidates=spots.csv", "--candidates-limit=0.5"
    )

    nodes = Study.load("nodes.journal").optimizer.search.points
    assert [point.xy for point in nodes] == [(0.0, 0.0), (9.0, 0.0)]
    assert [point.xy for point in Study.load("spots.journal").optimizer.search.points] == [(2.0, 0.0)]


def test_what_is_forbidden_is_given_along_your_own_edges(here):
    """A line that crosses another is two edges of the graph; its owner knows one."""
    lines = [LineString([(0, 0), (100, 0)]), LineString([(40, -50), (40, 50)])]
    gpd.GeoDataFrame({"id": [7, 8]}, geometry=lines, crs="EPSG:32633").to_file("cross.gpkg")
    (here / "closed.csv").write_text("edge,from,to\n7,30,60\n")
    run("create", "cross.gpkg", "--read=node=true", "--read=id=id", "--forbid=closed.csv", "--max-cell=5")
    places = address_rows(leak().network, list(leak().optimizer.search.points))
    along = sorted(row["distance"] for row in places if row["edge"] == 7)

    assert along
    assert not [z for z in along if 30 <= z <= 60 and abs(z - 40) > 1e-6]
    assert min(along) == 0
    assert max(along) == 100
    assert len([row for row in places if row["edge"] == 8]) > 10


@pytest.mark.parametrize(
    ("name", "text", "message"),
    [
        ("candidates", "edge,distance\nnorth,1\n", "is not on the network"),
        ("candidates", "name\nnorth\n", "places need columns edge and distance, node, x and y"),
        ("candidates", "node\n99\n", "99"),
        ("forbid", "edge,from,to\nwest,1,99\n", "within its edge, got 1 to 99 of 5 on edge 'west'"),
        ("forbid", "edge,from,to\nwest,3,1\n", "must run from its smaller distance to the larger"),
        ("forbid", "edge,from,to\nwest,a,1\n", "must hold finite numbers, got 'a'"),
        ("forbid", "street\nwest\n", "stretches need the columns edge, from and to"),
        ("forbid", "edge\nmain\nwest\neast\n", "candidates are forbidden"),
    ],
)
def test_a_table_that_cannot_be_meant_is_refused_in_a_sentence(here, name, text, message):
    (here / "table.csv").write_text(text)
    shown = invoke("study", "create", "pipes.json", "--name=leak", f"--{name}=table.csv")

    assert shown.exit_code == 2
    assert message in shown.stderr
    assert not (here / "leak.journal").exists()


def test_smoothness_and_variance_are_settings_of_a_study(here):
    create("--alpha=1.5", "--constant-variance")

    assert leak().optimizer.fit.models == (MeshFreeMatern(1.5, constant_variance=True),)
    shown = invoke("study", "create", "pipes.json", "--name=rough", "--alpha=0.1")
    assert (shown.exit_code, "alpha" in shown.stderr) == (2, True)


# Asking and telling


def test_asking_and_telling_from_the_shell_is_what_a_study_does(here):
    create()
    study = twin()
    for _ in range(6):
        given, expected = told("ask")["suggestions"][0], study.ask()
        assert (given["id"], given["edge"], given["distance"]) == (
            expected.id, expected.point.edge_id, expected.point.distance,
        )  # fmt: skip
        run("tell", given["id"], 2.0 * given["distance"])
        study.tell(expected, 2.0 * expected.point.distance)

    assert observed(leak()) == observed(study)
    assert told("status")["recommendation"]["mean"] == study.recommend().mean


def test_places_are_in_the_words_of_the_user(here):
    create("--separation=0.5")
    run("enqueue", "west", 2.5)
    text = run("ask", "-n", 2, "--worker=anna")
    lines = text.splitlines()

    assert lines[0].split() == ["id", "edge", "distance", "[km]", "from", "x", "y", "worker"]
    assert lines[1].split() == ["0", "west", "2.5", "1", "6.5", "0", "anna"]
    assert len(lines) == 5
    assert lines[4] == "Then: netbo study tell 0 VALUE, or netbo study fail 0"
    assert [record.worker for record in leak().pending] == ["anna", "anna"]


def test_values_may_be_negative_noisy_elsewhere_and_failed(here):
    create()
    run("ask", "-n", 3)
    run("tell", 0, -1.5, "--noise", 0.25, "--at", "west", 3.5, "--note", "by hand")
    run("tell", 1, "failed")
    run("fail", 2, "--note", "the cover is stuck")
    first, second, third = leak().records

    assert (first.value, first.noise, first.note) == (-1.5, 0.25, "by hand")
    assert (first.point.edge_id, first.point.distance) == ("west", 3.5)
    assert (second.state, third.state, third.note) == (State.FAILED, State.FAILED, "the cover is stuck")


def test_corrections_and_second_thoughts_are_those_of_a_study(here):
    create()
    run("ask", "-n", 5)
    for number in (0, 1):
        run("tell", number, 3.0)
    run("correct", 0, -4.5, "--noise=0.5")
    run("withdraw", 1)
    run("cancel", 2)
    run("release", 3)
    row = told("note", 4, "far away")["trial"]
    states = [record.state for record in leak().records]

    assert leak().records[0].value == -4.5
    assert states == [State.OBSERVED, State.WITHDRAWN, State.CANCELLED, State.RELEASED, State.PENDING]
    assert (row["note"], row["status"]) == ("far away", "pending")


def test_ids_that_are_numbers_or_pairs_can_be_typed(here):
    write_network(pipes([7, ("a", "b"), "west"]), here / "pipes.json")
    create()
    run("enqueue", 7, 1.0)
    row = told("enqueue", "('a', 'b')", 0.5)["trial"]
    edges = [record.point.edge_id for record in leak().records]

    assert edges == [7, ("a", "b")]
    assert row["edge"] == ["a", "b"]
    assert "('a', 'b')" in run("status")


def test_crews_go_where_a_study_would_send_them(here):
    create()
    study = twin()
    for name in ("leak", "twin"):
        for edge, distance, value in (("main", 1.0, 2.0), ("west", 2.0, 5.0), ("east", 3.0, 1.0)):
            Study.load(f"{name}.journal").add_observation((edge, distance), value)
    options = ["--crew", "north@main:0.5", "--crew", "south", "--radius", 1.5, "--travel-cost", 0.1]
    given = told("ask", *options)["suggestions"]
    at = study.place(("main", 0.5))
    crews = [Crew("north", at=at, travel_cost=0.1, radius=1.5), Crew("south", travel_cost=0.1, radius=1.5)]
    expected = study.ask(crews=crews)

    assert [(row["edge"], row["distance"]) for row in given] == [
        (each.point.edge_id, each.point.distance) for each in expected
    ]
    assert [row["worker"] for row in given] == ["north", "south"]


def test_a_lease_of_an_ask_ends_when_it_says(here):
    create()
    before = time.time()
    run("ask", "--lease=500")
    expires = leak().records[0].expires

    assert before + 500 <= expires <= time.time() + 500
    assert re.search(r"8 min left$", run("status"), re.MULTILINE)


def test_nothing_to_ask_for_is_an_exit_code_of_its_own(here):
    run("create", "pipes.json", "--noise=0", "--max-cell=9")
    spent = invoke("study", "ask", "--name=leak", "-n", 3, "--budget=2")
    none = invoke("study", "ask", "--name=leak", "--budget=2")
    everything = invoke("study", "ask", "--name=leak", "-n", 99)
    over = invoke("study", "ask", "--name=leak")

    assert (spent.exit_code, spent.stderr) == (0, "only 2 of 3 places: there are no more to ask for\n")
    assert (none.exit_code, over.exit_code, everything.exit_code) == (3, 3, 0)
    assert none.stderr.startswith("nothing to ask for: the budget of 2 evaluations is handed out")
    assert over.stderr.startswith("nothing to ask for: all")
    assert over.stdout == ""


# Importing


def test_measurements_are_imported_with_their_noise_and_where_they_come_from(here):
    create()
    report = told("import", "levels.csv", *COLUMNS, "--noise-column=variance")
    records = leak().records

    assert report["added"] == [0, 1, 2]
    assert [(r.point.edge_id, r.point.distance, r.value, r.noise) for r in records] == [
        ("west", 3.0, 12.0, 0.5), ("east", 1.0, 2.0, 0.25), ("west", 3.0, 12.0, 0.5),
    ]  # fmt: skip
    assert [record.note for record in records] == [f"levels.csv, line {k}" for k in (2, 3, 4)]


def test_coordinates_are_snapped_within_a_limit(here):
    create()
    (here / "xy.csv").write_text("x,y,value\n1.0,0.1,3.0\n4.0,1.5,2.0\n")
    text = run("import", "xy.csv", "--limit=0.2")
    far = invoke("study", "import", "xy.csv", "--limit=0.05", "--name=leak", "--again")

    assert "2 measurements of xy.csv added" in text
    assert "snapped from up to 0.1 km off" in text
    assert [(r.point.edge_id, r.point.distance) for r in leak().records] == [("main", 1.0), ("east", 1.5)]
    assert far.exit_code == 2
    assert "line 2 (0.1 off); raise limit or check the coordinate system, or pass --skip-bad" in far.stderr


def test_a_file_that_was_imported_is_noticed_also_after_corrections(here):
    create()
    run("import", "levels.csv", *COLUMNS)
    run("correct", 0, 11.0)
    run("withdraw", 1)
    twice = invoke("study", "import", "levels.csv", *COLUMNS, "--name=leak")

    assert twice.exit_code == 2
    assert "3 of 3 rows of levels.csv are in the study already" in twice.stderr
    assert len(leak().records) == 3
    run("import", "levels.csv", *COLUMNS, "--again")
    assert len(leak().records) == 6


def test_a_file_that_grew_or_was_broken_off_is_completed(here):
    create()
    (here / "part.csv").write_text("".join(LEVELS.splitlines(keepends=True)[:2]))
    run("import", "part.csv", *COLUMNS)
    text = run("import", "levels.csv", *COLUMNS, "--only-new")
    values = [(r.point.edge_id, r.value) for r in leak().records]

    assert "1 row left out: in the study already" in text
    assert values == [("west", 12.0), ("east", 2.0), ("west", 12.0)]


@pytest.mark.parametrize(
    ("line", "message"),
    [
        ("west,9.0,1.0,0.5", "is not on the network"),
        ("nowhere,1.0,1.0,0.5", "no edge has the id 'nowhere'"),
        ("west,1.0,loud,0.5", "column 'level' must hold finite numbers, got 'loud' in line 5 of bad.csv"),
        ("west,1.0,1.0,-2", "line 5: noise must be a positive variance, got -2.0"),
    ],
)
def test_a_file_with_one_bad_row_leaves_no_row_behind(here, line, message):
    create()
    (here / "bad.csv").write_text(f"{LEVELS}{line}\n")
    shown = invoke("study", "import", "bad.csv", *COLUMNS, "--noise-column=variance", "--name=leak")

    assert shown.exit_code == 2
    assert message in shown.stderr
    assert leak().records == []


def test_wrong_rows_are_left_out_on_demand_and_listed(here):
    create()
    (here / "bad.csv").write_text("pipe;km;level\nwest;1,5;12,5\nnorth;1;2\nwest;2;loud\n")
    columns = ("--edge=pipe", "--distance=km", "--value=level")
    refused = invoke("study", "import", "bad.csv", *columns, "--name=leak")
    shown = invoke("study", "import", "bad.csv", *columns, "--skip-bad", "--name=leak")

    assert refused.exit_code == 2
    assert (
        "got 'loud' in line 4 of bad.csv; correct or delete such rows, or pass --skip-bad" in refused.stderr
    )
    assert shown.exit_code == 0
    assert [line.partition(":")[0] for line in shown.stderr.splitlines()] == [
        "left out 2 rows of bad.csv", "  line 3", "  line 4",
    ]  # fmt: skip
    assert [(r.point.edge_id, r.point.distance, r.value) for r in leak().records] == [("west", 1.5, 12.5)]


def test_coordinates_without_a_limit_are_told_of_the_option(here):
    create()
    (here / "xy.csv").write_text("x,y,value\n1.0,0.1,3.0\n")
    shown = invoke("study", "import", "xy.csv", "--name=leak")

    assert shown.exit_code == 2
    assert "how far off the network they may lie, as in --limit 50.0" in shown.stderr
    assert "[required with coordinates]" in " ".join(invoke("study", "import", "--help").stdout.split())


# Looking


def test_status_says_what_is_known_and_who_is_at_work(here):
    create()
    run("import", "levels.csv", *COLUMNS)
    run("import", "levels.csv", *COLUMNS, "--again")
    run("ask", "--worker=anna")
    text, document = run("status", "-n", 2), told("status")
    best, found = leak().best(), leak().recommend()

    assert "6 observed, 1 pending" in text
    assert "(the last 2 of 7; -n 7 shows all)" in text
    assert f"best         12 at edge west, 3 km from 1 (7, 0), trial {best.id}" in text
    assert f"{found.mean:.6g}, 95 % between {found.low:.6g} and {found.high:.6g}" in text
    assert re.search(r"^ *6 .* anna +\d+ s +none$", text, re.MULTILINE)
    assert document["counts"] == {"observed": 6, "pending": 1}
    assert (document["best"]["value"], document["best"]["x"]) == (12.0, 7.0)
    assert document["recommendation"]["low"] == found.low
    assert len(document["trials"]) == 7
    assert document["trials"][6]["age"] >= 0


def test_before_five_values_status_gives_no_interval(here):
    """One value would be shown with an interval of a hair's breadth."""
    create()
    run("import", "levels.csv", *COLUMNS)
    text, document = run("status"), told("status")
    found = leak().recommend()

    assert f": {found.mean:.6g}, 95 % too few values to say" in text
    assert "between" not in text
    assert document["recommendation"].items() >= {
        "mean": found.mean, "sd": None, "low": None, "high": None, "doubt": "too few values to say",
    }.items()  # fmt: skip


def test_status_says_what_speaks_against_the_model_as_the_summary_does(here):
    run("create", "pipes.json", "--max-cell=0.5")
    for distance in range(6):
        leak().add_observation(leak().graph.points("west", [distance * 0.9])[0], 30.0)
    warnings = leak().summary().warnings

    assert any("stopped at its bound" in text for text in warnings)
    shown = [text for text in run("status").splitlines() if text.startswith("warning: ")]
    assert shown == [f"warning: {text}" for text in warnings]
    assert told("status")["warnings"] == list(warnings)


# Coordinates to stand on the spot by


LINES = {
    "EPSG:4326": [(14.4025123, 50.1003), (14.4325, 50.1203)],
    "EPSG:32633": [(458000.5, 5549961.25), (458000.5, 5560000)],
}


@pytest.mark.parametrize(("crs", "decimals"), [("EPSG:4326", 7), ("EPSG:32633", 2)])
def test_coordinates_have_the_digits_of_a_centimetre_and_no_exponent(here, crs, decimals):
    gpd.GeoDataFrame({"name": ["a"]}, geometry=[LineString(LINES[crs])], crs=crs).to_file("line.gpkg")
    run("create", "line.gpkg", "--design=3")
    row = told("ask")["suggestions"][0]
    asked = run("ask", "--worker=x")
    run("tell", "0", "1.0")
    status = run("status")

    shown = [f"{row[axis]:.{decimals}f}".rstrip("0").rstrip(".") for axis in "xy"]
    assert all(text in status.split() for text in shown)
    assert f"({', '.join(shown)})" in status
    assert "e+" not in asked + status


def test_the_status_of_a_new_study_is_short(here):
    create()

    assert run("status") == "study 'leak': maximize on 3 edges, 12 km in all\nno trials yet\n\n"
    assert told("status")["best"] is None


def test_a_study_is_exported_and_drawn(here):
    create()
    run("import", "levels.csv", *COLUMNS)
    run("ask")
    run("export", "trials.csv", "map.gpkg", "page.html")
    run("plot", "map.png", "--label=Level [dB]")
    document = told("plot", "chance.png", "--what=probability")
    table = pd.read_csv(here / "trials.csv")
    layer = gpd.read_file(here / "map.gpkg", layer="observations")

    assert document == {"study": "leak", "written": ["chance.png"]}
    assert list(table["status"]) == ["observed"] * 3 + ["pending"]
    assert list(table["edge"][:3]) == ["west", "east", "west"]
    assert list(layer["value"]) == [12.0, 2.0, 12.0]
    assert "Study leak" in (here / "page.html").read_text()
    for name in ("map.png", "chance.png"):
        assert imread(here / name).std() > 0.01


def test_next_places_go_to_a_handheld_before_there_is_a_value(here):
    lines = [LineString([(0, 0), (100, 0)]), LineString([(40, 0), (40, 50)])]
    gpd.GeoDataFrame({"id": [7, 8]}, geometry=lines, crs="EPSG:32633").to_file("cross.gpkg")
    run("create", "cross.gpkg", "--read=node=true", "--read=id=id", "--title=Zone 3")
    run("ask", "-n", 2)
    printed = run("export", "next.gpx", "next.kml")
    place = leak().pending[0].point
    waypoints = gpd.read_file("next.gpx", layer="waypoints")

    assert printed == "written: next.gpx\nwritten: next.kml\n"
    assert waypoints["name"].tolist() == gpd.read_file("next.kml")["Name"].tolist() == ["0", "1"]
    assert waypoints.to_crs("EPSG:32633").geometry[0].coords[0] == pytest.approx(place.xy, abs=0.01)
    assert "<name>Zone 3</name>" in Path("next.gpx").read_text()


def test_a_study_without_a_coordinate_system_has_no_waypoints(here):
    create()
    run("ask")
    shown = invoke("study", "export", "next.gpx", "--name=leak")

    assert (shown.exit_code, "without a coordinate system" in shown.stderr) == (2, True)
    assert not Path("next.gpx").exists()


def test_what_was_exported_can_be_imported_elsewhere(here):
    create()
    run("import", "levels.csv", *COLUMNS)
    run("export", "trials.csv")
    other = twin()
    shown = invoke("study", "import", "trials.csv", "--edge=edge", "--name=twin")

    assert shown.exit_code == 0, shown.stderr
    assert observed(other) == observed(leak())


def test_ids_of_several_parts_are_exported_and_imported(here):
    """CSV knows no tuples, and JSON makes lists of them: also as older files have them."""
    graph = pipes([("main", 0), ("east", 1), ("west", (2, "b"))])
    write_network(graph, here / "pipes.json")
    create()
    Path("levels.csv").write_text("edge,distance,value\n\"('west', (2, 'b'))\",1.5,3\n\"['east', 1]\",2,4\n")
    run("import", "levels.csv")
    run("export", "trials.csv")
    other = Study.create(graph, name="twin", **SETTINGS)
    shown = invoke("study", "import", "trials.csv", "--name=twin")

    assert shown.exit_code == 0, shown.stderr
    assert pd.read_csv("trials.csv")["edge"].tolist() == ["('west', (2, 'b'))", "('east', 1)"]
    assert observed(other) == observed(leak())


# Wrong input


@pytest.mark.parametrize(
    ("command", "message"),
    [
        ("create pipes.json", "there is a study named 'leak' already; go on with it by --resume"),
        (
            "create pipes.json --resume --seed 9",
            "was made with --noise 0.0, got no --noise; give the same options",
        ),
        ("create nothing.json --name new", "nothing.json"),
        ("create pipes.json --name new --acquisition guess", "guess"),
        ("ask --crew north@main", "--crew must be NAME or NAME@EDGE:DISTANCE, got 'north@main'"),
        ("ask --crew north@main:far", "a distance must be a number, got 'far'"),
        ("ask --crew north -n 2", "each --crew gets one place, got -n or --worker too"),
        ("ask --radius 2", "--travel-cost and --radius are those of crews, got no --crew"),
        ("tell 7 1.0", "the trials of 'leak' are 0..1, got 7"),
        ("tell one 1.0", "the ID of a trial is a whole number, got 'one'"),
        ("tell -1 1.0", "the ID of a trial is a whole number, got '-1'"),
        ("tell 1 1,5", "a value must be a number, got '1,5'"),
        ("tell 1 inf", "a value must be finite"),
        ("tell 1 1.0 --noise -1", "noise must be a positive variance, got -1.0"),
        ("tell 1 1.0 --at main 99", "99"),
        ("tell 0 1.0", "trial 0 cannot be told: it is observed"),
        ("fail 0", "trial 0 cannot be told: it is observed"),
        ("correct 1 1.0", "correct needs a trial that was told, got trial 1, pending"),
        ("correct 0 nan", "a correction must be a number"),
        ("withdraw 1", "withdraw needs a trial that was told, got trial 1, pending"),
        ("cancel 0", "only pending trials can be cancelled"),
        ("release 0", "only pending trials can be released"),
        ("note 9 hello", "the trials of 'leak' are 0..1, got 9"),
        ("enqueue nowhere 1", "no edge has the id 'nowhere'"),
        ("enqueue main -1", "-1"),
        ("import nothing.csv", "nothing.csv"),
        ("import levels.csv", "no column is called 'value'"),
        ("import levels.csv --again --only-new", "--again adds every row and --only-new does not, got both"),
        (
            "export table.txt",
            "OUT must end in .csv, .gpkg, .geojson, .json, .gpx, .kml, .html, .htm, got 'table.txt'",
        ),
        ("export table.csv nowhere/map.gpkg", "must be in a folder that exists, got none at nowhere"),
        ("plot map.gif", "a picture must end in .png, .pdf, .svg, got 'map.gif'"),
        ("run --objective sound --budget 9", "--objective must be module:function, got 'sound'"),
        ("worker --objective sound:silence --budget 9", "got 'silence'; there are"),
    ],
)
def test_wrong_input_is_one_line_and_writes_nothing(here, command, message):
    create()
    run("ask", "-n", 2)
    run("tell", 0, 2.0)
    before = {path.name: path.read_bytes() for path in here.iterdir() if path.is_file()}
    parts = command.split()
    named = [] if "--name" in parts else ["--name", "leak"]
    shown = invoke("study", *parts, *named)

    assert shown.exit_code == 2
    assert shown.stdout == ""
    assert shown.stderr.startswith("error: ")
    assert shown.stderr.count("\n") == 1
    assert re.search(message, shown.stderr) or message in shown.stderr
    assert {path.name: path.read_bytes() for path in here.iterdir() if path.is_file()} == before


@pytest.mark.parametrize(
    ("command", "message"),
    [
        ("status", "it must be said which study is meant, got neither --storage nor --name"),
        ("status --name lost", "there is no study file lost.journal; make it with netbo study create"),
        ("create pipes.json --storage a.journal", "a new study needs a name, got none"),
        ("export table.csv --name empty", "a table needs a trial, got none in the study 'empty'"),
        ("plot map.png --name empty", "a picture needs a value, got none in the study 'empty'"),
    ],
)
def test_a_study_that_is_not_there_or_empty_is_said_so(here, command, message):
    Study.create(pipes(), name="empty", **SETTINGS)
    before = {path.name for path in here.iterdir() if path.is_file()}
    shown = invoke("study", *command.split())

    assert shown.exit_code == 2
    assert message in shown.stderr
    assert {path.name for path in here.iterdir() if path.is_file()} == before


def test_a_map_needs_a_value(here):
    create()
    run("ask")
    shown = invoke("study", "export", "trials.csv", "map.gpkg", "--name=leak")

    assert "a map or a page needs a value, got none in the study 'leak'" in shown.stderr
    assert not (here / "trials.csv").exists()


@pytest.mark.parametrize("name", sorted(study.commands))
def test_help_of_every_command_tells_the_exit_codes(name):
    shown = invoke("study", name, "--help")

    assert shown.exit_code == 0
    for line in ("2    wrong input", "3    nothing to ask for", "130  ended by Ctrl-C or SIGTERM"):
        assert line in shown.stdout
    named = {"list": ("--storage", "--json"), "repair": ("--json",)}  # the others are about one study
    assert all(option in shown.stdout for option in named.get(name, ("--storage", "--name", "--json")))


# Working


def test_run_measures_where_a_worker_of_a_study_would(here):
    create()
    text = run("run", "--objective=sound:loudness", "--budget=8")
    study = twin()
    study.work(height, budget=8)

    assert observed(leak()) == observed(study)
    assert "told         8 values and 0 failures; the study has 8 evaluations" in text
    assert "stopped      the budget of 8 evaluations is spent" in text
    assert len(re.findall(r"^trial \d+  edge ", text, re.MULTILINE)) == 8


def test_a_worker_has_nothing_to_do_when_the_budget_is_spent(here):
    create()
    run("run", "--objective=sound:loudness", "--budget=4")
    shown = invoke("worker", "--objective=sound:loudness", "--budget=4", "--name=leak", "--json")
    report = json.loads(shown.stdout)

    assert shown.exit_code == 0
    assert (report["told"], report["evaluations"]) == (0, 4)
    assert report["best"]["value"] == leak().best().value


def test_failures_are_told_with_their_reason(here):
    create()
    shown = invoke("study", "run", "--objective=sound:broken", "--budget=2", "--name=leak")

    assert shown.exit_code == 2
    assert "one of 2 evaluations must give a value, got 2 failures, the last at edge" in shown.stderr
    assert "failed: RuntimeError: no reading\n" in shown.stdout
    assert re.search(r"failed +\S+ +RuntimeError: no reading$", run("status"), re.MULTILINE)
    assert told("status")["trials"][0]["note"].startswith("Traceback")
    assert [record.state for record in leak().records] == [State.FAILED] * 2


@pytest.mark.parametrize("command", [["study", "run"], ["study", "run", "--jobs=2"], ["worker"]])
def test_a_function_that_only_fails_ends_the_work_with_its_reason(here, command):
    create()
    shown = invoke(*command, "--objective=sound:broken", "--budget=40", "--name=leak")

    assert shown.exit_code == 2
    assert "one of the first 5 evaluations must give a value" in shown.stderr
    assert "reading; call the objective on this point yourself" in shown.stderr
    assert 5 <= len(leak().records) <= 10


def test_work_that_ends_before_the_budget_says_so_by_its_exit_code(here):
    create()
    run("ask")
    shown = invoke("study", "run", "--objective=sound:loudness", "--budget=3", "--name=leak")

    assert shown.exit_code == 3
    assert shown.stderr.startswith("2 of 3 evaluations are made: the budget of 3 evaluations is handed out")


def test_two_processes_share_a_budget(here):
    create()
    document = told("run", "--objective=sound:loudness", "--budget=10", "--jobs=2")
    records = leak().records

    assert (document["told"], document["evaluations"]) == (10, 10)
    assert len({(p.edge_id, p.distance) for p, _ in observed(leak())}) == 10
    assert {record.state for record in records} <= {State.OBSERVED, State.VOID}
    assert {re.sub(r".*-", "", record.worker) for record in records} <= {"0", "1"}


def test_the_whole_life_of_a_study(here):
    create()
    run("ask", "-n", 3)
    run("tell", 0, 7.5)
    run("fail", 1)
    run("cancel", 2)
    run("correct", 0, 1.5)
    run("import", "levels.csv", *COLUMNS)
    run("withdraw", 3)
    run("run", "--objective=sound:loudness", "--budget=16")
    run("export", "trials.csv", "map.gpkg", "report.html")
    run("plot", "map.png")
    report = told("status")

    assert report["counts"] == {"observed": 14, "failed": 1, "cancelled": 1, "withdrawn": 1}
    assert report["best"]["edge"] == "west"
    assert abs(report["best"]["distance"] - 3.5) <= 0.8  # of 12 km, after 14 values
    assert report["trials"][0]["value"] == 1.5
    assert leak().n_told == 16
    for name in ("trials.csv", "map.gpkg", "report.html", "map.png"):
        assert (here / name).stat().st_size > 0


def test_a_worker_told_to_end_loses_nothing(here):
    create()
    process = start("worker", "--objective=sound:stops_at_the_fourth", "--budget=8", "--storage=leak.journal")
    await_file(here / "begun.txt", process)
    process.send_signal(signal.SIGTERM)
    out, err = process.communicate(timeout=300)
    states = [record.state for record in leak().records]
    study = twin()
    study.work(height, budget=8)

    assert process.returncode == 130
    assert err == "interrupted; all that was told is in the study\n"
    assert "told         3 values and 0 failures" in out
    assert states == [State.OBSERVED] * 3 + [State.RELEASED]
    run("run", "--objective=sound:loudness", "--budget=8")
    assert observed(leak()) == observed(study)


@pytest.mark.slow
@pytest.mark.parametrize("number", [signal.SIGINT, signal.SIGTERM])
def test_a_run_with_processes_told_to_end_loses_nothing_and_leaves_nobody_behind(here, number):
    create()
    process = start(
        "study", "run", "--objective=sound:stops_at_the_fourth", "--budget=8", "--jobs=2", "--name=leak"
    )
    await_file(here / "begun.txt", process)
    process.send_signal(number)
    out, err = process.communicate(timeout=300)  # ends only when the workers, which hold the pipe, have ended
    states = [record.state for record in leak().records]

    assert process.returncode == 130, err
    assert "interrupted; all that was told is in the study" in err
    assert set(states) <= {State.OBSERVED, State.RELEASED, State.VOID}
    assert states.count(State.OBSERVED) == 3
    assert "told         3 values and 0 failures; the study has 3 evaluations" in out


@pytest.mark.slow
def test_workers_whose_run_was_killed_end_too(here):
    create()
    process = start(
        "study", "run", "--objective=sound:stops_at_the_fourth", "--budget=8", "--jobs=2", "--name=leak"
    )
    await_file(here / "begun.txt", process)
    process.kill()
    process.communicate(timeout=300)  # the workers hold the pipe: it ends with the last of them

    assert leak().pending == []


@pytest.mark.slow
def test_processes_that_die_give_their_places_back(here):
    create()
    shown = invoke("study", "run", "--objective=sound:dies", "--budget=5", "--jobs=2", "--name=leak")

    assert shown.exit_code == 1
    assert "error: every worker died; what they had under way was given back" in shown.stderr
    assert len(re.findall(r"worker .* ended with exit code 3", shown.stderr)) == 2
    assert {record.state for record in leak().records} <= {State.RELEASED, State.VOID}


class Said:
    """A worker process that is through."""

    def __init__(self, answer):
        self.answer = lambda: answer


def test_what_several_workers_did_is_added_up():
    spent, ended = Work(3, 1, "the budget of 5 evaluations is spent"), Work(1, 0, "interrupted")

    assert total_work([Said(spent), Said(ended), Said(None)], False) == Work(4, 1, spent.stopped)
    assert total_work([Said(ended), Said(None)], True) == Work(1, 0, "interrupted")
    with pytest.raises(ParameterError, match="the storage is away"):
        total_work([Said(spent), Said("the storage is away")], False)


def test_interrupted_before_it_began_a_run_ends_like_any_other(here, monkeypatch):
    create()
    monkeypatch.setattr("netbo.cli.worker.work_here", lambda *_: os.kill(os.getpid(), signal.SIGTERM))
    before = signal.getsignal(signal.SIGTERM)
    shown = invoke("study", "run", "--objective=sound:loudness", "--budget=3", "--name=leak")

    assert (shown.exit_code, shown.stderr) == (130, "interrupted; all that was told is in the study\n")
    assert signal.getsignal(signal.SIGTERM) is before


# The guide


def shell(line, shown, monkeypatch):
    """What a line of the guide prints; the files it shows are made."""
    program, *arguments = shlex.split(line)
    if program == "cat":
        Path(arguments[0]).write_text(shown)
        return shown
    if program == "export":
        monkeypatch.setenv(*arguments[0].split("="))
        return ""
    assert program == "netbo"
    return invoke(*arguments).output


def test_the_guide_prints_what_it_shows(here, monkeypatch):
    blocks = re.findall(r"^```(python|console)\n(.*?)^```", GUIDE.read_text(), re.MULTILINE | re.DOTALL)
    count = 0
    for kind, body in blocks:
        if kind == "python":
            exec(body, {})
            continue
        for part in re.split(r"^\$ ", body, flags=re.MULTILINE)[1:]:
            line, _, shown = part.partition("\n")
            printed = shell(line, shown, monkeypatch)
            count += 1
            assert UpToLastDigits().check_output(shown, printed, doctest.ELLIPSIS), f"{line}\n{printed}"

    assert count == 26


def test_the_guide_names_the_exit_codes_that_help_names():
    codes = re.findall(r"^  (\d+)  ", STUDY_EXIT_CODES, re.MULTILINE)

    assert codes == re.findall(r"^\| (\d+) \|", GUIDE.read_text(), re.MULTILINE)


def test_nodes_are_named_in_the_shell(here):
    """Of the pipes, node 2 is the end of east, node 3 that of west, and node 0 the beginning of main."""
    create()
    queued = told("enqueue", "--node=3")["trial"]
    run("ask")
    moved = told("tell", 0, 2.5, "--node=2")["trial"]
    (asked,) = told("ask", "--crew=north@0", "--radius=0.5")["suggestions"]

    assert (queued["edge"], queued["distance"]) == ("west", 5.0)
    assert (moved["edge"], moved["distance"]) == ("east", 3.0)
    assert asked["edge"] == "main"
    assert asked["distance"] <= 0.5
    refused = {
        ("enqueue", "--node=9"): "no vertex has the id '9'",
        ("enqueue", "west", "1.0", "--node=3"): "a place must be EDGE DISTANCE or --node NAME",
        ("enqueue", "west"): "a place must be EDGE DISTANCE or --node NAME",
        ("enqueue",): "a place must be EDGE DISTANCE or --node NAME",
    }
    for (command, *arguments), message in refused.items():
        shown = invoke("study", command, *arguments, "--name=leak")
        assert shown.exit_code == 2
        assert message in shown.stderr
