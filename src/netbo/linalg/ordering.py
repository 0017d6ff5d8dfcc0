"""Symbolic work on the vertices, once per mesh: elimination order, pattern of L, dense tail."""

from dataclasses import dataclass

import numpy as np
from scipy import sparse
from scipy.sparse.linalg import splu

from netbo.arrays import FloatArray, IntArray
from netbo.linalg.runtime import kernel

DENSE_FRACTION = 0.98  # of the blocks of a trailing part; above it LAPACK-like panels beat sparse columns
SMALLEST_TAIL = 48  # vertices; below it a dense tail saves nothing
HUB = 4_096  # neighbours from which minimum degree takes time quadratic in them: such vertices come last


@dataclass(frozen=True, slots=True)
class Pattern:
    """Elimination order of the vertices and the pattern of the factor L it leads to.

    Column k of L, for k < n_head, has its rows in rows[starts[k]:starts[k+1]], ascending, without the
    diagonal; the remaining n_vertices - n_head columns are kept as one dense block.
    """

    rank: IntArray  # (V,) place of each vertex in the elimination order
    starts: IntArray  # (n_head + 1,)
    rows: IntArray  # (nnz,)
    slots: IntArray  # (E,) where an edge adds to L: entry of `rows`, -1 for a loop, -2 inside the dense tail
    n_head: int

    @property
    def n_tail(self) -> int:
        """Number of vertices eliminated as one dense block."""
        return len(self.rank) - self.n_head


def analyse(n_vertices: int, tails: IntArray, heads: IntArray) -> Pattern:
    """Order the vertices for little fill (minimum degree, from SuperLU) and find the pattern of L."""
    rank = np.empty(n_vertices, dtype=np.int64)
    rank[_minimum_degree(n_vertices, tails, heads)] = np.arange(n_vertices)
    low = np.minimum(rank[tails], rank[heads])
    high = np.maximum(rank[tails], rank[heads])
    proper = low < high
    keys = np.unique(high[proper] * n_vertices + low[proper])
    row_starts = np.searchsorted(keys, np.arange(n_vertices + 1) * n_vertices)
    columns = keys % n_vertices
    parents, counts, seen = np.full((3, n_vertices), -1)
    _elimination_tree(row_starts, columns, parents, counts, seen)
    starts = np.concatenate([[0], np.cumsum(counts)])
    rows, free = np.empty(starts[-1], dtype=np.int64), starts[:-1].copy()
    seen[:] = -1
    _column_rows(row_starts, columns, parents, seen, free, rows)
    n_head = n_vertices - _dense_tail(counts)
    starts = starts[: n_head + 1]
    rows = np.ascontiguousarray(rows[: starts[-1]])
    # Entries of L are sorted by column and row, so an edge's is found by bisection.
    entries = np.repeat(np.arange(n_head), np.diff(starts)) * n_vertices + rows
    slots = np.searchsorted(entries, low * n_vertices + high)
    slots = np.where(proper, np.where(low < n_head, slots, -2), -1)
    return Pattern(rank=rank, starts=starts, rows=rows, slots=slots, n_head=n_head)


def _minimum_degree(n_vertices: int, tails: IntArray, heads: IntArray) -> IntArray:
    """Vertices in elimination order; hubs last, as they would be, without the time it takes to find out."""
    proper = tails != heads
    i, j = tails[proper], heads[proper]
    ones = np.ones(2 * len(i))
    adjacency = sparse.coo_array((ones, (np.r_[i, j], np.r_[j, i])), (n_vertices, n_vertices)).tocsc()
    adjacency.data[:] = -0.9
    degree = np.diff(adjacency.indptr)
    is_hub = degree > HUB
    if is_hub.any():
        usual, hubs = np.flatnonzero(~is_hub), np.flatnonzero(is_hub)
        number, between = np.cumsum(~is_hub) - 1, ~(is_hub[i] | is_hub[j])
        if len(usual):
            usual = usual[_minimum_degree(len(usual), number[i[between]], number[j[between]])]
        return np.concatenate([usual, hubs])
    diagonal = sparse.diags_array(degree + 1.0, format="csc")
    # SuperLU does not hand out its ordering alone; factoring this dominant matrix costs one scalar factor.
    options = {"SymmetricMode": True}
    lu = splu(diagonal + adjacency, permc_spec="MMD_AT_PLUS_A", diag_pivot_thresh=0.0, options=options)
    return np.argsort(lu.perm_c).astype(np.int64)


@kernel
def _elimination_tree(
    row_starts: IntArray, columns: IntArray, parents: IntArray, counts: IntArray, seen: IntArray
) -> None:
    """Parent of every vertex in the elimination tree and the number of rows below each diagonal."""
    for k in range(len(parents)):
        counts[k] = 0
        seen[k] = k
        for entry in range(row_starts[k], row_starts[k + 1]):
            i = columns[entry]
            while seen[i] != k:
                if parents[i] == -1:
                    parents[i] = k
                counts[i] += 1
                seen[i] = k
                i = parents[i]


@kernel
def _column_rows(
    row_starts: IntArray, columns: IntArray, parents: IntArray, seen: IntArray, free: IntArray, rows: IntArray
) -> None:
    """Row numbers of L, column by column, ascending because rows are visited in order."""
    for k in range(len(parents)):
        seen[k] = k
        for entry in range(row_starts[k], row_starts[k + 1]):
            i = columns[entry]
            while seen[i] != k:
                rows[free[i]] = k
                free[i] += 1
                seen[i] = k
                i = parents[i]


def _dense_tail(counts: IntArray) -> int:
    """Size of the largest trailing part whose lower triangle is dense, 0 if it is too small to matter."""
    filled: FloatArray = np.cumsum(counts[::-1]).astype(np.float64)
    full = np.cumsum(np.arange(len(counts), dtype=np.float64))
    dense = np.flatnonzero(filled >= DENSE_FRACTION * full)
    size = int(dense[-1]) + 1 if dense.size else 0
    return size if size >= SMALLEST_TAIL else 0
