"""Conditioning a prior on observations."""

import math
import warnings

import numpy as np

from netbo.checks import explained
from netbo.errors import AccuracyWarning, ObservationError, ParameterError
from netbo.posterior.base import Mean, MeanSetting, Posterior
from netbo.posterior.block import LEAST_NOISE_INSIDE, BlockPosterior
from netbo.posterior.dense import DensePosterior
from netbo.posterior.mesh_free import MeshFreePosterior
from netbo.posterior.observations import Observations
from netbo.priors import DensePrior, FiniteElementPrior, MeshFreePrior, Prior
from netbo.wording import counted


@explained
def condition(
    prior: Prior,
    observations: Observations,
    *,
    regularization: float | None = None,
    noise: float | None = None,
    mean: Mean = 0.0,
) -> Posterior:
    """The posterior of the field given observations.

    Parameters
    ----------
    prior : Prior
        The field before the data: from `whittle_matern`, `spectral` or `euclidean_matern`.
    observations : Observations
        Values at points of the prior's network; none at all gives the prior back.
    regularization : float, optional
        The lambda of eq:postmean: the noise variance of observations without their own.
    noise : float, optional
        The same number under the name it has in `Observations` and `Optimizer`; give one of the two.
    mean : float or ESTIMATED, default 0.0
        The constant mean of the field; ESTIMATED finds it by generalized least squares and counts its
        uncertainty.

    Returns
    -------
    Posterior
        Ready to ask: `mean`, `std`, `covariance`, `sample`, `log_evidence`.

    Raises
    ------
    ParameterError
        If `prior` is none, if the mean is not finite, or if both `regularization` and `noise` are given.
    ObservationError
        If an observation has no noise variance, or a mean is to be estimated from no observation.
    PointError
        If a point is not on the prior's network.

    Notes
    -----
    With a finite element prior noise may be as small as one likes, at nodes and inside cells, but for three
    or more points inside one cell, of which two tell the others: there noise below 1e-13 sigma^2 is taken as
    that much, with an AccuracyWarning. Another one says where values that contradict each other, or a range
    far beyond the network, leave few digits of the mean or of the evidence.

    Examples
    --------
    >>> import netbo
    >>> graph = netbo.interval(3.0)
    >>> prior = netbo.whittle_matern(graph, netbo.Matern(alpha=1.0, range=1.0))
    >>> data = netbo.Observations(graph.points(0, [0.5, 2.0]), [1.0, -1.0])
    >>> posterior = netbo.condition(prior, data, noise=0.01)
    >>> x = graph.points(0, [0.5, 1.0])
    >>> posterior.mean(x).round(3).tolist(), posterior.std(x).round(3).tolist()
    ([0.991, 0.324], [0.1, 0.872])
    """
    if not isinstance(prior, FiniteElementPrior | DensePrior):
        raise ParameterError(f"condition needs a prior, got {type(prior).__name__}; see whittle_matern")
    if regularization is not None and noise is not None:
        raise ParameterError(
            f"regularization and noise are one variance, got {regularization} and {noise}; pass one of them"
        )
    regularization = noise if regularization is None else regularization
    if not isinstance(mean, MeanSetting) and not math.isfinite(mean):
        raise ParameterError(f"mean must be a finite number or ESTIMATED, got {mean}; 0 is the paper's")
    if isinstance(mean, MeanSetting) and not len(observations):
        raise ObservationError("an estimated mean needs at least one observation, got none; pass mean=0.0")
    points = prior.graph.bind(observations.points)
    bound = Observations(points, observations.values, observations.noise)
    if isinstance(prior, MeshFreePrior):
        return MeshFreePosterior(prior, bound, regularization=regularization, mean=mean)
    if isinstance(prior, FiniteElementPrior):
        posterior = BlockPosterior(prior, bound, regularization=regularization, mean=mean)
        _say_floor(posterior)
        return posterior
    return DensePosterior(prior, bound, regularization=regularization, mean=mean)


def _say_floor(posterior: BlockPosterior) -> None:
    """Say where noise was raised so much that it can be felt."""
    given = posterior.observations.noise_variances(posterior.regularization)
    n_raised = int(np.count_nonzero((given < posterior.noise) & (posterior.data.at.fraction > 0)))
    if n_raised:
        warnings.warn(
            f"{counted(n_raised, 'observation')} in crowded cells of the mesh should have noise of at least "
            f"{LEAST_NOISE_INSIDE:g} of the variance of the field, got less, and that much is taken; refine "
            "the mesh, or condition the mesh-free prior, which has a node at every point",
            AccuracyWarning,
            stacklevel=3,
        )
