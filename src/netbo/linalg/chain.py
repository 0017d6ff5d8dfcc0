"""Elimination of the interior nodes of every edge: a block tridiagonal chain, from both ends to its middle.

Two independent recursions in one loop hide each other's latency. Off-diagonal blocks B and row sums R are
stored, never diagonals: a pivot is P = R - sum B, and eliminating node k sends

    B_ij -= B_ik P^-1 B_kj        R_i -= B_ik P^-1 R_k

so that the small row sums, which carry kappa^2, are never lost in the large diagonals. The names below: the
ends of an edge are a (tail) and b (head); a node of the left half has fill to a, one of the right half to b.
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
    invert,
    load,
    load_fill,
    load_hankel,
    load_symmetric,
    multiply,
    multiply_transpose,
    negate,
    order_of,
    store,
    store_fill,
    store_symmetric,
    subtract,
    symmetric_product,
    transpose,
    transpose_multiply,
    vector_like,
)
from netbo.linalg.records import (
    Chains,
    Edges,
    FactorArrays,
    MeshArrays,
    SchurArrays,
    SelectedArrays,
    Sums,
    VertexInverse,
)
from netbo.linalg.runtime import inline, kernel
from netbo.linalg.vertices import backward_vertices, factor_vertices, forward_vertices, select_vertices

HUGE, TINY = 1e100, 1e-100  # a running product of determinants is turned into its logarithm beyond these


@inline
def coupled(O: Block, coupling: FloatArray, cell: int, sign: float) -> Block:
    """The off-diagonal block of a cell, with what observations inside the cell add to it.

    A coupling of length 1 stands for all cells: no branch, so that both halves share one basic block.
    """
    corrected: Block = add_corner(O, sign * coupling[cell if len(coupling) > 1 else 0])
    return corrected


@inline
def eliminate_node(R: Block, B: Block, O: Block) -> tuple[Block, float, Block, Block, Block]:
    """Eliminate a node with fill B to its end and O to the next node: what it leaves and what it sends."""
    inverse, determinant = invert(subtract(subtract(R, B), O))
    T = multiply(inverse, B)
    W = multiply(inverse, R)
    to_end = transpose_multiply(B, W)
    to_next = transpose_multiply(O, W)
    return inverse, determinant, to_end, to_next, negate(transpose_multiply(O, T))


@kernel
def eliminate_chains(
    edges: Edges, mesh: MeshArrays, factor: FactorArrays, schur: SchurArrays, like: Block
) -> float:
    """Eliminate the interiors of edges, then the head of the vertices; log|det| of all that.

    Leaves the row sums of both ends (`ends`, rows 2e and 2e+1), the block between them (`cross`, row b,
    column a) and log|det| of the interior in units of the element's diagonal (`logs`).
    """
    mesh, factor, schur = MeshArrays(*mesh), FactorArrays(*factor), SchurArrays(*schur)
    offsets, n_vertices = mesh.offsets, mesh.n_vertices
    off, row, coupling, pivots = factor.off, factor.row, factor.coupling, factor.pivots
    middle = factor.middle
    weight, ends, cross, logs = schur.weight, schur.ends, schur.cross, schur.logs
    sign = factor.sign
    for e in range(edges[0], edges[1]):
        start, cell = offsets[e], offsets[e] + e
        m = offsets[e + 1] - start
        O = load_hankel(off, e, like)
        R = load_hankel(row, e, like)
        Ra, Rb = R, R
        if m == 0:
            store(cross, e, coupled(O, coupling, cell, sign))
            logs[e] = 0.0
        else:
            unit = 1.0
            for _ in range(order_of(like)):
                unit /= row[e, 0] - off[e, 0]
            both = add(R, R)
            left, right = start, start + m - 1
            n_left, n_right = m // 2, (m - 1) // 2
            Bl, Br = coupled(O, coupling, cell, sign), coupled(O, coupling, cell + m, sign)
            sent_left, sent_right = subtract(R, R), subtract(R, R)
            product, log = 1.0, 0.0
            for j in range(n_right):
                Nl = coupled(O, coupling, cell + 1 + j, sign)
                Nr = coupled(O, coupling, cell + m - 1 - j, sign)
                Rl = subtract(add_corner(both, sign * weight[n_vertices + left]), sent_left)
                Rr = subtract(add_corner(both, sign * weight[n_vertices + right]), sent_right)
                inverse_l, det_l, end_l, sent_left, fill_l = eliminate_node(Rl, Bl, Nl)
                inverse_r, det_r, end_r, sent_right, fill_r = eliminate_node(Rr, Br, Nr)
                store_symmetric(pivots, left, inverse_l)
                store_fill(pivots, left, Bl)
                store_symmetric(pivots, right, inverse_r)
                store_fill(pivots, right, Br)
                Ra, Bl, left = subtract(Ra, end_l), fill_l, left + 1
                Rb, Br, right = subtract(Rb, end_r), fill_r, right - 1
                product *= (det_l * unit) * (det_r * unit)
                if product > HUGE or product < TINY:
                    log += np.log(product)
                    product = 1.0
            if n_left > n_right:
                Nl = coupled(O, coupling, cell + n_left, sign)
                Rl = subtract(add_corner(both, sign * weight[n_vertices + left]), sent_left)
                inverse_l, det_l, end_l, sent_left, fill_l = eliminate_node(Rl, Bl, Nl)
                store_symmetric(pivots, left, inverse_l)
                store_fill(pivots, left, Bl)
                Ra, Bl, left = subtract(Ra, end_l), fill_l, left + 1
                product *= det_l * unit
            Rm = subtract(subtract(add_corner(both, sign * weight[n_vertices + left]), sent_left), sent_right)
            inverse, determinant = invert(subtract(subtract(Rm, Bl), Br))
            store_symmetric(pivots, left, inverse)
            store_fill(pivots, left, Bl)
            store(middle, e, Br)
            W = multiply(inverse, Rm)
            Ra, Rb = subtract(Ra, transpose_multiply(Bl, W)), subtract(Rb, transpose_multiply(Br, W))
            store(cross, e, negate(transpose_multiply(Br, multiply(inverse, Bl))))
            logs[e] = log + np.log(product * determinant * unit)
        store(ends, 2 * e, Ra)
        store(ends, 2 * e + 1, Rb)
    return factor_vertices(mesh, factor, schur, like) if edges[2] else 0.0


@kernel
def forward_chains(
    edges: Edges,
    mesh: MeshArrays,
    factor: FactorArrays,
    x: FloatArray,
    y: FloatArray,
    like: Block,
) -> None:
    """Forward substitution on x (N, p), in place; behind the vertices of y, rows 2e, 2e+1 are for a and b."""
    mesh, factor = MeshArrays(*mesh), FactorArrays(*factor)
    offsets, n_vertices = mesh.offsets, mesh.n_vertices
    off, coupling, pivots = factor.off, factor.coupling, factor.pivots
    middle = factor.middle
    sign, zero = factor.sign, vector_like(like)
    for e in range(edges[0], edges[1]):
        start, cell = offsets[e], offsets[e] + e
        m = offsets[e + 1] - start
        to_a, to_b = zero, zero
        if m > 0:
            O = load_hankel(off, e, like)
            left, right = start, start + m - 1
            n_left, n_right = m // 2, (m - 1) // 2
            sent_left, sent_right = zero, zero
            for j in range(n_right):
                rl = subtract(load(x, n_vertices + left, zero), sent_left)
                rr = subtract(load(x, n_vertices + right, zero), sent_right)
                tl = apply(load_symmetric(pivots, left, like), rl)
                tr = apply(load_symmetric(pivots, right, like), rr)
                to_a = subtract(to_a, apply_transpose(load_fill(pivots, left, like), tl))
                to_b = subtract(to_b, apply_transpose(load_fill(pivots, right, like), tr))
                sent_left = apply(coupled(O, coupling, cell + 1 + j, sign), tl)
                sent_right = apply(coupled(O, coupling, cell + m - 1 - j, sign), tr)
                store(x, n_vertices + left, rl)
                store(x, n_vertices + right, rr)
                left, right = left + 1, right - 1
            if n_left > n_right:
                r = subtract(load(x, n_vertices + left, zero), sent_left)
                store(x, n_vertices + left, r)
                t = apply(load_symmetric(pivots, left, like), r)
                to_a = subtract(to_a, apply_transpose(load_fill(pivots, left, like), t))
                sent_left = apply(coupled(O, coupling, cell + n_left, sign), t)
                left += 1
            r = subtract(subtract(load(x, n_vertices + left, zero), sent_left), sent_right)
            store(x, n_vertices + left, r)
            t = apply(load_symmetric(pivots, left, like), r)
            to_a = subtract(to_a, apply_transpose(load_fill(pivots, left, like), t))
            to_b = subtract(to_b, apply_transpose(load(middle, e, like), t))
        store(y, n_vertices + 2 * e, to_a)
        store(y, n_vertices + 2 * e + 1, to_b)
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
    middle = factor.middle
    sign, zero = factor.sign, vector_like(like)
    for e in range(edges[0], edges[1]):
        start, cell = offsets[e], offsets[e] + e
        m = offsets[e + 1] - start
        if m == 0:
            continue
        O = load_hankel(off, e, like)
        xa, xb = load(x, tails[e], zero), load(x, heads[e], zero)
        n_left, n_right = m // 2, (m - 1) // 2
        left = start + n_left
        right = left
        r = subtract(load(x, n_vertices + left, zero), apply(load_fill(pivots, left, like), xa))
        r = subtract(r, apply(load(middle, e, like), xb))
        xl = apply(load_symmetric(pivots, left, like), r)
        xr = xl
        store(x, n_vertices + left, xl)
        for j in range(n_right):
            left, right = left - 1, right + 1
            rl = subtract(load(x, n_vertices + left, zero), apply(load_fill(pivots, left, like), xa))
            rr = subtract(load(x, n_vertices + right, zero), apply(load_fill(pivots, right, like), xb))
            rl = subtract(rl, apply(coupled(O, coupling, cell + n_left - j, sign), xl))
            rr = subtract(rr, apply(coupled(O, coupling, cell + n_left + 1 + j, sign), xr))
            xl = apply(load_symmetric(pivots, left, like), rl)
            xr = apply(load_symmetric(pivots, right, like), rr)
            store(x, n_vertices + left, xl)
            store(x, n_vertices + right, xr)
        if n_left > n_right:
            r = subtract(load(x, n_vertices + start, zero), apply(load_fill(pivots, start, like), xa))
            r = subtract(r, apply(coupled(O, coupling, cell + 1, sign), xl))
            store(x, n_vertices + start, apply(load_symmetric(pivots, start, like), r))


@inline
def select_node(
    inverse: Block, B: Block, O: Block, Zee: Block, Zne: Block, Znn: Block
) -> tuple[Block, Block, Block]:
    """Blocks (j, next), (j, end) and (j, j) of the inverse, from those of the next node n and the end e."""
    W, U = multiply(inverse, O), multiply(inverse, B)
    X = negate(add(multiply(W, Znn), multiply_transpose(U, Zne)))
    Y = negate(add(multiply(W, Zne), multiply(U, Zee)))
    Z = subtract(inverse, add(symmetric_product(X, W), symmetric_product(Y, U)))
    return X, Y, Z


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
    """Selected inverse along the edges, from its vertex blocks and its blocks (b, a) between ends of edges.

    Field entries times `sign`: `variances` at interior nodes, `neighbours` across every cell. Whole blocks,
    summed over the cells of an edge, for the traces of the gradient: both diagonal blocks of a cell
    and its off-diagonal block plus transpose (`sums`); None compiles them away.
    """
    mesh, factor = MeshArrays(*mesh), FactorArrays(*factor)
    inverse, selected = VertexInverse(*inverse), SelectedArrays(*selected)
    if edges[2]:
        select_vertices(mesh, factor.L, factor.inverses, inverse, like)
        for v in range(mesh.n_vertices):
            selected.variances[v] = factor.sign * inverse.vertices[v, -1]
    offsets, n_vertices, tails, heads = mesh.offsets, mesh.n_vertices, mesh.tails, mesh.heads
    off, coupling, pivots = factor.off, factor.coupling, factor.pivots
    middle = factor.middle
    variances, neighbours = selected.variances, selected.neighbours
    sign = factor.sign
    for e in range(edges[0], edges[1]):
        start, cell = offsets[e], offsets[e] + e
        m = offsets[e + 1] - start
        Zaa, Zbb = (
            load_symmetric(inverse.vertices, tails[e], like),
            load_symmetric(inverse.vertices, heads[e], like),
        )
        Zba = load(inverse.edges, e, like)
        diagonal = add(Zaa, Zbb)
        couple = like
        if m == 0:
            couple = Zba
            neighbours[cell] = sign * corner(Zba)
        else:
            O = load_hankel(off, e, like)
            n_left, n_right = m // 2, (m - 1) // 2
            left = start + n_left
            right = left
            Br = load(middle, e, like)
            P = load_symmetric(pivots, left, like)
            Yr, Yl, Zl = select_node(P, load_fill(pivots, left, like), Br, Zaa, Zba, Zbb)
            Zr = Zl
            variances[n_vertices + left] = sign * corner(Zl)
            interior = Zl
            for j in range(n_right):
                left, right = left - 1, right + 1
                cell_l, cell_r = cell + n_left - j, cell + n_left + 1 + j
                inverse_l, Bl = load_symmetric(pivots, left, like), load_fill(pivots, left, like)
                inverse_r, Br = load_symmetric(pivots, right, like), load_fill(pivots, right, like)
                Nl, Nr = coupled(O, coupling, cell_l, sign), coupled(O, coupling, cell_r, sign)
                Xl, Yl, Zl = select_node(inverse_l, Bl, Nl, Zaa, Yl, Zl)
                Xr, Yr, Zr = select_node(inverse_r, Br, Nr, Zbb, Yr, Zr)
                variances[n_vertices + left], variances[n_vertices + right] = (
                    sign * corner(Zl),
                    sign * corner(Zr),
                )
                neighbours[cell_l], neighbours[cell_r] = sign * corner(Xl), sign * corner(Xr)
                if sums is not None:
                    interior, couple = add(interior, add(Zl, Zr)), add(couple, add(Xl, Xr))
            if n_left > n_right:
                inverse_l, Bl = load_symmetric(pivots, start, like), load_fill(pivots, start, like)
                Nl = coupled(O, coupling, cell + 1, sign)
                Xl, Yl, Zl = select_node(inverse_l, Bl, Nl, Zaa, Yl, Zl)
                variances[n_vertices + start] = sign * corner(Zl)
                neighbours[cell + 1] = sign * corner(Xl)
                if sums is not None:
                    interior, couple = add(interior, Zl), add(couple, Xl)
            neighbours[cell], neighbours[cell + m] = sign * corner(Yl), sign * corner(Yr)
            couple = add(couple, add(Yl, Yr))
            diagonal = add(diagonal, add(interior, interior))
        if sums is not None:
            store_symmetric(sums[0], e, diagonal)
            store_symmetric(sums[1], e, add(couple, transpose(couple)))


EVEN = Chains(eliminate_chains, forward_chains, backward_chains, select_chains)
