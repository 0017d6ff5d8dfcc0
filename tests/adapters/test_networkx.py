"""NetworkX graphs: their four kinds, their names for edges, their courses, and what they lack."""

import networkx
import numpy as np
import pytest
from shapely import LineString, MultiLineString

from netbo.adapters.networkx import links_from_networkx, read_networkx
from netbo.errors import NetworkError

# An L from (0, 0) by (3, 0) to (3, 4): 7 long, and clearly not the same read backwards.
CORNERS = [(0.0, 0.0), (3.0, 0.0), (3.0, 4.0)]
PLACES = {"u": (0.0, 0.0), "v": (3.0, 4.0), "w": (3.0, 10.0)}


def placed(graph):
    """The graph with the places of its nodes as x and y."""
    for node in graph:
        graph.nodes[node].update(zip("xy", PLACES[node], strict=True))
    return graph


def bent(kind=networkx.Graph, corners=CORNERS, first="u", second="v"):
    """A bent edge and a straight one, with places."""
    graph = kind()
    graph.add_edge(first, second, length=7.0, geometry=LineString(corners), name="bend")
    graph.add_edge("v", "w", length=6.0)
    return placed(graph)


def test_edges_are_named_by_their_ends_and_keep_lengths_and_attributes():
    links = links_from_networkx(bent())

    assert links.ids == [("u", "v"), ("v", "w")]
    assert links.lengths.tolist() == [7.0, 6.0]
    assert links.attributes == {"name": ["bend", None]}
    assert links.positions == PLACES


def test_edges_of_a_multigraph_are_named_with_their_key():
    graph = networkx.MultiGraph()
    graph.add_edge(1, 2, length=1.0)
    graph.add_edge(1, 2, length=2.0)
    graph.add_edge(2, 3, key="lane", length=3.0)

    assert links_from_networkx(graph).ids == [(1, 2, 0), (1, 2, 1), (2, 3, "lane")]


def test_an_undirected_edge_answers_to_both_orders_of_its_ends():
    graph = networkx.MultiGraph()
    graph.add_edge("a", "b", length=5.0)
    graph.add_edge("b", "b", length=2.0)
    network = read_networkx(graph)
    forth, back = network.points([("a", "b", 0)], 1.0), network.points([("b", "a", 0)], 4.0)

    assert forth == back
    assert links_from_networkx(graph).aliases == {("b", "a", 0): (("a", "b", 0), True)}


def test_an_attribute_may_name_the_edges():
    graph = bent()
    for number, edge in enumerate(graph.edges):
        graph.edges[edge]["pipe"] = f"P{number}"
    links = links_from_networkx(graph, id="pipe")

    assert links.ids == ["P0", "P1"]
    assert links.aliases == {}


@pytest.mark.parametrize("corners", [CORNERS, CORNERS[::-1]], ids=["stored u to v", "stored v to u"])
@pytest.mark.parametrize("ends", [("u", "v"), ("v", "u")], ids=["listed (u, v)", "listed (v, u)"])
def test_a_distance_from_a_named_end_is_the_same_however_edge_and_curve_are_stored(corners, ends):
    """One from u, wherever the graph begins its edge and its curve, is at (1, 0)."""
    network = read_networkx(bent(corners=corners, first=ends[0], second=ends[1]))
    place = network.points([ends], 1.0, start="u")

    np.testing.assert_allclose(network.coordinates(place), [[1.0, 0.0]], atol=1e-12)
    assert network.address(place, start="u")[0].distance == pytest.approx(1.0)
    assert network.address(place, start="v")[0].distance == pytest.approx(6.0)


def test_curves_without_places_are_turned_by_the_end_they_share():
    """Both curves touch (3, 4), so v is there and the first runs away from it, against its storage."""
    graph = networkx.Graph()
    graph.add_edge("v", "u", length=7.0, geometry=LineString(CORNERS))
    graph.add_edge("v", "w", length=6.0, geometry=LineString([(3, 4), (3, 10)]))
    links = links_from_networkx(graph)

    np.testing.assert_array_equal(links.curves[0], CORNERS[::-1])
    np.testing.assert_array_equal(links.curves[1], [(3, 4), (3, 10)])
    assert "1 curve stored from the second end" in links.notes[0]


