"""Block L D L' of the vertex system with row sums, its solves and its selected inverse, column by column.

Vertices are numbered by elimination order here. Column k of L is B_.k P_k^-1 with the pivot
P_k = R_k - sum_j B_kj (see `chain`), so a column has to be complete before its pivot is known: the
factorization looks left, gathering the updates of earlier columns through lists of those that meet row k.
The last columns may be left to a dense tail (`dense_tail`): they are updated here and eliminated there.
"""

import numpy as np

from netbo.arrays import FloatArray, IntArray
from netbo.linalg.blocks import (
    Block,
    add,
    add_corner,
    apply,
    apply_transpose,
    invert,
    load,
    load_dense,
    load_symmetric,
    multiply,
    multiply_transpose,
    negate,
    order_of,
    store,
    store_symmetric,
    subtract,
    transpose,
    transpose_multiply,
    vector_like,
)
from netbo.linalg.records import FactorArrays, MeshArrays, SchurArrays, VertexInverse
from netbo.linalg.runtime import inline

SEARCH = 9  # a column that many times longer than the rows wanted of it is searched, not walked
Column = tuple[int, int, int]  # of L: its first entry, its first in the dense tail, and where it ends


@inline
def _assemble(mesh: MeshArrays, factor: FactorArrays, schur: SchurArrays, like: Block) -> None:
    """Add what the eliminated edges leave to zeros: row sums to R, blocks between ends to L or the tail.

    A loop adds the row sums of both its ends to its vertex and no block. A Robin parameter adds to K_0: the
    entries i + j = p - 1.
    """
    tails, heads, rank, slots, n_head = mesh.tails, mesh.heads, mesh.rank, mesh.slots, mesh.n_head
    robin, weight, ends, cross = schur.robin, schur.weight, schur.ends, schur.cross
    L, R, tail = factor.L, schur.R, schur.tail
    p, sign = order_of(like), factor.sign
    for v in range(len(rank)):
        for i in range(p):
            R[rank[v], i * p + p - 1 - i] = robin[v]
        store(R, rank[v], add_corner(load(R, rank[v], like), sign * weight[v]))
    for e in range(len(tails)):
        a, b = rank[tails[e]], rank[heads[e]]
        store(R, a, add(load(R, a, like), load(ends, 2 * e, like)))
        store(R, b, add(load(R, b, like), load(ends, 2 * e + 1, like)))
        slot = slots[e]
        if slot == -1:
            continue
        B = load(cross, e, like) if b > a else transpose(load(cross, e, like))
        if slot >= 0:
            store(L, slot, add(load(L, slot, like), B))
        else:
            low, high = p * (min(a, b) - n_head), p * (max(a, b) - n_head)
            for i in range(p):
                for j in range(p):
                    tail[high + i, low + j] += B[i * p + j]


@inline
def factor_vertices(mesh: MeshArrays, factor: FactorArrays, schur: SchurArrays, like: Block) -> float:
    """Assemble what the edges leave and eliminate the head; log|det| of it and of the edges (`logs`).

    L becomes the factor, R the row sums left for the tail.

    `pivots` and `inverses` receive upper triangles of the pivots and their inverses, `tail` the blocks of the
    Schur complement. `work` (4, V) holds linked lists: of the columns whose next row is k, first and
    following; how far each column is used up; and where the rows of the current column are in L.
    """
    starts, rows, n_head = mesh.starts, mesh.rows, mesh.n_head
    L, tail, logs = factor.L, schur.tail, schur.logs
    n, p = mesh.n_vertices, order_of(like)
    _assemble(mesh, factor, schur, like)
    pivots, work = schur.pivots, schur.work
    lists, following, reached, place = work[0], work[1], work[2], work[3]
    log = 0.0
    for e in range(len(logs)):
        log += logs[e]
    for k in range(n):
        lists[k] = -1
    for k in range(n):
        if k < n_head:
            for q in range(starts[k], starts[k + 1]):
                place[rows[q]] = q
        i = lists[k]
        while i != -1:
            after = following[i]
            q = reached[i]
            M = multiply(load(L, q, like), load_symmetric(pivots, i, like))
            if k < n_head:
                for t in range(q + 1, starts[i + 1]):
                    s = place[rows[t]]
                    store(L, s, subtract(load(L, s, like), multiply_transpose(load(L, t, like), M)))
            else:
                for t in range(q + 1, starts[i + 1]):
                    U = multiply_transpose(load(L, t, like), M)
                    row, column = p * (rows[t] - n_head), p * (k - n_head)
                    for a in range(p):
                        for b in range(p):
                            tail[row + a, column + b] -= U[a * p + b]
            reached[i] = q + 1
            if q + 1 < starts[i + 1]:
                following[i] = lists[rows[q + 1]]
                lists[rows[q + 1]] = i
            i = after
        if k < n_head:
            log += _finish_column(k, mesh, factor, schur, like)
            reached[k] = starts[k]
            if starts[k] < starts[k + 1]:
                following[k] = lists[rows[starts[k]]]
                lists[rows[starts[k]]] = k
    return log


