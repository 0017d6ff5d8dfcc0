import numpy as np
import pytest
from numpy.testing import assert_allclose

from netbo.adapters import Links, assemble
from netbo.errors import NetworkError


def streets(*lines):
    curves = [np.array(line, dtype=float) for line in lines]
    return Links(source="streets", ids=[f"s{k}" for k in range(len(lines))], curves=curves)


def joined(*lines, **options):
    return assemble(streets(*lines), coordinates_are_lengths=True, **options)


def comb(n, off):
    """A street along x and n side streets that end `off` above it."""
    sides = [[[k, 5.0], [k, off]] for k in range(1, n + 1)]
    return [[[0, 0], [n + 1, 0]], *sides]


def test_streets_that_end_a_nanometre_off_are_many_components_until_snapped():
    apart, report = joined(*comb(20, 1e-9))
    graph, done = joined(*comb(20, 1e-9), snap=1e-6)

    assert apart.n_components == report.n_components == 21
    assert len(report.false_dead_ends) == 20
    assert report.false_dead_ends[0].distance == pytest.approx(1e-9)
    assert "20 suspected false dead ends" in " ".join(report.warnings)
    assert graph.is_connected
    assert graph.n_edges == 21 + 20
    assert len(done.noded.joins) == 20
    assert done.noded.largest_move == pytest.approx(1e-9)
    assert not done.gaps


def test_noding_alone_does_not_close_a_nanometre():
    """Only what shares a point is cut; a gap is for `snap` to close."""
    graph, _ = joined(*comb(3, 1e-9), node=True)

    assert graph.n_components == 4


def test_ends_on_a_street_are_joined_by_noding():
    graph, report = joined(*comb(3, 0.0))
    noded, done = joined(*comb(3, 0.0), node=True)

    assert graph.n_components == 4
    assert [gap.distance for gap in report.gaps] == [0, 0, 0]
    assert "node=True" in " ".join(report.warnings)
    assert noded.is_connected
    assert done.noded.n_crossings == 3
    assert done.noded.n_cut_links == 1


def test_vertices_within_the_tolerance_become_one():
    graph, report = joined([[0, 0], [1, 0]], [[1.001, 0], [2, 0]], snap=0.01)
    (join,) = report.noded.joins

    assert graph.n_vertices == 3
    assert_allclose(graph.lengths, [1, 0.999])  # lengths stay, the drawing moves
    assert_allclose(graph.embed(graph.points("s1", 0.0)), [[1, 0]])
    assert (join.vertex, join.other_vertex, join.other_edge) == (2, 1, None)
    assert join.distance == pytest.approx(0.001)


def test_a_gap_wider_than_the_tolerance_stays():
    assert joined([[0, 0], [1, 0]], [[1.001, 0], [2, 0]], snap=0.0005).graph.n_components == 2


def test_crossing_streets_are_cut_where_they_cross():
    network = joined([[0, 0], [4, 0]], [[1, -1], [1, 2], [3, 2], [3, -1]], node=True)
    graph = network.graph

    assert graph.n_edges == 6
    assert graph.is_connected
    assert_allclose(np.sort(graph.lengths), [1, 1, 1, 1, 2, 6])
    assert_allclose(graph.positions[graph.degrees == 4], [[1, 0], [3, 0]])


def test_three_streets_through_one_point_meet_in_one_vertex():
    """Their pairwise crossings differ by rounding."""
    angles = np.array([0.1, 1.2, 2.3])
    middle = np.array([0.3, 0.7])
    lines = [middle + np.outer([-1.0, 1.7], [np.cos(a), np.sin(a)]) for a in angles]
    graph = joined(*lines, node=True).graph

    assert graph.n_vertices == 7
    assert graph.degrees.max() == 6
    assert_allclose(graph.positions[graph.degrees == 6], [[0.3, 0.7]], atol=1e-12)


def test_a_street_that_crosses_itself_becomes_a_loop():
    """A figure with a loop: in along x, round, and out across the way in."""
    network = joined([[0, 0], [3, 0], [3, 2], [1, 2], [1, -1]], node=True)
    graph = network.graph

    assert graph.edge_ids == (("s0", 0), ("s0", 1), ("s0", 2))
    assert np.count_nonzero(graph.tails == graph.heads) == 1
    assert_allclose(graph.lengths, [1, 2 + 2 + 2 + 2, 1])
    assert_allclose(network.graph.embed(network.points("s0", 5.0)), [[3, 2]])


def test_repeated_corners_are_no_crossing():
    graph = joined([[0, 0], [1, 0], [1, 0], [2, 0]], node=True).graph

    assert graph.edge_ids == ("s0",)


