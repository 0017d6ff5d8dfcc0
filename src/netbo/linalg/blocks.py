"""p x p blocks as flat tuples of floats: one source for every p, unrolled into registers by the compiler.

A kernel written with these functions is compiled once for each p it meets: the length of the tuple is part
of its type. `like` is any block, passed for its type alone. Symmetric blocks are stored as their upper
triangle, row by row. Outside compiled code the functions only have their names and types.
"""

import math
from collections.abc import Callable
from typing import Any, NoReturn

import numpy as np
from numba.extending import overload

from netbo.arrays import FloatArray
from netbo.linalg.kernels import FAST_MATH, kernel

Block = tuple[float, ...]
Vector = tuple[float, ...]


def zero_block(p: int) -> Block:
    """A block of zeros, whose type tells the kernels p."""
    return (0.0,) * (p * p)


def zero_vector(p: int) -> Vector:
    """A vector of zeros, whose type tells the kernels p."""
    return (0.0,) * p


def packed_size(p: int) -> int:
    """Number of entries of the upper triangle."""
    return p * (p + 1) // 2


def _compiled_only() -> NoReturn:
    raise RuntimeError("block functions have no interpreted form; call them inside a @kernel")


def add(a: Block, b: Block) -> Block:
    """The sum a + b."""
    _compiled_only()


def subtract(a: Block, b: Block) -> Block:
    """The difference a - b."""
    _compiled_only()


def negate(a: Block) -> Block:
    """The block -a."""
    _compiled_only()


def transpose(a: Block) -> Block:
    """The transpose a'."""
    _compiled_only()


def multiply(a: Block, b: Block) -> Block:
    """The product a b."""
    _compiled_only()


def transpose_multiply(a: Block, b: Block) -> Block:
    """The product a' b."""
    _compiled_only()


def multiply_transpose(a: Block, b: Block) -> Block:
    """The product a b'."""
    _compiled_only()


def symmetric_product(a: Block, b: Block) -> Block:
    """The product a b', known to be symmetric: only its upper triangle is computed."""
    _compiled_only()


def apply(a: Block, x: Vector) -> Vector:
    """The product a x."""
    _compiled_only()


def apply_transpose(a: Block, x: Vector) -> Vector:
    """The product a' x."""
    _compiled_only()


def invert(a: Block) -> tuple[Block, float]:
    """Inverse and absolute determinant of a symmetric block, of which the upper triangle is read."""
    _compiled_only()


def corner(a: Block) -> float:
    """The last corner, where the field sits."""
    _compiled_only()


def add_corner(a: Block, value: float) -> Block:
    """The block a with `value` added to its last corner."""
    _compiled_only()


def load(array: FloatArray, index: int, like: Block) -> Block:
    """The block, or vector, in a row of `array`."""
    _compiled_only()


def store(array: FloatArray, index: int, a: Block) -> None:
    """Write a block, or vector, to a row of `array`."""
    _compiled_only()


def load_dense(array: FloatArray, row: int, column: int, like: Block) -> Block:
    """The block of a dense matrix whose first entry is (row, column)."""
    _compiled_only()


def order_of(like: Block) -> int:
    """The p of a block."""
    _compiled_only()


def load_symmetric(array: FloatArray, index: int, like: Block) -> Block:
    """The symmetric block whose upper triangle leads a row of `array`."""
    _compiled_only()


def store_symmetric(array: FloatArray, index: int, a: Block) -> None:
    """Write the upper triangle of a block to a row of `array`."""
    _compiled_only()


def load_hankel(array: FloatArray, index: int, like: Block) -> Block:
    """The anti-triangular block S_ij = K_(p-1-i-j) of the Taylor coefficients in a row of `array`."""
    _compiled_only()


def store_pivot(array: FloatArray, index: int, inverse: Block, fill: Block) -> None:
    """Write what elimination leaves of a node: the upper triangle of the inverse pivot, then the fill.

    One row for both: a single stream through memory is a third faster than two.
    """
    _compiled_only()


