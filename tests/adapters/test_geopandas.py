"""GeoDataFrames and line files: what meets, what it is called, how long it is, and what is refused."""

import geopandas
import networkx
import numpy as np
import pandas
import pytest
from shapely import GeometryCollection, LineString, MultiLineString, Point, Polygon

import netbo
from netbo.adapters.geopandas import links_from_geopandas, read_geopandas
from netbo.errors import NetworkError

METRIC = "EPSG:27700"  # British National Grid, in metres


def streets(geometries=None, crs=METRIC, **columns):
    """Three streets that meet at (100, 0), with names and surveyed lengths."""
    lines = geometries or [
        LineString([(0, 0), (100, 0)]),
        LineString([(100, 0), (100, 50), (150, 50)]),
        LineString([(100, 0), (100, -30)]),
    ]
    table = {
        "name": [f"street {n}" for n in range(len(lines))],
        "surveyed": [10.0 * (n + 1) for n in range(len(lines))],
    }
    return geopandas.GeoDataFrame(table | columns, geometry=lines, crs=crs)


def test_lines_meet_where_their_ends_are_equal_and_are_as_long_as_drawn():
    network = read_geopandas(streets())

    assert network.graph.n_vertices == 4
    assert network.graph.n_components == 1
    np.testing.assert_allclose(network.graph.lengths, [100.0, 100.0, 30.0])
    assert sorted(network.graph.degrees.tolist()) == [1, 1, 1, 3]


def test_ends_a_nanometre_apart_do_not_meet():
    lines = [LineString([(0, 0), (100, 0)]), LineString([(100 + 1e-9, 0), (200, 0)])]

    assert read_geopandas(streets(lines)).graph.n_components == 2


def test_features_are_named_by_index_or_by_a_column():
    frame = streets().set_index(np.array([7, 8, 9]))

    assert links_from_geopandas(frame).ids == [7, 8, 9]
    assert links_from_geopandas(frame, id="name").ids == ["street 0", "street 1", "street 2"]
    assert "name" not in links_from_geopandas(frame, id="name").attributes
    assert links_from_geopandas(frame).attributes["name"] == ["street 0", "street 1", "street 2"]


def test_a_column_may_hold_the_lengths():
    links = links_from_geopandas(streets(surveyed=[101.0, None, 31.0]), length="surveyed", unit="m")

    np.testing.assert_array_equal(links.lengths, [101.0, np.nan, 31.0])
    assert links.unit == "m"
    assert list(links.attributes) == ["name"]
    whole = streets(surveyed=pandas.array([101, None, 31], dtype="Int64"))
    np.testing.assert_array_equal(
        links_from_geopandas(whole, length="surveyed").lengths, [101.0, np.nan, 31.0]
    )


def test_a_series_of_lines_is_enough():
    network = read_geopandas(streets().geometry)

    assert network.graph.total_length == pytest.approx(230.0)


def test_parts_that_join_are_one_edge_in_the_direction_of_the_first():
    """Stored in any order: (0, 0), (1, 0), (2, 0), (3, 1), but the part named first runs backwards."""
    parts = [[(2, 0), (1, 0)], [(0, 0), (1, 0)], [(2, 0), (3, 1)]]
    links = links_from_geopandas(streets([MultiLineString(parts)]))

    assert links.ids == [0]
    np.testing.assert_array_equal(links.curves[0], [(3, 1), (2, 0), (1, 0), (0, 0)])


def test_parts_that_do_not_join_are_edges_of_their_own():
    """Lengths of the column are shared as the drawn ones are, 1 to 3."""
    parts = MultiLineString([[(0, 0), (1, 0)], [(5, 0), (8, 0)]])
    links = links_from_geopandas(streets([parts, LineString([(1, 0), (5, 0)])]), length="surveyed")

    assert links.ids == [(0, 0), (0, 1), 1]
    np.testing.assert_allclose(links.lengths, [2.5, 7.5, 20.0])
    assert links.attributes["name"] == ["street 0", "street 0", "street 1"]
    assert any("1 feature of several parts" in note for note in links.notes)


