"""How long does a newcomer wait? Seconds from the start of Python to the first posterior, N = 301, alpha = 1.

Cold: nothing compiled yet (an empty numba cache). Warm: compiled before. Import included in both. Each is a
process of its own; minima of wall-clock and CPU seconds.
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

AIMS = {"cold": 10.0, "warm": 2.5}
PROGRAM = """
import netbo
graph = netbo.open_rectangle()
space = netbo.FiniteElementSpace.build(graph, max_cell=0.25)
prior = netbo.whittle_matern(space, netbo.Matern(alpha=1.0, range=20.0))
places = graph.points([0, 2, 4], fraction=[0.2, 0.5, 0.9])
posterior = netbo.condition(prior, netbo.Observations(places, [1.0, 2.0, 0.5]), regularization=0.01)
posterior.mean(space.nodes), posterior.std(space.nodes)
"""
UNWANTED = ("optuna", "matplotlib", "pandas", "networkx")


def run(program: str, cache: str) -> tuple[float, float, str]:
    """Wall-clock and CPU seconds of a Python process, and what it printed."""
    environment = os.environ | {"NUMBA_CACHE_DIR": cache}
    cpu, wall = os.times(), time.perf_counter()
    done = subprocess.run(
        [sys.executable, "-c", program], env=environment, check=True, capture_output=True, text=True
    )
    after = os.times()
    spent = after.children_user + after.children_system - cpu.children_user - cpu.children_system
    return time.perf_counter() - wall, spent, done.stdout


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--repeats", type=int, default=3)
    parser.add_argument("--out", type=Path)
    options = parser.parse_args()
    runs: dict[str, list[tuple[float, float, str]]] = {"cold": [], "warm": []}
    for _ in range(options.repeats):
        with tempfile.TemporaryDirectory() as cache:
            runs["cold"].append(run(PROGRAM, cache))
            runs["warm"] += [run(PROGRAM, cache) for _ in range(2)]
    result: dict[str, Any] = {}
    for name, found in runs.items():
        wall, cpu = min(r[0] for r in found), min(r[1] for r in found)
        result[name] = {"wall_s": wall, "cpu_s": cpu, "aim_s": AIMS[name], "repeats": len(found)}
        print(f"{name}: {wall:.2f} s wall, {cpu:.2f} s CPU (aim {AIMS[name]} s)")
    loaded = run(f"import netbo, sys; print([m for m in {UNWANTED!r} if m in sys.modules])", "")[2].strip()
    print(f"loaded by a bare import, of {UNWANTED}: {loaded}")
    result["loaded_by_bare_import"] = loaded
    record.write(options.out, (__doc__ or "").splitlines()[0], result)


if __name__ == "__main__":
    main()
