"""GPX and KML: read back by GDAL, which shares no code with the writer, and checked against the schemas."""

from xml.etree import ElementTree

import geopandas as gpd
import numpy as np
import pytest
from numpy.testing import assert_allclose

import netbo
from netbo.adapters.assembly.assemble import assemble
from netbo.adapters.links import Links
from netbo.adapters.waypoints import Waypoint, degrees_of, write_waypoints
from netbo.errors import NetworkError, ParameterError
from netbo.optimize import Result

# Two streets near the middle of UTM zone 30, one with a bend; noded where they cross.
CURVES = [
    np.array([[500000.0, 4649776.0], [500100.0, 4649776.0], [500100.0, 4649876.0]]),
    np.array([[500050.0, 4649700.0], [500050.0, 4649800.0]]),
]
GPX_ORDER = ["name", "desc", "type"]  # of what a waypoint may have, as the schema orders it
HOSTILE = "<b>&\"'\x00\x1b \ud800 ]]> é 漢"


def streets(crs="EPSG:32630"):
    links = Links(source="two streets", ids=["high <1>", "low & slow"], curves=CURVES, crs=crs)
    return assemble(links, node=True, coordinates_are_lengths=crs is None)


def searched(network, values=(1.0, 2.0, 4.0, 3.0), note=""):
    """Values on both streets, one failure, and two places that are next."""
    optimizer = netbo.Optimizer(network, noise=0.01, max_cell=5.0, seed=1, value_unit="l/s")
    ends = network.points(["high <1>", "high <1>", "high <1>", "low & slow"], [0.0, 120.0, 180.0, 50.0])
    optimizer.tell(ends[: len(values)], values)
    optimizer.tell(network.points("low & slow", [90.0]), ["failed"])
    optimizer.ask(2)
    return Result(optimizer, note)


def read(path, layer):
    return gpd.read_file(path, layer=layer)


@pytest.fixture(scope="module")
def run(tmp_path_factory):
    network = streets()
    found = searched(network)
    folder = tmp_path_factory.mktemp("waypoints")
    return network, found, found.export(folder / "a.gpx", network), found.export(folder / "a.kml", network)


def expected(network, found):
    """Kind, and longitude and latitude by pyproj, of every trial."""
    import pyproj

    mover = pyproj.Transformer.from_crs("EPSG:32630", "EPSG:4326", always_xy=True)
    kinds = {"pending": "next", "observed": "observed", "failed": "failed"}
    trials = list(found.optimizer.history)
    xy = np.array([trial.point.xy for trial in trials])
    return {trial.id: (kinds[trial.status.value], *mover.transform(*xy[k])) for k, trial in enumerate(trials)}


def test_gdal_finds_every_trial_of_a_gpx_where_it_lies(run):
    network, found, gpx, _ = run
    table = read(gpx, "waypoints")
    assert table.crs == "EPSG:4326"
    places = {row["name"].partition(":")[0]: row for _, row in table.iterrows() if row["type"] != "search"}

    assert len(places) == len(found.optimizer.history) == 7
    for trial, (kind, longitude, latitude) in expected(network, found).items():
        row = places[str(trial)]
        assert row["type"] == kind
        assert_allclose([row.geometry.x, row.geometry.y], [longitude, latitude], rtol=0, atol=2e-8)
    assert places["2"]["name"] == "2: 4 l/s"
    assert places["2"]["desc"] == "edge high <1>, 180 m"


def test_gdal_finds_every_trial_of_a_kml_in_the_folder_of_its_kind(run):
    network, found, _, kml = run

    assert set(gpd.list_layers(kml)["name"]) == {"next", "observed", "failed", "search"}
    for kind in ("next", "observed", "failed"):
        table = read(kml, kind)
        there = {row["Name"].partition(":")[0]: row for _, row in table.iterrows()}
        wanted = {str(k): place for k, place in expected(network, found).items() if place[0] == kind}
        assert there.keys() == wanted.keys()
        for name, (_, longitude, latitude) in wanted.items():
            assert_allclose(there[name].geometry.coords[0][:2], [longitude, latitude], rtol=0, atol=2e-8)


