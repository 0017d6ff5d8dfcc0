"""Values told by place, one or many: what a row becomes, what is refused, that told twice is told once."""

import json

import geopandas as gpd
import pytest
from click.testing import CliRunner
from shapely.geometry import LineString

import netbo
from netbo.adapters.netbo_json import write_network
from netbo.cli import main
from netbo.errors import ObservationError, ParameterError
from netbo.studies import State, Study

PIPES = netbo.MetricGraph(
    [0, 1, 1], [1, 2, 3], [4.0, 3.0, 5.0], edge_ids=["main", "east", "west"],
    vertex_ids=["yard", "J1", "J2", "J3"], positions=[(0, 0), (4, 0), (4, 3), (9, 0)], unit="km",
)  # fmt: skip


@pytest.fixture
def here(tmp_path, monkeypatch):
    """A folder with the study `leak`, three places of which are pending."""
    monkeypatch.chdir(tmp_path)
    for name in ("NETBO_STORAGE", "NETBO_STUDY"):
        monkeypatch.delenv(name, raising=False)
    write_network(PIPES, "pipes.json")
    run("create", "pipes.json", "--noise=0.25", "--max-cell=0.5", "--design=3", "--value-unit=dB")
    run("ask", "-n", 3)
    return tmp_path


def invoke(command, *arguments):
    return CliRunner().invoke(main, ["study", command, *map(str, arguments), "--name=leak"])


def run(command, *arguments):
    shown = invoke(command, *arguments)
    assert shown.exit_code == 0, shown.stderr
    return shown.stdout


def refused(command, *arguments):
    shown = invoke(command, *arguments)
    assert shown.exit_code == 2, shown.output
    return shown.stderr


def leak():
    return Study.load("leak.journal")


def last():
    record = leak().records[-1]
    return record.point.edge_id, record.point.distance, record.value


# One value


def test_a_value_is_told_by_edge_node_or_coordinates(here):
    run("tell", 5.5, "--at", "west", 2.0)
    assert last() == ("west", 2.0, 5.5)
    run("tell", -6.5, "--node", "J3")
    assert leak().records[-1].point.xy == (9.0, 0.0)
    text = run("tell", 7.5, "--xy", 6.5, 0.25, "--limit", 0.5)

    assert last() == ("west", 2.5, 7.5)
    assert text.splitlines()[-1] == "snapped from 0.25 off the network"
    assert json.loads(run("tell", 8.0, "--xy", 3, 0.1, "--limit", 1, "--json"))["off"] == pytest.approx(0.1)
    assert [record.state for record in leak().records].count(State.PENDING) == 3


def test_a_suggestion_may_have_been_measured_beside_a_node_or_at_coordinates(here):
    run("tell", 0, 3.0, "--node", "J1")
    run("tell", 1, "failed", "--xy", 4.1, 1.5, "--limit", 0.2)
    first, second = leak().records[:2]

    assert (first.state, first.point.xy) == (State.OBSERVED, (4.0, 0.0))
    assert (second.state, second.point.edge_id, second.point.distance) == (State.FAILED, "east", 1.5)


