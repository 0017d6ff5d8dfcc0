"""What do other ways to the same posterior cost, and which keep their digits? alpha = 1, 100 values.

Factor, mean and one sample, all variances, with lumped hats: ours; SuperLU and CHOLMOD on the precision
matrix, of which the first gives no samples and both no variances; a dense GP over all nodes; the prototypes
(option --reference: the folder of their core.py). CPU of one thread, minima, in one process with the STREAM
triad, from which the bound follows: the factor (7 numbers a node) written once and read twice, two solutions
of 2 written and read, variances written. Errors are those of the mean at the nodes against the exact kernel,
relative to the largest: what is left of the mesh, and of rounding. CHOLMOD: pip install
scikit-sparse==0.4.16, which needs SuiteSparse.
"""

import argparse
import importlib
import sys
from pathlib import Path
from typing import Any

from core import reference  # first: it sets the number of threads
import numpy as np
from scipy import sparse
from scipy.linalg import cho_factor, cho_solve, cholesky
from scipy.sparse.linalg import splu

import netbo
from netbo.arrays import FloatArray
from netbo.linalg import BlockFactor, Load, hat_elements, set_threads
from record import write
from searches import space_of
from threads import triad
from timing import Timed, minima

CASES = (("rectangle", 300), ("rectangle", 3_000), ("rectangle", 30_000), ("rectangle", 1_000_000),
         ("road", 30_000), ("road", 1_000_000), ("telecom", 30_000), ("telecom", 300_000))  # fmt: skip
OBSERVATIONS, NOISE = 100, 0.01
LARGEST_DENSE, LARGEST_HUBS = 3_000, 30_000  # nodes: beyond, minutes and gigabytes
NUMBERS = 7 * 3 + 4 * 2 + 1  # a node that have to be moved


def bandwidth() -> float:
    """Bytes a second of one thread, far outside the caches."""
    a, b, c = np.ones((3, 40_000_000))
    return float(24 * a.size / minima({"": lambda: triad(a, b, c, 0, a.size)}, 2.0)[""])


class Case:
    """One mesh, its data, and the precision matrix tau^2 K C^-1 K of lumped hats."""

    def __init__(self, topology: str, n_nodes: int) -> None:
        self.space = space = space_of(topology, n_nodes)
        rng = np.random.default_rng(0)
        self.nodes, self.z = rng.integers(0, space.n_nodes, OBSERVATIONS), rng.standard_normal(space.n_nodes)
        self.values = np.sin(np.arange(OBSERVATIONS))
        self.matern = netbo.Matern(alpha=1.0, kappa=4 / space.graph.diameter, sigma=1.0)
        self.data = netbo.Observations(space.nodes[self.nodes], self.values)
        self.load = np.bincount(self.nodes, minlength=space.n_nodes) / NOISE
        self.rhs = np.bincount(self.nodes, self.values, space.n_nodes) / NOISE

    def mean(self, *, exact: bool) -> FloatArray:
        """At the nodes: of the exact kernel, or ours with lumped hats."""
        graph, matern = self.space.graph, self.matern
        lumped = netbo.whittle_matern(self.space, matern, lumped=True)
        prior = netbo.whittle_matern(graph, matern) if exact else lumped
        posterior = netbo.condition(prior, self.data, regularization=NOISE, mean=0.0)
        return np.asarray(posterior.mean(self.space.nodes))

    def ours(self) -> Timed:
        """Factor, mean and sample, variances."""
        space, matern = self.space, self.matern
        load = Load(weight=self.load * matern.amplitude, coupling=np.zeros(1))
        x = np.random.default_rng(1).standard_normal((2, space.n_nodes, 2))
        held: dict[str, Any] = {}

        def posterior() -> None:
            held.clear()
            elements = hat_elements(matern.kappa * space.cell_lengths, 2, lumped=True)
            factor = held["factor"] = BlockFactor(space.topology, elements, 2, load)
            factor.solve(x)
            factor.select()

        return {"netbo": posterior}

    def precision(self) -> Any:
        """Q + D, (N, N)."""
        C, G = self.space.lumped_mass, self.space.stiffness
        K = (sparse.diags_array(self.matern.kappa**2 * C) + G).tocsr()
        Q = self.matern.tau**2 * (K @ sparse.diags_array(1 / C) @ K)
        return (Q + sparse.diags_array(self.load)).tocsc()


