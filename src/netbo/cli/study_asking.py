"""Places to measure, handed out; and places of one's own, put in line."""

from collections.abc import Sequence

import click

from netbo.cli.study_door import Door, NothingLeft
from netbo.cli.study_opening import open_study, place_of, whoever
from netbo.cli.study_rows import aligned, print_json, trial_rows
from netbo.errors import ExhaustedError, ParameterError
from netbo.optimize import Suggestion
from netbo.studies import Crew, Study

COLUMNS = ("id", "edge", "distance", "from", "x", "y", "z", "worker")


def ask_places(
    door: Door,
    count: int | None,
    *,
    worker: str | None = None,
    crews: Sequence[str] = (),
    travel_cost: float | None = None,
    radius: float | None = None,
    lease: float | None = None,
    budget: int | None = None,
) -> None:
    """Print the next places; they are pending from now on."""
    if crews and (count is not None or worker is not None):
        raise ParameterError("each --crew gets one place, got -n or --worker too; leave those out")
    if not crews and (travel_cost is not None or radius is not None):
        raise ParameterError("--travel-cost and --radius are those of crews, got no --crew; try --crew NAME")
    study = open_study(door, worker or whoever())
    named = [_crew(study, text, travel_cost or 0.0, radius) for text in crews]
    try:
        found = _ask(study, named, count or 1, lease, budget)
    except ExhaustedError as nothing:
        raise NothingLeft(f"nothing to ask for: {nothing}") from nothing
    _print(door, study, found)
    wanted = len(named) or count or 1
    if len(found) < wanted:
        click.echo(f"only {len(found)} of {wanted} places: there are no more to ask for", err=True)


def _ask(
    study: Study, crews: Sequence[Crew], count: int, lease: float | None, budget: int | None
) -> list[Suggestion]:
    seconds = study.settings.lease if lease is None else lease
    if crews:
        return study.ask(crews=crews, lease=seconds, budget=budget)
    return study.ask(count, lease=seconds, budget=budget)


def _crew(study: Study, text: str, travel_cost: float, radius: float | None) -> Crew:
    """NAME, or NAME@EDGE:DISTANCE."""
    name, is_placed, address = text.partition("@")
    edge, is_split, distance = address.rpartition(":")
    if not name or (is_placed and not (is_split and edge and distance)):
        raise ParameterError(
            f"--crew must be NAME or NAME@EDGE:DISTANCE, got {text!r}; try --crew north@main:2.5"
        )
    at = place_of(study, edge, distance) if is_placed else None
    return Crew(name, at=at, travel_cost=travel_cost, radius=radius)


def _print(door: Door, study: Study, found: Sequence[Suggestion]) -> None:
    ids = {suggestion.id for suggestion in found}
    rows = trial_rows(study, [record for record in study.records if record.id in ids])
    if door.as_json:
        print_json({"study": study.name, "unit": study.graph.unit, "suggestions": rows})
        return
    click.echo(aligned(rows, COLUMNS, study.graph.unit))
    click.echo(f"\nThen: netbo study tell {found[0].id} VALUE, or netbo study fail {found[0].id}")


def enqueue_place(door: Door, edge: str, distance: str) -> None:
    """Put a place in line: whoever asks next gets it."""
    study = open_study(door)
    number = study.enqueue(place_of(study, edge, distance))
    print_trial(door, study, number)


def print_trial(door: Door, study: Study, number: int) -> None:
    """One trial as it is now."""
    row = trial_rows(study, [study.records[number]])[0]
    if door.as_json:
        print_json({"study": study.name, "unit": study.graph.unit, "trial": row})
        return
    click.echo(aligned([row], ("id", *COLUMNS[1:-1], "value", "noise", "status", "note"), study.graph.unit))
