"""What Whittle-Matérn priors on a mesh share: the mesh, the parameters, their names."""

from dataclasses import dataclass

from netbo.fem import Mesh
from netbo.geometry import MetricGraph
from netbo.priors.matern import Matern


@dataclass(frozen=True, eq=False)
class MaternOnSpace:
    """A field on a mesh with Matérn parameters."""

    space: Mesh
    matern: Matern

    @property
    def graph(self) -> MetricGraph:
        """The network."""
        return self.space.graph

    @property
    def range(self) -> float:
        """Distance over which the field loses its memory."""
        return self.matern.range

    @property
    def sigma(self) -> float:
        """Standard deviation on the infinite line; everywhere, if the variance is made constant."""
        return self.matern.sigma