def superlu(case: Case, P: Any) -> tuple[Timed, FloatArray]:
    """Factor and mean."""
    options = {"permc_spec": "MMD_AT_PLUS_A", "diag_pivot_thresh": 0.0, "options": {"SymmetricMode": True}}

    def solve() -> FloatArray:
        return np.asarray(splu(P, **options).solve(case.rhs))

    return {"SuperLU on Q": solve}, solve()


def cholmod(case: Case, P: Any) -> tuple[Timed, FloatArray] | None:
    """Factor, mean and sample; None where the matrix is not positive definite or CHOLMOD is not there."""
    try:
        module = importlib.import_module("sksparse.cholmod")
    except ImportError:
        return None
    factor = module.analyze(P)

    def solve() -> FloatArray:
        factor.cholesky_inplace(P)
        factor.apply_Pt(factor.solve_Lt(case.z, use_LDLt_decomposition=False))
        return np.asarray(factor.solve_A(case.rhs))

    try:
        return {"CHOLMOD on Q": solve}, solve()
    except module.CholmodError:
        return {}, np.full(len(case.z), np.nan)


def dense(case: Case, P: Any) -> tuple[Timed, FloatArray]:
    """Covariance of all nodes: mean, all variances, sample."""
    Q = (P - sparse.diags_array(case.load)).toarray()

    def solve() -> FloatArray:
        K = cho_solve(cho_factor(Q), np.eye(len(Q)))
        at, columns = case.nodes, K[:, case.nodes]
        factor = cho_factor(columns[at] + NOISE * np.eye(len(at)))
        posterior = K - columns @ cho_solve(factor, columns.T)
        mean = columns @ cho_solve(factor, case.values)
        mean + cholesky(posterior + 1e-9 * np.eye(len(K)), lower=True) @ case.z
        return np.asarray(mean)

    return {"dense GP": solve}, solve()


def compare(case: Case, core: Any, budget: float) -> dict[str, Any]:
    """Milliseconds and errors of all ways that run here."""
    P, n = case.precision(), case.space.n_nodes
    has_hubs = np.bincount(np.r_[case.space.graph.tails, case.space.graph.heads]).max() > 50
    ways = []
    if not (has_hubs and n > LARGEST_HUBS):
        ways += [superlu(case, P), cholmod(case, P)]
    if n <= LARGEST_DENSE:
        ways.append(dense(case, P))
    actions, exact = case.ours(), case.mean(exact=True)
    means = {"netbo": case.mean(exact=False)}
    for name, way in zip(("SuperLU on Q", "CHOLMOD on Q", "dense GP"), ways, strict=False):
        if way is not None:
            actions, means[name] = actions | way[0], way[1]
    if core is not None:
        found = reference(case.space, case.matern.kappa, core, case.nodes, case.values)
        actions["prototype"] = lambda: [found[what]() for what in ("factor", "solve", "solve", "variances")]
    times = minima(actions, budget)
    scale = np.abs(exact).max()
    return {
        "ms": {name: 1e3 * seconds for name, seconds in times.items()},
        "error": {name: float(np.abs(mean - exact).max() / scale) for name, mean in means.items()},
    }


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--reference", type=Path, help="folder of the prototypes")
    parser.add_argument("--budget", type=float, default=3.0, help="seconds a mesh")
    parser.add_argument("--largest", type=int, default=1_000_000)
    parser.add_argument("--out", type=Path)
    options = parser.parse_args()
    core: Any = None
    if options.reference is not None:
        sys.path.insert(0, str(options.reference))
        sys.modules.pop("core")  # ours, of the same name
        core = importlib.import_module("core")
        core.PAR_MIN = 10**12  # serial, as ours here
    set_threads(1)
    rows, stream = [], bandwidth()
    print(f"triad: {stream / 1e9:.1f} GB/s")
    for topology, n in CASES:
        if n > options.largest:
            continue
        case = Case(topology, n)
        row = {"network": topology, "nodes": case.space.n_nodes, "vertices": case.space.graph.n_vertices}
        row |= {"bound ms": 1e3 * 8 * NUMBERS * case.space.n_nodes / stream}
        rows.append(row | compare(case, core, options.budget))
        print(*rows[-1].values(), sep="  ", flush=True)
    result = {"seed": 0, "triad GB/s": stream / 1e9, "noise": NOISE, "rows": rows}
    write(options.out, (__doc__ or "").splitlines()[0], result)


if __name__ == "__main__":
    main()
