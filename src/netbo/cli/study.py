"""Commands on one study: create it, ask for points, tell values, change trials, show its status."""

from collections import Counter
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import click

from netbo.cli.app import NothingLeft
from netbo.cli.options import (
    COUNT,
    PATH,
    SECONDS,
    SearchTables,
    StudyRef,
    default_worker,
    optimizer_options,
    parse_number,
    parse_trial,
    read_network,
    read_option,
    search_options,
    show_warnings,
    study_command,
    study_options,
    words_options,
)
from netbo.cli.output import (
    ADDRESS,
    Row,
    answer_lines,
    best_and_recommended,
    duration,
    format_table,
    headline,
    print_json,
    trial_rows,
)
from netbo.cli.places import PlaceOptions, as_node, parse_node, parse_point, place_options
from netbo.errors import ExhaustedError, ParameterError
from netbo.optimize import Suggestion
from netbo.optimize.arguments import FAILED
from netbo.studies import Crew, State, Study, study_names
from netbo.wording import counted

NUMBERS = {"ignore_unknown_options": True}  # -1.5 is a value, not an option
SHOWN = 10  # trials of a status, unless it is said how many

trial_argument = click.argument("trial", metavar="ID")


@study_command()
@click.argument("network")
@read_option
@click.option(
    "--separation", type=float, help="Least distance between pending places; a fiftieth of the diameter."
)
@click.option("--design", type=COUNT, help="Places of the initial design.")
@click.option("--lease", type=SECONDS, help="Seconds after which a place that was not told goes to others.")
@click.option("--network-file", type=PATH, help="Refer to this network JSON instead of keeping the network.")
@click.option("--resume", is_flag=True, help="Go on with the study of this name if there is one.")
@search_options
@words_options
@optimizer_options
@study_options
def create(
    ref: StudyRef,
    network: str,
    tables: SearchTables,
    options: tuple[str, ...],
    network_file: Path | None,
    resume: bool,
    settings: dict[str, Any],
    **more: Any,
) -> None:
    """Make a study of NETWORK: a file or a name, as for netbo inspect."""
    if not ref.name:
        raise ParameterError("a new study needs a name, got none; try --name NAME, or set NETBO_STUDY")
    source = read_network(network, options)
    if not resume and ref.is_stored and ref.name in study_names(ref.location):
        # Asked before it is tried: Optuna's journal gets a line also when a study cannot be made.
        raise ParameterError(
            f"there is a study named {ref.name!r} already; go on with it by --resume, or choose another "
            "--name"
        )
    study = Study.create(
        source,
        name=ref.name,
        storage=ref.location,
        network_file=network_file,
        resume=resume,
        candidates=tables.on(source),
        **settings,
        **more,
    )
    trials = len(study.records)
    if ref.as_json:
        about = {"network": study.network_hash, "settings": study.settings.as_dict(), "trials": trials}
        print_json({"study": study.name, **about})
        return
    click.echo(headline(study) + (f"; it has {counted(trials, 'trial')}" if trials else ""))
    if "://" not in ref.location:
        click.echo(f"kept in {ref.location}")


@study_command()
@click.option("-n", "count", type=COUNT, help="Places wanted, to be measured at once.")
@click.option("--worker", help="Who asks; by default user and machine.")
@click.option("--crew", "crews", multiple=True, metavar="NAME[@EDGE:DISTANCE]", help="A place for each crew.")
@click.option("--travel-cost", type=float, help="Of one unit of length, in the unit of the scores.")
@click.option("--radius", type=float, help="Farthest a crew goes along the network.")
@click.option("--lease", type=SECONDS, help="Seconds; by default as the study was made.")
@click.option("--budget", type=COUNT, help="Hand out no more than this many in all.")
@study_options
def ask(
    ref: StudyRef,
    count: int | None,
    worker: str | None,
    crews: Sequence[str],
    travel_cost: float | None,
    radius: float | None,
    lease: float | None,
    budget: int | None,
) -> None:
    """Where to measure next; the places are pending until they are told.

    A crew starts at the place of its last trial unless it is said where it is.
    """
    if crews and (count is not None or worker is not None):
        raise ParameterError("each --crew gets one place, got -n or --worker too; leave those out")
    if not crews and (travel_cost is not None or radius is not None):
        raise ParameterError("--travel-cost and --radius are those of crews, got no --crew; try --crew NAME")
    study = ref.open(worker or default_worker())
    terms: dict[str, Any] = {"lease": study.settings.lease if lease is None else lease, "budget": budget}
    named = [_parse_crew(study, text, travel_cost or 0.0, radius) for text in crews]
    try:
        found = study.ask(crews=named, **terms) if named else study.ask(count or 1, **terms)
    except ExhaustedError as nothing:
        raise NothingLeft(f"nothing to ask for: {nothing}") from nothing
    _print_suggestions(ref, study, found)
    wanted = len(named) or count or 1
    if len(found) < wanted:
        click.echo(f"only {len(found)} of {wanted} places: there are no more to ask for", err=True)


