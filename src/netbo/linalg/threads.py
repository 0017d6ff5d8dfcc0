"""Kernels over ranges of edges, in threads when the mesh is large enough to pay for them.

Threads of our own with kernels that release the interpreter lock: no compilation of a parallel twin, and a
forked child simply starts new ones.
"""

import os
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from functools import lru_cache
from itertools import pairwise
from typing import Any

import numpy as np

from netbo.arrays import IntArray

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


def run_over_edges(kernel: Callable[..., Any], offsets: IntArray, *arguments: Any) -> None:
    """Call kernel(first, last, *arguments) so that the ranges cover all edges, about equal in nodes."""
    n_edges, n_interior = len(offsets) - 1, int(offsets[-1])
    workers = min(thread_count(), n_edges) if n_interior >= SERIAL_NODES else 1
    if workers == 1:
        kernel(0, n_edges, *arguments)
        return
    bounds = np.searchsorted(offsets, np.linspace(0, n_interior, workers + 1))
    bounds[0], bounds[-1] = 0, n_edges
    pool = _pool(os.getpid(), workers)
    ranges = [(int(a), int(b)) for a, b in pairwise(bounds) if a < b]
    for future in [pool.submit(kernel, first, last, *arguments) for first, last in ranges]:
        future.result()
