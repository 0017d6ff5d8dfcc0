"""Maps and tables that go back to the user, read again by geopandas and pandas."""

import json
from dataclasses import replace

import geopandas
import numpy as np
import pandas as pd
import pyproj
import pytest
import shapely
from hypothesis import given, settings
from numpy.testing import assert_allclose, assert_array_equal

from netbo import MetricGraph, uniform_points
from netbo.adapters.assembly.assemble import assemble
from netbo.adapters.export import (
    as_column,
    observations_table,
    pieces_frame,
    points_frame,
    write_layers,
    write_map,
    write_observations,
)
from netbo.adapters.links import Links
from netbo.adapters.short_lines import ShortLines
from netbo.errors import NetworkError
from netbo.optional import MissingPackageError
from support.strategies import metric_graphs

LONDON = [
    np.array([[-0.10, 51.50], [-0.09, 51.505], [-0.08, 51.50]]),
    np.array([[-0.09, 51.51], [-0.09, 51.50]]),
    np.array([[-0.08, 51.50], [-0.07, 51.50]]),
]


def london(**options):
    """Three streets in longitude and latitude; the first two cross."""
    links = Links(source="London", ids=["Strand", "Fleet", ("lane", 1)], curves=LONDON, crs="EPSG:4326")
    return assemble(links, node=True, snap=0.01, **options)


def pipes(**changes):
    options = {"edge_ids": ["main", "west"], "crs": "EPSG:32630", "unit": "m"} | changes
    curves = [[[5e5, 5.7e6], [5e5 + 300, 5.7e6 + 400]], [[5e5 + 300, 5.7e6 + 400], [5e5 + 300, 5.7e6 + 900]]]
    return MetricGraph([0, 1], [1, 2], [500.0, 250.0], curves=curves, **options)


def north(x):
    return x.graph.embed(x)[:, 1]


@settings(deadline=None, max_examples=25)
@given(metric_graphs(is_drawn=True))
def test_pieces_are_together_as_long_as_the_drawn_edges(graph):
    frame = pieces_frame(graph, {}, max_piece=graph.total_length / 20)
    lengths = frame.length.groupby(frame["edge_id"]).sum()

    assert_allclose(lengths.loc[list(graph.edge_ids)], graph.drawing.drawn_lengths(), rtol=1e-9, atol=1e-12)


@settings(deadline=None, max_examples=25)
@given(metric_graphs(is_drawn=True))
def test_measures_cover_every_edge_exactly(graph):
    frame = pieces_frame(graph, {}, max_piece=graph.lengths.max() / 5)
    for edge, rows in frame.groupby("edge_id"):
        assert rows["from_measure"].iloc[0] == 0.0
        assert rows["to_measure"].iloc[-1] == graph.lengths[edge]
        assert_array_equal(rows["from_measure"].iloc[1:], rows["to_measure"].iloc[:-1])
        assert (rows["to_measure"] - rows["from_measure"]).max() <= graph.lengths.max() / 5 * (1 + 1e-12)


def test_values_are_those_in_the_middle_of_each_piece():
    """On a straight edge the middle of the measures is the middle of the line."""
    frame = pieces_frame(pipes(), {"north": north, "number": np.arange(15)}, max_piece=50.0)
    middles = frame.geometry.interpolate(0.5, normalized=True)

    assert_allclose(frame["north"], middles.y)
    assert_array_equal(frame["number"], np.arange(15))


def test_pieces_are_about_two_thousand_by_default_and_one_an_edge_at_least():
    assert len(pieces_frame(pipes(), {})) == pytest.approx(2000, abs=2)
    assert len(pieces_frame(pipes(), {}, max_piece=1e9)) == 2


def test_a_street_that_was_cut_is_measured_as_a_whole_in_its_own_coordinates():
    network = london()
    frame = pieces_frame(network, {"z": lambda x: x.z}, max_piece=200.0)
    strand = frame[frame["edge_id"] == "Strand"]
    geod = pyproj.Geod(ellps="WGS84")
    length = geod.line_length(*LONDON[0].T)

    assert network.graph.n_edges == 5
    assert frame.crs == "EPSG:4326"
    assert strand["from_measure"].min() == 0.0
    assert strand["to_measure"].max() == pytest.approx(length, rel=1e-9)
    assert_array_equal(strand["from_measure"].iloc[1:], strand["to_measure"].iloc[:-1])
    assert_allclose(strand.geometry.iloc[0].coords[0], LONDON[0][0], atol=1e-9)
    assert_allclose(strand.geometry.iloc[-1].coords[-1], LONDON[0][-1], atol=1e-9)
    assert strand.geometry.apply(geod.geometry_length).sum() == pytest.approx(length, rel=1e-6)