def test_a_curve_that_fits_both_ways_is_taken_as_stored_and_noted():
    graph = networkx.Graph()
    graph.add_edge("u", "v", length=7.0, geometry=LineString(CORNERS))
    links = links_from_networkx(graph)

    np.testing.assert_array_equal(links.curves[0], CORNERS)
    assert any("equally well both ways" in note for note in links.notes)


def test_both_directions_of_a_lone_curve_are_one_edge_also_without_places():
    """The first curve is taken as stored and says where the nodes are, so the second must run back."""
    graph = networkx.Graph()
    graph.add_edge("u", "v", length=7.0, geometry=LineString(CORNERS))
    links = links_from_networkx(graph.to_directed())

    assert len(links.ids) == 1
    assert any("1 curve fit their ends equally well both ways" in note for note in links.notes)


def test_opposite_edges_of_a_directed_graph_become_one_that_answers_to_both_ids():
    graph = bent(networkx.DiGraph)
    graph.add_edge("v", "u", length=7.0, geometry=LineString(CORNERS[::-1]))
    network = read_networkx(graph)

    assert network.graph.n_edges == 2
    assert network.points([("v", "u")], 2.0) == network.points([("u", "v")], 5.0)
    assert any("1 pair of opposite edges" in note for note in links_from_networkx(graph).notes)


def test_a_directed_copy_of_an_undirected_graph_has_its_edges():
    """`to_directed` stores the same curve in both directions; the places of the nodes tell which is right."""
    graph = bent()
    both = links_from_networkx(graph.to_directed())

    assert len(both.ids) == graph.number_of_edges()
    np.testing.assert_array_equal(both.curves[0], CORNERS)


def test_opposite_edges_may_be_kept_apart():
    graph = bent(networkx.DiGraph)
    graph.add_edge("v", "u", length=7.0, geometry=LineString(CORNERS[::-1]))
    links = links_from_networkx(graph, directions="keep")

    assert links.ids == [("u", "v"), ("v", "w"), ("v", "u")]
    assert links.aliases == {}


def test_opposite_edges_of_different_length_are_kept_apart_and_noted():
    graph = networkx.DiGraph()
    graph.add_edge("a", "b", length=5.0)
    graph.add_edge("b", "a", length=5.1)
    links = links_from_networkx(graph)

    assert len(links.ids) == 2
    assert any("different lengths: both edges were kept" in note for note in links.notes)


def test_opposite_edges_of_different_course_are_two_streets():
    graph = bent(networkx.DiGraph)
    graph.add_edge("v", "u", length=7.0, geometry=LineString([(3, 4), (0, 4), (0, 0)]))

    assert len(links_from_networkx(graph).ids) == 3


def test_each_of_two_parallel_streets_finds_its_own_way_back():
    graph, other = networkx.MultiDiGraph(), [(0.0, 0.0), (0.0, 4.0), (3.0, 4.0)]
    for corners in (CORNERS, other):
        graph.add_edge("u", "v", length=7.0, geometry=LineString(corners))
    for corners in (other, CORNERS):
        graph.add_edge("v", "u", length=7.0, geometry=LineString(corners[::-1]))
    links = links_from_networkx(placed(graph))

    assert links.aliases == {("v", "u", 0): (("u", "v", 1), True), ("v", "u", 1): (("u", "v", 0), True)}


def test_undrawn_loops_of_equal_length_are_not_taken_for_one():
    graph = networkx.MultiDiGraph()
    graph.add_edge("a", "a", length=5.0)
    graph.add_edge("a", "a", length=5.0)

    assert len(links_from_networkx(graph).ids) == 2


def test_one_id_for_both_directions_is_one_edge():
    graph = networkx.DiGraph()
    graph.add_edge("a", "b", length=5.0, name="Broad Street")
    graph.add_edge("b", "a", length=5.0, name="Broad Street")
    links = links_from_networkx(graph, id="name")

    assert links.ids == ["Broad Street"]
    assert links.aliases == {}


