"""Elimination of the interior nodes of edges whose cells differ, each with an element of its own.

The same recursion as in `chain`, from the tail to the head: for meshes whose nodes are wherever somebody
measured or asked. Rows of the element arrays, and of the sums for gradients, belong to cells, not to edges.
"""

import numpy as np

from netbo.arrays import FloatArray, IntArray
from netbo.linalg.blocks import (
    Block,
    Vector,
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
)
from netbo.linalg.chain import HUGE, TINY, coupled, eliminate_node, select_node
from netbo.linalg.runtime import kernel


@kernel
def eliminate_chains(
    first: int,
    last: int,
    offsets: IntArray,
    n_vertices: int,
    off: FloatArray,
    row: FloatArray,
    weight: FloatArray,
    coupling: FloatArray,
    pivots: FloatArray,
    middle: FloatArray,
    ends: FloatArray,
    cross: FloatArray,
    logs: FloatArray,
    sign: float,
    like: Block,
) -> None:
    """Eliminate the interiors of edges first..last-1; `chain.eliminate_chains` says what is left."""
    for e in range(first, last):
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


@kernel
def forward_chains(
    first: int,
    last: int,
    offsets: IntArray,
    n_vertices: int,
    off: FloatArray,
    coupling: FloatArray,
    pivots: FloatArray,
    middle: FloatArray,
    x: FloatArray,
    ends: FloatArray,
    sign: float,
    like: Block,
    zero: Vector,
) -> None:
    """Forward substitution on x (N, p), in place; rows 2e and 2e+1 of `ends` are for a and b."""
    for e in range(first, last):
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
        store(ends, 2 * e, to_a)
        store(ends, 2 * e + 1, subtract(zero, sent))


@kernel
def backward_chains(
    first: int,
    last: int,
    tails: IntArray,
    heads: IntArray,
    offsets: IntArray,
    n_vertices: int,
    off: FloatArray,
    coupling: FloatArray,
    pivots: FloatArray,
    middle: FloatArray,
    x: FloatArray,
    sign: float,
    like: Block,
    zero: Vector,
) -> None:
    """Back substitution on one right-hand side x (N, p) whose vertex rows are solved, in place."""
    for e in range(first, last):
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
    first: int,
    last: int,
    tails: IntArray,
    heads: IntArray,
    offsets: IntArray,
    n_vertices: int,
    off: FloatArray,
    coupling: FloatArray,
    pivots: FloatArray,
    middle: FloatArray,
    vertex_blocks: FloatArray,
    edge_blocks: FloatArray,
    variances: FloatArray,
    neighbours: FloatArray,
    diagonals: FloatArray | None,
    couples: FloatArray | None,
    sign: float,
    like: Block,
) -> None:
    """Selected inverse along the edges; blocks for the gradient are those of every cell, not their sums."""
    for e in range(first, last):
        start, cell = offsets[e], offsets[e] + e
        Zaa = load_symmetric(vertex_blocks, tails[e], like)
        Z, Y = load_symmetric(vertex_blocks, heads[e], like), load(edge_blocks, e, like)
        for j in range(offsets[e + 1] - start - 1, -1, -1):
            number = cell + j + 1
            N = coupled(load_hankel(off, number, like), coupling, number, sign)
            inverse, B = load_symmetric(pivots, start + j, like), load_fill(pivots, start + j, like)
            following = Z
            X, Y, Z = select_node(inverse, B, N, Zaa, Y, Z)
            variances[n_vertices + start + j] = sign * corner(Z)
            neighbours[number] = sign * corner(X)
            if diagonals is not None and couples is not None:
                store_symmetric(diagonals, number, add(Z, following))
                store_symmetric(couples, number, add(X, transpose(X)))
        neighbours[cell] = sign * corner(Y)
        if diagonals is not None and couples is not None:
            store_symmetric(diagonals, cell, add(Zaa, Z))
            store_symmetric(couples, cell, add(Y, transpose(Y)))


@kernel
def select_cells(
    first: int,
    last: int,
    tails: IntArray,
    heads: IntArray,
    offsets: IntArray,
    off: FloatArray,
    coupling: FloatArray,
    pivots: FloatArray,
    vertex_blocks: FloatArray,
    edge_blocks: FloatArray,
    left: FloatArray,
    right: FloatArray,
    across: FloatArray,
    sign: float,
    like: Block,
) -> None:
    """Whole blocks of the inverse at both ends of every cell, and between them (row left, column right)."""
    for e in range(first, last):
        start, cell = offsets[e], offsets[e] + e
        Zaa = load_symmetric(vertex_blocks, tails[e], like)
        Z, Y = load_symmetric(vertex_blocks, heads[e], like), load(edge_blocks, e, like)
        for j in range(offsets[e + 1] - start - 1, -1, -1):
            number = cell + j + 1
            N = coupled(load_hankel(off, number, like), coupling, number, sign)
            inverse, B = load_symmetric(pivots, start + j, like), load_fill(pivots, start + j, like)
            store(right, number, Z)
            X, Y, Z = select_node(inverse, B, N, Zaa, Y, Z)
            store(left, number, Z)
            store(across, number, X)
        store(left, cell, Zaa)
        store(right, cell, Z)
        store(across, cell, transpose(Y))
