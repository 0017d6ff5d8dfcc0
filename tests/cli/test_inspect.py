"""`netbo inspect` on every format people have: the report says what was read, and how long it is."""

import json
from pathlib import Path

import geopandas
import networkx
import pandapower
import pytest
import shapely
from click.testing import CliRunner
from pyproj import Geod
from wntr.library import ModelLibrary

import netbo
from netbo.adapters.netbo_json import write_network
from netbo.cli import main

CORNERS = [(0.0, 0.0), (30.0, 0.0), (30.0, 40.0)]  # metres; 70 in all


def lines(folder: Path, name: str) -> Path:
    parts = [shapely.LineString(CORNERS[:2]), shapely.LineString(CORNERS[1:])]
    geopandas.GeoDataFrame({"street": ["Mill", "Ford"]}, geometry=parts, crs="EPSG:32633").to_file(
        folder / name
    )
    return folder / name


def graphml(folder: Path) -> Path:
    graph = networkx.Graph()
    graph.add_edge("a", "b", length=30.0)
    graph.add_edge("b", "c", length=40.0)
    networkx.write_graphml(graph, folder / "streets.graphml")
    return folder / "streets.graphml"


def morphology(folder: Path) -> Path:
    path = folder / "cell.swc"
    path.write_text("1 1 0 0 0 1 -1\n2 3 30 0 0 1 1\n3 3 30 40 0 1 2\n")
    return path


def grid(folder: Path) -> Path:
    net = pandapower.create_empty_network()
    buses = [pandapower.create_bus(net, 20.0) for _ in range(3)]
    for first, second, km in ((0, 1, 30.0), (1, 2, 40.0)):
        pandapower.create_line(net, buses[first], buses[second], km, "NAYY 4x50 SE")
    pandapower.to_json(net, str(folder / "grid.json"))
    return folder / "grid.json"


def own(folder: Path) -> Path:
    write_network(netbo.MetricGraph([0, 1], [1, 2], [30.0, 40.0], unit="m"), folder / "own.json")
    return folder / "own.json"


FORMATS = {
    "GeoPackage": lambda folder: lines(folder, "streets.gpkg"),
    "Shapefile": lambda folder: lines(folder, "streets.shp"),
    "GraphML": graphml,
    "SWC": morphology,
    "pandapower": grid,
    "our JSON": own,
}


def inspect(*arguments):
    return CliRunner().invoke(main, ["inspect", *map(str, arguments)])


@pytest.mark.parametrize("name", FORMATS)
def test_every_format_is_recognised_and_reported(name, tmp_path):
    """Two links of 30 and 40."""
    shown = inspect(FORMATS[name](tmp_path), "--json")
    told = json.loads(shown.stdout)

    assert shown.exit_code == 0, shown.stderr
    assert told["total_length"] == pytest.approx(70.0, rel=1e-6)


def test_geojson_is_measured_on_the_ellipsoid(tmp_path):
    """GeoJSON is in degrees."""
    path = tmp_path / "streets.geojson"
    line = shapely.LineString([(15.0, 50.0), (15.001, 50.0), (15.001, 50.001)])
    geopandas.GeoDataFrame({"street": ["Mill"]}, geometry=[line], crs="EPSG:4326").to_file(path)
    told = json.loads(inspect(path, "--json").stdout)

    assert told["total_length"] == pytest.approx(Geod(ellps="WGS84").geometry_length(line), rel=1e-9)


def test_epanet_files_are_measured_in_metres():
    """Net1 in its own file: thirteen links, of which one is a pump without a length."""
    path = ModelLibrary().get_filepath("Net1")
    feet = [float(line.split()[3]) for line in section(Path(path).read_text(), "PIPES")]
    told = json.loads(inspect(path, "--json").stdout)

    assert told["unit"] == "m"
    assert told["total_length"] == pytest.approx(0.3048 * sum(feet), rel=1e-6)


