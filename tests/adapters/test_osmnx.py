"""OSMnx graphs: streets once, both ids, metres; by OSMnx from a small map, and one that momepy carries."""

import momepy
import networkx
import numpy as np
import osmnx
import pyproj
import pytest
from shapely import LineString

from netbo.adapters.osmnx import links_from_osmnx, read_osmnx
from netbo.errors import NetworkError

GEOD = pyproj.Geod(ellps="WGS84")

# (longitude, latitude) of OpenStreetMap nodes in a made-up town
NODES = {
    1: (11.500, 48.100), 2: (11.502, 48.101), 3: (11.504, 48.100), 4: (11.504, 48.102), 5: (11.500, 48.103),
    6: (11.506, 48.103), 7: (11.508, 48.101), 8: (11.505, 48.104), 9: (11.507, 48.104),
}  # fmt: skip
WAYS = {
    # a bent two-way street, a one-way street, two arcs between the same ends, a two-way loop, a dead end
    101: ([1, 2, 3], {}),
    102: ([3, 4, 5], {"oneway": "yes"}),
    103: ([1, 5], {}),
    104: ([3, 7, 6], {}),
    105: ([3, 6], {}),
    106: ([6, 8, 9, 6], {}),
    107: ([4, 6], {"oneway": "-1"}),
}


def map_of_town():
    """The town as OpenStreetMap writes it."""
    nodes = [f'<node id="{node}" lon="{x}" lat="{y}"/>' for node, (x, y) in NODES.items()]
    ways = []
    for way, (references, tags) in WAYS.items():
        along = [f'<nd ref="{node}"/>' for node in references]
        said = [f'<tag k="{key}" v="{value}"/>' for key, value in ({"highway": "residential"} | tags).items()]
        ways.append(f'<way id="{way}">{"".join([*along, *said])}</way>')
    return f'<osm version="0.6">{"".join([*nodes, *ways])}</osm>'


@pytest.fixture(scope="module")
def town(tmp_path_factory):
    """The town as OSMnx reads and simplifies it: 11 directed edges, 7 streets."""
    path = tmp_path_factory.mktemp("osm") / "town.osm"
    path.write_text(map_of_town(), encoding="utf-8")
    return osmnx.graph_from_xml(path, simplify=True, retain_all=True)


@pytest.fixture(scope="module")
def manhattan():
    """OSMnx 1.2's GraphML of streets in Manhattan, undirected and projected, with two-way streets doubled."""
    return osmnx.load_graphml(momepy.datasets.get_path("nyc_graph", "graphml"))


def doubled(graph):
    """A directed graph with both directions of each two-way street, as OSMnx stores them before merging."""
    both = networkx.MultiDiGraph(**graph.graph)
    both.add_nodes_from(graph.nodes(data=True))
    for u, v, data in graph.edges(data=True):
        line, place = data["geometry"], (graph.nodes[u]["x"], graph.nodes[u]["y"])
        starts_at_u = np.hypot(*np.subtract(line.coords[0], place)) < np.hypot(
            *np.subtract(line.coords[-1], place)
        )
        tail, head = (u, v) if starts_at_u else (v, u)
        both.add_edge(tail, head, **data)
        if not data["oneway"]:
            both.add_edge(
                head, tail, **(data | {"geometry": line.reverse(), "reversed": not data["reversed"]})
            )
    return both


def on_the_globe(places):
    """Metres along longitudes and latitudes."""
    return GEOD.line_length(*np.transpose(places))


@pytest.mark.parametrize("is_projected", [False, True])
def test_streets_are_merged_as_osmnx_itself_does(town, is_projected):
    graph = osmnx.project_graph(town) if is_projected else town
    network = read_osmnx(graph)
    streets = osmnx.convert.to_undirected(graph)

    assert graph.number_of_edges() == 11
    assert network.graph.n_edges == streets.number_of_edges() == 7
    assert network.graph.total_length == pytest.approx(streets.size(weight="length"))
    assert network.graph.unit == "m"
    assert network.graph.n_components == 1


@pytest.mark.parametrize("is_projected", [False, True])
def test_the_second_direction_of_a_street_measures_from_its_own_end(town, is_projected):
    """Every directed edge answers, and 10 m along it is where its own geometry has them."""
    graph = osmnx.project_graph(town) if is_projected else town
    network = read_osmnx(graph)
    for u, v, key, data in graph.edges(keys=True, data=True):
        straight = LineString([(graph.nodes[n]["x"], graph.nodes[n]["y"]) for n in (u, v)])
        line = data.get("geometry", straight)
        half = network.coordinates(network.points([(u, v, key)], fraction=0.5), crs=graph.graph["crs"])[0]
        ends = network.coordinates(
            network.points([(u, v, key)] * 2, fraction=[0.0, 1.0]), crs=graph.graph["crs"]
        )
        # On the map's projection halves are the same to the curvature of the earth over some hundred metres.
        slack = 1e-3 * line.length

        np.testing.assert_allclose(ends, [line.coords[0], line.coords[-1]], atol=slack)
        if is_projected:
            np.testing.assert_allclose(half, line.interpolate(0.5, normalized=True).coords[0], atol=slack)


