"""What does a second thread bring at 1e6 nodes? On the clock, one and two threads turn by turn, minima.

Factor, one solve, all variances: what is computed at every ask. Beside it the STREAM triad, which says what
a second thread brings here to work that only moves numbers.
"""

import argparse
import time
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any

from core import ours  # first: it sets the number of threads
import numpy as np
from numba import njit

from netbo.arrays import FloatArray
from netbo.linalg import set_threads
from record import write
from searches import space_of

LEAST, ROUNDS = 1.6, 7
TRIAD = 30_000_000  # numbers in each of its three arrays


@njit(fastmath=True, nogil=True)
def triad(a: FloatArray, b: FloatArray, c: FloatArray, first: int, last: int) -> None:
    for i in range(first, last):
        a[i] = b[i] + 3.0 * c[i]


def timed(name: str, size: int, work: Callable[[int], object], least: float | None) -> dict[str, Any]:
    """Milliseconds of work(threads), one and two turn by turn."""
    best = {1: np.inf, 2: np.inf}
    for _ in range(ROUNDS):
        for count, known in best.items():
            begun = time.perf_counter()
            work(count)
            best[count] = min(known, time.perf_counter() - begun)
    row = {"network": name, "nodes": size, "one thread, ms": 1e3 * best[1]}
    row |= {"two threads, ms": 1e3 * best[2], "ratio": best[1] / best[2], "at least": least}
    print(*row.values(), sep="  ", flush=True)
    return row


def streamed(size: int) -> dict[str, Any]:
    """The triad, each thread on a part of the arrays."""
    a, b, c = np.ones((3, size))

    def work(count: int) -> None:
        ends = np.linspace(0, size, count + 1).astype(int).tolist()
        list(pool.map(lambda k: triad(a, b, c, ends[k], ends[k + 1]), range(count)))

    with ThreadPoolExecutor(2) as pool:
        work(2)
        return timed("STREAM triad", size, work, None)


def posterior(topology: str, n_nodes: int) -> dict[str, Any]:
    """What is computed at every ask."""
    space, rng = space_of(topology, n_nodes), np.random.default_rng(0)
    nodes, values = rng.integers(0, space.n_nodes, 100), rng.standard_normal(100)
    actions = ours(space, 4 / space.graph.diameter, False, nodes, values)

    def work(count: int) -> None:
        set_threads(count)
        for name in ("factor", "solve", "variances"):
            actions[name]()

    return timed(topology, space.n_nodes, work, LEAST)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--out", type=Path)
    parser.add_argument("--nodes", type=int, default=1_000_000)
    options = parser.parse_args()
    rows = [posterior(topology, options.nodes) for topology in ("rectangle", "road")]
    rows.append(streamed(TRIAD))
    write(options.out, (__doc__ or "").splitlines()[0], {"rows": rows})


if __name__ == "__main__":
    main()
