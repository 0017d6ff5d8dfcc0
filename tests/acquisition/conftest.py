"""A posterior on the network of the contracts, noisy enough that its incumbent is in doubt."""

import numpy as np
import pytest

import netbo
from netbo import Matern, Observations, Points
from support.reference import contract_points, contract_space


@pytest.fixture
def prior():
    return netbo.whittle_matern(contract_space(), Matern(alpha=1.0, range=2.0, sigma=1.3))


@pytest.fixture
def observations():
    """Ten values at nine places: inside cells, at nodes, at vertices, one of them twice."""
    points = Points.concatenate(
        [contract_points(), contract_space().nodes[[9, 25, 3]], contract_points()[:1]]
    )
    return Observations(points, np.random.default_rng(5).standard_normal(len(points)))


@pytest.fixture
def posterior(prior, observations):
    return netbo.condition(prior, observations, regularization=0.05, mean=0.3)


@pytest.fixture
def candidates():
    """The nodes, and a point inside a cell which was observed."""
    return Points.concatenate([contract_space().nodes, contract_points()[:1]])


@pytest.fixture
def rng():
    return np.random.default_rng(0)
