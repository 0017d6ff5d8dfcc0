from dataclasses import replace

import numpy as np
import pytest

import netbo
from netbo import FiniteElementSpace, Forbidden, Matern, MetricGraph, interval, star
from netbo.errors import ParameterError
from netbo.optimize import PAPER, Given, Known, Learned, NetworkMatern, Nodes, Optimizer, Places
from netbo.optimize.arguments import as_domain, as_search, usual_mesh

FIT = Learned()


def settle(domain, *, fit=FIT, is_given=False, max_cell=None):
    return as_domain(domain, fit, is_given=is_given, max_cell=max_cell)


def test_the_usual_mesh_has_about_two_thousand_nodes():
    space = usual_mesh(star(5, 3.0))

    assert 1_900 < space.n_nodes <= 2_000


def test_the_usual_mesh_has_a_node_inside_every_edge():
    """Also of 3,000 edges, and beside one that is ten thousand times as long."""
    short = MetricGraph(np.zeros(3_000, dtype=int), np.arange(1, 3_001), np.r_[1e4, np.ones(2_999)])
    space = usual_mesh(short)

    assert space.cells.min() == 2
    assert space.n_nodes == 3_001 + 3_000


def test_a_cell_size_makes_the_mesh():
    space = usual_mesh(interval(3.0), max_cell=0.5)

    assert space.cells.tolist() == [6]
    assert usual_mesh(interval(3.0), max_cell=5.0).cells.tolist() == [2]


def test_networks_meshes_and_priors_are_domains():
    graph = star(3)
    space = FiniteElementSpace.build(graph, max_cell=0.2)
    prior = netbo.whittle_matern(space, Matern(alpha=0.5, range=1.0))
    straight = netbo.euclidean_matern(graph, nu=0.5, range=1.0)

    assert settle(graph, max_cell=0.2)[0].graph is graph
    assert settle(graph)[1] is FIT
    assert settle(space) == (space, FIT)
    assert settle(prior)[0] is space
    assert settle(prior)[1].models[0].prior is prior
    assert settle(straight, max_cell=0.25)[0].cells.tolist() == [4, 4, 4]
    assert settle(straight)[1].models[0].build(space) is straight


def test_a_prior_keeps_the_rest_of_the_preset():
    space = FiniteElementSpace.build(star(3), max_cell=0.2)
    prior = netbo.whittle_matern(space, Matern(alpha=0.5, range=1.0))
    fit = Optimizer(prior, preset="paper").fit

    assert fit == replace(PAPER.fit, models=fit.models)


def test_what_is_no_domain_is_refused():
    with pytest.raises(ParameterError, match="an optimizer needs a network, a mesh or a prior, got list"):
        settle([1, 2])


def test_a_prior_and_a_way_to_learn_contradict_each_other():
    prior = netbo.euclidean_matern(star(3), nu=0.5, range=1.0)
    with pytest.raises(ParameterError, match=r"a prior as domain says what is learned, got fit= as well"):
        Optimizer(prior, fit=Learned())


def test_a_prior_needs_a_preset_that_learns():
    prior = netbo.euclidean_matern(star(3), nu=0.5, range=1.0)
    known = replace(PAPER, fit=Known(NetworkMatern()))
    with pytest.raises(ParameterError, match="a prior as domain needs a preset that learns"):
        Optimizer(prior, preset=known, noise=0.1)


def test_a_mesh_leaves_no_room_for_a_cell_size():
    space = FiniteElementSpace.build(star(3), max_cell=0.2)
    prior = netbo.whittle_matern(space, Matern(alpha=0.5, range=1.0))
    for domain in (space, prior):
        with pytest.raises(ParameterError, match=r"max_cell makes a mesh, got 0\.1 and a mesh"):
            Optimizer(domain, max_cell=0.1)


def test_candidates_are_nodes_places_or_a_search_space():
    graph = star(3)
    space = FiniteElementSpace.build(graph, max_cell=0.25)
    points = graph.points([0, 1], [0.3, 0.7])
    own = Places(graph, points)

    assert as_search(None, space).points is space.nodes
    assert len(as_search(Forbidden(edges=[0]), space).points) == space.n_nodes - 4
    assert isinstance(as_search(Forbidden(edges=[0]), space), Nodes)
    assert as_search(points, space).points == points
    assert as_search(own, space) is own


def test_other_candidates_are_refused():
    space = FiniteElementSpace.build(star(3), max_cell=0.25)
    with pytest.raises(
        ParameterError,
        match="candidates must be points, what is forbidden, a search",
    ):
        as_search([0, 1], space)


def test_candidates_of_another_network_are_refused():
    space = FiniteElementSpace.build(star(3), max_cell=0.25)
    elsewhere = Places(star(4), star(4).points(3, 0.5))
    with pytest.raises(ParameterError, match=r"candidates must lie on MetricGraph\(4 vertices.* got some on"):
        as_search(elsewhere, space)


def test_a_given_prior_lives_on_the_same_network():
    prior = netbo.euclidean_matern(star(4), nu=0.5, range=1.0)
    with pytest.raises(
        ParameterError, match=r"the prior must live on MetricGraph\(4 vertices.* build it anew"
    ):
        Optimizer(star(3), fit=Learned(models=(Given(prior),)))
