import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest
import wntr

from netbo.adapters.links import Treatment
from netbo.adapters.wntr import links_from_wntr, read_wntr
from netbo.errors import NetworkError
from netbo.optional import MissingPackageError
from support.water_models import LENGTH, one_pipe, stored, two_lakes

FOOT = 0.3048  # m


def pipes_of(path):
    """Id, ends and length of the pipes, read from the text of an EPANET file."""
    section = Path(path).read_text().split("[PIPES]")[1].split("[")[0]
    rows = [line.split(";")[0].split() for line in section.splitlines()]
    return {row[0]: (row[1], row[2], float(row[3])) for row in rows if row}


@pytest.mark.parametrize("name", ["Net1", "Net3", "ky4"])
def test_every_pipe_has_its_own_name_ends_and_length_in_metres(name):
    """The files are in feet; wntr converts."""
    graph = read_wntr(stored(name), pumps="cut", closed="keep").graph
    expected = pipes_of(stored(name))
    found = {
        edge: (graph.vertex_ids[tail], graph.vertex_ids[head], length / FOOT)
        for edge, tail, head, length in zip(
            graph.edge_ids, graph.tails, graph.heads, graph.lengths, strict=True
        )
    }

    assert graph.unit == "m"
    assert found.keys() == expected.keys()
    for pipe, (tail, head, length) in expected.items():
        assert found[pipe][:2] == (tail, head)
        assert found[pipe][2] == pytest.approx(length, rel=1e-9)


def test_the_attribute_wins_over_a_schematic_drawing():
    """Net3: the drawn length is 0.3 % to 2 % of the pipe's, and not by one factor."""
    network = read_wntr(stored("Net3"))
    expected = FOOT * sum(length for *_, length in pipes_of(stored("Net3")).values())

    assert network.graph.total_length == pytest.approx(expected)
    assert any("schematic" in warning for warning in network.report.warnings)
    assert network.graph.crs is None


def test_edges_45_000_times_shorter_than_others_are_read_and_reported():
    network = read_wntr(stored("Net3"))
    lengths = network.graph.lengths

    assert lengths.max() / lengths.min() == pytest.approx(45_500, rel=1e-3)
    assert any("45,500 times" in warning for warning in network.report.warnings)


def test_bends_of_pipes_are_drawn():
    """ky4 has [VERTICES]; the bend of a pipe lies on its curve."""
    model = wntr.network.WaterNetworkModel(stored("ky4"))
    graph = read_wntr(model).graph
    name, pipe = next((name, pipe) for name, pipe in model.pipes() if pipe.vertices)
    _, off = graph.nearest([pipe.vertices[0]])

    assert off[0] == pytest.approx(0.0, abs=1e-6)
    np.testing.assert_allclose(graph.embed(graph.points(name, 0.0))[0], pipe.start_node.coordinates)


def test_pumps_without_length_are_contracted_and_remain_addresses():
    network = read_wntr(stored("Net3"))
    place = network.points("335", fraction=0.5)
    side = network.graph.vertex_points(network.graph.vertex_indices(["60"]))

    assert "335" not in network.graph.edge_ids
    assert network.graph.distance(place, side)[0, 0] == 0.0
    assert "pumps ('10', '335')" in str(network.report)


@pytest.mark.parametrize(("choice", "n_components"), [("contract", 1), ("cut", 2), ("drop", 2)])
def test_pumps_connect_only_when_contracted(choice, n_components):
    """Net1: pump 9 is the only way from the source; the source alone has no pipe, so a twin gets one."""
    model = wntr.network.WaterNetworkModel(stored("Net1"))
    model.add_junction("well", coordinates=(0, 0))
    model.add_pipe("gallery", "well", "9", 100.0)

    assert read_wntr(model, pumps=choice).graph.n_components == n_components


