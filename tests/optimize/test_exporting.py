import math

import geopandas
import numpy as np
import pandas as pd
import pytest
from numpy.testing import assert_allclose, assert_array_equal

from netbo import MetricGraph, Optimizer
from netbo.adapters.assembly.assemble import assemble
from netbo.adapters.links import Links
from netbo.errors import NetworkError, ParameterError
from netbo.optimize.answers import Result

STREETS = [np.array([[0.0, 0.0], [100.0, 0.0]]), np.array([[50.0, -30.0], [50.0, 30.0]])]


def streets():
    """Two streets that cross: four edges of the graph."""
    links = Links(source="two streets", ids=["high", "low"], curves=STREETS, crs="EPSG:32630")
    return assemble(links, node=True)


def result(graph):
    optimizer = Optimizer(graph, max_cell=2.0, seed=1)
    optimizer.tell(graph.points(graph.edge_ids[0], [1.0, 20.0, 45.0]), [1.0, 2.0, 4.0])
    optimizer.tell(graph.points(graph.edge_ids[-1], [5.0, 25.0]), [3.0, math.nan])
    optimizer.ask(2)
    return Result(optimizer, "")


def test_a_geopackage_has_the_views_on_short_pieces_and_all_places(tmp_path):
    network = streets()
    found = result(network.graph)
    path = found.export(tmp_path / "run.gpkg", network, max_piece=4.0)
    layers = {name: geopandas.read_file(path, layer=name) for name in geopandas.list_layers(path)["name"]}
    field = layers["field"]
    middle = (field["from_measure"] + field["to_measure"]) / 2
    x = network.points(field["edge_id"].tolist(), middle)

    assert list(layers) == ["field", "observations", "next", "candidates"]
    assert all(layer.crs == "EPSG:32630" for layer in layers.values())
    assert set(field["edge_id"]) == {"high", "low"}
    assert_allclose(field["mean"], found.posterior.mean(x), rtol=1e-9)
    assert_allclose(field["sd"], found.posterior.std(x), rtol=1e-9)
    assert np.isfinite(field["acquisition"]).all()
    assert field["probability"].sum() == pytest.approx(1.0)
    assert field.length.sum() == pytest.approx(160.0)


def test_observations_next_and_candidates_are_those_of_the_run(tmp_path):
    network = streets()
    found = result(network.graph)
    path = found.export(tmp_path / "run.gpkg", network)
    observed, upcoming, likely = (
        geopandas.read_file(path, layer=name) for name in ("observations", "next", "candidates")
    )

    assert_array_equal(observed["value"], [1.0, 2.0, 4.0, 3.0, np.nan])
    assert observed["status"].tolist() == ["observed"] * 4 + ["failed"]
    assert upcoming["id"].tolist() == [5, 6]
    assert likely["kind"].iloc[0] == "recommended"
    assert likely["mean"].iloc[0] == pytest.approx(found.recommend().mean)
    assert_allclose(likely["probability"].iloc[1:], [mode.probability for mode in found.modes(5)])


def test_a_table_has_all_trials_by_the_users_addresses(tmp_path):
    network = streets()
    table = pd.read_csv(result(network.graph).export(tmp_path / "run.csv", network))

    assert table["status"].tolist() == ["observed"] * 4 + ["failed"] + ["pending"] * 2
    assert_allclose(table["distance"].iloc[:4], [1.0, 20.0, 45.0, 35.0])
    assert table["edge"].iloc[:4].tolist() == ["high", "high", "high", "low"]
    assert_allclose(table[["x", "y"]].iloc[1], [20.0, 0.0], atol=1e-9)


def test_a_plain_graph_is_enough(tmp_path):
    graph = MetricGraph([0], [1], [60.0], positions=[[0, 0], [60, 0]], edge_ids=[("a", "b")])
    field = geopandas.read_file(result(graph).export(tmp_path / "run.gpkg"), layer="field")

    assert set(field["edge_id"]) == {"('a', 'b')"}
    assert field["to_measure"].max() == 60.0


def test_geojson_needs_a_coordinate_system_and_maps_the_network_that_was_searched(tmp_path):
    graph = MetricGraph([0], [1], [60.0], positions=[[0, 0], [60, 0]])
    with pytest.raises(NetworkError, match="longitude and latitude"):
        result(graph).export(tmp_path / "run.geojson")
    with pytest.raises(ParameterError, match="must be the one that was searched"):
        result(graph).export(tmp_path / "run.gpkg", streets())
    assert not list(tmp_path.iterdir())