def test_degrees_are_told_of_a_network_on_a_map(here):
    """A place 3 m beside a street, in longitude and latitude by pyproj."""
    import pyproj

    line = LineString([(500000, 4649776), (500100, 4649776)])
    gpd.GeoDataFrame({"id": [7]}, geometry=[line], crs="EPSG:32630").to_file("street.gpkg")
    CliRunner().invoke(main, ["study", "create", "street.gpkg", "--read=id=id", "--name=street"])
    mover = pyproj.Transformer.from_crs("EPSG:32630", "EPSG:4326", always_xy=True)
    longitude, latitude = mover.transform(500040, 4649779)
    where = ["--lon-lat", repr(longitude), repr(latitude), "--limit=5", "--name=street"]
    shown = CliRunner().invoke(main, ["study", "tell", "1.5", *where])
    point = Study.load("street.journal").records[0].point

    assert shown.exit_code == 0, shown.stderr
    assert shown.stdout.splitlines()[-1] == "snapped from 3 m off the network"
    assert (point.edge_id, point.distance) == (7, pytest.approx(40.0, abs=0.05))


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        ("5.5", "a value belongs to a suggestion or a place, got 5.5 alone"),
        ("0 5.5 6.5", "an ID and a value are told, got 0 5.5 6.5"),
        ("5.5 --xy 6.5 0.25", "coordinates need --limit, and these lie 0.25 off the network"),
        ("5.5 --xy 6.5 0.25 --limit 0.1", "must lie within --limit 0.1, and these lie 0.25 off"),
        ("5.5 --xy 6.5 nan --limit 9", ""),
        ("5.5 --lon-lat 6.5 0.25 --limit 1", "--lon-lat needs a network whose coordinate system is known"),
        ("5.5 --at west 1 --node J1", "a place is said once, got several"),
        ("5.5 --at west 1 --crs EPSG:4326", "--crs is that of --xy, got no --xy"),
        ("5.5 --node J9", "J9"),
    ],
)
def test_a_place_that_cannot_be_meant_is_refused_and_nothing_written(here, arguments, message):
    said = refused("tell", *arguments.split())

    assert message in said
    assert len(leak().records) == 3


def test_python_takes_names_of_nodes_too(here):
    study = leak()
    study.add_observation("J3", 4.0)

    assert study.records[-1].point.xy == (9.0, 0.0)


# Many values


def test_suggestions_are_told_from_a_table_and_other_rows_added(here):
    (here / "crew.csv").write_text(
        "nr;edge;distance;value;noise;remark\n"
        "0;;;34,5;;\n1;;;failed;;the cover is stuck\n;west;2,5;31,25;0,5;by hand\n;east;1,0;failed;;\n"
    )
    text = run("import", "crew.csv", "--id=nr", "--noise-column=noise", "--note=remark")
    first, second, third, fourth, fifth = leak().records

    assert text == "2 suggestions told from crew.csv\n2 measurements of crew.csv added, the last as trial 4\n"
    assert (first.value, first.note) == (34.5, "crew.csv, line 2")
    assert (second.state, second.note) == (State.FAILED, "the cover is stuck")
    assert third.state is State.PENDING
    assert (fourth.point.edge_id, fourth.point.distance, fourth.value, fourth.noise, fourth.note) == (
        "west", 2.5, 31.25, 0.5, "by hand",
    )  # fmt: skip
    assert (fifth.state, fifth.point.edge_id, fifth.value) == (State.FAILED, "east", None)


def test_a_table_of_suggestions_needs_no_places_and_is_told_once(here):
    (here / "crew.csv").write_text("id,value\n2,7\n0,5\n")
    run("import", "crew.csv", "--id=id")
    values = [record.value for record in leak().records]
    again = run("import", "crew.csv", "--id=id")
    run("correct", 2, 8)

    assert values == [5.0, None, 7.0]
    assert again == "0 measurements of crew.csv added\n2 rows left out: in the study already\n"
    assert "2 rows left out" in run("import", "crew.csv", "--id=id")
    assert len(leak().records) == 3


def test_rows_with_a_key_are_told_once_however_often_they_are_read(here):
    rows = "sample,edge,distance,value\nA-1,west,2.5,31\nA-2,west,2.5,31\n"
    (here / "lab.csv").write_text(rows)
    run("import", "lab.csv", "--key=sample")
    run("correct", 3, 30)
    (here / "lab.csv").write_text(rows + "A-3,east,1,12\nA-3,east,1,12\n")
    text = run("import", "lab.csv", "--key=sample")

    assert "1 measurement of lab.csv added" in text
    assert "3 rows left out" in text
    assert [record.value for record in leak().records[3:]] == [30.0, 31.0, 12.0]
    assert [record.own_key for record in leak().records] == [None] * 3 + ["A-1", "A-2", "A-3"]