def _parse_crew(study: Study, text: str, travel_cost: float, radius: float | None) -> Crew:
    """A crew from NAME, NAME@EDGE:DISTANCE or NAME@NODE."""
    name, is_placed, address = text.partition("@")
    edge, is_split, distance = address.rpartition(":")
    at_node = is_placed and study.graph.has_vertex(as_node(study, address))
    if not name or (is_placed and not at_node and not (is_split and edge and distance)):
        raise ParameterError(
            f"--crew must be NAME or NAME@EDGE:DISTANCE, got {text!r}; try --crew north@main:2.5, or "
            "NAME@NODE with the name of a node"
        )
    at = parse_point(study, edge, distance) if is_placed and not at_node else None
    at = parse_node(study, address) if at_node else at
    return Crew(name, at=at, travel_cost=travel_cost, radius=radius)


def _print_suggestions(ref: StudyRef, study: Study, found: Sequence[Suggestion]) -> None:
    ids = {suggestion.id for suggestion in found}
    rows = trial_rows(study, [record for record in study.records if record.id in ids])
    if ref.as_json:
        print_json({"study": study.name, "unit": study.graph.unit, "suggestions": rows})
        return
    click.echo(format_table(rows, (*ADDRESS, "worker"), study.network))
    click.echo(f"\nThen: netbo study tell {found[0].id} VALUE, or netbo study fail {found[0].id}")


@study_command(context_settings=NUMBERS)
@click.argument("edge", required=False)
@click.argument("distance", required=False)
@click.option("--node", metavar="NAME", help="A node by its name, instead: a junction, a hydrant.")
@study_options
def enqueue(ref: StudyRef, edge: str | None, distance: str | None, node: str | None) -> None:
    """Put a place of your own in line: whoever asks next gets it."""
    if (node is None) == (edge is None) or (edge is None) != (distance is None):
        raise ParameterError("a place must be EDGE DISTANCE or --node NAME, got neither or both; give one")
    study = ref.open()
    point = parse_point(study, edge, distance) if edge and distance else parse_node(study, str(node))
    _print_trial(ref, study, study.enqueue(point))


# Values and changes of trials


@study_command(context_settings=NUMBERS)
@click.argument("told", nargs=-1, required=True, metavar="[ID] VALUE")
@click.option("--noise", type=float, help="Variance of this value.")
@place_options
@click.option("--note", default="", help="A remark.")
@study_options
def tell(ref: StudyRef, told: tuple[str, ...], noise: float | None, place: PlaceOptions, note: str) -> None:
    """Record what was measured: a number, or `failed`. It is on the disk when this returns.

    ID is that of a suggestion; without it, say where: by --at, --node, --xy or --lon-lat. Many values at once
    are told from a table with netbo study import.
    """
    if len(told) > 2:
        raise ParameterError(f"an ID and a value are told, got {' '.join(told)}; quote what has blanks")
    number = None if len(told) == 1 else parse_trial(told[0])
    value = FAILED if told[-1] == FAILED else parse_number(told[-1], "a value")
    study = ref.open()
    point, off = place.on(study)
    if number is not None:
        _print_trial(ref, study, study.tell(number, value, noise, point, note=note), off)
        return
    if point is None:
        raise ParameterError(
            f"a value belongs to a suggestion or a place, got {told[-1]} alone; try netbo study tell ID "
            "VALUE, or say where with --at, --node, --xy or --lon-lat"
        )
    _print_trial(ref, study, study.add_observation(point, value, noise, note=note), off)


@study_command()
@trial_argument
@click.option("--note", default="", help="Why.")
@study_options
def fail(ref: StudyRef, trial: str, note: str) -> None:
    """Record that a place was tried and gave no value."""
    number, study = parse_trial(trial), ref.open()
    _print_trial(ref, study, study.tell(number, FAILED, note=note))


@study_command()
@trial_argument
@study_options
def cancel(ref: StudyRef, trial: str) -> None:
    """Give up a place that is pending or in line; a value told for it later still counts."""
    number, study = parse_trial(trial), ref.open()
    study.cancel(number)
    _print_trial(ref, study, number)


