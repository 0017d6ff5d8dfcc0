"""Continuous piecewise linear functions on a metric graph (eq:fem space): mesh, e(x), C and G."""

from collections.abc import Callable
from dataclasses import dataclass, replace
from functools import cached_property, partial
from typing import Any, Self

import numpy as np
from scipy import sparse

from netbo.arrays import FloatArray, IntArray, SparseMatrix, read_only, sum_by
from netbo.checks import explained, memory_size, require_memory, require_positive
from netbo.errors import ParameterError
from netbo.geometry import MetricGraph, Points
from netbo.linalg import Topology

_ROUNDING = 1e-12  # an edge of exactly n cells, up to rounding, gets n and not n + 1
NODE_BYTES = 400  # of a search with one model; 330 were measured with 400,000 nodes, more with rougher priors
NODE_TOLERANCE = 1e-12  # relative to the edge; a point nearer to a node is the node
NODE_TOLERANCE_IN_CELLS = 1e-10  # the most of a cell that may be


@dataclass(frozen=True, slots=True)
class Location:
    """Where points lie in the mesh: u(x) = (1 - fraction) u_left + fraction u_right."""

    cell: IntArray  # number of the cell, edge by edge
    left: IntArray  # node at the cell's end towards the tail
    right: IntArray  # node at the cell's end towards the head
    fraction: FloatArray
    n_vertices: int | None = None  # how many come first, if these are all nodes in their order

    def __len__(self) -> int:
        return len(self.cell)

    def __getitem__(self, index: slice | IntArray) -> "Location":
        return Location(self.cell[index], self.left[index], self.right[index], self.fraction[index])

    @property
    def is_at_nodes(self) -> bool:
        """Whether every point is the node on its left."""
        return not self.fraction.any()

    def interpolate(self, nodal: FloatArray) -> FloatArray:
        """Values at the points of functions given at the nodes, (..., N) -> (..., n)."""
        if self.n_vertices is not None:
            values = nodal.copy()
            values[..., : self.n_vertices] = self[: self.n_vertices].interpolate(nodal)
            return values
        at_left, at_right = nodal[..., self.left], nodal[..., self.right]
        return at_left + self.fraction * (at_right - at_left)


