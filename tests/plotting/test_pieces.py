import numpy as np
import pytest
from hypothesis import given
from numpy.testing import assert_allclose, assert_array_equal

from netbo import MetricGraph, grid, open_rectangle, road
from netbo.errors import ParameterError
from netbo.plotting.canvas import LEAST_PIECES, cut_into_pieces, even_fractions
from support.strategies import metric_graphs


def test_long_edges_have_more_pieces_and_short_ones_the_least():
    graph = open_rectangle()
    pieces = cut_into_pieces(graph, 75)

    assert_array_equal(np.bincount(pieces.edge), [18, LEAST_PIECES, 36, LEAST_PIECES, 18])


@given(metric_graphs(is_drawn=True))
def test_pieces_cover_every_edge_from_tail_to_head_without_gaps(graph):
    pieces = cut_into_pieces(graph, 50)
    is_first = np.r_[True, np.diff(pieces.edge) > 0]
    is_last = np.r_[is_first[1:], True]

    assert_array_equal(np.unique(pieces.edge), np.arange(graph.n_edges))
    assert np.all(pieces.start[is_first] == 0)
    assert np.all(pieces.stop[is_last] == 1)
    assert_array_equal(pieces.start[~is_first], pieces.stop[~is_last])


@given(metric_graphs(is_drawn=True))
def test_the_middle_of_a_piece_is_drawn_in_the_middle_of_its_segment(graph):
    """True only if no bend lies inside a piece."""
    pieces = cut_into_pieces(graph, 20)

    assert_allclose(graph.embed(pieces.middles), pieces.ends.mean(axis=1), atol=1e-9)


def test_pieces_end_at_the_bends():
    graph = MetricGraph([0], [1], None, curves=[[[0, 0], [1, 0], [1, 2.3]]])
    ends = cut_into_pieces(graph, 10).ends.reshape(-1, 2)

    assert np.min(np.linalg.norm(ends - [1, 0], axis=1)) < 1e-12


def test_a_network_in_space_is_seen_from_above():
    graph = MetricGraph([0], [1], None, curves=[[[0, 0, 5], [3, 4, 9]]])

    assert cut_into_pieces(graph, 10).ends.shape[1:] == (2, 2)


def test_even_fractions_hold_both_ends_of_every_row():
    row, fraction = even_fractions(np.array([1.0, 3.0]), 16)

    assert_array_equal(np.bincount(row), [LEAST_PIECES + 1, 13])
    assert_allclose(fraction[row == 1], np.linspace(0, 1, 13))


@pytest.mark.parametrize("graph", [grid(2, 3), road(12, seed=0)])
def test_samples_must_be_positive(graph):
    with pytest.raises(ParameterError, match="samples counts the pieces of a picture, got 0"):
        cut_into_pieces(graph, 0)
