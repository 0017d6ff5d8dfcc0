import sys

import numpy as np
import pytest
from pyproj import Geod

from netbo.adapters.topohub import Positions, links_from_topohub, read_topohub
from netbo.errors import NetworkError
from netbo.optional import MissingPackageError
from netbo.problems import new_york

pytestmark = pytest.mark.filterwarnings(
    "ignore:unclosed file:ResourceWarning"
)  # topohub leaves its files open

PIXELS = [
    "atlanta", "di-yuan", "france", "giul39", "india35", "newyork", "norway", "pioro40", "sun", "ta1", "ta2",
    "zib54",
]  # the SNDlib instances whose coordinates are those of a picture  # fmt: skip
DEGREES = ["abilene", "brain", "cost266", "geant", "germany50", "nobel-us", "pdh", "polska"]


@pytest.mark.parametrize("name", PIXELS)
def test_distances_computed_from_pixels_are_never_lengths(name):
    """The trap: topohub's `dist` is a great-circle formula applied to pixels."""
    links = links_from_topohub(f"sndlib/{name}")

    assert links.distrusted_lengths
    assert links.crs is None
    assert any("pixels" in note for note in links.notes)
    with pytest.raises(NetworkError, match="coordinates_are_lengths"):
        read_topohub(f"sndlib/{name}")


@pytest.mark.parametrize(
    "name", [f"sndlib/{name}" for name in DEGREES] + ["topozoo/Abilene", "topozoo/Geant2012"]
)
def test_kilometres_of_real_places_are_those_of_the_ellipsoid(name):
    """Stored positions have two decimals (about 1 km), stored distances are those of a sphere (0.5 %)."""
    links = links_from_topohub(name)
    geod = Geod(ellps="WGS84")
    ends = zip(links.tails, links.heads, strict=True)
    exact = np.array([geod.inv(*links.positions[a], *links.positions[b])[2] / 1000 for a, b in ends])

    assert not links.distrusted_lengths
    assert links.unit == "km"
    assert links.crs == "EPSG:4326"
    assert np.all(np.abs(links.lengths - exact) < 2.0 + 0.006 * exact)


def test_new_york_with_a_scale_is_the_network_of_the_paper():
    graph, reference = read_topohub("sndlib/newyork", scale=1 / 150).graph, new_york()

    assert list(graph.edge_ids) == list(reference.edge_ids)
    np.testing.assert_allclose(graph.lengths, reference.lengths, rtol=1e-12)


def test_pixels_are_lengths_for_those_who_say_so():
    graph = read_topohub("sndlib/newyork", coordinates_are_lengths=True).graph

    np.testing.assert_allclose(graph.lengths, 150 * new_york().lengths, rtol=1e-12)


def test_links_are_found_in_both_directions():
    network = read_topohub("sndlib/newyork", scale=1 / 150)
    there, back = network.points(("N1", "N2"), fraction=0.25), network.points(("N2", "N1"), fraction=0.75)

    assert network.graph.distance(there, back)[0, 0] == pytest.approx(0.0, abs=1e-12)


def test_gabriel_graphs_have_the_straight_lengths_of_their_plane():
    links = links_from_topohub("gabriel/25/0")
    ends = zip(links.tails, links.heads, strict=True)
    straight = [np.hypot(*np.subtract(links.positions[a], links.positions[b])) for a, b in ends]

    assert not links.distrusted_lengths
    assert links.crs is None
    np.testing.assert_allclose(links.lengths, straight, atol=0.02)
    assert read_topohub("gabriel/25/0").graph.total_length == pytest.approx(links.lengths.sum())
    assert read_topohub("gabriel/25/0", scale=2.0).graph.total_length == pytest.approx(2 * sum(straight))


def test_vertices_whose_names_repeat_are_named_by_their_numbers():
    links = links_from_topohub("topozoo/Garr201201")
    repeating = links_from_topohub("topozoo/Garr199904")

    assert all(isinstance(name, str) and not name.isdigit() for name in links.positions)
    assert all(str(name).isdigit() for name in repeating.positions)
    assert any("stored numbers" in note for note in repeating.notes)


def test_links_between_two_nodes_of_one_town_are_contracted():
    """Many nodes of the Topology Zoo share the coordinates of their town, so `dist` is 0."""
    links = links_from_topohub("topozoo/Marnet")
    network = read_topohub("topozoo/Marnet")

    assert np.count_nonzero(links.lengths == 0) == 22
    assert network.graph.n_edges == links.n_links - 22


def test_the_user_may_say_what_positions_are():
    links = links_from_topohub("sndlib/polska", positions="pixels")

    assert links.distrusted_lengths
    assert links_from_topohub("sndlib/india35", positions=Positions.GEOGRAPHIC).unit == "km"


def test_unknown_keys_are_answered_with_those_there_are():
    with pytest.raises(
        NetworkError, match=r"no topology of topohub has the key 'sndlib/york'; .*sndlib/newyork"
    ):
        read_topohub("sndlib/york")
    with pytest.raises(
        NetworkError, match="keys begin with one of backbone, caida, gabriel, sndlib, topozoo"
    ):
        read_topohub("york")


def test_wrong_options_are_refused():
    with pytest.raises(NetworkError, match="positions must be one of"):
        read_topohub("sndlib/polska", positions="lonlat")
    with pytest.raises(NetworkError, match="scale is for drawings"):
        read_topohub("sndlib/polska", scale=2.0)
    with pytest.raises(NetworkError, match="scale must be a positive length"):
        read_topohub("sndlib/newyork", scale=0.0)


def test_a_node_without_a_position_is_named(monkeypatch):
    import topohub

    stored = {
        "nodes": [{"id": 0, "pos": [1, 2]}, {"id": 1}],
        "edges": [{"source": 0, "target": 1, "dist": 1}],
    }
    monkeypatch.setattr(topohub, "get", lambda key: stored)

    with pytest.raises(NetworkError, match="nodes need positions, got none of node 1"):
        read_topohub("sndlib/none")


def test_topohub_missing_names_its_extra(monkeypatch):
    monkeypatch.setitem(sys.modules, "topohub", None)

    with pytest.raises(MissingPackageError, match=r"needs topohub.*the extra 'telecom': pip install"):
        read_topohub("sndlib/newyork")
