"""Parameters by maximum likelihood: recovered, bounded, global in the range."""

import numpy as np
import pytest
from numpy.testing import assert_allclose
from scipy.optimize import minimize_scalar

import netbo
from netbo import ESTIMATED, Amplitude, FitBounds, Matern, Observations, condition, fit_parameters
from netbo.errors import NumericalError, ObservationError, ParameterError
from netbo.optimize import EuclideanMatern
from netbo.posterior import Belief, Beliefs, fitting
from netbo.posterior.block import BlockPosterior
from netbo.priors import sum_of
from support.reference import contract_graph

DIAMETER = 75.0


def rectangle() -> netbo.FiniteElementSpace:
    return netbo.FiniteElementSpace.build(netbo.open_rectangle(), max_cell=0.5)


def prior_of(length=10.0, sigma=1.0, alpha=1.0) -> netbo.Prior:
    return netbo.whittle_matern(rectangle(), Matern(alpha=alpha, range=length, sigma=sigma))


def simulated(prior, n, noise, seed, mean=5.0) -> Observations:
    """Noisy values of a sample path plus a constant at random points."""
    rng = np.random.default_rng(seed)
    x = netbo.uniform_points(prior.graph, n, rng)
    return Observations(x, mean + prior.sample(x, rng) + np.sqrt(noise) * rng.standard_normal(n))


def recorded(monkeypatch) -> list[tuple[float, float, float | None]]:
    """Range, sigma and noise of every evidence to be evaluated."""
    seen, terms = [], BlockPosterior.evidence_terms

    def spy(self):
        seen.append((self.prior.range, self.prior.sigma, self.regularization))
        return terms(self)

    monkeypatch.setattr(BlockPosterior, "evidence_terms", spy)
    return seen


def test_parameters_of_a_simulated_field_are_recovered():
    """Median over 20 simulations; its standard error, from their spread, is 1.25 sd / sqrt(20).

    Five standard errors leave room for the known small bias of maximum likelihood.
    """
    truth, noise = prior_of(10.0, 2.0), 0.02
    logs = []
    for seed in range(20):
        fit = fit_parameters(prior_of(40.0), simulated(truth, 60, noise, seed))
        logs.append(np.log([fit.prior.range / 10.0, fit.prior.sigma / 2.0, fit.regularization / noise]))
    error, spread = np.median(logs, axis=0), np.std(logs, axis=0)

    assert np.all(np.abs(error) < 5 * 1.25 * spread / np.sqrt(20))
    assert np.all(spread < [0.5, 0.5, 0.5])


def test_the_fit_is_what_its_posterior_says():
    data = simulated(prior_of(), 30, 0.05, 0)
    fit = fit_parameters(prior_of(40.0), data)

    assert fit.posterior.log_evidence() == pytest.approx(fit.log_evidence, rel=1e-9)
    assert fit.prior is fit.posterior.prior
    assert fit.mean == fit.posterior.estimated_mean
    assert fit.converged
    assert fit.at_bound == ()


@pytest.mark.parametrize(
    "options",
    [
        {},
        {"regularization": 0.05},
        {"amplitude": Amplitude.FIXED_SIGMA},
        {"amplitude": Amplitude.FIXED_TAU, "regularization": 0.05},
        {"amplitude": Amplitude.FIXED_TAU},
    ],
)
@pytest.mark.parametrize(
    "bounds", [None, FitBounds(range=(0.05, 0.1), sigma=(0.5, 2), noise_ratio=(0.1, 0.2))]
)
def test_no_evaluation_leaves_the_bounds(monkeypatch, options, bounds):
    """Range in diameters, sigma in spreads of y, rho = noise / sigma^2; also where the optimum is outside."""
    data = simulated(prior_of(), 25, 0.05, 1)
    seen = recorded(monkeypatch)
    fit = fit_parameters(prior_of(40.0), data, bounds=bounds, **options)
    limits = bounds or FitBounds()
    ranges, sigmas, noises = np.array(seen, dtype=float).T
    slack = 1 + 1e-9

    assert len(seen) >= fit.evaluations
    assert np.all(
        (ranges * slack >= DIAMETER * limits.range[0]) & (ranges <= slack * DIAMETER * limits.range[1])
    )
    if "regularization" not in options:
        ratios = noises / sigmas**2
        low, high = limits.noise_ratio

        assert np.all((ratios * slack >= low) & (ratios <= slack * high))
    if "amplitude" not in options:
        spread = data.values.std()

        assert limits.sigma[0] * spread <= fit.prior.sigma * slack
        assert fit.prior.sigma <= limits.sigma[1] * spread * slack