def test_a_shared_stretch_is_cut_at_its_ends_and_reported_twice():
    """Two streets run together from 2 to 3."""
    lines = [[0, 0], [3, 0]], [[2, 0], [5, 0]]
    graph, report = joined(*lines, node=True)
    merged = joined(*lines, node=True, merge_duplicates=True)

    assert graph.n_edges == 4
    assert len(report.duplicates) == 1
    assert merged.graph.total_length == pytest.approx(5)
    assert merged.graph.embed(merged.points("s1", 0.5)) == pytest.approx(np.array([[2.5, 0]]))


def test_an_overshoot_within_the_tolerance_disappears():
    """The side street ends 1 mm beyond the main street."""
    network = joined([[0, 0], [4, 0]], [[2, 3], [2, -0.001]], node=True, snap=0.01)

    assert network.graph.is_connected
    assert network.graph.n_edges == 3
    assert np.count_nonzero(network.graph.degrees == 1) == 3


def test_a_link_shorter_than_the_tolerance_becomes_a_place_and_is_named():
    network = joined([[0, 0], [1, 0]], [[1, 0], [1.001, 0]], [[1.001, 0], [2, 0]], snap=0.01)

    assert network.graph.edge_ids == ("s0", "s2")
    assert network.report.treated.too_short_to_snap == ("s1",)
    assert "1 link ('s1') shrank to a place when snapped" in network.report.warnings
    assert network.graph.distance(network.points("s1", 0.0005), network.points("s0", 1.0))[0, 0] == 0


def test_a_tolerance_that_swallows_everything_is_refused():
    with pytest.raises(NetworkError, match="snap must leave an edge, got 5, with which every link shrinks"):
        joined([[0, 0], [1, 0]], [[1, 0], [2, 0]], snap=5.0)


def test_pieces_do_not_take_ids_that_are_there():
    """A user's own ids may look like ours."""
    curves = [np.array([[0.0, 0], [2, 0]]), np.array([[1.0, -1], [1, 1]]), np.array([[5.0, 5], [6, 6]])]
    links = Links(source="t", ids=["a", "b", ("a", 0)], curves=curves)
    graph = assemble(links, coordinates_are_lengths=True, node=True).graph

    assert graph.edge_ids == (("a", 1), ("a", 2), ("b", 0), ("b", 1), ("a", 0))


def test_new_vertices_are_named_by_their_street_where_vertices_have_names():
    curves = [np.array([[0.0, 0], [2, 0]]), np.array([[0.5, -1], [0.5, 1]])]
    links = Links(
        source="t", ids=["a", "b"], tails=["w", "s"], heads=["e", "n"], lengths=[2.0, 2.0], curves=curves
    )
    graph = assemble(links, node=True).graph

    assert graph.vertex_ids == ("w", "e", "s", "n", ("a", 0.25))


def test_noding_needs_a_flat_drawing():
    with pytest.raises(NetworkError, match="noding needs a flat drawing"):
        joined([[0, 0, 0], [1, 0, 0]], node=True)


def test_snapping_works_in_space():
    graph = joined([[0, 0, 0], [2, 0, 0]], [[1, 0, 1e-6], [1, 0, 1]], snap=1e-3).graph

    assert graph.is_connected
    assert graph.n_edges == 3


@pytest.mark.parametrize("seed", range(4))
def test_noding_random_segments_agrees_with_shapely(seed):
    """Number and total length of the pieces of shapely's own noding of the same lines."""
    import shapely

    lines = np.random.default_rng(seed).random((60, 2, 2))
    network = joined(*lines, node=True)
    truth = shapely.get_parts(shapely.node(shapely.multilinestrings(shapely.linestrings(lines))))

    assert network.graph.n_edges == len(truth)
    assert network.graph.total_length == pytest.approx(shapely.length(truth).sum())
    assert_allclose(np.sort(network.graph.lengths), np.sort(shapely.length(truth)), atol=1e-9)


@pytest.mark.parametrize("seed", range(3))
def test_addresses_survive_noding(seed):
    """A place keeps its coordinates, its measure and its distance from the start of its street."""
    rng = np.random.default_rng(seed)
    lines = rng.random((40, 2, 2))
    plain, noded = joined(*lines), joined(*lines, node=True)
    ids, fraction = [f"s{k}" for k in rng.integers(0, 40, 200)], rng.random(200)
    before, after = plain.points(ids, fraction=fraction), noded.points(ids, fraction=fraction)

    assert_allclose(plain.graph.embed(before), noded.graph.embed(after), atol=1e-9)
    assert_allclose([a.fraction for a in noded.address(after)], fraction, atol=1e-9)
