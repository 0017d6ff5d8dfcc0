"""The finite element prior from its eigenpairs (eq:kh-nodewise): any alpha, dense."""

from dataclasses import dataclass, replace
from typing import Self

import numpy as np
from numpy.typing import ArrayLike
from scipy.linalg import eigh

from netbo.arrays import FloatArray
from netbo.checks import explained
from netbo.errors import NumericalError, ParameterError
from netbo.fem import FiniteElementSpace
from netbo.geometry import Points
from netbo.priors.base import ConstantVariance, KernelPrior
from netbo.priors.finite_element import MaternOnSpace
from netbo.priors.matern import Matern
from netbo.priors.whittle_matern import as_vertex_condition

LARGEST_SPACE = 2000  # nodes: the dense eigenproblem takes seconds there
LARGEST_LOSS = 1e-6  # relative error of the smallest eigenvalues; beyond it the prior is refused


@dataclass(frozen=True, eq=False)
class SpectralPrior(MaternOnSpace, KernelPrior):
    """tau^-2 sum_i (kappa^2 + mu_i)^(-2 alpha) psi_i(x) psi_i(x'), with G psi = mu C psi."""

    space: FiniteElementSpace
    eigenvalues: FloatArray  # (N,) mu_i = lambda_i - kappa^2, of the Laplacian with its vertex conditions
    eigenvectors: FloatArray  # (N, N) columns psi_i at the nodes, orthonormal in C

    def rescaled(self, *, range: float | None = None, sigma: float | None = None) -> Self:  # noqa: A002
        """The same prior with another range, another sigma, or both; the eigenpairs stay."""
        return replace(self, matern=self.matern.rescaled(range=range, sigma=sigma))

    def _features(self, x: Points) -> FloatArray:
        """psi_i(x), (n, N)."""
        features: FloatArray = self.space.basis(x) @ self.eigenvectors
        return features

    def _weights(self) -> FloatArray:
        """(kappa^2 + mu_i)^(-2 alpha) / tau^2, refused where rounding in mu_i would show."""
        m = self.matern
        smallest = m.kappa**2 + np.min(self.eigenvalues[self.eigenvalues > 0], initial=np.inf)
        lost = float(np.finfo(float).eps * self.eigenvalues[-1] / smallest)
        if lost > LARGEST_LOSS:
            raise NumericalError(
                f"the eigenvalues of this mesh are known to {lost:.1e} only "
                f"(largest {self.eigenvalues[-1]:.3g}, smallest {smallest:.3g}); "
                "use whittle_matern, which keeps its digits, or cells of like size"
            )
        return (m.kappa**2 + self.eigenvalues) ** (-2 * m.alpha) / m.tau**2

    def _weight_derivatives(self) -> FloatArray:
        """Derivatives of the weights in log range at fixed sigma: tau^2 goes as kappa^(-2 nu)."""
        m = self.matern
        share = m.kappa**2 / (m.kappa**2 + self.eigenvalues)
        return -self._weights() * (2 * m.nu - 4 * m.alpha * share)

    def covariance(self, x: Points, y: Points) -> FloatArray:
        """k_h(x, y), (n, m)."""
        return (self._features(x) * self._weights()) @ self._features(y).T

    def variance(self, x: Points) -> FloatArray:
        """k_h(x, x), (n,)."""
        return self._features(x) ** 2 @ self._weights()

    def range_derivative(self, x: Points, y: Points) -> FloatArray:
        """d k(x, y) / d log range at fixed sigma, (n, m)."""
        return (self._features(x) * self._weight_derivatives()) @ self._features(y).T

    def range_derivative_of_variance(self, x: Points) -> FloatArray:
        """d k(x, x) / d log range at fixed sigma, (n,)."""
        return self._features(x) ** 2 @ self._weight_derivatives()


@explained
def spectral(
    space: FiniteElementSpace,
    matern: Matern,
    *,
    lumped: bool = False,
    vertex_condition: ArrayLike = 0.0,
    constant_variance: bool = False,
) -> SpectralPrior | ConstantVariance:
    """The Whittle-Matérn prior on a finite element space by its eigenpairs: any alpha > 1/4, but dense.

    Parameters
    ----------
    space : FiniteElementSpace
        Of at most 2,000 nodes.
    matern : Matern
        Smoothness, range and amplitude.
    lumped : bool, default False
        Replace the mass C by its row sums.
    vertex_condition : array_like, default 0.0
        theta >= 0 of eq:kirchhoff, one number or one for every vertex; 0 is Kirchhoff.
    constant_variance : bool, default False
        Divide the field by its standard deviation, which is sqrt(2) larger at dead ends.

    Returns
    -------
    SpectralPrior or ConstantVariance
        The latter with a constant variance.

    Raises
    ------
    ParameterError
        If the space has more nodes, or a vertex condition is negative.

    Examples
    --------
    >>> import netbo
    >>> graph = netbo.interval(3.0)
    >>> space = netbo.FiniteElementSpace.build(graph, max_cell=0.5)
    >>> prior = netbo.spectral(space, netbo.Matern(alpha=0.75, range=1.0))
    >>> prior.variance(graph.points(0, [0.5, 2.0])).round(3).tolist()
    [1.165, 1.06]
    """
    if space.n_nodes > LARGEST_SPACE:
        raise ParameterError(
            f"the spectral prior is dense, at most {LARGEST_SPACE} nodes, got {space.n_nodes}; "
            "use whittle_matern or a coarser mesh"
        )
    stiffness = space.stiffness.toarray()
    vertices = np.arange(space.graph.n_vertices)
    theta = as_vertex_condition(vertex_condition, space.graph)
    stiffness[vertices, vertices] += theta
    mass = np.diag(space.lumped_mass) if lumped else space.mass.toarray()
    prior = SpectralPrior(space, matern, *_eigenpairs(space, stiffness, mass, theta))
    return ConstantVariance(prior) if constant_variance else prior


def _eigenpairs(
    space: FiniteElementSpace, stiffness: FloatArray, mass: FloatArray, theta: FloatArray
) -> tuple[FloatArray, FloatArray]:
    """Eigenvalues and eigenvectors of G psi = mu C psi; the constants, whose mu is 0, put in exactly.

    eigh knows eigenvalues to eps times the largest; a small kappa^2 would drown in that where mu is 0.
    """
    eigenvalues, eigenvectors = eigh(stiffness, mass)
    graph = space.graph
    flat = np.setdiff1d(graph.components, graph.components[theta > 0])
    label = graph.component_of(space.nodes)
    for column, component in enumerate(flat):
        inside = label == component
        eigenvalues[column] = 0.0
        eigenvectors[:, column] = inside / np.sqrt(space.lumped_mass[inside].sum())
    rest = eigenvalues[len(flat) :]
    eigenvalues[len(flat) :] = np.maximum(rest, np.finfo(float).tiny)
    return eigenvalues, eigenvectors