def test_valves_are_contracted_unless_closed():
    model = two_lakes()
    model.remove_link("middle")
    model.add_valve("gate", "town", "east", 0.3, "TCV")
    opened = read_wntr(model).graph
    model.get_link("gate").initial_status = "CLOSED"

    assert opened.n_components == 1
    assert read_wntr(model).graph.n_components == 2
    assert read_wntr(model, closed="keep").graph.n_components == 1
    assert read_wntr(model, closed="drop").graph.n_components == 2


def test_a_closed_pipe_stays_but_nothing_passes():
    """It can leak; it hangs on its first node."""
    network = read_wntr(two_lakes(initial_status="CLOSED"))
    graph = network.graph
    west, east = (graph.vertex_points(graph.vertex_indices([name])) for name in ("town", "east"))
    end = network.points("middle", fraction=1.0)

    assert graph.total_length == pytest.approx(3 * LENGTH)
    assert graph.n_components == 2
    assert graph.distance(west, end)[0, 0] == pytest.approx(LENGTH)
    assert np.isinf(graph.distance(east, end)[0, 0])
    assert "links closed at the start ('middle')" in str(network.report)


def test_closed_pipes_may_be_kept_or_dropped():
    model = two_lakes(initial_status="CLOSED")

    assert read_wntr(model, closed=Treatment.KEEP).graph.is_connected
    assert set(read_wntr(model, closed=Treatment.DROP).graph.edge_ids) == {"main", "spur"}


def test_check_valves_are_kept_unless_asked_otherwise():
    model = two_lakes(check_valve=True)

    assert read_wntr(model).graph.is_connected
    assert read_wntr(model, check_valves="cut").graph.n_components == 2


def test_a_file_without_coordinates_is_a_network_without_a_drawing():
    model = two_lakes()
    for _, node in model.nodes():
        node.coordinates = (0.0, 0.0)
    network = read_wntr(model)

    assert network.graph.dimension is None
    assert "has no coordinates" in str(network.report)


def test_controls_that_open_a_closed_pipe_are_reported():
    assert any("controls of the file may open" in note for note in links_from_wntr(stored("Net3")).notes)


def test_a_coordinate_system_of_the_user_is_kept():
    assert links_from_wntr(one_pipe(), crs="EPSG:32632").crs == "EPSG:32632"


@pytest.mark.parametrize("option", ["pumps", "valves"])
def test_what_has_no_length_cannot_be_kept(option):
    with pytest.raises(NetworkError, match=f"{option} must be one of contract, cut, drop, got 'keep'"):
        read_wntr(stored("Net1"), **{option: "keep"})


def test_files_that_are_none_are_refused(tmp_path):
    broken, empty = tmp_path / "broken.inp", tmp_path / "empty.inp"
    broken.write_text("[PIPES]\n 1 a b\n")
    empty.write_text("[TITLE]\n nothing\n")

    with pytest.raises(NetworkError, match=r"an EPANET file must exist, got .*none.inp"):
        read_wntr(tmp_path / "none.inp")
    with pytest.raises(NetworkError, match=r"an EPANET file must be readable by wntr, got .* in broken.inp"):
        read_wntr(broken)
    with pytest.raises(
        NetworkError, match=r"a network needs at least one link, got none in EPANET file empty"
    ):
        read_wntr(empty)


@pytest.mark.parametrize("package", ["six", "wntr"])
def test_the_missing_package_is_named_with_its_extra(monkeypatch, package):
    """wntr imports six without declaring it, so six is asked for by name."""
    monkeypatch.setitem(sys.modules, package, None)

    with pytest.raises(MissingPackageError, match=rf"needs {package}, .*the extra 'water': pip install"):
        read_wntr("any.inp")


def test_reading_a_water_network_leaves_numpy_printing_as_it_did():
    """Importing wntr sets three digits for everybody."""
    script = (
        "import numpy; from netbo.adapters.wntr.model import load_wntr; before = numpy.get_printoptions();"
        "load_wntr(); import sys; assert 'wntr.sim.solvers' in sys.modules;"
        "assert numpy.get_printoptions() == before"
    )

    subprocess.run([sys.executable, "-c", script], check=True)
