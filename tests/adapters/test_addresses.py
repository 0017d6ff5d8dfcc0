import pickle
from dataclasses import replace

import numpy as np
import pytest
from numpy.testing import assert_allclose, assert_array_equal

import netbo
from netbo.adapters import Addresses, Links, Treatment, assemble
from netbo.errors import GraphError, PointError
from netbo.geometry import (
    MetricGraph,
    contract,
    cut_at,
    merge_degree_two,
    split_at,
    star,
    uniform_points,
)


def crossing(**options):
    """A street of 10 along x, and one of 8 across it at x = 4; given lengths are twice the drawn ones."""
    links = Links(
        source="a test",
        ids=["along", "across"],
        tails=["west", "south"],
        heads=["east", "north"],
        lengths=[20.0, 16.0],
        curves=[np.array([[0.0, 0], [10, 0]]), np.array([[4.0, -3], [4, 5]])],
        aliases={"back": ("along", True), "also": ("along", False)},
    )
    return assemble(links, **options)


def test_addresses_of_a_graph_are_its_own():
    graph = star(3, 2.0)
    known = Addresses.of_graph(graph)
    ids, begin, end = known.for_edges()

    assert ids == list(graph.edge_ids)
    assert_array_equal(begin, np.zeros(3))
    assert_array_equal(end, graph.lengths)


def test_a_street_cut_in_two_is_addressed_as_a_whole():
    """The crossing lies at 4 of 10, so at 8 of the 20 that the file says."""
    network = crossing(node=True)
    points = network.points("along", [2.0, 8.0, 15.0])

    assert network.graph.edge_ids == (("along", 0), ("along", 1), ("across", 0), ("across", 1))
    assert_allclose(network.graph.lengths, [8.0, 12.0, 6.0, 10.0])
    assert_allclose(network.graph.embed(points), [[1, 0], [4, 0], [7.5, 0]], atol=1e-12)
    assert [(a.edge_id, a.distance, a.start) for a in network.address(points)] == [
        ("along", 2.0, "west"),
        ("along", 8.0, "west"),
        ("along", 15.0, "west"),
    ]


def test_for_edges_gives_the_measures_at_which_pieces_begin_and_end():
    ids, begin, end = crossing(node=True).addresses.for_edges()

    assert ids == ["along", "along", "across", "across"]
    assert_allclose(begin, [0, 8, 0, 6])
    assert_allclose(end, [8, 20, 6, 16])


def test_distances_count_from_the_end_that_is_named():
    network = crossing(node=True)
    from_east = network.points("along", [5.0], start="east")

    assert_allclose(network.graph.embed(from_east), [[7.5, 0]])
    (address,) = network.address(from_east, start="east")
    assert (address.distance, address.fraction, address.start) == (5.0, 0.25, "east")
    several = network.points(["along", "across"], 2.0, start=["east", "south"])
    assert_allclose(network.graph.embed(several), [[9, 0], [4, -2]])


def test_other_ids_of_a_street_measure_from_their_own_tail():
    network = crossing(node=True)
    forward, backward = network.points("also", 5.0), network.points("back", 5.0)

    assert_allclose(network.graph.embed(forward), [[2.5, 0]])
    assert_allclose(network.graph.embed(backward), [[7.5, 0]])
    assert network.points("back", 5.0, start="west") == network.points("along", 5.0)
    assert network.points("back", fraction=0.25) == backward


def test_pieces_answer_to_the_ids_the_graph_gives_them():
    """An optimizer suggests points by the graph's ids; they can be passed back."""
    network = crossing(node=True)
    point = network.graph.points([("along", 1)], 3.0)[0]

    assert network.points([point.edge_id], point.distance) == network.points("along", 11.0)


def test_points_and_addresses_are_inverse():
    network = crossing(node=True)
    rng = np.random.default_rng(3)
    ids = rng.choice(["along", "across"], 500).tolist()
    fraction = rng.random(500)
    found = network.address(network.points(ids, fraction=fraction))

    assert [each.edge_id for each in found] == ids
    assert_allclose([each.fraction for each in found], fraction, atol=1e-12)