def section(text: str, name: str) -> list[str]:
    """Lines of a section of an EPANET file that are no comments."""
    body = text.split(f"[{name}]")[1].split("[", maxsplit=1)[0]
    return [line for line in body.splitlines() if line.strip() and not line.strip().startswith(";")]


def test_a_network_whose_lengths_nobody_knows_can_be_looked_at():
    """The help's own example: a drawing in pixels. To search it, one must say what they are."""
    shown = inspect("sndlib/newyork")
    searched = CliRunner().invoke(
        main, ["maximize", "sndlib/newyork", "--objective", "math:hypot", "--budget", "3", "--out", "run"]
    )

    assert shown.exit_code == 0
    assert "49 edges and 16 vertices" in shown.stdout
    assert "pass --read crs=..., or --read coordinates_are_lengths=true if they are lengths" in shown.stderr
    assert searched.exit_code == 2
    assert "coordinates_are_lengths" in searched.stderr
    assert inspect("sndlib/newyork", "--read", "coordinates_are_lengths=true").stderr == ""


def test_options_reach_the_reader(tmp_path):
    path = lines(tmp_path, "streets.gpkg")
    shown = inspect(path, "--read", "id=street", "--read", "zero_length=drop", "--json")
    refused = inspect(path, "--read", "colour=red")
    wrong = inspect(path, "--read", "zero_length=mend")

    assert "Mill" in shown.stdout
    assert refused.exit_code == 2
    assert "has no option 'colour'" in refused.stderr
    assert "zero_length must be one of keep, contract, cut, drop, got 'mend'" in wrong.stderr


@pytest.mark.parametrize(
    ("name", "content", "message"),
    [
        ("none.gpkg", None, "no file is called"),
        ("empty.json", "", "is no JSON that can be read"),
        ("other.json", "{}", "neither our own, nor GeoJSON, nor pandapower's"),
        ("notes.txt", "hello", "cannot tell the format"),
        ("broken.swc", "1 1 0\n", "line 1"),
    ],
)
def test_what_cannot_be_read_is_said_in_one_line(tmp_path, name, content, message):
    if content is not None:
        (tmp_path / name).write_text(content)
    shown = inspect(tmp_path / name)

    assert shown.exit_code == 2
    assert message in shown.stderr
    assert shown.stderr.count("\n") == 1


@pytest.mark.parametrize(
    ("option", "message"),
    [
        ("snap=abc", "snap must be a number, got 'abc'; leave it out for 0.0"),
        ("node=maybe", "node must be True or False, got 'maybe'"),
        ("heights=3", "heights must be True or False, got 3"),
        ("layer=7", "layer must be text or None, got 7"),
        ("gap_tolerance=wide", "gap_tolerance must be a number or None, got 'wide'"),
        ("unit=[1]", "unit must be text or None, got [1]"),
        ("barriers=3", "barriers must be pairs of a vertex and edge ids, got 3"),
        ("barriers=[3]", "barriers must be pairs"),
        ("metric_crs=5", "crs must be a coordinate system that pyproj knows, got 5"),
        ("metric_crs=[5]", "crs must be a coordinate system that pyproj knows, got [5]"),
        ("crs=nowhere", "crs= is for lines without"),
        ("lengths=long", "lengths must be"),
        ("zero_length=[]", "zero_length must be one of"),
        ("id=none", "pass one of them as --read id=..., or none"),
    ],
)
def test_wrong_values_of_reading_options_are_a_sentence(tmp_path, option, message):
    shown = inspect(lines(tmp_path, "streets.gpkg"), "--read", option)

    assert shown.exit_code == 2
    assert message.replace("crs= is", "--read crs=... is") in shown.stderr


def test_a_layer_is_chosen_in_the_words_of_the_shell(tmp_path):
    path = lines(tmp_path, "streets.gpkg")
    geopandas.read_file(path).to_file(path, layer="more")
    shown = inspect(path)

    assert shown.exit_code == 2
    assert "choose with --read layer=..." in shown.stderr
