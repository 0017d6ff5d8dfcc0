"""The block system S of a Whittle-Matérn field on a mesh: factorization, solves, selected inverse.

With p = 2 alpha, block S_ij = K_(p-1-i-j) for i + j <= p - 1 (K_j: Taylor coefficients of K in s) plus
(-1)^(p-1) D in the last corner, where the field sits. Then (S^-1)_uu = (-1)^(p-1) (Q + D)^-1 with the
precision Q of the field at unit amplitude, which is never formed: its condition number is that of K to the
power p.
"""

import math
from dataclasses import dataclass, field
from functools import cached_property
from types import ModuleType

import numpy as np

from netbo.arrays import FloatArray, IntArray
from netbo.errors import NumericalError
from netbo.linalg import chain, vertices
from netbo.linalg import chain_uneven as uneven
from netbo.linalg.blocks import packed_size, zero_block, zero_vector
from netbo.linalg.dense_tail import TailFactor, factor_tail
from netbo.linalg.elements import Elements
from netbo.linalg.ordering import Pattern, analyse
from netbo.linalg.runtime import Buffers, announce_first_compile, run_over_edges


@dataclass(frozen=True)
class Topology:
    """Which nodes a mesh has and how they hang together: all symbolic work, done once."""

    tails: IntArray  # (E,)
    heads: IntArray  # (E,)
    offsets: IntArray  # (E + 1,) first interior node of each edge, counted without the vertices
    n_vertices: int
    is_even: bool = (
        True  # whether all cells of an edge are equal: elements then belong to edges, else to cells
    )
    buffers: Buffers = field(default_factory=Buffers, repr=False, compare=False)

    @cached_property
    def pattern(self) -> Pattern:
        """Elimination order of the vertices and pattern of their factor."""
        return analyse(self.n_vertices, self.tails, self.heads)

    @cached_property
    def n_edges(self) -> int:
        """Number of edges."""
        return len(self.tails)

    @cached_property
    def n_interior(self) -> int:
        """Nodes inside edges."""
        return int(self.offsets[-1])

    @cached_property
    def n_nodes(self) -> int:
        """Vertices and interior nodes."""
        return self.n_vertices + self.n_interior

    @cached_property
    def n_cells(self) -> int:
        """Cells of all edges; cell j of edge e has the number offsets[e] + e + j."""
        return self.n_edges + self.n_interior

    @property
    def n_elements(self) -> int:
        """Rows that arrays of elements have: edges, or cells where these differ."""
        return self.n_edges if self.is_even else self.n_cells

    @property
    def chains(self) -> ModuleType:
        """The kernels that eliminate the interiors of the edges."""
        return chain if self.is_even else uneven


@dataclass(frozen=True, slots=True)
class Load:
    """The matrix D of the observations: row sums at the nodes, off-diagonal entries inside cells.

    `coupling` is one zero for all cells when every observation is at a node.
    """

    weight: FloatArray  # (N,)
    coupling: FloatArray  # (n_cells,) or (1,)


def field_sign(order: int) -> float:
    """(-1)^(p-1): what (S^-1)_uu has before it, and the field's row of every right-hand side with it."""
    return -1.0 if order % 2 == 0 else 1.0


def no_load(topology: Topology) -> Load:
    """D = 0: the prior."""
    return Load(weight=np.zeros(topology.n_nodes), coupling=np.zeros(1))


@dataclass(frozen=True, slots=True)
class SelectedInverse:
    """The field's entries of the inverse on the pattern of the mesh, (Q + D)^-1."""

    variances: FloatArray  # (N,) diagonal
    neighbours: FloatArray  # (n_cells,) across each cell


@dataclass(frozen=True, slots=True)
class SelectedSums(SelectedInverse):
    """With sums of whole blocks of S^-1, for the traces of gradients."""

    diagonals: FloatArray  # (n_elements, p (p + 1) / 2) sum over cells of both diagonal blocks of S^-1
    couples: FloatArray  # (n_elements, p (p + 1) / 2) sum over cells of the off-diagonal block plus transpose


@dataclass(frozen=True, slots=True)
class CellBlocks:
    """Blocks of S^-1 at the ends of every cell, row by row, (n_cells, p^2) each."""

    left: FloatArray
    right: FloatArray
    across: FloatArray  # row left, column right


