"""Where to measure next."""

from dataclasses import dataclass

from netbo.geometry import Point


@dataclass(frozen=True, slots=True)
class Suggestion:
    """A place to measure, and the number under which its value is told."""

    id: int
    point: Point
