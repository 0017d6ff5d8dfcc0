"""The mesh-free kernel against closed forms, against mpmath at every kappa, and by its samples.

With G(s) the Green's function of s - Laplacian, the kernel of 2 alpha = p is tau^-2 (-1)^(p-1) G_(p-1), with
the Taylor coefficients G_j of G in s at kappa^2.
"""

import mpmath as mp
import numpy as np
import pytest
from numpy.testing import assert_allclose

import netbo
from netbo import ESTIMATED, Matern, MetricGraph, Observations, Points
from support.exact_kernel import Nodes, element_series
from support.reference import covariance_errors, matern_correlation

ORDERS = (1, 2, 3, 4)
KAPPAS = (0.03, 1.7, 40.0)


def closed_form(green, kappa, p) -> float:
    """tau = 1."""
    with mp.workdps(50):
        s = mp.mpf(kappa) ** 2
        scaled = mp.taylor(lambda t: green(mp.sqrt(t * s)), 1, p - 1)[-1]
        return float((-1) ** (p - 1) * scaled / s ** (p - 1))


def between_neumann_ends(x, y, length):
    """G of an interval whose ends reflect."""
    low, high, length = mp.mpf(float(min(x, y))), mp.mpf(float(max(x, y))), mp.mpf(float(length))
    return lambda k: mp.cosh(k * low) * mp.cosh(k * (length - high)) / (k * mp.sinh(k * length))


def between_robin_ends(x, y, length, thetas):
    """G of an interval with -u' + theta u = 0 and u' + theta u = 0 at its ends: two solutions and their W."""
    low, high, length = mp.mpf(float(min(x, y))), mp.mpf(float(max(x, y))), mp.mpf(float(length))
    a, b = (mp.mpf(float(theta)) for theta in thetas)

    def green(k):
        from_left = mp.cosh(k * low) + a / k * mp.sinh(k * low)
        from_right = mp.cosh(k * (length - high)) + b / k * mp.sinh(k * (length - high))
        wronskian = (k + a * b / k) * mp.sinh(k * length) + (a + b) * mp.cosh(k * length)
        return from_left * from_right / wronskian

    return green


def on_a_circle(x, y, length):
    """G of a circle: the distance both ways around."""
    away = mp.mpf(float(length)) / 2 - abs(mp.mpf(float(x)) - mp.mpf(float(y)))
    return lambda k: mp.cosh(k * away) / (2 * k * mp.sinh(k * mp.mpf(float(length)) / 2))


def on_a_star(arm, x, other, y, length, n):
    """G of n equal arms, x and y from the centre, by reflection.

    The mean of the arms sees a reflecting centre; what the arms differ by is zero there.
    """
    low, high, arm_length = mp.mpf(float(min(x, y))), mp.mpf(float(max(x, y))), mp.mpf(float(length))
    reflected = between_neumann_ends(x, y, length)
    share = mp.mpf(1) / n

    def green(k):
        pinned = mp.sinh(k * low) * mp.cosh(k * (arm_length - high)) / (k * mp.cosh(k * arm_length))
        return share * reflected(k) + ((arm == other) - share) * pinned

    return green


def assert_is_closed_form(prior, x, greens, tolerance=1e-12):
    """Covariance entry by entry relative to the standard deviations, variance to itself."""
    kappa, p = prior.matern.kappa, prior.matern.order
    expected = np.array([[closed_form(g, kappa, p) for g in row] for row in greens]) / prior.matern.tau**2
    sd = np.sqrt(np.diag(expected))
    found = prior.covariance(x, x)

    assert_allclose(found / np.outer(sd, sd), expected / np.outer(sd, sd), rtol=0, atol=tolerance)
    assert_allclose(prior.variance(x), np.diag(expected), rtol=tolerance)


@pytest.mark.parametrize("kappa", KAPPAS)
@pytest.mark.parametrize("p", ORDERS)
def test_the_kernel_on_an_interval_is_the_closed_form(p, kappa):
    """Ends, places at 1e-6 and 1e-11 of each other, and anywhere."""
    z = np.array([0.0, 0.4, 0.4 + 1e-6, 0.4 + 2e-11, 1.9, 2.3])
    prior = netbo.whittle_matern(netbo.interval(2.3), Matern(alpha=p / 2, kappa=kappa, tau=0.8))
    greens = [[between_neumann_ends(a, b, 2.3) for b in z] for a in z]

    assert_is_closed_form(prior, prior.graph.points(0, z), greens)


