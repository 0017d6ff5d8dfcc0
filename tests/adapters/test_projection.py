import re
import sys

import numpy as np
import pytest
from numpy.testing import assert_allclose

from netbo.adapters import Links, assemble
from netbo.adapters.projection import as_crs, local_crs, transform
from netbo.errors import NetworkError
from netbo.optional import MissingPackageError

EQUATOR_DEGREE = 2 * np.pi * 6_378_137.0 / 360  # WGS 84, semi-major axis
QUARTER_MERIDIAN = 10_001_965.729  # WGS 84, metres from equator to pole
LONDON = np.array([[-0.14, 51.51], [-0.13, 51.51], [-0.13, 51.52], [-0.12, 51.52]])


def one_line(line, crs, **changed):
    return Links(source="a map", ids=["line"], curves=[np.asarray(line, dtype=float)], crs=crs, **changed)


def london(crs="EPSG:4326", lengths=None):
    """Three streets in a row; two along parallels, one along a meridian."""
    places = transform(LONDON, "EPSG:4326", crs)
    curves = [places[k : k + 2] for k in range(3)]
    return Links(source="London", ids=["a", "b", "c"], curves=curves, crs=crs, lengths=lengths)


def radius_lengths():
    """Metres of the three streets by the radii of curvature of WGS 84."""
    a, e2 = 6_378_137.0, 0.00669437999014

    def parallel(latitude):
        return a * np.cos(latitude) / np.sqrt(1 - e2 * np.sin(latitude) ** 2)

    middle = np.radians(51.515)
    meridian = a * (1 - e2) / (1 - e2 * np.sin(middle) ** 2) ** 1.5
    step = np.radians(0.01)
    return np.array([parallel(np.radians(51.51)), meridian, parallel(np.radians(51.52))]) * step


def test_degrees_along_the_equator_are_metres():
    graph, _ = assemble(one_line([[0, 0], [1, 0]], "EPSG:4326"))

    assert graph.unit == "m"
    assert graph.lengths[0] == pytest.approx(EQUATOR_DEGREE, rel=1e-9)


def test_a_meridian_from_equator_to_pole_has_its_length():
    graph, report = assemble(one_line([[10, 0], [10, 90]], "EPSG:4326"))

    assert graph.lengths[0] == pytest.approx(QUARTER_MERIDIAN, rel=1e-9)
    assert "azimuthal equidistant" in report.projection_name


def test_longitude_and_latitude_are_measured_along_the_ellipsoid_and_drawn_in_metres():
    graph, report = assemble(london())

    assert_allclose(graph.lengths, radius_lengths(), rtol=1e-6)
    assert_allclose(graph.drawing.drawn_lengths(), graph.lengths, rtol=1e-3)  # UTM is 0.04 % short
    assert report.crs == "EPSG:4326"
    assert report.projection == graph.crs == "EPSG:32630"
    assert report.projection_name == "WGS 84 / UTM zone 30N"


@pytest.mark.parametrize("crs", ["EPSG:3857", "ESRI:102100", "EPSG:3395"])
def test_web_mercator_is_not_taken_for_lengths(crs):
    """1.6 times too long in London; its synonyms and the other Mercator are recognised by their scale."""
    graph, report = assemble(london(crs))

    assert_allclose(graph.lengths, radius_lengths(), rtol=1e-6)
    assert report.map_scale == pytest.approx(1.606, abs=0.005)
    assert re.search(r"1\.61? times as long as it is", report.warnings[0])
    assert graph.crs == "EPSG:32630"


def test_map_units_are_lengths_if_the_user_says_so():
    graph, report = assemble(london("EPSG:3857"), coordinates_are_lengths=True)
    degrees, _ = assemble(london(), coordinates_are_lengths=True)

    assert graph.total_length == pytest.approx(1.606 * radius_lengths().sum(), rel=3e-3)
    assert report.projection == "EPSG:3857"
    assert_allclose(degrees.lengths, 0.01, rtol=1e-9)
    assert degrees.unit == "degrees"


def test_a_national_grid_is_used_as_it_is():
    graph, report = assemble(london("EPSG:27700"))

    assert graph.crs == "EPSG:27700"
    assert report.map_scale == pytest.approx(1.0, abs=1e-3)
    assert_allclose(graph.lengths, radius_lengths(), rtol=1e-3)
    assert not report.warnings


def test_feet_are_feet():
    """New York Long Island, a foot of 1200 / 3937 m: a mile is 5280 of them."""
    graph, report = assemble(one_line([[980_000, 190_000], [985_280, 190_000]], "EPSG:2263"))

    assert graph.unit == report.map_unit == "US ft"
    assert graph.total_length == pytest.approx(5280)
    assert report.map_scale == pytest.approx(1.0, abs=1e-3)


def test_a_zone_far_from_its_meridian_is_out_of_scale():
    """Istanbul drawn in the zone of Madrid."""
    place = transform(np.array([[29.0, 41.0], [29.01, 41.0]]), "EPSG:4326", "EPSG:32630")
    graph, report = assemble(one_line(place, "EPSG:32630"))

    assert graph.crs == "EPSG:32635"
    assert report.map_scale > 1.05
    assert graph.total_length == pytest.approx(
        np.radians(0.01) * 6_378_137 * np.cos(np.radians(41)), rel=3e-3
    )


def test_a_wide_network_is_drawn_about_its_middle():
    graph, report = assemble(one_line([[-10, 50], [20, 50]], "EPSG:4326"))

    assert report.projection.startswith("+proj=aeqd")
    assert graph.drawing.drawn_lengths()[0] == pytest.approx(graph.total_length, rel=0.02)


