"""The formulas of docs/theory/corrections.md, dense and small: as printed they fail, corrected they hold.

The truth is eq:postmean and eq:postcov, or the Gaussian density, with plain inverses.
"""

from functools import cache

import numpy as np
import pytest
from numpy.testing import assert_allclose
from scipy import stats
from scipy.linalg import eigh

import netbo
from netbo import FiniteElementSpace, Matern, MetricGraph, Observations
from support.reference import block_matrix, hat_values, mass_and_stiffness, nodal_covariance

LAMBDA = 0.04
MATERN = Matern(alpha=1.0, range=2.0, sigma=1.3)


@cache
def space() -> FiniteElementSpace:
    graph = MetricGraph([0, 1, 1], [1, 2, 3], [3.0, 2.0, 4.0])
    return FiniteElementSpace.build(graph, max_cell=0.5)


def precision(matern: Matern) -> np.ndarray:
    """Q = C (kappa^2 + C^-1 G)^(2 alpha), eq:fem kernel in mass form."""
    C, G = mass_and_stiffness(space())
    L = matern.kappa**2 * np.eye(len(C)) + np.linalg.solve(C, G)
    return C @ np.linalg.matrix_power(L, round(2 * matern.alpha))


def at_nodes(*nodes: int) -> np.ndarray:
    """E, a column an observation."""
    return np.eye(space().n_nodes)[:, list(nodes)]


def dense_covariance(kernel: np.ndarray, E: np.ndarray) -> np.ndarray:
    """eq:postcov at all nodes."""
    cross = kernel @ E
    return kernel - cross @ np.linalg.inv(E.T @ cross + LAMBDA * np.eye(E.shape[1])) @ cross.T


# The variance


def test_the_finite_element_variance_needs_the_factor_lambda():
    """Woodbury: eq:fem poststd as printed is the true variance divided by lambda."""
    E, Q = at_nodes(0, 5, 9), precision(MATERN)
    printed = np.diag(np.linalg.inv(MATERN.tau**2 * LAMBDA * Q + E @ E.T))
    truth = np.diag(dense_covariance(nodal_covariance(space(), MATERN), E))
    data = Observations(space().nodes[[0, 5, 9]], np.zeros(3))
    ours = netbo.condition(netbo.whittle_matern(space(), MATERN), data, regularization=LAMBDA)

    assert_allclose(LAMBDA * printed, truth, rtol=1e-9)
    assert_allclose(printed, truth / LAMBDA, rtol=1e-9)
    assert_allclose(ours.variance(space().nodes), truth, rtol=1e-9)


def test_a_place_measured_three_times_counts_three_times():
    """E E' has the numbers of measurements on its diagonal, not 0 and 1."""
    E, Q, kernel = at_nodes(0, 5, 5, 5), precision(MATERN), nodal_covariance(space(), MATERN)
    truth = dense_covariance(kernel, E)
    counts = E @ E.T
    counted = LAMBDA * np.linalg.inv(MATERN.tau**2 * LAMBDA * Q + counts)
    printed = LAMBDA * np.linalg.inv(MATERN.tau**2 * LAMBDA * Q + np.minimum(counts, 1))

    assert counts[5, 5] == 3
    assert_allclose(counted, truth, rtol=1e-8, atol=1e-11)
    assert printed[5, 5] > 2.5 * truth[5, 5]


def test_between_nodes_the_observations_couple_neighbours():
    """Off the nodes e(x) has two entries, and E E' is not diagonal."""
    E = hat_values(space(), space().graph.points([0, 2], [1.2, 0.3])).T
    Q, kernel = precision(MATERN), nodal_covariance(space(), MATERN)
    found = LAMBDA * np.linalg.inv(MATERN.tau**2 * LAMBDA * Q + E @ E.T)

    assert np.count_nonzero(E @ E.T - np.diag(np.diag(E @ E.T))) == 4
    assert_allclose(found, dense_covariance(kernel, E), rtol=1e-8, atol=1e-11)


# The evidence


def printed_loss(K: np.ndarray, y: np.ndarray, noise: float) -> float:
    """The criterion of alg: benchmarks, with log|K|."""
    quadratic = y @ np.linalg.solve(K + noise * np.eye(len(y)), y)
    return float(quadratic + np.linalg.slogdet(K)[1]) / 2


def corrected_loss(K: np.ndarray, y: np.ndarray, noise: float) -> float:
    """Minus the log density of y, without n log(2 pi) / 2."""
    data = stats.multivariate_normal(np.zeros(len(y)), K + noise * np.eye(len(y)))
    return -float(data.logpdf(y)) - len(y) * np.log(2 * np.pi) / 2