def test_one_part_is_no_part():
    links = links_from_geopandas(streets([MultiLineString([[(0, 0), (1, 0)]])]))

    assert links.ids == [0]


@pytest.mark.parametrize("suffix", [".gpkg", ".shp", ".geojson", ".parquet"])
def test_files_read_like_the_frame(tmp_path, suffix):
    path = tmp_path / f"streets{suffix}"
    frame = streets() if suffix != ".geojson" else streets().to_crs("EPSG:4326")
    (frame.to_parquet if suffix == ".parquet" else frame.to_file)(path)
    links = links_from_geopandas(path, id="name")

    assert links.ids == ["street 0", "street 1", "street 2"]
    assert path.name in links.source
    assert links.crs == frame.crs
    for curve, line in zip(links.curves, frame.geometry, strict=True):
        np.testing.assert_allclose(curve, line.coords, rtol=1e-12)


def test_features_of_a_geopackage_are_named_by_its_own_feature_ids(tmp_path):
    """A GeoPackage counts from 1, as QGIS shows it."""
    path = tmp_path / "streets.gpkg"
    streets().to_file(path)

    assert links_from_geopandas(path).ids == [1, 2, 3]


def test_one_of_several_layers_must_be_chosen(tmp_path):
    path = tmp_path / "town.gpkg"
    streets().to_file(path, layer="streets")
    streets([LineString([(0, 0), (0, 7)])]).to_file(path, layer="rivers")

    with pytest.raises(
        NetworkError, match=r"one layer, got 'streets' \(LineString\), 'rivers' \(LineString\)"
    ):
        links_from_geopandas(path)
    with pytest.raises(NetworkError, match="no layer 'roads'; there are 'streets'"):
        links_from_geopandas(path, layer="roads")
    links = links_from_geopandas(path, layer="rivers")

    assert len(links.ids) == 1
    assert links.source == "town.gpkg, layer 'rivers'"


def test_several_frames_are_one_network():
    other = streets([LineString([(0, 0), (0, 7)])])
    links = links_from_geopandas([streets(), other])

    assert links.ids == [(0, 0), (0, 1), (0, 2), (1, 0)]
    assert read_geopandas([streets(), other]).graph.n_components == 1
    assert read_geopandas([streets().geometry, other.geometry]).graph.n_edges == 4


def test_mixed_coordinate_systems_are_refused():
    with pytest.raises(NetworkError, match="got EPSG:27700 in frame 0 and EPSG:4326 in frame 1"):
        links_from_geopandas([streets(), streets(crs="EPSG:4326")])
    with pytest.raises(NetworkError, match="got EPSG:27700 in frame 0 and none in frame 1"):
        links_from_geopandas([streets(), streets(crs=None)])
    with pytest.raises(NetworkError, match="crs= is for lines without a coordinate system, got 'EPSG:3857'"):
        links_from_geopandas(streets(), crs="EPSG:3857")


def test_a_coordinate_system_may_be_given_where_there_is_none():
    assert links_from_geopandas(streets(crs=None)).crs is None
    assert links_from_geopandas(streets(crs=None), crs="EPSG:27700").crs == "EPSG:27700"
    assert links_from_geopandas(streets(), crs="EPSG:27700").crs == METRIC


def broken_line(x):
    """A line to nowhere; GEOS would warn of it as it is made."""
    with np.errstate(invalid="ignore"):
        return LineString([(0, 0), (x, 1)])


