"""Lines that cross and do not meet: counted, placed, and left apart where they pass over one another."""

import geopandas
import networkx
import numpy as np
import pytest
import shapely

import netbo
from netbo.adapters import Links, assemble
from netbo.adapters.proximity import levels_of

EAST, NORTH = 458_000.0, 5_549_000.0  # Prague, in UTM zone 33


def streets(*lines, **columns):
    shapes = [shapely.LineString(np.add(line, [EAST, NORTH])) for line in lines]
    return geopandas.GeoDataFrame(columns, geometry=shapes, crs="EPSG:32633")


CROSS = [[(0, 50), (100, 50)], [(50, 0), (50, 100)]]  # at (50, 50)
LADDER = [*CROSS, [(0, 80), (100, 80)]]  # and at (50, 80)


def test_crossings_are_counted_with_their_places():
    report = netbo.read(streets(*LADDER)).report

    assert [(each.first, each.second) for each in report.crossings] == [(0, 1), (1, 2)]
    assert [each.place for each in report.crossings] == [(EAST + 50, NORTH + 50), (EAST + 50, NORTH + 80)]
    (said,) = (each for each in report.warnings if "cross" in each)
    assert "at 2 places, (458050, 5549050), (458050, 5549080)" in said
    assert "node=True joins them there" in said
    assert "bridges and tunnels" in said


def test_noding_leaves_nothing_to_warn_of():
    report = netbo.read(streets(*LADDER), node=True).report

    assert report.crossings == ()
    assert report.noded.n_crossings == 2
    assert report.warnings == ()


def test_places_are_those_of_the_source_not_of_the_drawing():
    """Longitudes and latitudes are drawn in metres; people look for the place in their own map."""
    lines = [
        shapely.LineString([(14.0, 50.0), (14.002, 50.0)]),
        shapely.LineString([(14.001, 49.999), (14.001, 50.001)]),
    ]
    (found,) = netbo.read(geopandas.GeoDataFrame(geometry=lines, crs="EPSG:4326")).report.crossings

    assert found.place == pytest.approx((14.001, 50.0), abs=1e-7)


@pytest.mark.parametrize(
    "columns",
    [
        {"bridge": ["yes", None]},
        {"BRIDGE": ["T", "F"]},
        {"tunnel": [False, True]},
        {"layer": ["1", "0"]},
        {"layer": [np.nan, -1.0]},
        {"bridge": [["viaduct", None], "no"], "layer": [0, 0]},
    ],
)
def test_what_passes_over_is_no_crossing_and_is_not_cut(columns):
    report = netbo.read(streets(*CROSS, **columns)).report
    noded = netbo.read(streets(*CROSS, **columns), node=True)

    assert report.crossings == ()
    assert report.n_crossings_apart == 1
    assert noded.graph.n_edges == 2
    assert noded.report.noded.n_left_apart == 1
    assert "1 on different levels left apart" in str(noded.report)


def test_two_bridges_on_one_level_cross():
    frame = streets(*LADDER, bridge=["yes", "yes", "no"])

    assert len(netbo.read(frame).report.crossings) == 1
    assert netbo.read(frame).report.n_crossings_apart == 1
    assert netbo.read(frame, node=True).graph.n_edges == 5


def test_a_bridge_is_joined_where_it_ends_and_not_to_what_lies_near_it():
    """The ramp ends on the deck exactly; the street under it stops half a metre beside."""
    deck, ramp, below = [(0, 0), (100, 0)], [(50, 0), (50, 50)], [(20, -40), (20, -0.5)]
    frame = streets(deck, ramp, below, bridge=["yes", "no", "no"])
    network = netbo.read(frame, snap=1.0, node=True)

    assert network.report.n_components == 2
    assert network.report.component_edges == (3, 1)


def test_ends_that_touch_and_streets_stored_twice_are_no_crossings():
    tee, twice = [(50, 50), (50, 20)], [(0, 0), (30, 5), (60, 0)]
    frame = streets([(0, 50), (100, 50)], tee, twice, twice[::-1])

    assert netbo.read(frame).report.crossings == ()


