"""The finite element space V_h on a metric graph, and meshes through given points."""

from netbo.fem.point_mesh import Mesh, PointMesh, WidenedMesh
from netbo.fem.space import FiniteElementSpace, Location

__all__ = ["FiniteElementSpace", "Location", "Mesh", "PointMesh", "WidenedMesh"]
