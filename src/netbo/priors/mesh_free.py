"""The true Whittle-Matérn kernel k of the continuum (eq:kernel exact) for whole 2 alpha, without a mesh.

With hyperbolic elements the block system is exact at its nodes, whatever they are: K^-1 is the Green's
function of kappa^2 - Laplacian there. So a question about points is answered on the mesh through them.
"""

from dataclasses import dataclass
from functools import cached_property

import numpy as np

from netbo.geometry import Points
from netbo.linalg import Elements, hyperbolic_elements
from netbo.priors.finite_element import FiniteElementPrior
from netbo.priors.on_graph import MaternOnGraph


@dataclass(frozen=True, eq=False)
class ExactPrior(FiniteElementPrior):
    """The true field at the nodes of a mesh; between them it is linear, and only there not exact."""

    @cached_property
    def elements(self) -> Elements:
        """Element matrices of every cell in the unit of length 1/kappa, with one coefficient to spare."""
        return hyperbolic_elements(self.matern.kappa * self.space.cell_lengths, self.order + 1)


@dataclass(frozen=True, eq=False)
class MeshFreePrior(MaternOnGraph):
    """L^alpha (tau u) = W on the network itself, for 2 alpha = 1, 2, 3, 4."""

    is_constant: bool = False

    def is_rescaling_of(self, other: "MeshFreePrior") -> bool:
        """Whether the two differ in range and sigma alone."""
        return (
            self.graph is other.graph
            and self.matern.alpha == other.matern.alpha
            and self.is_constant == other.is_constant
            and np.array_equal(self.vertex_condition, other.vertex_condition)
        )

    def on(self, *points: Points) -> ExactPrior:
        """The field at the points, on the mesh through them."""
        return ExactPrior(
            space=self.meshes.through(self.graph, points),
            matern=self.matern,
            is_lumped=False,
            vertex_condition=self.vertex_condition,
            is_constant=self.is_constant,
        )
