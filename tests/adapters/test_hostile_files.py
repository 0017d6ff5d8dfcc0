"""Files are data: whatever is in them, nothing of it is run, and the answer is a sentence."""

import json
import sys
import zipfile

import pandapower as pp
import pytest
from tests.support.power_nets import feeder

import netbo
from netbo.errors import GraphError, NetworkError

MODULE = "netbo_evil_module"


@pytest.fixture
def trap(tmp_path, monkeypatch):
    """A module on the path that tells when it is imported."""
    folder = tmp_path / "path"
    folder.mkdir()
    (folder / f"{MODULE}.py").write_text("class Thing:\n    pass\n\ndef f():\n    pass\n")
    monkeypatch.syspath_prepend(str(folder))
    yield lambda: MODULE in sys.modules
    sys.modules.pop(MODULE, None)


def power_file(path, **objects):
    """A good net with objects of our own put into it."""
    document = json.loads(pp.to_json(feeder(), None))
    document["_object"].update(objects)
    path.write_text(json.dumps(document))
    return path


TABLE = {"_module": "pandas.core.frame", "_class": "DataFrame", "orient": "split"}
EVIL = {"_module": MODULE, "_class": "Thing", "_object": {}}


@pytest.mark.parametrize(
    "planted",
    [
        EVIL,
        {**EVIL, "_class": "function", "_object": "f"},
        {"deep": [[EVIL]]},
        {**TABLE, "_object": json.dumps({"columns": ["a"], "index": [0], "data": [[EVIL]]})},
        {**TABLE, "_object": json.dumps({"columns": ["a"], "data": [[EVIL]]}).replace("_mod", r"\u005fmod")},
        {"_module": "pandapower.control.util.characteristic", "_class": "SplineCharacteristic",
         "_object": json.dumps({"index": EVIL, "x_vals": [0], "y_vals": [0]})},
        {"_module": "pandapower.auxiliary", "_class": "pandapowerNet", "_object": json.dumps({"x": EVIL})},
        {"_module": f"pandapower_{MODULE}", "_class": "Thing"},
        {"_module": [MODULE], "_class": "Thing"},
        {"_module": "builtins", "_class": "eval", "_object": f"__import__('{MODULE}')"},
        {"_module": "subprocess", "_class": "Popen", "_object": "true"},
    ],
)  # fmt: skip
def test_a_power_file_imports_no_module_but_those_of_its_format(tmp_path, trap, planted):
    """pandapower imports whatever "_module" names, also from text inside its tables."""
    path = power_file(tmp_path / "net.json", planted=planted)

    with pytest.raises(
        NetworkError, match=r"may hold objects of pandapower and its tables, got .*if you trust"
    ):
        netbo.read(path, format="pandapower")
    assert not trap()


def test_a_table_of_a_power_file_is_no_path_to_another_file(tmp_path):
    """pandas would open it."""
    secret = tmp_path / "secret.json"
    secret.write_text(json.dumps({"columns": ["word"], "index": [0], "data": [["xyzzy"]]}))
    table = {**TABLE, "_object": str(secret)}

    with pytest.raises(NetworkError, match="must be JSON written by pandapower"):
        netbo.read(power_file(tmp_path / "net.json", planted=table))


def test_a_power_file_with_controllers_of_pandapower_is_read(tmp_path):
    net = feeder()
    pp.control.basic_controller.Controller(net)
    path = tmp_path / "net.json"
    pp.to_json(net, str(path))

    assert netbo.read(path).graph.n_edges == netbo.read(net).graph.n_edges


@pytest.mark.parametrize("name", ["deep.json", "deep.geojson"])
@pytest.mark.parametrize("kind", [None, "json", "pandapower", "geopandas"])
def test_nesting_without_end_is_a_sentence(tmp_path, name, kind):
    path = tmp_path / name
    path.write_text("[" * 200_000 + "]" * 200_000)

    with pytest.raises(NetworkError, match=r"deep|lines|RecursionError"):
        netbo.read(path, format=kind)


BOMB = "".join(f'<!ENTITY a{k} "{f"&a{k - 1};" * 10}">' for k in range(1, 9))
BOMB = f'<?xml version="1.0"?><!DOCTYPE x [<!ENTITY a0 "ha">{BOMB}]>'
GRAPHML = "<graphml xmlns='http://graphml.graphdrawing.org/xmlns'><graph>%s</graph></graphml>"
KML = "<kml><Document><Placemark><name>%s</name></Placemark></Document></kml>"


