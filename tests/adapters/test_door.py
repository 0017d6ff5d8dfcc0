import json
import shutil
import subprocess
import sys
from pathlib import Path

import geopandas as gpd
import networkx as nx
import pytest
import shapely
from numpy.testing import assert_allclose

import netbo
from netbo.adapters import write_network
from netbo.adapters.read import FORMATS, recognise
from netbo.errors import NetworkError

SWC = "1 1 0 0 0 1 -1\n2 3 0 3 4 1 1\n3 3 0 3 10 1 2\n"


def lines():
    corner, middle, end = (5e5, 5.7e6), (5e5 + 30, 5.7e6 + 40), (5e5 + 30, 5.7e6 + 140)
    shapes = [shapely.LineString([corner, middle]), shapely.LineString([middle, end])]
    return gpd.GeoDataFrame({"name": ["a", "b"]}, geometry=shapes, crs="EPSG:32630")


def town():
    graph = nx.MultiDiGraph(crs="EPSG:32630")
    graph.add_node(1, x=500_000.0, y=5_700_000.0)
    graph.add_node(2, x=500_100.0, y=5_700_000.0)
    graph.add_edge(1, 2, length=100.0, osmid=5)
    graph.add_edge(2, 1, length=100.0, osmid=5)
    return graph


@pytest.mark.parametrize("name", ["streets.gpkg", "streets.shp", "streets.geojson"])
def test_line_files_are_recognised_by_their_suffix(tmp_path, name):
    lines().to_file(tmp_path / name)
    graph, report = netbo.read(tmp_path / name)

    assert recognise(str(tmp_path / name)) == "geopandas"
    assert_allclose(graph.lengths, [50, 100], rtol=1e-3)
    assert report.unit == "m"


def test_a_zipped_shapefile_is_read(tmp_path):
    (tmp_path / "in").mkdir()
    lines().to_file(tmp_path / "in" / "streets.shp")
    packed = shutil.make_archive(str(tmp_path / "streets"), "zip", tmp_path / "in")

    assert_allclose(netbo.read(packed).graph.lengths, [50, 100])


def test_json_is_recognised_by_its_content(tmp_path):
    import pandapower as pp
    import pandapower.networks as cases

    ours, geo, power, other = (tmp_path / f"{name}.json" for name in ("ours", "geo", "power", "other"))
    write_network(netbo.star(3), ours)
    lines().to_file(geo, driver="GeoJSON")
    pp.to_json(cases.simple_four_bus_system(), str(power))
    other.write_text(json.dumps({"nodes": []}))

    assert recognise(ours) == "json"
    assert netbo.read(ours).graph.n_edges == 3
    assert recognise(geo) == "geopandas"
    assert recognise(power) == "pandapower"
    with pytest.raises(NetworkError, match=r"other\.json' is JSON, but neither our own"):
        netbo.read(other)
    other.write_text("{")
    with pytest.raises(NetworkError, match=r"other\.json' is no JSON that can be read"):
        netbo.read(other)


def test_graphml_is_recognised_by_the_marks_of_osmnx(tmp_path):
    plain, streets = tmp_path / "plain.graphml", tmp_path / "streets.graphml"
    nx.write_graphml(nx.path_graph(3), plain)
    nx.write_graphml(town(), streets)

    assert recognise(plain) == "networkx"
    assert recognise(streets) == "osmnx"


def test_objects_are_recognised_by_their_package():
    import pandapower.networks as cases
    import wntr

    assert recognise(nx.path_graph(3)) == "networkx"
    assert recognise(town()) == "osmnx"
    assert recognise(lines()) == "geopandas"
    assert recognise(lines().geometry) == "geopandas"
    assert recognise([lines(), lines()]) == "geopandas"
    assert recognise(wntr.network.WaterNetworkModel()) == "wntr"
    assert recognise(cases.simple_four_bus_system()) == "pandapower"


def test_files_of_water_neurons_and_names_of_topologies_are_recognised(tmp_path):
    import wntr

    neuron = tmp_path / "cell.swc"
    neuron.write_text(SWC)
    water = Path(wntr.__file__).parent / "library" / "networks" / "Net1.inp"

    assert netbo.read(neuron).graph.total_length == pytest.approx(11)
    assert netbo.read(water).graph.n_edges == 12
    assert recognise("sndlib/newyork") == "topohub"


def test_an_object_can_be_read_with_a_named_format():
    network = netbo.read(town(), format="networkx", directions="keep")

    assert network.graph.n_edges == 2
    assert netbo.read(town()).graph.n_edges == 1


def test_networks_and_graphs_pass_through():
    graph = netbo.star(3)
    network = netbo.read(graph)

    assert network.graph is graph
    assert netbo.read(network) is network
    assert isinstance(network.report, netbo.NetworkReport)
    assert isinstance(network, netbo.Network)


def test_options_go_to_the_reader_and_to_the_assembly():
    network = netbo.read(lines(), id="name", barriers=[(1, "b")])

    assert network.graph.edge_ids == ("a", "b")
    assert network.graph.n_components == 2


