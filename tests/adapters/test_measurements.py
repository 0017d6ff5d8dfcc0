import numpy as np
import pandas as pd
import pytest
from numpy.testing import assert_allclose, assert_array_equal

from netbo.adapters import Links, assemble, snap_measurements
from netbo.adapters.export import write_observations
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
        NetworkError,
        match=r"within 5 m of .* got 2 of 3 beyond: rows 1 \(60 m off\), 2 \(20 m off\); raise limit",
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

    with pytest.raises(NetworkError, match="got none, the nearest is 60 m off; check the coordinate system"):
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


SEMICOLONS = """edge;distance;value;who
high;10,5;1,25;Ann

high;11;2;"Bob
by the bridge"
high;12;n/a;Cy
"""


def test_semicolons_and_decimal_commas_are_understood(tmp_path):
    """What a spreadsheet writes in most of Europe."""
    path = tmp_path / "measured.csv"
    path.write_text(SEMICOLONS.replace("n/a", "3,5"), encoding="utf-8-sig")
    found = snap_measurements(town()[0], path)

    assert_allclose(found.points.z, [10.5, 11, 12])
    assert_allclose(found.values, [1.25, 2, 3.5])
    assert found.lines.tolist() == [2, 4, 6]
    assert found.where(2) == "line 6"


@pytest.mark.parametrize(("sep", "sign"), [(None, "\t"), ("tab", "\t"), ("|", "|"), (" ", " "), (None, "|")])
def test_the_separator_is_found_or_named(tmp_path, sep, sign):
    path = tmp_path / "measured.csv"
    path.write_text("edge,distance,value\nhigh,10,5\nhigh,20,6.5\n".replace(",", sign))

    assert_allclose(snap_measurements(town()[0], path, sep=sep).values, [5, 6.5])


def test_a_wrong_row_is_named_by_its_line_in_the_file(tmp_path):
    """Counted as an editor counts: the header, blank lines and line breaks in cells too."""
    network, path = town()[0], tmp_path / "measured.csv"
    path.write_text(SEMICOLONS)

    with pytest.raises(
        NetworkError,
        match=r"column 'value' must hold finite numbers, got 'n/a' in line 6 of measured.csv; corr",
    ):
        snap_measurements(network, path)
    path.write_text("edge,distance,value\nhigh,1,2\nhigh,101,2\nlow,1,2\n")
    with pytest.raises(NetworkError, match=r"column 'edge' is not on the network: .*101.* in line 3 of meas"):
        snap_measurements(network, path)
    path.write_text("edge,distance,value\nhigh,1,2\nhigh,1\nhigh,1,2,3\n")
    with pytest.raises(
        NetworkError, match=r"must have 3 cells, got 2 in line 3 of measured.csv \(and 1 row more"
    ):
        snap_measurements(network, path)


def test_wrong_rows_are_left_out_on_demand_and_listed(tmp_path):
    network, path = town()[0], tmp_path / "measured.csv"
    path.write_text(
        "edge,distance,value\nhigh,1,2\nhigh,,2\nlow,1,2\nhigh,3,x\nhigh,101,2\nhigh,4\nhigh,5,6\n"
    )
    found = snap_measurements(network, path, skip_bad=True)

    assert_allclose(found.points.z, [1, 5])
    assert_allclose(found.values, [2, 6])
    assert found.lines.tolist() == [2, 8]
    assert [each.partition(":")[0] for each in found.skipped] == [f"line {k}" for k in (3, 4, 5, 6, 7)]
    assert found.skipped[2] == "line 5: column 'value' must hold finite numbers, got 'x'"


def test_places_beyond_the_limit_are_wrong_rows_too():
    network, corner = town()
    found = snap_measurements(network, table(corner, [[20, 3], [160, 20], [50, -2]]), limit=5, skip_bad=True)

    assert_array_equal(found.rows, [0, 2])
    assert found.skipped == ("row 1: a place must lie within 5 m of the network, got 60 m",)


@pytest.mark.parametrize(
    ("content", "message"),
    [
        (b"", "must be a table with a header, got an empty file"),
        (b"edge,distance,value\n", "must have a row, got an empty table"),
        (
            b"edge,edge,value\n1,2,3\n",
            "columns must have names of their own, got 'edge' twice in measured.csv",
        ),
        (
            b"edge,distance,value\nMai\xdf,1,2\n",
            "must be text in UTF-8, got the byte 0xdf in line 2; save it as",
        ),
        (
            b'edge,value\n"' + b"x" * 200_000 + b'",2\n',
            "no CSV that can be read: field larger than .* in line 2",
        ),
        (b"1,2\n3,4", "no column is called 'value'; there are '1', '2'"),
    ],
)
def test_files_that_are_no_tables_are_refused(tmp_path, content, message):
    path = tmp_path / "measured.csv"
    path.write_bytes(content)

    with pytest.raises(NetworkError, match=message):
        snap_measurements(town()[0], path)


@pytest.mark.parametrize("sep", ["ab", "", '"', 5])
def test_a_separator_is_one_sign(tmp_path, sep):
    path = tmp_path / "measured.csv"
    path.write_text("edge,distance,value\nhigh,1,2\n")

    with pytest.raises(NetworkError, match="sep must be one sign, such as ',' or ';', or tab"):
        snap_measurements(town()[0], path, sep=sep)


def test_names_that_look_like_formulas_or_numbers_come_back_from_our_own_tables(tmp_path):
    """Written for spreadsheets with an apostrophe, read without it; 007 keeps its zeros."""
    names = ["=cmd()", "-5", "+a", "@b", "007", "'=q", "12345678901234567890"]
    links = Links(source="t", ids=names, tails=range(7), heads=range(1, 8), lengths=np.ones(7))
    network, path = assemble(links), tmp_path / "observations.csv"
    points = network.points(names, [0.25] * 7)
    write_observations(path, network, points, np.arange(7.0))

    assert "\n'=cmd()," in path.read_text()
    assert snap_measurements(network, path).points == points


def test_measurements_are_told_by_the_names_of_vertices(tmp_path):
    """By the usual column, by one that is named, and as text of a CSV; a name that is none is refused."""
    network, _ = town()
    (tmp_path / "levels.csv").write_text("junction,value\nc,1.5\na,2.5\n")
    found = snap_measurements(network, tmp_path / "levels.csv")
    named = pd.DataFrame({"hydrant": ["b", "nowhere"], "value": [1.0, 2.0], "x": [0.0, 0.0]})

    assert network.graph.address(found.points)[0] == [("park", 1), "high"]
    assert_array_equal(found.values, [1.5, 2.5])
    assert_array_equal(found.off, [0.0, 0.0])
    with pytest.raises(NetworkError, match="no vertex is called 'nowhere', as column 'hydrant' has it"):
        snap_measurements(network, named, node="hydrant")
    assert len(snap_measurements(network, named, node="hydrant", skip_bad=True)) == 1
