"""Searching the network itself: maxima between grid points, against dense grids and closed forms."""

import copy
import math
from dataclasses import replace
from functools import partial

import numpy as np
import pytest

import netbo
from netbo import ESTIMATED, Forbidden, Matern, MetricGraph, Observations, Points, condition, whittle_matern
from netbo.acquisition import FixedWidth, GpTs, IgpUcb, LogExpectedImprovement, RandomSearch
from netbo.errors import NumericalError, ParameterError
from netbo.fem import FiniteElementSpace
from netbo.geometry import PLACE_TOLERANCE
from netbo.optimize import Continuum, Learned, MeshFreeMatern, Optimizer
from netbo.optimize.search_space import RESOLUTION, Surroundings
from netbo.priors import MeshFreePrior

LOLLIPOP = MetricGraph([0, 0, 1], [0, 1, 2], [3.0, 1.0, 0.7])  # a loop, and two edges in a row
GRAPHS = {"lollipop": LOLLIPOP, "star": netbo.star(4, length=2.0), "rectangle": netbo.open_rectangle()}
UCB = IgpUcb(FixedWidth(2.0))


def everywhere(search):
    return np.ones(len(search.points), dtype=np.bool_)


def a_posterior(graph, seed, alpha=1.0, n=9, noise=1e-2):
    """Random places and values under the true kernel, with an estimated mean."""
    rng = np.random.default_rng(seed)
    edge = rng.integers(0, graph.n_edges, n)
    places = Points(edge, rng.uniform(0.02, 0.98, n) * graph.lengths[edge], graph=graph)
    prior = whittle_matern(graph, Matern(alpha, range=0.3 * graph.diameter, sigma=1.0))
    return condition(prior, Observations(places, rng.normal(size=n)), regularization=noise, mean=ESTIMATED)


def along(graph, edge, n):
    """n places along an edge, its ends included."""
    return Points(np.full(n, edge), np.linspace(0, graph.lengths[edge], n), graph=graph)


def dense_maximum(graph, scores):
    """The best of 100,000 places on each of the three edges that look best on 4,000: edge, z, score."""
    coarse = [float(np.max(scores(along(graph, edge, 4001)))) for edge in range(graph.n_edges)]
    best = (-1, 0.0, -np.inf)
    for edge in np.argsort(coarse)[-3:]:
        x = along(graph, edge, 100_001)
        values = scores(x)
        top = int(np.argmax(values))
        if values[top] > best[2]:
            best = (int(edge), float(x.z[top]), float(values[top]))
    return best


def score_of(rule, posterior):
    rng = np.random.default_rng(0)
    if rule == "mean":
        return posterior.mean
    return lambda x: rule.scores(posterior, x, rng)


# Maximizers


@pytest.mark.parametrize("name", GRAPHS)
@pytest.mark.parametrize("rule", [UCB, LogExpectedImprovement(), "mean"], ids=["ucb", "ei", "mean"])
@pytest.mark.parametrize("alpha", [0.5, 1.0])
def test_the_maximum_is_that_of_a_dense_grid(name, rule, alpha):
    graph = GRAPHS[name]
    search = Continuum(graph)
    for seed in range(3):
        posterior = a_posterior(graph, seed, alpha)
        scores = score_of(rule, posterior)
        around = partial(Surroundings, graph, posterior.observations.points)
        found = search.maximize(scores, everywhere(search), around)
        edge, z, best = dense_maximum(graph, scores)
        distance = graph.distance(found, Points(np.array([edge]), np.array([z]), graph=graph))[0, 0]

        assert float(scores(found)[0]) >= best - 1e-9
        assert distance <= 2e-5 * graph.lengths[edge]  # half of it is the spacing of the dense grid


def test_without_known_places_a_kink_is_found_too():
    """A tent with its top between grid points: derivatives would mislead, comparisons do not."""
    graph = netbo.interval(2.0)
    search = Continuum(graph, n_points=20)
    found = search.maximize(lambda x: -np.abs(x.z - math.sqrt(2)), everywhere(search))

    assert found.z[0] == pytest.approx(math.sqrt(2), abs=2 * RESOLUTION)


def test_a_known_place_at_the_top_of_a_kink_is_found_exactly():
    """With 2 alpha = 1 the mean solves u'' = kappa^2 u between data: its maxima are at data or vertices."""
    graph = GRAPHS["star"]
    search = Continuum(graph)
    for seed in range(5):
        posterior = a_posterior(graph, seed, alpha=0.5)
        around = partial(Surroundings, graph, posterior.observations.points)
        found = search.maximize(posterior.mean, everywhere(search), around)
        candidates = Points.concatenate([posterior.observations.points, graph.vertex_points()])
        best = candidates[[int(np.argmax(posterior.mean(candidates)))]]

        assert graph.distance(found, best)[0, 0] <= PLACE_TOLERANCE


