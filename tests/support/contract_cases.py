"""The priors that pass the same contracts, by name, each with an independent computation of its kernel."""

from functools import cache

import numpy as np

import netbo
from netbo import Matern
from netbo.priors import FractionalPrior, sum_of
from netbo.priors.edgewise import RANGES
from support.exact_kernel import exact_kernel, mesh_free_case
from support.reference import Case, case, contract_graph, contract_space, element_kernel, matern_correlation


@cache
def fractional_case(alpha: float) -> Case:
    """Shifted operators to 1e-12 against dense fractional powers of the same matrices."""
    space, matern = contract_space(), Matern(alpha=alpha, range=2.0, sigma=1.3)
    prior = FractionalPrior(space, matern, False, np.zeros(space.graph.n_vertices), tolerance=1e-12)
    return Case(prior, element_kernel(space, matern))


@cache
def edgewise_case(profile: float) -> Case:
    """Exact fields at the middles of edges, linear in log range between two; shares by Bessel functions."""
    graph, range_, sigma = contract_graph(), 1.7, 0.8
    tables = RANGES * graph.diameter
    low = int(np.flatnonzero(tables <= range_)[-1])
    part = np.log(range_ / tables[low]) / np.log(tables[low + 1] / tables[low])
    parts = [
        exact_kernel(graph, Matern(0.5, range=r, sigma=1.0), constant=True) for r in tables[low : low + 2]
    ]

    def kernel(x, y):
        at = [graph.points(each.edge, graph.lengths[each.edge] / 2) for each in (x, y)]
        levels = (1 - part) * parts[0](*at) + part * parts[1](*at)
        shares = [each.z / graph.lengths[each.edge] for each in (x, y)]
        far = np.sqrt(12) * np.abs(np.subtract.outer(*shares)) / profile
        return sigma**2 * levels * matern_correlation(far, 1.5)

    prior = netbo.edgewise_matern(graph, range=range_, sigma=sigma, profile=profile)
    return Case(prior, kernel)


def case_of(name: str) -> Case:
    """A case of `reference`, or the sum of several: "hats 1 + euclidean 0.5"."""
    kind, _, number = name.partition(" ")
    if kind == "fractional":
        return fractional_case(float(number))
    if kind == "edgewise":
        return edgewise_case(float(number))
    if kind.startswith("mesh-free"):
        return mesh_free_case(name)
    parts = [case(part) for part in name.split(" + ")]
    if len(parts) == 1:
        return parts[0]
    return Case(sum_of(*(part.prior for part in parts)), lambda x, y: sum(p.kernel(x, y) for p in parts))
