"""The precision form against eq:postmean and eq:postcov on a mesh of several hundred nodes."""

import numpy as np
import pytest
from numpy.testing import assert_allclose

import netbo
from netbo import ESTIMATED, Matern, Observations, Points
from support.reference import Regression, element_kernel


@pytest.mark.parametrize("mean", [0.0, ESTIMATED])
@pytest.mark.parametrize("p", [1, 2, 3, 4])
def test_precision_and_covariance_form_agree(p, mean):
    """120 observations on streets: repeats, off the nodes, noise of their own over three decades."""
    rng = np.random.default_rng(p)
    graph = netbo.road(40, seed=3)
    space = netbo.FiniteElementSpace.build(graph, max_cell=0.15)
    matern = Matern(alpha=p / 2, range=2.5, sigma=1.2)
    spots = Points.concatenate(
        [netbo.uniform_points(graph, 60, rng), space.nodes[rng.integers(0, space.n_nodes, 40)]]
    )
    points = Points.concatenate([spots, spots[rng.integers(0, 100, 20)]])
    noise = np.where(rng.random(120) < 0.5, 10 ** rng.uniform(-3, 0, 120), np.nan)
    data = Observations(points, rng.standard_normal(120), noise)
    posterior = netbo.condition(netbo.whittle_matern(space, matern), data, regularization=0.04, mean=mean)
    twin = Regression(
        element_kernel(space, matern),
        points,
        data.values,
        np.where(np.isnan(noise), 0.04, noise),
        None if mean is ESTIMATED else mean,
    )
    x = netbo.uniform_points(graph, 50, rng)

    assert_allclose(posterior.mean(x), twin.mean(x), rtol=1e-9, atol=1e-9)
    assert_allclose(posterior.std(x), twin.std(x), rtol=1e-9)
    assert_allclose(posterior.covariance(x, x), twin.covariance(x, x), rtol=1e-9, atol=1e-10)
    assert posterior.log_evidence() == pytest.approx(twin.log_evidence(), rel=1e-9)
    assert posterior.information_gain() == pytest.approx(twin.information_gain(), rel=1e-9)
