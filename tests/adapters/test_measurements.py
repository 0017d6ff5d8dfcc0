import numpy as np
import pandas as pd
import pytest
from numpy.testing import assert_allclose, assert_array_equal

from netbo.adapters import Links, assemble, snap_measurements
from netbo.errors import NetworkError
from netbo.geometry import road, star, uniform_points


def town():
    """Two streets in metres: one along x from (0, 0) to (100, 0), one up from its end."""
    corner = np.array([500_000.0, 5_700_000.0])
    places = corner + np.array([[0.0, 0], [100, 0], [100, 50]])
    curves = [places[:2], places[1:]]
    links = Links(
        source="t",
        ids=["high", ("park", 1)],
        tails=["a", "b"],
        heads=["b", "c"],
        curves=curves,
        crs="EPSG:32630",
    )
    return assemble(links), corner


def table(corner, offsets, **columns):
    places = corner + np.array(offsets, dtype=float)
    return pd.DataFrame(
        {"x": places[:, 0], "y": places[:, 1], "value": np.arange(len(places)) * 1.5} | columns
    )


def test_places_are_put_on_the_nearest_street_and_the_distance_is_kept():
    network, corner = town()
    found = snap_measurements(network, table(corner, [[20, 3], [104, 30], [50, 0]]), limit=5)

    assert [(a.edge_id, a.distance) for a in network.address(found.points)] == [
        ("high", pytest.approx(20)),
        (("park", 1), pytest.approx(30)),
        ("high", pytest.approx(50)),
    ]
    assert_allclose(found.off, [3, 4, 0], atol=1e-9)
    assert_allclose(found.values, [0, 1.5, 3])
    assert_array_equal(found.rows, [0, 1, 2])
    assert found.noise is None
    assert len(found) == 3


def test_places_beyond_the_limit_are_listed_by_row():
    network, corner = town()

    with pytest.raises(
        NetworkError, match=r"got 2 of 3 beyond: rows 1 \(60 off\), 2 \(20 off\); raise limit"
    ):
        snap_measurements(network, table(corner, [[20, 3], [160, 20], [50, -20]]), limit=5)


def test_places_beyond_the_limit_are_left_out_on_demand():
    network, corner = town()
    measured = table(corner, [[20, 3], [160, 20], [50, -2]], variance=[0.1, 0.2, 0.3])
    found = snap_measurements(network, measured, limit=5, keep="near", noise="variance")

    assert_array_equal(found.rows, [0, 2])
    assert_allclose(found.values, [0, 3.0])
    assert_allclose(found.noise, [0.1, 0.3])


def test_nothing_near_is_an_error_even_then():
    network, corner = town()

    with pytest.raises(NetworkError, match="got none, the nearest is 60 off; check the coordinate system"):
        snap_measurements(network, table(corner, [[160, 20]]), limit=5, keep="near")


def test_coordinates_need_a_limit():
    network, corner = town()

    with pytest.raises(NetworkError, match="measurements by coordinates need a limit, got None"):
        snap_measurements(network, table(corner, [[20, 3]]))


def test_columns_called_lon_and_lat_are_degrees():
    network, _ = town()
    lonlat = network.coordinates(network.points("high", [40.0]), crs="EPSG:4326")
    measured = pd.DataFrame({"lon": lonlat[:, 0], "lat": lonlat[:, 1], "rate": [2.0]})
    found = snap_measurements(network, measured, limit=1, value="rate")

    assert_allclose(found.points.z, [40], atol=1e-5)


def test_columns_and_systems_can_be_named():
    network, _ = town()
    web = network.coordinates(network.points("high", [40.0]), crs="EPSG:3857")
    measured = pd.DataFrame({"east": web[:, 0], "north": web[:, 1], "value": [2.0]})
    found = snap_measurements(network, measured, limit=1, x="east", y="north", crs="EPSG:3857")

    assert_allclose(found.points.z, [40], atol=1e-5)


def test_addresses_are_taken_at_their_word():
    network, _ = town()
    measured = pd.DataFrame({"edge": ["high", "('park', 1)"], "distance": [10, 20.0], "value": [1.0, 2.0]})
    found = snap_measurements(network, measured)
    from_named_end = snap_measurements(network, measured.assign(end=["b", "b"]), start="end")
    by_share = snap_measurements(network, measured.assign(share=[0.1, 0.4]), edge="edge", fraction="share")

    assert_allclose(found.points.z, [10, 20])
    assert_array_equal(found.points.edge, [0, 1])
    assert_array_equal(found.off, [0, 0])
    assert_allclose(from_named_end.points.z, [90, 20])
    assert by_share.points == found.points


def test_a_column_called_fraction_is_one():
    found = snap_measurements(
        star(3, 2.0), pd.DataFrame({"edge_id": [1], "fraction": [0.25], "value": [0.0]})
    )

    assert_allclose(found.points.z, [0.5])


def test_a_csv_is_a_table(tmp_path):
    """In a CSV ids are text or numbers, whatever they are in the network."""
    path = tmp_path / "measured.csv"
    pd.DataFrame({"edge": ["high", "('park', 1)"], "distance": [1, 2], "value": [3, 4]}).to_csv(path)
    found = snap_measurements(town()[0], path)

    assert_allclose(found.values, [3, 4])
    assert_array_equal(found.points.edge, [0, 1])


def test_bad_tables_say_what_is_wrong(tmp_path):
    network, corner = town()
    good = table(corner, [[20, 3], [30, 3]])

    with pytest.raises(NetworkError, match="no column is called 'rate'; there are 'x', 'y', 'value'"):
        snap_measurements(network, good, limit=5, value="rate")
    with pytest.raises(NetworkError, match="column 'value' must hold finite numbers, got 'high' in row 1"):
        snap_measurements(network, good.assign(value=["1", "high"]), limit=5)
    with pytest.raises(NetworkError, match="column 'x' must hold finite numbers, got nan in row 0"):
        snap_measurements(network, good.assign(x=[np.nan, 1.0]), limit=5)
    with pytest.raises(NetworkError, match="coordinates need two columns, got one"):
        snap_measurements(network, good, limit=5, x="x")
    with pytest.raises(
        NetworkError, match="measurements need coordinates or addresses, got the columns 'value'"
    ):
        snap_measurements(network, good[["value"]], limit=5)
    with pytest.raises(NetworkError, match="must have a row, got an empty table"):
        snap_measurements(network, good[:0], limit=5)
    with pytest.raises(NetworkError, match="a DataFrame or the path of a CSV, got list"):
        snap_measurements(network, [1, 2], limit=5)
    with pytest.raises(NetworkError, match="is no CSV that can be read"):
        snap_measurements(network, tmp_path / "none.csv", limit=5)
    with pytest.raises(NetworkError, match="keep must be 'all' or 'near', got 'some'"):
        snap_measurements(network, good, limit=5, keep="some")
    with pytest.raises(NetworkError, match="column 'edge' is not on the network: no edge has the id 'low'"):
        snap_measurements(network, pd.DataFrame({"edge": ["low"], "distance": [1.0], "value": [1.0]}))


def test_many_places_are_found_where_they_came_from():
    """A thousand places on the streets, given only by their coordinates."""
    graph = road(200, seed=1)
    rng = np.random.default_rng(5)
    on = uniform_points(graph, 1000, rng)
    xy = graph.embed(on)
    found = snap_measurements(graph, pd.DataFrame({"x": xy[:, 0], "y": xy[:, 1], "value": on.z}), limit=1e-6)

    assert found.off.max() < 1e-9
    assert_allclose(graph.embed(found.points), xy, atol=1e-9)
