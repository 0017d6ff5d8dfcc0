import numpy as np
import pytest
from numpy.testing import assert_allclose, assert_array_equal

from netbo.adapters import Links, Treatment, assemble
from netbo.errors import NetworkError

KEEP, CONTRACT, CUT, DROP = Treatment.KEEP, Treatment.CONTRACT, Treatment.CUT, Treatment.DROP


def chain(**changed):
    """Three links 0 - 1 - 2 - 3 of lengths 1, 2, 3."""
    rows = {
        "source": "a test",
        "ids": ["a", "b", "c"],
        "tails": [0, 1, 2],
        "heads": [1, 2, 3],
        "lengths": [1.0, 2.0, 3.0],
    }
    return Links(**(rows | changed))


def streets(*lines, **changed):
    """Streets whose ends say what meets, coordinates in metres."""
    curves = [np.array(line, dtype=float) for line in lines]
    return Links(source="streets", ids=[f"s{k}" for k in range(len(lines))], curves=curves, **changed)


def test_links_without_a_drawing_make_a_graph():
    graph, report = assemble(chain(unit="km", attributes={"name": ["x", "y", "z"], "n": np.array([1, 2, 3])}))

    assert graph.edge_ids == ("a", "b", "c")
    assert graph.unit == report.unit == "km"
    assert graph.dimension is None
    assert_array_equal(graph.lengths, [1, 2, 3])
    assert graph.edge_attributes["name"] == ["x", "y", "z"]
    assert_array_equal(graph.edge_attributes["n"], [1, 2, 3])


def test_ends_with_equal_coordinates_meet():
    graph, report = assemble(streets([[0, 0], [1, 0]], [[1, 0], [1, 2]]), coordinates_are_lengths=True)

    assert graph.n_vertices == 3
    assert graph.is_connected
    assert_allclose(graph.lengths, [1, 2])
    assert report.length_source == "drawn"
    assert any("coordinates_are_lengths=True says so" in note for note in report.notes)


def test_minus_zero_is_zero():
    graph, _ = assemble(streets([[1, 1], [-0.0, 0.0]], [[0.0, -0.0], [1, -1]]), coordinates_are_lengths=True)

    assert graph.is_connected


def test_coordinates_of_unknown_origin_are_no_lengths():
    with pytest.raises(NetworkError, match="may be pixels or degrees; pass crs=, or coordinates_are_lengths"):
        assemble(streets([[0, 0], [1, 0]]))


def test_no_length_and_no_geometry_is_refused():
    with pytest.raises(NetworkError, match="neither lengths nor a drawing of every link in a test"):
        assemble(chain(lengths=None))
    with pytest.raises(NetworkError, match="got none on 1 of 3, the first is 'b', and no drawing to scale"):
        assemble(chain(lengths=[1.0, np.nan, 3.0]))
    with pytest.raises(NetworkError, match="lengths='given' needs lengths, got none"):
        assemble(chain(lengths=None), lengths="given")
    with pytest.raises(NetworkError, match="lengths must be 'given' or 'drawn', got 'long'"):
        assemble(chain(), lengths="long")


def test_missing_lengths_are_drawn_and_said():
    links = chain(
        lengths=[100.0, np.nan, 300.0],
        positions={k: (500_000.0 + 100 * k, 4_000_000.0) for k in range(4)},
        crs="EPSG:32630",
        unit="m",
    )
    graph, report = assemble(links)

    assert_allclose(graph.lengths, [100, 100, 300])
    assert report.length_source == "given, drawn where missing"
    assert "1 link without a length took that of the drawing, the first is 'b'" in report.notes


def test_lengths_in_two_units_are_not_mixed():
    links = chain(
        lengths=[1.0, np.nan, 3.0],
        positions={k: (500_000.0 + 100 * k, 4e6) for k in range(4)},
        crs="EPSG:32630",
        unit="km",
    )
    with pytest.raises(NetworkError, match="got 'km' in the file and 'm' in the drawing of link 'b'"):
        assemble(links)


def test_distrusted_lengths_are_used_only_on_demand():
    links = chain(distrusted_lengths=True, positions={k: (k, 0) for k in range(4)})

    with pytest.raises(NetworkError, match=r"its lengths are not to be trusted"):
        assemble(links)
    assert_allclose(assemble(links, lengths="given").graph.lengths, [1, 2, 3])
    assert_allclose(assemble(links, coordinates_are_lengths=True).graph.lengths, [1, 1, 1])


def test_an_undirected_curve_is_turned_and_counted():
    """An undirected graph lists the edge as (v, u) and keeps the curve from u to v."""
    bent = np.array([[2.0, 0], [1, 1], [1, 0]])
    links = chain(positions={k: (k, 0) for k in range(4)}, curves=[None, bent, None])
    graph, report = assemble(links)

    assert report.n_turned == 1
    assert_allclose(graph.embed(graph.points("b", [0.0, 2.0])), [[1, 0], [2, 0]])