def test_a_key_is_told_once_from_python(here):
    study = leak()
    number = study.add_observation(("west", 2.5), 31.0, key="A-1")

    assert study.add_observation(("west", 2.5), 31.0, key="A-1") == number
    with pytest.raises(ObservationError, match=r"'A-1' is that of trial 3, value 31\.0, got the value 32"):
        study.add_observation(("west", 2.5), 32.0, key="A-1")
    with pytest.raises(ObservationError, match="or another place"):
        study.add_observation(("west", 2.0), 31.0, key="A-1")
    for odd in ("", 7):
        with pytest.raises(ParameterError, match="a key must be text"):
            study.add_observation(("west", 2.0), 31.0, key=odd)
    assert len(study.records) == number + 1


@pytest.mark.parametrize(
    ("rows", "message"),
    [
        ("0,,,5\n9,,,5\n", "no suggestion has the id 9; netbo study status shows them in line 3 of bad.csv"),
        ("0,,,5\n0.5,,,5\n", "the id of a suggestion is a whole number"),
        ("0,,,5\n1,,,loud\n", "line 3: a value must be a finite number or 'failed', got 'loud'"),
        ("0,,,5\n1,,,\n", "line 3: a value must be a finite number or 'failed', got None"),
        ("0,,,5\n,west,9,5\n", "is not on the network"),
        ("0,,,5\n,,,5\n", "nothing"),
        ("0,,,5\n0,,,6\n", "0 stands for another value in line 2 in line 3 of bad.csv"),
    ],
)
def test_one_bad_row_leaves_no_row_behind(here, rows, message):
    (here / "bad.csv").write_text(f"id,edge,distance,value\n{rows}")

    assert message in refused("import", "bad.csv", "--id=id")
    assert all(record.state is State.PENDING for record in leak().records)
    run("import", "bad.csv", "--id=id", "--skip-bad")
    assert [record.value for record in leak().records][:1] in ([5.0], [None])


def test_a_value_that_was_told_another_way_is_refused(here):
    run("tell", 0, 5.0)
    (here / "crew.csv").write_text("id,value\n0,6\n1,7\n")

    assert "trial 0 is observed, value 5.0, got 6.0; netbo study correct 0 VALUE" in refused(
        "import", "crew.csv", "--id=id"
    )
    assert leak().records[1].state is State.PENDING


def test_a_dry_run_shows_what_would_become_of_each_row_and_writes_nothing(here):
    run("tell", 0, 5.0)
    (here / "crew.csv").write_text("id,x,y,value\n0,,,5\n1,,,7\n,6.5,0.25,31\n,4,9,12\n2,,,loud\n")
    before = (here / "leak.journal").read_bytes()
    options = ("--id=id", "--limit=0.5", "--dry-run")
    shown = invoke("import", "crew.csv", *options)
    plan = json.loads(invoke("import", "crew.csv", *options, "--json").stdout)["rows"]
    lines = shown.stdout.splitlines()

    assert [(row["at"], row["what"]) for row in plan] == [
        ("line 2", "known already"), ("line 3", "tell"), ("line 4", "add"), ("line 5", "refused"),
        ("line 6", "refused"),
    ]  # fmt: skip
    assert (plan[2]["edge"], plan[2]["distance"], plan[2]["off"]) == ("west", 2.5, 0.25)
    assert "must lie within 0.5" in plan[3]["reason"]
    assert lines[-1] == "1 known already, 1 tell, 1 add, 2 refused; nothing was written"
    assert shown.exit_code == 2
    assert (here / "leak.journal").read_bytes() == before
    assert invoke("import", "crew.csv", *options, "--skip-bad").exit_code == 0


def test_a_dry_run_then_the_import_do_what_was_shown(here):
    (here / "crew.csv").write_text("id,edge,distance,value\n1,,,7\n,west,2.5,31\n")
    assert invoke("import", "crew.csv", "--id=id", "--dry-run").exit_code == 0
    document = json.loads(run("import", "crew.csv", "--id=id", "--json"))

    assert (document["told"], document["added"], document["left_out"]) == ([1], [3], 0)
    assert [record.value for record in leak().records] == [None, 7.0, None, 31.0]
