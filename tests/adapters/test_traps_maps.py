"""Traps in maps and graphs that people have: each is passed, or refused loudly."""

from pathlib import Path

import geopandas
import libpysal
import networkx
import numpy as np
import pyproj
import pytest
import shapely

from netbo.adapters.geopandas import links_from_geopandas, read_geopandas
from netbo.adapters.networkx import read_networkx

SOHO = Path(libpysal.__file__).parent / "examples" / "snow_maps" / "Soho_Network.shp"
GEOD = pyproj.Geod(ellps="WGS84")


@pytest.fixture(scope="module")
def soho():
    """118 streets of Soho in 1854, in web-mercator coordinates."""
    return geopandas.read_file(SOHO)


@pytest.fixture(scope="module")
def metres(soho):
    """Lengths of the streets along the ellipsoid, by pyproj alone."""
    return np.array([GEOD.geometry_length(line) for line in soho.to_crs("EPSG:4326").geometry])


def components_within(lines, tolerance):
    """Groups of lines that come within a tolerance of each other, by shapely and networkx alone."""
    near = shapely.STRtree(lines).query(lines, predicate="dwithin", distance=tolerance)
    together = networkx.Graph()
    together.add_nodes_from(range(len(lines)))
    together.add_edges_from(near.T.tolist())
    return networkx.number_connected_components(together)


def test_web_mercator_lengths_in_london_are_not_taken_as_lengths(soho, metres):
    """On the map the streets are 1.606 times as long as on the ground."""
    network = read_geopandas(SOHO)

    assert soho.length.sum() / metres.sum() == pytest.approx(1.606, abs=1e-3)
    np.testing.assert_allclose(network.graph.lengths, metres, rtol=1e-6)
    assert network.graph.unit == "m"
    assert network.report.map_scale == pytest.approx(1.606, abs=1e-3)
    assert "mercator" in str(network.report).lower()


def test_web_mercator_units_are_lengths_if_the_user_says_so(soho):
    network = read_geopandas(SOHO, coordinates_are_lengths=True)

    np.testing.assert_allclose(network.graph.lengths, soho.length)


def test_a_column_of_web_mercator_lengths_is_used_and_called_out(soho):
    network = read_geopandas(soho.assign(Shape_Leng=soho.length), length="Shape_Leng")

    np.testing.assert_allclose(network.graph.lengths, soho.length)
    assert network.report.length_comparison.mercator_factor == pytest.approx(1.606, abs=2e-3)
    assert network.report.warnings


def test_the_drawing_of_soho_is_to_scale(metres):
    """Embedded straight distances of the local projection are ground distances to 0.1 %."""
    graph = read_geopandas(SOHO).graph

    np.testing.assert_allclose(graph.drawing.drawn_lengths(), metres, rtol=1e-3)


def test_streets_that_end_beside_another_are_apart_until_snapped(soho):
    """95 ends lie 60 nm to 0.2 mm off the street they should meet: 78 components by their ends alone."""
    by_ends = networkx.Graph([(line.coords[0], line.coords[-1]) for line in soho.geometry])
    raw, mended = read_geopandas(SOHO), read_geopandas(SOHO, node=True, snap=0.01)

    assert raw.graph.n_components == networkx.number_connected_components(by_ends) == 78
    assert mended.graph.n_components == components_within(soho.geometry.to_numpy(), 0.016) == 1


def test_near_misses_are_reported_before_they_are_snapped():
    report = read_geopandas(SOHO).report

    assert len(report.gaps) > 50
    assert max(gap.distance for gap in report.gaps) <= report.gap_tolerance
    assert report.warnings


def test_snapping_changes_no_length_by_more_than_it_says(metres):
    mended = read_geopandas(SOHO, node=True, snap=0.01)

    assert mended.report.noded.largest_move <= 0.01
    assert mended.graph.total_length == pytest.approx(metres.sum(), rel=1e-5)


def test_the_owner_of_a_street_that_was_cut_still_measures_along_all_of_it(soho, metres):
    """Every street of Soho, a third of its length from its beginning, is where pyproj puts it."""
    mended = read_geopandas(SOHO, node=True, snap=0.01)
    places = mended.points(list(soho.index), fraction=np.full(len(soho), 1 / 3))
    local = soho.to_crs(mended.graph.crs).geometry
    expected = [line.interpolate(1 / 3, normalized=True).coords[0] for line in local]

    np.testing.assert_allclose(mended.graph.embed(places), expected, atol=0.05)
    for address, feature, length in zip(mended.address(places), soho.index, metres, strict=True):
        assert address.edge_id == feature
        assert address.distance == pytest.approx(length / 3, abs=0.05)


