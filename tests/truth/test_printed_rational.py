"""The paper's rational construction as printed (eq:s_h, eq:Pl Pr), dense and small: what holds, what breaks.

Only here: the package sums shifted operators instead. Transposes are corrected (P_r' E for E P_r), and for
alpha < 1 the degree of p_l is m + m_alpha + 1, one more than printed. Best uniform approximations: BRASIL.
"""

from dataclasses import dataclass
from functools import cache

import numpy as np
import pytest
from numpy.testing import assert_allclose
from scipy.linalg import eigh, solve

from netbo import FiniteElementSpace, Matern, MetricGraph
from netbo.linalg import interpolated_power
from netbo.priors import FractionalPrior
from support.reference import mass_and_stiffness

baryrat = pytest.importorskip("baryrat")

ALPHA, KAPPA, TAU, LAMBDA = 0.75, 1.3, 0.8, 0.05


@dataclass(frozen=True)
class Fit:
    """q_1 / q_2 of degrees m and m + 1 by their roots."""

    zeros: np.ndarray
    poles: np.ndarray
    gain: float

    def __call__(self, t: np.ndarray) -> np.ndarray:
        above, below = (np.prod(t[..., None] - roots, axis=-1) for roots in (self.zeros, self.poles))
        return self.gain * above / below


@cache
def best_uniform(exponent: float, m: int, start: float) -> Fit:
    """t^exponent on [start, 1] (eq:best rational approx)."""
    fit = baryrat.brasil(lambda t: t**exponent, (start, 1.0), (m, m + 1), tol=1e-2)
    zeros, poles = (sorted(roots.real, key=abs) for roots in (fit.zeros(), fit.poles()))
    zeros, poles = (
        np.array(zeros[:m]),
        np.array(poles[: m + 1]),
    )  # further ones are at infinity, up to rounding
    at = np.geomspace(max(start, 1e-3), 1.0, 50)
    ratio = np.prod(at[:, None] - zeros, axis=1) / np.prod(at[:, None] - poles, axis=1)
    return Fit(zeros, poles, float(np.median(fit(at) / ratio)))


@dataclass(frozen=True)
class Mesh:
    """C, L_h = kappa^2 + C^-1 G and its eigenpairs, of an interval with a branch."""

    max_cell: float

    @property
    def space(self) -> FiniteElementSpace:
        graph = MetricGraph([0, 1, 1], [1, 2, 3], [1.0, 1.4, 0.6])
        return FiniteElementSpace.build(graph, max_cell=self.max_cell)

    @property
    def operator(self) -> tuple[np.ndarray, np.ndarray]:
        C, G = mass_and_stiffness(self.space)
        return C, KAPPA**2 * np.eye(len(C)) + solve(C, G)

    @property
    def eigenpairs(self) -> tuple[np.ndarray, np.ndarray]:
        C, G = mass_and_stiffness(self.space)
        mu, psi = eigh(G, C)
        return KAPPA**2 + np.maximum(mu, 0.0), psi

    def kernel(self, function) -> np.ndarray:
        """tau^-2 sum_i function(lambda_i) psi_i psi_i'."""
        eigenvalues, psi = self.eigenpairs
        return (psi * function(eigenvalues)) @ psi.T / TAU**2


def printed_root(mesh: Mesh, fit: Fit, eigenvalues: np.ndarray) -> np.ndarray:
    """s_h(1 / lambda) for alpha < 1, m_alpha = 1, without expanding anything."""
    largest = mesh.eigenpairs[0].max()
    return largest ** (1 - ALPHA) * fit(eigenvalues / largest) / eigenvalues


def printed_matrices(mesh: Mesh, fit: Fit) -> tuple[np.ndarray, np.ndarray]:
    """P_l and P_r: polynomials of L_h, expanded."""
    _, L = mesh.operator
    largest = mesh.eigenpairs[0].max()
    identity = np.eye(len(L))
    P_r, P_l = largest ** (1 - ALPHA) * fit.gain * identity, L.copy()
    for zero in fit.zeros:
        P_r = P_r @ (L / largest - zero * identity)
    for pole in fit.poles:
        P_l = P_l @ (L / largest - pole * identity)
    return P_l, P_r


def relative_error(found: np.ndarray, expected: np.ndarray) -> float:
    return float(np.abs(found - expected).max() / expected.max())


