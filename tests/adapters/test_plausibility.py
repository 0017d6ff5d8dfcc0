"""What no network on the ground is like: coordinates of another system, sizes, units, placeholders."""

import geopandas
import numpy as np
import pandapower.networks
import pytest
import shapely
from pyproj import Geod, Transformer
from wntr.library import ModelLibrary

import netbo
from netbo.adapters import Links, assemble

PRAGUE = [(14.40, 50.08), (14.41, 50.085), (14.42, 50.08), (14.43, 50.09)]


def frame(corners, crs, **columns):
    parts = [shapely.LineString(corners[k : k + 2]) for k in range(len(corners) - 1)]
    return geopandas.GeoDataFrame(columns, geometry=parts, crs=crs)


def in_system(crs):
    return list(Transformer.from_crs("EPSG:4326", crs, always_xy=True).itransform(PRAGUE))


def warned(network, word):
    return [each for each in network.report.warnings if word in each]


# Coordinates and sizes


def test_degrees_that_are_labelled_metres_are_noticed():
    network = netbo.read(frame(PRAGUE, "EPSG:32633"))
    (said,) = warned(network, "longitude and latitude")
    (size,) = warned(network, "in all")

    assert "(14.4, 50.08)" in said
    assert "WGS 84 / UTM zone 33N" in said
    assert network.report.displaced.are_degrees
    assert "less than any on the ground" in size


@pytest.mark.parametrize(
    "crs", ["EPSG:32633", "EPSG:5514", "EPSG:3857", "EPSG:4326", "EPSG:5221", "EPSG:3035"]
)
def test_coordinates_in_the_system_that_is_named_are_not(crs):
    """EPSG:5221 counts longitudes from Ferro, 17 degrees west of Greenwich."""
    report = netbo.read(frame(in_system(crs), crs)).report

    assert report.displaced is None
    assert not [each for each in report.warnings if "web" not in each.lower() and "Mercator" not in each]


def test_a_neighbouring_zone_is_no_reason_to_warn():
    """People keep their zone a little beyond its border: Prague is 3.6 degrees west of zone 34."""
    assert netbo.read(frame(in_system("EPSG:32634"), "EPSG:32634")).report.displaced is None


def test_one_link_at_a_place_that_the_system_does_not_have_is_named():
    corners = in_system("EPSG:32633")
    lines = [
        shapely.LineString(corners[:2]),
        shapely.LineString([(-1_400_000.0, 5_500_000.0), (-1_399_000.0, 5_500_000.0)]),
    ]
    table = geopandas.GeoDataFrame({"road": ["E55", "stray"]}, geometry=lines, crs="EPSG:32633")
    (said,) = warned(netbo.read(table, id="road"), "outside the area")

    assert said.startswith("1 link ('stray') lies outside the area for which WGS 84 / UTM zone 33N is made")
    assert "(-1400000, 5500000)" in said


def test_systems_in_grads_from_paris_measure_metres():
    """NTF (Paris) counts in grads from another meridian; its metres are metres."""
    paris = [(2.35, 48.85), (2.36, 48.86), (2.37, 48.85)]
    corners = list(Transformer.from_crs("EPSG:4326", "EPSG:27572", always_xy=True).itransform(paris))
    report = netbo.read(frame(corners, "EPSG:27572")).report

    assert report.warnings == ()
    assert report.map_scale == pytest.approx(1.0, abs=1e-3)
    exact = Geod(ellps="WGS84").geometry_length(shapely.LineString(paris))
    assert report.total_length == pytest.approx(exact, rel=1e-3)


@pytest.mark.parametrize(
    ("lengths", "unit", "word"),
    [
        ([0.01, 0.02, 0.012], "m", "less than any on the ground"),
        ([3e8, 4e8, 5e8], "m", "more than half way round the Earth"),
        ([5e3] * 300, "km", "more than any has"),
    ],
)
def test_sizes_that_no_network_has_are_noticed(lengths, unit, word):
    n = len(lengths)
    links = Links(
        source="t", ids=range(n), tails=range(n), heads=range(1, n + 1), lengths=np.array(lengths), unit=unit
    )

    assert any(word in each for each in assemble(links).report.warnings)


def test_micrometres_and_units_of_ones_own_are_no_sizes_on_the_ground():
    links = Links(source="t", ids=[0, 1], tails=[0, 1], heads=[1, 2], lengths=np.array([0.1, 0.2]), unit="um")

    assert assemble(links).report.warnings == ()
    assert netbo.read(netbo.interval(0.01)).report.warnings == ()


# Units