def test_the_direction_in_which_a_street_was_mapped_names_it(town):
    links = links_from_osmnx(town)

    assert (3, 6, 1) in links.ids
    assert links.aliases[6, 3, 1] == ((3, 6, 1), True)
    assert links.aliases[6, 6, 1] == ((6, 6, 0), True)
    turned = town.copy()
    for u, v in ((3, 6), (6, 3)):
        turned.edges[u, v, 1]["reversed"] = not turned.edges[u, v, 1]["reversed"]

    assert links_from_osmnx(turned).aliases[3, 6, 1] == ((6, 3, 1), True)


def test_one_way_streets_stay(town):
    """(6, 4) is mapped from 4 to 6 and one-way against that."""
    links = links_from_osmnx(town)
    one_way = {edge for edge, data in town.edges.items() if data["oneway"]}

    assert one_way == {(3, 4, 0), (4, 5, 0), (6, 4, 0)}
    assert one_way <= set(links.ids)
    assert not one_way & {target for target, _ in links.aliases.values()}


def test_lengths_are_those_of_osmnx_and_metres_on_the_globe(town):
    """OSMnx measures on a sphere: within 0.5 % of the ellipsoid."""
    links = links_from_osmnx(town)
    for edge, length in zip(links.ids, links.lengths, strict=True):
        line = town.edges[edge].get("geometry")
        places = [(town.nodes[n]["x"], town.nodes[n]["y"]) for n in edge[:2]] if line is None else line.coords

        assert length == town.edges[edge]["length"]
        assert length == pytest.approx(on_the_globe(places), rel=5e-3)


def test_directions_may_be_kept_apart(town):
    links = links_from_osmnx(town, directions="keep")

    assert len(links.ids) == 11
    assert links.aliases == {}


def test_streets_of_another_way_or_length_are_not_merged(town):
    """The same course, but mapped as another way; the same way, but longer."""
    other = town.copy()
    other.edges[6, 3, 1]["osmid"] = 999

    assert len(links_from_osmnx(other).ids) == 8
    longer = town.copy()
    longer.edges[6, 3, 1]["length"] *= 1.01
    links = links_from_osmnx(longer)

    assert len(links.ids) == 8
    assert any("1 pair of opposite edges" in note and "different lengths" in note for note in links.notes)


def test_graphml_saved_by_osmnx_reads_like_the_graph(town, tmp_path):
    path = tmp_path / "town.graphml"
    osmnx.save_graphml(town, path)
    saved, direct = links_from_osmnx(path), links_from_osmnx(town)

    assert set(saved.ids) == set(direct.ids)
    assert saved.aliases == direct.aliases
    assert dict(zip(saved.ids, saved.lengths, strict=True)) == dict(
        zip(direct.ids, direct.lengths, strict=True)
    )
    assert "town.graphml" in saved.source


def test_undirected_graphml_of_manhattan_has_its_73_streets(manhattan):
    network = read_osmnx(momepy.datasets.get_path("nyc_graph", "graphml"))

    assert network.graph.n_edges == manhattan.number_of_edges() == 73
    assert network.graph.n_vertices == len(manhattan) == 46
    assert network.graph.total_length == pytest.approx(manhattan.size(weight="length"))


def test_two_way_streets_of_manhattan_stored_twice_count_once(manhattan):
    both = doubled(manhattan)
    network = read_osmnx(both)

    assert both.number_of_edges() == 83
    assert network.graph.n_edges == osmnx.convert.to_undirected(both).number_of_edges() == 73


def test_undirected_streets_run_from_their_first_end_whichever_way_they_were_drawn(manhattan):
    """The file lists (42421806, 42437305) and stores its line from 42437305."""
    network = read_osmnx(manhattan)
    listed = list(manhattan.edges(keys=True))
    starts = network.coordinates(network.points(listed, 0.0))
    backwards = network.coordinates(network.points([(v, u, k) for u, v, k in listed], 0.0))

    np.testing.assert_allclose(
        starts, [[manhattan.nodes[u][c] for c in "xy"] for u, _, _ in listed], atol=1e-6
    )
    np.testing.assert_allclose(
        backwards, [[manhattan.nodes[v][c] for c in "xy"] for _, v, _ in listed], atol=1e-6
    )


def test_graphs_that_osmnx_did_not_make_are_refused(town, tmp_path):
    bare = town.copy()
    del bare.graph["crs"]
    with pytest.raises(NetworkError, match=r"must carry graph\['crs'\]"):
        links_from_osmnx(bare)
    with pytest.raises(NetworkError, match=r"must exist, got .*nowhere.graphml"):
        links_from_osmnx(tmp_path / "nowhere.graphml")
    torn = tmp_path / "torn.graphml"
    torn.write_text("<graphml><graph>", encoding="utf-8")
    with pytest.raises(NetworkError, match=r"torn.graphml must be GraphML saved by OSMnx"):
        links_from_osmnx(torn)
    plain = tmp_path / "plain.graphml"
    networkx.write_graphml(networkx.path_graph(["a", "b"]), plain)
    with pytest.raises(NetworkError, match=r"plain.graphml must be GraphML saved by OSMnx"):
        links_from_osmnx(plain)
    placeless = town.copy()
    del placeless.nodes[3]["x"]
    with pytest.raises(
        NetworkError, match="every node needs 'x' and 'y', got 1 of 4 without, the first is 3"
    ):
        links_from_osmnx(placeless)
    with pytest.raises(NetworkError, match="must be a NetworkX graph, got int"):
        links_from_osmnx(3)
    with pytest.raises(NetworkError, match="directions must be 'merge' or 'keep'"):
        links_from_osmnx(town, directions="one")