def test_a_contracted_link_answers_with_its_place():
    links = Links(
        source="a test",
        ids=["a", "pump", "b"],
        tails=[0, 1, 2],
        heads=[1, 2, 3],
        lengths=[1.0, np.nan, 2.0],
        treatments=[Treatment.KEEP, Treatment.CONTRACT, Treatment.KEEP],
    )
    network = assemble(links)
    at_pump = network.points("pump", fraction=[0.0, 1.0])

    assert_allclose(network.graph.distance(at_pump, network.points(["a", "b"], [1.0, 0.0])), np.zeros((2, 2)))
    assert network.points("b", 0.5, start=2) == network.points("b", 0.5)


def test_a_loop_has_one_end_and_counts_from_its_tail():
    links = Links(
        source="a test",
        ids=["ring"],
        tails=["x"],
        heads=["x"],
        lengths=[4.0],
        aliases={"back": ("ring", True)},
    )
    network = assemble(links)

    assert network.points("ring", 1.0, start="x") == network.points("ring", 1.0)
    assert network.points("back", 1.0, start="x") == network.points("ring", 3.0)


def test_places_beyond_an_edge_are_refused():
    with pytest.raises(PointError, match=r"got 20\.5 on edge 'along' of length 20\.0"):
        crossing(node=True).points("along", 20.5)
    with pytest.raises(PointError, match=r"got -0\.5 on edge 'along'"):
        crossing().points("back", 20.5)


def test_an_end_that_is_none_is_refused():
    with pytest.raises(
        PointError, match="an end of edge 'along', got 'north'; it runs from 'west' to 'east'"
    ):
        crossing().points("along", 1.0, start="north")
    with pytest.raises(PointError, match="start must name 1 ends, got 2"):
        crossing().points("along", 1.0, start=["east", "west"])


def test_unknown_ids_are_met_with_a_hint():
    with pytest.raises(PointError, match="no edge has the id 'alon'; did you mean 'along'"):
        crossing().points("alon", 1.0)


def test_a_vertex_may_be_called_a_tuple():
    links = Links(source="a test", ids=[7], tails=[(0, 0)], heads=[(1, 0)], lengths=[1.0])
    network = assemble(links)

    assert network.points(7, 0.25, start=(1, 0)) == network.points(7, 0.75)


def random_network(seed):
    """Random curves, some drawn backwards, with random treatments, snapped, noded and merged at random."""
    rng = np.random.default_rng(seed)
    n, n_vertices = 14, 8
    places = np.round(4 * rng.random((n_vertices, 2)), 1)
    ends = rng.integers(0, n_vertices, (n, 2))
    bends = [np.round(4 * rng.random((rng.integers(0, 3), 2)), 1) for _ in range(n)]
    curves = [np.vstack([places[a], bend, places[b]]) for (a, b), bend in zip(ends, bends, strict=True)]
    links = Links(
        source="random",
        ids=[f"e{k}" for k in range(n)],
        tails=ends[:, 0].tolist(),
        heads=ends[:, 1].tolist(),
        curves=[curve[::-1] if rng.random() < 0.2 else curve for curve in curves],
        lengths=np.where(rng.random(n) < 0.1, 0.0, rng.uniform(1, 5, n)),
        treatments=[list(Treatment)[k] for k in rng.choice(4, n, p=[0.7, 0.1, 0.1, 0.1])],
    )
    options = {"node": bool(seed % 2), "merge_duplicates": bool(seed % 3)}
    return assemble(links, snap=[0.0, 1e-6, 0.3][seed % 3], **options), rng


@pytest.mark.parametrize("seed", range(30))
def test_whatever_was_done_an_address_leads_back(seed):
    """Every edge of the graph belongs to a link, and a point's address is a point at distance 0 from it."""
    network, rng = random_network(seed)
    x = uniform_points(network.graph, 40, rng)
    found = network.address(x)
    y = network.points([each.edge_id for each in found], [each.distance for each in found])

    assert np.diag(network.graph.distance(x, y)).max() < 1e-9
    assert len(network.addresses.for_edges()[0]) == network.graph.n_edges