def test_streets_that_meet_on_a_line_that_goes_on_are_not_joined_to_it():
    """Neither ends nowhere and none crosses the line, yet nothing passes to it."""
    frame = streets([(0, 50), (100, 50)], [(50, 0), (50, 50)], [(50, 50), (50, 100)])
    (said,) = (each for each in netbo.read(frame).report.warnings if "junction" in each)

    assert said == (
        "1 junction, at (458050, 5549050), on a line that does not end there: nothing passes to it; "
        "cut the lines they touch with node=True if it should"
    )
    assert netbo.read(frame, node=True).report.warnings == ()


def test_a_line_that_crosses_itself_is_found_once():
    knot = [(0, 0), (40, 0), (40, 40), (20, 40), (20, -40)]
    (found,) = netbo.read(streets(knot)).report.crossings

    assert (found.first, found.second) == (0, 0)
    assert found.place == (EAST + 20, NORTH)


def test_a_loop_that_begins_where_another_passes_is_no_crossing_of_itself():
    loop = [(0, 0), (40, 0), (40, 40), (0, 40), (0, 0)]

    assert netbo.read(streets(loop)).report.crossings == ()


def test_where_ids_say_what_meets_crossings_are_not_looked_for():
    graph = networkx.Graph()
    graph.add_nodes_from([("w", {"x": 0, "y": 5}), ("e", {"x": 10, "y": 5}), ("s", {"x": 5, "y": 0})])
    graph.add_node("n", x=5, y=10)
    graph.add_edges_from(
        [("w", "e", {"length": 10.0}), ("s", "n", {"length": 10.0}), ("w", "s", {"length": 7.0})]
    )
    report = netbo.read(graph, unit="m").report

    assert report.crossings is None
    assert report.warnings == ()


@pytest.mark.parametrize("n", [2, 5, 12])
def test_random_lines_cross_as_often_as_their_segments_do(n):
    """Truth by the signs of areas: two segments cross if each has the ends of the other on both sides."""
    rng = np.random.default_rng(n)
    lines = rng.uniform(0, 1000, (n, 2, 2))
    links = Links(source="random", ids=range(n), curves=list(lines))
    found = assemble(links, coordinates_are_lengths=True, gap_tolerance=0.0).report.crossings

    def side(line, place):
        (ax, ay), (bx, by) = line
        return np.sign((bx - ax) * (place[1] - ay) - (by - ay) * (place[0] - ax))

    def cross(one, other):
        return side(one, other[0]) != side(one, other[1]) and side(other, one[0]) != side(other, one[1])

    pairs = {(i, j) for i in range(n) for j in range(i) if cross(lines[i], lines[j])}
    assert {tuple(sorted((each.first, each.second), reverse=True)) for each in found} == pairs


def test_levels_are_known_only_where_a_column_says_so():
    assert levels_of({"name": ["a"]}, np.arange(1)) is None
    assert levels_of({"layer": ["deep", "3", None]}, np.arange(3)).tolist() == [0.0, 3.0, 0.0]


def test_what_stops_near_a_bridge_or_under_it_is_no_near_miss():
    """A street that ends under a deck, and one that ends beside the end of the deck without touching it."""
    deck, under, beside = [(0, 0), (1000, 0)], [(500, -400), (500, -0.2)], [(1000.2, 0), (1400, 0)]
    plain = netbo.read(streets(deck, under, beside)).report
    marked = netbo.read(streets(deck, under, beside, bridge=["yes", "no", "no"])).report
    raised = netbo.read(streets(deck, under, beside, layer=[1, 1, 1])).report

    assert len(plain.gaps) == len(raised.gaps) == 2
    assert marked.gaps == ()
    assert not [said for said in marked.warnings if "dead end" in said]


def test_what_touches_a_bridge_is_a_near_miss_on_any_level():
    """The foot of a ramp is on the ground and its head on the deck: contact counts."""
    deck, ramp = [(0, 0), (1000, 0)], [(500, 0), (500, 400)]
    report = netbo.read(streets(deck, ramp, bridge=["yes", "no"])).report

    assert [gap.distance for gap in report.gaps] == [0.0]