@dataclass(frozen=True, eq=False)
class FiniteElementSpace:
    """V_h: hat functions on equal cells of every edge; nodes are the vertices, then edge by edge.

    >>> from netbo import MetricGraph
    >>> space = FiniteElementSpace.build(MetricGraph([0, 1], [1, 2], [1.0, 2.0]), max_cell=0.5)
    >>> space
    FiniteElementSpace(7 nodes, cells of at most 0.5)
    """

    graph: MetricGraph
    cells: IntArray  # (E,) cells of each edge

    @classmethod
    @explained
    def build(
        cls,
        graph: MetricGraph,
        *,
        max_cell: float | None = None,
        n_nodes: int | None = None,
        min_cells: int = 1,
    ) -> Self:
        """The space with cells of at most `max_cell`, or the finest with at most `n_nodes` nodes.

        Parameters
        ----------
        graph : MetricGraph
            The network.
        max_cell : float, optional
            Largest length of a cell, in the unit of the graph.
        n_nodes : int, optional
            Largest number of nodes; give this or `max_cell`.
        min_cells : int, default 1
            Fewest cells of an edge.

        Returns
        -------
        FiniteElementSpace
            With equal cells on every edge.

        Raises
        ------
        ParameterError
            If not exactly one of `max_cell` and `n_nodes` is given, or a number is too small.

        Examples
        --------
        >>> import netbo
        >>> netbo.FiniteElementSpace.build(netbo.interval(3.0), n_nodes=10)
        FiniteElementSpace(10 nodes, cells of at most 0.333333)
        """
        if (max_cell is None) == (n_nodes is None):
            raise ParameterError(
                f"a mesh needs max_cell or n_nodes, got {max_cell} and {n_nodes}; pass exactly one of them"
            )
        if min_cells < 1:
            raise ParameterError(f"min_cells must be at least 1, got {min_cells}; leave it out")
        if max_cell is not None:
            cells = cells_by_size(graph.lengths, max_cell, min_cells)
        else:
            assert n_nodes is not None
            cells = cells_by_budget(graph.lengths, graph.n_vertices, n_nodes, min_cells)
        return cls(graph=graph, cells=read_only(cells))

    def __reduce__(self) -> tuple[Callable[..., Any], tuple[MetricGraph, IntArray]]:
        # Only what it is made of travels: arrays come out of a pickle writable, and for those numba would
        # compile every kernel once more.
        return partial(_from_cells, type(self)), (self.graph, self.cells)

    def __repr__(self) -> str:
        return f"FiniteElementSpace({self.n_nodes} nodes, cells of at most {self.cell_lengths.max():.6g})"

    @cached_property
    def cell_lengths(self) -> FloatArray:
        """Length h_e of the cells of each edge, (E,)."""
        return read_only(self.graph.lengths / self.cells)

    @cached_property
    def topology(self) -> Topology:
        """The mesh as the linear algebra sees it; its symbolic work is done once."""
        offsets = np.concatenate([[0], np.cumsum(self.cells - 1)])
        graph = self.graph
        return Topology(tails=graph.tails, heads=graph.heads, offsets=offsets, n_vertices=graph.n_vertices)

    @property
    def n_nodes(self) -> int:
        """Dimension N_h of the space."""
        return self.topology.n_nodes

    @cached_property
    def nodes(self) -> Points:
        """The nodes: vertices first, then the interior nodes of edge 0, edge 1, ..."""
        vertices = self.graph.vertex_points()
        interior = self.cells - 1
        edge = np.repeat(np.arange(self.graph.n_edges), interior)
        position = np.arange(len(edge)) - self.topology.offsets[edge] + 1
        z = position * self.cell_lengths[edge]
        return Points(np.r_[vertices.edge, edge], np.r_[vertices.z, z], graph=self.graph)

    @explained
    def locate(self, x: Points) -> Location:
        """Cell, end nodes and fraction of each point."""
        return self._at_nodes if x is self.__dict__.get("nodes") else self._locate(self.graph.bind(x))

    @cached_property
    def _at_nodes(self) -> Location:
        """Where the nodes are: asked for at every turn, so kept."""
        return replace(self._locate(self.nodes), n_vertices=self.graph.n_vertices)

    def _locate(self, x: Points) -> Location:
        n_cells = self.cells[x.edge]
        along = x.z / self.graph.lengths[x.edge] * n_cells
        whole = np.rint(along)
        near = np.minimum(NODE_TOLERANCE * n_cells, NODE_TOLERANCE_IN_CELLS)
        along = np.where(np.abs(along - whole) < near, whole, along)
        position = np.minimum(along.astype(np.int64), n_cells - 1)
        first = self.topology.offsets[x.edge]
        vertices = self.graph.n_vertices
        left = np.where(position == 0, self.graph.tails[x.edge], vertices + first + position - 1)
        is_last = position == n_cells - 1
        right = np.where(is_last, self.graph.heads[x.edge], vertices + first + position)
        return Location(cell=first + x.edge + position, left=left, right=right, fraction=along - position)

    @explained
    def basis(self, x: Points) -> SparseMatrix:
        """Sparse rows e(x), (n, N_h)."""
        at = self.locate(x)
        rows = np.tile(np.arange(len(x)), 2)
        values = np.r_[1 - at.fraction, at.fraction]
        shape = (len(x), self.n_nodes)
        basis = sparse.coo_array((values, (rows, np.r_[at.left, at.right])), shape).tocsr()
        basis.eliminate_zeros()
        return basis

    @cached_property
    def cell_ends(self) -> tuple[IntArray, IntArray, FloatArray]:
        """Left node, right node and length of every cell."""
        edge = np.repeat(np.arange(self.graph.n_edges), self.cells)
        first = self.topology.offsets[edge]
        position = np.arange(len(edge)) - first - edge
        interior = self.graph.n_vertices + first + position
        left = np.where(position == 0, self.graph.tails[edge], interior - 1)
        right = np.where(position == self.cells[edge] - 1, self.graph.heads[edge], interior)
        return left, right, self.cell_lengths[edge]

    def _assemble(self, diagonal: FloatArray, off_diagonal: FloatArray) -> SparseMatrix:
        """Sum of the cells' matrices [[diagonal, off], [off, diagonal]]; a loop's single cell adds up."""
        left, right, _ = self.cell_ends
        values = np.r_[diagonal, diagonal, off_diagonal, off_diagonal]
        rows, columns = np.r_[left, right, left, right], np.r_[left, right, right, left]
        return sparse.coo_array((values, (rows, columns)), (self.n_nodes, self.n_nodes)).tocsr()

    @cached_property
    def mass(self) -> SparseMatrix:
        """C_ij = <e_i, e_j>, sparse (N_h, N_h) (eq:mass and stifness)."""
        h = self.cell_ends[2]
        return self._assemble(h / 3, h / 6)

    @cached_property
    def stiffness(self) -> SparseMatrix:
        """G_ij = <e_i', e_j'>, sparse (N_h, N_h) (eq:mass and stifness)."""
        h = self.cell_ends[2]
        return self._assemble(1 / h, -1 / h)

    @cached_property
    def lumped_mass(self) -> FloatArray:
        """Row sums of C, (N_h,): the diagonal of the lumped mass."""
        left, right, h = self.cell_ends
        ends = np.r_[left, right]
        return read_only(sum_by(ends, np.r_[h, h] / 2, self.n_nodes))