# What leaves and enters speaks of the user's edges, whatever the graph is made of.


def test_an_objective_sees_the_streets_of_the_file_and_not_their_pieces():
    """The value is the distance from the end that the file names, so the best place is the far end."""
    network = crossing(node=True)
    seen = []

    def measure(point):
        seen.append((point.edge_id, point.distance))
        return point.distance if point.edge_id == "along" else 0.0

    found = netbo.maximize(measure, network, budget=12, noise=0.0, seed=1)

    assert {edge for edge, _ in seen} == {"along", "across"}
    assert max(distance for edge, distance in seen if edge == "along") > 8  # beyond the crossing
    table = found.history
    assert list(zip(table["edge"], table["distance"], strict=True)) == seen
    assert found.recommend().point.edge_id == "along"
    assert all(each.edge_id in ("along", "across") for each in found.search_list(draws=50).stretches)
    assert set(found.search_list(draws=50).by_edge) <= {"along", "across"}


def test_a_point_that_travels_keeps_its_address():
    point = crossing(node=True).points("along", 15.0)[0]
    copy = pickle.loads(pickle.dumps(point))

    assert (copy.edge_id, copy.distance, copy.fraction) == ("along", 15.0, 0.75)
    assert (copy.edge, copy.z) == (1, 7.0)
    assert "edge_id='along', distance=15.0" in repr(copy)


def test_graphs_that_travel_keep_their_addresses():
    graph = pickle.loads(pickle.dumps(crossing(node=True).graph))

    assert graph.points("back", 5.0)[0].distance == 15.0


def path():
    """Path 3 - 0 - 1 - 2, its middle edge drawn backwards and listed first."""
    return MetricGraph(
        [1, 3, 1], [0, 0, 2], [2.0, 1.0, 4.0], positions=[[1, 0], [1, 2], [5, 2], [0, 0]],
        edge_ids=["middle", "left", "right"], vertex_ids=["b", "c", "d", "a"],
    )  # fmt: skip


def places_on(graph):
    ids = [name for name in graph.edge_ids for _ in range(9)]
    return ids, np.tile(np.linspace(0, 1, 9), graph.n_edges)


@pytest.mark.parametrize(
    "change",
    [
        lambda graph: split_at(graph, graph.points(["right", "left"], [1.0, 0.25])),
        merge_degree_two,
        lambda graph: merge_degree_two(graph.split(graph.points("right", [0.5, 1.5]))),
        lambda graph: cut_at(graph, "c", ["right"]),
        lambda graph: split_at(graph.merge(), graph.merge().points("left", 0.5)),
    ],
)
def test_a_changed_graph_answers_to_the_edges_it_was_made_of(change):
    """The user's address leads to the place it led to before, and back."""
    graph = path()
    ids, fraction = places_on(graph)
    changed = change(graph)
    places = changed.graph.points(ids, fraction=fraction)

    kept = np.array([name != "left" or changed.graph.total_length == 7 for name in ids])
    before = graph.embed(graph.points(ids, fraction=fraction))
    assert_allclose(changed.graph.embed(places)[kept], before[kept], atol=1e-12)
    again = changed.graph.points([p.edge_id for p in places], [p.distance for p in places])
    assert np.abs(np.diag(changed.graph.distance(places, again))).max() < 1e-12
    assert {point.edge_id for point in places} <= {"left", "middle", "right"}


def test_a_contracted_edge_is_the_vertex_it_shrank_to():
    """Left, of length 1, shrinks to the vertex of lower index, b; its two ends answer by name."""
    graph = contract(path(), 1.5).graph
    places = graph.points("left", [0.0, 0.5, 1.0])

    assert_allclose(graph.distance(places, graph.points("middle", 2.0)), 0.0)
    assert graph.points("a") == graph.points("b")
    assert {point.edge_id for point in places} == {"middle"}