@pytest.mark.parametrize("vertex", [0, 1, 2])
def test_a_maximum_at_a_vertex_stays_there(vertex):
    search = Continuum(LOLLIPOP)
    place = LOLLIPOP.vertex_points(np.array([vertex]))

    def scores(x):
        distance = LOLLIPOP.distance(place, x)[0]
        return 1 - distance**2  # smooth at dead ends, a kink elsewhere

    found = search.maximize(scores, everywhere(search))

    assert found == search.points[[vertex]]


def test_a_round_is_one_question_and_few_rounds_suffice():
    """From 2/100 of an edge to 1e-6 of it, eight times narrower in a round: five rounds after the grid."""
    graph = netbo.interval(1.0)
    search, asked = Continuum(graph, n_points=101), []

    def scores(x):
        asked.append(len(x))
        return np.cos(3 * (x.z - 0.123456789))

    found = search.maximize(scores, everywhere(search))

    assert found.z[0] == pytest.approx(0.123456789, abs=1e-6)
    assert len(asked) <= 6


def test_the_grid_has_two_points_inside_every_edge_and_about_as_many_as_asked_for():
    graph = GRAPHS["rectangle"]
    usual, fine, coarse = Continuum(graph), Continuum(graph, spacing=0.01), Continuum(graph, n_points=1)

    assert 900 <= len(usual.points) <= 1000
    assert fine.cell_lengths.max() <= 0.01
    assert len(coarse.points) == graph.n_vertices + 2 * graph.n_edges
    assert usual.weights.sum() == pytest.approx(graph.lengths.sum())
    assert len(usual.pieces.owner) == 2 * (len(usual.points) - graph.n_vertices + graph.n_edges)


def test_worthless_scores_leave_the_first_allowed_grid_point():
    search = Continuum(netbo.interval(1.0))
    allowed = everywhere(search)
    allowed[:3] = False

    assert search.maximize(lambda x: np.full(len(x), -np.inf), allowed) == search.points[[3]]
    assert search.maximize(lambda x: np.zeros(len(x)), allowed) == search.points[[3]]


def test_nan_between_grid_points_never_wins():
    graph = netbo.interval(1.0)
    search = Continuum(graph, n_points=11)

    def scores(x):
        return np.where(np.abs(x.z - 0.55) < 0.02, np.nan, -np.abs(x.z - 0.55))

    found = search.maximize(scores, everywhere(search))

    assert 0.02 <= abs(found.z[0] - 0.55) <= 0.02 + 2 * RESOLUTION


def test_bad_input_is_refused():
    search = Continuum(netbo.interval(1.0))
    with pytest.raises(ParameterError, match=r"n_points counts grid points, got 10\.5"):
        Continuum(netbo.interval(1.0), n_points=10.5)
    with pytest.raises(ParameterError, match="max_cell must be a positive length, got -1"):
        Continuum(netbo.interval(1.0), spacing=-1.0)
    with pytest.raises(ParameterError, match="candidates must be allowed, got 0"):
        search.maximize(lambda x: x.z, ~everywhere(search))
    with pytest.raises(ParameterError, match="scores must be one number for each"):
        search.maximize(lambda x: np.zeros((len(x), 1)), everywhere(search))
    with pytest.raises(NumericalError, match="are NaN"):
        search.maximize(lambda x: np.full(len(x), np.nan), everywhere(search))


# Forbidden and closed places


def test_nothing_forbidden_is_found_and_the_best_is_at_its_border():
    graph = netbo.interval(1.0)
    forbidden = Forbidden(stretches=[(0, 0.2, 0.503)])
    search = Continuum(graph, forbidden=forbidden)
    found = search.maximize(lambda x: -((x.z - 0.4) ** 2), everywhere(search))

    assert forbidden.allows(found).all()
    assert 0.503 < found.z[0] <= 0.503 + 2 * RESOLUTION


def test_a_stretch_forbidden_from_an_end_is_approached_from_the_other_side():
    graph = netbo.star(3)
    search = Continuum(graph, forbidden=Forbidden(edges=[1], stretches=[(0, 0.3337, 1.0)]))
    found = search.maximize(lambda x: np.where(x.edge == 0, x.z, -1.0), everywhere(search))

    assert found.edge[0] == 0
    assert 0.3337 - 2 * RESOLUTION <= found.z[0] < 0.3337