def _from_cells(kind: type[FiniteElementSpace], graph: MetricGraph, cells: IntArray) -> FiniteElementSpace:
    return kind(graph=graph, cells=read_only(cells))


def cells_by_size(lengths: FloatArray, max_cell: float, min_cells: int) -> IntArray:
    """n_e = ceil(L_e / max_cell), at least min_cells (ssec: fem space on Gamma)."""
    require_positive("max_cell", max_cell, "a hundredth of the diameter is a start", kind="a positive length")
    cells = np.ceil(lengths / max_cell * (1 - _ROUNDING))
    n_nodes = float(np.maximum(cells, min_cells).sum())
    enough = float(lengths.sum()) / max(1.0, memory_size() / NODE_BYTES - len(lengths))
    require_memory(
        n_nodes * NODE_BYTES,
        f"max_cell={max_cell:g} asks for a mesh of {n_nodes:,.0f} nodes",
        f"raise max_cell, to {enough:.2g} at least; about 2,000 nodes are made without it",
    )
    return np.maximum(cells.astype(np.int64), min_cells)


def cells_by_budget(lengths: FloatArray, n_vertices: int, n_nodes: int, min_cells: int) -> IntArray:
    """The finest mesh of one cell size with at most n_nodes nodes, at least min_cells an edge."""
    require_memory(float(n_nodes) * NODE_BYTES, f"a mesh of {n_nodes:,} nodes was asked for", "ask for fewer")
    fewest = n_vertices + len(lengths) * (min_cells - 1)
    if n_nodes < fewest:
        raise ParameterError(
            f"n_nodes must be at least {fewest} for {n_vertices} vertices and {len(lengths)} edges of "
            f"{min_cells} or more cells, got {n_nodes}; raise it"
        )
    low, high = lengths.sum() / (n_nodes + len(lengths)), float(lengths.max())
    for _ in range(60):  # bisection on a logarithmic scale; 60 halvings exhaust double precision
        middle = float(np.sqrt(low * high))
        cells = np.maximum(np.ceil(lengths / middle * (1 - _ROUNDING)), min_cells)
        if n_vertices + cells.sum() - len(lengths) <= n_nodes:
            high = middle
        else:
            low = middle
    return cells_by_size(lengths, high, min_cells)
