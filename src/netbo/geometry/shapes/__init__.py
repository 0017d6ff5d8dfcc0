"""Networks of known shape, for examples, tests and benchmarks; all of them are drawn."""

from netbo.geometry.shapes.random import road, telecom
from netbo.geometry.shapes.regular import circle, grid, interval, narrow_rectangle, open_rectangle, star

__all__ = [
    "circle",
    "grid",
    "interval",
    "narrow_rectangle",
    "open_rectangle",
    "road",
    "star",
    "telecom",
]
