import numpy as np
import pytest
from numpy.testing import assert_allclose, assert_array_equal

from netbo import FiniteElementSpace, Forbidden, interval, open_rectangle, star
from netbo.errors import ParameterError
from netbo.optimize.maximizer import MaximizerDensity, MaximizerSamples
from netbo.optimize.search_space import Nodes, Places


def samples(index, search):
    return MaximizerSamples(np.array(index), np.zeros(len(index)), len(search.points))


def on_interval(index=(1, 1, 2, 2)):
    """Nodes at 0, 4, 1, 2, 3: vertices come first."""
    search = Nodes(FiniteElementSpace.build(interval(4.0), max_cell=1.0))
    return MaximizerDensity.of(samples(index, search), search)


def test_each_candidate_spreads_its_share_over_what_it_stands_for():
    """The end at 4 stands for half a cell, the node at 1 for two halves."""
    found = on_interval()
    x = found.graph.points(0, [0.2, 0.6, 1.4, 1.6, 3.4, 3.6, 4.0])

    assert_allclose(found(x), [0, 0.5, 0.5, 0, 0, 1, 1])


def test_masses_are_integrals_of_the_density():
    found = on_interval()
    edge = np.zeros(4, dtype=np.int64)
    mass = found.mass(edge, np.array([0.0, 0.5, 1.0, 3.75]), np.array([4.0, 1.0, 3.75, 4.0]))

    assert_allclose(mass, [1.0, 0.25, 0.5, 0.25])


@pytest.mark.parametrize("graph", [open_rectangle(), star(4, length=3.0)])
def test_masses_of_a_partition_sum_to_one_and_agree_with_a_fine_sum(graph):
    search = Nodes(FiniteElementSpace.build(graph, n_nodes=80))
    rng = np.random.default_rng(3)
    found = MaximizerDensity.of(samples(rng.integers(len(search.points), size=50), search), search)
    cuts = np.linspace(0, 1, 8)
    edge = np.repeat(np.arange(graph.n_edges), 7)
    start, end = (np.tile(part, graph.n_edges) * graph.lengths[edge] for part in (cuts[:-1], cuts[1:]))
    mass = found.mass(edge, start, end)
    share = (np.arange(2000) + 0.5) / 2000
    fine = [
        found(graph.points(int(e), a + share * (b - a))).mean() * (b - a)
        for e, a, b in zip(edge, start, end, strict=True)
    ]

    assert mass.sum() == pytest.approx(1.0)
    assert_allclose(mass, fine, atol=2e-3)


def test_single_places_have_mass_and_no_length():
    graph = interval(4.0)
    search = Places(graph, graph.points(0, [1.0, 2.0, 4.0]))
    found = MaximizerDensity.of(samples([0, 1, 1, 2], search), search)
    edge = np.zeros(3, dtype=np.int64)
    mass = found.mass(edge, np.array([0.0, 1.0, 2.0]), np.array([1.0, 2.0, 4.0]))

    assert not found.has_length
    assert_allclose(mass, [0.0, 0.25, 0.75])
    assert_array_equal(found(graph.points(0, [1.0, 1.5])), [np.inf, 0.0])


def test_nothing_lies_where_it_is_forbidden():
    graph = interval(4.0)
    search = Nodes(FiniteElementSpace.build(graph, max_cell=1.0), Forbidden(stretches=[(0, 1.2, 1.8)]))
    found = MaximizerDensity.of(samples([2], search), search)

    assert_allclose(found(graph.points(0, [1.0, 1.3])), [1 / 0.7, 0.0])


def test_samples_must_belong_to_the_search():
    search = Nodes(FiniteElementSpace.build(interval(4.0), max_cell=1.0))
    with pytest.raises(ParameterError, match="drawn at 3 candidates"):
        MaximizerDensity.of(MaximizerSamples(np.array([0]), np.zeros(1), 3), search)