@pytest.mark.parametrize("kappa", KAPPAS)
@pytest.mark.parametrize("p", ORDERS)
def test_the_kernel_between_robin_ends_is_the_closed_form(p, kappa):
    z, theta = np.array([0.0, 0.3, 1.0, 1.75, 2.3]), np.array([0.6, 2.5])
    matern = Matern(alpha=p / 2, kappa=kappa, tau=0.8)
    prior = netbo.whittle_matern(netbo.interval(2.3), matern, vertex_condition=theta)
    greens = [[between_robin_ends(a, b, 2.3, theta) for b in z] for a in z]

    assert_is_closed_form(prior, prior.graph.points(0, z), greens)


@pytest.mark.parametrize("kappa", KAPPAS)
@pytest.mark.parametrize("p", ORDERS)
@pytest.mark.parametrize("pieces", [1, 2, 5], ids=["loop", "parallel edges", "ring"])
def test_the_kernel_on_a_circle_is_the_closed_form(pieces, p, kappa):
    """However many vertices it is drawn with."""
    length, places = 1.9, np.array([0.0, 0.2, 0.9, 1.1, 1.6, 1.8])
    ends = np.arange(pieces)
    cut = np.linspace(0.0, length, pieces + 1)
    graph = MetricGraph(ends, (ends + 1) % pieces, np.diff(cut))
    edge = np.searchsorted(cut, places, side="right") - 1
    x = Points(edge, places - cut[edge])
    prior = netbo.whittle_matern(graph, Matern(alpha=p / 2, kappa=kappa, tau=1.4))

    assert_is_closed_form(prior, x, [[on_a_circle(a, b, length) for b in places] for a in places])


@pytest.mark.parametrize("kappa", KAPPAS)
@pytest.mark.parametrize("p", ORDERS)
def test_the_kernel_on_a_star_is_its_reflections(p, kappa):
    n, length = 5, 1.3
    graph = MetricGraph(np.zeros(n, dtype=int), 1 + np.arange(n), np.full(n, length))
    edge, z = np.array([0, 0, 1, 2, 4, 4]), np.array([0.0, 0.35, 0.35, 1.0, 0.2, 1.3])
    prior = netbo.whittle_matern(graph, Matern(alpha=p / 2, kappa=kappa))
    places = list(zip(edge, z, strict=True))
    greens = [[on_a_star(e, a, f, b, length, n) for f, b in places] for e, a in places]

    assert_is_closed_form(prior, Points(edge, z), greens)


@pytest.mark.parametrize("p", ORDERS)
def test_far_from_its_ends_an_interval_is_the_infinite_line(p):
    """The Matérn kernel by Bessel functions; what the ends add is e^(-200)."""
    prior = netbo.whittle_matern(netbo.interval(100.0), Matern(alpha=p / 2, kappa=2.0, sigma=1.7))
    lags = np.array([0.0, 0.01, 0.3, 1.0, 4.0])
    found = prior.covariance(prior.graph.points(0, 50.0), prior.graph.points(0, 50.0 + lags))[0]
    expected = 1.7**2 * matern_correlation(2.0 * lags, p - 0.5)

    assert_allclose(found, expected, rtol=1e-12, atol=1e-14)


# Every kappa, against mpmath

DIGITS = 220
DIAMETER = 5.0


def tangled_graph() -> MetricGraph:
    """Loops, parallel edges, two components, edges from 1e-3 to 3."""
    return MetricGraph([0, 0, 0, 1, 2, 2, 4], [0, 1, 1, 2, 2, 3, 4], [1.0, 0.7, 2.0, 1.3, 1e-3, 3.0, 0.5])


def tangled_data() -> tuple[Observations, Points]:
    """Observations inside edges, at a vertex, on a loop, on the short edge; none on the second component."""
    at = tangled_graph().points([0, 2, 3, 5, 4, 1], fraction=[0.3, 0.15, 0.0, 0.9, 0.5, 0.77])
    asked = tangled_graph().points([0, 2, 6, 5], fraction=[0.8, 0.15, 0.4, 0.2])
    return Observations(at, [1.0, 2.0, -1.0, 0.5, 0.3, 1.2]), asked


