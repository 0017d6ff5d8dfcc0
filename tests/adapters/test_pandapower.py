import json
import sys

import numpy as np
import pandapower as pp
import pandapower.networks
import pytest
from pyproj import Geod

from netbo.adapters.links import Treatment
from netbo.adapters.pandapower import links_from_pandapower, read_pandapower
from netbo.errors import NetworkError
from netbo.optional import MissingPackageError
from support.power_nets import CABLE, VOLTAGE, feeder, ring

# pandapower's own example nets are older than its tables
pytestmark = pytest.mark.filterwarnings("ignore:tap_dependency_table is missing:DeprecationWarning")


@pytest.fixture(scope="module")
def oberrhein():
    return pandapower.networks.mv_oberrhein()


def apart(network, first, second):
    graph = network.graph
    return graph.distance(*(graph.vertex_points(graph.vertex_indices([bus])) for bus in (first, second)))[
        0, 0
    ]


def test_lines_are_named_by_their_index_and_measured_in_kilometres(oberrhein):
    graph = read_pandapower(oberrhein).graph
    line = oberrhein.line.length_km

    assert graph.unit == "km"
    assert sorted(graph.edge_ids) == sorted(line.index)
    np.testing.assert_allclose(graph.lengths, [line[index] for index in graph.edge_ids])
    assert graph.edge_attributes["name"][0] == oberrhein.line.name[graph.edge_ids[0]]


def test_longitude_and_latitude_are_recognised_by_the_lengths(oberrhein):
    """Where a line is drawn with bends its geodesic length is near length_km."""
    links = links_from_pandapower(oberrhein)
    geod = Geod(ellps="WGS84")
    drawn = np.array([geod.line_length(*curve.T) / 1000 for curve in links.curves[:181]])

    assert links.crs == "EPSG:4326"
    assert np.median(drawn / links.lengths[:181]) == pytest.approx(1.0, abs=0.02)


def test_an_open_switch_does_not_connect():
    """The trap: a ring opened at one end of a line is a line that is still fed from the other."""
    net = ring()
    pp.create_switch(net, bus=2, element=1, et="l", closed=False)
    network = read_pandapower(net)
    end = network.points(1, fraction=1.0)

    assert apart(network, 1, 2) == pytest.approx(4.0 + 5.0)
    assert network.graph.total_length == pytest.approx(12.0)
    assert network.graph.distance(end, network.points(1, 0.0))[0, 0] == pytest.approx(3.0)
    assert "lines with an open switch (1): detached at that end" in str(network.report)


@pytest.mark.parametrize(("buses", "components"), [((1,), 1), ((2,), 1), ((1, 2), 2)])
def test_a_line_is_detached_at_the_end_of_its_switch(buses, components):
    net = ring()
    for bus in buses:
        pp.create_switch(net, bus=bus, element=1, et="l", closed=False)
    network = read_pandapower(net)
    graph = network.graph
    tail, head = network.points(1, 0.0), network.points(1, fraction=1.0)
    sides = [graph.vertex_points(graph.vertex_indices([bus])) for bus in (1, 2)]

    assert graph.n_components == components
    assert (graph.distance(tail, sides[0])[0, 0] == 0.0) == (1 not in buses)
    assert (graph.distance(head, sides[1])[0, 0] == 0.0) == (2 not in buses)


def test_the_treatment_of_open_switches_is_selectable():
    net = ring()
    pp.create_switch(net, bus=2, element=1, et="l", closed=False)

    assert apart(read_pandapower(net, open_switches="keep"), 1, 2) == pytest.approx(3.0)
    assert set(read_pandapower(net, open_switches=Treatment.DROP).graph.edge_ids) == {0, 2}


def test_mv_oberrhein_falls_into_its_two_substations(oberrhein):
    """Its six open switches separate the two; closing them all joins the rings."""
    reference = pp.topology.create_nxgraph(oberrhein, respect_switches=True, include_trafos=False)
    graph = read_pandapower(oberrhein).graph

    groups = [group for group in pp.topology.connected_components(reference) if len(group) > 1]
    assert graph.n_components == len(groups) == 2
    assert read_pandapower(oberrhein, open_switches="keep").graph.n_components == 1


def test_bus_switches_join_when_closed_and_part_when_open():
    net = feeder((4.0,))
    for _ in range(2):
        pp.create_bus(net, VOLTAGE)
    pp.create_line_from_parameters(net, 2, 3, 3.0, **CABLE)
    switch = pp.create_switch(net, bus=1, element=2, et="b", closed=True)
    joined = read_pandapower(net)
    net.switch.loc[switch, "closed"] = False

    assert joined.graph.distance(joined.points(0, 0.0), joined.points(1, fraction=1.0))[
        0, 0
    ] == pytest.approx(7)
    assert (
        joined.graph.distance(joined.points(("switch", 0), fraction=0.5), joined.points(1, 0.0))[0, 0] == 0.0
    )
    assert read_pandapower(net).graph.n_components == 2
    assert read_pandapower(net, open_switches="keep").graph.n_components == 1


def with_transformer():
    net = feeder((4.0,))
    low, end = pp.create_bus(net, 0.4), pp.create_bus(net, 0.4)
    pp.create_transformer(net, 1, low, "0.4 MVA 20/0.4 kV")
    pp.create_line_from_parameters(net, low, end, 0.3, **CABLE)
    return net


def test_transformers_part_the_voltage_levels_unless_contracted():
    net = with_transformer()
    joined = read_pandapower(net, transformers="contract")

    assert read_pandapower(net).graph.n_components == 2
    assert joined.graph.n_components == 1
    assert joined.graph.diameter == pytest.approx(4.3)
    assert set(joined.graph.edge_attributes["vn_kv"]) == {20.0, 0.4}