@inline
def _finish_column(k: int, mesh: MeshArrays, factor: FactorArrays, schur: SchurArrays, like: Block) -> float:
    """Pivot of a complete column, its scaling, and the row sums it sends on; log|det| of the pivot."""
    starts, rows, L, R = mesh.starts, mesh.rows, factor.L, schur.R
    Rk = load(R, k, like)
    P = Rk
    for q in range(starts[k], starts[k + 1]):
        P = subtract(P, transpose(load(L, q, like)))
    inverse, determinant = invert(P)
    store_symmetric(schur.pivots, k, P)
    store_symmetric(factor.inverses, k, inverse)
    for q in range(starts[k], starts[k + 1]):
        Lq = multiply(load(L, q, like), inverse)
        store(L, q, Lq)
        store(R, rows[q], subtract(load(R, rows[q], like), multiply(Lq, Rk)))
    return float(np.log(determinant))


@inline
def forward_vertices(mesh: MeshArrays, L: FloatArray, x: FloatArray, y: FloatArray, like: Block) -> None:
    """Forward substitution of the head: y, by rank, from vertex rows of x and what edges left behind y."""
    tails, heads, rank, starts, rows = mesh.tails, mesh.heads, mesh.rank, mesh.starts, mesh.rows
    sent, zero = mesh.n_vertices, vector_like(like)
    for v in range(len(rank)):
        store(y, rank[v], load(x, v, zero))
    for e in range(len(tails)):
        a, b = rank[tails[e]], rank[heads[e]]
        store(y, a, add(load(y, a, zero), load(y, sent + 2 * e, zero)))
        store(y, b, add(load(y, b, zero), load(y, sent + 2 * e + 1, zero)))
    for k in range(len(starts) - 1):
        yk = load(y, k, zero)
        for q in range(starts[k], starts[k + 1]):
            store(y, rows[q], subtract(load(y, rows[q], zero), apply(load(L, q, like), yk)))


@inline
def backward_vertices(
    mesh: MeshArrays, factor: FactorArrays, x: FloatArray, y: FloatArray, like: Block
) -> None:
    """Back substitution of the head on y, by rank, whose tail is solved; the result goes to x."""
    rank, starts, rows, L, inverses = mesh.rank, mesh.starts, mesh.rows, factor.L, factor.inverses
    zero = vector_like(like)
    for k in range(len(starts) - 2, -1, -1):
        yk = apply(load_symmetric(inverses, k, like), load(y, k, zero))
        for q in range(starts[k], starts[k + 1]):
            yk = subtract(yk, apply_transpose(load(L, q, like), load(y, rows[q], zero)))
        store(y, k, yk)
    for v in range(len(rank)):
        store(x, v, load(y, rank[v], zero))


@inline
def _sum_over_tail(
    column: Column, rows: IntArray, n_head: int, L: FloatArray, inverse: VertexInverse, like: Block
) -> None:
    """Add Z_ij L_j over pairs of rows of one column that both lie in the dense tail."""
    first, split, last = column
    p = order_of(like)
    for q in range(split, last):
        total = like
        for t in range(split, last):
            Zqt = load_dense(inverse.tail, p * (rows[q] - n_head), p * (rows[t] - n_head), like)
            total = add(total, multiply(Zqt, load(L, t, like)))
        store(inverse.sums, q - first, total)


