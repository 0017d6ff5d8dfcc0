"""A path of three edges, where the law of the objective is known in closed form."""

import warnings
from importlib.util import find_spec
from types import SimpleNamespace

import numpy as np
import pytest

import netbo

# These tests have an environment of their own (make test-botorch); elsewhere nothing can run them.
collect_ignore_glob = [] if find_spec("torch") else ["test_*.py"]

if find_spec("torch"):
    with warnings.catch_warnings():
        warnings.simplefilter(
            "ignore", DeprecationWarning
        )  # linear_operator calls torch.jit.script on import
        import botorch.models  # noqa: F401

RANGE, SIGMA, NOISE = 1.6, 1.5, 0.04
MEASURED = np.array([0.2, 0.9, 1.5, 2.1, 2.8])
VALUES = np.array([0.3, 1.1, -0.4, 0.9, -1.2])


def kernel(s, t):
    """Matérn of smoothness 1/2 along the path."""
    return SIGMA**2 * np.exp(-2 * np.abs(np.subtract.outer(s, t)) / RANGE)


def conditioned(s, measured=MEASURED, values=VALUES, noise=NOISE):
    """Mean and covariance at s, by the textbook."""
    T = kernel(measured, measured) + np.diag(np.broadcast_to(noise, len(measured)))
    k = kernel(s, measured)
    return k @ np.linalg.solve(T, values), kernel(s, s) - k @ np.linalg.solve(T, k.T)


@pytest.fixture
def path():
    """Graph, posterior and closed form; a place is named by its distance s from the first end of the path."""
    graph = netbo.grid(1, 4)
    prior = netbo.euclidean_matern(graph, nu=0.5, range=RANGE, sigma=SIGMA)

    def points(s):
        s = np.atleast_1d(s)
        edge = np.minimum(s.astype(int), 2)
        return graph.points(edge, s - edge)

    def posterior(measured=MEASURED, values=VALUES, noise=None, regularization=NOISE):
        observations = netbo.Observations(points(measured), values, noise)
        return netbo.condition(prior, observations, regularization=regularization)

    return SimpleNamespace(
        graph=graph, points=points, posterior=posterior, truth=conditioned, measured=MEASURED, noise=NOISE
    )


@pytest.fixture
def tensor(path):
    """Tensors of rows (edge, distance) from distances s of any shape, (..., 2)."""
    import torch

    from netbo.integrations.botorch import candidates_tensor

    def make(s):
        s = np.asarray(s, dtype=float)
        return candidates_tensor(path.points(s.ravel())).reshape(torch.Size((*s.shape, 2)))

    return make
