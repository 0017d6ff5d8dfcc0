"""Elimination of the interior nodes of edges whose cells differ, each with an element of its own.

The same recursion as in `chain`, from the tail to the head: for meshes whose nodes are wherever somebody
measured or asked. Rows of the element arrays, and of the sums for gradients, belong to cells, not to edges.
"""

import numpy as np

from netbo.arrays import FloatArray
from netbo.linalg.blocks import (
    Block,
    add,
    add_corner,
    apply,
    apply_transpose,
    corner,
    load,
    load_fill,
    load_hankel,
    load_symmetric,
    order_of,
    store,
    store_fill,
    store_symmetric,
    subtract,
    transpose,
    vector_like,
)
from netbo.linalg.chain import HUGE, TINY, coupled, eliminate_node, select_node
from netbo.linalg.records import (
    CellArrays,
    Chains,
    Edges,
    FactorArrays,
    MeshArrays,
    SchurArrays,
    SelectedArrays,
    Sums,
    VertexInverse,
)
from netbo.linalg.runtime import kernel
from netbo.linalg.vertices import backward_vertices, factor_vertices, forward_vertices, select_vertices


@kernel
def eliminate_chains(
    edges: Edges, mesh: MeshArrays, factor: FactorArrays, schur: SchurArrays, like: Block
) -> float:
    """Eliminate edges and vertices; `chain.eliminate_chains` says what is left."""
    mesh, factor, schur = MeshArrays(*mesh), FactorArrays(*factor), SchurArrays(*schur)
    offsets, n_vertices = mesh.offsets, mesh.n_vertices
    off, row, coupling, pivots = factor.off, factor.row, factor.coupling, factor.pivots
    weight, ends, cross, logs = schur.weight, schur.ends, schur.cross, schur.logs
    sign = factor.sign
    for e in range(edges[0], edges[1]):
        start, cell = offsets[e], offsets[e] + e
        m = offsets[e + 1] - start
        R = load_hankel(row, cell, like)
        Ra, Rb = R, load_hankel(row, cell + m, like)
        B = coupled(load_hankel(off, cell, like), coupling, cell, sign)
        sent = subtract(R, R)
        product, log = 1.0, 0.0
        for j in range(m):
            node, right = start + j, cell + j + 1
            diagonal = (row[right - 1, 0] - off[right - 1, 0] + row[right, 0] - off[right, 0]) / 2
            for _ in range(order_of(like)):
                product /= diagonal
            N = coupled(load_hankel(off, right, like), coupling, right, sign)
            next_R = load_hankel(row, right, like)
            total = subtract(add_corner(add(R, next_R), sign * weight[n_vertices + node]), sent)
            inverse, determinant, to_end, sent, fill = eliminate_node(total, B, N)
            store_symmetric(pivots, node, inverse)
            store_fill(pivots, node, B)
            Ra, B, R = subtract(Ra, to_end), fill, next_R
            product *= determinant
            if not (TINY < abs(product) < HUGE):
                log += np.log(product)
                product = 1.0
        store(cross, e, B)
        store(ends, 2 * e, Ra)
        store(ends, 2 * e + 1, subtract(Rb, sent))
        logs[e] = log + np.log(product)
    return factor_vertices(mesh, factor, schur, like) if edges[2] else 0.0


@kernel
def forward_chains(
    edges: Edges, mesh: MeshArrays, factor: FactorArrays, x: FloatArray, y: FloatArray, like: Block
) -> None:
    """Forward substitution on x (N, p), in place; `chain.forward_chains` says what goes to y."""
    mesh, factor = MeshArrays(*mesh), FactorArrays(*factor)
    offsets, n_vertices = mesh.offsets, mesh.n_vertices
    off, coupling, pivots = factor.off, factor.coupling, factor.pivots
    sign, zero = factor.sign, vector_like(like)
    for e in range(edges[0], edges[1]):
        start, cell = offsets[e], offsets[e] + e
        to_a, sent = zero, zero
        for j in range(offsets[e + 1] - start):
            node = n_vertices + start + j
            r = subtract(load(x, node, zero), sent)
            store(x, node, r)
            t = apply(load_symmetric(pivots, start + j, like), r)
            to_a = subtract(to_a, apply_transpose(load_fill(pivots, start + j, like), t))
            N = coupled(load_hankel(off, cell + j + 1, like), coupling, cell + j + 1, sign)
            sent = apply(N, t)
        store(y, n_vertices + 2 * e, to_a)
        store(y, n_vertices + 2 * e + 1, subtract(zero, sent))
    if edges[2]:
        forward_vertices(mesh, factor.L, x, y, like)


