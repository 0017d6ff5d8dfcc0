"""Findings: what a report names, by the user's names and at places that can be looked up."""

import geopandas
import networkx
import numpy as np
import pytest
import shapely

import netbo
from netbo.adapters import Links, Treatment, as_network, assemble, dump, load
from netbo.adapters.export import write_findings
from netbo.errors import NetworkError

EAST, NORTH = 458_000.0, 5_549_000.0
LINES = {
    "main": [(0, 0), (100, 0)],
    "over": [(50, -50), (50, 50)],
    "side": [(100, 0), (100, 60)],
    "edis": [(100, 60), (100, 0)],
    "stub": [(20, 30), (20, 0.01)],
}


def streets():
    shapes = [shapely.LineString(np.add(line, [EAST, NORTH])) for line in LINES.values()]
    table = geopandas.GeoDataFrame({"street": list(LINES)}, geometry=shapes, crs="EPSG:32633")
    return netbo.read(table, id="street", directions="keep")


def of_kind(network, kind):
    return [each for each in network.findings if each.kind == kind]


def test_what_the_file_does_not_name_is_found_by_its_place():
    network = streets()
    (stub,) = of_kind(network, "false dead end")
    (crossing,) = of_kind(network, "crossing")

    assert stub.name is None
    assert stub.place == pytest.approx((EAST + 20, NORTH + 0.01))
    assert stub.sentence == "the end at (458020, 5549000.01) is 0.01 m from edge 'main'"
    assert crossing.place == (EAST + 50, NORTH)
    assert crossing.sentence == "'main' and 'over' cross without a common vertex"


def test_links_are_named_and_placed_in_their_middle():
    (pair,) = of_kind(streets(), "duplicate")

    assert pair.name == "edis"
    assert pair.place == pytest.approx((EAST + 100, NORTH + 30))


def test_dead_ends_have_the_names_of_the_source_where_it_has_names():
    graph = networkx.path_graph(["well", "school", "church"])
    networkx.set_edge_attributes(graph, 80.0, "length")
    network = netbo.read(graph, unit="m")

    assert [each.name for each in of_kind(network, "dead end")] == ["well", "church"]
    assert "dead ends       2 ('well', 'church')" in str(network.report)


def test_dead_ends_of_lines_are_told_by_their_places():
    """The numbers of vertices stand in no file."""
    text = str(streets().report)

    assert "dead ends       5 at (458000, 5549000), (458050, 5548950), (458050, 5549050), ..." in text
    assert "vertex" not in next(line for line in text.splitlines() if "dead ends" in line)


def test_every_warning_is_among_the_findings():
    network = streets()

    assert tuple(each.sentence for each in of_kind(network, "warning")) == network.report.warnings


def test_links_that_are_gone_have_no_place():
    links = Links(
        source="t", ids=["pipe", "pump", "far"], tails=[0, 1, 8], heads=[1, 2, 9], lengths=[2.0, 0.0, 0.0],
        positions={k: (float(k), 0.0) for k in (0, 1, 2, 8, 9)},
        treatments=[Treatment.KEEP, Treatment.KEEP, Treatment.KEEP],
    )  # fmt: skip
    found = {each.name: each.place for each in of_kind(assemble(links), "without length")}

    assert found == {"pump": (1.0, 0.0), "far": None}


def test_findings_survive_being_written():
    network = streets()

    assert load(dump(network)).findings == network.findings


def test_findings_are_a_layer_of_a_map(tmp_path):
    network = streets()
    read = geopandas.read_file(write_findings(network, tmp_path / "findings.gpkg"), layer="findings")

    assert list(read.columns) == ["kind", "sentence", "name", "geometry"]
    assert read.crs == "EPSG:32633"
    assert read.kind.tolist() == [each.kind for each in network.findings]
    spots = [None if each is None else (each.x, each.y) for each in read.geometry]
    assert spots == [each.place for each in network.findings]


def test_geojson_is_in_degrees(tmp_path):
    read = geopandas.read_file(write_findings(streets(), tmp_path / "findings.geojson"))
    (crossing,) = read[read.kind == "crossing"].to_crs("EPSG:32633").geometry

    assert read.crs == "EPSG:4326"
    assert (crossing.x, crossing.y) == pytest.approx((EAST + 50, NORTH), abs=0.001)


def test_a_network_without_findings_is_an_empty_layer(tmp_path):
    network = as_network(netbo.circle(1.0))

    assert network.findings == ()
    assert len(geopandas.read_file(write_findings(network, tmp_path / "none.gpkg"), layer="findings")) == 0


def test_what_is_not_drawn_is_no_map(tmp_path):
    with pytest.raises(NetworkError, match="a map needs coordinates"):
        write_findings(as_network(netbo.MetricGraph([0], [1], [2.0])), tmp_path / "none.gpkg")