@pytest.mark.parametrize("n", [4, 7, 12])
@pytest.mark.parametrize("seed", range(6))
def test_the_mode_in_the_range_is_the_global_one(n, seed):
    """Few data make several modes; the twin is a grid of 300 ranges, the start a hundred times too small."""
    truth = prior_of(12.0)
    data = simulated(truth, n, 0.01, seed, mean=0.0)
    fit = fit_parameters(prior_of(0.1), data, regularization=0.01, mean=0.0, amplitude=Amplitude.FIXED_SIGMA)
    ranges = DIAMETER * np.geomspace(*FitBounds().range, 300)
    best = max(condition(truth.rescaled(range=r), data, regularization=0.01).log_evidence() for r in ranges)

    assert fit.log_evidence > best - 1e-6


def test_the_start_of_the_prior_does_not_matter():
    data = simulated(prior_of(), 25, 0.05, 3)
    fits = [fit_parameters(prior_of(length, sigma), data) for length, sigma in ((0.1, 1e-3), (700.0, 1e3))]

    assert fits[0].log_evidence == pytest.approx(fits[1].log_evidence, abs=1e-6)


def test_the_closed_form_of_the_amplitude_is_the_numerical_maximum():
    """At fixed range and rho, over sigma with noise = rho sigma^2."""
    data = simulated(prior_of(), 30, 0.05, 4)
    fit = fit_parameters(prior_of(40.0), data)
    rho = fit.regularization / fit.prior.sigma**2

    def loss(log_sigma):
        sigma = np.exp(log_sigma)
        prior = fit.prior.rescaled(sigma=sigma)
        return -condition(prior, data, regularization=rho * sigma**2, mean=ESTIMATED).log_evidence()

    found = minimize_scalar(loss, bounds=(-5.0, 5.0), method="bounded", options={"xatol": 1e-10})

    assert np.log(fit.prior.sigma) == pytest.approx(found.x, abs=1e-5)
    assert fit.log_evidence == pytest.approx(-found.fun, rel=1e-10)


@pytest.mark.parametrize("alpha", [0.5, 1.0, 2.0])
@pytest.mark.parametrize(
    ("options", "free"),
    [
        ({}, [0, 1, 2]),
        ({"regularization": 0.05}, [0, 1]),
        ({"amplitude": Amplitude.FIXED_SIGMA}, [0, 2]),
        ({"amplitude": Amplitude.FIXED_SIGMA, "regularization": 0.05}, [0]),
        ({"mean": 5.0}, [0, 1, 2]),
    ],
)
def test_the_gradient_vanishes_in_free_directions(options, free, alpha):
    """To 0.01 in log units, far below one unit of log evidence."""
    data = simulated(prior_of(alpha=alpha), 40, 0.05, 5)
    fit = fit_parameters(prior_of(30.0, alpha=alpha), data, **options)
    gradient = np.array(fit.posterior.log_evidence_gradient())

    assert fit.at_bound == ()
    assert_allclose(gradient[free], 0.0, atol=1e-2)


@pytest.mark.parametrize("beliefs", [Beliefs(), Beliefs(Belief(0.2, 1.5), Belief(0.01, 2.0))])
@pytest.mark.parametrize("own", [0, 15, 40])
@pytest.mark.parametrize("amplitude", list(Amplitude))
@pytest.mark.parametrize("regularization", [None, 0.05])
def test_the_search_follows_its_true_gradient(regularization, amplitude, own, beliefs):
    """Away from the optimum, in whatever is free: a wrong slope would only show as a slow search."""
    data = simulated(prior_of(), 40, 0.05, 5)
    noise = np.where(np.arange(40) < own, 0.05, np.nan)
    search = fitting._Search(
        prior_of(20.0),
        Observations(data.points, data.values, noise),
        regularization,
        ESTIMATED,
        amplitude,
        FitBounds(),
        beliefs,
    )
    v, step = search.limits @ [0.6, 0.4], 1e-5
    slopes = [(search.loss(v + step * e) - search.loss(v - step * e)) / (2 * step) for e in np.eye(len(v))]

    assert_allclose(search.loss_and_gradient(v)[1], slopes, rtol=1e-6, atol=1e-5)