class BlockFactor:
    """S = L P L', ready to solve with.

    `log_determinant` is log|det S| with every interior node's pivot in units of the p-th power of its
    element's diagonal: differences between orders and loads of the same elements are exact, and the large
    sum that would cancel in them is never formed.
    """

    def __init__(
        self,
        topology: Topology,
        elements: Elements,
        order: int,
        load: Load | None = None,
        robin: FloatArray | None = None,
    ) -> None:
        announce_first_compile(topology.chains.eliminate_chains, order)
        n, E, p = topology.n_vertices, topology.n_edges, order
        self.topology, self.elements, self.order = topology, elements, p
        self._like, self._zero = zero_block(p), zero_vector(p)
        self._sign = field_sign(p)
        lend, pattern = topology.buffers.lend, topology.pattern
        load = no_load(topology) if load is None else load
        self._coupling = load.coupling
        self._pivots = lend(self, topology.n_interior, packed_size(p) + p * p)
        self._middle = np.empty((E, p * p))
        self._L = lend(self, len(pattern.rows), p * p)
        self._inverses = np.empty((pattern.n_head, packed_size(p)))
        self._factor(load.weight, np.zeros(n) if robin is None else robin)

    def _factor(self, weight: FloatArray, robin: FloatArray) -> None:
        t, pattern, p, like = self.topology, self.topology.pattern, self.order, self._like
        ends, cross = np.empty((2 * t.n_edges, p * p)), np.empty((t.n_edges, p * p))
        logs, R = np.empty(t.n_edges), np.empty((t.n_vertices, p * p))
        tail = np.empty((p * pattern.n_tail, p * pattern.n_tail))
        run_over_edges(
            t.chains.eliminate_chains, t.offsets, t.offsets, t.n_vertices, self.elements.off,
            self.elements.row, weight, self._coupling, self._pivots, self._middle, ends, cross, logs,
            self._sign, like,
        )  # fmt: skip
        log = vertices.factor_vertices(
            t.tails, t.heads, pattern.rank, pattern.slots, pattern.starts, pattern.rows, pattern.n_head,
            robin, weight, ends, cross, logs, self._L, R, np.empty_like(self._inverses), self._inverses,
            tail, np.empty((4, t.n_vertices), dtype=np.int64), self._sign, like,
        )  # fmt: skip
        self._tail: TailFactor = factor_tail(tail, R[pattern.n_head :], p)
        self.log_determinant = log + self._tail.log_determinant
        if not math.isfinite(self.log_determinant):
            raise NumericalError(
                f"the block system could not be factored (order={p}, n_nodes={t.n_nodes}, "
                f"log determinant {self.log_determinant}); bring kappa times the cell lengths nearer to 1"
            )

    def solve(self, x: FloatArray) -> FloatArray:
        """Solutions of S x = b for right-hand sides (r, N, p), contiguous and overwritten."""
        for column in x:
            self._solve_one(column)
        return x

    def _solve_one(self, x: FloatArray) -> None:
        t, pattern, like, zero = self.topology, self.topology.pattern, self._like, self._zero
        ends = np.empty((2 * t.n_edges, self.order))
        run_over_edges(
            t.chains.forward_chains, t.offsets, t.offsets, t.n_vertices, self.elements.off, self._coupling,
            self._pivots, self._middle, x, ends, self._sign, like, zero,
        )  # fmt: skip
        y = np.empty((t.n_vertices, self.order))
        vertices.forward_vertices(
            t.tails, t.heads, pattern.rank, pattern.starts, pattern.rows, self._L, ends, x, y, zero, like
        )
        if pattern.n_tail:
            y[pattern.n_head :] = self._tail.solve(y[pattern.n_head :])
        vertices.backward_vertices(
            pattern.rank, pattern.starts, pattern.rows, self._L, self._inverses, y, x, zero, like
        )
        run_over_edges(
            t.chains.backward_chains, t.offsets, t.tails, t.heads, t.offsets, t.n_vertices, self.elements.off,
            self._coupling, self._pivots, self._middle, x, self._sign, like, zero,
        )  # fmt: skip

    def select(self) -> SelectedInverse:
        """Selected inverse: every variance and every covariance across a cell."""
        variances, neighbours = self._select(None, None)
        return SelectedInverse(variances, neighbours)

    def select_with_sums(self) -> SelectedSums:
        """Selected inverse and the sums that traces need."""
        shape = (self.topology.n_elements, packed_size(self.order))
        diagonals, couples = np.empty(shape), np.empty(shape)
        variances, neighbours = self._select(diagonals, couples)
        return SelectedSums(variances, neighbours, diagonals, couples)

    def select_cells(self) -> CellBlocks:
        """Whole blocks of the inverse at the ends of every cell of an uneven mesh, for what lies between."""
        t = self.topology
        left, right, across = np.empty((3, t.n_cells, self.order**2))
        run_over_edges(
            uneven.select_cells, t.offsets, t.tails, t.heads, t.offsets, self.elements.off, self._coupling,
            self._pivots, *self._select_vertices(), left, right, across, self._sign, self._like,
        )  # fmt: skip
        return CellBlocks(left, right, across)

    def _select_vertices(self) -> tuple[FloatArray, FloatArray]:
        """Blocks of the inverse at the vertices, packed, and between the ends of every edge."""
        t, pattern, p, like = self.topology, self.topology.pattern, self.order, self._like
        Z, Zd = np.empty((len(pattern.rows), p * p)), np.empty((t.n_vertices, packed_size(p)))
        tail_inverse = self._tail.inverse(p)
        vertex_blocks, edge_blocks = np.empty_like(Zd), np.empty((t.n_edges, p * p))
        vertices.select_vertices(
            t.tails, t.heads, pattern.rank, pattern.slots, pattern.starts, pattern.rows, pattern.n_head,
            self._L, self._inverses, tail_inverse, Z, Zd, np.empty((t.n_vertices, p * p)),
            vertex_blocks, edge_blocks, like,
        )  # fmt: skip
        return vertex_blocks, edge_blocks

    def _select(
        self, diagonals: FloatArray | None, couples: FloatArray | None
    ) -> tuple[FloatArray, FloatArray]:
        t, like = self.topology, self._like
        vertex_blocks, edge_blocks = self._select_vertices()
        variances, neighbours = np.empty(t.n_nodes), np.empty(t.n_cells)
        variances[: t.n_vertices] = self._sign * vertex_blocks[:, -1]
        run_over_edges(
            t.chains.select_chains, t.offsets, t.tails, t.heads, t.offsets, t.n_vertices, self.elements.off,
            self._coupling, self._pivots, self._middle, vertex_blocks, edge_blocks, variances, neighbours,
            diagonals, couples, self._sign, like,
        )  # fmt: skip
        return variances, neighbours
