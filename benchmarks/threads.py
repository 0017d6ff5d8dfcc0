"""What does a second thread bring at 1e6 nodes? On the clock, one and two threads turn by turn, minima.

Factor, one solve, all variances: what is computed at every ask.
"""

import argparse
import time
from pathlib import Path
from typing import Any

from core import ours  # first: it sets the number of threads
import numpy as np

from netbo.linalg import set_threads
from record import write
from searches import space_of

LEAST, ROUNDS = 1.6, 7


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--out", type=Path)
    parser.add_argument("--nodes", type=int, default=1_000_000)
    options = parser.parse_args()
    rows: list[dict[str, Any]] = []
    for topology in ("rectangle", "road"):
        space, rng = space_of(topology, options.nodes), np.random.default_rng(0)
        nodes, values = rng.integers(0, space.n_nodes, 100), rng.standard_normal(100)
        actions = ours(space, 4 / space.graph.diameter, False, nodes, values)
        best = {1: np.inf, 2: np.inf}
        for _ in range(ROUNDS):
            for count, known in best.items():
                set_threads(count)
                begun = time.perf_counter()
                for name in ("factor", "solve", "variances"):
                    actions[name]()
                best[count] = min(known, time.perf_counter() - begun)
        row = {"network": topology, "nodes": space.n_nodes, "one thread, ms": 1e3 * best[1]}
        row |= {"two threads, ms": 1e3 * best[2], "ratio": best[1] / best[2], "at least": LEAST}
        rows.append(row)
        print(*row.values(), sep="  ", flush=True)
    write(options.out, (__doc__ or "").splitlines()[0], {"rows": rows})


if __name__ == "__main__":
    main()
