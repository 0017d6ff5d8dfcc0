from itertools import chain, combinations

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from netbo import FiniteElementSpace, MetricGraph, grid, interval, star
from netbo.errors import ParameterError
from netbo.optimize.maximizer import MaximizerSamples, search_list
from netbo.optimize.search_space import Forbidden, Nodes, Places
from support.strategies import metric_graphs, seeds


def samples_with(counts) -> MaximizerSamples:
    index = np.repeat(np.arange(len(counts)), counts)
    return MaximizerSamples(index, np.zeros(len(index)), n_candidates=len(counts))


def drawn_from(search, probability, n: int, seed: int) -> MaximizerSamples:
    rng = np.random.default_rng(seed)
    index = rng.choice(len(search.points), size=n, p=probability / probability.sum())
    return MaximizerSamples(index, np.zeros(n), n_candidates=len(search.points))


def counts_at(search, where: dict[float, int]) -> list[int]:
    """Draws at nodes of an interval, by their distance."""
    return [where.get(round(z, 9), 0) for z in search.points.z.tolist()]


def subsets(n: int):
    return chain.from_iterable(combinations(range(n), size) for size in range(1, n + 1))


@given(metric_graphs(), seeds(), st.sampled_from([0.1, 0.5, 0.8, 1.0]))
@settings(max_examples=40)
def test_nothing_shorter_holds_as_much(graph, seed, mass):
    """All subsets of at most ten nodes with draws."""
    search = Nodes(FiniteElementSpace.build(graph, max_cell=3.0))
    rng = np.random.default_rng(seed)
    drawn = rng.permutation(len(search.points))[:8]
    counts = np.zeros(len(search.points), dtype=int)
    counts[drawn] = rng.integers(1, 9, len(drawn))
    found = search_list(samples_with(counts), search, mass)
    p, w = counts[drawn] / counts.sum(), search.weights[drawn]
    lengths = [
        w[list(each)].sum()
        for each in subsets(len(drawn))
        if p[list(each)].sum() >= found.probability - 1e-12
    ]

    assert found.probability >= mass - 1e-12
    assert found.length == pytest.approx(min(lengths), rel=1e-9)


@given(metric_graphs(), seeds())
def test_the_parts_add_up(graph, seed):
    search = Nodes(FiniteElementSpace.build(graph, max_cell=1.0))
    found = search_list(drawn_from(search, search.weights, 60, seed), search)

    assert sum(found.by_edge.values()) == pytest.approx(1.0, rel=1e-12)
    assert sum(each.probability for each in found.stretches) == pytest.approx(found.probability, rel=1e-9)
    assert sum(each.length for each in found.stretches) == pytest.approx(found.length, rel=1e-9)
    assert found.searchable_length == pytest.approx(graph.total_length, rel=1e-9)
    assert all(0 <= each.start < each.end <= graph.lengths[each.edge_id] for each in found.stretches)
    assert list(found.by_edge.values()) == pytest.approx(sorted(found.by_edge.values(), reverse=True))


@given(metric_graphs(), seeds())
def test_stretches_of_one_edge_do_not_touch(graph, seed):
    search = Nodes(FiniteElementSpace.build(graph, max_cell=0.5))
    stretches = search_list(drawn_from(search, search.weights, 40, seed), search).stretches
    for one, two in combinations(stretches, 2):
        if one.edge_id == two.edge_id:
            assert max(one.start, two.start) > min(one.end, two.end) + 1e-9


@pytest.mark.parametrize("mass", [0.3, 0.8])
def test_a_maximizer_that_may_be_anywhere_needs_that_share_of_the_network(mass):
    """Draws in exact proportion to length, so the list is too long by less than one cell at a crossing."""
    search = Nodes(FiniteElementSpace.build(grid(4, 4), max_cell=0.25))
    counts = np.rint(search.weights * 8).astype(int)
    found = search_list(samples_with(counts), search, mass)

    assert found.length == pytest.approx(mass * 24, abs=search.weights.max())


def test_the_centre_of_a_star_lies_on_all_its_arms():
    graph = MetricGraph([0, 0, 0], [1, 2, 3], [1.0, 2.0, 3.0], edge_ids="abc")
    search = Nodes(FiniteElementSpace.build(graph, max_cell=10.0))
    found = search_list(samples_with([10, 0, 0, 0]), search)

    assert [(each.edge_id, each.start, each.end) for each in found.stretches] == [
        ("c", 0.0, 1.5),
        ("b", 0.0, 1.0),
        ("a", 0.0, 0.5),
    ]
    assert found.by_edge == pytest.approx({"c": 3 / 6, "b": 2 / 6, "a": 1 / 6})


def test_pieces_that_touch_are_one_stretch():
    """Cells of length 1 on an edge of length 8: nodes 2, 3 and 6 hold 9 of 10 draws."""
    search = Nodes(FiniteElementSpace.build(interval(8.0), max_cell=1.0))
    found = search_list(
        samples_with(counts_at(search, {2.0: 3, 3.0: 3, 6.0: 3, 8.0: 0, 4.0: 1})), search, 0.9
    )

    assert [(each.start, each.end) for each in found.stretches] == [(1.5, 3.5), (5.5, 6.5)]
    assert [each.probability for each in found.stretches] == pytest.approx([0.6, 0.3])
    assert found.length == pytest.approx(3.0)