def test_a_fixed_tau_stays_and_sigma_follows():
    """The paper's way: alg: benchmarks fits kappa alone."""
    data = simulated(prior_of(), 25, 0.05, 6)
    prior = netbo.whittle_matern(rectangle(), Matern(alpha=1.0, kappa=0.7, tau=1.0))
    fit = fit_parameters(prior, data, regularization=0.05, amplitude=Amplitude.FIXED_TAU)
    step = 1e-4
    nearby = [
        condition(
            netbo.whittle_matern(rectangle(), Matern(alpha=1.0, kappa=fit.prior.matern.kappa * f, tau=1.0)),
            data,
            regularization=0.05,
            mean=ESTIMATED,
        ).log_evidence()
        for f in (1 - step, 1 + step)
    ]

    assert fit.prior.matern.tau == pytest.approx(1.0, rel=1e-12)
    assert fit.prior.range != prior.range
    assert max(nearby) <= fit.log_evidence + 1e-6
    assert abs(nearby[1] - nearby[0]) / (2 * step) < 1e-2


def test_a_fixed_sigma_stays():
    data = simulated(prior_of(), 25, 0.05, 7)
    fit = fit_parameters(prior_of(30.0, 1.7), data, amplitude=Amplitude.FIXED_SIGMA)

    assert fit.prior.sigma == pytest.approx(1.7, rel=1e-13)


def test_a_warm_start_reaches_the_same_with_less():
    """As when one observation is added to many."""
    data = simulated(prior_of(), 41, 0.05, 8)
    before = fit_parameters(prior_of(), Observations(data.points[:40], data.values[:40]))
    cold = fit_parameters(prior_of(), data)
    warm = fit_parameters(prior_of(), data, start=before)

    assert warm.log_evidence == pytest.approx(cold.log_evidence, abs=1e-4)
    assert warm.evaluations < cold.evaluations / 2


@pytest.mark.parametrize("options", [{"regularization": 0.05}, {"amplitude": Amplitude.FIXED_SIGMA}])
def test_a_warm_start_may_come_from_a_fit_of_another_kind(options):
    """Parameters that were free there and are not here, and the other way round."""
    data = simulated(prior_of(), 40, 0.05, 9)
    free, other = fit_parameters(prior_of(), data), fit_parameters(prior_of(), data, **options)

    assert fit_parameters(prior_of(), data, start=other).log_evidence == pytest.approx(
        free.log_evidence, abs=1e-3
    )
    assert fit_parameters(prior_of(), data, start=free, **options).log_evidence == pytest.approx(
        other.log_evidence, abs=1e-3
    )


def test_constant_data_end_at_bounds_and_say_so():
    """Nothing varies: no amplitude is too small."""
    x = netbo.uniform_points(netbo.open_rectangle(), 10, np.random.default_rng(0))
    fit = fit_parameters(prior_of(), Observations(x, np.full(10, 4.2)))

    assert "sigma" in fit.at_bound
    assert fit.mean == pytest.approx(4.2)
    assert np.isfinite(fit.log_evidence)


def test_pure_noise_is_called_noise():
    """The noise ratio, or the range, runs to its bound; the fitted mean is then almost flat."""
    rng = np.random.default_rng(1)
    x = netbo.uniform_points(netbo.open_rectangle(), 80, rng)
    fit = fit_parameters(prior_of(), Observations(x, rng.standard_normal(80)))
    signal = fit.posterior.mean(rectangle().nodes).std()

    assert signal < 0.3


