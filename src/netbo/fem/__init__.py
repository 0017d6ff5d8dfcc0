"""The finite element space V_h on a metric graph."""

from netbo.fem.space import FiniteElementSpace, Location

__all__ = ["FiniteElementSpace", "Location"]
