"""Vertices joined by their shortest edge, as scipy's graph routines want them."""

import numpy as np
from scipy.sparse import csr_array
from scipy.sparse.csgraph import connected_components

from netbo.arrays import FloatArray, IntArray, SparseMatrix


def shortest_links(tails: IntArray, heads: IntArray, lengths: FloatArray, n_vertices: int) -> SparseMatrix:
    """Symmetric (n_vertices, n_vertices) lengths between neighbours.

    A sparse constructor would add up parallel edges, so only the shortest of them goes in. Loops shorten no
    path.
    """
    is_link = tails != heads
    low = np.minimum(tails, heads)[is_link]
    high = np.maximum(tails, heads)[is_link]
    weight = lengths[is_link]
    order = np.lexsort((weight, high, low))
    low, high, weight = low[order], high[order], weight[order]
    is_first = np.ones(len(low), dtype=np.bool_)
    is_first[1:] = (np.diff(low) != 0) | (np.diff(high) != 0)
    low, high, weight = low[is_first], high[is_first], weight[is_first]
    rows, columns = np.concatenate([low, high]), np.concatenate([high, low])
    return csr_array((np.tile(weight, 2), (rows, columns)), shape=(n_vertices, n_vertices))


def component_labels(links: SparseMatrix) -> IntArray:
    """Component of every vertex, counted from 0 in the order of the vertices."""
    return np.asarray(connected_components(links, directed=False)[1], dtype=np.int64)
