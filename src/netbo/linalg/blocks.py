"""p x p blocks as flat tuples of floats: one source for every p, straight code in registers for each.

A kernel written with these functions is compiled once for each p it meets: the length of the tuple is part
of its type. `like` is any block, passed for its type alone. Symmetric blocks are stored as their upper
triangle, row by row. The operations emit their few instructions directly (numba intrinsics): compiled as
functions of their own they would take most of a cold start. They exist inside compiled code only.

numba's cache on disk looks at a kernel's own file alone: after a change here or in `vertices`, remove the
cached kernels of this folder (`make clean-cache`), or they go on with the old operations.
"""

import math
from collections.abc import Callable, Sequence
from typing import Any, cast

import numpy as np
from numba.core import cgutils, types
from numba.extending import intrinsic, overload

from netbo.arrays import FloatArray
from netbo.linalg.runtime import FAST_MATH, kernel

Block = tuple[float, ...]
Vector = tuple[float, ...]
Values = list[Any]  # LLVM values of the entries

_FLAGS = tuple(sorted(FAST_MATH))


def zero_block(p: int) -> Block:
    """A block of zeros, whose type tells the kernels p."""
    return (0.0,) * (p * p)


def packed_size(p: int) -> int:
    """Number of entries of the upper triangle."""
    return p * (p + 1) // 2


def _packed(p: int, i: int, j: int) -> int:
    """Where entry (i, j) of a symmetric block lies in its upper triangle."""
    i, j = min(i, j), max(i, j)
    return i * p - i * (i - 1) // 2 + j - i


def emitted(function: Callable[..., Any]) -> Callable[..., Any]:
    """An operation given by the instructions it emits: function(context, *types) -> signature, emitter."""
    return cast(Callable[..., Any], intrinsic(function))


class _Emitter:
    """Floating point instructions with the flags of our kernels."""

    def __init__(self, builder: Any) -> None:
        self.builder = builder

    def add(self, a: Any, b: Any) -> Any:
        return self.builder.fadd(a, b, flags=_FLAGS)

    def subtract(self, a: Any, b: Any) -> Any:
        return self.builder.fsub(a, b, flags=_FLAGS)

    def multiply(self, a: Any, b: Any) -> Any:
        return self.builder.fmul(a, b, flags=_FLAGS)

    def divide(self, a: Any, b: Any) -> Any:
        return self.builder.fdiv(a, b, flags=_FLAGS)

    def negate(self, a: Any) -> Any:
        return self.builder.fneg(a, flags=_FLAGS)

    def dot(self, a: Sequence[Any], b: Sequence[Any]) -> Any:
        """Sum of products, contracted to multiply-adds."""
        total = self.multiply(a[0], b[0])
        for x, y in zip(a[1:], b[1:], strict=True):
            total = self.add(total, self.multiply(x, y))
        return total


def _order(block: Any) -> int:
    """The p of a block type."""
    return math.isqrt(len(block))


def _unary(entries: Callable[[_Emitter, int, Values], Values]) -> Callable[..., Block]:
    """An operation block -> block."""

    @emitted
    def operation(typing_context: Any, a: Any) -> Any:
        def emit(context: Any, builder: Any, signature: Any, arguments: Any) -> Any:
            values = entries(_Emitter(builder), _order(a), cgutils.unpack_tuple(builder, arguments[0]))
            return context.make_tuple(builder, signature.return_type, values)

        return a(a), emit

    return operation


def _binary(entries: Callable[[_Emitter, int, Values, Values], Values]) -> Callable[..., Block]:
    """An operation (block, block) -> block or (block, vector) -> vector."""

    @emitted
    def operation(typing_context: Any, a: Any, b: Any) -> Any:
        def emit(context: Any, builder: Any, signature: Any, arguments: Any) -> Any:
            a_values, b_values = (cgutils.unpack_tuple(builder, argument) for argument in arguments)
            values = entries(_Emitter(builder), _order(a), a_values, b_values)
            return context.make_tuple(builder, signature.return_type, values)

        return b(a, b), emit

    return operation


def _rows(p: int, a: Values) -> list[Values]:
    return [a[i * p : (i + 1) * p] for i in range(p)]


def _columns(p: int, a: Values) -> list[Values]:
    return [a[j::p] for j in range(p)]


def _products(emit: _Emitter, left: list[Values], right: list[Values]) -> Values:
    return [emit.dot(row, column) for row in left for column in right]


def _symmetric_products(emit: _Emitter, p: int, a: Values, b: Values) -> Values:
    rows = (_rows(p, a), _rows(p, b))
    upper = {(i, j): emit.dot(rows[0][i], rows[1][j]) for i in range(p) for j in range(i, p)}
    return [upper[min(i, j), max(i, j)] for i in range(p) for j in range(p)]