def test_the_antimeridian_is_no_border():
    graph, report = assemble(one_line([[179.9, 0.0], [-179.9, 0.0]], "EPSG:4326"))

    assert graph.total_length == pytest.approx(0.2 * EQUATOR_DEGREE, rel=1e-9)
    assert graph.drawing.drawn_lengths()[0] == pytest.approx(0.2 * EQUATOR_DEGREE, rel=1e-3)
    assert report.n_components == 1


@pytest.mark.parametrize(
    ("place", "code"),
    [((-0.1, 51.5), 32630), ((151.2, -33.9), 32756), ((-58.4, -34.6), 32721), ((7, 46), 32632)],
)
def test_the_local_projection_is_the_zone_of_the_place(place, code):
    assert local_crs(np.array([place, place])).to_epsg() == code


def test_the_poles_have_no_zone():
    assert local_crs(np.array([[0.0, 88.0], [90.0, 88.5]])).to_epsg() is None


def test_a_projection_of_ones_own():
    graph, report = assemble(london(), metric_crs="EPSG:27700")

    assert graph.crs == report.projection == "EPSG:27700"
    assert_allclose(graph.lengths, radius_lengths(), rtol=1e-6)


@pytest.mark.parametrize("crs", ["EPSG:4326", "EPSG:2263"])
def test_a_projection_of_ones_own_is_in_metres(crs):
    with pytest.raises(NetworkError, match="metric_crs must be a projection in metres"):
        assemble(london(), metric_crs=crs)


def test_unknown_systems_are_refused():
    with pytest.raises(NetworkError, match="a coordinate system that pyproj knows, got 'EPSG:0'"):
        as_crs("EPSG:0")


def test_coordinates_that_are_no_angles_name_their_link():
    with pytest.raises(NetworkError, match="latitude 100 on link 'line'; the source names the wrong one"):
        assemble(one_line([[0, 0], [5, 100]], "EPSG:4326"))


def test_places_stay_where_the_system_is_unknown_or_the_same():
    places = np.array([[1.0, 2.0]])

    assert transform(places, None, "EPSG:4326") is places
    assert transform(places, "EPSG:4326", "EPSG:4326") is places
    assert transform(places, "EPSG:4326", "OGC:CRS84") == pytest.approx(places)


def test_given_lengths_win_and_are_compared():
    given = 1.02 * radius_lengths()
    graph, report = assemble(london(lengths=given))
    found = report.length_comparison

    assert_allclose(graph.lengths, given)
    assert found.median == pytest.approx(1 / 1.02, rel=1e-6)
    assert not found.is_schematic
    assert not report.warnings


def test_lengths_computed_in_web_mercator_are_recognised():
    """A length column that some program computed on the web map."""
    web = transform(LONDON, "EPSG:4326", "EPSG:3857")
    given = np.linalg.norm(np.diff(web, axis=0), axis=1)
    for crs in ("EPSG:4326", "EPSG:3857", "EPSG:27700"):
        report = assemble(london(crs, lengths=given)).report

        assert report.length_comparison.mercator_factor == pytest.approx(1.606, abs=0.005)
        assert re.search(r"1\.61? times too long; pass lengths='drawn'", " ".join(report.warnings))
    assert_allclose(
        assemble(london(lengths=given), lengths="drawn").graph.lengths, radius_lengths(), rtol=1e-6
    )


def test_lengths_in_degrees_are_recognised():
    report = assemble(london(lengths=np.full(3, 0.01))).report

    assert report.length_comparison.is_in_degrees
    assert "the lengths in the file are in degrees" in " ".join(report.warnings)


def test_a_schematic_drawing_loses_against_the_attribute():
    """Drawn lengths unrelated to the given ones: ratios from 1/100 to 100."""
    rng = np.random.default_rng(0)
    given = radius_lengths() * 10.0 ** np.array([-2, 0, 2]) * rng.uniform(0.9, 1.1, 3)
    graph, report = assemble(london(lengths=given))

    assert_allclose(graph.lengths, given)
    assert report.length_comparison.is_schematic
    assert "the drawing is schematic" in report.warnings[0]
    assert "the given lengths are used" in report.warnings[0]


def test_a_wrong_unit_is_noticed():
    links = london(lengths=radius_lengths() / 1000)
    (warning,) = assemble(links).report.warnings

    assert "look like km" in warning
    assert "1000 times the given ones (unit unknown)" in warning
    assert "pass unit='km'" in warning


def test_kilometres_are_no_wrong_unit():
    links = Links(
        source="t",
        ids=["a", "b", "c"],
        curves=[LONDON[k : k + 2] for k in range(3)],
        crs="EPSG:4326",
        lengths=radius_lengths() / 1000,
        unit="km",
    )
    graph, report = assemble(links)

    assert graph.unit == "km"
    assert not report.warnings


def test_a_missing_package_names_its_extra(monkeypatch):
    monkeypatch.setitem(sys.modules, "pyproj", None)

    with pytest.raises(MissingPackageError, match=r"needs pyproj, got .*; install the extra 'geo'"):
        assemble(london())


def test_neither_pyproj_nor_shapely_is_needed_without_a_map(monkeypatch):
    for name in ("pyproj", "shapely"):
        monkeypatch.setitem(sys.modules, name, None)
    links = Links(
        source="t",
        ids=[0, 1],
        tails=[0, 1],
        heads=[1, 2],
        lengths=[1.0, 2.0],
        positions={k: (k, 0) for k in range(3)},
    )
    network = assemble(links, snap=1e-6)

    assert network.graph.total_length == 3
    assert network.locate([[0.5, 1.0]])[1] == pytest.approx([1.0])