@pytest.mark.parametrize("p", [1, 2, 3, 4])
def test_the_evidence_in_precision_form_is_the_gaussian_density(p):
    """log|K_t + Lambda| = log|det S| - p log|K| + log|Lambda|, with repeats and differing noise."""
    rng, nodes = np.random.default_rng(p), [0, 5, 5, 12, 17]
    matern = Matern(alpha=p / 2, range=2.0, sigma=1.3)
    E, y, noise = at_nodes(*nodes), rng.standard_normal(5), np.array([0.1, 0.02, 0.3, 0.05, 0.05])
    C, G = mass_and_stiffness(space())
    K = matern.kappa**2 * C + G
    D = E @ np.diag(1 / noise) @ E.T / matern.tau**2
    S = block_matrix([K, C, 0 * C, 0 * C], p, D)
    log_determinant = np.linalg.slogdet(S)[1] - p * np.linalg.slogdet(K)[1] + np.log(noise).sum()
    u = np.linalg.solve(matern.tau**2 * (precision(matern) + D), E @ (y / noise))
    quadratic = y @ ((y - E.T @ u) / noise)
    T = E.T @ nodal_covariance(space(), matern) @ E + np.diag(noise)
    data = Observations(space().nodes[nodes], y, noise)
    ours = netbo.condition(netbo.whittle_matern(space(), matern), data).log_evidence()

    assert log_determinant == pytest.approx(np.linalg.slogdet(T)[1], rel=1e-9)
    assert quadratic == pytest.approx(y @ np.linalg.solve(T, y), rel=1e-7)
    assert ours == pytest.approx(-(log_determinant + quadratic + 5 * np.log(2 * np.pi)) / 2, rel=1e-7)


def test_the_printed_evidence_is_lost_where_a_place_is_measured_twice():
    """K has two equal rows, so log|K| is minus infinity for every parameter."""
    kernel = nodal_covariance(space(), MATERN)
    once, twice = kernel[np.ix_([0, 5, 9], [0, 5, 9])], kernel[np.ix_([0, 5, 5], [0, 5, 5])]

    assert np.linalg.slogdet(once)[1] > -5
    assert np.linalg.slogdet(twice)[1] < -30  # rounding; the determinant is 0
    assert np.isfinite(corrected_loss(twice, np.array([1.0, 0.3, 0.2]), LAMBDA))


def test_the_printed_evidence_prefers_the_longest_range_on_the_grid():
    """At a fixed sigma log|K| falls without bound as the range grows; y' T^-1 y <= |y|^2 / noise does not.

    Twelve values of a field with range 2, noise variance 0.1: measured in 15 of 20 draws, error 2.
    """
    ranges, noise, rng = np.geomspace(0.1, 1000, 41), 0.1, np.random.default_rng(0)
    kernels = [nodal_covariance(space(), Matern(alpha=1.0, range=r, sigma=1.0)) for r in ranges]
    truth = nodal_covariance(space(), Matern(alpha=1.0, range=2.0, sigma=1.0))
    printed, corrected = [], []
    for _ in range(20):
        nodes = rng.choice(len(truth), 12, replace=False)
        y = rng.multivariate_normal(np.zeros(12), truth[np.ix_(nodes, nodes)] + noise * np.eye(12))
        blocks = [kernel[np.ix_(nodes, nodes)] for kernel in kernels]
        printed.append(ranges[np.argmin([printed_loss(K, y, noise) for K in blocks])])
        corrected.append(ranges[np.argmin([corrected_loss(K, y, noise) for K in blocks])])

    assert np.mean(np.isclose(printed, 1000)) > 0.5
    assert 1.0 < np.median(corrected) < 4.0


# The rational lemma


def polynomials() -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """C, P_l and P_r for two polynomials of L_h; the lemma's algebra holds for any."""
    C, G = mass_and_stiffness(space())
    identity = np.eye(len(C))
    L = (MATERN.kappa**2 * identity + np.linalg.solve(C, G)) / MATERN.kappa**2
    return C, L @ (L + 2 * identity), L + 0.5 * identity


def test_the_rational_posterior_holds_with_the_right_transposes():
    """Lemma eq:fem postmean, eq:fem postcov with P_r' E for E and P_l' C P_l for Q."""
    C, P_l, P_r = polynomials()
    kernel = P_r @ np.linalg.inv(P_l.T @ C @ P_l) @ P_r.T
    E, y = at_nodes(0, 5, 5, 9), np.array([1.0, 0.3, 0.2, -0.5])
    projected = P_r.T @ E
    system = np.linalg.inv(LAMBDA * P_l.T @ C @ P_l + projected @ projected.T)
    dense_mean = kernel @ E @ np.linalg.solve(E.T @ kernel @ E + LAMBDA * np.eye(4), y)

    assert_allclose(P_r @ system @ projected @ y, dense_mean, rtol=1e-7, atol=1e-10)
    assert_allclose(LAMBDA * P_r @ system @ P_r.T, dense_covariance(kernel, E), rtol=1e-7, atol=1e-10)


def test_the_printed_rational_posterior_is_wrong_even_where_its_shapes_fit():
    """Every node observed once, in another order: E is square, E P_r exists and is not P_r' E."""
    C, P_l, P_r = polynomials()
    kernel = P_r @ np.linalg.inv(P_l.T @ C @ P_l) @ P_r.T
    E = at_nodes(*np.random.default_rng(0).permutation(len(C)))
    printed = LAMBDA * P_r @ np.linalg.inv(LAMBDA * P_l.T @ C @ P_l + E @ P_r @ P_r.T @ E.T) @ P_r.T
    truth = dense_covariance(kernel, E)

    assert np.abs(np.diag(printed) / np.diag(truth) - 1).max() > 0.1
    with pytest.raises(ValueError, match="matmul"):
        E[:, :3] @ P_r


def test_the_matrix_u_holds_coefficients_not_inner_products():
    """U C U' = I; with U = <psi_i, e_j>, as the proof says, it is not: those are U C."""
    C, G = mass_and_stiffness(space())
    U = eigh(G, C)[1].T
    inner_products = U @ C

    assert_allclose(U @ C @ U.T, np.eye(len(C)), atol=1e-12)
    assert np.abs(inner_products @ C @ inner_products.T - np.eye(len(C))).max() > 0.5