add = _binary(lambda emit, p, a, b: [emit.add(x, y) for x, y in zip(a, b, strict=True)])  # a + b
subtract = _binary(lambda emit, p, a, b: [emit.subtract(x, y) for x, y in zip(a, b, strict=True)])  # a - b
negate = _unary(lambda emit, p, a: [emit.negate(x) for x in a])  # -a
transpose = _unary(lambda emit, p, a: [x for column in _columns(p, a) for x in column])  # a'
multiply = _binary(lambda emit, p, a, b: _products(emit, _rows(p, a), _columns(p, b)))  # a b
transpose_multiply = _binary(lambda emit, p, a, b: _products(emit, _columns(p, a), _columns(p, b)))  # a' b
multiply_transpose = _binary(lambda emit, p, a, b: _products(emit, _rows(p, a), _rows(p, b)))  # a b'
symmetric_product = _binary(_symmetric_products)  # a b', known to be symmetric: half of it is computed
apply = _binary(lambda emit, p, a, x: [emit.dot(row, x) for row in _rows(p, a)])  # a x
apply_transpose = _binary(lambda emit, p, a, x: [emit.dot(column, x) for column in _columns(p, a)])  # a' x


@emitted
def corner(typing_context: Any, a: Any) -> Any:
    """The last corner of a block, where the field sits."""

    def emit(context: Any, builder: Any, signature: Any, arguments: Any) -> Any:
        return cgutils.unpack_tuple(builder, arguments[0])[-1]

    return types.float64(a), emit


@emitted
def add_corner(typing_context: Any, a: Any, value: Any) -> Any:
    """The block a with `value` added to its last corner."""

    def emit(context: Any, builder: Any, signature: Any, arguments: Any) -> Any:
        values = cgutils.unpack_tuple(builder, arguments[0])
        values[-1] = _Emitter(builder).add(values[-1], arguments[1])
        return context.make_tuple(builder, a, values)

    return a(a, types.float64), emit


@emitted
def order_of(typing_context: Any, like: Any) -> Any:
    """The p of a block, a constant to the compiler."""

    def emit(context: Any, builder: Any, signature: Any, arguments: Any) -> Any:
        return context.get_constant(types.intp, _order(like))

    return types.intp(like), emit


@emitted
def vector_like(typing_context: Any, like: Any) -> Any:
    """A vector of p zeros, for a block of that p."""
    kind = types.UniTuple(types.float64, _order(like))

    def emit(context: Any, builder: Any, signature: Any, arguments: Any) -> Any:
        zero = context.get_constant(types.float64, 0.0)
        return context.make_tuple(builder, kind, [zero] * len(kind))

    return kind(like), emit


def _pointers(context: Any, builder: Any, kind: Any, array: Any, row: Any, column: Any) -> Callable[..., Any]:
    """Pointers to entries (row + i, column + j) of a C-contiguous array; indices are trusted."""
    view = context.make_array(kind)(context, builder, array)
    width = cgutils.unpack_tuple(builder, view.shape, 2)[1]
    first = builder.add(builder.mul(row, width), column)

    def at(i: int, j: int) -> Any:
        below = builder.mul(width, width.type(i)) if i else width.type(0)
        return builder.gep(view.data, [builder.add(first, builder.add(below, width.type(j)))])

    return at


def _require_matrix(array: Any) -> None:
    if not (isinstance(array, types.Array) and array.ndim == 2 and array.layout == "C"):
        raise TypeError(f"blocks live in C-contiguous matrices, got {array}; copy it first")


def _load(columns: Callable[[int], list[int | None]]) -> Callable[[FloatArray, int, Block], Block]:
    """A load (array, index, like) from a row: columns(length) has the column of each entry, None for 0."""

    @emitted
    def operation(typing_context: Any, array: Any, index: Any, like: Any) -> Any:
        _require_matrix(array)

        def emit(context: Any, builder: Any, signature: Any, arguments: Any) -> Any:
            zero = context.get_constant(types.float64, 0.0)
            at = _pointers(context, builder, array, arguments[0], arguments[1], arguments[1].type(0))
            values = [zero if j is None else builder.load(at(0, j)) for j in columns(len(like))]
            return context.make_tuple(builder, like, values)

        return like(array, types.intp, like), emit

    return operation


def _store(columns: Callable[[int], list[int | None]]) -> Callable[[FloatArray, int, Block], None]:
    """A store (array, index, block) to a row: columns(length) as in `_load`, None leaves an entry out."""

    @emitted
    def operation(typing_context: Any, array: Any, index: Any, a: Any) -> Any:
        _require_matrix(array)

        def emit(context: Any, builder: Any, signature: Any, arguments: Any) -> Any:
            at = _pointers(context, builder, array, arguments[0], arguments[1], arguments[1].type(0))
            for value, j in zip(cgutils.unpack_tuple(builder, arguments[2]), columns(len(a)), strict=True):
                if j is not None:
                    builder.store(value, at(0, j))
            return context.get_dummy_value()

        return types.none(array, types.intp, a), emit

    return operation


def _all(n: int) -> list[int | None]:
    return list(range(n))


def _triangle(n: int) -> list[int | None]:
    p = math.isqrt(n)
    return [_packed(p, i, j) for i in range(p) for j in range(p)]


def _upper_only(n: int) -> list[int | None]:
    p = math.isqrt(n)
    return [_packed(p, i, j) if i <= j else None for i in range(p) for j in range(p)]