def test_a_component_knows_only_what_is_left_of_an_edge():
    """A cut street of which one half is taken: the other half is refused, not moved."""
    graph = crossing(node=True).graph
    (junction,) = set(graph.tails.tolist() + graph.heads.tolist()) - set(np.flatnonzero(graph.degrees == 1))
    parted = graph.cut(graph.vertex_ids[junction], [("along", 1)])
    half = parted.subgraph(int(parted.component_of(parted.points("along", 15.0))[0]))

    assert half.edge_ids == (("along", 1),)
    assert half.points("along", 15.0)[0].distance == 15.0
    with pytest.raises(PointError, match=r"got 3\.0 on edge 'along' of length 20\.0; this part of it is not"):
        half.points("along", 3.0)


def test_addresses_that_do_not_fit_the_edges_are_refused():
    graph = crossing(node=True).graph

    with pytest.raises(GraphError, match="addresses must cover every edge, got 0 to 8 of 16 on edge 0"):
        replace(graph, lengths=2 * graph.lengths)
    assert replace(graph, lengths=2 * graph.lengths, addresses=None).points(("along", 0), 16.0)[0].z == 16.0
    with pytest.raises(GraphError, match="addresses must lead to 3 edges, got a table of 4"):
        replace(star(3), addresses=graph.addresses)


def test_forbidding_a_street_forbids_all_of_it():
    """By its own id after it was cut in two, and by a stretch across the crossing."""
    network = crossing(node=True)
    x = network.points(["along", "along", "along", "across"], [4.0, 10.0, 16.0, 2.0])

    assert netbo.Forbidden(edges="along").allows(x).tolist() == [False, False, False, True]
    across = netbo.Forbidden(stretches=[("along", 7.0, 12.0)])
    assert across.allows(x).tolist() == [True, False, True, True]
    assert netbo.Forbidden(edges=[("along", 0)]).allows(x).tolist() == [False, True, True, True]


def test_stretches_run_on_across_a_crossing():
    """Two pieces of one street are one stretch of it."""
    network = crossing(node=True)
    number, row, start, end = network.addresses.stretches(
        np.array([0, 1, 2]), np.array([5.0, 0.0, 1.0]), np.array([8.0, 4.0, 2.0])
    )

    assert_array_equal(number, [0, 1, 2])
    assert_array_equal(row, [0, 0, 1])
    assert_allclose(start, [5, 8, 1])
    assert_allclose(end, [8, 12, 2])


# Vertices by name.


def test_a_vertex_by_name_is_a_point():
    network = crossing(node=True)

    assert network.points("east") == network.points("along", 20.0)
    assert network.graph.points(["west", "north"]) == network.points(["along", "across"], fraction=[0.0, 1.0])
    assert network.points(vertex="south") == network.points("across", 0.0)


def test_a_vertex_that_was_joined_to_another_answers_to_its_name():
    links = Links(
        source="a test",
        ids=["a", "valve", "b"],
        tails=["J1", "J2", "J3"],
        heads=["J2", "J3", "J4"],
        lengths=[1.0, np.nan, 2.0],
        treatments=[Treatment.KEEP, Treatment.CONTRACT, Treatment.KEEP],
    )
    network = assemble(links)

    assert network.graph.vertex_ids == ("J1", "J2", "J4")
    assert network.graph.distance(network.points("J3"), network.points("J2"))[0, 0] == 0


def test_a_name_of_an_edge_and_a_vertex_is_refused_with_both_spellings():
    graph = MetricGraph([0], [1], [2.0], edge_ids=["x"], vertex_ids=["x", "y"])

    with pytest.raises(PointError, match=r"points\('x', distance\) for the edge, points\(vertex='x'\)"):
        graph.points("x")
    assert graph.points(vertex="x")[0].distance == 0.0
    assert graph.points("x", 0.5)[0].distance == 0.5
    assert graph.points("y")[0].distance == 2.0


def test_unknown_vertices_are_met_with_a_hint():
    with pytest.raises(PointError, match="no vertex has the id 'nort'; did you mean 'north'"):
        crossing().points("nort")
    with pytest.raises(PointError, match="on an edge or at a vertex, got both"):
        crossing().points("along", 1.0, vertex="north")
