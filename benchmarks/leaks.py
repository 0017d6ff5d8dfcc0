"""Which score of a misfit lets a search name the place of a leak, and what does an unknown flow cost?

Random leaks in EPANET's Net3 with the loggers of examples/05_leak_in_net3.py, forty evaluations by the
default optimizer: how far along the pipes from the leak are the best place seen and the recommended one?
"""

import argparse
import runpy
from pathlib import Path
from typing import Any
from unittest.mock import patch

import numpy as np

import netbo
import record
from netbo.adapters.wntr import LeakMisfit, leak_misfit, simulate_leak
from netbo.adapters.wntr.model import simulate

EXAMPLE = runpy.run_path(str(Path(__file__).parents[1] / "examples" / "05_leak_in_net3.py"))
NET3, FLOW, SD = EXAMPLE["NET3"], EXAMPLE["FLOW"], EXAMPLE["SD"]
BUDGET = 40
NEAR = 0.01  # of the length of all pipes
AS_WELL = 0.05  # larger root mean squares, at most
WAYS: dict[str, dict[str, Any]] = {
    "log likelihood, flow known": {"score": "log likelihood", "flow": FLOW},
    "root mean square, flow known": {"score": "root mean square", "flow": FLOW},
    "log root mean square, flow known": {"flow": FLOW},
    "log root mean square, flow unknown": {},
}


def search(network: netbo.Network, seed: int, options: dict[str, Any]) -> list[float]:
    """How good the answer is and what it cost.

    Metres from the leak to the best place seen and to the recommended one, whether the latter explains the
    readings as well as the leak does, and simulations an evaluation.
    """
    leak = netbo.uniform_points(network.graph, 1, np.random.default_rng(seed))
    truth, night = (str(leak[0].edge_id), leak[0].fraction or 0.0, FLOW), EXAMPLE["NIGHT"].tolist()
    readings = simulate_leak(NET3, *truth, loggers=EXAMPLE["LOGGERS"], times=night, sd=SD, seed=seed)
    misfit = leak_misfit(NET3, readings.pressures, sd=SD, **options)
    with patch("netbo.adapters.wntr.leaks.simulate", wraps=simulate) as simulated:
        result = netbo.maximize(misfit, network, budget=BUDGET, noise=0.0, seed=seed)
    recommended = result.recommend().point
    off = network.graph.distance(leak, netbo.Points.at([result.best().point, recommended]))[0]
    ratio = rms(misfit, recommended) / rms(misfit, leak[0])
    return [*off.tolist(), ratio < 1 + AS_WELL, simulated.call_count / BUDGET]


def rms(misfit: LeakMisfit, point: netbo.Point) -> float:
    """Root mean square of the residuals, in standard deviations."""
    return float(np.sqrt(np.mean(misfit.residuals(point.edge_id, point.fraction or 0.0) ** 2)))


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--leaks", type=int, default=20)
    parser.add_argument("--out", type=Path)
    options = parser.parse_args()
    network = netbo.read(NET3)
    rows = []
    for way, settings in WAYS.items():
        runs = np.array([search(network, seed, settings) for seed in range(options.leaks)])
        near = runs[:, :2] <= NEAR * network.graph.total_length
        rows.append(
            {
                "way": way,
                "metres off, median: best": float(np.median(runs[:, 0])),
                "recommended": float(np.median(runs[:, 1])),
                "within 1 % of the pipes: best": float(near[:, 0].mean()),
                "recommended place": float(near[:, 1].mean()),
                "recommended explains as well as the leak": float(runs[:, 2].mean()),
                "simulations an evaluation": float(runs[:, 3].mean()),
            }
        )
        print(rows[-1], flush=True)
    result = {"leaks": options.leaks, "budget": BUDGET, "rows": rows}
    record.write(options.out, (__doc__ or "").splitlines()[0], result)


if __name__ == "__main__":
    main()
