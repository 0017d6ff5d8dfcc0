"""Tidy tables made by hand: it is known when each run reaches the maximum, so truth needs no computation."""

import numpy as np
import pandas as pd

from netbo.experiments.cell import COLUMNS, NO_LABEL

HORIZON = 10


def run_rows(labels, seed, found_at, *, n_init=2, horizon=HORIZON, design=0.5):
    """A run whose regret is 1/(t + 1) after t iterations until it is 0 at `found_at`; None: never.

    design: regret of the queries of the initial design.
    """
    last = horizon if found_at is None else found_at
    later = 1 / (np.arange(1, last + 1) + 1)
    if found_at is not None:
        later[-1] = 0.0
    regret = np.concatenate([np.full(n_init, design), later])
    query = np.arange(len(regret))
    rows = {
        **NO_LABEL, "experiment": "", **labels, "n_init": n_init, "seed": seed, "query": query,
        "iteration": np.maximum(query - n_init + 1, 0), "is_design": query < n_init, "edge": "0",
        "distance": 0.0, "value": -regret, "measured": -regret, "regret": regret, "maximum": 0.0,
    }  # fmt: skip
    return pd.DataFrame(rows)[list(COLUMNS)]


def cell_rows(found, *, kernel="SPDE", acquisition="IGP-UCB", **labels):
    """Runs of one method on one problem, one for each of `found`."""
    extra = {name: labels.pop(name) for name in ("n_init", "horizon", "design") if name in labels}
    named = {
        "problem": "ackley", "placement": "gap-end", "method": f"{kernel}, {acquisition}", "kernel": kernel,
        "acquisition": acquisition, "preset": "paper", "b": 0.0, "max_cell": 0.25, "n_nodes": 301, **labels,
    }  # fmt: skip
    named["cell"] = "-".join(str(value) for value in [*named.values(), extra.get("n_init", 2)])
    return pd.concat([run_rows(named, seed, each, **extra) for seed, each in enumerate(found)])


def table_of(*cells):
    """Cells of a table one after another."""
    return pd.concat(cells, ignore_index=True)


def both_kernels(good=(1, 2, 3, 2), bad=(None, None, 9, None), **labels):
    """Both rules and baselines: the SPDE kernel always finds the maximum, the Euclidean one rarely."""
    return table_of(
        *(
            cell_rows(found, kernel=kernel, acquisition=rule, **labels)
            for rule in ("IGP-UCB", "GP-TS")
            for kernel, found in (("SPDE", good), ("Euclidean nu=1/2", bad))
        ),
        cell_rows(good, acquisition="data-blind", **{**labels, "method": "data-blind", "b": np.nan}),
        cell_rows(
            bad,
            kernel="none",
            acquisition="random",
            **{**labels, "method": "random", "b": np.nan, "preset": ""},
        ),
    )