def test_a_closed_place_is_left_out_but_not_its_cell():
    graph = netbo.interval(1.0)
    search = Continuum(graph, n_points=11)
    closed = Points(np.array([0, 0]), np.array([0.5, 0.43]), graph=graph)
    allowed = ~np.isclose(search.points.z, 0.5)
    around = partial(Surroundings, graph, closed, closed=closed)
    for top in (0.5, 0.43):
        found = search.maximize(lambda x, top=top: -np.abs(x.z - top), allowed, around)

        assert RESOLUTION < abs(found.z[0] - top) <= 4 * RESOLUTION


def test_a_closed_vertex_is_closed_along_every_edge():
    graph = netbo.star(3)
    search = Continuum(graph)
    hub = graph.vertex_points(np.array([0]))
    allowed = everywhere(search)
    allowed[0] = False
    around = partial(Surroundings, graph, hub, closed=hub)
    found = search.maximize(lambda x: np.where(x.edge == 2, -x.z, -x.z - 1e-9), allowed, around)

    assert RESOLUTION < graph.distance(hub, found)[0, 0] <= 4 * RESOLUTION


def test_a_distance_is_kept_along_the_network():
    graph = netbo.star(3)
    search = Continuum(graph)
    away = Points(np.array([0]), np.array([0.1]), graph=graph)
    around = partial(Surroundings, graph, away, apart=away, radius=np.array([0.25]))
    allowed = graph.distance(away, search.points)[0] >= 0.25
    found = search.maximize(lambda x: np.where(x.edge == 0, -5.0, -x.z), allowed, around)

    assert 0.25 <= graph.distance(away, found)[0, 0] <= 0.25 + 2 * RESOLUTION


# Same network in other words


def moved(graph, mapping, posterior):
    """The posterior of the same data on another description of the network."""
    old = posterior.observations
    places = [mapping(edge, z) for edge, z in zip(old.points.edge, old.points.z, strict=True)]
    edge, z = np.array([e for e, _ in places]), np.array([d for _, d in places])
    data = Observations(Points(edge, z, graph=graph), old.values)
    prior = whittle_matern(graph, posterior.prior.matern)
    return condition(prior, data, regularization=posterior.regularization, mean=ESTIMATED)


def descriptions(graph):
    """Flipped; edges and vertices renamed; a vertex inserted: graphs, and where a place went."""
    tails, heads, lengths = graph.tails, graph.heads, graph.lengths
    yield MetricGraph(heads, tails, lengths), lambda e, z: (e, lengths[e] - z)
    order = np.random.default_rng(3).permutation(graph.n_edges)
    names = np.random.default_rng(4).permutation(graph.n_vertices)
    rank = np.argsort(order)
    yield (
        MetricGraph(names[tails[order]], names[heads[order]], lengths[order]),
        lambda e, z: (int(rank[e]), z),
    )
    cut, n = 0.37 * lengths[0], graph.n_vertices
    halves = np.r_[cut, lengths[1:], lengths[0] - cut]
    yield (
        MetricGraph(np.r_[tails, n], np.r_[n, heads[1:], heads[0]], halves),
        lambda e, z: (e, z) if e or z <= cut else (graph.n_edges, z - cut),
    )


@pytest.mark.parametrize("name", GRAPHS)
def test_the_same_network_in_other_words_gets_the_same_suggestion(name):
    graph = GRAPHS[name]
    for seed in range(3):
        posterior = a_posterior(graph, 10 + seed)
        search = Continuum(graph)
        here = search.maximize(score_of(UCB, posterior), everywhere(search))
        for other, mapping in descriptions(graph):
            again = Continuum(other)
            there = again.maximize(score_of(UCB, moved(other, mapping, posterior)), everywhere(again))
            edge, z = mapping(int(here.edge[0]), float(here.z[0]))
            expected = Points(np.array([edge]), np.array([z]), graph=other)

            assert other.distance(there, expected)[0, 0] <= 1e-5 * graph.lengths[here.edge[0]]


# In the loop


def exact_network(alpha=1.0, **changes):
    return Learned(models=(MeshFreeMatern(alpha),), **changes)


def bump(point):
    """Smooth; its maximum on the interval of length 3 is at sqrt(2), off every usual grid."""
    return math.exp(-((point.distance - math.sqrt(2)) ** 2))


@pytest.mark.parametrize("rule", [UCB, LogExpectedImprovement(), GpTs()], ids=["ucb", "ei", "ts"])
def test_exact_values_lead_to_a_maximum_between_nodes(rule):
    graph = netbo.interval(3.0)
    fit = exact_network(1.5)
    optimizer = Optimizer(graph, fit=fit, acquisition=rule, candidates=Continuum(graph), noise=0.0, seed=2)
    for _ in range(25):
        suggestion = optimizer.ask()
        optimizer.tell(suggestion, bump(suggestion.point))

    assert optimizer.recommend().point.distance == pytest.approx(math.sqrt(2), abs=1e-4)
    places = np.sort([trial.point.distance for trial in optimizer.history])
    assert np.diff(places).min() > PLACE_TOLERANCE * 3.0


