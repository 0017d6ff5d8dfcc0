"""How kernels are compiled and run: typed decorators, threads over edges, work arrays.

Threads of our own with kernels that release the interpreter lock: no compilation of a parallel twin, and a
forked child simply starts new ones.
"""

import math
import os
import sys
import weakref
from collections import defaultdict
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from functools import cache, lru_cache
from itertools import pairwise
from typing import Any, TypeVar, cast

import numba
import numpy as np

from netbo.arrays import FloatArray, IntArray

Function = TypeVar("Function", bound=Callable[..., Any])

# No `reassoc`: row sums only keep their digits if differences are taken in the order written.
FAST_MATH = {"contract", "nsz", "arcp"}
_OPTIONS: dict[str, Any] = {"nogil": True, "error_model": "numpy", "fastmath": FAST_MATH}
# For a shorter cold start: nobody calls kernels by address, and one without arrays of its own counts no
# references.
_OPTIONS |= {"no_cfunc_wrapper": True, "_nrt": False}


def kernel(function: Function) -> Function:
    """Compile for the machine at first call, cache on disk, release the interpreter lock while running."""
    return cast(Function, numba.njit(**_OPTIONS, cache=True)(function))


def allocating_kernel(function: Function) -> Function:
    """A kernel that makes arrays."""
    return cast(Function, numba.njit(**_OPTIONS | {"cache": True, "_nrt": True})(function))


def inline(function: Function) -> Function:
    """Compile into the body of every kernel that calls it: blocks then stay in registers."""
    options = _OPTIONS | {"forceinline": True, "no_cpython_wrapper": True}
    return cast(Function, numba.njit(**options)(function))


COMPILE_SECONDS = 10  # of one core, until a first search has all it needs: benchmarks/start.py


@cache
def announce_first_compile(function: Callable[..., Any], order: int) -> None:
    """Say on standard error, once, why the next call takes seconds: no kernel for this p is on disk.

    numba looks into its cache only when a kernel is called; the keys of its index are the types of the
    arguments, of which the last is the block that tells p.
    """
    dispatcher: Any = function
    compiled = [*dispatcher.signatures, *(key[0] for key in dispatcher._cache._cache_file._load_index())]  # noqa: SLF001 - numba offers no other way to ask
    if not any(len(arguments[-1]) == order**2 for arguments in compiled):
        print(
            f"netbo: compiling the numerical core for 2 alpha = {order}, once for this machine, "
            f"about {COMPILE_SECONDS} s ...",
            file=sys.stderr,
            flush=True,
        )


# Kernels over ranges of edges, in threads when the mesh is large enough to pay for them.

SERIAL_NODES = 50_000  # below this a hand-over between threads costs more than it saves

_limit: list[int] = []


def set_threads(count: int | None) -> None:
    """Limit the threads used on large meshes; None: all cores this process may use."""
    _limit[:] = [] if count is None else [max(1, int(count))]


def thread_count() -> int:
    """Threads used on large meshes."""
    if _limit:
        return _limit[0]
    return len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count() or 1


@lru_cache(maxsize=1)
def _pool(process: int, workers: int) -> ThreadPoolExecutor:
    """A pool belongs to a process: a child that was forked has none of its parent's threads."""
    return ThreadPoolExecutor(workers, thread_name_prefix=f"netbo-{process}")


def edges_then_vertices(kernel: Callable[..., Any], offsets: IntArray, *arguments: Any) -> Any:
    """Call kernel(edges, *arguments) for all edges and, once they are done, the vertices; its last answer."""
    ranges = _edge_ranges(offsets)
    if len(ranges) > 1:
        _in_threads(kernel, ranges, arguments)
        ranges = [(0, 0)]
    return kernel((*ranges[0], True), *arguments)


def vertices_then_edges(kernel: Callable[..., Any], offsets: IntArray, *arguments: Any) -> None:
    """Call kernel(edges, *arguments) for the vertices and, once they are done, all edges."""
    ranges = _edge_ranges(offsets)
    if len(ranges) == 1:
        kernel((*ranges[0], True), *arguments)
        return
    kernel((0, 0, True), *arguments)
    _in_threads(kernel, ranges, arguments)


def _edge_ranges(offsets: IntArray) -> list[tuple[int, int]]:
    """Ranges that cover all edges, about equal in nodes: one, or one for each thread."""
    n_edges, n_interior = len(offsets) - 1, int(offsets[-1])
    workers = min(thread_count(), n_edges) if n_interior >= SERIAL_NODES else 1
    if workers == 1:
        return [(0, n_edges)]
    bounds = np.searchsorted(offsets, np.linspace(0, n_interior, workers + 1))
    bounds[0], bounds[-1] = 0, n_edges
    return [(int(a), int(b)) for a, b in pairwise(bounds) if a < b]


def _in_threads(
    kernel: Callable[..., Any], ranges: list[tuple[int, int]], arguments: tuple[Any, ...]
) -> None:
    pool = _pool(os.getpid(), len(ranges))
    for future in [pool.submit(kernel, (*edges, False), *arguments) for edges in ranges]:
        future.result()


# Large work arrays that outlive their user, so that the next one need not fault its pages in.

KEPT = 2  # free arrays kept of each shape: a factor in use and one being built
SMALLEST = 1 << 16  # entries; below it an allocation costs nothing


class Buffers:
    """Arrays lent for the lifetime of an owner; their contents are whatever was left there."""

    def __init__(self) -> None:
        self._free: dict[tuple[int, ...], list[FloatArray]] = defaultdict(list)

    def lend(self, owner: object, *shape: int) -> FloatArray:
        """An uninitialized array that returns here when `owner` is gone; no view of it may live longer."""
        if math.prod(shape) < SMALLEST:
            return np.empty(shape)
        free = self._free[shape]
        array = free.pop() if free else np.empty(shape)
        weakref.finalize(owner, self._take_back, free, array)
        return array

    @staticmethod
    def _take_back(free: list[FloatArray], array: FloatArray) -> None:
        if len(free) < KEPT:
            free.append(array)

    def __reduce__(self) -> tuple[type["Buffers"], tuple[()]]:
        return Buffers, ()