class Exact:
    """Prior and posterior in mpmath; kappa, tau, lengths and noise are taken as exact."""

    def __init__(self, matern: Matern, noise: float) -> None:
        data, asked = tangled_data()
        self.graph, self.nodes = tangled_graph(), Nodes(tangled_graph(), data.points, asked)
        self.p, self.nu = round(2 * matern.alpha), mp.mpf(matern.nu)
        self.kappa, self.tau, self.noise = mp.mpf(matern.kappa), mp.mpf(matern.tau), mp.mpf(noise)
        self.y = mp.matrix(data.values.tolist())

    def covariance(self, log_range=0, log_sigma=0) -> mp.matrix:
        """At all nodes."""
        kappa, n, p = self.kappa * mp.exp(-log_range), self.nodes.size, self.p
        K = [mp.zeros(n) for _ in range(p)]
        for a, b, h in self.nodes.cells():
            for matrix, diagonal, off in zip(K, *element_series(kappa * mp.mpf(h), p - 1), strict=True):
                matrix[a, a] += diagonal
                matrix[b, b] += diagonal
                matrix[a, b] += off
                matrix[b, a] += off
        X = [K[0] ** -1]
        for m in range(1, p):
            total = mp.zeros(n)
            for j in range(1, m + 1):
                total += K[j] * X[m - j]
            X.append(-X[0] * total)
        tau = self.tau * mp.exp(self.nu * log_range - log_sigma)
        return (-1) ** (p - 1) * X[-1] * kappa ** (1 - 2 * p) / tau**2

    def picked(self, covariance, rows, columns) -> mp.matrix:
        return mp.matrix([[covariance[i, j] for j in columns] for i in rows])

    def T(self, covariance, log_noise=0) -> mp.matrix:  # noqa: N802
        here = self.nodes.numbers[0]
        return self.picked(covariance, here, here) + self.noise * mp.exp(log_noise) * mp.eye(len(here))

    def posterior(self) -> dict[str, np.ndarray]:
        """Prior and posterior moments at the points asked about."""
        prior = self.covariance()
        inverse, (here, asked) = self.T(prior) ** -1, self.nodes.numbers
        k, cross = self.picked(prior, asked, asked), self.picked(prior, asked, here)
        after = k - cross * inverse * cross.T
        gain = mp.log(mp.det(self.T(prior) / self.noise)) / 2
        return {
            "prior covariance": _floats(k),
            "mean": _floats(cross * inverse * self.y)[:, 0],
            "covariance": _floats(after),
            "gain": float(gain),
        }

    def log_evidence(self, shift=(0, 0, 0)):
        """At the estimated mean."""
        T = self.T(self.covariance(*shift[:2]), shift[2])
        inverse, ones = T**-1, mp.ones(len(self.y), 1)
        m = (ones.T * inverse * self.y)[0] / (ones.T * inverse * ones)[0]
        r = self.y - m * ones
        return -((r.T * inverse * r)[0] + mp.log(mp.det(T)) + len(self.y) * mp.log(2 * mp.pi)) / 2

    def gradient(self) -> list[float]:
        step = mp.mpf(10) ** -25
        found = []
        for i in range(3):
            up, down = ([a if i == j else 0 for j in range(3)] for a in (step, -step))
            found.append(float((self.log_evidence(up) - self.log_evidence(down)) / (2 * step)))
        return found


def _floats(matrix) -> np.ndarray:
    return np.array(matrix.tolist(), dtype=float)


def errors_at(reach, p, *, with_gradient) -> dict[str, float]:
    """Largest errors of all answers: covariances relative to standard deviations, the rest to the largest."""
    data, asked = tangled_data()
    matern = Matern(alpha=p / 2, kappa=reach / DIAMETER, sigma=1.0)
    prior = netbo.whittle_matern(tangled_graph(), matern)
    plain = netbo.condition(prior, data, regularization=0.01)
    estimated = netbo.condition(prior, data, regularization=0.01, mean=ESTIMATED)
    with mp.workdps(DIGITS):
        twin = Exact(matern, 0.01)
        expected = twin.posterior()
        evidence = float(twin.log_evidence())
        gradient = twin.gradient() if with_gradient else None
    found = {
        "prior covariance": prior.covariance(asked, asked),
        "covariance": plain.covariance(asked, asked),
    }
    errors = {}
    for name, value in found.items():
        sd = np.sqrt(np.diag(expected[name]))
        errors[name] = np.abs((value - expected[name]) / np.outer(sd, sd)).max()
    variances = prior.variance(asked), plain.variance(asked)
    for name, value in zip(found, variances, strict=True):
        errors[name.replace("covariance", "variance")] = np.abs(value / np.diag(expected[name]) - 1).max()
    errors["mean"] = np.abs(plain.mean(asked) - expected["mean"]).max() / np.abs(expected["mean"]).max()
    errors["gain"] = abs(plain.information_gain() / expected["gain"] - 1)
    errors["evidence"] = abs(estimated.log_evidence() / evidence - 1)
    if gradient is not None:
        difference = np.subtract(estimated.log_evidence_gradient(), gradient)
        errors["gradient"] = np.abs(difference).max() / max(abs(evidence), np.abs(gradient).max())
    return errors