@study_command()
@trial_argument
@study_options
def release(ref: StudyRef, trial: str) -> None:
    """Give a pending place back: whoever asks next gets it."""
    number, study = parse_trial(trial), ref.open()
    study.release(number)
    _print_trial(ref, study, number)


@study_command(context_settings=NUMBERS)
@trial_argument
@click.argument("value")
@click.option("--noise", type=float, help="Variance of the value.")
@study_options
def correct(ref: StudyRef, trial: str, value: str, noise: float | None) -> None:
    """Replace a value that was told; the old one stays in the storage."""
    number, told = parse_trial(trial), parse_number(value, "a value")
    study = ref.open()
    study.correct(number, told, noise)
    _print_trial(ref, study, number)


@study_command()
@trial_argument
@study_options
def withdraw(ref: StudyRef, trial: str) -> None:
    """Take a value back: it stays in the record and no longer counts."""
    number, study = parse_trial(trial), ref.open()
    study.withdraw(number)
    _print_trial(ref, study, number)


@study_command()
@trial_argument
@click.argument("text")
@study_options
def note(ref: StudyRef, trial: str, text: str) -> None:
    """Say something of a trial; the latest note is shown."""
    number, study = parse_trial(trial), ref.open()
    study.note(number, text)
    _print_trial(ref, study, number)


def _print_trial(ref: StudyRef, study: Study, number: int, off: float | None = None) -> None:
    """Print one trial as it is now, and how far off the network its coordinates were."""
    row = trial_rows(study, [study.records[number]])[0]
    if ref.as_json:
        snapped = {} if off is None else {"off": off}
        print_json({"study": study.name, "unit": study.graph.unit, "trial": row, **snapped})
        return
    columns = (*ADDRESS, "value", "noise", "status", "note")
    click.echo(format_table([row], columns, study.network, study.value_unit))
    if off is not None:
        unit = study.network.report.map_unit
        click.echo(f"snapped from {off:.4g}{f' {unit}' if unit else ''} off the network")


# Status


@study_command()
@click.option("-n", "count", type=click.IntRange(min=0), help="Last trials to list; 10, in JSON all.")
@click.option("--warnings", "show", is_flag=True, help="Show what the report of the network warns of.")
@study_options
def status(ref: StudyRef, count: int | None, show: bool) -> None:
    """How the study stands: trials, the best value, the recommendation, what is pending and since when."""
    study = ref.open()
    rows, known = trial_rows(study), best_and_recommended(study)
    counts = dict(Counter(row["status"] for row in rows))
    if ref.as_json:
        listed = rows if count is None else rows[len(rows) - min(count, len(rows)) :]
        print_json({
            "study": study.name, "title": study.title, "network": study.network_hash,
            "unit": study.graph.unit, "value_unit": study.value_unit,
            "settings": study.settings.as_dict(), "network_warnings": study.network.report.warnings,
            "counts": counts, **known, "trials": listed,
        })  # fmt: skip
        return
    said = ", ".join(f"{number} {state}" for state, number in counts.items()) or "no trials yet"
    click.echo(f"{headline(study)}\n{said}")
    if show:
        show_warnings(study.network)
    elif study.network.report.warnings:
        about = counted(len(study.network.report.warnings), "warning")
        click.echo(f"{about} about the network: netbo study status --warnings shows them")
    _print_trials(rows, SHOWN if count is None else count, study)
    for line in answer_lines(known, study.network, study.value_unit):
        click.echo(line)
    _print_pending([row for row in rows if row["status"] == State.PENDING.value], study)


def _print_trials(rows: list[Row], count: int, study: Study) -> None:
    listed = rows[len(rows) - min(count, len(rows)) :]
    if listed:
        columns = (*ADDRESS, "value", "noise", "status", "worker", "note")
        click.echo(f"\n{format_table(listed, columns, study.network, study.value_unit)}")
        if len(listed) < len(rows):
            click.echo(f"(the last {len(listed)} of {len(rows)}; -n {len(rows)} shows all)")
    click.echo()


def _print_pending(rows: list[Row], study: Study) -> None:
    """Who measures where, since when, and how long the point is theirs."""
    if not rows:
        return
    expiries = {record.id: record.expires for record in study.pending}
    now = study.clock.now()
    for row in rows:
        row["since"] = "" if row["age"] is None else duration(row["age"])
        expires = expiries.get(row["id"])
        row["lease"] = (
            "none" if expires is None else f"{duration(expires - now)} left" if expires > now else "ran out"
        )
    columns = ("id", "edge", "distance", "worker", "since", "lease")
    click.echo(f"\npending\n{format_table(rows, columns, study.network)}")