def test_a_transformer_switched_off_does_not_connect():
    net = with_transformer()
    pp.create_switch(net, bus=1, element=0, et="t", closed=False)

    assert read_pandapower(net, transformers="contract").graph.n_components == 2
    assert read_pandapower(net, transformers="contract", open_switches="keep").graph.n_components == 1


def test_three_windings_and_impedances_join_when_contracted():
    net = pandapower.networks.example_multivoltage()

    assert read_pandapower(net, transformers="contract").graph.n_components == 1
    assert read_pandapower(net).graph.n_components == 3


def test_lines_out_of_service_are_left_out_unless_asked_for():
    net = ring()
    net.line.loc[1, "in_service"] = False

    assert set(read_pandapower(net).graph.edge_ids) == {0, 2}
    assert apart(read_pandapower(net, out_of_service="keep"), 1, 2) == pytest.approx(3.0)
    assert read_pandapower(net, out_of_service="cut").graph.n_components == 2


def test_lines_at_a_bus_out_of_service_count_as_out_of_service():
    net = ring()
    net.bus.loc[1, "in_service"] = False

    assert set(read_pandapower(net).graph.edge_ids) == {2}


def test_parallel_lines_are_parallel_edges_and_parallel_systems_one():
    net = feeder((4.0,), parallel=2)
    pp.create_line_from_parameters(net, 0, 1, 6.0, **CABLE)
    network = read_pandapower(net)

    assert sorted(network.graph.lengths.tolist()) == [4.0, 6.0]
    assert "lines of several parallel systems (0): one edge each" in str(network.report)


def draw(net, places):
    net.bus["geo"] = [json.dumps({"type": "Point", "coordinates": place}) for place in places]


def test_a_schematic_is_no_map():
    """Coordinates within the ranges of degrees, which as degrees would make lines of 4 km 300 km long."""
    net = feeder()
    draw(net, [[0, 0], [3, 0], [5, 0]])
    network = read_pandapower(net)

    assert network.graph.crs is None
    assert network.graph.total_length == pytest.approx(7.0)
    assert "taken as a schematic" in str(network.report)


def test_courses_stored_backwards_or_beside_their_buses_are_mended_and_said_so():
    net = feeder()
    draw(net, [[0, 0], [30, 0], [50, 0]])
    course = {"type": "LineString", "coordinates": [[30, 1], [15, 9], [0, 0]]}
    net.line["geo"] = [json.dumps(course), None]
    links = links_from_pandapower(net)

    np.testing.assert_allclose(links.curves[0], [[0, 0], [15, 9], [30, 1], [30, 0]])
    assert links.curves[1] is None
    assert any("drawn beside their buses (by up to 1)" in note for note in links.notes)


def test_buses_without_coordinates_stand_where_their_lines_end():
    net = feeder((4.0,))
    net.line["geo"] = [json.dumps({"type": "LineString", "coordinates": [[0, 0], [1, 1], [300, 0]]})]

    assert links_from_pandapower(net).positions == {0: (0, 0), 1: (300, 0)}


def test_a_net_drawn_in_part_is_not_drawn():
    net = feeder()
    net.bus["geo"] = [json.dumps({"type": "Point", "coordinates": [0, 0]}), None, None]
    network = read_pandapower(net)

    assert network.graph.dimension is None
    assert "2 buses, the first 1, have no coordinates" in str(network.report)


def test_json_is_read_like_the_net(tmp_path, oberrhein):
    path = tmp_path / "net.json"
    pp.to_json(oberrhein, str(path))
    from_file, from_net = read_pandapower(path), read_pandapower(oberrhein)

    assert from_file.graph.edge_ids == from_net.graph.edge_ids
    np.testing.assert_array_equal(from_file.graph.lengths, from_net.graph.lengths)


def test_broken_input_is_refused_by_name(tmp_path):
    broken, other = tmp_path / "broken.json", tmp_path / "other.json"
    broken.write_text("{")
    other.write_text("[1, 2]")
    empty, wrong, doubled = pp.create_empty_network(), feeder(), feeder()
    wrong.bus["geo"] = "POINT (0 0)"
    doubled.bus["geo"] = json.dumps({"type": "LineString", "coordinates": [[0, 0], [1, 1]]})

    with pytest.raises(NetworkError, match=r"a pandapower file must exist, got .*none.json"):
        read_pandapower(tmp_path / "none.json")
    with pytest.raises(
        NetworkError, match=r"must be JSON written by pandapower.to_json, got .* in broken.json"
    ):
        read_pandapower(broken)
    with pytest.raises(
        NetworkError, match=r"must be JSON written by pandapower.to_json, got .* in other.json"
    ):
        read_pandapower(other)
    with pytest.raises(NetworkError, match="a network needs at least one link, got none in pandapower net"):
        read_pandapower(empty)
    with pytest.raises(NetworkError, match=r"geo of bus 0 must be GeoJSON, got 'POINT \(0 0\)'"):
        read_pandapower(wrong)
    with pytest.raises(NetworkError, match="geo of bus 0 must be one place, got 2"):
        read_pandapower(doubled)


@pytest.mark.parametrize(
    ("option", "words"),
    [
        ("transformers", "contract, cut, drop"),
        ("open_switches", "keep, cut, drop"),
        ("out_of_service", "keep"),
    ],
)
def test_wrong_words_are_answered_with_those_there_are(option, words):
    with pytest.raises(NetworkError, match=f"{option} must be one of {words}"):
        read_pandapower(feeder(), **{option: "repair"})


def test_pandapower_missing_names_its_extra(monkeypatch):
    monkeypatch.setitem(sys.modules, "pandapower", None)

    with pytest.raises(MissingPackageError, match=r"needs pandapower.*the extra 'power': pip install"):
        read_pandapower("any.json")
