import sys

import numpy as np
import pytest
from numpy.testing import assert_allclose

from netbo import FiniteElementSpace
from netbo.errors import ParameterError
from netbo.optional import MissingPackageError
from netbo.problems import SourceLoad, SourcePrior, new_york, new_york_inversion


@pytest.fixture(autouse=True)
def _needs_topohub():
    pytest.importorskip("topohub")


def test_the_network_has_16_vertices_and_49_links():
    """The counts of SNDlib's page of this network."""
    graph = new_york()

    assert (graph.n_vertices, graph.n_edges, graph.n_components) == (16, 49, 1)
    assert graph.vertex_ids[0] == "N1"
    assert ("N1", "N2") in graph.edge_ids


@pytest.mark.parametrize(("scale", "n_nodes"), [(400, 92), (200, 197), (150, 262), (100, 400)])
def test_scales_give_the_known_meshes(scale, n_nodes):
    """Counts found independently with straight pixel lengths."""
    assert FiniteElementSpace.build(new_york(scale), max_cell=0.25).n_nodes == n_nodes


def test_lengths_are_straight_and_scaled():
    """N1 at pixel (237, 338), N2 at (130, 207)."""
    graph = new_york(100.0)
    link = graph.edge_indices([("N1", "N2")])

    assert graph.lengths[link[0]] == pytest.approx(np.hypot(1.07, 1.31))
    assert_allclose(graph.positions[graph.vertex_indices("N1")[0]], [2.37, 3.38])
    assert_allclose(graph.lengths, 1.5 * new_york(150.0).lengths)


def test_the_source_problem_of_the_paper():
    inversion = new_york_inversion(40, seed=5)

    assert inversion.space.n_nodes == 262
    assert len(inversion.observed) == 131
    assert (inversion.chi, inversion.noise_sd, inversion.seed) == (0.2, 0.1, 5)
    assert inversion.problem().maximum == 0.0


def test_with_little_noise_the_source_in_new_york_is_found():
    for source in (3, 40, 120):
        inversion = new_york_inversion(
            source, noise_sd=1e-4, load=SourceLoad.POINT, prior=SourcePrior.DENSITY, max_cell=0.5
        )

        assert inversion.mode == source


@pytest.mark.parametrize("scale", [0.0, -1.0, np.inf, np.nan])
def test_a_scale_is_positive(scale):
    with pytest.raises(ParameterError, match=r"scale must be positive pixels a unit, got .*; 150 gives"):
        new_york(scale)


def test_without_topohub_the_extra_is_named(monkeypatch):
    monkeypatch.setitem(sys.modules, "topohub", None)

    with pytest.raises(MissingPackageError, match=r"New York network needs topohub, .*extra 'telecom'"):
        new_york()