@pytest.mark.parametrize(
    ("geometry", "match"),
    [
        (None, "empty geometry at 'street 1'"),
        (LineString(), "empty geometry at 'street 1'"),
        (Point(1, 2), "got a Point at 'street 1'"),
        (Polygon([(0, 0), (1, 0), (1, 1)]), "got a Polygon at 'street 1'"),
        (GeometryCollection([LineString([(0, 0), (1, 0)])]), "got a GeometryCollection at 'street 1'"),
        (broken_line(np.nan), "invalid geometry at 'street 1'"),
        (broken_line(np.inf), "invalid geometry at 'street 1'"),
    ],
)
def test_features_that_are_no_lines_are_refused_by_name(geometry, match):
    frame = streets([LineString([(0, 0), (1, 0)]), geometry])

    with pytest.raises(NetworkError, match=match):
        links_from_geopandas(frame, id="name")


def test_a_line_drawn_as_a_dot_is_left_to_the_treatment_of_links_without_length():
    dot = LineString([(100, 0), (100, 0)])
    network = read_geopandas(streets([LineString([(0, 0), (100, 0)]), dot]))

    assert network.graph.n_edges == 1
    assert network.points([1], fraction=0.5)[0].distance == pytest.approx(100.0)


def test_heights_are_left_out_unless_asked_for():
    lines = [LineString([(0, 0, 5), (3, 0, 9)]), LineString([(3, 0, 9), (3, 4, 9)])]

    assert links_from_geopandas(streets(lines)).curves[0].shape == (2, 2)
    assert any("pass heights=True" in note for note in links_from_geopandas(streets(lines)).notes)
    assert links_from_geopandas(streets(lines), heights=True).curves[0].shape == (2, 3)
    mixed = [*lines, LineString([(0, 0), (3, 0)])]

    assert links_from_geopandas(streets(mixed), heights=True).curves[0].shape == (2, 2)
    assert any("Only some" in note for note in links_from_geopandas(streets(mixed), heights=True).notes)


def test_unknown_columns_are_refused_with_those_there_are():
    with pytest.raises(
        NetworkError, match="no column 'street'; there are 'name', 'surveyed': pass one of them as id="
    ):
        links_from_geopandas(streets(), id="street")
    with pytest.raises(NetworkError, match=r"no column 'len'; there are 'name', 'surveyed': .* as length="):
        links_from_geopandas(streets(), length="len")


def test_bad_ids_and_lengths_are_refused_by_feature():
    with pytest.raises(NetworkError, match="got none in column 'name' at row 1"):
        links_from_geopandas(streets(name=["a", None, "c"]), id="name")
    with pytest.raises(NetworkError, match="ids must be unique, got 'a' 2 times"):
        links_from_geopandas(streets(name=["a", "b", "a"]), id="name")
    with pytest.raises(NetworkError, match="lengths must be numbers, got 'long' in column 'surveyed' at 1"):
        links_from_geopandas(streets(surveyed=[1.0, "long", 2.0]), length="surveyed")


def test_sources_without_lines_are_refused_by_name(tmp_path):
    with pytest.raises(NetworkError, match=r"must exist, got .*nowhere.gpkg"):
        links_from_geopandas(tmp_path / "nowhere.gpkg")
    broken = tmp_path / "broken.gpkg"
    broken.write_bytes(b"no database")
    with pytest.raises(NetworkError, match=r"broken.gpkg must be a file of lines that geopandas reads"):
        links_from_geopandas(broken)
    table = tmp_path / "table.csv"
    table.write_text("a,b\n1,2\n", encoding="utf-8")
    with pytest.raises(
        NetworkError, match=r"GeoDataFrame with a geometry column, got DataFrame from table.csv"
    ):
        links_from_geopandas(table)
    with pytest.raises(NetworkError, match="at least one line, got none"):
        links_from_geopandas(streets().iloc[:0])
    with pytest.raises(NetworkError, match="a layer is chosen from a file"):
        links_from_geopandas(streets(), layer="streets")
    with pytest.raises(NetworkError, match="got int from int"):
        links_from_geopandas(3)


