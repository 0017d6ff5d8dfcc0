"""Options are spelled once: every entry point takes the same ones, and refuses the others."""

import re
from dataclasses import replace
from inspect import signature

import optuna
import pytest

from netbo import Forbidden, Matern, Optimizer, interval, maximize, minimize, star, whittle_matern
from netbo.errors import OptionError, ParameterError
from netbo.integrations.optuna import NetworkSampler
from netbo.optimize import (
    CALIBRATED,
    PAPER,
    Continuum,
    EdgewiseMatern,
    KMedian,
    Learned,
    Maximin,
    MeshFreeMatern,
    Metric,
    NetworkMatern,
    RandomDesign,
)
from netbo.optimize.arguments import OptimizerOptions

GRAPH = interval(2.0)


def height(x):
    return -((x.distance - 1) ** 2)


def sampler(**options):
    return NetworkSampler(GRAPH, **options)


def maximum(**options):
    return maximize(height, GRAPH, budget=3, **options).optimizer


def minimum(**options):
    return minimize(height, GRAPH, budget=3, **options).optimizer


def optimizer(**options):
    return Optimizer(GRAPH, **options)


MAKERS = [optimizer, maximum, minimum]


def test_the_options_are_those_of_an_optimizer():
    own = set(signature(Optimizer).parameters) - {"domain", "direction", "seed", "history"}

    assert set(OptimizerOptions.__annotations__) == own


def test_smoothness_and_variance_change_the_kernel_of_the_preset():
    made = Optimizer(GRAPH, preset="paper", alpha=1.5, constant_variance=True)

    assert made.fit.models == (NetworkMatern(1.5, constant_variance=True),)
    assert made.fit.every_step
    assert Optimizer(GRAPH, preset="calibrated", alpha=0.5).fit.models == (NetworkMatern(0.5),)
    assert Optimizer(GRAPH, alpha=0.75).fit.models == (MeshFreeMatern(0.75),)
    level = Optimizer(GRAPH, constant_variance=True).fit.models
    assert level == (MeshFreeMatern(constant_variance=True), EdgewiseMatern())  # which has no other


@pytest.mark.parametrize(
    ("domain", "options"),
    [
        (GRAPH, {"fit": Learned(), "alpha": 1.5}),
        (GRAPH, {"preset": "paper-euclidean", "constant_variance": True}),
        (whittle_matern(GRAPH, Matern(1.0, range=1.0)), {"alpha": 1.5}),
    ],
)
def test_smoothness_and_variance_of_a_kernel_of_your_own_are_said_there(domain, options):
    with pytest.raises(
        ParameterError, match=r"only the network kernel of a preset is changed by .* got a surrogate without"
    ):
        Optimizer(domain, **options)


@pytest.mark.parametrize("option", [{"alpha": 0.2}, {"alpha": "x"}, {"constant_variance": "yes"}])
def test_smoothness_and_variance_outside_their_domain_are_refused_at_once(option):
    with pytest.raises(ParameterError, match=r"must be|alpha"):
        Optimizer(GRAPH, **option)


@pytest.mark.parametrize("function", [maximum, minimum, sampler])
def test_options_that_do_not_exist_are_refused_with_the_one_that_was_meant(function):
    for error in (OptionError, TypeError, ParameterError):
        with pytest.raises(error, match=r"options of .* are .*noise.*, got nois=0\.1; did you mean noise\?"):
            function(nois=0.1)


def test_options_of_the_call_itself_are_among_those_that_may_be_meant():
    with pytest.raises(OptionError, match=r"got executer=2; did you mean executor\?"):
        maximum(executer=2)
    with pytest.raises(OptionError, match=r"options of maximize are budget, .* got direction='minimize'"):
        maximum(direction="minimize")


@pytest.mark.parametrize("make", MAKERS)
def test_a_design_is_an_object_or_how_many_places_it_has(make):
    assert make(design=3).design == KMedian(3)
    assert make(design=RandomDesign(2)).design == RandomDesign(2)


def test_a_number_of_places_keeps_the_kind_of_design_that_a_preset_has():
    drawn = star(3)
    random = replace(CALIBRATED, design=RandomDesign(9))

    assert Optimizer(drawn, preset="paper", design=3).design == Maximin(3, Metric.EUCLIDEAN)
    assert Optimizer(drawn, preset=PAPER).design == PAPER.design
    assert Optimizer(drawn, preset=random, design=4).design == RandomDesign(4)


@pytest.mark.parametrize("given", ["8", True, 2.5, [8]])
def test_other_designs_are_refused(given):
    message = f"design must be a design or how many places it has, got {given!r}"
    with pytest.raises(ParameterError, match=re.escape(message)):
        Optimizer(GRAPH, design=given)


def test_a_design_needs_a_place():
    with pytest.raises(ParameterError, match="a design needs at least one measurement, got size=0"):
        Optimizer(GRAPH, design=0)


def test_a_number_needs_a_design_whose_size_can_be_set():
    class Middle:
        size = 1

        def next(self, graph, candidates, known, allowed, rng):
            return len(candidates) // 2

    preset = replace(CALIBRATED, design=Middle())

    assert Optimizer(GRAPH, preset=preset).design is preset.design
    with pytest.raises(ParameterError, match=r"a number as design needs a preset .* as in Maximin\(4\)"):
        Optimizer(GRAPH, preset=preset, design=4)


@pytest.mark.parametrize("make", MAKERS)
def test_candidates_are_the_same_everywhere(make):
    points = GRAPH.points([0, 0], [0.5, 1.5])
    grid = Continuum(GRAPH, n_points=50)

    assert isinstance(make(candidates="continuum").search, Continuum)
    assert make(candidates=grid).search is grid
    assert make(candidates=points).search.points == points
    assert make(candidates=Forbidden(stretches=[(0, 0.5, 1.0)])).search.forbidden.stretches
    assert make(candidates=None).search.points is not None
    with pytest.raises(ParameterError, match=r"candidates must be points, .* or 'continuum', got 'nodes'"):
        make(candidates="nodes")


def test_the_word_is_the_object():
    word, same = (Optimizer(GRAPH, candidates=c, noise=0.0) for c in ("continuum", Continuum(GRAPH)))
    for each in (word, same):
        for suggestion in each.ask(8):
            each.tell(suggestion, height(suggestion.point))

    assert word.ask().point == same.ask().point


def test_a_sampler_takes_them_too():
    study = optuna.create_study(direction="maximize", sampler=sampler(design=3, candidates="continuum"))
    study.optimize(lambda trial: height(study.sampler.suggest(trial)), n_trials=5)

    assert len(study.trials) == 5
