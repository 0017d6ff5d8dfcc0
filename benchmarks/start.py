"""How long does a newcomer wait? Seconds from the start of Python to the first answer, alpha = 1.

Cold: nothing compiled yet (an empty numba cache). Warm: compiled before. Import included in both. Each is a
process of its own, one thread; minima of wall-clock and CPU seconds.
"""

import argparse
import os
import subprocess
import sys
import tempfile
import time
from pathlib import Path
from typing import Any

import record

PROGRAMS = {
    "posterior": """
import netbo
graph = netbo.open_rectangle()
space = netbo.FiniteElementSpace.build(graph, max_cell=0.25)
prior = netbo.whittle_matern(space, netbo.Matern(alpha=1.0, range=20.0))
places = graph.points([0, 2, 4], fraction=[0.2, 0.5, 0.9])
posterior = netbo.condition(prior, netbo.Observations(places, [1.0, 2.0, 0.5]), regularization=0.01)
posterior.mean(space.nodes), posterior.std(space.nodes)
""",
    "maximize": """
import netbo
netbo.maximize(lambda place: 1 - abs(place.z - 0.3), netbo.open_rectangle(), budget=25, seed=0)
""",
}
AIMS = {("posterior", "cold"): 10.0, ("posterior", "warm"): 2.5, ("maximize", "cold"): 8.0}
UNWANTED = ("optuna", "matplotlib", "pandas", "networkx")


def run(program: str, cache: str) -> tuple[float, float, str, str]:
    """Wall-clock and CPU seconds of a Python process, what it printed and what it said beside."""
    environment = os.environ | {"NUMBA_CACHE_DIR": cache, "OPENBLAS_NUM_THREADS": "1"}
    cpu, wall = os.times(), time.perf_counter()
    done = subprocess.run(
        [sys.executable, "-c", program], env=environment, check=True, capture_output=True, text=True
    )
    after = os.times()
    spent = after.children_user + after.children_system - cpu.children_user - cpu.children_system
    return time.perf_counter() - wall, spent, done.stdout, done.stderr.strip()


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--repeats", type=int, default=3)
    parser.add_argument("--out", type=Path)
    options = parser.parse_args()
    rows: list[dict[str, Any]] = []
    for what, program in PROGRAMS.items():
        runs: dict[str, list[tuple[float, float, str, str]]] = {"cold": [], "warm": []}
        for _ in range(options.repeats):
            with tempfile.TemporaryDirectory() as cache:
                runs["cold"].append(run(program, cache))
                runs["warm"] += [run(program, cache) for _ in range(2)]
        for start, found in runs.items():
            row = {"until": what, "start": start, "wall s": min(r[0] for r in found)}
            row |= {"CPU s": min(r[1] for r in found), "target": AIMS.get((what, start))}
            rows.append(row | {"repeats": len(found), "says": found[0][3]})
            print(*rows[-1].values(), sep="  ", flush=True)
    loaded = run(f"import netbo, sys; print([m for m in {UNWANTED!r} if m in sys.modules])", "")[2].strip()
    result = {"rows": rows, "loaded_by_bare_import": loaded}
    record.write(options.out, (__doc__ or "").splitlines()[0], result)


if __name__ == "__main__":
    main()