def measured(factors, **options):
    """A street of many corners whose lengths are those of the map, divided."""
    rng = np.random.default_rng(3)
    steps = np.stack([rng.uniform(20, 100, len(factors) + 1), rng.uniform(-80, 80, len(factors) + 1)], axis=1)
    corners = np.add(np.cumsum(steps, axis=0), [458_000, 5_549_000])
    true = np.linalg.norm(np.diff(corners, axis=0), axis=1)
    table = frame(corners, "EPSG:32633", m=true * rng.uniform(0.99, 1.02, len(true)) / factors)
    return netbo.read(table, length="m", **options)


def test_kilometres_among_metres_are_mixed_units():
    """Half of the column in km: the ratio of drawn to given length clusters at 1 and at 1000."""
    network = measured(np.where(np.arange(20) % 2, 1000.0, 1.0))
    (said,) = network.report.warnings[:1]

    assert "mix units: 10 links" in said
    assert "in km, 10 in m" in said or "in m, 10 in km" in said
    assert "schematic" not in said
    assert {len(each.links) for each in network.report.length_comparison.units} == {10}


def test_one_length_in_kilometres_is_named():
    factors = np.ones(30)
    factors[7] = 1000.0
    (said,) = warned(measured(factors, unit="m"), "mix units")

    assert "1 link (7) in km, 29 in m" in said


def test_feet_are_called_so():
    (said,) = measured(np.full(20, 0.3048)).report.warnings

    assert "look like ft" in said
    assert "0.30" in said
    assert "pass unit='ft'" in said
    assert measured(np.full(20, 0.3048), unit="ft").report.warnings == ()


def test_metres_that_are_called_feet_are_noticed():
    (said,) = measured(np.ones(20), unit="ft").report.warnings

    assert "look like m" in said


def test_feet_among_metres_are_mixed_units():
    (said,) = warned(measured(np.where(np.arange(20) < 6, 0.3048, 1.0), unit="m"), "mix units")

    assert "6 links (0, 1, 2, ...) in ft, 14 in m" in said


def test_drawn_lengths_have_no_units_to_mix():
    (said,) = warned(measured(np.where(np.arange(20) % 2, 1000.0, 1.0), lengths="drawn"), "mix units")

    assert said.endswith("the drawn lengths are used")


@pytest.mark.parametrize("factors", [np.ones(20), np.r_[np.ones(19), 3.0], np.r_[np.ones(18), 0.3, 0.5]])
def test_lengths_of_one_unit_are_not_mixed(factors):
    """A single link three times off may be a curve that was drawn straight."""
    assert not warned(measured(factors, unit="m"), "mix units")


def test_schematic_drawings_stay_schematic():
    """EPANET's Net3: ratios between 0.003 and 0.02 are no units."""
    network = netbo.read(ModelLibrary().get_filepath("Net3"))

    assert warned(network, "the drawing is schematic")
    assert not warned(network, "mix units")


# Placeholders, and formats whose topology is given


@pytest.mark.parametrize("case", ["case9", "case39"])
def test_one_kilometre_for_every_line_is_a_placeholder(case):
    net = getattr(pandapower.networks, case)()
    network = netbo.read(net)
    (said,) = warned(network, "placeholders")

    assert f"{len(net.line)} links (0, 1, 2, ...)" in said
    assert "1 km" in said
    assert network.report.equal_lengths.length == 1.0


def test_designed_lengths_are_no_placeholders():
    for name in ("create_cigre_network_lv", "create_kerber_vorstadtnetz_kabel_1"):
        assert netbo.read(getattr(pandapower.networks, name)()).report.equal_lengths is None


def test_the_streets_of_a_grid_may_be_equally_long():
    corners = [(x, y) for x in range(4) for y in range(4)]
    pairs = [(a, b) for a in corners for b in corners if b in ((a[0] + 1, a[1]), (a[0], a[1] + 1))]
    links = Links(
        source="t", ids=pairs, tails=[a for a, _ in pairs], heads=[b for _, b in pairs],
        lengths=np.full(len(pairs), 100.0), positions={place: place for place in corners}, unit="m",
    )  # fmt: skip

    assert assemble(links).report.equal_lengths is None


def test_where_topology_is_given_nobody_is_told_to_snap():
    """ky4 has pipes whose ends lie 0.1 m apart and are two nodes: EPANET keeps them apart."""
    report = netbo.read(ModelLibrary().get_filepath("ky4")).report

    assert report.false_dead_ends
    assert report.has_vertex_ids
    assert not [each for each in report.warnings if "snap" in each]
    assert "the ids of the source say what meets" in str(report)


def test_where_the_drawing_says_what_meets_snapping_is_offered():
    lines = [[(458_000, 5_549_000), (458_100, 5_549_000)], [(458_100.05, 5_549_000), (458_100.05, 5_549_200)]]
    table = geopandas.GeoDataFrame(geometry=[shapely.LineString(each) for each in lines], crs="EPSG:32633")
    report = netbo.read(table).report

    assert not report.has_vertex_ids
    (said,) = (each for each in report.warnings if "snap=" in each)
    assert "at (458100, 5549000)" in said