@pytest.mark.parametrize("p", ORDERS)
@pytest.mark.parametrize("reach", [1e-8, 1.0, 1e3])
def test_the_posterior_is_exact_at_extreme_ranges(reach, p):
    """kappa times the diameter; dense matrices of exact elements at 220 digits."""
    errors = errors_at(reach, p, with_gradient=False)

    assert max(errors.values()) < 1e-12, errors


@pytest.mark.slow
@pytest.mark.parametrize("p", ORDERS)
@pytest.mark.parametrize("reach", [1e-8, 1e-6, 1e-4, 1e-2, 0.1, 1.0, 3.0, 10.0, 100.0, 1e3])
def test_the_posterior_and_its_gradient_are_exact_at_every_range(reach, p):
    errors = errors_at(reach, p, with_gradient=True)

    assert max(errors.values()) < 1e-12, errors


# Samples

PATHS = 20_000


def sampled_places() -> tuple[MetricGraph, Points]:
    """Vertices, and places inside edges, near each other and far."""
    graph = MetricGraph([0, 1, 1, 1], [1, 1, 2, 2], [1.0, 1.5, 0.6, 0.9])
    inside = graph.points([0, 1, 1, 2, 3, 3], fraction=[0.4, 0.3, 0.35, 0.5, 0.1, 0.9])
    return graph, Points.concatenate([graph.vertex_points(), inside])


@pytest.mark.parametrize("p", [1, 2])
def test_paths_have_the_covariance_at_vertices_and_inside_edges(p):
    """20,000 paths at nine places; every second moment within five standard errors (1 % of a variance)."""
    graph, x = sampled_places()
    prior = netbo.whittle_matern(graph, Matern(alpha=p / 2, range=1.5, sigma=1.2))
    paths = prior.sample(x, np.random.default_rng(p), n=PATHS)
    covariance = prior.covariance(x, x)

    assert np.abs(covariance_errors(paths, covariance)).max() < 5
    assert np.abs(paths.mean(axis=0) / np.sqrt(np.diag(covariance) / PATHS)).max() < 5


@pytest.mark.parametrize("p", [1, 2])
def test_a_path_refined_given_its_coarse_values_is_a_path(p):
    """Coarse values, then finer ones given them: together they have the prior's covariance.

    Refinement is linear in the coarse values, so one factor serves all paths: a path of the posterior given
    zeros, plus the mean given the coarse values. 20,000 paths, within five standard errors.
    """
    graph, x = sampled_places()
    coarse, fine = x[:5], x[5:]
    prior = netbo.whittle_matern(graph, Matern(alpha=p / 2, range=1.5, sigma=1.2))
    rng, tiny = np.random.default_rng(10 + p), 1e-12
    values = prior.sample(coarse, rng, n=PATHS)
    at_zero = netbo.condition(prior, Observations(coarse, np.zeros(5)), regularization=tiny)
    weights = np.stack(
        [
            netbo.condition(prior, Observations(coarse, unit), regularization=tiny).mean(fine)
            for unit in np.eye(5)
        ]
    )
    refined = values @ weights + at_zero.sample(fine, rng, n=PATHS)
    everywhere = Points.concatenate([coarse, fine])

    assert np.abs(at_zero.mean(fine)).max() == 0
    assert (
        np.abs(
            covariance_errors(np.hstack([values, refined]), prior.covariance(everywhere, everywhere))
        ).max()
        < 5
    )


@pytest.mark.parametrize("p", [1, 2])
def test_one_path_is_refined_by_conditioning_on_it(p):
    """As a user does it, 400 times: at coarse places it stays, at the others its moments are right.

    Every second moment within five standard errors.
    """
    graph, x = sampled_places()
    coarse = x[:5]
    prior = netbo.whittle_matern(graph, Matern(alpha=p / 2, range=1.5, sigma=1.2))
    rng, n = np.random.default_rng(20 + p), 400
    paths = np.empty((n, len(x)))
    for path in paths:
        path[:5] = prior.sample(coarse, rng)
        finer = netbo.condition(prior, Observations(coarse, path[:5]), regularization=1e-12)
        both = finer.sample(x, rng)
        path[5:] = both[5:]

        assert_allclose(both[:5], path[:5], atol=1e-5)
    assert np.abs(covariance_errors(paths, prior.covariance(x, x))).max() < 5
