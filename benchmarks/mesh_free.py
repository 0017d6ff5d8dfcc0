"""What does the exact kernel cost against finite elements, and against the prototypes? alpha = 1, t = 100.

Likelihood with gradient, and mean + variance at 1e5 arbitrary points, on networks of 6 to 1e5 vertices. The
prototypes (option --reference: the folder of their exact.py) factor, solve and select in the same process,
turn by turn; their gradient's last contraction and log|K| are not in their time. CPU time of one thread,
minima. The finite element prior has ten cells an edge, at least 1,000 nodes.
"""

import os

for _variable in ("NUMBA_NUM_THREADS", "OMP_NUM_THREADS", "OPENBLAS_NUM_THREADS", "MKL_NUM_THREADS"):
    os.environ[_variable] = "1"

import argparse
import importlib
import sys
from pathlib import Path
from typing import Any

import numpy as np

import netbo
import record
from netbo.linalg import set_threads
from netbo.posterior import Posterior
from timing import Timed, minima

SIZES = (6, 300, 10_000, 100_000)
OBSERVATIONS, NOISE, ASKED = 100, 0.01, 100_000


def network(n_vertices: int) -> netbo.MetricGraph:
    return netbo.open_rectangle() if n_vertices == 6 else netbo.road(n_vertices, seed=0)


def ours(prior: Any, data: netbo.Observations, asked: netbo.Points) -> Timed:
    """Likelihood with gradient under a range that changes every time; moments at points located anew."""
    start: Posterior = netbo.condition(prior, data, regularization=NOISE)
    calls = [0]

    def likelihood() -> None:
        calls[0] += 1
        rescaled = prior.rescaled(range=prior.range * (1 + 1e-9 * calls[0]))
        posterior = start.with_parameters(rescaled, NOISE)
        posterior.log_evidence()
        posterior.log_evidence_gradient()

    def moments() -> None:
        x = netbo.Points(asked.edge, asked.z, graph=prior.graph)
        start.mean(x)
        start.variance(x)

    return {"likelihood + gradient": likelihood, "mean + variance": moments}


def prototype(folder: Path, graph: netbo.MetricGraph, kappa: float, data: netbo.Observations) -> Timed:
    """The prototypes' exact kernel on the same network and data."""
    sys.path.insert(0, str(folder))
    exact, core = importlib.import_module("exact"), importlib.import_module("core")
    vars(core)["PAR_MIN"] = 10**12  # serial
    ends = np.stack([graph.tails, graph.heads], axis=1)
    points, values = data.points, data.values
    model = exact.Exact(graph.n_vertices, ends, np.array(graph.lengths), points.edge, points.z)
    weight, rhs = np.zeros(model.V), np.zeros(model.V)
    np.add.at(weight, model.obs_vertex, 1 / NOISE)
    np.add.at(rhs, model.obs_vertex, values / NOISE)
    rng = np.random.default_rng(1)
    cell = rng.integers(0, len(model.l), ASKED)
    place = rng.uniform(0.1, 0.9, ASKED) * model.l[cell]

    def likelihood() -> None:
        model.factor(kappa, weight)
        model.mean_vertices(rhs)
        model.selinv_vertices()

    return {"likelihood + gradient": likelihood, "mean + variance": lambda: model.at(cell, place)}


def compare(n_vertices: int, reference: Path | None) -> list[dict[str, Any]]:
    graph, rng = network(n_vertices), np.random.default_rng(0)
    data = netbo.Observations(
        netbo.uniform_points(graph, OBSERVATIONS, rng), rng.standard_normal(OBSERVATIONS)
    )
    asked = netbo.uniform_points(graph, ASKED, rng)
    matern = netbo.Matern(1.0, range=graph.diameter / 10)
    space = netbo.FiniteElementSpace.build(graph, n_nodes=max(1000, graph.n_vertices + 9 * graph.n_edges))
    models = {
        "mesh-free": ours(netbo.whittle_matern(graph, matern), data, asked),
        "finite elements": ours(netbo.whittle_matern(space, matern), data, asked),
    }
    if reference is not None:
        models["prototype"] = prototype(reference, graph, matern.kappa, data)
    best = minima({f"{name}: {what}": f for name, t in models.items() for what, f in t.items()}, 5.0)
    rows = []
    for what in ("likelihood + gradient", "mean + variance"):
        row: dict[str, Any] = {"vertices": graph.n_vertices, "nodes": space.n_nodes, "what": what}
        for name in models:
            row[f"{name}, ms"] = round(1e3 * best[f"{name}: {what}"], 3)
        for name in list(models)[1:]:
            row[f"mesh-free / {name}"] = round(best[f"mesh-free: {what}"] / best[f"{name}: {what}"], 2)
        print(row, flush=True)
        rows.append(row)
    return rows


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--out", type=Path)
    parser.add_argument("--reference", type=Path)
    arguments = parser.parse_args()
    set_threads(1)
    rows = [row for size in SIZES for row in compare(size, arguments.reference)]
    question = (__doc__ or "").splitlines()[0]
    record.write(arguments.out, question, {"observations": OBSERVATIONS, "asked": ASKED, "rows": rows})


if __name__ == "__main__":
    main()