def drive(optimizer, n, seed=5):
    noise = np.random.default_rng(seed)
    for _ in range(n):
        suggestion = optimizer.ask()
        optimizer.tell(suggestion, math.cos(suggestion.point.distance) + 0.1 * noise.normal())


@pytest.mark.parametrize("rule", [UCB, GpTs(FixedWidth(1.5)), RandomSearch()], ids=["ucb", "ts", "random"])
@pytest.mark.parametrize("direction", ["maximize", "minimize"])
def test_a_study_rebuilt_from_its_history_goes_on_the_same(rule, direction):
    graph = LOLLIPOP
    settings = {"fit": exact_network(), "acquisition": rule, "noise": 0.01, "direction": direction}
    first = Optimizer(graph, candidates=Continuum(graph), **settings)
    drive(first, 11)
    second = Optimizer(graph, candidates=Continuum(graph), history=first.history, **settings)

    assert first.ask(2) == second.ask(2)


def test_suggestions_avoid_what_is_forbidden():
    forbidden = Forbidden(edges=[1], stretches=[(0, 1.0, 2.0)])
    search = Continuum(LOLLIPOP, forbidden=forbidden)
    optimizer = Optimizer(LOLLIPOP, fit=exact_network(), acquisition=UCB, candidates=search, noise=0.01)
    drive(optimizer, 16)
    places = Points.at((trial.point for trial in optimizer.history), graph=LOLLIPOP)

    assert forbidden.allows(places).all()


def test_a_place_that_failed_is_not_asked_for_again_nor_are_those_beside_it():
    """A failure teaches nothing, so the score keeps its peak there: half a cell is kept clear."""
    search = Continuum(LOLLIPOP)
    optimizer = Optimizer(LOLLIPOP, fit=exact_network(), acquisition=UCB, candidates=search, noise=0.01)
    drive(optimizer, 10)
    failed = optimizer.ask()
    optimizer.tell(failed, math.nan)
    following = optimizer.ask()
    here, there = (Points.at(each.point, graph=LOLLIPOP) for each in (failed, following))
    half_cell = search.cell_lengths[failed.point.edge] / 2
    is_grid_point = LOLLIPOP.distance(there, search.points).min() < PLACE_TOLERANCE

    assert LOLLIPOP.distance(here, there)[0, 0] >= (0 if is_grid_point else half_cell)
    assert LOLLIPOP.distance(here, there)[0, 0] > 0


def test_pending_suggestions_keep_their_separation():
    graph = netbo.star(3, length=2.0)
    search = Continuum(graph)
    optimizer = Optimizer(
        graph, fit=exact_network(), acquisition=UCB, candidates=search, noise=0.01, separation=0.3
    )
    drive(optimizer, 10)
    places = Points.at((suggestion.point for suggestion in optimizer.ask(4)), graph=graph)
    distances = graph.distance(places, places)[np.triu_indices(4, 1)]

    assert distances.min() >= 0.3 * (1 - 1e-9)


def test_finite_element_priors_are_searched_between_their_nodes_too():
    graph = netbo.interval(3.0)
    optimizer = Optimizer(graph, acquisition=UCB, candidates=Continuum(graph), noise=0.0, max_cell=0.05)
    for _ in range(20):
        suggestion = optimizer.ask()
        optimizer.tell(suggestion, bump(suggestion.point))

    assert optimizer.recommend().point.distance == pytest.approx(math.sqrt(2), abs=0.05)


def test_answers_use_the_grid():
    graph = LOLLIPOP
    optimizer = Optimizer(graph, fit=exact_network(), candidates=Continuum(graph), noise=0.01, seed=3)
    drive(optimizer, 12)

    assert sum(mode.probability for mode in optimizer.modes(draws=64)) <= 1 + 1e-12
    assert optimizer.search_list(draws=64).length <= graph.lengths.sum()


def test_a_mesh_free_model_is_built_on_the_network_of_the_mesh():
    space = FiniteElementSpace.build(LOLLIPOP, n_nodes=50)
    model = MeshFreeMatern(1.5)
    prior = model.build(space)

    assert isinstance(prior, MeshFreePrior)
    assert prior.graph is LOLLIPOP
    assert prior.matern.tau == 1.0
    assert model.label == "exact network alpha=1.5"
    assert replace(model, constant_variance=True).label == "exact network alpha=1.5, constant variance"
    assert replace(model, constant_variance=True).build(space).is_constant


