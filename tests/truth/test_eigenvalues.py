"""Eigenvalues of the Laplacian with Kirchhoff vertices against closed forms."""

import numpy as np
import pytest
from scipy.linalg import eigh

import netbo

CELLS = (16, 32, 64, 128)


def errors(graph, exact, lumped):
    """Relative errors of the eigenvalues of (G, C) on meshes of 16 to 128 cells an edge."""
    found = []
    for n in CELLS:
        space = netbo.FiniteElementSpace(graph, np.full(graph.n_edges, n))
        mass = np.diag(space.lumped_mass) if lumped else space.mass.toarray()
        values = eigh(space.stiffness.toarray(), mass, eigvals_only=True)[: len(exact)]
        found.append(np.abs(values - exact)[1:] / exact[1:])
    return np.array(found)


def interval_eigenvalues(length, n):
    """(k pi / L)^2: cosines."""
    return (np.arange(n) * np.pi / length) ** 2


def circle_eigenvalues(length, n):
    """(2 pi k / L)^2, each twice but the first: sines and cosines."""
    return (2 * np.pi * ((np.arange(n) + 1) // 2) / length) ** 2


def star_eigenvalues(arms, length, n):
    """(k pi / L)^2 once, ((k + 1/2) pi / L)^2 for each pair of arms: even and odd at the centre."""
    k = np.arange(n)
    odd = np.repeat((k + 0.5) * np.pi / length, arms - 1)
    return np.sort(np.concatenate([k * np.pi / length, odd]) ** 2)[:n]


@pytest.mark.parametrize("lumped", [False, True])
@pytest.mark.parametrize(
    ("graph", "exact"),
    [
        (netbo.interval(2.0), interval_eigenvalues(2.0, 6)),
        (netbo.circle(3.0), circle_eigenvalues(3.0, 6)),
        (netbo.star(4, 1.5), star_eigenvalues(4, 1.5, 6)),
    ],
    ids=["interval", "circle", "star"],
)
def test_eigenvalues_converge_at_rate_two(graph, exact, lumped):
    """Hat functions: |lambda_h - lambda| = O(h^2), with either mass."""
    found = errors(graph, exact, lumped)
    rates = np.polyfit(np.log(1 / np.array(CELLS)), np.log(found), 1)[0]

    assert rates == pytest.approx(np.full(5, 2.0), abs=0.1)
    assert found[-1].max() < 1e-2


def test_a_vertex_of_degree_two_is_no_vertex():
    """Kirchhoff at degree two is continuity of the derivative: the circle cut into three has its spectrum."""
    graph = netbo.MetricGraph([0, 1, 2], [1, 2, 0], [1.0, 0.5, 1.5])
    space = netbo.FiniteElementSpace(graph, np.array([40, 20, 60]))
    values = eigh(space.stiffness.toarray(), space.mass.toarray(), eigvals_only=True)[1:6]

    assert values == pytest.approx(circle_eigenvalues(3.0, 6)[1:], rel=1e-2)
