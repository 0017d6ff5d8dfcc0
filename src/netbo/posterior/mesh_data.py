"""What observations at places of a mesh add to its system."""

import numpy as np

from netbo.arrays import FloatArray, sum_by
from netbo.fem import Location
from netbo.linalg import Load
from netbo.priors import FiniteElementPrior


def canonical(at: Location) -> Location:
    """Locations where every point at a node has that node on its left and fraction 0."""
    is_right = at.fraction == 1
    left = np.where(is_right, at.right, at.left)
    fraction = np.where(is_right, 0.0, at.fraction)
    return Location(cell=at.cell, left=left, right=np.where(fraction == 0, left, at.right), fraction=fraction)


def spread_to_nodes(nodal: FloatArray, places: Location, weight: FloatArray) -> None:
    """Add sum of weight e(x) over distinct places to a nodal vector."""
    if places.is_at_nodes:
        nodal[places.left] += weight  # distinct places at nodes are distinct nodes
        return
    np.add.at(nodal, places.left, (1 - places.fraction) * weight)
    np.add.at(nodal, places.right, places.fraction * weight)


def load_of(prior: FiniteElementPrior, places: Location, weight: FloatArray) -> Load:
    """D = sum of weight e(x) e(x)': row sums at the nodes, products of both entries inside cells."""
    topology, f = prior.space.topology, places.fraction
    rows = np.zeros(topology.n_nodes)
    spread_to_nodes(rows, places, weight)
    if places.is_at_nodes:
        return Load(weight=rows, coupling=np.zeros(1))
    return Load(weight=rows, coupling=sum_by(places.cell, f * (1 - f) * weight, topology.n_cells))