def test_curves_are_turned_by_what_they_share_where_vertices_have_no_place():
    """Link b is drawn backwards; a and c say where 1 and 2 are."""
    curves = [np.array([[k, 0.0], [k + 1, 0]]) for k in range(3)]
    curves[1] = curves[1][::-1]
    graph, report = assemble(chain(curves=curves))

    assert report.n_turned == 1
    assert report.n_loose_curves == 0
    assert_allclose(graph.positions, [[0, 0], [1, 0], [2, 0], [3, 0]])


def test_a_dead_end_drawn_backwards_is_turned_too():
    curves = [np.array([[k, 0.0], [k + 1, 0]]) for k in range(3)]
    curves[2] = curves[2][::-1]
    graph, report = assemble(chain(curves=curves))

    assert report.n_turned == 1
    assert_allclose(graph.embed(graph.points("c", 3.0)), [[3, 0]])


def test_curves_that_stop_short_of_their_vertices_are_counted():
    links = chain(positions={k: (k, 0) for k in range(4)}, curves=[[[0, 0], [0.8, 0]], None, None])
    _, report = assemble(links)

    assert report.n_loose_curves == 1
    assert "1 curve with an end off its vertex" in " ".join(report.warnings)


def test_vertices_without_a_place_leave_the_network_undrawn():
    graph, report = assemble(chain(positions={0: (0, 0), 1: (1, 0), 2: (2, 0)}))

    assert graph.dimension is None
    assert "the network is not drawn: 1 vertex without a position, the first is 3" in report.notes


def test_contracted_links_join_their_ends():
    graph, report = assemble(chain(lengths=[1.0, np.nan, 3.0], treatments=[KEEP, CONTRACT, KEEP]))

    assert graph.edge_ids == ("a", "c")
    assert graph.is_connected
    assert graph.vertex_ids == (0, 1, 3)
    assert report.treated.contracted == ("b",)


def test_a_contraction_far_away_on_the_drawing_moves_the_curves():
    """Vertex 2 becomes vertex 1, and c is drawn from there."""
    links = chain(treatments=[KEEP, CONTRACT, KEEP], positions={k: (10.0 * k, 0) for k in range(4)})
    graph, _ = assemble(links)

    assert_allclose(graph.embed(graph.points("c", [0.0, 3.0])), [[10, 0], [30, 0]])


def test_a_cut_link_with_a_length_is_detached():
    """An open switch at the tail of b: nothing passes from a, but b hangs on c."""
    graph, report = assemble(chain(treatments=[KEEP, CUT, KEEP], detach=[None, "tail", None]))
    apart = graph.distance(graph.points("a", 0.5), graph.points(["b", "c"], [1.0, 1.0]))

    assert np.isinf(apart).all()
    assert graph.distance(graph.points("b", 0.0), graph.points("c", 3.0))[0, 0] == 5.0
    assert report.treated.cut == ("b",)
    assert graph.vertex_ids == (0, 1, 2, 3, (1, 1))


@pytest.mark.parametrize(("detach", "n_components"), [(None, 2), ("head", 2), ("tail", 2), ("both", 3)])
def test_each_end_of_a_cut_link_can_be_detached(detach, n_components):
    graph, _ = assemble(chain(treatments=[KEEP, CUT, KEEP], detach=[None, detach, None]))

    assert graph.n_components == n_components
    assert graph.n_edges == 3


def test_a_vertex_from_which_everything_is_cut_keeps_one_end():
    graph, _ = assemble(chain(treatments=[CUT, CUT, KEEP], detach=["head", "tail", None]))

    assert graph.n_components == 2
    assert graph.n_vertices == 5


def test_a_cut_at_a_dead_end_changes_nothing():
    graph, _ = assemble(chain(treatments=[KEEP, KEEP, CUT]))

    assert graph.is_connected
    assert graph.vertex_ids == (0, 1, 2, 3)


def test_a_cut_link_without_a_length_vanishes_and_its_ends_stay_apart():
    graph, report = assemble(chain(lengths=[1.0, np.nan, 3.0], treatments=[KEEP, CUT, KEEP]))

    assert graph.n_components == 2
    assert report.treated.vanished == ("b",)


def test_a_cut_link_without_a_length_is_not_given_the_drawn_one():
    links = chain(
        lengths=[1.0, np.nan, 3.0], treatments=[KEEP, CUT, KEEP], positions={k: (k, 0) for k in range(4)}
    )
    graph, _ = assemble(links, lengths="drawn", coordinates_are_lengths=True)

    assert graph.edge_ids == ("a", "c")