def test_a_two_way_street_stored_twice_is_as_long_as_one():
    """A square of 100 m sides, one of them one-way: 400 m, not 700 m."""
    ring = networkx.cycle_graph(4, create_using=networkx.DiGraph)
    ring.add_edges_from([(1, 0), (2, 1), (3, 2)])
    networkx.set_edge_attributes(ring, 100.0, "length")
    network = read_networkx(ring)

    assert network.graph.total_length == 400.0
    assert network.graph.distance(network.points([(1, 0)], 0.0), network.points([(3, 0)], 0.0))[0, 0] == 200.0
    assert network.points([(2, 1)], 30.0) == network.points([(1, 2)], 70.0)


def test_lines_digitised_twice_are_reported_and_merged_on_request():
    line = [(0, 0), (50, 10), (100, 0)]
    twice = geopandas.GeoSeries([shapely.LineString(line), shapely.LineString(line[::-1])], crs="EPSG:27700")
    raw = read_geopandas(twice, directions="keep")
    merged = read_geopandas(twice, directions="keep", merge_duplicates=True)

    assert raw.graph.n_edges == 2
    assert [(each.first, each.second, each.is_reversed) for each in raw.report.duplicates] == [(0, 1, True)]
    assert merged.graph.n_edges == 1
    assert merged.points([1], fraction=0.25) == merged.points([0], fraction=0.75)


def test_an_edge_45_000_times_shorter_than_another_stays_an_edge():
    """2 cm between two stretches of 900 m: the way across is 1,800.02 m."""
    path = networkx.Graph()
    path.add_edge("a", "b", length=900.0)
    path.add_edge("b", "c", length=0.02)
    path.add_edge("c", "d", length=900.0)
    network = read_networkx(path, unit="m")
    ends = network.points([("a", "b"), ("c", "d")], [0.0, 900.0])

    assert network.graph.n_edges == 3
    assert network.report.shortest == (("b", "c"), 0.02)
    assert network.report.longest[1] / network.report.shortest[1] == pytest.approx(45_000)
    assert network.report.treated.zero_length == ()
    assert network.graph.distance(ends[:1], ends[1:])[0, 0] == pytest.approx(1800.02)
    assert network.address(network.points([("b", "c")], 0.005))[0].distance == pytest.approx(0.005)


def test_an_undirected_graph_that_lists_an_edge_the_other_way_measures_from_the_named_end():
    """Added as (u, v) with a curve from u; nodes are known as v, u, so NetworkX lists the edge as (v, u)."""
    street = networkx.Graph()
    street.add_node("v", x=3.0, y=4.0)
    street.add_node("u", x=0.0, y=0.0)
    street.add_edge("u", "v", length=7.0, geometry=shapely.LineString([(0, 0), (3, 0), (3, 4)]))
    network = read_networkx(street)
    place = network.points([("u", "v")], 1.0)

    assert list(street.edges) == [("v", "u")]
    np.testing.assert_allclose(network.coordinates(place), [[1.0, 0.0]], atol=1e-12)
    assert network.points([("v", "u")], 6.0) == place
    assert network.points([("v", "u")], 1.0, start="u") == place
    assert network.address(place, start="u")[0].distance == pytest.approx(1.0)


def test_a_schematic_drawing_leaves_the_given_lengths_alone_and_is_called_out():
    """A tube map: every station one step from the next, whatever the miles between them."""
    rng = np.random.default_rng(4)
    tube = networkx.path_graph(30)
    miles = rng.lognormal(0.0, 1.0, size=29)
    for (u, v), length in zip(tube.edges, miles, strict=True):
        tube.edges[u, v]["length"] = length
    for node in tube:
        tube.nodes[node]["pos"] = (float(node), 0.0)
    network = read_networkx(tube, unit="mi")

    np.testing.assert_array_equal(network.graph.lengths, miles)
    assert network.report.length_source == "given"
    assert network.report.length_comparison.is_schematic
    assert any("drawn" in warning or "drawing" in warning for warning in network.report.warnings)


def test_degrees_are_not_taken_as_lengths(soho, metres):
    degrees = soho.to_crs("EPSG:4326")
    network = read_geopandas(degrees)

    np.testing.assert_allclose(network.graph.lengths, metres, rtol=1e-9)
    assert links_from_geopandas(degrees).crs == degrees.crs
