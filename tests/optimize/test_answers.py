"""An optimizer, a result and a study answer the same questions, and alike."""

import json
import math
import subprocess
import sys

import matplotlib as mpl
import matplotlib.pyplot as plt
import numpy as np
import optuna
import pytest
from numpy.testing import assert_array_equal

from netbo import Matern, Optimizer, Result, Study, interval, open_rectangle, whittle_matern
from netbo.errors import ObservationError, ParameterError
from netbo.optimize import Answers, Continuum, Given, Known

mpl.use("Agg")

GRAPH, ROAD = open_rectangle(), interval(2.0)
PLACES = GRAPH.points([0, 1, 2, 3, 3], [0.5, 1.0, 0.5, 1.0, 2.0])
VALUES = [1.0, 3.0, math.nan, 2.0, 5.0]
OPTIONS = {"noise": 0.01, "max_cell": 0.5, "seed": 3, "direction": "minimize"}


def told_optimizer(values=VALUES):
    optimizer = Optimizer(GRAPH, **OPTIONS)
    optimizer.tell(PLACES[: len(values)], values)
    return optimizer


def ended_run(values=VALUES):
    return Result(told_optimizer(values), "tired")


def stored_study(values=VALUES):
    study = Study.create(GRAPH, name="stored", storage=optuna.storages.InMemoryStorage(), **OPTIONS)
    for point, value in zip(PLACES, values, strict=False):
        study.add_observation(point, value)
    return study


KINDS = {"optimizer": told_optimizer, "result": ended_run, "study": stored_study}


@pytest.fixture(params=KINDS)
def make(request):
    yield KINDS[request.param]
    plt.close("all")


def test_answers_are_the_same(make):
    found, expected = make(), told_optimizer()

    assert isinstance(found, Answers)
    assert found.best() == expected.best()
    assert found.best().value == 1.0
    assert found.recommend() == expected.recommend()
    assert found.modes(2, 1.0, level=0.8, draws=50) == expected.modes(2, 1.0, level=0.8, draws=50)
    assert str(found.search_list(0.5, draws=50)) == str(expected.search_list(0.5, draws=50))
    assert str(found.summary()) == str(expected.summary())
    assert_array_equal(found.check().predicted, expected.check().predicted)
    assert_array_equal(found.posterior.mean(PLACES), expected.posterior.mean(PLACES))


@pytest.mark.parametrize("what", ["mean", "probability"])
def test_maps_are_one_call(make, what):
    ax = make().plot(what=what, label="level")
    marks = {each.get_label() for each in ax.collections}

    assert {"failed", "observed", "recommended"} <= marks


def test_profiles_and_convergence_are_one_call(make):
    found = make()
    profile, convergence = found.plot_profile(edges=[0]), found.plot_convergence(label="level")
    lines = {line.get_label(): line.get_ydata() for line in convergence.lines}

    assert profile.get_xlabel() == "distance along the edges"
    assert_array_equal(lines["best so far"], [1, 1, 1, 1, 1])


def test_a_page_to_look_around_in_is_one_call(make):
    found = make()

    assert "<title>so far</title>" in found.explore(title="so far").html
    assert "<title>so far</title>" in found.plot_interactive(title="so far").html


def test_files_are_one_call(make, tmp_path):
    found = make()
    table, page = found.export(tmp_path / "so-far.csv"), found.write_page(tmp_path / "so-far.html")

    assert len(table.read_text().splitlines()) == 1 + len(VALUES)
    data = json.loads(page.read_text().partition('id="data">')[2].partition("</script>")[0])
    assert data["state"]["model"]["recommend"]["mean"] == found.recommend().mean
    assert any(fact.startswith("stopped") for fact in data["state"]["model"]["facts"]) is isinstance(
        found, Result
    )


def test_answers_need_a_value(make):
    found = make([math.nan])
    for ask in (found.best, found.recommend, found.check, found.plot, found.modes, found.search_list):
        with pytest.raises(ObservationError, match="needs at least one observation"):
            ask()

    assert "no values yet" in str(found.summary())


def test_an_optimizer_is_its_own():
    optimizer = told_optimizer()

    assert optimizer.optimizer is optimizer


def test_pictures_are_loaded_when_one_is_asked_for():
    script = (
        "import sys, netbo; o = netbo.Optimizer(netbo.interval(1.0), noise=0.1, max_cell=0.2);"
        "o.tell(o.ask(), 1.0); o.recommend(); o.summary(); print('matplotlib' in sys.modules)"
    )
    shown = subprocess.run([sys.executable, "-c", script], capture_output=True, text=True, check=True)

    assert shown.stdout.strip() == "False"


def test_the_best_value_is_believed_to_be_no_less_than_an_exact_one():
    up, down = (Optimizer(ROAD, noise=0.0, direction=each) for each in ("maximize", "minimize"))
    x, values = ROAD.points(0, [0.11, 0.7, 1.31, 1.9]), np.array([0.0, 1.0, 3.0, 0.5])
    up.tell(x, values)
    down.tell(x, -values)
    found, turned = up.optimum(draws=200), down.optimum(draws=200)

    assert found.low >= 3.0 - 1e-3
    assert found.low <= found.mean <= found.high
    assert turned.high <= -3.0 + 1e-3
    assert up.optimum(0.5, draws=200).high < found.high


def test_the_interval_of_the_best_value_is_wider_where_the_model_was_wrong():
    """A kernel far too smooth for jagged values predicts none of them: its sample paths know too much."""
    prior = whittle_matern(ROAD, Matern(2.0, range=1.0, sigma=1.0))
    found = Optimizer(ROAD, noise=1e-4, fit=Known(Given(prior)))
    found.tell(ROAD.points(0, [0.2, 0.5, 0.8, 1.1, 1.4, 1.7]), [0.3, -0.3, 0.3, -0.3, 0.3, -0.3])
    worst = float(np.abs(found.check().standardized).max())
    sure, said = found.recommend(), found.optimum(draws=200)

    assert worst > 3
    assert said.high - sure.mean >= worst / 1.3 * (sure.high - sure.mean) * (1 - 1e-3)
    assert said.low <= sure.low


def test_the_level_of_the_best_value_is_a_probability():
    with pytest.raises(ParameterError, match=r"level must be a probability between 0 and 1, got 95; 0.95 is"):
        told_optimizer().optimum(95)


def test_a_place_nobody_measured_is_recommended_if_it_is_surely_better():
    """A smooth peak between two equal values is sure; one exact value above another is not.

    A value with noise is itself not sure: then the best mean counts.
    """
    prior = whittle_matern(ROAD, Matern(alpha=2.0, range=2.0, sigma=1.0))
    known = {"fit": Known(Given(prior)), "candidates": Continuum(ROAD)}
    sure, unsure, noisy = (Optimizer(ROAD, **known, noise=noise) for noise in (0.0, 0.0, 0.04))
    z = np.linspace(0.1, 1.9, 10)
    sure.tell(ROAD.points(0, z), np.cos(3 * (z - 1.0)))
    unsure.tell(ROAD.points(0, [0.3, 1.7]), [1.0, 0.9])
    noisy.tell(ROAD.points(0, [0.3, 1.7]), [1.0, 0.9])

    assert sure.recommend().point.distance == pytest.approx(1.0, abs=0.02)
    assert unsure.recommend().point.distance == pytest.approx(0.3)
    assert noisy.recommend().point.distance != pytest.approx(0.3, abs=1e-3)
