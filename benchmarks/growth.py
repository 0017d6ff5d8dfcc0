"""How do time and memory grow with the mesh? Ask + tell, CPU of one thread, 300 to 1e6 nodes.

Exponents are slopes in log-log from 3e3 nodes on, of means over the turns after the design (60 of them up to
3e4 nodes, 16 above). Memory is the peak of a process that makes five turns at 1e6 nodes.
"""

import argparse
import multiprocessing
from pathlib import Path
from typing import Any

from core import graph_of  # noqa: F401 - first: it sets the number of threads
import numpy as np

from record import write
from searches import PRESETS, compile_kernels, milliseconds, space_of

SIZES = (300, 3_000, 30_000, 100_000, 300_000, 1_000_000)
LIMITS = {"rectangle": 1.05, "road": 1.15}
FIRST = 3_000  # nodes from which exponents count
MEMORY_LIMIT = 0.6  # GB


def peak_memory(topology: str, preset: str, n_nodes: int, out: Any) -> None:
    """Peak resident GB of this process after five turns; not getrusage, whose maximum is inherited."""
    milliseconds(space_of(topology, n_nodes), preset, 5)
    status = Path("/proc/self/status").read_text()
    out.put(float(next(line for line in status.splitlines() if line.startswith("VmHWM")).split()[1]) / 1e6)


def memory(topology: str, preset: str, n_nodes: int) -> float:
    context = multiprocessing.get_context("spawn")
    queue = context.Queue()
    process = context.Process(target=peak_memory, args=(topology, preset, n_nodes, queue))
    process.start()
    found = float(queue.get())
    process.join()
    return found


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--out", type=Path)
    parser.add_argument("--largest", type=int, default=1_000_000)
    options = parser.parse_args()
    compile_kernels()
    rows: list[dict[str, Any]] = []
    summary: list[dict[str, Any]] = []
    sizes = [n for n in SIZES if n <= options.largest]
    for topology, limit in LIMITS.items():
        for name, preset in PRESETS.items():
            means = []
            for n in sizes:
                space = space_of(topology, n)
                found = milliseconds(space, preset, 60 if n <= 30_000 else 16)
                means.append(float(found.mean()))
                rows.append({"network": topology, "way": name, "nodes": space.n_nodes, "ms mean": means[-1],
                             "ms median": float(np.median(found))})  # fmt: skip
                print(*rows[-1].values(), sep="  ", flush=True)
            large = np.array(sizes) >= FIRST
            exponent = float(np.polyfit(np.log(np.array(sizes)[large]), np.log(np.array(means)[large]), 1)[0])
            peak = memory(topology, preset, sizes[-1])
            summary.append({"network": topology, "way": name, "exponent": exponent, "limit": limit,
                            "peak GB": peak, "limit GB": MEMORY_LIMIT})  # fmt: skip
            print(*summary[-1].values(), sep="  ", flush=True)
    write(options.out, (__doc__ or "").splitlines()[0], {"seed": 0, "rows": rows, "summary": summary})


if __name__ == "__main__":
    main()
