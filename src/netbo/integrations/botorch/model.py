"""A posterior of netbo as a model of BoTorch."""

from __future__ import annotations  # the reference is built without torch

from collections.abc import Callable
from typing import Any, Self

import numpy as np
import torch
from botorch.models.model import Model
from botorch.posteriors.gpytorch import GPyTorchPosterior
from torch import Tensor

from netbo.arrays import FloatArray, IntArray
from netbo.errors import ObservationError, ParameterError
from netbo.geometry import MetricGraph
from netbo.integrations.botorch.tensors import (
    JointCovariance,
    JointNormal,
    as_points,
    as_rows,
    as_values,
    as_variances,
    common_batch,
    joint_moments,
)
from netbo.optimize import Optimizer
from netbo.optimize.surrogate import Negated
from netbo.posterior import Observations, Surrogate

# The noise of a measurement that has not been made yet.


def new_noise(surrogate: Surrogate) -> float:
    """Noise variance expected of a new measurement: the common one, or the mean of those of their own."""
    common = common_noise(surrogate)
    if common is not None:
        return common
    if not len(surrogate.noise):
        raise ObservationError(
            "the noise of a new measurement is not known, got a model without observations and without "
            "regularization; pass the variances as a tensor"
        )
    return float(surrogate.noise.mean())


def common_noise(surrogate: Surrogate) -> float | None:
    """Noise variance of observations without their own; None if the model has none."""
    has_own = surrogate.observations.has_own_noise
    if not has_own.all():
        return float(surrogate.noise[np.argmin(has_own)])
    upright: Any = surrogate.base if isinstance(surrogate, Negated) else surrogate
    regularization = getattr(upright, "regularization", None)
    return None if regularization is None else float(regularization)


