"""Conditioning a prior on observations."""

import math

from netbo.errors import ObservationError, ParameterError
from netbo.posterior.base import Mean, MeanSetting, Posterior
from netbo.posterior.block import BlockPosterior
from netbo.posterior.dense import DensePosterior
from netbo.posterior.mesh_free import MeshFreePosterior
from netbo.posterior.observations import Observations
from netbo.priors import DensePrior, FiniteElementPrior, MeshFreePrior, Prior


def condition(
    prior: Prior, observations: Observations, *, regularization: float | None = None, mean: Mean = 0.0
) -> Posterior:
    """The posterior of the field given observations.

    regularization: the lambda of eq:postmean, the noise variance of observations without their own.
    mean: the constant mean of the field, or ESTIMATED.

    With a finite element prior the evidence is exact to rounding for every noise at the nodes; for points
    inside cells it loses about 1e-16 sigma^2 / lambda, so put nearly noiseless points at nodes.
    """
    if not isinstance(prior, FiniteElementPrior | DensePrior):
        raise ParameterError(f"condition needs a prior, got {type(prior).__name__}; see whittle_matern")
    if not isinstance(mean, MeanSetting) and not math.isfinite(mean):
        raise ParameterError(f"mean must be a finite number or ESTIMATED, got {mean}; 0 is the paper's")
    if isinstance(mean, MeanSetting) and not len(observations):
        raise ObservationError("an estimated mean needs at least one observation, got none; pass mean=0.0")
    points = prior.graph.bind(observations.points)
    bound = Observations(points, observations.values, observations.noise)
    if isinstance(prior, MeshFreePrior):
        return MeshFreePosterior(prior, bound, regularization=regularization, mean=mean)
    if isinstance(prior, FiniteElementPrior):
        return BlockPosterior(prior, bound, regularization=regularization, mean=mean)
    return DensePosterior(prior, bound, regularization=regularization, mean=mean)