def _behind_triangle(n: int) -> list[int | None]:
    shift = packed_size(math.isqrt(n))
    return [shift + i for i in range(n)]


def _anti_triangle(n: int) -> list[int | None]:
    p = math.isqrt(n)
    return [p - 1 - i - j if i + j < p else None for i in range(p) for j in range(p)]


load = _load(_all)  # the block, or vector, in a row
store = _store(_all)
load_symmetric = _load(_triangle)  # the symmetric block whose upper triangle leads a row
store_symmetric = _store(_upper_only)
# What elimination leaves of a node is one row: the inverse pivot's triangle, then the fill. A single stream
# through memory is a third faster than two.
load_fill = _load(_behind_triangle)
store_fill = _store(_behind_triangle)
load_hankel = _load(_anti_triangle)  # S_ij = K_(p-1-i-j) from the Taylor coefficients in a row


@emitted
def load_dense(typing_context: Any, array: Any, row: Any, column: Any, like: Any) -> Any:
    """The block of a dense matrix whose first entry is (row, column)."""
    _require_matrix(array)
    p = _order(like)

    def emit(context: Any, builder: Any, signature: Any, arguments: Any) -> Any:
        at = _pointers(context, builder, array, *arguments[:3])
        return context.make_tuple(builder, like, [builder.load(at(i, j)) for i in range(p) for j in range(p)])

    return like(array, types.intp, types.intp, like), emit


@emitted
def _invert_small(typing_context: Any, a: Any) -> Any:
    """Inverse and determinant for p = 1 and 2."""

    def emit(context: Any, builder: Any, signature: Any, arguments: Any) -> Any:
        e, v = _Emitter(builder), cgutils.unpack_tuple(builder, arguments[0])
        one = context.get_constant(types.float64, 1.0)
        if len(a) == 1:
            determinant, values = v[0], [e.divide(one, v[0])]
        else:
            determinant = e.subtract(e.multiply(v[0], v[3]), e.multiply(v[1], v[1]))
            r = e.divide(one, determinant)
            off = e.negate(e.multiply(v[1], r))
            values = [e.multiply(v[3], r), off, off, e.multiply(v[0], r)]
        inverse = context.make_tuple(builder, a, values)
        return context.make_tuple(builder, signature.return_type, [inverse, determinant])

    return types.Tuple((a, types.float64))(a), emit


def invert(a: Block) -> tuple[Block, float]:
    """Inverse and absolute determinant of a symmetric block, of which the upper triangle is read."""
    raise RuntimeError("block operations have no interpreted form; call them inside a @kernel")


_LARGE_ALLOCATES: Any = {"forceinline": True, "fastmath": FAST_MATH, "error_model": "numpy", "_nrt": True}


@overload(invert, jit_options=_LARGE_ALLOCATES, strict=False)
def _invert(a: Any) -> Any:
    p = _order(a)
    if p <= 2:

        def small(a: Block) -> tuple[Block, float]:
            inverse, determinant = _invert_small(a)
            return inverse, abs(determinant)

        return small

    def large(a: Block) -> tuple[Block, float]:
        work = np.zeros((p, 2 * p))
        for i in range(p):
            work[i, p + i] = 1.0
            for j in range(p):
                work[i, j] = a[min(i, j) * p + max(i, j)]
        scale = _corner_scale(work)
        determinant = _gauss_jordan(work) / scale**2
        triangle = np.empty((1, p * (p + 1) // 2))
        column = 0
        for i in range(p):
            work[i, 2 * p - 1] *= scale
            for j in range(i, p):
                triangle[0, column] = work[i, p + j]
                column += 1
        triangle[0, column - 1] *= scale
        return load_symmetric(triangle, 0, a), determinant

    return large


@kernel
def _corner_scale(work: FloatArray) -> float:
    """Bring a huge corner of [A, I] to the size of 1 by a power of two on its row and column.

    Precise observations put 1 / lambda there; unscaled, row exchanges lose the small entries of the inverse.
    """
    p = work.shape[0]
    largest = 0.0
    for i in range(p - 1):
        for j in range(p):
            largest = max(largest, abs(work[i, j]))
    size = abs(work[p - 1, p - 1])
    if size <= largest:
        return 1.0
    scale = math.ldexp(1.0, -(math.frexp(size)[1] // 2))
    for j in range(p):
        work[p - 1, j] *= scale
        work[j, p - 1] *= scale
    return scale


@kernel
def _gauss_jordan(work: FloatArray) -> float:
    """Turn [A, I] into [I, A^-1] with row exchanges; the absolute determinant of A."""
    p = work.shape[0]
    determinant = 1.0
    for k in range(p):
        best = k
        for i in range(k + 1, p):
            if abs(work[i, k]) > abs(work[best, k]):
                best = i
        if best != k:
            for j in range(2 * p):
                work[k, j], work[best, j] = work[best, j], work[k, j]
        determinant *= abs(work[k, k])
        r = 1.0 / work[k, k]
        for j in range(2 * p):
            work[k, j] *= r
        for i in range(p):
            if i != k:
                factor = work[i, k]
                for j in range(2 * p):
                    work[i, j] -= factor * work[k, j]
    return determinant
