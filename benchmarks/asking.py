"""What does one ask cost, and does it grow with the observations? One network prior, alpha = 1, refitted."""

import os

for _variable in ("OPENBLAS_NUM_THREADS", "OMP_NUM_THREADS"):
    os.environ.setdefault(_variable, "1")  # waiting threads would count as processor time

import argparse
import time
from pathlib import Path
from typing import Any

import numpy as np

import netbo
from netbo import FiniteElementSpace, Optimizer
from netbo.acquisition import FixedWidth, IgpUcb, NoisyExpectedImprovement
from netbo.arrays import FloatArray
from netbo.linalg import set_threads
from netbo.optimize import Combination, EuclideanMatern, Learned, NetworkMatern
from netbo.problems import random_field
from record import write

NOISE = 0.1**2
OLD = {"preset": "calibrated"}
SETTINGS: dict[str, dict[str, Any]] = {
    "calibrated (GP-TS), noise known": {**OLD, "noise": NOISE},
    "default, noise known": {"noise": NOISE},
    "calibrated (GP-TS), noise learned": OLD,
    "calibrated, exact values": {**OLD, "noise": 0.0, "repeats": True},
    "UCB": {**OLD, "noise": NOISE, "acquisition": IgpUcb(FixedWidth(2.0))},
    "noisy EI": {**OLD, "noise": NOISE, "acquisition": NoisyExpectedImprovement()},
    "paper (UCB)": {"preset": "paper", "noise": NOISE},
}
MIXTURES: dict[str, dict[str, Any]] = {
    "average of two network priors": {
        **OLD,
        "noise": NOISE,
        "fit": Learned(models=(NetworkMatern(0.5), NetworkMatern(1.0)), combination=Combination.AVERAGE),
    },
    "Euclidean nu=3/2": {**OLD, "noise": NOISE, "fit": Learned(models=(EuclideanMatern(1.5),))},
}


def milliseconds(space: FiniteElementSpace, settings: dict[str, Any], n: int, seed: int) -> FloatArray:
    """Processor time of each ask after the design, (n - 8,); the objective is a draw of the prior."""
    graph = space.graph
    problem = random_field(space, netbo.Matern(1.0, range=0.3 * graph.diameter), seed, noise=NOISE)
    optimizer, rng = Optimizer(space, seed=seed, **settings), np.random.default_rng(seed)
    needed = []
    for _ in range(n):
        begun = time.process_time()
        suggestion = optimizer.ask()
        needed.append(time.process_time() - begun)
        noise = 0.0 if settings.get("noise") == 0 else NOISE**0.5 * rng.standard_normal()
        optimizer.tell(suggestion, problem(suggestion.point) + noise)
    return 1e3 * np.array(needed[optimizer.design.size :])


def measure(name: str, space: FiniteElementSpace, setting: str, n: int, seeds: int) -> dict[str, Any]:
    settings = (SETTINGS | MIXTURES)[setting]
    milliseconds(space, settings, 12, 0)  # compiles
    runs = np.array([milliseconds(space, settings, n, seed) for seed in range(seeds)])
    best = runs.min(axis=0)  # over seeds: the machine's noise is one-sided
    t = np.arange(len(best))
    slope, start = np.polyfit(t, best, 1)
    row = {
        "mesh": name,
        "nodes": space.n_nodes,
        "setting": setting,
        "observations": n,
        "ms mean": round(float(runs.mean()), 3),
        "ms median": round(float(np.median(runs)), 3),
        "ms largest": round(float(runs.max()), 3),
        "growth from first to last ask": round(float(slope * t[-1] / max(start, 1e-9)), 3),
    }
    print(*row.values(), sep="  ", flush=True)
    return row


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--out", type=Path)
    arguments = parser.parse_args()
    set_threads(1)
    rectangle, road = netbo.open_rectangle(), netbo.road(66_000, seed=0)
    meshes = [
        ("rectangle", FiniteElementSpace.build(rectangle, n_nodes=300), list(SETTINGS | MIXTURES), 208, 3),
        ("rectangle", FiniteElementSpace.build(rectangle, n_nodes=1_200), list(SETTINGS | MIXTURES), 108, 3),
        ("rectangle", FiniteElementSpace.build(rectangle, n_nodes=1_000_000), list(SETTINGS)[:5], 24, 1),
        ("road", FiniteElementSpace.build(road, n_nodes=1_000_000), list(SETTINGS)[:2], 24, 1),
    ]
    rows = [
        measure(name, space, setting, n, seeds)
        for name, space, settings, n, seeds in meshes
        for setting in settings
    ]
    write(arguments.out, __doc__ or "", {"noise": NOISE, "rows": rows})


if __name__ == "__main__":
    main()
