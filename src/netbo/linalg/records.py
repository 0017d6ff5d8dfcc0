"""What kernels take: records of arrays instead of a dozen arguments, and the kernels for a kind of edges.

From Python a record comes as a plain tuple, which costs a call half the time of a named one; the first line
of a kernel gives the names back: mesh = MeshArrays(*mesh).
"""

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any, NamedTuple, TypeVar, cast

from netbo.arrays import FloatArray, IntArray
from netbo.linalg.blocks import Block

Record = TypeVar("Record", bound=tuple[Any, ...])
Edges = tuple[int, int, bool]  # first and last + 1 of a range, and whether the vertices are due as well
Sums = tuple[FloatArray, FloatArray]  # (n_elements, p (p + 1) / 2) each, see `SelectedSums`


class MeshArrays(NamedTuple):
    """Nodes of a mesh and the elimination order of its vertices; see `Topology` and `Pattern`."""

    tails: IntArray  # (E,)
    heads: IntArray  # (E,)
    offsets: IntArray  # (E + 1,)
    n_vertices: int
    by_cell: bool  # whether elements belong to cells, not to edges
    rank: IntArray  # (V,)
    starts: IntArray  # (n_head + 1,)
    rows: IntArray  # (nnz,)
    slots: IntArray  # (E,)
    n_head: int


class FactorArrays(NamedTuple):
    """S = L P L' without the dense tail; the elements and couplings it was made of."""

    off: FloatArray  # (n_elements, > p)
    row: FloatArray  # (n_elements, > p)
    coupling: FloatArray  # (n_cells,) or (1,)
    pivots: FloatArray  # (n_interior, p (p + 1) / 2 + p^2) inverse pivots, packed, and fill to an end
    middle: FloatArray  # (E, p^2) fill of the middle node to the head, where cells are equal
    L: FloatArray  # (nnz, p^2)
    inverses: FloatArray  # (n_head, p (p + 1) / 2) of the pivots of the vertices, packed
    sign: float  # (-1)^(p-1)


class SchurArrays(NamedTuple):
    """What is added at the nodes, and what eliminated edges leave to the vertices, and these to the tail."""

    weight: FloatArray  # (N,)
    robin: FloatArray  # (V,)
    ends: FloatArray  # (2 E, p^2) row sums of both ends
    cross: FloatArray  # (E, p^2) block between the ends, row head
    logs: FloatArray  # (E,) log|det| of the interior
    R: FloatArray  # (V, p^2) row sums by rank
    tail: FloatArray  # (p n_tail, p n_tail)
    pivots: FloatArray  # (n_head, p (p + 1) / 2) packed
    work: IntArray  # (4, V)


class VertexInverse(NamedTuple):
    """Blocks of the inverse at the vertices, by rank and in mesh order, and room for sums of one column."""

    tail: FloatArray  # (p n_tail, p n_tail)
    Z: FloatArray  # (nnz, p^2) on the pattern of L
    Zd: FloatArray  # (V, p (p + 1) / 2) on the diagonal, packed
    sums: FloatArray  # (V, p^2)
    vertices: FloatArray  # (V, p (p + 1) / 2) packed
    edges: FloatArray  # (E, p^2) between the ends, row head


class SelectedArrays(NamedTuple):
    """The field's entries of the inverse, see `SelectedInverse`."""

    variances: FloatArray  # (N,)
    neighbours: FloatArray  # (n_cells,)


class CellArrays(NamedTuple):
    """Whole blocks of the inverse at the ends of cells, (n_cells, p^2) each, see `CellBlocks`."""

    left: FloatArray
    right: FloatArray
    across: FloatArray


def bare(record: Record) -> Record:
    """The record as a plain tuple, for calls from Python."""
    return cast(Record, tuple(record))


@dataclass(frozen=True, slots=True)
class Chains:
    """The kernels of one kind of edges; they do the vertices too: a call costs more than a hundred nodes.

    Two algorithms, two objects: where only the number of an element differs, `MeshArrays.by_cell` tells.
    """

    eliminate: Callable[[Edges, MeshArrays, FactorArrays, SchurArrays, Block], float]
    forward: Callable[[Edges, MeshArrays, FactorArrays, FloatArray, FloatArray, Block], None]
    backward: Callable[[Edges, MeshArrays, FactorArrays, FloatArray, FloatArray, Block], None]
    select: Callable[
        [Edges, MeshArrays, FactorArrays, VertexInverse, SelectedArrays, Sums | None, Block], None
    ]
