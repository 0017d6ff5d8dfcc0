"""Points as tensors of rows (edge, distance), their joint normal laws, and moments of many small sets.

BoTorch asks for the joint law of [what was measured, one candidate, what is pending] for every candidate.
Only the candidate differs, so a solve for each point in common and one variance a candidate are enough.
"""

from typing import Any

import numpy as np
import torch
from gpytorch.distributions import MultivariateNormal
from linear_operator.operators import DenseLinearOperator, RootLinearOperator, TriangularLinearOperator
from torch import Tensor

from netbo.arrays import BoolArray, FloatArray, IntArray
from netbo.errors import NumericalError, ObservationError, ParameterError, PointError
from netbo.geometry import MetricGraph, Points
from netbo.optimize import Optimizer, SearchSpace
from netbo.posterior import Surrogate

# Means and covariances of many small sets of points, most of which have most points in common.

TOGETHER = 1_000  # points whose whole covariance is computed at once


def joint_moments(
    surrogate: Surrogate, graph: MetricGraph, sets: FloatArray
) -> tuple[FloatArray, FloatArray]:
    """Means (b, q) and covariances (b, q, q) of the objective at b sets of q rows (edge, distance)."""
    b, q, _ = sets.shape
    mean, covariance = np.empty((b, q)), np.empty((b, q, q))
    if not sets.size:
        return mean, covariance
    is_common = (sets == sets[:1]).all(axis=(0, 2)) if q > 1 else np.zeros(1, dtype=np.bool_)
    common, varying = np.flatnonzero(is_common), np.flatnonzero(~is_common)
    if len(common):
        x = as_points(sets[0, common], graph)
        mean[:, common] = surrogate.mean(x)
        covariance[:, common[:, None], common] = _symmetric(surrogate.covariance(x, x))
    if len(varying):
        step = b if len(varying) == 1 else max(1, TOGETHER // len(varying))
        for first in range(0, b, step):
            part = slice(first, first + step)
            _fill_varying(surrogate, graph, sets[part], common, varying, mean[part], covariance[part])
    return mean, covariance


def _fill_varying(
    surrogate: Surrogate,
    graph: MetricGraph,
    sets: FloatArray,
    common: IntArray,
    varying: IntArray,
    mean: FloatArray,
    covariance: FloatArray,
) -> None:
    """Moments of the points that differ between sets, among themselves and with the common ones."""
    rows, where = np.unique(sets[:, varying].reshape(-1, 2), axis=0, return_inverse=True)
    which = where.reshape(len(sets), len(varying))  # row of each varying point
    x = as_points(rows, graph)
    mean[:, varying] = surrogate.mean(x)[which]
    if len(varying) == 1:
        covariance[:, varying[0], varying[0]] = surrogate.variance(x)[which[:, 0]]
    else:
        among = _symmetric(surrogate.covariance(x, x))
        covariance[:, varying[:, None], varying] = among[which[:, :, None], which[:, None, :]]
    if len(common):
        across = surrogate.covariance(x, as_points(sets[0, common], graph))[which]  # (b, v, c)
        covariance[:, varying[:, None], common] = across
        covariance[:, common[:, None], varying] = across.transpose(0, 2, 1)


def as_points(rows: FloatArray, graph: MetricGraph) -> Points:
    """Points of a network at rows (edge, distance); edges are numbered as the user has them."""
    number, distance = rows[:, 0].astype(np.int64), rows[:, 1]
    known = graph.addresses
    if known is None:
        return Points(number, distance, graph=graph)
    unknown = number[(number < 0) | (number >= len(known))]
    if unknown.size:
        raise PointError(
            f"edges must lie in 0..{len(known) - 1}, got {unknown[0]}; they are numbered as in "
            "graph.address_table.ids"
        )
    return Points(*known.locate(number, distance), graph=graph)


def _symmetric(matrix: FloatArray) -> FloatArray:
    half: FloatArray = (matrix + matrix.T) / 2
    return half


# Joint normal laws for BoTorch that do not depend on the unit of the values.

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


def candidates_tensor(places: Optimizer | SearchSpace | Points) -> Tensor:
    """Rows (edge, distance), (n, 2) in double precision; of an optimizer, the places it may ask for.

    >>> import netbo
    >>> candidates_tensor(netbo.star(3).points([0, 2], [0.5, 0.25]))
    tensor([[0.0000, 0.5000],
            [2.0000, 0.2500]], dtype=torch.float64)
    """
    if isinstance(places, Optimizer):
        places = places.search
    points = places.points if isinstance(places, SearchSpace) else places
    if not isinstance(points, Points):
        raise ParameterError(
            f"candidates come from an optimizer, a search space or points, got {type(places).__name__}; "
            "make points with graph.points(edges, distances)"
        )
    known = None if points.graph is None else points.graph.addresses
    number, distance = (points.edge, points.z) if known is None else known.measure(points.edge, points.z)
    return torch.from_numpy(np.column_stack([number.astype(np.float64), distance]))


def points_from(X: Tensor, graph: MetricGraph) -> Points:
    """The places of all rows (edge, distance) of a tensor, (..., 2), one after the other.

    >>> import netbo
    >>> points_from(torch.tensor([[2.0, 0.25]], dtype=torch.float64), netbo.star(3))[0].edge_id
    2
    """
    return as_points(as_rows(X).reshape(-1, 2), graph)


def as_rows(X: Any) -> FloatArray:
    """Rows (edge, distance) of a tensor as an array, (..., 2); edges are whole, nothing is missing."""
    if not isinstance(X, Tensor) or X.dtype != torch.float64:
        kind = X.dtype if isinstance(X, Tensor) else type(X).__name__
        raise ParameterError(
            f"places must be a tensor of torch.float64, got {kind}; make one with candidates_tensor(...)"
        )
    if X.requires_grad:
        raise ParameterError(
            "edges are discrete, so nothing can be differentiated by (edge, distance), got X with "
            "requires_grad; choose among candidates with botorch.optim.optimize_acqf_discrete"
        )
    if X.ndim < 2 or X.shape[-1] != 2:
        raise PointError(
            f"places must be rows (edge, distance), got shape {tuple(X.shape)}; pass a tensor (..., q, 2)"
        )
    rows: FloatArray = X.cpu().numpy()
    _require(
        np.isfinite(rows[..., 0]) & np.isfinite(rows[..., 1]), rows, "finite", "leave incomplete rows out"
    )
    _require(rows[..., 0] == np.rint(rows[..., 0]), rows, "whole in the edge", "use indices 0, 1, ...")
    return rows


def _require(is_good: BoolArray, rows: FloatArray, what: str, remedy: str) -> None:
    if not is_good.all():
        first = rows[~is_good][0].tolist()
        raise PointError(f"rows (edge, distance) must be {what}, got {first}; {remedy}")


def as_values(Y: Any, n: int) -> FloatArray:
    """Values (..., n, 1) at n places as an array (..., n)."""
    if not isinstance(Y, Tensor) or Y.shape[-2:] != (n, 1):
        shape = tuple(Y.shape) if isinstance(Y, Tensor) else type(Y).__name__
        raise ObservationError(
            f"values must be a tensor (..., {n}, 1), one for each row of X, got {shape}; "
            "add the last dimension with Y.unsqueeze(-1)"
        )
    values: FloatArray = Y.detach().cpu().numpy().astype(np.float64)
    return values[..., 0]


def as_variances(noise: Any, shape: tuple[int, ...]) -> FloatArray:
    """Noise variances (..., n or 1, 1) as an array broadcast to `shape` (..., n)."""
    if not isinstance(noise, Tensor) or not _fits(tuple(noise.shape), (*shape, 1)):
        kind = tuple(noise.shape) if isinstance(noise, Tensor) else type(noise).__name__
        raise ObservationError(
            f"noise must be a tensor (..., {shape[-1]} or 1, 1), got {kind}; "
            "torch.full((1, 1), variance) is one for all"
        )
    variances: FloatArray = noise.detach().cpu().numpy().astype(np.float64)
    bad = variances[~(np.isfinite(variances) & (variances >= 0))]
    if bad.size:
        raise ObservationError(
            f"noise variances must be finite and not negative, got {bad[0]}; square a standard deviation"
        )
    return np.broadcast_to(variances[..., 0], shape)


def _fits(shape: tuple[int, ...], target: tuple[int, ...]) -> bool:
    """Whether a tensor of two dimensions or more can be broadcast to the target."""
    wide = (1,) * (len(target) - len(shape)) + shape
    is_near = len(shape) >= 2 and len(wide) == len(target)
    return is_near and all(a in (1, b) for a, b in zip(wide, target, strict=True))


def common_batch(*shapes: tuple[int, ...]) -> tuple[int, ...]:
    """The shape that all batches can be broadcast to."""
    try:
        return np.broadcast_shapes(*shapes)
    except ValueError as cause:
        given = " and ".join(str(tuple(shape)) for shape in shapes)
        raise ParameterError(
            f"batches of places, values and the model must broadcast, got {given}; "
            "see batch_shape of the model"
        ) from cause
