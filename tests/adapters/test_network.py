import pickle

import numpy as np
import pytest
from numpy.testing import assert_allclose

import netbo
from netbo.adapters import Links, as_network, assemble
from netbo.errors import PointError

SOHO = [(-0.1366, 51.5134), (-0.1341, 51.5129), (-0.1330, 51.5140)]


def soho(**options):
    curves = [np.array(SOHO[:2]), np.array(SOHO[1:])]
    links = Links(source="Soho", ids=["Broad", "Berwick"], curves=curves, crs="EPSG:4326")
    return assemble(links, **options)


def test_a_network_unpacks_into_graph_and_report():
    network = soho()
    graph, report = network

    assert graph is network.graph
    assert report is network.report


def test_coordinates_come_back_in_the_system_of_the_source():
    """Longitude before latitude, to a micrometre."""
    network = soho()
    ends = network.points(["Broad", "Broad", "Berwick"], fraction=[0.0, 1.0, 1.0])

    assert_allclose(network.coordinates(ends), SOHO, atol=1e-11)
    assert_allclose(network.coordinates(ends, crs=network.graph.crs), network.graph.embed(ends))


def test_places_are_found_by_longitude_and_latitude_with_the_distance_in_metres():
    """A thousandth of a degree of latitude is 111.26 m in London, by the length of the meridian."""
    network = soho()
    (west_end,) = SOHO[:1]
    points, off = network.locate([[west_end[0], west_end[1] + 0.001]])

    assert network.address(points)[0].edge_id == "Broad"
    assert off == pytest.approx([111.26], rel=2e-3)
    back, none = network.locate(network.coordinates(network.points("Berwick", 40.0)))
    assert_allclose(back.z, 40.0, atol=1e-6)
    assert_allclose(none, 0.0, atol=1e-6)


def test_a_limit_refuses_places_far_off():
    with pytest.raises(PointError, match="places must lie within 50 of the network"):
        soho().locate([[0.0, 51.5]], limit=50)


def test_places_have_two_coordinates():
    with pytest.raises(PointError, match=r"places on a map must have shape \(n, 2\), got \(1, 3\)"):
        soho().locate([[0.0, 51.5, 10.0]])


def test_places_may_come_in_another_system():
    network = soho()
    xy = network.coordinates(network.points("Broad", 20.0), crs="EPSG:3857")
    points, off = network.locate(xy, crs="EPSG:3857")

    assert points.z == pytest.approx([20.0])
    assert off == pytest.approx([0.0], abs=1e-6)


def test_a_point_needs_one_measure():
    with pytest.raises(PointError, match="got 0 of them"):
        soho().points("Broad")
    with pytest.raises(PointError, match="got 2 of them"):
        soho().points("Broad", 1.0, fraction=0.5)
    with pytest.raises(PointError, match="must match, got 2 and 3"):
        soho().points(["Broad", "Berwick"], [1.0, 2.0, 3.0])


def test_a_network_travels_between_processes():
    network = soho()
    copy = pickle.loads(pickle.dumps(network))

    assert copy.points("Broad", 3.0) == network.points("Broad", 3.0)
    assert copy.report == network.report


def test_the_optimizer_takes_a_network():
    network = soho()
    found = netbo.maximize(lambda point: -abs(point.distance - 30), network, budget=12, noise=0.0, seed=1)
    optimizer = netbo.Optimizer(network, seed=2)

    assert optimizer.graph is network.graph
    assert abs(found.recommend().point.distance - 30) < 10


def test_a_graph_becomes_a_network_with_its_own_ids():
    graph = netbo.star(3)
    network = as_network(graph)

    assert network.graph is graph
    assert network.points(2, 0.5) == graph.points(2, 0.5)
    assert network.report.n_components == 1
    assert as_network(network) is network


def test_its_repr_counts_the_warnings():
    two = Links(source="two", ids=[0, 1], tails=[0, 2], heads=[1, 3], lengths=[1.0, 1.0], unit="km")

    assert repr(assemble(two)) == (
        "Network(MetricGraph(4 vertices, 2 edges, total length 2 km, 2 components), 1 warning in .report)"
    )


def test_one_point_or_several_have_addresses_and_coordinates():
    """What an optimizer hands out is a Point, not Points."""
    network = as_network(netbo.open_rectangle())
    points = network.graph.points([0, 2], [0.5, 1.0])

    assert network.address(points[1]) == network.address(points)[1:]
    assert network.address(list(points)) == network.address(points)
    assert_allclose(network.coordinates(points[0]), network.coordinates(points)[:1])