def test_the_lemma_holds_with_its_transposes_corrected():
    """lemma:rational kernel in terms of fem basis, m = 1: kernel, mean and covariance of the dense form."""
    mesh = Mesh(0.5)
    fit = best_uniform(1 - ALPHA, 1, 0.01)
    (C, L), (P_l, P_r) = mesh.operator, printed_matrices(mesh, fit)
    kernel = mesh.kernel(lambda e: printed_root(mesh, fit, e) ** 2)
    precision = P_l.T @ C @ P_l
    rng = np.random.default_rng(0)
    E, y = np.eye(len(L))[:, [0, 3, 3, 6]], rng.standard_normal(4)  # a repeated observation
    system = np.linalg.inv(TAU**2 * LAMBDA * precision + P_r.T @ E @ E.T @ P_r)
    dense = np.linalg.inv(E.T @ kernel @ E + LAMBDA * np.eye(4))
    cross = kernel @ E

    assert_allclose(P_r @ np.linalg.inv(precision) @ P_r.T / TAU**2, kernel, rtol=1e-8, atol=1e-10)
    assert_allclose(P_r @ system @ P_r.T @ E @ y, cross @ dense @ y, rtol=1e-7, atol=1e-9)
    covariance = kernel - cross @ dense @ cross.T
    assert_allclose(LAMBDA * P_r @ system @ P_r.T, covariance, rtol=1e-7, atol=1e-9)


def test_the_printed_products_do_not_conform():
    """E has a column an observation: E P_r exists for N_h observations only."""
    mesh = Mesh(0.5)
    _, P_r = printed_matrices(mesh, best_uniform(1 - ALPHA, 1, 0.01))
    E = np.eye(len(P_r))[:, [0, 3]]

    with pytest.raises(ValueError, match="matmul"):
        E @ P_r


def test_for_alpha_below_one_the_left_polynomial_has_one_degree_more_than_printed():
    """p_l = z q_2(z / lambda_N) with deg q_2 = m + 1."""
    fit = best_uniform(1 - ALPHA, 4, 0.01)

    assert len(fit.zeros) == 4
    assert len(fit.poles) + 1 == 4 + 1 + 1


def test_expanding_the_polynomials_loses_all_digits_at_six():
    """N_h near 50: the fit improves with m, the kernel from P_l' C P_l holds at 2 and is lost at 6."""
    mesh = Mesh(0.06)
    eigenvalues, _ = mesh.eigenpairs
    exact = mesh.kernel(lambda e: e ** (-2 * ALPHA))
    errors = {}
    for m in (2, 4, 6):
        fit = best_uniform(1 - ALPHA, m, eigenvalues.min() / eigenvalues.max())
        P_l, P_r = printed_matrices(mesh, fit)
        expanded = P_r @ np.linalg.solve(P_l.T @ mesh.operator[0] @ P_l, P_r.T) / TAU**2
        factored = mesh.kernel(lambda e, fit=fit: printed_root(mesh, fit, e) ** 2)
        errors[m] = relative_error(expanded, factored), relative_error(factored, exact)

    assert errors[2][1] > errors[4][1] > errors[6][1]
    assert errors[6][1] < 1e-4
    assert errors[2][0] < 1e-3
    assert errors[6][0] > 0.5


def test_the_interval_of_the_mesh_beats_the_unit_interval():
    """m = 8, lambda_N / lambda_1 near 800: the printed [0, 1] against [lambda_1 / lambda_N, 1]."""
    mesh = Mesh(0.12)
    eigenvalues, _ = mesh.eigenpairs
    exact = mesh.kernel(lambda e: e ** (-2 * ALPHA))
    errors = [
        relative_error(mesh.kernel(lambda e, f=fit: printed_root(mesh, f, e) ** 2), exact)
        for fit in (best_uniform(1 - ALPHA, 8, s) for s in (0.0, eigenvalues.min() / eigenvalues.max()))
    ]

    assert 500 < eigenvalues.max() / eigenvalues.min() < 1500
    assert errors[0] > 3e-4
    assert errors[1] < 1e-6


def test_shifted_operators_keep_their_digits_on_the_same_mesh():
    """Where the expanded form breaks, ours is as accurate as it says."""
    space = Mesh(0.06).space
    matern = Matern(ALPHA, kappa=KAPPA, tau=TAU)
    prior = FractionalPrior(space, matern, False, np.zeros(4), tolerance=1e-11)
    exact = Mesh(0.06).kernel(lambda e: e ** (-2 * ALPHA))

    assert relative_error(prior.covariance(space.nodes, space.nodes), exact) < 2e-11
    assert interpolated_power(2 * ALPHA, 6, prior.lowest).error < 2e-5
