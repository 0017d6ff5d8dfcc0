import numpy as np
import pytest

from netbo.adapters.links import Treatment
from netbo.adapters.swc import links_from_swc, read_swc, sample_points
from netbo.errors import NetworkError

TREE = """# a root, a bent stem, two branches; the parent of 5 comes after it
1 1 0 0 0 5.0 -1
2 3 3 4 0 1.0 1
3 3 3 4 12 2.0 2
5 3 3 4 14 1.0 4

4 3 3 4 13 1.0 3   # one sample within a branch
6 2 0 0 12 0.5 3
"""


@pytest.fixture
def tree(tmp_path):
    path = tmp_path / "tree.swc"
    path.write_text(TREE)
    return path


def write(tmp_path, text):
    path = tmp_path / "neuron.swc"
    path.write_text(text)
    return path


def test_unbranched_cables_are_edges_named_by_their_last_samples(tree):
    """Stem 5 + 12 long, branches 2 and 5 long (a 3-4-5 triangle)."""
    graph, report = read_swc(tree)
    lengths = dict(zip(graph.edge_ids, graph.lengths.tolist(), strict=True))

    assert lengths == pytest.approx({3: 17.0, 5: 2.0, 6: 5.0})
    assert set(graph.vertex_ids) == {1, 3, 5, 6}
    assert graph.unit == "um"
    assert graph.is_connected
    assert report.as_dict()


def test_places_along_a_bent_cable_are_drawn_in_three_dimensions(tree):
    """8 along the stem: 5 to sample 2, then 3 up."""
    graph = read_swc(tree).graph

    np.testing.assert_allclose(
        graph.embed(graph.points(3, [0.0, 8.0, 17.0])), [[0, 0, 0], [3, 4, 3], [3, 4, 12]]
    )


def test_edges_point_away_from_the_root(tree):
    graph = read_swc(tree).graph
    stem = graph.edge_indices(3)[0]

    assert graph.vertex_ids[graph.tails[stem]] == 1
    assert graph.vertex_ids[graph.heads[stem]] == 3


def test_samples_keep_their_addresses(tree):
    network = read_swc(tree)
    places = sample_points(network, [2, 4, 5])

    assert [place.edge_id for place in places] == [3, 5, 5]
    assert [place.distance for place in places] == pytest.approx([5.0, 1.0, 2.0])
    np.testing.assert_allclose(network.graph.embed(places), [[3, 4, 0], [3, 4, 13], [3, 4, 14]])


def test_an_unknown_sample_is_refused(tree):
    with pytest.raises(NetworkError, match=r"samples must be on the network, got 77; there are"):
        sample_points(read_swc(tree), [77])


def test_segments_measure_the_same_as_sections(tree):
    sections, segments = (read_swc(tree, sections=flag).graph for flag in (True, False))

    assert sorted(segments.edge_ids) == [2, 3, 4, 5, 6]
    assert segments.total_length == pytest.approx(sections.total_length)
    assert segments.diameter == pytest.approx(sections.diameter)


def test_the_mean_radius_is_that_of_a_cone_by_length(tree):
    """Stem: radii 5 to 1 over 5, then 1 to 2 over 12: (3 * 5 + 1.5 * 12) / 17."""
    links = links_from_swc(tree)
    radius = dict(zip(links.ids, links.attributes["radius"], strict=True))

    assert radius[3] == pytest.approx((3 * 5 + 1.5 * 12) / 17)


def test_several_roots_are_as_many_components(tmp_path):
    path = write(tmp_path, "1 1 0 0 0 1 -1\n2 3 1 0 0 1 1\n3 1 9 0 0 1 -1\n4 3 9 2 0 1 3\n")
    network = read_swc(path)

    assert network.graph.n_components == 2
    assert "2 roots (1, 3)" in str(network.report)


def test_a_cable_without_a_length_is_contracted_and_still_an_address(tmp_path):
    path = write(tmp_path, "1 1 0 0 0 1 -1\n2 3 0 0 0 1 1\n3 3 1 0 0 1 1\n4 3 2 0 0 1 2\n5 3 3 0 0 1 2\n")
    network = read_swc(path)
    place = network.points(2, fraction=0.5)

    assert sorted(network.graph.edge_ids) == [3, 4, 5]
    assert network.graph.distance(place, network.points(4, 0.0))[0, 0] == 0.0
    assert read_swc(path, zero_length=Treatment.CUT).graph.n_components == 2


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("1 1 0 0 0 1\n", r"a sample needs numbers .* got '1 1 0 0 0 1' in line 1 of neuron.swc"),
        ("1 1 0 0 0 1 -1\n2 3 x 0 0 1 1\n", r"a sample needs numbers .* in line 2 of neuron.swc"),
        ("1 1 0 0 nan 1 -1\n", r"a sample needs finite numbers, got .* in line 1"),
        ("1 1 0 0 0 1 -1\n1 3 1 0 0 1 1\n", r"samples must have ids of their own, got 1 again in line 2"),
        ("1 1 0 0 0 1 -1\n2 3 1 0 0 1 9\n", r"parents must be samples or -1, got 9 as the parent of 2"),
        ("1 1 0 0 0 1 2\n2 3 1 0 0 1 1\n", r"samples must lead to a root .* got a circle through 1"),
        ("# nothing\n", r"an SWC file needs samples, got none in neuron.swc"),
        ("1 1 0 0 0 1 -1\n", r"a network needs at least one link, got none in SWC file neuron.swc"),
    ],
)
def test_broken_files_are_refused_by_line(tmp_path, text, message):
    with pytest.raises(NetworkError, match=message):
        read_swc(write(tmp_path, text))


def test_a_missing_file_is_refused(tmp_path):
    with pytest.raises(NetworkError, match="an SWC file must be readable"):
        read_swc(tmp_path / "none.swc")
