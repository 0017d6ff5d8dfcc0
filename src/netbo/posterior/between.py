"""Mean and variance between the nodes of an exact system, and their slopes along the edge: closed form.

With P, Q and g of the cell (`netbo.linalg.interpolation`) and c(x) holding P_(p-1-i), Q_(p-1-i) in block row
i at the cell's ends: field c'x and variance (-1)^(p-1) (c' S^-1 c + g_(p-1)(z, z)), for the unit field.
"""

from dataclasses import dataclass
from functools import cached_property

from netbo.arrays import FloatArray
from netbo.fem import Location, Mesh
from netbo.geometry import Points
from netbo.linalg import (
    CellBlocks,
    Interpolation,
    end_forms,
    end_values,
    field_sign,
    hyperbolic_interpolation,
)


@dataclass(frozen=True, eq=False)
class Between:
    """Points among the nodes of a mesh, for a field with inverse length scale kappa."""

    at: Location
    order: int
    interpolation: Interpolation

    @classmethod
    def nodes(cls, mesh: Mesh, kappa: float, order: int, x: Points) -> "Between":
        """Where the points lie and what the ends of their cells give them."""
        at = mesh.locate(x)
        cells = kappa * mesh.cell_lengths[at.cell]
        return cls(at, order, hyperbolic_interpolation(cells, at.fraction * cells, order))

    @cached_property
    def _ends(self) -> tuple[FloatArray, FloatArray]:
        """c(x) at the left and right ends, (n, p) each."""
        return self.interpolation.left[:, ::-1], self.interpolation.right[:, ::-1]

    @cached_property
    def _end_slopes(self) -> tuple[FloatArray, FloatArray]:
        """dc/dz, in units of 1/kappa."""
        return self.interpolation.left_slope[:, ::-1], self.interpolation.right_slope[:, ::-1]

    def field(self, solution: FloatArray) -> FloatArray:
        """c(x)' x for a block solution (N, p), (n,)."""
        return self._apply(solution, self._ends)

    def field_slope(self, solution: FloatArray) -> FloatArray:
        """Its derivative along the edge, in units of 1/kappa, (n,)."""
        return self._apply(solution, self._end_slopes)

    def _apply(self, solution: FloatArray, ends: tuple[FloatArray, FloatArray]) -> FloatArray:
        return end_values(self.at.left, self.at.right, *ends, solution)

    def variance(self, blocks: CellBlocks) -> FloatArray:
        """Variance of the unit field, (n,)."""
        whole = self._form(blocks, self._ends) + self.interpolation.bridge
        return field_sign(self.order) * whole

    def variance_slope(self, blocks: CellBlocks) -> FloatArray:
        """Its derivative along the edge, in units of 1/kappa, (n,)."""
        whole = 2 * self._form(blocks, self._end_slopes) + self.interpolation.bridge_slope
        return field_sign(self.order) * whole

    def _form(self, blocks: CellBlocks, ends: tuple[FloatArray, FloatArray]) -> FloatArray:
        """ends' S^-1 c(x), (n,)."""
        return end_forms(self.at.cell, *ends, *self._ends, blocks.left, blocks.right, blocks.across)
