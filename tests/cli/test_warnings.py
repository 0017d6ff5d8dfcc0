"""What the report of a network warns of: said by every command that reads one, kept by a study."""

import json

import geopandas
import pytest
import shapely
from click.testing import CliRunner

from netbo.cli import main
from netbo.cli.options import in_shell
from netbo.studies import Study

EAST, NORTH = 458_000.0, 5_549_000.0
OBJECTIVE = "def loudness(place):\n    return float(place.distance)\n"


@pytest.fixture
def here(tmp_path, monkeypatch):
    """Two streets that cross, and one that stops a centimetre short: three components."""
    monkeypatch.chdir(tmp_path)
    monkeypatch.syspath_prepend(tmp_path)
    for name in ("NETBO_STORAGE", "NETBO_STUDY"):
        monkeypatch.delenv(name, raising=False)
    lines = [[(0, 0), (100, 0)], [(50, -50), (50, 50)], [(20, 30), (20, 0.012)]]
    shapes = [shapely.LineString([(EAST + x, NORTH + y) for x, y in line]) for line in lines]
    geopandas.GeoDataFrame({"street": list("abc")}, geometry=shapes, crs="EPSG:32633").to_file("streets.gpkg")
    (tmp_path / "sound_of_streets.py").write_text(OBJECTIVE)
    (tmp_path / "levels.csv").write_text("edge,distance,value\n1,10,1.0\n1,90,2.0\n2,30,0.5\n")
    return tmp_path


def run(*arguments):
    return CliRunner().invoke(main, [str(each) for each in arguments])


def warnings_in(text):
    return [line for line in text.splitlines() if line.startswith("warning: ")]


def test_every_command_that_reads_a_network_says_once_what_its_report_warns_of(here):
    """On stderr, so that what is piped on stays as it is."""
    searched = run(
        "maximize", "streets.gpkg", "--objective", "sound_of_streets:loudness", "--budget", 3, "--out", "run"
    )
    suggested = run(
        "suggest",
        "streets.gpkg",
        "--data",
        "levels.csv",
        "--edge",
        "edge",
        "--distance",
        "distance",
        "-n",
        1,
        "--json",
    )
    written = run("report", "run")
    made = run("study", "create", "streets.gpkg", "--name", "leak", "--json")

    for shown in (searched, suggested, written, made):
        assert shown.exit_code == 0, shown.output
        components, dead_end, crossing = warnings_in(shown.stderr)
        assert components.startswith("warning: 3 components")
        assert "--read snap=0.02" in dead_end
        assert "(458050, 5549000)" in crossing
        assert "--read node=true" in crossing
        assert "warning" not in shown.stdout.replace("warnings", "")
    assert json.loads(made.stdout)["study"] == "leak"
    assert json.loads(suggested.stdout)["next"]


def test_what_was_mended_is_not_warned_of(here):
    made = run(
        "study", "create", "streets.gpkg", "--name", "leak", "--read", "node=true", "--read", "snap=0.02"
    )

    assert made.exit_code == 0
    assert made.stderr == ""
    assert "warning" not in run("study", "status", "--name", "leak").output


def test_a_study_keeps_the_warnings_and_its_status_counts_them(here):
    run("study", "create", "streets.gpkg", "--name", "leak")
    (here / "streets.gpkg").unlink()
    status, shown = (
        run("study", "status", "--name", "leak"),
        run("study", "status", "--name", "leak", "--warnings"),
    )
    told = json.loads(run("study", "status", "--name", "leak", "--json").stdout)

    assert "3 warnings about the network: netbo study status --warnings shows them" in status.stdout
    assert warnings_in(status.stderr) == []
    assert len(warnings_in(shown.stderr)) == 3
    assert tuple(told["network_warnings"]) == Study.load("leak.journal").network.report.warnings


def test_inspect_speaks_the_words_of_the_shell(here):
    shown = run("inspect", "streets.gpkg")

    assert shown.stderr == ""
    assert "--read node=true joins them there" in shown.stdout
    assert "node=True" not in shown.stdout


@pytest.mark.parametrize("name", ["findings.gpkg", "findings.geojson"])
def test_inspect_writes_a_map_of_what_it_found(here, name):
    shown = run("inspect", "streets.gpkg", "--out", name)
    found = geopandas.read_file(name).to_crs("EPSG:32633")
    (crossing,) = found[found.kind == "crossing"].geometry

    assert shown.exit_code == 0
    assert f"written: {name}" in shown.stdout
    assert {"false dead end", "crossing", "dead end", "warning"} == set(found.kind)
    assert (crossing.x, crossing.y) == pytest.approx((EAST + 50, NORTH), abs=0.001)


def test_inspect_as_json_stays_json_with_a_map(here):
    shown = run("inspect", "streets.gpkg", "--out", "findings.gpkg", "--json")

    assert len(json.loads(shown.stdout)["crossings"]) == 1
    assert "written: findings.gpkg" in shown.stderr
    assert run("inspect", "streets.gpkg", "--out", "findings.txt").exit_code == 2


def test_words_that_are_no_options_stay():
    assert in_shell("pass crs=, or unit='ft'") == "pass --read crs=..., or --read unit=ft"
    assert (
        in_shell("frame.set_crs('EPSG:4326', allow_override=True)")
        == "frame.set_crs('EPSG:4326', allow_override=True)"
    )