def test_a_single_observation_is_enough():
    data = Observations(netbo.open_rectangle().points(0, 1.0), [3.0])
    fit = fit_parameters(prior_of(), data)

    assert fit.mean == pytest.approx(3.0)
    assert np.isfinite(fit.log_evidence)


def test_known_noise_is_kept():
    data = simulated(prior_of(), 25, 0.05, 10)

    assert fit_parameters(prior_of(), data, regularization=0.05).regularization == 0.05


def test_noise_known_for_every_observation_is_not_fitted():
    data = simulated(prior_of(), 25, 0.05, 11)
    own = Observations(data.points, data.values, 0.05)
    fit, known = fit_parameters(prior_of(), own), fit_parameters(prior_of(), data, regularization=0.05)

    assert fit.regularization is None
    assert fit.log_evidence == pytest.approx(known.log_evidence, rel=1e-9)
    assert fit.prior.range == pytest.approx(known.prior.range, rel=1e-6)


def test_noise_known_for_some_is_fitted_for_the_others():
    """Sigma has no closed form then: the gradient has to vanish in all three directions."""
    data = simulated(prior_of(), 40, 0.05, 12)
    noise = np.where(np.arange(40) < 15, 0.05, np.nan)
    fit = fit_parameters(prior_of(), Observations(data.points, data.values, noise))

    assert fit.regularization is not None
    assert_allclose(fit.posterior.log_evidence_gradient(), 0.0, atol=1e-2)


@pytest.mark.parametrize(
    "prior",
    [
        netbo.euclidean_matern(netbo.open_rectangle(), nu=1.5, range=20.0),
        netbo.spectral(rectangle(), Matern(alpha=0.75, range=20.0)),
        netbo.whittle_matern(rectangle(), Matern(alpha=1.0, range=20.0), constant_variance=True),
    ],
    ids=["euclidean", "spectral", "constant variance"],
)
def test_every_prior_can_be_fitted(prior):
    data = simulated(prior_of(), 30, 0.05, 13)
    fit = fit_parameters(prior, data)

    assert fit.converged
    assert type(fit.prior) is type(prior)
    assert_allclose(fit.posterior.log_evidence_gradient(), 0.0, atol=1e-2)


def test_a_fit_needs_data():
    none = Observations(netbo.Points(np.empty(0, dtype=int), []), [])

    with pytest.raises(
        ObservationError, match=r"a fit needs at least one observation, got none; measure first"
    ):
        fit_parameters(prior_of(), none)


def test_a_fixed_tau_needs_a_prior_with_tau():
    one = netbo.euclidean_matern(contract_graph(), nu=0.5, range=1.0)
    prior = sum_of(one, one)
    data = Observations(contract_graph().points(0, 0.5), [1.0])

    with pytest.raises(ParameterError, match=r"a fixed tau needs a Whittle-Matérn prior, got SumPrior; use"):
        fit_parameters(prior, data, amplitude=Amplitude.FIXED_TAU)


def test_a_straight_line_kernel_with_fixed_tau_has_the_variance_of_the_field_on_a_line():
    """nu = 3/2, tau = 1: sigma^2 = 1 / (4 kappa^3), whatever the range comes out as."""
    graph = contract_graph()
    prior = EuclideanMatern(nu=1.5, tau=1.0).build(netbo.FiniteElementSpace.build(graph, max_cell=0.5))
    data = Observations(graph.points([0, 1, 1], [0.5, 0.2, 0.9]), [1.0, -0.3, 0.4])
    fit = fit_parameters(prior, data, regularization=0.01, amplitude=Amplitude.FIXED_TAU, mean=0.0)
    kappa = np.sqrt(12.0) / fit.prior.range

    assert fit.prior.range != pytest.approx(prior.range, rel=1e-3)
    assert fit.prior.sigma**2 == pytest.approx(1 / (4 * kappa**3), rel=1e-12)


@pytest.mark.parametrize("name", ["range", "sigma", "noise_ratio"])
@pytest.mark.parametrize("pair", [(0.0, 1.0), (2.0, 1.0), (1.0, np.inf), (np.nan, 1.0)])
def test_bounds_are_ordered_and_positive(name, pair):
    with pytest.raises(ParameterError, match=rf"bounds of {name} must be 0 < low <= high, got"):
        FitBounds(**{name: pair})


