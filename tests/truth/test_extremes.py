"""Whole posteriors against mpmath at 130 digits: any kappa, any noise, every order."""

import mpmath as mp
import numpy as np
import pytest
from numpy.testing import assert_allclose

import netbo
from netbo import ESTIMATED, Matern, Observations, Points
from support.reference import exact_covariance, exact_matrices, hat_values

DIGITS = 130
DIAMETER = 5.0


def tangled_space() -> netbo.FiniteElementSpace:
    """Loops, one of them of a single cell, parallel edges, two components, cells from 2.5e-4 to 0.75."""
    graph = netbo.MetricGraph(
        [0, 0, 0, 1, 2, 2, 4, 5], [0, 1, 1, 2, 2, 3, 5, 5], [1.0, 0.7, 2.0, 1.3, 0.4, 3.0, 1e-3, 0.5]
    )
    return netbo.FiniteElementSpace(graph, np.array([3, 1, 5, 6, 1, 4, 4, 2]))


def data_on(space, *, off_nodes=True) -> Observations:
    """At nodes, a vertex and a loop; inside a cell; one component without any."""
    nodes = space.nodes[[0, 8, 13, 3]]
    inside = space.graph.points([3, 5], fraction=[2.3 / 6, 0.6])
    points = Points.concatenate([nodes, inside]) if off_nodes else nodes
    return Observations(points, np.array([1.0, 2.0, -1.0, 0.5, 0.3, 1.2])[: len(points)])


def exact(values) -> mp.matrix:
    return mp.matrix([[mp.mpf(float(v)) for v in row] for row in np.atleast_2d(values)])


def floats(matrix) -> np.ndarray:
    return np.array(matrix.tolist(), dtype=float)


class Exact:
    """Prior and posterior in mpmath, kappa, tau, lengths, fractions and noise taken as exact."""

    def __init__(self, space, matern, lumped, data, noise) -> None:
        self.C, self.G = exact_matrices(space, lumped=lumped)
        self.p, self.kappa, self.tau = round(2 * matern.alpha), mp.mpf(matern.kappa), mp.mpf(matern.tau)
        self.nu = mp.mpf(matern.nu)
        self.E = exact(hat_values(space, data.points))
        self.y, self.noise = exact(data.values).T, mp.mpf(noise)

    def covariance(self, log_range=0, log_sigma=0):
        kappa = self.kappa * mp.exp(-log_range)
        tau = self.tau * mp.exp(self.nu * log_range - log_sigma)
        return exact_covariance(self.C, self.G, kappa, self.p) / tau**2

    def T(self, covariance, log_noise=0):  # noqa: N802
        return self.E * covariance * self.E.T + self.noise * mp.exp(log_noise) * mp.eye(len(self.y))

    def posterior(self):
        """Variances without and with data, mean and gain."""
        prior = self.covariance()
        gain_matrix = self.T(prior) ** -1
        cross = prior * self.E.T
        mean = cross * gain_matrix * self.y
        after = prior - cross * gain_matrix * cross.T
        gain = mp.log(mp.det(self.T(prior) / self.noise)) / 2
        return [np.diag(floats(m)) for m in (prior, after)], floats(mean)[:, 0], float(gain)

    def log_evidence(self, shift=(0, 0, 0), estimated=False):
        T = self.T(self.covariance(*shift[:2]), shift[2])
        inverse = T**-1
        ones = mp.ones(len(self.y), 1)
        m = (ones.T * inverse * self.y)[0] / (ones.T * inverse * ones)[0] if estimated else 0
        r = self.y - m * ones
        return -((r.T * inverse * r)[0] + mp.log(mp.det(T)) + len(self.y) * mp.log(2 * mp.pi)) / 2

    def gradient(self, estimated):
        step = mp.mpf(10) ** -25
        shifts = ([step if i == j else 0 for j in range(3)] for i in range(3))
        return [
            float(
                (self.log_evidence(s, estimated) - self.log_evidence([-a for a in s], estimated)) / (2 * step)
            )
            for s in shifts
        ]