@pytest.mark.parametrize(
    ("attributes", "chosen"),
    [
        ({"x": 1.0, "y": 2.0}, None),
        ({"pos": (1.0, 2.0)}, None),
        ({"lon": 1.0, "lat": 2.0}, None),
        ({"x": 8.0, "y": 9.0, "place": (1.0, 2.0)}, "place"),
        ({"x": 8.0, "y": 9.0, "east": 1.0, "north": 2.0}, ("east", "north")),
    ],
)
def test_places_of_nodes_come_from_the_attributes_there_are_or_those_chosen(attributes, chosen):
    graph = networkx.path_graph(2)
    networkx.set_edge_attributes(graph, 3.0, "length")
    for node in graph:
        graph.nodes[node].update(attributes)
    links = links_from_networkx(graph, positions=chosen)

    assert links.positions == {0: (1.0, 2.0), 1: (1.0, 2.0)}
    assert (links.crs == "EPSG:4326") == ("lon" in attributes)


def test_places_may_come_from_a_mapping():
    graph = networkx.path_graph(2)
    networkx.set_edge_attributes(graph, 3.0, "length")

    assert links_from_networkx(graph, positions={0: (0, 0), 1: (3, 0), 2: (9, 9)}).positions == {
        0: (0.0, 0.0),
        1: (3.0, 0.0),
    }


def test_places_that_only_some_nodes_have_are_not_used_and_noted():
    graph = networkx.path_graph(3)
    networkx.set_edge_attributes(graph, 3.0, "length")
    graph.nodes[0]["pos"] = (0.0, 0.0)
    links = links_from_networkx(graph)

    assert links.positions is None
    assert any("1 of 3 nodes have 'pos'" in note for note in links.notes)


def test_an_unknown_length_attribute_is_refused_with_those_there_are():
    graph = networkx.Graph()
    graph.add_edge(1, 2, weight=3.0, name="a")

    with pytest.raises(NetworkError, match="no attribute 'length'; there are 'weight', 'name'"):
        links_from_networkx(graph)


def test_edges_that_lack_length_and_drawing_are_counted():
    graph = networkx.path_graph(5)
    graph.edges[0, 1]["length"] = 2.0

    with pytest.raises(NetworkError, match=r"got 3 of 4 with neither .* the first is \(1, 2\)"):
        links_from_networkx(graph)
    with pytest.raises(NetworkError, match="got 4 of 4 with neither"):
        links_from_networkx(graph, length=None)


def test_edges_that_lack_a_length_are_measured_where_they_are_drawn_and_counted():
    graph = bent()
    del graph.edges["u", "v"]["length"]
    links = links_from_networkx(graph)

    np.testing.assert_array_equal(links.lengths, [np.nan, 6.0])
    assert any("1 of 2 edges lack 'length', the first is ('u', 'v')" in note for note in links.notes)


def test_without_a_length_attribute_the_drawing_is_measured():
    """7 along the L, 6 straight up."""
    network = read_networkx(bent(), length=None, coordinates_are_lengths=True)

    np.testing.assert_allclose(network.graph.lengths, [7.0, 6.0])


def test_straight_edges_find_their_places_at_the_ends_of_the_curves():
    graph = networkx.Graph()
    graph.add_edge("u", "v", length=7.0, geometry=LineString(CORNERS))
    graph.add_edge("v", "w", length=6.0, geometry=LineString([(3, 4), (3, 10)]))
    graph.add_edge("u", "w", length=11.0)

    assert links_from_networkx(graph).positions == PLACES


def test_a_drawing_with_a_hole_is_left_out_and_noted():
    graph = networkx.Graph()
    graph.add_edge("u", "v", length=7.0, geometry=LineString(CORNERS))
    graph.add_edge("v", "w", length=6.0)
    links = links_from_networkx(graph)

    assert links.curves is None
    assert links.positions is None
    assert any("the drawing was left out" in note for note in links.notes)


def test_heights_that_only_some_coordinates_have_are_left_out():
    graph = bent(corners=[(*corner, 5.0) for corner in CORNERS])
    links = links_from_networkx(graph)

    np.testing.assert_array_equal(links.curves[0], CORNERS)
    assert any("heights were left out" in note for note in links.notes)


def test_nodes_without_edges_are_noted():
    graph = bent()
    graph.add_node("hermit")

    assert any("1 node without edges" in note for note in links_from_networkx(graph).notes)