def test_dropped_links_are_no_addresses():
    network = assemble(chain(treatments=[KEEP, DROP, KEEP], aliases={"B": ("b", False)}))

    assert network.report.treated.dropped == ("b",)
    for name in ("b", "B"):
        with pytest.raises(ValueError, match=f"no edge has the id '{name}'"):
            network.points(name, 1.0)
    with pytest.raises(NetworkError, match="got only dropped ones"):
        assemble(chain(treatments=[DROP] * 3))


def test_detach_names_an_end():
    with pytest.raises(NetworkError, match="'tail', 'head' or 'both', got 'middle' on link 'b'"):
        assemble(chain(treatments=[KEEP, CUT, KEEP], detach=[None, "middle", None]))


@pytest.mark.parametrize(
    ("treatment", "n_components", "what"),
    [(CONTRACT, 1, "contracted to places"), (CUT, 2, "left out, their ends apart"), (DROP, 2, "left out")],
)
def test_links_of_zero_length_are_treated_as_asked_and_reported(treatment, n_components, what):
    _, report = assemble(chain(lengths=[1.0, 0.0, 3.0]), zero_length=treatment)

    assert report.n_components == n_components
    assert report.treated.zero_length == ("b",)
    assert f"1 link without length ('b'): {what}" in report.warnings


def test_rounding_is_no_length():
    """Shorter than 1e-12 of the longest."""
    _, report = assemble(chain(lengths=[1.0, 1e-13, 3.0]))

    assert report.treated.zero_length == ("b",)


def test_zero_length_cannot_be_kept():
    with pytest.raises(NetworkError, match="an edge needs a length, got none on link 'b'"):
        assemble(chain(lengths=[1.0, 0.0, 3.0]), zero_length=KEEP)
    with pytest.raises(
        NetworkError, match="zero_length must be one of keep, contract, cut, drop, got 'mend'"
    ):
        assemble(chain(), zero_length="mend")
    with pytest.raises(NetworkError, match="needs an edge with a length, got none"):
        assemble(chain(lengths=[0.0, 0.0, 0.0]))


def test_a_contraction_that_leaves_no_edge_has_no_address():
    links = chain(
        tails=[0, 1, 7], heads=[1, 2, 8], lengths=[1.0, 2.0, np.nan], treatments=[KEEP, KEEP, CONTRACT]
    )
    network = assemble(links)

    assert network.report.treated.unreachable == ("c",)
    with pytest.raises(ValueError, match="no edge has the id 'c'"):
        network.points("c", 0.0)


def test_edges_45_000_times_shorter_than_others_are_kept_and_warned_of():
    network = assemble(chain(lengths=[45_000.0, 1.0, 300.0]))

    assert_array_equal(network.graph.lengths, [45_000, 1, 300])
    assert "45,000 times as long as the shortest ('b')" in " ".join(network.report.warnings)


def test_a_street_stored_twice_is_reported_and_merged_on_demand():
    """Both directions, and one of them bent; the parallel way round is another street."""
    bend = [[0, 0], [1, 1], [2, 0]]
    other = [[0, 0], [1, -1], [2, 0]]
    links = streets(bend, bend[::-1], other, [[2, 0], [3, 0]])
    network = assemble(links, coordinates_are_lengths=True)
    merged = assemble(links, coordinates_are_lengths=True, merge_duplicates=True)

    assert [(d.first, d.second, d.is_reversed) for d in network.report.duplicates] == [("s0", "s1", True)]
    assert network.graph.n_edges == 4
    assert merged.graph.edge_ids == ("s0", "s2", "s3")
    assert merged.points("s1", 0.4) == merged.points("s0", 2 * np.sqrt(2) - 0.4)


def test_three_copies_of_a_street_become_one():
    links = streets([[0, 0], [1, 0]], [[1, 0], [0, 0]], [[0, 0], [1, 0]], [[1, 0], [2, 0]])
    merged = assemble(links, coordinates_are_lengths=True, merge_duplicates=True)

    assert merged.graph.edge_ids == ("s0", "s3")
    assert [merged.points(name, 0.25).z[0] for name in ("s0", "s1", "s2")] == [0.25, 0.75, 0.25]


def test_a_barrier_parts_a_junction():
    network = assemble(chain(), barriers=[(1, "b")])
    graph = network.graph

    assert graph.n_components == 2
    assert network.report.barriers == ((1, ("b",)),)
    assert graph.distance(graph.points("b", 0.0), graph.points("c", 3.0))[0, 0] == 5.0