def load_fill(array: FloatArray, index: int, like: Block) -> Block:
    """The fill behind the inverse pivot."""
    _compiled_only()


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


def _order(block: Any) -> int:
    """The p of a block type."""
    return math.isqrt(len(block))


def _packed(p: int, i: int, j: int) -> int:
    """Where entry (i, j) of a symmetric block lies in its upper triangle."""
    i, j = min(i, j), max(i, j)
    return i * p - i * (i - 1) // 2 + j - i


def _function(arguments: str, *lines: str) -> Callable[..., Any]:
    """A function made of statements: the unrolled form of one operation for one p."""
    scope: dict[str, Any] = {"np": np, "_gauss_jordan": _gauss_jordan}
    exec(f"def body({arguments}):\n" + "\n".join(f"    {line}" for line in lines), scope)
    function: Callable[..., Any] = scope["body"]
    return function


def _returns(arguments: str, entries: list[str]) -> Callable[..., Any]:
    return _function(arguments, f"return ({', '.join(entries)},)")


def _implements(stub: Callable[..., Any]) -> Callable[..., Any]:
    """Register a builder: from the types of the arguments it makes the function that is compiled."""
    options: Any = {"forceinline": True, "fastmath": FAST_MATH, "error_model": "numpy"}
    decorator: Callable[..., Any] = overload(stub, jit_options=options, strict=False)
    return decorator


@_implements(add)
def _add(a: Any, b: Any) -> Any:
    return _returns("a, b", [f"a[{i}] + b[{i}]" for i in range(len(a))])


@_implements(subtract)
def _subtract(a: Any, b: Any) -> Any:
    return _returns("a, b", [f"a[{i}] - b[{i}]" for i in range(len(a))])


@_implements(negate)
def _negate(a: Any) -> Any:
    return _returns("a", [f"-a[{i}]" for i in range(len(a))])


@_implements(transpose)
def _transpose(a: Any) -> Any:
    p = _order(a)
    return _returns("a", [f"a[{j * p + i}]" for i in range(p) for j in range(p)])


def _product(p: int, left: Callable[[int, int], int], right: Callable[[int, int], int]) -> Callable[..., Any]:
    """The product with entries sum_k a[left(i, k)] b[right(k, j)]."""
    entries = [
        " + ".join(f"a[{left(i, k)}] * b[{right(k, j)}]" for k in range(p))
        for i in range(p)
        for j in range(p)
    ]
    return _returns("a, b", entries)


@_implements(multiply)
def _multiply(a: Any, b: Any) -> Any:
    p = _order(a)
    return _product(p, lambda i, k: i * p + k, lambda k, j: k * p + j)


@_implements(transpose_multiply)
def _transpose_multiply(a: Any, b: Any) -> Any:
    p = _order(a)
    return _product(p, lambda i, k: k * p + i, lambda k, j: k * p + j)


@_implements(multiply_transpose)
def _multiply_transpose(a: Any, b: Any) -> Any:
    p = _order(a)
    return _product(p, lambda i, k: i * p + k, lambda k, j: j * p + k)


@_implements(symmetric_product)
def _symmetric_product(a: Any, b: Any) -> Any:
    p = _order(a)
    pairs = [(min(i, j), max(i, j)) for i in range(p) for j in range(p)]
    upper = {
        (i, j): " + ".join(f"a[{i * p + k}] * b[{j * p + k}]" for k in range(p))
        for i, j in sorted(set(pairs))
    }
    lines = [f"z{i}{j} = {sum_}" for (i, j), sum_ in upper.items()]
    return _function("a, b", *lines, "return (" + ", ".join(f"z{i}{j}" for i, j in pairs) + ",)")


@_implements(apply)
def _apply(a: Any, x: Any) -> Any:
    p = len(x)
    return _returns("a, x", [" + ".join(f"a[{i * p + k}] * x[{k}]" for k in range(p)) for i in range(p)])


