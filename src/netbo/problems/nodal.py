"""Objectives known at the nodes of a mesh; between them linear, so the maximum is at a node."""

from dataclasses import dataclass

import numpy as np
from numpy.typing import ArrayLike

from netbo.arrays import FloatArray, IntArray, as_float_vector, read_only, require_finite
from netbo.errors import ParameterError
from netbo.fem import FiniteElementSpace
from netbo.geometry import Points
from netbo.problems.problem import Problem


@dataclass(frozen=True, eq=False)
class NodalFunction:
    """The function of V_h with given values at the nodes."""

    space: FiniteElementSpace
    values: FloatArray  # (N_h,)

    def __call__(self, x: Points) -> FloatArray:
        """Values at the points, (n,); linear between nodes."""
        return self.space.locate(x).interpolate(self.values)


def nodal_problem(
    name: str, space: FiniteElementSpace, values: ArrayLike, *, scaled: bool = False, noise: float = 0.0
) -> Problem:
    """Problem with given values at the nodes; `scaled` maps them to [-1, 0]."""
    nodal = as_float_vector(values, "nodal values", ParameterError)
    if len(nodal) != space.n_nodes:
        raise ParameterError(
            f"nodal values must be one for each of {space.n_nodes} nodes, got {len(nodal)}; "
            "order them as space.nodes"
        )
    require_finite(nodal, "nodal values", ParameterError, "an objective needs a number at every node")
    if scaled:
        if not np.ptp(nodal) > 0:
            raise ParameterError(
                f"values must vary to be scaled, got {nodal[0]} at all {len(nodal)} nodes; pass scaled=False"
            )
        nodal = (nodal - nodal.max()) / np.ptp(nodal)
    highest = float(nodal.max())
    return Problem(
        name=name,
        graph=space.graph,
        objective=NodalFunction(space, np.asarray(read_only(nodal))),
        maximum=highest,
        maximizers=space.nodes[np.flatnonzero(nodal == highest)],
        noise=noise,
        space=space,
    )


def nearest_nodes(space: FiniteElementSpace, x: Points) -> IntArray:
    """Index of the node at the nearer end of each point's cell, the one towards the tail in a tie."""
    at = space.locate(x)
    return np.where(at.fraction > 0.5, at.right, at.left)