@pytest.mark.parametrize("encoding", ["utf-8", "utf-16"])
@pytest.mark.parametrize(
    ("name", "body"),
    [
        ("laughs.graphml", GRAPHML % '<node id="&a8;"/>'),
        ("osm.graphml", GRAPHML % '<!--attr.name="osmid" attr.name="crs"-->'),
        ("laughs.kml", KML % "&a8;"),
    ],
)
def test_entities_that_would_fill_the_memory_are_refused(tmp_path, name, body, encoding):
    path = tmp_path / name
    path.write_text(BOMB + body, encoding=encoding)

    with pytest.raises(NetworkError, match="declares the XML entity 'a0', and a network needs none"):
        netbo.read(path)


def test_an_entity_that_is_another_file_is_refused(tmp_path):
    secret, path = tmp_path / "secret.txt", tmp_path / "file.graphml"
    secret.write_text("xyzzy")
    path.write_text(f'<!DOCTYPE x [<!ENTITY other SYSTEM "{secret}">]>' + GRAPHML % '<node id="&other;"/>')

    with pytest.raises(NetworkError, match="declares the XML entity 'other'"):
        netbo.read(path)


@pytest.mark.parametrize(
    "name", ["streets.geojson", "streets.gpkg", "streets.kml", "streets.vrt", "streets.zip"]
)
def test_a_file_that_points_to_others_is_not_followed(tmp_path, name):
    """GDAL goes by the content, whatever the name: a virtual file reads any file or address it names."""
    import geopandas
    import shapely

    secret, path = tmp_path / "secret.gpkg", tmp_path / name
    line = shapely.LineString([(0, 0), (1, 1)])
    geopandas.GeoDataFrame({"word": ["xyzzy"]}, geometry=[line], crs="EPSG:32630").to_file(secret, layer="a")
    layer = f"<OGRVRTLayer name='a'><SrcDataSource>{secret}</SrcDataSource></OGRVRTLayer>"
    virtual = f"<OGRVRTDataSource>{layer}</OGRVRTDataSource>"
    if name.endswith(".zip"):
        with zipfile.ZipFile(path, "w") as archive:
            archive.writestr("streets.vrt", virtual)
    else:
        path.write_text(virtual)

    with pytest.raises(NetworkError, match="points to other files"):
        netbo.read(path, format="geopandas")


def test_an_archive_that_would_fill_the_memory_is_refused(tmp_path, monkeypatch):
    path = tmp_path / "streets.zip"
    with zipfile.ZipFile(path, "w", zipfile.ZIP_DEFLATED) as archive:
        archive.writestr("streets.geojson", b" " * 3_000_000)
    monkeypatch.setenv("NETBO_MEMORY", "1e-3")

    with pytest.raises(NetworkError, match=r"streets.zip holds 0.003 GB.*NETBO_MEMORY"):
        netbo.read(path)


@pytest.mark.parametrize("key", ["../../../../etc/passwd", "sndlib/../../x", "/etc/passwd", "sndlib"])
def test_a_name_of_a_topology_is_no_path(key):
    with pytest.raises(NetworkError, match="no topology of topohub has the key"):
        netbo.read(key, format="topohub")


@pytest.mark.parametrize("dtype", ["O", "S2000000000", "|V99", 7, None])
def test_arrays_of_our_own_files_are_of_numbers(tmp_path, dtype):
    """A type of text could claim gigabytes for one letter."""
    path = tmp_path / "net.json"
    netbo.adapters.write_network(netbo.star(3), path)
    document = json.loads(path.read_text())
    document["graph"]["lengths"]["dtype"] = dtype
    path.write_text(json.dumps(document))

    with pytest.raises(NetworkError, match="arrays must be of numbers"):
        netbo.read(path)


@pytest.mark.parametrize("ids", [{"~range": [0, 10**30, 1]}, {"~range": [0, 10**12, 1]}, {"~tuple": 7}])
def test_a_claim_of_many_ids_is_not_believed(tmp_path, ids):
    path = tmp_path / "net.json"
    netbo.adapters.write_network(netbo.star(3), path)
    document = json.loads(path.read_text())
    document["graph"]["edge_ids"] = ids
    path.write_text(json.dumps(document))

    with pytest.raises(NetworkError, match="damaged"):
        netbo.read(path)


@pytest.mark.parametrize("name", ["\ud800", ("a", "\udfff")])
def test_half_a_character_in_a_name_is_a_sentence(tmp_path, name):
    """JSON can hold a lone surrogate; no table, page or terminal can."""
    path = tmp_path / "net.json"
    netbo.adapters.write_network(netbo.MetricGraph([0], [1], [1.0], edge_ids=[("a", "here")]), path)
    path.write_text(path.read_text().replace("here", "\\ud800"))

    with pytest.raises(GraphError, match="edge ids must be text that can be written in UTF-8"):
        netbo.MetricGraph([0], [1], [1.0], edge_ids=[name])
    with pytest.raises(NetworkError, match="text that can be written in UTF-8"):
        netbo.read(path)
