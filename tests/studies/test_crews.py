import numpy as np
import pytest

import netbo
from netbo.errors import ExhaustedError, ParameterError
from netbo.optimize.travel import Travel
from netbo.studies import Crew, StudyError
from support.studies import GRAPH, JumpingClock, create, height, load


def way(first, second):
    return float(
        GRAPH.distance(netbo.Points.at(first, graph=GRAPH), netbo.Points.at(second, graph=GRAPH))[0, 0]
    )


def measured(folder, n=8, **options):
    """A study past its design."""
    study = create(folder, **options)
    for _ in range(n):
        suggestion = study.ask()
        study.tell(suggestion, height(suggestion.point))
    return study


def test_each_crew_gets_one_place_apart_from_the_others(tmp_path):
    study = measured(tmp_path, separation=0.5)
    crews = [Crew(name) for name in ("north", "east", "west")]
    found = study.ask(crews=crews)
    apart = [way(a.point, b.point) for a in found for b in found if a.id < b.id]

    assert [study.records[s.id].worker for s in found] == ["north", "east", "west"]
    assert min(apart) >= 0.5


@pytest.mark.parametrize("n", [0, 8])
def test_no_crew_is_sent_beyond_its_radius(tmp_path, n):
    """In the design as well as after it."""
    study = measured(tmp_path, n)
    starts = [GRAPH.points(edge, 1.8)[0] for edge in range(3)]
    found = study.ask(crews=[Crew(f"crew {p.edge}", at=p, radius=0.5) for p in starts])

    assert all(way(start, s.point) <= 0.5 for start, s in zip(starts, found, strict=True))


def test_a_crew_is_where_its_last_trial_was(tmp_path):
    study = measured(tmp_path)
    crew = Crew("north", radius=0.3)
    (first,) = study.ask(crews=[Crew("north", at=GRAPH.points(2, 1.5)[0], radius=0.3)])
    study.tell(first, 0.0)
    (second,) = load(tmp_path).ask(crews=[crew])

    assert way(first.point, second.point) <= 0.3


def test_a_crew_without_a_trial_may_go_anywhere(tmp_path):
    study = measured(tmp_path)
    bare = study.optimizer.propose()

    assert study.ask(crews=[Crew("new", radius=0.1, travel_cost=5.0)])[0].point == bare


def test_dear_travel_keeps_a_crew_near_and_cheap_travel_does_not(tmp_path):
    study = measured(tmp_path)
    start = GRAPH.points(2, 1.5)[0]
    free = study.optimizer.propose(Travel(start))
    dear = study.optimizer.propose(Travel(start, cost=1e6))

    assert free == study.optimizer.propose()
    assert way(start, dear) <= 0.25 / 2  # the nearest node of the mesh
    assert way(start, dear) <= way(start, free)


def test_the_score_minus_the_cost_of_the_way_is_maximized():
    """Against a scan of all candidates, with an acquisition without randomness."""
    space = netbo.FiniteElementSpace.build(GRAPH, max_cell=0.25)
    optimizer = netbo.Optimizer(space, noise=0.01, seed=1, acquisition="ucb")
    for suggestion in optimizer.ask(9):
        optimizer.tell(suggestion, height(suggestion.point))
    start, cost = GRAPH.points(0, 1.7), 0.35
    known, x = optimizer.posterior, optimizer.search.points
    width = optimizer.acquisition.scores(known, x, np.random.default_rng(0))
    worth = width - cost * GRAPH.distance(start, x)[0]
    best = x[int(np.argmax(worth))]

    assert optimizer.ask(travel=Travel(start[0], cost=cost)).point == best


def test_on_the_continuum_a_crew_stays_within_its_radius():
    search = netbo.optimize.Continuum(GRAPH, n_points=60)
    optimizer = netbo.Optimizer(GRAPH, noise=0.01, seed=1, max_cell=0.25, candidates=search)
    for suggestion in optimizer.ask(9):
        optimizer.tell(suggestion, height(suggestion.point))
    start = GRAPH.points(0, 1.7)[0]

    for suggestion in optimizer.ask(4, travel=Travel(start, radius=0.4)):
        assert way(start, suggestion.point) <= 0.4


def test_a_crew_is_not_sent_to_another_component():
    apart = netbo.MetricGraph([0, 2], [1, 3], [1.0, 1.0])
    optimizer = netbo.Optimizer(apart, noise=0.01, seed=0, max_cell=0.25)
    start = Travel(apart.points(0, 0.5)[0], cost=0.1)

    assert {suggestion.point.edge for suggestion in optimizer.ask(3, travel=start)} == {0}


def test_a_radius_without_candidates_is_said(tmp_path):
    study = measured(tmp_path, candidates=GRAPH.points([0, 1], [1.0, 1.0]))
    crew = Crew("north", at=GRAPH.points(2, 2.0)[0], radius=0.5)

    with pytest.raises(ExhaustedError, match=r"no open candidate can be reached from edge 2, 2 within 0\.5"):
        study.ask(crews=[crew])


def test_the_place_of_the_dead_goes_to_a_crew_that_can_reach_it(tmp_path):
    clock = JumpingClock()
    study = measured(tmp_path, lease=10.0, clock=clock)
    study.enqueue((2, 1.9))
    dead = study.ask()
    clock.jump(11.0)
    far, near = (
        Crew(name, at=GRAPH.points(edge, 1.9)[0], radius=0.5) for name, edge in [("far", 0), ("near", 2)]
    )
    found = study.ask(crews=[far, near])

    assert found[0].point.edge == 0
    assert found[1].point == dead.point


@pytest.mark.parametrize("crews", [[], ["north"], [Crew("north"), None]])
def test_crews_are_crews(tmp_path, crews):
    with pytest.raises(ParameterError, match="crews must be Crew objects, one a suggestion"):
        create(tmp_path).ask(crews=crews)


@pytest.mark.parametrize("name", ["", None, 5])
def test_a_crew_needs_a_name(name):
    with pytest.raises(StudyError, match="a crew needs a name, got"):
        Crew(name)


@pytest.mark.parametrize("cost", [-1.0, float("nan"), float("inf")])
def test_a_cost_is_not_negative(cost):
    with pytest.raises(ParameterError, match="cost must be a score for each unit of length"):
        Travel(GRAPH.points(0, 1.0)[0], cost=cost)


@pytest.mark.parametrize("radius", [0.0, -1.0, float("nan")])
def test_a_radius_is_a_length(radius):
    with pytest.raises(ParameterError, match="radius must be a positive length"):
        Travel(GRAPH.points(0, 1.0)[0], radius=radius)