def test_a_range_outside_what_can_be_computed_is_passed_over(monkeypatch):
    """An evaluation that fails numerically counts as the worst, and the search goes on."""
    data, terms = simulated(prior_of(), 20, 0.05, 14), BlockPosterior.evidence_terms

    def sometimes(self):
        if self.prior.range > 100:
            raise NumericalError("too long")
        return terms(self)

    monkeypatch.setattr(BlockPosterior, "evidence_terms", sometimes)
    fit = fit_parameters(prior_of(), data)

    assert fit.prior.range <= 100
    assert np.isfinite(fit.log_evidence)


def test_beliefs_hold_where_data_say_nothing():
    """Two values at one place: no word about the range, so it comes to rest at its median."""
    prior = prior_of()
    place = prior.graph.points([0, 0], distance=[1.0, 1.0])
    beliefs = Beliefs(range=Belief(median=0.3, log_sd=1.0))
    fit = fit_parameters(prior, Observations(place, [1.0, 1.2]), regularization=0.1, beliefs=beliefs)
    alone = fit_parameters(prior, Observations(place, [1.0, 1.2]), regularization=0.1)

    assert fit.prior.range == pytest.approx(0.3 * prior.graph.diameter, rel=0.35)
    assert fit.log_belief == pytest.approx(-(np.log(fit.prior.range / prior.graph.diameter / 0.3) ** 2) / 2)
    assert alone.log_belief == 0.0


def test_a_belief_in_the_noise_is_the_most_probable_value():
    """Independent search over range and ratio of evidence times belief, on a grid of 60 x 60."""
    data = simulated(prior_of(), 12, 0.05, 3)
    belief = Belief(0.01, 2.0)
    fit = fit_parameters(prior_of(), data, beliefs=Beliefs(noise_ratio=belief))

    def score(log_range, log_ratio):
        unit = prior_of().rescaled(range=np.exp(log_range), sigma=1.0)
        terms = condition(unit, data, regularization=np.exp(log_ratio), mean=ESTIMATED).evidence_terms()
        profile = terms.log_determinant + terms.n * np.log(terms.quadratic / terms.n)
        return -profile / 2 - (log_ratio - np.log(0.01)) ** 2 / 8

    diameter = prior_of().graph.diameter
    ranges = np.linspace(np.log(0.01 * diameter), np.log(10 * diameter), 60)
    best = max(score(r, ratio) for r in ranges for ratio in np.linspace(np.log(1e-7), np.log(50), 60))
    found = score(np.log(fit.prior.range), np.log(fit.regularization / fit.prior.sigma**2))

    assert found >= best - 1e-6
    assert found <= best + 0.1  # the grid is coarse


@pytest.mark.parametrize(("median", "log_sd"), [(0.0, 1.0), (-1.0, 1.0), (1.0, 0.0), (np.inf, 1.0)])
def test_beliefs_are_positive(median, log_sd):
    with pytest.raises(ParameterError, match="a belief needs a positive median"):
        Belief(median, log_sd)


def test_a_fit_takes_the_same_steps_whatever_the_unit_of_the_values():
    data = simulated(prior_of(), 20, 0.05, 4)
    other = Observations(data.points, 1e6 * data.values - 3e5)
    one, two = fit_parameters(prior_of(), data), fit_parameters(prior_of(), other)

    assert one.evaluations == two.evaluations
    assert two.prior.range == pytest.approx(one.prior.range, rel=1e-9)
    assert two.prior.sigma == pytest.approx(1e6 * one.prior.sigma, rel=1e-9)
    assert two.log_evidence == pytest.approx(one.log_evidence - 20 * np.log(1e6), rel=1e-9)


def test_a_parameter_without_freedom_is_not_said_to_be_at_its_bound():
    data = simulated(prior_of(), 20, 1e-9, 4)
    fit = fit_parameters(prior_of(), data, bounds=FitBounds(noise_ratio=(1e-10, 1e-10)))

    assert "noise_ratio" not in fit.at_bound
    assert fit.regularization == pytest.approx(1e-10 * fit.prior.sigma**2)
