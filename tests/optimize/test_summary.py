import numpy as np
import pytest

import netbo
from netbo import FitBounds, Matern, MetricGraph, Optimizer
from netbo.optimize import EuclideanMatern, Given, Known, Learned, NetworkMatern
from netbo.optimize.summary import Summary, _kernel
from support.reference import contract_space

SPACE = contract_space()
GRAPH = MetricGraph([0, 1], [1, 2], [3.0, 4.0], edge_ids=["main", "side"], unit="km")


def network_optimizer(**settings):
    return Optimizer(GRAPH, max_cell=0.25, **({"noise": 0.01} | settings))


def line(summary, name):
    return next(fact for fact in summary.facts if fact.startswith(name))


def along(optimizer, n, f, seed=0):
    """Tell f of the distance from the far end of `main` at n places."""
    rng = np.random.default_rng(seed)
    for z in np.linspace(0.0, 7.0, n):
        point = GRAPH.points("main" if z <= 3 else "side", z if z <= 3 else z - 3)
        optimizer.tell(point, [f(z) + 0.1 * rng.standard_normal()])
    return optimizer


def test_before_any_value_there_is_little_to_say():
    optimizer = network_optimizer()
    optimizer.tell(optimizer.ask(), "failed")
    summary = optimizer.summary()

    assert summary.facts[-1] == "no values yet"
    assert summary.warnings == ()
    assert "1 failed" in str(summary)


def test_facts_are_in_the_users_words_and_unit():
    optimizer = along(network_optimizer(), 15, np.sin)
    summary, found, fit = optimizer.summary(), optimizer.recommend(), optimizer.outcome.fits
    fit = fit[optimizer.outcome.chosen]
    best = optimizer.best()

    assert "total length 7 km" in line(summary, "network")
    assert line(summary, "trials") == "trials     History(15 observed)"
    assert f"{best.value:.6g} at edge {best.point.edge_id!r}, {best.point.distance:.6g} km" in line(
        summary, "observed"
    )
    assert f"edge {found.point.edge_id!r}, {found.point.distance:.6g} km" in line(summary, "recommend")
    assert f"{found.mean:.6g} (95 %: {found.low:.6g} to {found.high:.6g})" in line(summary, "recommend")
    assert line(summary, "kernel").startswith("kernel     exact network alpha=1")
    assert f"{fit.prior.range:.3g} km" in line(summary, "range")
    assert "0.1 (given)" in line(summary, "noise sd")
    assert "leave-one-out over 15 values" in line(summary, "trust")


def test_another_unit_of_length_scales_what_is_said_and_nothing_else():
    metres = MetricGraph([0, 1], [1, 2], [3000.0, 4000.0], edge_ids=["main", "side"], unit="m")
    one = along(network_optimizer(), 12, np.sin)
    two = Optimizer(metres, max_cell=250.0, noise=0.01)
    for trial in one.history:
        two.tell(metres.points(trial.point.edge_id, 1000 * trial.point.z), [trial.value])

    assert two.outcome.fits[0].prior.range == pytest.approx(1000 * one.outcome.fits[0].prior.range, rel=1e-3)
    assert line(two.summary(), "range").split(":")[0].endswith(" m")
    assert two.recommend().point.distance == pytest.approx(1000 * one.recommend().point.distance)


@pytest.mark.parametrize(("noise", "said"), [(None, "learned"), (0.0, "values are exact"), (0.04, "given")])
def test_noise_says_where_it_comes_from(noise, said):
    optimizer = along(network_optimizer(noise=noise), 8, np.sin)

    assert f"({said})" in line(optimizer.summary(), "noise sd")


def test_noise_of_their_own_is_said_to_be_per_value():
    optimizer = network_optimizer(noise=None)
    optimizer.tell(GRAPH.points("main", [0.5, 1.0, 2.0]), [0.0, 1.0, 0.5], noise=0.1)

    assert "per value" in line(optimizer.summary(), "noise sd")


def test_a_known_kernel_is_said_to_be_known():
    prior = netbo.whittle_matern(SPACE, Matern(1.0, range=2.0))
    optimizer = Optimizer(SPACE, fit=Known(Given(prior)), noise=0.01)
    optimizer.tell(SPACE.nodes[:3], [0.0, 1.0, 2.0])

    assert line(optimizer.summary(), "kernel").endswith("known")


def test_of_several_kernels_the_lead_over_the_next_is_said():
    models = (NetworkMatern(0.5), NetworkMatern(1.0), EuclideanMatern(0.5))
    optimizer = Optimizer(SPACE, fit=Learned(models=models), noise=0.01)
    rng = np.random.default_rng(0)
    optimizer.tell(SPACE.nodes[rng.choice(len(SPACE.nodes), 12)], rng.standard_normal(12))
    outcome = optimizer.outcome
    evidence = sorted((fit.log_evidence for fit in outcome.fits), reverse=True)
    text = line(optimizer.summary(), "kernel")

    assert f"{evidence[0] - evidence[1]:.2f} in log odds ahead of" in text
    assert f"weight {outcome.weights.max():.0%}" in text


def test_the_next_kernel_is_the_next_even_if_all_weights_but_one_vanish():
    class FakeOutcome:
        labels = ("a", "b", "c")
        log_odds = (-3000.0, -1000.0, 0.0)
        weights = np.array([0.0, 0.0, 1.0])
        chosen = 2

    assert _kernel(FakeOutcome()) == "c (weight 100%; 1000.00 in log odds ahead of b)"


