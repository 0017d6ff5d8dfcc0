"""Do distances, diameters and snapping keep up with a city? Road-like, 1e4 and 1e5 edges, CPU seconds."""

import argparse
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import record

import netbo


def spent(action: Callable[[], Any]) -> float:
    """CPU seconds of one call."""
    before = time.process_time()
    action()
    return time.process_time() - before


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--out", type=Path)
    options = parser.parse_args()
    rng = np.random.default_rng(0)
    small, large = netbo.road(6_667, seed=0), netbo.road(66_667, seed=0)
    x, y = (netbo.uniform_points(small, 1_000, rng) for _ in range(2))
    places = large.embed(netbo.uniform_points(large, 100_000, rng)) + 0.05 * rng.standard_normal((100_000, 2))
    many = netbo.uniform_points(large, 100_000, rng)
    actions: dict[str, tuple[int, Callable[[], Any]]] = {
        "distance, 1e3 x 1e3 points": (small.n_edges, lambda: small.distance(x, y)),
        "diameter, exact": (2_900, lambda: netbo.road(1_950, seed=0).diameter),
        "diameter, double sweep": (large.n_edges, lambda: netbo.road(66_667, seed=1).diameter),
        "nearest, 1e5 places": (large.n_edges, lambda: large.nearest(places)),
        "split at 1e5 points": (large.n_edges, lambda: large.split(many)),
    }
    rows = []
    for name, (n_edges, action) in actions.items():
        rows.append({"what": name, "edges": n_edges, "cpu_s": spent(action)})
        print(f"{name:28} {n_edges:7} edges  {rows[-1]['cpu_s']:6.2f} s")
    record.write(options.out, (__doc__ or "").splitlines()[0], {"seed": 0, "rows": rows})


if __name__ == "__main__":
    main()
