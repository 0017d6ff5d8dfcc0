"""How long does one ask take with other tools, over 300 to 1e5 candidates? CPU of one thread.

60 values are known. Every tool fits its model and chooses among the nodes of one mesh of the open rectangle
(Optuna: among all places), then is told a value; means over the turns after one that is not counted. Each
tool is optional and left out where it is not installed: .venv-peers, which `make peers` makes, has them all.
A tool is not run where its matrices need more than half of the memory, nor beyond a size at which a turn took
LONGEST seconds.
"""

import os

for _variable in ("NUMBA_NUM_THREADS", "OMP_NUM_THREADS", "OPENBLAS_NUM_THREADS", "MKL_NUM_THREADS"):
    os.environ[_variable] = "1"

import argparse
import importlib
import time
import warnings
from collections.abc import Callable
from importlib.metadata import PackageNotFoundError, version
from pathlib import Path
from typing import Any

import numpy as np

import netbo
from netbo import FiniteElementSpace, Optimizer
from netbo.checks import memory_size
from netbo.linalg import set_threads
from netbo.problems import Problem, random_field
from record import write

SIZES = (300, 3_000, 30_000, 100_000)
KNOWN, NOISE, LONGEST = 60, 0.1**2, 15.0
TURNS, SLOW = 10, 1.0  # a turn slower than this many seconds is made three times
INSTALL = "pip install '.[botorch]' --group peers in an environment of its own, as make peers does"
TOOLS = ("optuna", "scikit-learn", "torch", "botorch", "gpytorch", "geometric_kernels")

Make = Callable[[Problem, FiniteElementSpace], Any]


def ours(preset: str) -> Make:
    return lambda problem, space: Optimizer(space, preset=preset, noise=NOISE, seed=0)


def of_pool(name: str) -> Make:
    """A way of peers.py, whose candidates are the nodes of this mesh."""

    def make(problem: Problem, space: FiniteElementSpace) -> Any:
        peers = importlib.import_module("peers")
        vars(peers)["mesh_of"] = lambda graph: space
        peers.graph_kernel.cache_clear()
        return getattr(peers, name)(problem, 0, NOISE)

    return make


def joint_thompson(problem: Problem, space: FiniteElementSpace) -> Any:
    """BoTorch's usual model on coordinates, and the best of one sample of all candidates at once."""
    peers, torch = importlib.import_module("peers"), importlib.import_module("torch")
    vars(peers)["mesh_of"] = lambda graph: space

    class JointThompson(peers.PlaneSearch):  # type: ignore[misc, name-defined]
        def choose(self, pool: netbo.Points) -> int:
            x, choices = torch.tensor(self.known()), torch.tensor(self.drawing(pool))
            model = peers.fitted(peers.SingleTaskGP(x, *peers.targets(self)))
            with torch.no_grad(), warnings.catch_warnings():
                warnings.simplefilter("ignore")  # a covariance of thousands is made definite
                return int(model.posterior(choices).rsample().argmax())

    return JointThompson(problem, 0, NOISE)


def optuna_way(name: str) -> Make:
    def make(problem: Problem, space: FiniteElementSpace) -> Any:
        module = importlib.import_module("ways")
        importlib.import_module("torch" if name == "OptunaGp" else "optuna")
        return getattr(module, name)(problem, 0, *([NOISE] if name == "OptunaGp" else []))

    return make


WAYS: dict[str, tuple[Make, int]] = {  # and how many N x N matrices it needs
    "netbo, GP-TS": (ours("calibrated"), 0),
    "netbo, default": (ours("robust"), 0),
    "BoTorch, log EI": (of_pool("BoTorchPlane"), 0),
    "BoTorch, joint Thompson sample": (joint_thompson, 4),
    "GeometricKernels, log EI": (of_pool("GeometricKernels"), 4),
    "scikit-learn, EI": (of_pool("ScikitLearn"), 0),
    "Optuna TPE": (optuna_way("OptunaTpe"), 0),
    "Optuna GP": (optuna_way("OptunaGp"), 0),
}


def seconds_of_a_turn(search: Any, problem: Problem, space: FiniteElementSpace) -> float:
    """Mean processor seconds of ask + tell once KNOWN values are there."""
    rng = np.random.default_rng(0)
    at = space.nodes[rng.choice(space.n_nodes, KNOWN, replace=False)]
    for i in range(KNOWN):
        search.tell(at[i : i + 1], float(problem(at[i])) + NOISE**0.5 * rng.standard_normal())
    spent: list[float] = []
    turns = TURNS
    while len(spent) <= turns:
        begun = time.process_time()
        suggestion = search.ask()
        place = getattr(suggestion, "point", suggestion)
        value = float(problem(place)) + NOISE**0.5 * rng.standard_normal()
        search.tell(suggestion, value)
        spent.append(time.process_time() - begun)
        turns = 3 if spent[-1] > SLOW else turns
    return float(np.mean(spent[1:]))


def measure(name: str) -> list[dict[str, Any]]:
    """A row for each number of candidates; with a reason where nothing was run."""
    make, n_matrices = WAYS[name]
    rows, slowest, reason = [], 0.0, ""
    for n in SIZES:
        graph = netbo.open_rectangle()
        space = FiniteElementSpace.build(graph, n_nodes=n)
        problem = random_field(space, netbo.Matern(1.0, range=0.3 * graph.diameter), 0, noise=NOISE)
        row: dict[str, Any] = {"way": name, "candidates": n, "s": None}
        if slowest > LONGEST:
            reason = reason or f"a turn takes {slowest:.0f} s at the size before"
        elif n_matrices * 8 * n**2 > memory_size() / 2:
            reason = reason or f"{n_matrices} matrices of {8e-9 * n**2:.1f} GB"
        if not reason:
            try:
                search = make(problem, space)
            except ImportError as error:
                reason = f"not installed: {error.name}"
                print(f"{name}: {reason}; {INSTALL}")
            else:
                slowest = row["s"] = seconds_of_a_turn(search, problem, space)
        rows.append(row | {"not run": reason or None})
        print(*rows[-1].values(), sep="  ", flush=True)
    return rows


def versions() -> dict[str, str]:
    found = {}
    for tool in TOOLS:
        try:
            found[tool] = version(tool)
        except PackageNotFoundError:
            continue
    return found


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--only", action="append", choices=WAYS)
    parser.add_argument("--out", type=Path)
    options = parser.parse_args()
    set_threads(1)
    rows = [row for name in options.only or WAYS for row in measure(name)]
    result = {"seed": 0, "known values": KNOWN, "tools": versions(), "rows": rows}
    write(options.out, (__doc__ or "").splitlines()[0], result)


if __name__ == "__main__":
    main()