def test_a_barrier_on_a_noded_street_stops_the_piece_that_ends_there():
    """s1 passes over s0 at (1, 0): only the part of it beyond the crossing is blocked."""
    links = streets([[0, 0], [2, 0]], [[1, -1], [1, 0]], [[1, 0], [1, 1]])
    network = assemble(links, coordinates_are_lengths=True, node=True, barriers=[(3, ["s1", "s2"])])
    graph = network.graph

    assert graph.n_components == 2
    assert np.isinf(graph.distance(network.points("s0", 0.0), network.points("s2", 1.0)))[0, 0]
    assert graph.distance(network.points("s1", 0.0), network.points("s2", 1.0))[0, 0] == pytest.approx(2.0)


def test_barriers_name_vertices_and_edges_that_are_there():
    with pytest.raises(NetworkError, match="a barrier needs a vertex of the network, got 9"):
        assemble(chain(), barriers=[(9, "b")])
    with pytest.raises(NetworkError, match="a barrier needs edges of the network, got 'z'"):
        assemble(chain(), barriers=[(1, ["z"])])
    with pytest.raises(NetworkError, match="got 'c', which does not meet 1"):
        assemble(chain(), barriers=[(1, "c")])


def test_a_barrier_takes_an_id_that_is_a_tuple():
    links = chain(ids=[(0, 1), (1, 2), (2, 3)])

    assert assemble(links, barriers=[(1, (1, 2))]).graph.n_components == 2


def test_bad_geometry_names_its_link():
    with pytest.raises(NetworkError, match=r"two corners or more, got shape \(1, 2\) on link 's1'"):
        assemble(streets([[0, 0], [1, 0]], [[1, 0]]))
    with pytest.raises(NetworkError, match=r"coordinates must be finite, got .* on link 's1'"):
        assemble(streets([[0, 0], [1, 0]], [[1, 0], [np.nan, 1]]))
    with pytest.raises(NetworkError, match=r"curves must be numbers, got .* on link 'x'"):
        assemble(Links(source="t", ids=["x"], curves=[[["a", "b"], ["c", "d"]]]))
    with pytest.raises(NetworkError, match="links without vertex ids need a curve each"):
        assemble(Links(source="t", ids=["x", "y"], curves=[np.eye(2), None]))
    with pytest.raises(NetworkError, match="curves must all have heights or none, got none on link 's0'"):
        assemble(streets([[0, 0], [1, 0]], [[1, 0, 0], [1, 1, 1]]))
    with pytest.raises(NetworkError, match=r"positions must be finite, got .* at vertex 1"):
        assemble(chain(positions={0: (0, 0), 1: (np.inf, 0), 2: (2, 0), 3: (3, 0)}))
    with pytest.raises(NetworkError, match="curves and positions must share one dimension, got 3 and 2"):
        assemble(chain(curves=[np.zeros((2, 3)), None, None], positions={k: (k, 0) for k in range(4)}))
    with pytest.raises(NetworkError, match="vertex ids must be hashable"):
        assemble(chain(tails=[[0], [1], [2]]))


def test_heights_stay_without_a_map_and_go_with_one():
    line = [[0.0, 0, 0], [3, 4, 12]]
    space, _ = assemble(streets(line), coordinates_are_lengths=True)
    flat, report = assemble(streets([[5e5, 4e6, 0], [5e5 + 3, 4e6 + 4, 12]], crs="EPSG:32630"))

    assert_allclose(space.lengths, [13])
    assert_allclose(flat.lengths, [5])
    assert "heights of the curves were left out: lengths are those on the map" in report.notes


def test_snap_is_a_distance():
    with pytest.raises(NetworkError, match="snap must be a finite distance, got -1"):
        assemble(chain(), snap=-1)
    with pytest.raises(NetworkError, match="snapping and noding need a drawing, got none in a test"):
        assemble(chain(), snap=0.1)
    with pytest.raises(NetworkError, match="gap_tolerance must be a finite distance, got -1"):
        assemble(chain(), gap_tolerance=-1)


def test_a_grid_of_twenty_thousand_streets_has_its_numbers_right():
    """100 x 100 crossings: 19,800 streets of length 1, no dead end, no near miss."""
    n = 100
    k = np.arange(n * n).reshape(n, n)
    tails = np.concatenate([k[:, :-1].ravel(), k[:-1].ravel()])
    heads = np.concatenate([k[:, 1:].ravel(), k[1:].ravel()])
    places = {v: (float(v % n), float(v // n)) for v in range(n * n)}
    links = Links(
        source="grid", ids=range(len(tails)), tails=tails.tolist(), heads=heads.tolist(), positions=places
    )
    report = assemble(links, coordinates_are_lengths=True).report

    assert report.n_edges == 2 * n * (n - 1)
    assert report.total_length == 2 * n * (n - 1)
    assert report.gaps == report.duplicates == report.dead_ends == ()