@pytest.mark.parametrize("n", [1, 2, 3, 4])
def test_before_five_values_nothing_is_said_of_how_sure_the_model_is(n):
    """A fit to so few takes them for all there is: one value would give a hair's breadth of an interval."""
    optimizer = along(network_optimizer(noise=None), 5, np.sin)
    for trial in range(n, 5):
        optimizer.withdraw(trial)
    summary, found = optimizer.summary(), optimizer.recommend()

    assert summary.doubt == "too few values to say"
    assert line(summary, "recommend").endswith(f": {found.mean:.6g} (95 %: too few values to say)")
    assert line(summary, "range") == "range      too few values to say"
    assert line(summary, "noise sd") == "noise sd   too few values to say"
    assert "%" not in str(optimizer.check())
    assert found.low < found.mean < found.high


def test_from_five_values_on_there_is_an_interval():
    optimizer = along(network_optimizer(noise=None), 5, np.sin)

    assert optimizer.summary().doubt is None
    assert f"to {optimizer.recommend().high:.6g})" in line(optimizer.summary(), "recommend")


def test_equal_values_say_nothing_of_how_sure_the_model_is():
    """What is learned from them is the bound of the fit, however many they are."""
    optimizer = network_optimizer(noise=None)
    optimizer.tell(GRAPH.points("side", np.linspace(0.0, 4.0, 8)), np.full(8, 37.65))
    summary = optimizer.summary()

    assert summary.doubt == "all values are equal, too little to say"
    assert line(summary, "recommend").endswith("(95 %: all values are equal, too little to say)")
    assert any("stopped at its bound" in text for text in summary.warnings)


def test_long_distances_have_no_exponent():
    far = MetricGraph([0], [1], [5_000_000.0], edge_ids=["coast"], unit="m")
    optimizer = Optimizer(far, noise=0.01)
    optimizer.tell(far.points("coast", 1_234_567.891), [1.0])

    assert "at edge 'coast', 1234567.89 m" in line(optimizer.summary(), "observed")
    assert "at edge 'coast', 1234567.89 m" in repr(netbo.optimize.Result(optimizer, "tired"))


def test_a_wild_value_is_named():
    optimizer = along(network_optimizer(), 16, np.sin)
    wild = optimizer.tell(GRAPH.points("side", 1.9), [25.0])[0]
    warnings = [text for text in optimizer.summary().warnings if "is wild" in text]

    assert any(text.startswith(f"trial {wild} is wild: 25, where all others predict") for text in warnings)


@pytest.mark.parametrize(
    ("bounds", "name", "warning"),
    [
        (FitBounds(range=(0.01, 0.02)), "range", "the range stopped at its bound"),
        (FitBounds(noise_ratio=(0.5, 1.0)), "noise_ratio", "the noise stopped at its bound"),
        (FitBounds(sigma=(1e-3, 1e-2)), "sigma", "the standard deviation of the function stopped at its"),
    ],
)
def test_a_parameter_at_its_bound_is_a_warning(bounds, name, warning):
    """A smooth wave without noise, where short ranges, small waves or much noise are all that is allowed."""
    optimizer = network_optimizer(fit=Learned(bounds=bounds), noise=None)
    z = np.linspace(0.0, 3.0, 12)
    optimizer.tell(GRAPH.points("main", z), np.sin(2 * z))
    texts = [text for text in optimizer.summary().warnings if text.startswith(warning)]

    assert name in optimizer.outcome.fits[0].at_bound
    assert len(texts) == 1


def test_an_overconfident_model_is_a_warning():
    """Noise of standard deviation 1 under a model that knows it to be 0.05."""
    prior = netbo.whittle_matern(SPACE, Matern(1.0, range=5.0, sigma=0.5))
    optimizer = Optimizer(SPACE, fit=Known(Given(prior)), noise=0.05**2)
    optimizer.tell(SPACE.nodes, np.random.default_rng(0).standard_normal(len(SPACE.nodes)))

    assert any(text.startswith("only ") and "overconfident" in text for text in optimizer.summary().warnings)


def test_failures_are_counted_in_a_warning():
    optimizer = along(network_optimizer(), 8, np.sin)
    optimizer.tell(optimizer.ask(2), ["failed", np.nan])

    assert "2 failed, and their places are not asked for again" in optimizer.summary().warnings


def test_each_warning_has_its_line():
    fit = Learned(bounds=FitBounds(range=(0.01, 0.02)))
    optimizer = along(network_optimizer(fit=fit), 12, np.sin)
    optimizer.tell(GRAPH.points("side", 1.9), [-5e3])
    optimizer.tell(optimizer.ask(), "failed")
    summary = optimizer.summary()
    lines = str(summary).split("\n")

    assert len(summary.warnings) >= 2
    assert lines == [*summary.facts, *(f"warning: {text}" for text in summary.warnings)]
    assert not any("\n" in text for text in (*summary.facts, *summary.warnings))
    assert repr(summary) == str(summary)
    assert isinstance(summary, Summary)


def test_one_value_is_enough_for_a_summary():
    optimizer = network_optimizer(noise=None)
    optimizer.tell(optimizer.ask(), 3.0)

    assert "1 observed" in str(optimizer.summary())


def test_kernels_that_take_no_part_are_named(monkeypatch):
    monkeypatch.setattr("netbo.optimize.models.LARGEST_NETWORK", 1)
    optimizer = along(Optimizer(GRAPH, noise=0.01), 6, np.sin)

    assert line(optimizer.summary(), "without") == "without    edge by edge: more than 1 edges (2)"