@kernel
def backward_chains(
    edges: Edges, mesh: MeshArrays, factor: FactorArrays, x: FloatArray, y: FloatArray, like: Block
) -> None:
    """Back substitution on x (N, p), in place, from the vertices of y, of which the tail is solved."""
    mesh, factor = MeshArrays(*mesh), FactorArrays(*factor)
    if edges[2]:
        backward_vertices(mesh, factor, x, y, like)
    offsets, n_vertices, tails, heads = mesh.offsets, mesh.n_vertices, mesh.tails, mesh.heads
    off, coupling, pivots = factor.off, factor.coupling, factor.pivots
    sign, zero = factor.sign, vector_like(like)
    for e in range(edges[0], edges[1]):
        start, cell = offsets[e], offsets[e] + e
        xa, following = load(x, tails[e], zero), load(x, heads[e], zero)
        for j in range(offsets[e + 1] - start - 1, -1, -1):
            node = n_vertices + start + j
            N = coupled(load_hankel(off, cell + j + 1, like), coupling, cell + j + 1, sign)
            r = subtract(load(x, node, zero), apply(load_fill(pivots, start + j, like), xa))
            following = apply(load_symmetric(pivots, start + j, like), subtract(r, apply(N, following)))
            store(x, node, following)


@kernel
def select_chains(
    edges: Edges,
    mesh: MeshArrays,
    factor: FactorArrays,
    inverse: VertexInverse,
    selected: SelectedArrays,
    sums: Sums | None,
    like: Block,
) -> None:
    """Selected inverse along the edges; blocks for the gradient are those of every cell, not their sums."""
    mesh, factor = MeshArrays(*mesh), FactorArrays(*factor)
    inverse, selected = VertexInverse(*inverse), SelectedArrays(*selected)
    if edges[2]:
        select_vertices(mesh, factor.L, factor.inverses, inverse, like)
        for v in range(mesh.n_vertices):
            selected.variances[v] = factor.sign * inverse.vertices[v, -1]
    offsets, n_vertices, tails, heads = mesh.offsets, mesh.n_vertices, mesh.tails, mesh.heads
    off, coupling, pivots = factor.off, factor.coupling, factor.pivots
    variances, neighbours = selected.variances, selected.neighbours
    sign = factor.sign
    for e in range(edges[0], edges[1]):
        start, cell = offsets[e], offsets[e] + e
        Zaa = load_symmetric(inverse.vertices, tails[e], like)
        Z, Y = load_symmetric(inverse.vertices, heads[e], like), load(inverse.edges, e, like)
        for j in range(offsets[e + 1] - start - 1, -1, -1):
            number = cell + j + 1
            N = coupled(load_hankel(off, number, like), coupling, number, sign)
            P, B = load_symmetric(pivots, start + j, like), load_fill(pivots, start + j, like)
            following = Z
            X, Y, Z = select_node(P, B, N, Zaa, Y, Z)
            variances[n_vertices + start + j] = sign * corner(Z)
            neighbours[number] = sign * corner(X)
            if sums is not None:
                store_symmetric(sums[0], number, add(Z, following))
                store_symmetric(sums[1], number, add(X, transpose(X)))
        neighbours[cell] = sign * corner(Y)
        if sums is not None:
            store_symmetric(sums[0], cell, add(Zaa, Z))
            store_symmetric(sums[1], cell, add(Y, transpose(Y)))


@kernel
def select_cells(
    edges: Edges,
    mesh: MeshArrays,
    factor: FactorArrays,
    inverse: VertexInverse,
    cells: CellArrays,
    like: Block,
) -> None:
    """Whole blocks of the inverse at both ends of every cell, and between them (row left, column right)."""
    mesh, factor = MeshArrays(*mesh), FactorArrays(*factor)
    inverse, cells = VertexInverse(*inverse), CellArrays(*cells)
    if edges[2]:
        select_vertices(mesh, factor.L, factor.inverses, inverse, like)
    offsets, tails, heads = mesh.offsets, mesh.tails, mesh.heads
    off, coupling, pivots = factor.off, factor.coupling, factor.pivots
    left, right, across = cells.left, cells.right, cells.across
    sign = factor.sign
    for e in range(edges[0], edges[1]):
        start, cell = offsets[e], offsets[e] + e
        Zaa = load_symmetric(inverse.vertices, tails[e], like)
        Z, Y = load_symmetric(inverse.vertices, heads[e], like), load(inverse.edges, e, like)
        for j in range(offsets[e + 1] - start - 1, -1, -1):
            number = cell + j + 1
            N = coupled(load_hankel(off, number, like), coupling, number, sign)
            P, B = load_symmetric(pivots, start + j, like), load_fill(pivots, start + j, like)
            store(right, number, Z)
            X, Y, Z = select_node(P, B, N, Zaa, Y, Z)
            store(left, number, Z)
            store(across, number, X)
        store(left, cell, Zaa)
        store(right, cell, Z)
        store(across, cell, transpose(Y))


UNEVEN = Chains(eliminate_chains, forward_chains, backward_chains, select_chains)
