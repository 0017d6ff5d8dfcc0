"""Crews that drive from place to place."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from netbo.errors import StudyError
from netbo.geometry import Point
from netbo.optimize.travel import Travel
from netbo.studies.records import Record


@dataclass(frozen=True, slots=True)
class Crew:
    """Who measures: a name, where they are now, and what driving costs them.

    A place is worth its score minus `travel_cost` times the way along the network; beyond `radius` they do
    not go. Without `at` they are where their last trial of the study was; a crew without one may go anywhere.
    """

    name: str
    at: Point | None = None
    travel_cost: float = 0.0  # of one unit of length, in the unit of the acquisition's scores
    radius: float | None = None  # in the unit of the graph

    def __post_init__(self) -> None:
        if not isinstance(self.name, str) or not self.name:
            raise StudyError(f"a crew needs a name, got {self.name!r}; its trials are found by it")

    def travel(self, records: Sequence[Record]) -> Travel | None:
        """The way to the next place, given the trials of the study."""
        start = self.at or last_place(self.name, records)
        if start is None or (self.travel_cost == 0 and self.radius is None):
            return None
        return Travel(start, self.travel_cost, self.radius)


def last_place(name: str, records: Sequence[Record]) -> Point | None:
    """Where the crew's latest trial is or was, told or not."""
    theirs = [record for record in records if record.worker == name and record.point is not None]
    return theirs[-1].point if theirs else None