class NetworkModel(Model):
    """The objective given observations, asked about by rows (edge, distance) of tensors (..., q, 2).

    Means and covariances are exactly those of the posterior; those of a mixture of models become a normal
    law of the same mean and covariance. Rows cannot be differentiated by: maximize acquisition functions with
    `optimize_acqf_discrete`. BoTorch maximizes; `from_optimizer` turns the objective around if need be.
    """

    num_outputs = 1

    def __init__(self, posterior: Surrogate) -> None:
        """A model of the posterior: what condition() returns, or `optimizer.posterior`."""
        if not isinstance(posterior, Surrogate):
            raise ParameterError(
                f"a NetworkModel needs a posterior, got {type(posterior).__name__}; "
                "pass condition(prior, observations), or use NetworkModel.from_optimizer(optimizer)"
            )
        graph = posterior.observations.points.graph
        if graph is None:
            raise ParameterError(
                "a NetworkModel needs observations bound to their network, got some without; "
                "bind their points with graph.bind(points)"
            )
        super().__init__()
        self.graph: MetricGraph = graph
        self._surrogates: tuple[Surrogate, ...] = (posterior,)  # one for each element of a batch
        self._batch: tuple[int, ...] = ()

    @classmethod
    def from_optimizer(cls, optimizer: Optimizer) -> Self:
        """A model of what the optimizer knows, turned so that more is better: of -f when minimizing."""
        return cls(optimizer.upright)

    @property
    def batch_shape(self) -> torch.Size:
        """() for one posterior; after conditioning on batches of values, the shape of these."""
        return torch.Size(self._batch)

    def posterior(
        self,
        X: Tensor,
        output_indices: list[int] | None = None,
        observation_noise: bool | Tensor = False,
        posterior_transform: Callable[..., Any] | None = None,
    ) -> Any:
        """The joint law of the objective at the q rows (edge, distance) of each batch, a GPyTorchPosterior.

        observation_noise: True adds the noise variance of a new measurement; a tensor (..., q or 1, 1) holds
        variances to be added.
        """
        if output_indices is not None:
            self.subset_output(output_indices)
        mean, covariance = self._moments(as_rows(X))
        variances = self._variances(observation_noise, mean.shape)
        if variances is not None:
            covariance[..., np.arange(mean.shape[-1]), np.arange(mean.shape[-1])] += variances
        law = JointNormal(
            torch.from_numpy(mean).to(X.device), JointCovariance(torch.from_numpy(covariance).to(X.device))
        )
        posterior = GPyTorchPosterior(distribution=law)
        if posterior_transform is None:
            return posterior
        return posterior_transform(posterior=posterior, X=X)

    def _moments(self, rows: FloatArray) -> tuple[FloatArray, FloatArray]:
        """Means (..., q) and covariances (..., q, q), batches of rows broadcast with those of the model."""
        q, shape = rows.shape[-2], common_batch(rows.shape[:-2], self._batch)
        sets = np.broadcast_to(rows, (*shape, q, 2)).reshape(-1, q, 2)
        number = self._numbers(shape).ravel()
        mean, covariance = np.empty((len(sets), q)), np.empty((len(sets), q, q))
        for index, surrogate in enumerate(self._surrogates):
            mine = number == index
            mean[mine], covariance[mine] = joint_moments(surrogate, self.graph, sets[mine])
        return mean.reshape(*shape, q), covariance.reshape(*shape, q, q)

    def _numbers(self, shape: tuple[int, ...]) -> IntArray:
        """Index of the posterior that belongs to each element of a batch."""
        return np.broadcast_to(np.arange(len(self._surrogates)).reshape(self._batch), shape)

    def _variances(self, observation_noise: bool | Tensor, shape: tuple[int, ...]) -> FloatArray | None:
        """Noise variances to be added, broadcast to (..., q)."""
        if not isinstance(observation_noise, bool):
            return as_variances(observation_noise, shape)
        if not observation_noise:
            return None
        noise = np.array([new_noise(each) for each in self._surrogates])
        return np.broadcast_to(noise.reshape(*self._batch, 1), shape)

    def subset_output(self, idcs: list[int]) -> Self:
        """The model itself: it has one output, number 0."""
        if list(idcs) not in ([0], [-1]):
            raise ParameterError(f"a NetworkModel has the output 0 only, got {idcs}; pass [0]")
        return self

    def condition_on_observations(
        self, X: Tensor, Y: Tensor, noise: Tensor | None = None, **unknown: Any
    ) -> Self:
        """The model after observations Y (..., n, 1) at rows X (..., n, 2), with its parameters as they are.

        noise: variances of the values (..., n or 1, 1); by default that of a new measurement. Batches of X, Y
        and the model are broadcast, and each of them becomes a posterior of its own.
        """
        if unknown:
            raise ParameterError(f"conditioning takes X, Y and noise, got {sorted(unknown)}; leave it out")
        rows, values = as_rows(X), as_values(Y, X.shape[-2])
        n, shape = rows.shape[-2], common_batch(rows.shape[:-2], values.shape[:-1], self._batch)
        places, values = np.broadcast_to(rows, (*shape, n, 2)), np.broadcast_to(values, (*shape, n))
        variances = None if noise is None else as_variances(noise, (*shape, n))
        number, extended = self._numbers(shape), []
        for at in np.ndindex(shape):
            known, own = self._surrogates[number[at]], None if variances is None else variances[at]
            extended.append(self._extended(known, places[at], values[at], own))
        other = type(self)(self._surrogates[0])
        other._surrogates, other._batch = tuple(extended), shape  # noqa: SLF001 - of its own class
        return other

    def _extended(
        self, known: Surrogate, rows: FloatArray, values: FloatArray, noise: FloatArray | None
    ) -> Surrogate:
        if not len(rows):
            return known
        if noise is None and common_noise(known) is None:
            noise = np.full(len(rows), new_noise(known))
        return known.extend(Observations(as_points(rows, self.graph), values, noise))

    def fantasize(
        self, X: Tensor, sampler: Any, observation_noise: Tensor | None = None, **unknown: Any
    ) -> Self:
        """Models after values drawn at X by the sampler, one for each draw, (draws, ...).

        observation_noise: variances (..., n or 1, 1) of the values; by default that of a new measurement.
        """
        noise = True if observation_noise is None else observation_noise
        drawn = sampler(self.posterior(X, observation_noise=noise))
        return self.condition_on_observations(X, drawn, observation_noise, **unknown)