def test_half_a_cell_at_a_dead_end_is_denser():
    """One draw in the half cell of an end node beats one in the whole cell of an inner node."""
    search = Nodes(FiniteElementSpace.build(interval(4.0), max_cell=1.0))
    found = search_list(samples_with(counts_at(search, {2.0: 1, 4.0: 1})), search, 0.5)

    assert [(each.start, each.end) for each in found.stretches] == [(3.5, 4.0)]


def test_forbidden_stretches_are_never_listed():
    search = Nodes(
        FiniteElementSpace.build(star(3, 4.0), max_cell=1.0), Forbidden(edges=[0], stretches=[(1, 1.2, 2.3)])
    )
    found = search_list(samples_with(np.ones(len(search.points), dtype=int)), search, 1.0)

    assert 0 not in found.by_edge
    assert sorted((each.edge_id, each.start, each.end) for each in found.stretches) == [
        (1, 0.0, 1.2),
        (1, 2.5, 4.0),
        (2, 0.0, 4.0),
    ]
    assert found.searchable_length == pytest.approx(1.2 + 1.5 + 4.0)


def test_own_places_are_listed_one_by_one():
    graph = star(3)
    search = Places(graph, graph.points([0, 1, 2, 2], [0.5, 0.5, 0.5, 1.0]))
    found = search_list(samples_with([2, 5, 1, 2]), search, 0.85)

    assert [(each.edge_id, each.start, each.end) for each in found.stretches] == [
        (1, 0.5, 0.5),
        (0, 0.5, 0.5),
        (2, 1.0, 1.0),
    ]
    assert [each.probability for each in found.stretches] == pytest.approx([0.5, 0.2, 0.2])
    assert found.length == 0.0
    assert found.by_edge == pytest.approx({1: 0.5, 2: 0.3, 0: 0.2})


def test_the_whole_mass_takes_every_draw():
    """Sums of shares such as 1/3 may fall short of 1 by rounding: draws are counted."""
    search = Nodes(FiniteElementSpace.build(interval(7.0), max_cell=1.0))
    found = search_list(samples_with([1] * len(search.points)), search, 1.0)

    assert found.probability == 1.0
    assert found.length == pytest.approx(7.0)


def test_few_draws_are_seen_through():
    """A list fitted to 50 draws of a uniform truth over 400 nodes claims 0.8 and holds little of new ones.

    With counts of relative spread s at the nodes, the best share L holds L + s phi(z) of its own draws, where
    phi(z) = 0.28 is the normal density at the quantile 0.8: L = 0.8 - 0.28 s, for s^2 = 400 / n.
    """
    search = Nodes(FiniteElementSpace.build(interval(1.0), n_nodes=400))
    few, many = (search_list(drawn_from(search, search.weights, n, seed=1), search) for n in (50, 200_000))

    assert few.probability >= 0.8
    assert few.held_out < 0.3
    assert many.length == pytest.approx(0.8 - 0.28 * np.sqrt(400 / 200_000), abs=0.006)
    assert many.held_out == pytest.approx(0.8 - 0.28 * np.sqrt(400 / 100_000), abs=0.006)


def test_one_draw_has_nothing_to_hold_out():
    search = Nodes(FiniteElementSpace.build(interval(7.0), max_cell=1.0))

    assert np.isnan(search_list(samples_with([1] + [0] * 7), search).held_out)


def test_a_list_prints_as_a_table_in_the_unit_of_the_graph():
    graph = MetricGraph([0, 1], [1, 2], [4.0, 2.0], edge_ids=["High Street", "Mill Lane"], unit="km")
    search = Nodes(FiniteElementSpace.build(graph, max_cell=1.0))
    counts = np.where((search.points.edge == 0) & (search.points.z == 2.0), 8, 0)
    counts += np.where((search.points.edge == 1) & (search.points.z == 1.0), 2, 0)

    assert str(search_list(samples_with(counts), search, 0.9)) == (
        "100% of the probability of the maximum on 2 of 6 km, in 2 stretches\n"
        "edge         from km  to km  probability\n"
        "High Street      1.5    2.5        80.0%\n"
        "Mill Lane        0.5    1.5        20.0%"
    )


def test_a_list_of_places_prints_without_a_length():
    graph = interval()
    text = str(search_list(samples_with([3]), Places(graph, graph.points(0, 0.25))))

    assert text == (
        "100% of the probability of the maximum, in 1 stretch\n"
        "edge  from    to  probability\n"
        "0     0.25  0.25       100.0%"
    )


def test_long_lists_print_their_first_rows():
    search = Nodes(FiniteElementSpace.build(interval(100.0), max_cell=1.0))
    counts = np.where(search.points.z % 4 == 1, 1, 0)
    lines = str(search_list(samples_with(counts), search, 1.0)).splitlines()

    assert len(lines) == 3 + 20 + 1
    assert lines[1].startswith("(rather ")
    assert lines[-1] == "... and 5 more"


@pytest.mark.parametrize("mass", [0.0, 1.1, np.nan])
def test_mass_is_a_share(mass):
    search = Nodes(FiniteElementSpace.build(interval(), max_cell=1.0))

    with pytest.raises(ParameterError, match=r"mass must be a share above 0 and up to 1, got"):
        search_list(samples_with([1, 1]), search, mass)


def test_samples_of_another_search_space_are_refused():
    search = Nodes(FiniteElementSpace.build(interval(), max_cell=1.0))

    with pytest.raises(ParameterError, match=r"drawn at 3 candidates, got a search space of 2"):
        search_list(samples_with([1, 1, 1]), search)
