"""How fast is the block core against the prototypes? alpha = 1, three topologies, N = 300, 3e4, 1e6.

Factor, solve, all variances, likelihood with gradient: ours and the prototypes' (option --reference: the
folder of their core.py) in one process and turn by turn, CPU time of one thread, minima. Ours has more:
row sums, couplings inside cells, covariances across all cells. Without --reference: our times alone.
"""

import os

for name in ("NUMBA_NUM_THREADS", "OMP_NUM_THREADS", "OPENBLAS_NUM_THREADS", "MKL_NUM_THREADS"):
    os.environ[name] = "1"

import argparse
import importlib
import multiprocessing
import sys
from pathlib import Path
from typing import Any

import numpy as np
import record
from timing import Timed, minima

import netbo
from netbo.linalg import BlockFactor, Load, Topology, hat_elements, set_threads

TOPOLOGIES, SIZES = ("rectangle", "road", "telecom"), (300, 30_000, 1_000_000)
OBSERVATIONS, NOISE = 100, 0.01
LIMITS = {"lumped": 1.2, "consistent": 2.0}


def graph_of(topology: str, n_nodes: int) -> netbo.MetricGraph:
    """The prototypes' topologies: about one vertex in ten nodes (road), one in forty (telecom)."""
    if topology == "rectangle":
        return netbo.MetricGraph([0, 1, 2], [1, 2, 3], [1.0, 2.0, 1.0])
    if topology == "road":
        return netbo.road(max(9, n_nodes // 10), seed=0)
    return netbo.telecom(int(np.clip(n_nodes // 40, 12, 3000)), seed=0)


def ours(space: netbo.FiniteElementSpace, kappa: float, lumped: bool, nodes: Any, values: Any) -> Timed:
    """Our four actions on one mesh."""
    topology: Topology = space.topology
    weight = np.bincount(nodes, minlength=space.n_nodes) / NOISE / kappa**3
    load = Load(weight=weight, coupling=np.zeros(1))
    prior = netbo.whittle_matern(space, netbo.Matern(alpha=1.0, kappa=kappa), lumped=lumped)
    data = netbo.Observations(space.nodes[nodes], values)
    posterior = netbo.condition(prior, data, regularization=NOISE)
    held: dict[str, Any] = {}
    rhs = np.random.default_rng(1).standard_normal((1, space.n_nodes, 2))
    work = rhs.copy()
    calls = [0]

    def factor() -> None:
        held["factor"] = None
        elements = hat_elements(kappa * space.cell_lengths, 2, lumped=lumped)
        held["factor"] = BlockFactor(topology, elements, 2, load)

    def solve() -> None:
        np.copyto(work, rhs)
        held["factor"].solve(work)

    def variances() -> None:
        held["factor"].select()

    def likelihood() -> None:
        calls[0] += 1  # another kappa each time: nothing may be remembered
        other = posterior.evidence_at(prior.rescaled(range=prior.range * (1 + 1e-9 * calls[0])), NOISE)
        other.evidence_terms()
        other.evidence_derivatives()

    factor()
    return {
        "factor": factor,
        "solve": solve,
        "variances": variances,
        "likelihood + gradient": likelihood,
    }


def reference(space: netbo.FiniteElementSpace, kappa: float, core: Any, nodes: Any, values: Any) -> Timed:
    """The prototypes' four actions on the same mesh; their likelihood is that of their bo_iter.py."""
    graph, t = space.graph, space.topology

    class Mesh:
        V, N, h, off, ne = graph.n_vertices, space.n_nodes, space.cell_lengths.copy(), t.offsets, space.cells
        E = np.stack([graph.tails, graph.heads], axis=1)
        c = space.lumped_mass.copy()
        gv = np.bincount(E[:, 0], 1 / h, V) + np.bincount(E[:, 1], 1 / h, V)

    mesh = Mesh()
    system = core.Core(mesh)
    load, nothing = np.bincount(nodes, minlength=space.n_nodes) / NOISE, np.zeros(space.n_nodes)
    rhs = np.random.default_rng(1).standard_normal((space.n_nodes, 1, 2))
    work = rhs.copy()

    def solve() -> None:
        np.copyto(work, rhs)
        system.solve(work)

    def likelihood() -> None:
        x = np.zeros((space.n_nodes, 1, 2))
        np.add.at(x, (nodes, 0, 0), values / NOISE)
        log = system.factor(kappa, load)
        system.solve(x)
        u, w = x[:, 0, 0], x[:, 0, 1]
        trace = system.dlogdet(system.selinv())
        prior_log = system.factor(kappa, nothing)
        prior_trace = system.dlogdet(system.selinv())
        residual = values - u[nodes]
        quadratic = residual @ residual / NOISE + (w * w) @ mesh.c
        -0.5 * (quadratic + log - prior_log), -0.5 * (2 * u @ (mesh.c * w) + trace - prior_trace)

    system.factor(kappa, load)
    return {
        "factor": lambda: system.factor(kappa, load),
        "solve": solve,
        "variances": system.selinv,
        "likelihood + gradient": likelihood,
    }


def compare(topology: str, n_nodes: int, core: Any, budget: float) -> list[dict[str, Any]]:
    """All actions on one mesh, ours lumped and consistent against the reference."""
    space = netbo.FiniteElementSpace.build(graph_of(topology, n_nodes), n_nodes=n_nodes, min_cells=2)
    rng = np.random.default_rng(0)
    nodes, values = rng.integers(0, space.n_nodes, OBSERVATIONS), rng.standard_normal(OBSERVATIONS)
    kappa = 4 / space.graph.diameter
    actions = {f"{form}: {what}": call for form in LIMITS
               for what, call in ours(space, kappa, form == "lumped", nodes, values).items()}  # fmt: skip
    if core is not None:
        found = reference(space, kappa, core, nodes, values)
        actions |= {f"prototype: {what}": call for what, call in found.items()}
    best = minima(actions, budget)
    rows = []
    for name in (name for name in actions if not name.startswith("prototype")):
        form, what = name.split(": ")
        base = best.get(f"prototype: {what}")
        ratio = best[name] / base if base else None
        row = {"topology": topology, "N": space.n_nodes, "V": space.graph.n_vertices, "mass": form}
        rows.append(row | {"what": what, "ms": 1e3 * best[name], "ratio": ratio, "limit": LIMITS[form]})
        text = "" if ratio is None else f"  {ratio:5.2f} of the prototype (limit {LIMITS[form]})"
        print(
            f"{topology:9} N={space.n_nodes:<8} {form:10} {what:22} {1e3 * best[name]:10.3f} ms{text}",
            flush=True,
        )
    return rows


def peak_memory(topology: str, n_nodes: int, out: Any) -> None:
    """Peak resident GB of a new process that conditions and reads mean, sd, a sample and the gradient."""
    space = netbo.FiniteElementSpace.build(graph_of(topology, n_nodes), n_nodes=n_nodes, min_cells=2)
    rng = np.random.default_rng(0)
    prior = netbo.whittle_matern(space, netbo.Matern(alpha=1.0, kappa=4 / space.graph.diameter))
    places = netbo.uniform_points(space.graph, OBSERVATIONS, rng)
    data = netbo.Observations(places, rng.standard_normal(OBSERVATIONS))
    posterior = netbo.condition(prior, data, regularization=NOISE, mean=netbo.ESTIMATED)
    posterior.mean(space.nodes), posterior.std(space.nodes), posterior.sample(space.nodes, rng)
    posterior.log_evidence_gradient()
    # Not getrusage: its maximum is inherited from the parent.
    status = Path("/proc/self/status").read_text()
    out.put(float(next(line for line in status.splitlines() if line.startswith("VmHWM")).split()[1]) / 1e6)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--reference", type=Path, help="folder of the prototypes")
    parser.add_argument("--budget", type=float, default=20.0, help="seconds a mesh")
    parser.add_argument("--out", type=Path)
    options = parser.parse_args()
    core: Any = None
    if options.reference is not None:
        sys.path.insert(0, str(options.reference))
        core = importlib.import_module("core")
        core.PAR_MIN = 10**12  # serial, as ours here
    set_threads(1)
    rows = [
        row for topology in TOPOLOGIES for n in SIZES for row in compare(topology, n, core, options.budget)
    ]
    memory = {}
    context = multiprocessing.get_context("spawn")
    for topology in TOPOLOGIES:
        queue = context.Queue()
        process = context.Process(target=peak_memory, args=(topology, 1_000_000, queue))
        process.start()
        memory[topology] = queue.get()
        process.join()
        print(f"{topology:9} N=1000000  peak memory {memory[topology]:.2f} GB")
    result = {"seed": 0, "observations": OBSERVATIONS, "rows": rows, "peak_memory_GB_at_1e6": memory}
    record.write(options.out, (__doc__ or "").splitlines()[0], result)


if __name__ == "__main__":
    main()
