"""Joint normal laws for BoTorch that do not depend on the unit of the values."""

from typing import Any

import torch
from gpytorch.distributions import MultivariateNormal
from linear_operator.operators import DenseLinearOperator, RootLinearOperator, TriangularLinearOperator
from torch import Tensor

from netbo.errors import NumericalError

ADDED = (1e-14, 1e-12, 1e-10, 1e-8, 1e-6)  # to the ones on a diagonal of correlations, until it has a factor


class JointNormal(MultivariateNormal):
    """A normal law with its variances as they are.

    Its base class raises variances below 1e-10 to that, whatever the unit, and warns of each: after exact
    measurements that would be all measured places.
    """

    @property
    def variance(self) -> Tensor:
        """Variances, (..., q)."""
        variances: Tensor = self.lazy_covariance_matrix.diagonal(dim1=-1, dim2=-2)
        return variances


class JointCovariance(DenseLinearOperator):
    """A covariance with a Cholesky factor of its own.

    A candidate that was measured already makes the joint covariance singular, so that happens all the time.
    The usual remedy adds 1e-8 to all variances and warns; here it is added to correlations, no more than it
    takes. The factor is never approximated, whatever the size.
    """

    def cholesky(self, upper: bool = False) -> Any:
        """Lower triangular L with L L' = C, or its transpose."""
        factor = semidefinite_cholesky(self.tensor)
        return TriangularLinearOperator(factor.mT if upper else factor, upper=upper)

    def root_decomposition(self, method: str | None = None) -> Any:
        """L L'; `method` makes no difference."""
        return RootLinearOperator(self.cholesky())


def semidefinite_cholesky(covariance: Tensor) -> Tensor:
    """Lower triangular L with L L' = C up to rounding, (..., q, q); rows of zero variance are zero.

    Factors the correlations. Where these are singular to rounding a little is added to their diagonal.
    """
    sd = covariance.diagonal(dim1=-2, dim2=-1).clamp_min(0.0).sqrt()
    varies = sd > 0
    unit = torch.where(varies, sd, torch.ones_like(sd))
    identity = torch.eye(covariance.shape[-1], dtype=covariance.dtype, device=covariance.device)
    related = varies.unsqueeze(-1) & varies.unsqueeze(-2)
    correlation = torch.where(related, covariance / unit.unsqueeze(-1) / unit.unsqueeze(-2), identity)
    factor = _factor(correlation.reshape(-1, *covariance.shape[-2:]), identity)
    return sd.unsqueeze(-1) * factor.reshape(covariance.shape)


def _factor(correlations: Tensor, identity: Tensor) -> Tensor:
    """Factors of a stack of correlation matrices."""
    factor: Tensor
    factor, failed = torch.linalg.cholesky_ex(correlations)
    for added in ADDED:
        again = torch.nonzero(failed).squeeze(-1)
        if not len(again):
            return factor
        factor[again], failed[again] = torch.linalg.cholesky_ex(correlations[again] + added * identity)
    if failed.any():
        worst = float(torch.linalg.eigvalsh(correlations[torch.nonzero(failed)[0, 0]])[0])
        raise NumericalError(
            f"a joint covariance must not be indefinite, got correlations of {len(identity)} points with the "
            f"eigenvalue {worst:.3g}; raise the noise variance"
        )
    return factor
