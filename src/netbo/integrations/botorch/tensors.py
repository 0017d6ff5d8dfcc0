"""Places on a network as tensors of rows (edge, distance), and back; tensors from outside, checked."""

from typing import Any

import numpy as np
import torch
from torch import Tensor

from netbo.arrays import BoolArray, FloatArray
from netbo.errors import ObservationError, ParameterError, PointError
from netbo.geometry import MetricGraph, Points
from netbo.integrations.botorch.moments import as_points
from netbo.optimize import Optimizer, SearchSpace


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
    return torch.from_numpy(np.column_stack([points.edge.astype(np.float64), points.z]))


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
