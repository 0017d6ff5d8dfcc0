"""The priors that pass the same contracts, by name, each with an independent computation of its kernel."""

from functools import cache

import numpy as np

from netbo import Matern
from netbo.priors import FractionalPrior, sum_of
from support.exact_kernel import mesh_free_case
from support.reference import Case, case, contract_space, element_kernel


@cache
def fractional_case(alpha: float) -> Case:
    """Shifted operators to 1e-12 against dense fractional powers of the same matrices."""
    space, matern = contract_space(), Matern(alpha=alpha, range=2.0, sigma=1.3)
    prior = FractionalPrior(space, matern, False, np.zeros(space.graph.n_vertices), tolerance=1e-12)
    return Case(prior, element_kernel(space, matern))


def case_of(name: str) -> Case:
    """A case of `reference`, or the sum of several: "hats 1 + euclidean 0.5"."""
    kind, _, number = name.partition(" ")
    if kind == "fractional":
        return fractional_case(float(number))
    if kind.startswith("mesh-free"):
        return mesh_free_case(name)
    parts = [case(part) for part in name.split(" + ")]
    if len(parts) == 1:
        return parts[0]
    return Case(sum_of(*(part.prior for part in parts)), lambda x, y: sum(p.kernel(x, y) for p in parts))
