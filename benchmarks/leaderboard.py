"""Who finds maxima on networks first? Our ways and other tools on the suite, paired by seed, 60 evaluations.

    python benchmarks/leaderboard.py ours --jobs 2             # all problems that are not locked, 20 seeds
    python benchmarks/leaderboard.py ours --locked --jobs 2    # all problems
    make peers                                                 # slow peers, 12 problems, 10 seeds
    python benchmarks/leaderboard.py ours --only default       # one method anew, for another commit
    python benchmarks/leaderboard.py ablation --jobs 2         # the default without each of its parts
    python benchmarks/tables.py --write                        # docs/leaderboard.md from what is there

Runs are kept in --work and go on where they stopped; a method that has all of its runs is written to
results/leaderboard, one Parquet file and one record with commit and versions each. Runs made at another
commit are not made again: after a change to a method, delete its folders there or choose another --work.
"""

import os

if __name__ == "__main__":  # as many runs at a time as there are jobs, one thread each
    for _variable in ("OPENBLAS_NUM_THREADS", "OMP_NUM_THREADS", "MKL_NUM_THREADS", "NUMBA_NUM_THREADS"):
        os.environ.setdefault(_variable, "1")

import argparse
import hashlib
import importlib
import re
import sys
from collections.abc import Mapping
from fnmatch import fnmatch
from importlib.metadata import PackageNotFoundError, version
from pathlib import Path
from typing import Any

import matplotlib.pyplot as plt

import netbo
import record
import ways
from netbo.experiments import Comparison, Method
from netbo.optimize import EdgewiseMatern, KMedian, Maximin, MeshFreeMatern
from netbo.problems import SUITE, SuiteProblem

RECORDS = Path(__file__).parent / "results" / "leaderboard"
ABLATIONS = RECORDS.with_name("ablation")
PICTURE = Path(__file__).parents[1] / "docs" / "pictures" / "leaderboard.png"
N_PEER_PROBLEMS, N_PEER_SIMULATED = 12, 3
TOOLS = ("optuna", "scikit-learn", "torch", "botorch", "gpytorch", "geometric_kernels")

OURS: Mapping[str, Any] = {  # options, or module:name of what is called with problem, seed and noise
    "default": {},
    "old default": "ways:old_default",
    "noisy EI": "ways:noisy_ei",
    "paper": "ways:paper",
    "paper, Euclidean": "ways:paper_euclidean",
    "data-blind": "ways:data_blind",
    "random": "ways:RandomSearch",
    "Optuna TPE": "ways:OptunaTpe",
}
PEERS: Mapping[str, Any] = {
    "scikit-learn": "peers:ScikitLearn",
    "Optuna GP": "ways:OptunaGp",
    "BoTorch, plane": "peers:BoTorchPlane",
    "BoTorch, edges": "peers:BoTorchEdges",
    "GeometricKernels": "peers:GeometricKernels",
}
ABLATION: Mapping[str, Any] = {
    "all of it": {},
    "maximin design": {"design": Maximin(KMedian().size)},
    "eight first places": {"design": 8},
    "nodes of a mesh": "ways:on_nodes",
    "never exploring": {"acquisition": "noisy-ei"},
    "Thompson sampling": {"acquisition": "thompson"},
    "without the kernel of edges": {"fit": ways.with_models(MeshFreeMatern())},
    "with alpha 3/2, junctions apart": {"fit": ways.with_models(*ways.KERNELS, *ways.MORE_KERNELS)},
    "with alpha 1/2": {"fit": ways.with_models(*ways.KERNELS, MeshFreeMatern(alpha=0.5))},
    "with straight lines": "ways:with_straight_lines",
    "constant variance": {"fit": ways.with_models(MeshFreeMatern(constant_variance=True), EdgewiseMatern())},
}
PARTS = {"ours": (OURS, 20), "peers": (PEERS, 10), "ablation": (ABLATION, 5)}  # methods and seeds


def peer_problems() -> list[SuiteProblem]:
    """Twelve problems, a quarter of them simulated, those whose names followed by "peers" hash smallest."""
    by_hash = sorted(SUITE, key=lambda each: hashlib.sha256(f"{each.name}peers".encode()).hexdigest())
    simulated = [each for each in by_hash if each.is_simulated][:N_PEER_SIMULATED]
    others = [each for each in by_hash if not each.is_simulated][: N_PEER_PROBLEMS - len(simulated)]
    return [each for each in SUITE if each in simulated or each in others]


def method_of(way: Any) -> Method:
    """Options as they are; a name is imported."""
    if not isinstance(way, str):
        return dict(way)
    module, _, name = way.partition(":")
    found: Method = getattr(importlib.import_module(module), name)
    return found


def run(name: str, way: Any, problems: list[SuiteProblem], options: argparse.Namespace) -> Comparison:
    """All runs of one method, those that are there not again."""

    def show(done: int, total: int) -> None:
        end = "\n" if done == total else "\r"
        print(f"{name:20s} {done} of {total}", end=end, file=sys.stderr, flush=True)

    return netbo.compare(
        {name: method_of(way)}, problems, options.seeds, budget=options.budget, jobs=options.jobs,
        out=options.work / options.part, progress=show,
    )  # fmt: skip


def keep(name: str, found: Comparison, options: argparse.Namespace) -> None:
    """The runs of a method as a small file, and where they come from."""
    found.write(options.out)
    hours = float(found.answers["cpu"].sum()) * options.budget / 3600
    tools = {}
    for tool in TOOLS:
        try:
            tools[tool] = version(tool)
        except PackageNotFoundError:
            continue
    key = re.sub(r"[^a-z0-9]+", "-", name.lower())
    facts = {"method": name, "part": options.part, "runs": len(found.answers), "seeds": options.seeds}
    facts |= {"problems": int(found.table["problem"].nunique()), "budget": options.budget}
    record.write(options.out / f"{key}.json", __doc__ or "", {**facts, "core_hours": hours, "tools": tools})


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawTextHelpFormatter)
    parser.add_argument(
        "part", choices=[*PARTS, "picture"], help="ours, peers, ablation, or the picture of what is there"
    )
    parser.add_argument("--only", nargs="+", metavar="METHOD", help="some methods of the part")
    parser.add_argument("--problem", default="*", help="name or pattern")
    parser.add_argument("--locked", action="store_true", help="the problems kept aside while tuning, too")
    parser.add_argument("--seeds", type=int)
    parser.add_argument("--budget", type=int, default=60)
    parser.add_argument("--jobs", type=int, default=1)
    parser.add_argument("--work", type=Path, default=Path("out/leaderboard"), help="folder of the runs")
    parser.add_argument("--out", type=Path, help="folder of the records")
    options = parser.parse_args()
    usual = ABLATIONS if options.part == "ablation" else RECORDS
    options.out = options.out or usual
    if options.part == "picture":
        figure = Comparison.read(options.out).among(OURS).plot()
        figure.savefig(PICTURE, dpi=150)
        plt.close(figure)
        return
    if options.out == usual and (options.problem != "*" or options.budget != 60):
        parser.error("some problems, or another budget, are no record of the suite; give another --out")
    methods, seeds = PARTS[options.part]
    options.seeds = options.seeds or seeds
    pool = peer_problems() if options.part == "peers" else SUITE
    problems = [each for each in pool if options.locked or not each.is_locked]
    problems = [each for each in problems if fnmatch(each.name, options.problem)]
    for name in options.only or methods:
        keep(name, run(name, methods[name], problems, options), options)


if __name__ == "__main__":
    main()