@inline
def _find(rows: IntArray, low: int, high: int, row: int) -> int:
    """Where `row` stands in the ascending rows[low:high]."""
    while low < high:
        middle = (low + high) >> 1
        if rows[middle] < row:
            low = middle + 1
        else:
            high = middle
    return low


@inline
def _sum_over_column(
    q: int, column: Column, mesh: MeshArrays, L: FloatArray, inverse: VertexInverse, like: Block
) -> None:
    """Add Z_ij L_j over pairs of rows of which the smaller is the column rows[q] of the head."""
    first, _, last = column
    starts, rows, Z, sums = mesh.starts, mesh.rows, inverse.Z, inverse.sums
    k = rows[q]
    Lq = load(L, q, like)
    total = add(load(sums, q - first, like), multiply(load_symmetric(inverse.Zd, k, like), Lq))
    low, high = starts[k], starts[k + 1]
    sparse = SEARCH * (last - q - 1) < high - low
    for t in range(q + 1, last):
        if sparse:
            low = _find(rows, low, high, rows[t])
        else:
            while rows[low] < rows[t]:
                low += 1
        Ztk = load(Z, low, like)
        store(sums, t - first, add(load(sums, t - first, like), multiply(Ztk, Lq)))
        total = add(total, transpose_multiply(Ztk, load(L, t, like)))
    store(sums, q - first, total)


@inline
def _gather(mesh: MeshArrays, inverse: VertexInverse, like: Block) -> None:
    """Blocks of the inverse by vertex (upper triangles) and by edge (row b, column a), in mesh order."""
    tails, heads, rank, slots, n_head = mesh.tails, mesh.heads, mesh.rank, mesh.slots, mesh.n_head
    Z, Zd, tail_inverse, p = inverse.Z, inverse.Zd, inverse.tail, order_of(like)
    vertex_blocks, edge_blocks = inverse.vertices, inverse.edges
    for v in range(len(rank)):
        k = rank[v]
        if k < n_head:
            store_symmetric(vertex_blocks, v, load_symmetric(Zd, k, like))
        else:
            diagonal = load_dense(tail_inverse, p * (k - n_head), p * (k - n_head), like)
            store_symmetric(vertex_blocks, v, diagonal)
    for e in range(len(tails)):
        a, b = rank[tails[e]], rank[heads[e]]
        if slots[e] == -1:
            store(edge_blocks, e, load_symmetric(vertex_blocks, tails[e], like))
        elif slots[e] >= 0:
            Zba = load(Z, slots[e], like)
            store(edge_blocks, e, Zba if b > a else transpose(Zba))
        else:
            store(edge_blocks, e, load_dense(tail_inverse, p * (b - n_head), p * (a - n_head), like))


@inline
def select_vertices(
    mesh: MeshArrays, L: FloatArray, inverses: FloatArray, inverse: VertexInverse, like: Block
) -> None:
    """Takahashi's recursion: blocks of the inverse on the pattern of L (Z) and on the diagonal (Zd).

    They are handed out by vertex and by edge in the order of the mesh.

    Column k needs Z_ij for all pairs of its rows; they lie on the pattern of column min(i, j), of which the
    rows of column k beyond it are a part: they are met by walking along it, or searched if it is long.
    """
    starts, rows, n_head = mesh.starts, mesh.rows, mesh.n_head
    Z, Zd, sums = inverse.Z, inverse.Zd, inverse.sums
    for k in range(n_head - 1, -1, -1):
        first, last = starts[k], starts[k + 1]
        split = last
        for q in range(first, last):
            store(sums, q - first, like)
            if rows[q] >= n_head and split == last:
                split = q
        column = (first, split, last)
        _sum_over_tail(column, rows, n_head, L, inverse, like)
        for q in range(first, split):
            _sum_over_column(q, column, mesh, L, inverse, like)
        D = load_symmetric(inverses, k, like)
        for q in range(first, last):
            Zq = negate(load(sums, q - first, like))
            store(Z, q, Zq)
            D = subtract(D, transpose_multiply(load(L, q, like), Zq))
        store_symmetric(Zd, k, D)
    _gather(mesh, inverse, like)