def test_stretches_to_search_are_tracks_of_their_length_on_the_streets(run):
    """Back on the map in metres a track is as long as its stretch and lies on the network, bends included."""
    network, found, gpx, kml = run
    listed = found.search_list()
    tracks = read(gpx, "tracks").to_crs("EPSG:32630")
    lines = read(kml, "search").to_crs("EPSG:32630").geometry
    scale = 0.9996  # of UTM on its central meridian; the network measures true lengths, or the map's
    corners = np.concatenate(
        [np.asarray(line.coords)[:, :2] for track in tracks.geometry for line in track.geoms]
    )
    _, off = network.graph.nearest(corners)

    assert len(tracks) == len(lines) == len(listed.stretches)
    assert off.max() < 0.01
    for stretch, track, shape in zip(listed.stretches, tracks.geometry, lines, strict=True):
        assert track.length == pytest.approx(stretch.length, rel=2 * (1 - scale), abs=0.01)
        assert shape.length == pytest.approx(track.length, abs=1e-6)
    assert read(gpx, "waypoints")["type"].tolist().count("search") == len(listed.stretches)


def test_elements_come_in_the_order_of_the_schemas(run):
    _, _, gpx, kml = run
    root = ElementTree.parse(gpx).getroot()
    space = "{http://www.topografix.com/GPX/1/1}"
    tags = [child.tag.removeprefix(space) for child in root]
    marks = ElementTree.parse(kml).getroot().iter("{http://www.opengis.net/kml/2.2}Placemark")

    assert root.tag == f"{space}gpx"
    assert (root.get("version"), root.get("creator")) == ("1.1", "netbo")
    assert tags == sorted(tags, key=["metadata", "wpt", "trk"].index)
    for place in root.iter(f"{space}wpt"):
        assert [child.tag.removeprefix(space) for child in place] == GPX_ORDER
        assert -180 <= float(place.get("lon")) < 180
        assert -90 <= float(place.get("lat")) <= 90
    for mark in marks:
        kinds = [child.tag.rpartition("}")[2] for child in mark]
        assert kinds[:2] == ["name", "description"]
        assert kinds[2] in ("Point", "MultiGeometry")


@pytest.mark.parametrize("suffix", [".gpx", ".kml"])
def test_any_text_is_written_so_that_it_can_be_read(tmp_path, suffix):
    """Markup is escaped; what XML 1.0 cannot hold is replaced, since no reader would take the file."""
    place = Waypoint("next", HOSTILE, HOSTILE, np.array([1.0, 2.0]))
    path = write_waypoints(tmp_path / f"a{suffix}", [place], HOSTILE)
    texts = {
        element.text for element in ElementTree.parse(path).iter() if element.text and element.text.strip()
    }

    assert "<b>&\"'\ufffd\ufffd \ufffd ]]> é 漢" in texts
    name = read(path, "waypoints" if suffix == ".gpx" else "next").iloc[0][
        "name" if suffix == ".gpx" else "Name"
    ]
    assert name.startswith("<b>&")


def test_a_place_on_the_antimeridian_has_a_longitude_that_gpx_allows():
    graph = netbo.MetricGraph([0], [1], [2.0], positions=[(180.0, 0.0), (182.0, 0.0)], crs="EPSG:4326")

    assert degrees_of(graph, graph.points(0, [0.0, 1.0])).tolist() == [[-180.0, 0.0], [-179.0, 0.0]]


def test_next_places_need_no_value(tmp_path):
    network = streets()
    optimizer = netbo.Optimizer(network, seed=1)
    optimizer.ask(3)
    table = read(optimizer.export(tmp_path / "next.gpx", network), "waypoints")

    assert table["type"].tolist() == ["next"] * 3
    with pytest.raises(ParameterError, match="waypoints need a trial, got none"):
        netbo.Optimizer(network).export(tmp_path / "none.gpx", network)


@pytest.mark.parametrize("suffix", [".gpx", ".kml"])
def test_without_a_coordinate_system_there_is_nothing_to_write(tmp_path, suffix):
    found = searched(streets(crs=None))
    with pytest.raises(
        NetworkError, match="longitude and latitude, got a network without a coordinate system"
    ):
        found.export(tmp_path / f"a{suffix}")

    assert not list(tmp_path.iterdir())