def test_unknown_options_list_those_there_are():
    with pytest.raises(
        NetworkError, match=r"geopandas has no option 'snapp'; did you mean 'snap'\? the options"
    ):
        netbo.read(lines(), snapp=1.0)
    with pytest.raises(NetworkError, match=r"has no option 'colour'; the options are: id, .*barriers"):
        netbo.read(lines(), colour="red")
    with pytest.raises(NetworkError, match="already read has no option 'snap'; the options are: none"):
        netbo.read(netbo.star(3), snap=1.0)


def test_our_own_json_has_no_options(tmp_path):
    write_network(netbo.star(3), tmp_path / "net.json")

    with pytest.raises(NetworkError, match="reading JSON of our own has no option 'node'"):
        netbo.read(tmp_path / "net.json", node=True)


def test_what_nobody_can_read_is_refused(tmp_path):
    (tmp_path / "streets.xyz").write_text("")

    with pytest.raises(NetworkError, match=r"no file is called 'nowhere\.gpkg'; check the path"):
        netbo.read("nowhere.gpkg")
    with pytest.raises(
        NetworkError, match=r"cannot tell the format of .* from its suffix '\.xyz'; the known ones"
    ):
        netbo.read(tmp_path / "streets.xyz")
    with pytest.raises(NetworkError, match="cannot read dict as a network"):
        netbo.read({"a": 1})
    with pytest.raises(NetworkError, match=r"format must be one of networkx, .*, got 'dxf'"):
        netbo.read("x", format="dxf")


def test_reading_loads_only_the_package_it_needs():
    """A NetworkX graph with lengths needs neither geopandas nor pyproj."""
    script = (
        "import sys, networkx, netbo; g = networkx.path_graph(3)\n"
        "networkx.set_edge_attributes(g, 1.0, 'length'); netbo.read(g)\n"
        "print(*[m for m in ('geopandas', 'pyproj', 'shapely', 'wntr', 'pandapower') if m in sys.modules])"
    )
    done = subprocess.run([sys.executable, "-c", script], capture_output=True, text=True, check=True)

    assert done.stdout.split() == []


def sources(folder):
    """One source of every format, and the unit its lengths have."""
    import pandapower as pp
    import pandas as pd
    import wntr

    water, power = wntr.network.WaterNetworkModel(), pp.create_empty_network()
    water.add_reservoir("lake", base_head=50.0)
    water.add_junction("town")
    water.add_pipe("main", "lake", "town", length=1200.0)
    buses = [pp.create_bus(power, vn_kv=20.0) for _ in range(2)]
    pp.create_line(power, *buses, 1.5, "NAYY 4x50 SE")
    (folder / "cell.swc").write_text(SWC)
    write_network(netbo.read(lines()), folder / "ours.json")
    graph = nx.path_graph(3)
    nx.set_edge_attributes(graph, 2.0, "length")
    return {
        "networkx": (graph, "m"), "geopandas": (lines(), "m"), "osmnx": (town(), "m"), "wntr": (water, "m"),
        "pandapower": (power, "km"), "topohub": ("topozoo/Abilene", "km"), "swc": (folder / "cell.swc", "um"),
        "edge_list": (pd.DataFrame({"from": [1], "to": [2], "length": [3.0]}), "m"),
        "json": (folder / "ours.json", "m"),
    }  # fmt: skip


@pytest.mark.parametrize("kind", FORMATS)
def test_every_reader_takes_a_unit_and_no_coordinate_system(tmp_path, kind):
    source, unit = sources(tmp_path)[kind]
    usual, said = netbo.read(source, crs=None), netbo.read(source, unit=unit, crs=None)

    assert recognise(source) == kind
    assert said.graph.unit == unit
    assert said.report.crs == usual.report.crs == netbo.read(source).report.crs
    assert_allclose(said.graph.lengths, usual.graph.lengths)


@pytest.mark.parametrize("kind", ["osmnx", "wntr", "pandapower", "topohub"])
def test_a_unit_that_the_format_contradicts_is_refused(tmp_path, kind):
    """A label that is wrong would be a wrong length without a word."""
    with pytest.raises(NetworkError, match=r"lengths of .* are in k?m, got unit='miles'; leave it out"):
        netbo.read(sources(tmp_path)[kind][0], unit="miles")


@pytest.mark.parametrize("mark", ["osmid", "length", "x", "crs"])
def test_a_multigraph_is_osmnxs_only_with_all_its_marks(mark):
    """A user's own graph may well name its coordinate system."""
    graph = town()
    graph.graph.pop(mark, None)
    for _, data in graph.nodes(data=True):
        data.pop(mark, None)
    for *_, data in graph.edges(data=True):
        data.pop(mark, None)

    assert recognise(town()) == "osmnx"
    assert recognise(graph) == "networkx"


def test_a_coordinate_system_may_not_contradict_that_of_osmnx():
    assert netbo.read(town(), crs="EPSG:32630").report.crs == "EPSG:32630"
    with pytest.raises(NetworkError, match="crs= is for graphs without a coordinate system, got 'EPSG:4326'"):
        netbo.read(town(), crs="EPSG:4326")
