"""The true Whittle-Matérn kernel for every alpha > 1/4, without a mesh: sums of exact shifted operators."""

from dataclasses import dataclass
from functools import cached_property

from netbo.geometry import Points
from netbo.linalg import RationalPower, ShiftedElements, ShiftedHyperbolic, rational_power
from netbo.priors.fractional import FractionalPrior
from netbo.priors.on_graph import MaternOnGraph


@dataclass(frozen=True, eq=False)
class ExactFractionalPrior(FractionalPrior):
    """The field at the nodes of a mesh, exact up to the fit of x^(2 alpha); linear between the nodes."""

    @cached_property
    def power(self) -> RationalPower:
        """The approximation of x^(2 alpha) on all of (0, 1]: the continuum has eigenvalues without end."""
        return rational_power(2 * self.matern.alpha, self.tolerance)

    @cached_property
    def shifted(self) -> ShiftedElements:
        """Exact elements of every cell at shifted kappa^2, in the unit of length 1/kappa."""
        return ShiftedHyperbolic(self.matern.kappa * self.space.cell_lengths)


@dataclass(frozen=True, eq=False)
class MeshFreeFractionalPrior(MaternOnGraph):
    """L^alpha (tau u) = W on the network itself, for every alpha > 1/4."""

    tolerance: float = 1e-8  # kernel error relative to the variance

    def __post_init__(self) -> None:
        _ = self.power  # an accuracy out of reach is refused here

    @property
    def power(self) -> RationalPower:
        """The approximation of x^(2 alpha)."""
        return rational_power(2 * self.matern.alpha, self.tolerance)

    @property
    def error(self) -> float:
        """Kernel error relative to the variance, measured on the fit (`RationalPower.error`)."""
        return self.power.error

    def on(self, *points: Points) -> ExactFractionalPrior:
        """The field at the points, on the mesh through them."""
        return ExactFractionalPrior(
            space=self.meshes.through(self.graph, points),
            matern=self.matern,
            is_lumped=False,
            vertex_condition=self.vertex_condition,
            tolerance=self.tolerance,
        )
