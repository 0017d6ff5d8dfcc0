"""Can twelve values tell noise from signal, and is the posterior honest when they cannot?

The model of examples/01_first_posterior.py, alpha = 1, over many seeds, none left out: once with the noise
fitted, once fitted as the default does (with weak beliefs about range and noise), once with it known. Counts
how often the fitted noise falls below a tenth of the truth, and how much of the network has the truth within
two standard deviations (95 % if the posterior is right).
"""

import argparse
import runpy
from pathlib import Path

import numpy as np

import netbo
import record
from netbo.arrays import FloatArray
from netbo.optimize import ROBUST, Learned
from netbo.posterior import Beliefs

EXAMPLE = runpy.run_path(str(Path(__file__).parents[1] / "examples" / "01_first_posterior.py"))


assert isinstance(ROBUST.fit, Learned)
WAYS: dict[str, tuple[bool, Beliefs | None]] = {  # whether the noise is known, and what is believed
    "fitted": (False, None),
    "fitted by the default": (False, ROBUST.fit.beliefs),
    "known": (True, None),
}


def one(prior: netbo.Prior, nodes: netbo.Points, seed: int, n: int, noise: str) -> tuple[float, float, bool]:
    """Fitted over true noise sd, share of nodes covered, and whether a parameter stopped at a bound."""
    rng = np.random.default_rng(seed)
    places = netbo.uniform_points(prior.graph, n, rng)
    sd: float = EXAMPLE["NOISE_SD"]
    data = netbo.Observations(places, EXAMPLE["truth"](places) + sd * rng.standard_normal(n))
    known, beliefs = WAYS[noise]
    fit = netbo.fit_parameters(prior, data, regularization=sd**2 if known else None, beliefs=beliefs)
    error: FloatArray = np.abs(fit.posterior.mean(nodes) - EXAMPLE["truth"](nodes))
    assert fit.regularization is not None
    ratio = fit.regularization**0.5 / sd
    return ratio, float(np.mean(error <= 2 * fit.posterior.std(nodes))), bool(fit.at_bound)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--seeds", type=int, default=200)
    parser.add_argument("--out", type=Path)
    options = parser.parse_args()
    graph = netbo.open_rectangle()
    space = netbo.FiniteElementSpace.build(graph, max_cell=0.25)
    prior = netbo.whittle_matern(space, netbo.Matern(alpha=1.0, range=graph.diameter / 4))
    rows = []
    for n in (12, 24, 48):
        for noise in WAYS:
            runs = np.array([one(prior, space.nodes, seed, n, noise) for seed in range(options.seeds)])
            lost = runs[:, 0] < 0.1
            rows.append(
                {
                    "observations": n,
                    "noise": noise,
                    "noise below a tenth": float(lost.mean()),
                    "of those reported at a bound": float(runs[lost, 2].mean()) if lost.any() else None,
                    "coverage of 2 sd": float(runs[:, 1].mean()),
                    "standard error": float(runs[:, 1].std() / np.sqrt(len(runs))),
                    "coverage where noise was lost": float(runs[lost, 1].mean()) if lost.any() else None,
                }
            )
            print(rows[-1], flush=True)
    result = {"seeds": [0, options.seeds - 1], "rows": rows}
    record.write(options.out, (__doc__ or "").splitlines()[0], result)


if __name__ == "__main__":
    main()
