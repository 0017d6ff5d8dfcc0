"""Which prior should Optimizer(graph) take: finite elements on the usual mesh, or the exact kernel?

Accuracy: the largest error of the finite element variance at the nodes of the usual mesh (about 2,000 nodes,
at least two cells an edge), relative to the exact variance, for three ranges. Time: one ask of calibrated
GP-TS with known noise over the nodes of that mesh, mean over the asks after the design. alpha = 1.
"""

import os

for _variable in ("OPENBLAS_NUM_THREADS", "OMP_NUM_THREADS"):
    os.environ.setdefault(_variable, "1")

import argparse
from pathlib import Path
from typing import Any

import numpy as np

import netbo
from asking import NOISE, milliseconds
from netbo.optimize import Learned, MeshFreeMatern, NetworkMatern
from netbo.optimize.arguments import usual_mesh
from netbo.optimize.presets import STEADY
from netbo.problems import new_york
from record import write

RANGES = (0.03, 0.1, 0.3)  # in diameters


def networks() -> dict[str, netbo.MetricGraph]:
    return {
        "open rectangle": netbo.open_rectangle(),
        "New York": new_york(),
        "road, 300": netbo.road(300, seed=0),
        "road, 3,000": netbo.road(3_000, seed=0),
        "road, 30,000": netbo.road(30_000, seed=0),
    }


def errors(space: netbo.FiniteElementSpace) -> dict[str, float]:
    """Relative errors of the finite element variance at the nodes, by range."""
    found = {}
    for share in RANGES:
        matern = netbo.Matern(1.0, range=share * space.graph.diameter)
        exact = netbo.whittle_matern(space.graph, matern).variance(space.nodes)
        meshed = netbo.whittle_matern(space, matern).variance(space.nodes)
        found[f"variance error, range {share:g} diameters"] = float(np.max(np.abs(meshed / exact - 1)))
    return found


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--out", type=Path)
    arguments = parser.parse_args()
    rows = []
    for name, graph in networks().items():
        space = usual_mesh(graph)
        row: dict[str, Any] = {"network": name, "vertices": graph.n_vertices, "nodes": space.n_nodes}
        row |= errors(space)
        for t in (60, 200) if graph.n_vertices < 1_000 else (30,):
            for label, model in (("finite elements", NetworkMatern()), ("exact", MeshFreeMatern())):
                settings = {"noise": NOISE, "fit": Learned(models=(model,), beliefs=STEADY)}
                milliseconds(space, settings, 10, 0)
                runs = [milliseconds(space, settings, t, seed).mean() for seed in range(2)]
                row[f"ms an ask, {label}, t = {t}"] = round(float(min(runs)), 2)
        print(row, flush=True)
        rows.append(row)
    write(arguments.out, (__doc__ or "").splitlines()[0], {"noise": NOISE, "rows": rows})


if __name__ == "__main__":
    main()