def test_the_coordinate_system_comes_from_the_graph_unless_it_is_given():
    graph = bent()
    graph.graph["crs"] = "EPSG:27700"

    assert links_from_networkx(graph).crs == "EPSG:27700"
    assert links_from_networkx(graph, crs="EPSG:3857").crs == "EPSG:3857"


def test_curves_in_another_coordinate_system_than_the_nodes_are_refused():
    far = [(x + 500_000, y + 4_500_000) for x, y in CORNERS]

    with pytest.raises(NetworkError, match="bring both into one coordinate system"):
        links_from_networkx(bent(corners=far))


@pytest.mark.parametrize(
    ("geometry", "match"),
    [
        ("LINESTRING (0 0, 3 4)", "convert it with shapely.from_wkt"),
        (MultiLineString([CORNERS[:2], CORNERS[1:]]), "split it into lines"),
        (LineString(), "two or more finite corners"),
        ([(0.0, 0.0), (np.nan, 4.0)], "two or more finite corners"),
    ],
)
def test_geometries_that_are_no_lines_are_refused_by_edge(geometry, match):
    graph = bent()
    graph.edges["u", "v"]["geometry"] = geometry

    with pytest.raises(NetworkError, match=match) as refused:
        links_from_networkx(graph)
    assert "('u', 'v')" in str(refused.value)


def test_bad_values_are_refused_by_name():
    graph = bent()
    graph.edges["u", "v"]["length"] = "long"

    with pytest.raises(
        NetworkError, match=r"lengths must be numbers, got 'long' as 'length' of edge \('u', 'v'\)"
    ):
        links_from_networkx(graph)
    with pytest.raises(NetworkError, match="no attribute 'pipe'; there are 'length', 'geometry', 'name'"):
        links_from_networkx(bent(), id="pipe")
    with pytest.raises(NetworkError, match=r"1 of 2 without 'name', the first is \('v', 'w'\)"):
        links_from_networkx(bent(), id="name")
    with pytest.raises(NetworkError, match=r"every node needs 'pos', got 3 of 3 without.*there are 'x', 'y'"):
        links_from_networkx(bent(), positions="pos")
    with pytest.raises(
        NetworkError, match="every node needs positions, got 1 of 3 without, the first is 'w'"
    ):
        links_from_networkx(bent(), positions={"u": (0, 0), "v": (3, 4)})
    with pytest.raises(NetworkError, match="finite numbers, got 'here' at node 'w'"):
        links_from_networkx(bent(), positions={"u": (0, 0), "v": (3, 4), "w": "here"})
    with pytest.raises(NetworkError, match="directions must be 'merge' or 'keep', got 'both'"):
        links_from_networkx(bent(), directions="both")
    with pytest.raises(NetworkError, match="must be a NetworkX graph, got dict"):
        links_from_networkx({})
    with pytest.raises(NetworkError, match="at least one edge, got none in NetworkX Graph"):
        links_from_networkx(networkx.empty_graph(3))


def test_graphml_reads_like_the_graph(tmp_path):
    graph = networkx.MultiGraph(name="village")
    graph.add_edge("well", "school", length=120.0, surface="gravel")
    graph.add_edge("well", "school", length=150.0, surface="mud")
    path = tmp_path / "village.graphml"
    networkx.write_graphml(graph, path)
    links = links_from_networkx(path)

    assert links.ids == [("well", "school", 0), ("well", "school", 1)]
    assert links.lengths.tolist() == [120.0, 150.0]
    assert links.attributes["surface"] == ["gravel", "mud"]
    assert links.source == "GraphML village.graphml 'village'"


def test_files_that_are_no_graphml_are_refused_by_name(tmp_path):
    torn = tmp_path / "torn.graphml"
    torn.write_text("<graphml><graph>", encoding="utf-8")
    with pytest.raises(NetworkError, match=r"torn.graphml must be GraphML, got ParseError"):
        links_from_networkx(torn)
    with pytest.raises(NetworkError, match=r"must exist, got .*nowhere.graphml"):
        links_from_networkx(tmp_path / "nowhere.graphml")
    bare = tmp_path / "bare.graphml"
    bare.write_text("<graphml/>", encoding="utf-8")
    with pytest.raises(NetworkError, match=r"bare.graphml must be GraphML"):
        links_from_networkx(bare)