@_implements(apply_transpose)
def _apply_transpose(a: Any, x: Any) -> Any:
    p = len(x)
    return _returns("a, x", [" + ".join(f"a[{k * p + i}] * x[{k}]" for k in range(p)) for i in range(p)])


@_implements(invert)
def _invert(a: Any) -> Any:
    p = _order(a)
    if p == 1:
        return _function("a", "return (1.0 / a[0],), abs(a[0])")
    if p == 2:
        return _function(
            "a",
            "determinant = a[0] * a[3] - a[1] * a[1]",
            "r = 1.0 / determinant",
            "return (a[3] * r, -a[1] * r, -a[1] * r, a[0] * r), abs(determinant)",
        )
    entries = ", ".join(f"w[{min(i, j)}, {p + max(i, j)}]" for i in range(p) for j in range(p))
    matrix = [f"w[{i}, {j}] = a[{min(i, j) * p + max(i, j)}]" for i in range(p) for j in range(p)]
    unit = [f"w[{i}, {p + j}] = {float(i == j)}" for i in range(p) for j in range(p)]
    make = f"w = np.empty(({p}, {2 * p}))"
    return _function("a", make, *matrix, *unit, "d = _gauss_jordan(w)", f"return ({entries}), d")


@_implements(corner)
def _corner(a: Any) -> Any:
    return _function("a", f"return a[{len(a) - 1}]")


@_implements(add_corner)
def _add_corner(a: Any, value: Any) -> Any:
    last = len(a) - 1
    return _returns("a, value", [f"a[{i}]" for i in range(last)] + [f"a[{last}] + value"])


@_implements(load)
def _load(array: Any, index: Any, like: Any) -> Any:
    return _returns("array, index, like", [f"array[index, {i}]" for i in range(len(like))])


@_implements(store)
def _store(array: Any, index: Any, a: Any) -> Any:
    return _function("array, index, a", *(f"array[index, {i}] = a[{i}]" for i in range(len(a))))


@_implements(load_symmetric)
def _load_symmetric(array: Any, index: Any, like: Any) -> Any:
    p = _order(like)
    entries = [f"array[index, {_packed(p, i, j)}]" for i in range(p) for j in range(p)]
    return _returns("array, index, like", entries)


def _upper_triangle(p: int, name: str) -> list[str]:
    return [f"array[index, {_packed(p, i, j)}] = {name}[{i * p + j}]" for i in range(p) for j in range(i, p)]


@_implements(store_symmetric)
def _store_symmetric(array: Any, index: Any, a: Any) -> Any:
    return _function("array, index, a", *_upper_triangle(_order(a), "a"))


@_implements(load_hankel)
def _load_hankel(array: Any, index: Any, like: Any) -> Any:
    p = _order(like)
    entries = [f"array[index, {p - 1 - i - j}]" if i + j < p else "0.0" for i in range(p) for j in range(p)]
    return _returns("array, index, like", entries)


@_implements(store_pivot)
def _store_pivot(array: Any, index: Any, inverse: Any, fill: Any) -> Any:
    p = _order(inverse)
    behind = [f"array[index, {packed_size(p) + i}] = fill[{i}]" for i in range(p * p)]
    return _function("array, index, inverse, fill", *_upper_triangle(p, "inverse"), *behind)


@_implements(load_fill)
def _load_fill(array: Any, index: Any, like: Any) -> Any:
    shift = packed_size(_order(like))
    return _returns("array, index, like", [f"array[index, {shift + i}]" for i in range(len(like))])


@_implements(load_dense)
def _load_dense(array: Any, row: Any, column: Any, like: Any) -> Any:
    p = _order(like)
    entries = [f"array[row + {i}, column + {j}]" for i in range(p) for j in range(p)]
    return _returns("array, row, column, like", entries)


@_implements(order_of)
def _order_of(like: Any) -> Any:
    return _function("like", f"return {_order(like)}")