def assert_posterior_is_exact(reach, p, lumped):
    """Variances entry by entry to 1e-10, mean relative to its largest entry, gain."""
    space = tangled_space()
    data, matern = data_on(space), Matern(alpha=p / 2, kappa=reach / DIAMETER, sigma=1.0)
    prior = netbo.whittle_matern(space, matern, lumped=lumped)
    posterior = netbo.condition(prior, data, regularization=0.01)
    with mp.workdps(DIGITS):
        (before, after), mean, gain = Exact(space, matern, lumped, data, 0.01).posterior()

    assert_allclose(prior.variance(space.nodes), before, rtol=1e-10)
    assert_allclose(posterior.variance(space.nodes), after, rtol=1e-10)
    assert_allclose(posterior.mean(space.nodes), mean, rtol=0, atol=1e-10 * np.abs(mean).max())
    assert posterior.information_gain() == pytest.approx(gain, rel=1e-10)


@pytest.mark.parametrize("p", [1, 2, 4])
@pytest.mark.parametrize("reach", [1e-6, 1.0, 1e6])
def test_the_posterior_is_exact_at_extreme_ranges(reach, p):
    assert_posterior_is_exact(reach, p, lumped=False)


@pytest.mark.slow
@pytest.mark.parametrize("lumped", [False, True], ids=["consistent", "lumped"])
@pytest.mark.parametrize("p", [1, 2, 3, 4])
@pytest.mark.parametrize("reach", [1e-6, 1e-4, 1e-3, 1e-1, 1.0, 10.0, 1e3, 1e6])
def test_the_posterior_is_exact_at_every_range(reach, p, lumped):
    assert_posterior_is_exact(reach, p, lumped)


def evidence_errors(noise, p, *, lumped=False, off_nodes=False, mean=0.0):
    """Errors of evidence and gradient, relative to the largest of them."""
    space = tangled_space()
    data, matern = data_on(space, off_nodes=off_nodes), Matern(alpha=p / 2, range=2.0, sigma=1.0)
    prior = netbo.whittle_matern(space, matern, lumped=lumped)
    posterior = netbo.condition(prior, data, regularization=noise, mean=mean)
    with mp.workdps(DIGITS):
        twin = Exact(space, matern, lumped, data, noise)
        expected = [float(twin.log_evidence(estimated=mean is ESTIMATED)), *twin.gradient(mean is ESTIMATED)]
    found = [posterior.log_evidence(), *posterior.log_evidence_gradient()]
    return np.abs(np.subtract(found, expected)) / np.abs(expected).max()


@pytest.mark.parametrize("p", [1, 2, 3, 4])
def test_evidence_and_gradient_at_nodes_are_exact_almost_without_noise(p):
    """lambda = 1e-12 sigma^2, where y - fit has four digits left: T^-1 y comes from the flow K x_0."""
    assert evidence_errors(1e-12, p, mean=ESTIMATED).max() < 1e-10


@pytest.mark.parametrize("noise", [1e-20, 1e-12, 1e-8])
@pytest.mark.parametrize("p", [1, 2, 3, 4])
def test_evidence_and_gradient_inside_cells_are_exact_almost_without_noise(p, noise):
    """Of D = e e' / lambda over two nodes eps / lambda would remain; as a border nothing is lost."""
    assert evidence_errors(noise, p, off_nodes=True, mean=ESTIMATED).max() < 1e-8