def test_lines_run_with_the_measure_also_where_the_graph_runs_against_it():
    """The address table of a network whose first edge is stored from the far end."""
    graph = pipes()
    network = assemble(
        Links(source="pipes", ids=["main"], tails=["a"], heads=["b"], curves=[graph.drawing.coordinates[:2]],
              crs="EPSG:32630")
    )  # fmt: skip
    table = network.addresses
    turned = type(table)(
        table.ids, table.lengths, table.tails, table.heads, table.starts, table.begin, table.end, table.edge,
        table.z_end, table.z_begin,
    )  # fmt: skip
    lines = ShortLines.cut(replace(network, graph=replace(network.graph, addresses=turned)), 100.0)
    _, begin, end = lines.measures()
    geometry = lines.geometry()

    assert np.all(begin < end)
    assert lines.is_backwards.all()
    order = np.argsort(begin)
    assert_allclose(geometry[order[0]].coords[0], graph.drawing.coordinates[1])
    assert_allclose(geometry[order[-1]].coords[-1], graph.drawing.coordinates[0])


def test_another_coordinate_system_may_be_asked_for():
    wanted = pieces_frame(pipes(), {}, max_piece=100.0, crs="EPSG:4326")
    own = pieces_frame(pipes(), {}, max_piece=100.0).to_crs("EPSG:4326")

    assert wanted.crs == "EPSG:4326"
    assert shapely.equals_exact(wanted.geometry.values, own.geometry.values, 1e-9).all()


def test_points_carry_address_columns_and_place():
    network = london()
    points = network.points(["Strand", "Fleet"], [1200.0, 100.0])
    frame = points_frame(network, points, {"value": [1.0, 2.0]})

    assert frame["edge_id"].tolist() == ["Strand", "Fleet"]
    assert_allclose(frame["distance"], [1200.0, 100.0])
    assert_allclose(frame.geometry.x, network.coordinates(points)[:, 0])
    assert frame.crs == "EPSG:4326"


def test_a_geopackage_has_layers_that_read_back_as_they_were(tmp_path):
    graph = pipes()
    points = uniform_points(graph, 4, np.random.default_rng(0))
    observations = points_frame(graph, points, {"value": [1.0, np.nan, 3.0, 4.0]})
    path = write_map(
        tmp_path / "map.gpkg", graph, {"north": north}, next_points=points[:2], max_piece=50.0,
        layers={"observations": observations},
    )  # fmt: skip
    field = geopandas.read_file(path, layer="field")
    expected = pieces_frame(graph, {"north": north}, max_piece=50.0)

    assert geopandas.list_layers(path)["name"].tolist() == ["field", "next", "observations"]
    pd.testing.assert_frame_equal(
        pd.DataFrame(field.drop(columns="geometry")), pd.DataFrame(expected.drop(columns="geometry")),
        check_dtype=False,
    )  # fmt: skip
    assert shapely.equals_exact(field.geometry.values, expected.geometry.values, 0.0).all()
    assert field.crs == "EPSG:32630"
    assert geopandas.read_file(path, layer="next")["number"].tolist() == [1, 2]
    assert_array_equal(geopandas.read_file(path, layer="observations")["value"], [1.0, np.nan, 3.0, 4.0])


def test_geojson_is_one_file_in_longitude_and_latitude(tmp_path):
    graph = pipes()
    path = write_map(
        tmp_path / "map.geojson", graph, {"north": north}, next_points=graph.points("west", [5.0])
    )
    read, raw = geopandas.read_file(path), json.loads(path.read_text())
    x, y = pyproj.Transformer.from_crs(32630, 4326, always_xy=True).transform(5e5, 5.7e6)
    field = read[read["layer"] == "field"]

    assert "crs" not in raw
    assert raw["name"] == "map"
    assert raw["features"][0]["geometry"]["coordinates"][0] == pytest.approx([x, y], abs=1e-8)
    assert read["layer"].value_counts().to_dict() == {"field": len(field), "next": 1}
    assert_allclose(field["north"], pieces_frame(graph, {"north": north})["north"])


def test_infinite_values_are_missing_in_a_file(tmp_path):
    path = write_map(tmp_path / "map.gpkg", pipes(), {"score": lambda x: np.where(x.z > 99, -np.inf, 1.0)})

    assert set(geopandas.read_file(path)["score"].dropna()) == {1.0}
    assert geopandas.read_file(path)["score"].isna().any()