# Arms of junctions


@pytest.mark.parametrize("graph", GRAPHS.values(), ids=GRAPHS)
@pytest.mark.parametrize("n_points", [40, 4000])
def test_every_arm_of_a_junction_has_a_point_and_the_pieces_are_the_network(graph, n_points):
    search = Continuum(graph, n_points=n_points, arms=True)
    plain = Continuum(graph, n_points=n_points)
    arms = search.points[len(plain.points) :]
    ends = np.concatenate([graph.tails, graph.heads])

    assert len(arms) == np.count_nonzero(graph.degrees[ends] > 2)
    assert np.all(
        np.minimum(arms.z, graph.lengths[arms.edge] - arms.z) <= 1.001e-3 * graph.lengths[arms.edge]
    )
    assert search.weights.sum() == pytest.approx(graph.total_length, rel=1e-12)
    assert (search.weights > 0).all()
    # each candidate lies in a piece of its own
    pieces = search.pieces
    for index, point in enumerate(search.points):
        own = pieces.owner == index
        at = (pieces.edge[own] == point.edge) & (pieces.start[own] <= point.z) & (point.z <= pieces.end[own])
        assert at.any()


def test_arms_in_what_is_forbidden_are_left_out():
    graph = netbo.star(4, length=2.0)
    search = Continuum(graph, n_points=40, arms=True, forbidden=Forbidden(stretches=[(1, 0.0, 0.5)]))

    assert 1 not in search.points[len(search.grid.points) :].edge
    assert len(search.points) - len(search.grid.points) == 3


def test_a_jump_at_a_junction_is_found_on_its_arm():
    """A queue on one arm alone: f = 1 at its end, 0 at those of the others."""
    graph = netbo.star(3, length=1.0)
    search = Continuum(graph, n_points=30, n_brackets=1, rounds=1, arms=True)
    at_tail = graph.tails[1] == 0 if graph.degrees[0] > 2 else graph.tails[1] == 3

    def queue(x):
        near = 1 - x.z if at_tail else x.z
        return np.where((x.edge == 1) & (near < 1), near, 0.0)

    found = search.maximize(queue, everywhere(search))
    assert (found.edge[0], queue(found)[0] > 0.998) == (1, True)


def test_fewer_rounds_stop_wider():
    graph = netbo.interval(1.0)
    places = [
        Continuum(graph, n_points=11, n_brackets=1, rounds=rounds).maximize(
            lambda x: -((x.z - 0.5312) ** 2), np.ones(11, dtype=bool)
        )
        for rounds in (1, None)
    ]

    assert abs(places[0].z[0] - 0.5312) <= 0.1 / 8
    assert abs(places[1].z[0] - 0.5312) < 1e-5


def test_a_deep_copy_is_searched_on_the_same_network():
    search = copy.deepcopy(Continuum(netbo.star(4), n_points=40, arms=True))

    assert len(search.maximize(lambda x: x.z, everywhere(search))) == 1


def test_a_maximum_at_a_junction_is_the_junction_or_the_point_on_an_arm():
    """A place still nearer is the same for whoever measures: nobody is sent there again and again."""
    graph = netbo.star(3)
    search = Continuum(graph, arms=True)
    everything = np.ones(len(search.points), dtype=np.bool_)
    junction = search.maximize(lambda x: -x.z, everything)
    arm = search.maximize(lambda x: np.where(x.z > 0, -x.z, -np.inf), everything)

    assert junction.z[0] == 0
    assert arm.z[0] == search.points.z[search.points.z > 0].min()


def test_a_maximum_at_a_dead_end_is_narrowed_down_to_it():
    graph = netbo.star(3)
    search = Continuum(graph, arms=True)
    everywhere = np.ones(len(search.points), dtype=np.bool_)
    found = search.maximize(lambda x: x.z - 2.0 * (x.z == graph.lengths[x.edge]), everywhere)

    assert graph.lengths[found.edge[0]] - found.z[0] <= 1e-5 * graph.lengths[found.edge[0]]


def test_what_an_arm_stands_for_ends_at_its_junction():
    """A stretch to search that begins at an arm holds the junction, for whoever walks it."""
    graph = netbo.star(3)
    search = Continuum(graph, arms=True)
    is_arm = np.arange(len(search.points)) >= len(search.grid.points)
    starts = search.pieces.start[is_arm[search.pieces.owner]]

    assert len(starts) == 3
    assert (starts <= 1e-9 * graph.lengths.max()).all()
