import json

import numpy as np
import pytest

from netbo.adapters import Links, Treatment, as_network, assemble
from netbo.adapters.report import plain
from netbo.geometry import MetricGraph, star


def mess():
    """Two components, a false dead end, a street stored twice, a pump, a closed valve, an open switch."""
    curves = [
        [[0, 0], [10, 0]], [[10, 0], [0, 0]], [[10, 0], [10, 5]], [[5, 3], [5, 0.001]],
        [[10, 5], [11, 5]], [[11, 5], [12, 5]], [[12, 5], [15, 5]],
    ]  # fmt: skip
    keep = Treatment.KEEP
    return Links(
        source="a mess",
        ids=["main", "niam", "side", "stub", "pump", "valve", "far"],
        curves=[np.array(curve, dtype=float) for curve in curves],
        lengths=[10.0, 10.0, 5.0, 3.0, np.nan, np.nan, 3.0],
        unit="m",
        treatments=[keep, keep, keep, keep, Treatment.CONTRACT, Treatment.CUT, keep],
        notes=("the reader has something to say",),
    )


def test_a_report_knows_components_by_size_and_length():
    report = assemble(mess()).report

    assert report.component_edges == (3, 1, 1)
    assert report.component_shares == pytest.approx((25 / 31, 3 / 31, 3 / 31))
    assert report.n_components == 3
    assert report.total_length == 31
    assert report.shortest == ("stub", 3.0)
    assert report.longest == ("main", 10.0)


def test_a_dead_end_near_an_edge_is_suspected_false():
    report = assemble(mess()).report
    first, second = report.false_dead_ends

    assert {first.other_edge, second.other_edge} == {"main", "niam"}
    assert first.distance == pytest.approx(0.001)
    assert "1 suspected false dead end, at (5, 0.001)" in " ".join(report.warnings)
    assert report.gap_tolerance == pytest.approx(1e-3 * 5)


def test_a_gap_tolerance_of_ones_own():
    assert not assemble(mess(), gap_tolerance=1e-4).report.gaps
    assert len(assemble(mess(), gap_tolerance=0.0).report.gaps) == 0


def test_near_misses_between_vertices_that_an_edge_joins_are_none():
    """A short edge is no gap."""
    graph = MetricGraph([0, 1, 2], [1, 2, 3], None, positions=[[0, 0], [100, 0], [100.01, 0], [200, 0]])

    assert as_network(graph, gap_tolerance=0.1).report.gaps == ()


def test_near_misses_between_vertices_are_listed_with_their_distance():
    graph = MetricGraph([0, 2], [1, 3], None, positions=[[0, 0], [100, 0], [100.06, 0.08], [200, 0]])
    (gap,) = as_network(graph, gap_tolerance=0.2).report.gaps

    assert (gap.vertex, gap.other_vertex, gap.other_edge) == (1, 2, None)
    assert gap.distance == pytest.approx(0.1)
    assert gap.is_dead_end


def test_vertices_drawn_at_one_place_are_a_gap_each():
    """EPANET puts what has no coordinates at (0, 0): one gap per vertex, not one per pair."""
    n = 3_000
    graph = MetricGraph(np.arange(0, n, 2), np.arange(1, n, 2), np.ones(n // 2), positions=np.zeros((n, 2)))

    assert len(as_network(graph).report.gaps) <= n


def test_barriers_and_cuts_are_no_gaps():
    links = Links(
        source="t", ids=["a", "b", "c"], tails=[0, 1, 2], heads=[1, 2, 3], lengths=[1.0, 1.0, 1.0],
        positions={k: (k, 0) for k in range(4)}, treatments=[Treatment.CUT, Treatment.KEEP, Treatment.KEEP],
    )  # fmt: skip
    report = assemble(links, barriers=[(2, "c")]).report

    assert report.n_components == 3
    assert report.gaps == ()


def test_the_text_says_it_all_warnings_first():
    text = str(assemble(mess(), barriers=[(1, "side")]).report)
    lines = text.splitlines()

    assert lines[0] == "Network from a mess"
    assert lines[1].startswith("  ! 4 components: nothing passes between them")
    for part in (
        "snap=0.002 if they should",
        "merge them with merge_duplicates=True",
        "5 edges and 8 vertices from 7 links",
        "31 m",
        "3 m ('stub') to 10 m ('main')",
        "contracted      1 link ('pump'), their two ends are one place",
        "cut             1 link ('valve'), without a length: left out, their ends stay apart",
        "drawn / given   1 in the median",
        "no coordinate system",
        "the end at (5, 0.001) is 0.001 map units from edge",
        "barrier         at vertex 1, before 'side'",
        "the reader has something to say",
    ):
        assert part in text


def test_the_text_says_what_snapping_did():
    text = str(assemble(mess(), snap=0.01, node=True, merge_duplicates=True).report)

    assert "within 0.01 map units" in text
    assert "noded" in text
    assert "merged" in text


def test_a_sound_network_has_nothing_to_warn_of():
    text = str(as_network(star(3)).report)

    assert "nothing to warn of" in text
    assert "1: every place can be reached from every other" in text


def test_an_undrawn_network_says_so():
    text = str(as_network(MetricGraph([0], [1], [2.0])).report)

    assert "not looked for: the network is not drawn" in text
    assert "none: the network is not drawn" in text


def test_many_of_a_kind_are_counted_not_listed():
    xs = np.arange(40.0)
    curves = [np.array([[x, 0], [x, 1]]) for x in xs] + [np.array([[x, -1], [x, -1e-9]]) for x in xs]
    links = Links(source="t", ids=range(80), curves=curves)
    text = str(assemble(links, coordinates_are_lengths=True).report)

    assert "... and 35 more in report.gaps" in text
    assert text.count("\n") < 25


def test_the_data_are_plain_json():
    links = Links(
        source="t", ids=[(0, 1), (1, 2)], tails=[(0, 0), (1, 0)], heads=[(1, 0), (2, 0)], lengths=[1.0, 2.0]
    )
    data = assemble(links).report.as_dict()
    back = json.loads(json.dumps(data, allow_nan=False))

    assert back == data
    assert back["shortest"] == [[0, 1], 1.0]
    assert back["n_components"] == 1
    assert back["n_false_dead_ends"] == 0
    assert back["treated"]["contracted"] == []


def test_strange_values_become_plain():
    assert plain({"a": (np.int64(1), np.nan, 1 + 2j)}) == {"a": [1, None, "(1+2j)"]}
