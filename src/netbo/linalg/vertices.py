"""Block L D L' of the vertex system with row sums, its solves and its selected inverse, column by column.

Vertices are numbered by elimination order here. Column k of L is B_.k P_k^-1 with the pivot
P_k = R_k - sum_j B_kj (see `chain`), so a column has to be complete before its pivot is known: the
factorization looks left, gathering the updates of earlier columns through lists of those that meet row k.
The last columns may be left to a dense tail (`tail`): they are updated here and eliminated there.
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
)
from netbo.linalg.runtime import inline, kernel

SEARCH = 9  # a column that many times longer than the rows wanted of it is searched, not walked


@inline
def _assemble(
    tails: IntArray,
    heads: IntArray,
    rank: IntArray,
    slots: IntArray,
    n_head: int,
    robin: FloatArray,
    weight: FloatArray,
    ends: FloatArray,
    cross: FloatArray,
    L: FloatArray,
    R: FloatArray,
    tail: FloatArray,
    sign: float,
    like: Block,
) -> None:
    """Add what the eliminated edges leave: row sums to R, blocks between ends to L or the dense tail.

    A loop adds the row sums of both its ends to its vertex and no block. A Robin parameter adds to K_0: the
    entries i + j = p - 1.
    """
    p = order_of(like)
    L[:] = 0.0
    tail[:] = 0.0
    for v in range(len(rank)):
        for i in range(p * p):
            R[rank[v], i] = 0.0
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


@kernel
def factor_vertices(
    tails: IntArray,
    heads: IntArray,
    rank: IntArray,
    slots: IntArray,
    starts: IntArray,
    rows: IntArray,
    n_head: int,
    robin: FloatArray,
    weight: FloatArray,
    ends: FloatArray,
    cross: FloatArray,
    logs: FloatArray,
    L: FloatArray,
    R: FloatArray,
    pivots: FloatArray,
    inverses: FloatArray,
    tail: FloatArray,
    work: IntArray,
    sign: float,
    like: Block,
) -> float:
    """Assemble what the edges leave and eliminate the head; log|det| of it and of the edges (`logs`).

    L becomes the factor, R the row sums left for the tail.

    `pivots` and `inverses` receive upper triangles of the pivots and their inverses, `tail` the blocks of the
    Schur complement. `work` (4, V) holds linked lists: of the columns whose next row is k, first and
    following; how far each column is used up; and where the rows of the current column are in L.
    """
    n = len(R)
    p = order_of(like)
    _assemble(tails, heads, rank, slots, n_head, robin, weight, ends, cross, L, R, tail, sign, like)
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
                    _subtract_from_tail(tail, p * (rows[t] - n_head), p * (k - n_head), p, U)
            reached[i] = q + 1
            if q + 1 < starts[i + 1]:
                following[i] = lists[rows[q + 1]]
                lists[rows[q + 1]] = i
            i = after
        if k < n_head:
            log += _finish_column(k, starts, rows, L, R, pivots, inverses, like)
            reached[k] = starts[k]
            if starts[k] < starts[k + 1]:
                following[k] = lists[rows[starts[k]]]
                lists[rows[starts[k]]] = k
    return log


@inline
def _finish_column(
    k: int,
    starts: IntArray,
    rows: IntArray,
    L: FloatArray,
    R: FloatArray,
    pivots: FloatArray,
    inverses: FloatArray,
    like: Block,
) -> float:
    """Pivot of a complete column, its scaling, and the row sums it sends on; log|det| of the pivot."""
    Rk = load(R, k, like)
    P = Rk
    for q in range(starts[k], starts[k + 1]):
        P = subtract(P, transpose(load(L, q, like)))
    inverse, determinant = invert(P)
    store_symmetric(pivots, k, P)
    store_symmetric(inverses, k, inverse)
    for q in range(starts[k], starts[k + 1]):
        Lq = multiply(load(L, q, like), inverse)
        store(L, q, Lq)
        store(R, rows[q], subtract(load(R, rows[q], like), multiply(Lq, Rk)))
    return float(np.log(determinant))


@inline
def _subtract_from_tail(tail: FloatArray, row: int, column: int, p: int, U: Block) -> None:
    for i in range(p):
        for j in range(p):
            tail[row + i, column + j] -= U[i * p + j]


@kernel
def forward_vertices(
    tails: IntArray,
    heads: IntArray,
    rank: IntArray,
    starts: IntArray,
    rows: IntArray,
    L: FloatArray,
    ends: FloatArray,
    x: FloatArray,
    y: FloatArray,
    zero: Vector,
    like: Block,
) -> None:
    """Forward substitution of the head: y (V, p), by rank, from the vertex rows of x and what edges send."""
    for v in range(len(rank)):
        store(y, rank[v], load(x, v, zero))
    for e in range(len(tails)):
        a, b = rank[tails[e]], rank[heads[e]]
        store(y, a, add(load(y, a, zero), load(ends, 2 * e, zero)))
        store(y, b, add(load(y, b, zero), load(ends, 2 * e + 1, zero)))
    for k in range(len(starts) - 1):
        yk = load(y, k, zero)
        for q in range(starts[k], starts[k + 1]):
            store(y, rows[q], subtract(load(y, rows[q], zero), apply(load(L, q, like), yk)))


@kernel
def backward_vertices(
    rank: IntArray,
    starts: IntArray,
    rows: IntArray,
    L: FloatArray,
    inverses: FloatArray,
    y: FloatArray,
    x: FloatArray,
    zero: Vector,
    like: Block,
) -> None:
    """Back substitution of the head on y (V, p), by rank, whose tail is solved; the result goes to x."""
    for k in range(len(starts) - 2, -1, -1):
        yk = apply(load_symmetric(inverses, k, like), load(y, k, zero))
        for q in range(starts[k], starts[k + 1]):
            yk = subtract(yk, apply_transpose(load(L, q, like), load(y, rows[q], zero)))
        store(y, k, yk)
    for v in range(len(rank)):
        store(x, v, load(y, rank[v], zero))


@inline
def _sum_over_tail(
    first: int,
    split: int,
    last: int,
    rows: IntArray,
    n_head: int,
    L: FloatArray,
    tail_inverse: FloatArray,
    sums: FloatArray,
    like: Block,
) -> None:
    """Add Z_ij L_j over pairs of rows of one column that both lie in the dense tail."""
    p = order_of(like)
    for q in range(split, last):
        total = like
        for t in range(split, last):
            Zqt = load_dense(tail_inverse, p * (rows[q] - n_head), p * (rows[t] - n_head), like)
            total = add(total, multiply(Zqt, load(L, t, like)))
        store(sums, q - first, total)


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
    q: int,
    first: int,
    last: int,
    starts: IntArray,
    rows: IntArray,
    L: FloatArray,
    Z: FloatArray,
    Zd: FloatArray,
    sums: FloatArray,
    like: Block,
) -> None:
    """Add Z_ij L_j over pairs of rows of which the smaller is the column rows[q] of the head."""
    k = rows[q]
    Lq = load(L, q, like)
    total = add(load(sums, q - first, like), multiply(load_symmetric(Zd, k, like), Lq))
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
def _gather(
    tails: IntArray,
    heads: IntArray,
    rank: IntArray,
    slots: IntArray,
    n_head: int,
    Z: FloatArray,
    Zd: FloatArray,
    tail_inverse: FloatArray,
    vertex_blocks: FloatArray,
    edge_blocks: FloatArray,
    like: Block,
) -> None:
    """Blocks of the inverse by vertex (upper triangles) and by edge (row b, column a), in mesh order."""
    p = order_of(like)
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


@kernel
def select_vertices(
    tails: IntArray,
    heads: IntArray,
    rank: IntArray,
    slots: IntArray,
    starts: IntArray,
    rows: IntArray,
    n_head: int,
    L: FloatArray,
    inverses: FloatArray,
    tail_inverse: FloatArray,
    Z: FloatArray,
    Zd: FloatArray,
    sums: FloatArray,
    vertex_blocks: FloatArray,
    edge_blocks: FloatArray,
    like: Block,
) -> None:
    """Takahashi's recursion: blocks of the inverse on the pattern of L (Z) and on the diagonal (Zd).

    They are handed out by vertex and by edge in the order of the mesh.

    Column k needs Z_ij for all pairs of its rows; they lie on the pattern of column min(i, j), of which the
    rows of column k beyond it are a part: they are met by walking along it, or searched if it is long.
    """
    for k in range(n_head - 1, -1, -1):
        first, last = starts[k], starts[k + 1]
        split = last
        for q in range(first, last):
            store(sums, q - first, like)
            if rows[q] >= n_head and split == last:
                split = q
        _sum_over_tail(first, split, last, rows, n_head, L, tail_inverse, sums, like)
        for q in range(first, split):
            _sum_over_column(q, first, last, starts, rows, L, Z, Zd, sums, like)
        D = load_symmetric(inverses, k, like)
        for q in range(first, last):
            Zq = negate(load(sums, q - first, like))
            store(Z, q, Zq)
            D = subtract(D, transpose_multiply(load(L, q, like), Zq))
        store_symmetric(Zd, k, D)
    _gather(tails, heads, rank, slots, n_head, Z, Zd, tail_inverse, vertex_blocks, edge_blocks, like)
