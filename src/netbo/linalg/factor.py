"""The block system S of a Whittle-Matérn field on a mesh: factorization, solves, selected inverse.

With p = 2 alpha, block S_ij = K_(p-1-i-j) for i + j <= p - 1 (K_j: Taylor coefficients of K in s) plus
(-1)^(p-1) D in the last corner, where the field sits. Then (S^-1)_uu = (-1)^(p-1) (Q + D)^-1 with the
precision Q of the field at unit amplitude, which is never formed: its condition number is that of K to the
power p.
"""

import math
from dataclasses import dataclass, field
from functools import cached_property

import numpy as np

from netbo.arrays import FloatArray, IntArray
from netbo.errors import NumericalError
from netbo.linalg.blocks import packed_size, zero_block
from netbo.linalg.chain import EVEN
from netbo.linalg.chain_uneven import UNEVEN, select_cells
from netbo.linalg.dense_tail import TailFactor, factor_tail
from netbo.linalg.elements import Elements
from netbo.linalg.ordering import Pattern, analyse
from netbo.linalg.records import (
    CellArrays,
    Chains,
    FactorArrays,
    MeshArrays,
    SchurArrays,
    SelectedArrays,
    Sums,
    VertexInverse,
    bare,
)
from netbo.linalg.runtime import Buffers, announce_first_compile, edges_then_vertices, vertices_then_edges


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
    def chains(self) -> Chains:
        """The kernels for its edges."""
        return EVEN if self.is_even else UNEVEN

    @cached_property
    def arrays(self) -> MeshArrays:
        """What kernels are told of a mesh."""
        pattern = self.pattern
        return bare(
            MeshArrays(
                tails=self.tails,
                heads=self.heads,
                offsets=self.offsets,
                n_vertices=self.n_vertices,
                by_cell=not self.is_even,
                rank=pattern.rank,
                starts=pattern.starts,
                rows=pattern.rows,
                slots=pattern.slots,
                n_head=pattern.n_head,
            )
        )


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
        announce_first_compile(topology.chains.eliminate, order)
        t, pattern, p = topology, topology.pattern, order
        self.topology, self.elements, self.order, self._like = t, elements, p, zero_block(p)
        load = no_load(t) if load is None else load
        pivots = t.buffers.lend(self, t.n_interior, packed_size(p) + p * p)
        middle = np.empty((t.n_edges if t.is_even else 0, p * p))
        L, inverses = (
            t.buffers.lend(self, len(pattern.rows), p * p),
            np.empty((pattern.n_head, packed_size(p))),
        )
        L.fill(0.0)
        self._arrays = bare(
            FactorArrays(
                elements.off, elements.row, load.coupling, pivots, middle, L, inverses, field_sign(p)
            )
        )
        self._eliminate(load.weight, np.zeros(t.n_vertices) if robin is None else robin)

    def _eliminate(self, weight: FloatArray, robin: FloatArray) -> None:
        t, pattern, p = self.topology, self.topology.pattern, self.order
        ends, cross, logs = (
            np.empty((2 * t.n_edges, p * p)),
            np.empty((t.n_edges, p * p)),
            np.empty(t.n_edges),
        )
        R, tail = np.zeros((t.n_vertices, p * p)), np.zeros((p * pattern.n_tail, p * pattern.n_tail))
        pivots = np.empty((pattern.n_head, packed_size(p)))
        work = np.empty((4, t.n_vertices), dtype=np.int64)
        schur = bare(SchurArrays(weight, robin, ends, cross, logs, R, tail, pivots, work))
        log = edges_then_vertices(t.chains.eliminate, t.offsets, t.arrays, self._arrays, schur, self._like)
        self._tail: TailFactor = factor_tail(tail, R[pattern.n_head :], p)
        self.log_determinant: float = log + self._tail.log_determinant
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
        t = self.topology
        head, tail = t.pattern.n_head, t.n_vertices
        y = np.empty((t.n_vertices + 2 * t.n_edges, self.order))  # vertices by rank, then what edges send
        arguments = (t.arrays, self._arrays, x, y, self._like)
        edges_then_vertices(t.chains.forward, t.offsets, *arguments)
        if head < tail:
            y[head:tail] = self._tail.solve(y[head:tail])
        vertices_then_edges(t.chains.backward, t.offsets, *arguments)

    def select(self) -> SelectedInverse:
        """Selected inverse: every variance and every covariance across a cell."""
        # Where elements belong to cells the sums cost next to nothing, and a kernel without them seconds.
        return SelectedInverse(*self._select(None if self.topology.is_even else self._room_for_sums()))

    def select_with_sums(self) -> SelectedSums:
        """Selected inverse and the sums that traces need."""
        sums = self._room_for_sums()
        return SelectedSums(*self._select(sums), *sums)

    def _room_for_sums(self) -> Sums:
        shape = (self.topology.n_elements, packed_size(self.order))
        return np.empty(shape), np.empty(shape)

    def _select(self, sums: Sums | None) -> tuple[FloatArray, FloatArray]:
        t = self.topology
        found = SelectedArrays(variances=np.empty(t.n_nodes), neighbours=np.empty(t.n_cells))
        arguments = (t.arrays, self._arrays, self._vertex_inverse(), bare(found), sums, self._like)
        vertices_then_edges(t.chains.select, t.offsets, *arguments)
        return found

    def select_cells(self) -> CellBlocks:
        """Whole blocks of the inverse at the ends of every cell of an uneven mesh, for what lies between."""
        t = self.topology
        cells = CellArrays(*np.empty((3, t.n_cells, self.order**2)))
        arguments = (t.arrays, self._arrays, self._vertex_inverse(), bare(cells), self._like)
        vertices_then_edges(select_cells, t.offsets, *arguments)
        return CellBlocks(*cells)

    def _vertex_inverse(self) -> VertexInverse:
        """The inverse in the dense tail, and room for its blocks at the other vertices."""
        t, p = self.topology, self.order
        return bare(
            VertexInverse(
                tail=self._tail.inverse(p),
                Z=np.empty((len(t.pattern.rows), p * p)),
                Zd=np.empty((t.n_vertices, packed_size(p))),
                sums=np.empty((t.n_vertices, p * p)),
                vertices=np.empty((t.n_vertices, packed_size(p))),
                edges=np.empty((t.n_edges, p * p)),
            )
        )