@pytest.mark.parametrize("p", [1, 2, 3, 4])
@pytest.mark.parametrize("noise", [1e-20, 1e-13, 1e-12, 1e-11, 1e-10])
def test_the_posterior_of_exact_values_inside_coarse_cells_is_exact(noise, p):
    """Mean and variance at the nodes; as a load they would lose 7e-3 of the mean at 1e-12."""
    space = netbo.FiniteElementSpace.build(netbo.star(3, 1.5), max_cell=0.75)
    points = space.graph.points([0, 1, 1, 2], fraction=[0.3, 0.2, 0.9, 0.5 + 1e-11])
    data = Observations(points, [0.1, 0.9, 0.3, -0.7])
    matern = Matern(alpha=p / 2, range=0.8, sigma=1.0)
    posterior = netbo.condition(netbo.whittle_matern(space, matern), data, regularization=noise)
    with mp.workdps(DIGITS):
        (_, after), mean, gain = Exact(space, matern, False, data, noise).posterior()

    assert_allclose(posterior.mean(space.nodes), mean, rtol=0, atol=1e-12 * np.abs(mean).max())
    assert_allclose(posterior.variance(space.nodes), after, rtol=0, atol=1e-12)
    assert posterior.information_gain() == pytest.approx(gain, rel=1e-12)


@pytest.mark.slow
@pytest.mark.parametrize("mean", [0.0, ESTIMATED])
@pytest.mark.parametrize("lumped", [False, True], ids=["consistent", "lumped"])
@pytest.mark.parametrize("off_nodes", [False, True], ids=["at nodes", "inside cells"])
@pytest.mark.parametrize("p", [1, 2, 3, 4])
@pytest.mark.parametrize("noise", [1e-20, 1e-8, 1e-4, 1.0])
def test_evidence_and_gradient_are_exact_for_every_noise(noise, p, off_nodes, lumped, mean):
    """At nodes to 1e-12; inside cells to 1e-15 / lambda, or as a border to 1e-8."""
    errors = evidence_errors(noise, p, lumped=lumped, off_nodes=off_nodes, mean=mean)

    assert errors.max() < (max(1e-12, min(1e-8, 1e-15 / noise)) if off_nodes else 1e-12)


def test_the_variance_has_the_factor_lambda():
    """fem poststd prints e' (Q + E E' / lambda ...)^-1 e without lambda; fem postcov has it, and so do we.

    One observation at a node of an otherwise independent field: s2 = v lambda / (v + lambda).
    """
    space = tangled_space()
    matern = Matern(alpha=0.5, range=2.0, sigma=1.0)
    prior, x = netbo.whittle_matern(space, matern), space.nodes[[9]]
    v = prior.variance(x)[0]
    for noise in (1e-8, 0.3, 50.0):
        posterior = netbo.condition(prior, Observations(x, [1.0]), regularization=noise)

        assert posterior.variance(x)[0] == pytest.approx(v * noise / (v + noise), rel=1e-12)


@pytest.mark.parametrize("p", [1, 2, 3, 4])
@pytest.mark.parametrize("reach", [1e-6, 1.0, 1e3, 1e9])
def test_lengths_over_eighteen_orders_of_magnitude_cost_no_digit(reach, p):
    """Edges of 1e-9 beside edges of 1e9: entries of K over 36 orders, and the range anywhere between."""
    graph = netbo.MetricGraph([0, 1, 2, 0], [1, 2, 3, 3], [1e-9, 1.0, 1e9, 3e3])
    space = netbo.FiniteElementSpace.build(graph, n_nodes=20, min_cells=2)
    data = Observations(space.nodes[[0, 3, 5, 8]], [1.0, 1.1, 0.0, 2.0])
    matern = Matern(alpha=p / 2, range=reach)
    posterior = netbo.condition(netbo.whittle_matern(space, matern), data, regularization=0.01)
    with mp.workdps(DIGITS):
        twin = Exact(space, matern, False, data, 0.01)
        (_, after), mean, gain = twin.posterior()
        evidence = float(twin.log_evidence())

    assert_allclose(posterior.variance(space.nodes), after, rtol=1e-11)
    assert_allclose(posterior.mean(space.nodes), mean, rtol=1e-11, atol=1e-11 * np.abs(mean).max())
    assert posterior.information_gain() == pytest.approx(gain, rel=1e-11)
    assert posterior.log_evidence() == pytest.approx(evidence, rel=1e-11)
