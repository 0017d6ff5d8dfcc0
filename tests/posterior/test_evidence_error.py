"""The evidence of a kernel that is an approximation, and the error it reports."""

import numpy as np
import pytest

import netbo
from netbo import FiniteElementSpace, Matern, Observations
from netbo.errors import AccuracyWarning
from netbo.priors import sum_of


def random_problem(seed):
    """A network, a kernel of fractional alpha and its dense twin by eigenvectors, a few values."""
    rng = np.random.default_rng((16, seed))
    n_vertices = int(rng.integers(2, 6))
    tails, heads = rng.integers(0, n_vertices, (2, n_vertices + int(rng.integers(0, 3))))
    _, ends = np.unique(np.concatenate([tails, heads]), return_inverse=True)
    lengths = 10 ** rng.uniform(-0.7, 0.7, len(tails))
    space = FiniteElementSpace.build(
        netbo.MetricGraph(*ends.reshape(2, -1), lengths), n_nodes=30 + len(tails)
    )
    alpha = float(rng.choice([0.35, 0.6, 0.8, 1.2, 1.4, 1.7, 2.3]))
    matern = Matern(alpha, range=10 ** rng.uniform(-1, 1) * lengths.sum(), sigma=1.0)
    n = int(rng.integers(2, 9))
    points = netbo.uniform_points(space.graph, n, rng)
    data = Observations(points, rng.normal(size=n), 10 ** rng.uniform(-6, 0))
    return netbo.whittle_matern(space, matern), netbo.spectral(space, matern), data


@pytest.mark.filterwarnings("ignore::netbo.errors.AccuracyWarning")
def test_the_reported_error_covers_the_evidence_and_is_small_where_noise_is_not():
    """Against eigenvectors; a smooth kernel beside a noise of 1e-6 magnifies 1e-9 to hundreds."""
    errors, bounds, noise = [], [], []
    for seed in range(120):
        prior, twin, data = random_problem(seed)
        posterior = netbo.condition(prior, data)
        exact = netbo.condition(twin, data).log_evidence()
        errors.append(abs(posterior.log_evidence() - exact) - 1e-9 * abs(exact))  # without rounding
        bounds.append(posterior.log_evidence_error())
        noise.append(data.noise[0])
    errors, bounds, noise = map(np.array, (errors, bounds, noise))

    assert np.all(errors <= bounds + 1e-9)
    assert errors.max() > 1e-3
    assert np.median(bounds[noise > 0.03]) < 1e-5


def test_an_evidence_that_is_not_known_is_said():
    graph = netbo.interval(3.0)
    prior = netbo.whittle_matern(FiniteElementSpace.build(graph, max_cell=0.1), Matern(1.7, range=3.0))
    rough = Observations(graph.points(0, [0.1, 0.5, 0.9, 1.6, 2.8]), [1.0, -1.0, 1.0, -1.0, 1.0])
    with pytest.warns(AccuracyWarning, match=r"log evidence may be off by .*; raise the noise"):
        netbo.condition(prior, rough, noise=1e-6).log_evidence()

    assert netbo.condition(prior, rough, noise=0.1).log_evidence_error() < 1e-4


def test_exact_kernels_report_no_error():
    space = FiniteElementSpace.build(netbo.interval(3.0), max_cell=0.1)
    data = Observations(space.nodes[[0, 3]], [1.0, 2.0], 1e-8)
    for prior in (
        netbo.whittle_matern(space, Matern(1.0, range=1.0)),
        netbo.whittle_matern(space.graph, Matern(1.0, range=1.0)),
        netbo.spectral(space, Matern(0.8, range=1.0)),
    ):
        assert netbo.condition(prior, data).log_evidence_error() == 0


def test_sums_and_constant_variances_pass_the_error_on():
    space = FiniteElementSpace.build(netbo.interval(3.0), max_cell=0.1)
    part = netbo.whittle_matern(space, Matern(0.8, range=1.0))
    constant = netbo.whittle_matern(space, Matern(0.8, range=1.0), constant_variance=True)

    assert sum_of(part, netbo.spectral(space, Matern(1.0, range=1.0))).error == part.error > 0
    assert constant.error == 2 * part.error