def test_both_directions_of_a_street_are_one_edge_that_answers_to_both_ids():
    """As OSMnx exports its edges: each two-way street twice, the second time from its other end."""
    there = LineString([(0, 0), (30, 0), (30, 40)])
    frame = geopandas.GeoDataFrame(
        {"name": ["there", "back", "one way", "twice"], "miles": [1.0, 1.0, 2.0, 3.0]},
        geometry=[there, there.reverse(), LineString([(30, 40), (90, 40)]), there],
        crs="EPSG:32630",
    )
    network = read_geopandas(frame, id="name")

    assert tuple(network.graph.edge_ids) == ("there", "one way", "twice")
    assert network.points("back", [10.0]) == network.points("there", [60.0])
    assert "1 pair of opposite edges with one course and length became one edge" in str(network.report)
    assert len(network.report.duplicates) == 1  # drawn twice the same way: reported, and left
    assert read_geopandas(frame, id="name", directions="keep").graph.n_edges == 4
    assert read_geopandas(frame.iloc[[1, 3]], id="name", length="miles").graph.n_edges == 2  # not as long
    with pytest.raises(NetworkError, match="directions must be 'merge' or 'keep', got 'join'"):
        read_geopandas(frame, directions="join")


def test_streets_of_osmnx_are_the_same_by_way_of_their_table():
    graph = networkx.MultiDiGraph(crs="EPSG:32630")
    for node, (x, y) in enumerate([(0, 0), (100, 0), (100, 50), (0, 50)]):
        graph.add_node(node, x=5e5 + x, y=5.7e6 + y)
    for u, v in [(0, 1), (1, 0), (1, 2), (2, 1), (2, 3), (3, 0)]:
        ends = [(graph.nodes[node]["x"], graph.nodes[node]["y"]) for node in (u, v)]
        line = LineString([ends[0], (5e5 + 50, 5.7e6 + 20), ends[1]])
        graph.add_edge(u, v, osmid=u + v, length=line.length, geometry=line)
    table = geopandas.GeoDataFrame(
        {"ids": list(graph.edges(keys=True)), "length": [d["length"] for *_, d in graph.edges(data=True)]},
        geometry=[d["geometry"] for *_, d in graph.edges(data=True)], crs="EPSG:32630",
    )  # fmt: skip
    by_table, by_graph = read_geopandas(table, id="ids", length="length"), netbo.read(graph)

    assert set(by_table.graph.edge_ids) == set(by_graph.graph.edge_ids)
    assert dict(by_table.addresses.aliases) == dict(by_graph.addresses.aliases)


KML = """<?xml version="1.0" encoding="UTF-8"?>
<kml xmlns="http://www.opengis.net/kml/2.2"><Document><name>streets</name>
<Placemark><name>Mill</name>
<LineString><coordinates>14.40,50.0 14.41,50.0</coordinates></LineString></Placemark>
<Placemark><name>Ford</name>
<LineString><coordinates>14.41,50.0,7 14.41,50.01,7</coordinates></LineString></Placemark>
</Document></kml>
"""


def test_kml_is_read_with_its_names(tmp_path):
    path = tmp_path / "streets.kml"
    path.write_text(KML)
    network = netbo.read(path, id="Name")

    assert tuple(network.graph.edge_ids) == ("Mill", "Ford")
    assert network.report.crs == "EPSG:4326"
    np.testing.assert_allclose(network.graph.lengths, [716.9, 1112.3], rtol=1e-3)


def test_kml_without_its_driver_names_the_way_out(tmp_path, monkeypatch):
    import pyogrio

    path = tmp_path / "streets.kml"
    path.write_text(KML)
    drivers = {name: use for name, use in pyogrio.list_drivers().items() if "KML" not in name}
    monkeypatch.setattr(pyogrio, "list_drivers", lambda **_: drivers)

    with pytest.raises(NetworkError, match=r"KML needs GDAL with its driver, got GDAL .* without; convert"):
        netbo.read(path)