def test_a_network_without_coordinate_system_has_a_geopackage_but_no_geojson(tmp_path):
    graph = pipes(crs=None)
    path = write_map(tmp_path / "map.gpkg", graph, {"north": north}, max_piece=100.0)

    assert_allclose(geopandas.read_file(path).total_bounds, [5e5, 5.7e6, 5e5 + 300, 5.7e6 + 900])
    with pytest.raises(NetworkError, match="GeoJSON is in longitude and latitude"):
        write_map(tmp_path / "map.geojson", graph, {"north": north})
    with pytest.raises(NetworkError, match="only if their own system is known"):
        pieces_frame(graph, {}, crs="EPSG:4326")
    assert [each.name for each in tmp_path.iterdir()] == ["map.gpkg"]


def test_what_fails_half_way_leaves_the_old_file_and_nothing_else(tmp_path, monkeypatch):
    path = write_map(tmp_path / "map.gpkg", pipes(), {"north": north})
    before = path.read_bytes()
    frame = points_frame(pipes(), pipes().points("main", [1.0]))
    original = geopandas.GeoDataFrame.to_file

    def fails_at_the_second_layer(self, *args, **kwargs):
        if kwargs["layer"] == "next":
            raise OSError("disk full")
        return original(self, *args, **kwargs)

    monkeypatch.setattr(geopandas.GeoDataFrame, "to_file", fails_at_the_second_layer)
    with pytest.raises(OSError, match="disk full"):
        write_layers(path, {"field": frame, "next": frame})

    assert path.read_bytes() == before
    assert list(tmp_path.iterdir()) == [path]


def test_observations_are_a_table_that_reads_back_exactly(tmp_path):
    network = london()
    points = network.points(["Strand", "Fleet", ("lane", 1)], [1200.0, 100.0, 1 / 3])
    status = ["observed", "failed", "observed"]
    path = write_observations(
        tmp_path / "seen.csv", network, points, [0.1, np.nan, 1 / 3], noise=[0.01, np.nan, 0.5], status=status
    )
    table = pd.read_csv(path, float_precision="round_trip")
    xy = network.coordinates(points)

    assert list(table.columns) == ["edge", "distance", "x", "y", "value", "noise", "status"]
    assert table["edge"].tolist() == ["Strand", "Fleet", "('lane', 1)"]
    assert_allclose(table["distance"], [1200.0, 100.0, 1 / 3], rtol=1e-12)
    assert_array_equal(table[["x", "y"]], xy)
    assert_array_equal(table["value"], [0.1, np.nan, 1 / 3])
    assert_array_equal(table["noise"], [0.01, np.nan, 0.5])
    assert table["status"].tolist() == status


def test_a_table_needs_no_coordinates():
    graph = MetricGraph([0], [1], [2.0], edge_ids=["only"])
    table = observations_table(graph, graph.points("only", [0.5]), [3.0])

    assert table[["edge", "distance", "value", "status"]].values.tolist() == [["only", 0.5, 3.0, "observed"]]
    assert table[["x", "y"]].isna().all(axis=None)


def test_edge_ids_become_numbers_or_text():
    assert as_column([3, np.int64(4)]) == [3, 4]
    assert as_column(["a", 4]) == ["a", "4"]
    assert as_column([(np.int64(1), 2, 0)]) == ["(1, 2, 0)"]


def test_a_map_needs_coordinates_columns_and_a_place_to_go(tmp_path):
    graph = pipes()
    with pytest.raises(NetworkError, match="a map needs coordinates"):
        pieces_frame(MetricGraph([0], [1], [2.0]), {})
    with pytest.raises(NetworkError, match="names other than"):
        pieces_frame(graph, {"edge_id": north})
    with pytest.raises(NetworkError, match=r"column 'x' must have one value for each of \d+ places"):
        pieces_frame(graph, {"x": lambda x: x.z[:1]})
    with pytest.raises(NetworkError, match="max_piece must be a positive length, got 0"):
        pieces_frame(graph, {}, max_piece=0)
    with pytest.raises(NetworkError, match=r"must be a file .gpkg, .geojson, .json, got 'map.shp'"):
        write_map(tmp_path / "map.shp", graph, {"north": north})
    with pytest.raises(NetworkError, match="at least one layer"):
        write_map(tmp_path / "map.gpkg", graph)
    with pytest.raises(NetworkError, match="a folder that exists"):
        write_map(tmp_path / "nowhere" / "map.gpkg", graph, {"north": north})


def test_without_geopandas_the_extra_is_named(monkeypatch):
    def refuse(name, *args):
        raise ImportError(f"No module named {name!r}")

    monkeypatch.setattr("netbo.optional.import_module", refuse)
    with pytest.raises(MissingPackageError, match=r"install the extra 'geo': pip install"):
        pieces_frame(pipes(), {})
