"""How long do 1,000 iterations take at 300 nodes, and does an ask cost more after 2,000 values?

One process, one thread: ask + tell on the open rectangle, noise known; a study keeps a journal file.
Growth is the mean over the last 200 turns of 2,000 by that over the turns 100 to 300.
"""

import argparse
import tempfile
import time
from pathlib import Path
from typing import Any

from core import graph_of  # noqa: F401 - first: it sets the number of threads
import numpy as np

import netbo
from netbo import Optimizer
from netbo.arrays import FloatArray
from netbo.linalg import set_threads
from netbo.problems import random_field
from netbo.studies import Study
from record import write
from searches import NOISE, PRESETS, compile_kernels

NODES = 300


def turns(keeper: Any, problem: Any, n: int) -> FloatArray:
    """Processor seconds of ask + tell, (n,)."""
    rng, needed = np.random.default_rng(0), np.empty(n)
    for i in range(n):
        begun = time.process_time()
        suggestion = keeper.ask()
        needed[i] = time.process_time() - begun
        value = problem(suggestion.point) + NOISE**0.5 * rng.standard_normal()
        begun = time.process_time()
        keeper.tell(suggestion, value)
        needed[i] += time.process_time() - begun
    return needed


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--out", type=Path)
    parser.add_argument("--turns", type=int, default=2_000)
    options = parser.parse_args()
    compile_kernels()
    set_threads(1)
    graph = netbo.open_rectangle()
    cell, n = graph.total_length / NODES, options.turns
    space = netbo.FiniteElementSpace.build(graph, max_cell=cell)
    problem = random_field(space, netbo.Matern(1.0, range=0.3 * graph.diameter), 0, noise=NOISE)
    rows: list[dict[str, Any]] = []
    for name, preset in (PRESETS | {"paper": "paper"}).items():
        with tempfile.TemporaryDirectory() as folder:
            settings: dict[str, Any] = {"noise": NOISE, "seed": 0, "max_cell": cell, "preset": preset}
            storage = str(Path(folder) / "study.journal")
            keepers = {
                "optimizer": Optimizer(graph, **settings),
                "study": Study.create(graph, name="s", storage=storage, **settings),
            }
            for keeper, asked in keepers.items():
                found = turns(asked, problem, n)
                early, late = found[n // 20 : 3 * n // 20].mean(), found[-n // 10 :].mean()
                row = {"way": name, "in": keeper, "1,000 iterations, s": float(found[: n // 2].sum())}
                row |= {"values": n, "ms early": 1e3 * float(early), "ms late": 1e3 * float(late)}
                rows.append(row | {"growth": float(late / early)})
                print(*rows[-1].values(), sep="  ", flush=True)
    write(options.out, (__doc__ or "").splitlines()[0], {"nodes": space.n_nodes, "rows": rows})


if __name__ == "__main__":
    main()
