"""Commands for studies: measurements kept in a file or a database and shared by whoever opens it."""

from pathlib import Path
from typing import Any

import click

from netbo.cli.networks import as_settings, optimizer_options, read_option
from netbo.cli.study_door import EXIT_CODES, Door, on_a_study

PATH = click.Path(path_type=Path)
SECONDS = click.FloatRange(min=0, min_open=True)
NUMBERS = {"ignore_unknown_options": True}  # -1.5 is a value, not an option
VIEWS = ("mean", "sd", "acquisition", "probability")


@click.group(short_help="A study that survives: create, ask, tell, share.", epilog=EXIT_CODES)
def study() -> None:
    """Keep every measurement in a file or a database, and share it with other people and machines.

    Every command names its study by --storage, by --name (kept in NAME.journal), or by the environment
    variables NETBO_STORAGE and NETBO_STUDY.
    """


@study.command(short_help="Make a study of a network.", epilog=EXIT_CODES)
@click.argument("network")
@read_option
@click.option("--separation", type=float, default=0.0, help="Least distance between pending places.")
@click.option("--design", type=click.IntRange(min=1), help="Places of the initial design.")
@click.option("--lease", type=SECONDS, help="Seconds after which a place that was not told goes to others.")
@click.option("--network-file", type=PATH, help="Refer to this network JSON instead of keeping the network.")
@click.option("--resume", is_flag=True, help="Go on with the study of this name if there is one.")
@optimizer_options
@on_a_study
def create(
    door: Door,
    network: str,
    options: tuple[str, ...],
    separation: float,
    design: int | None,
    lease: float | None,
    network_file: Path | None,
    resume: bool,
    **chosen: Any,
) -> None:
    """Make a study of NETWORK: a file or a name, as for netbo inspect."""
    from netbo.cli.study_opening import make_study  # noqa: PLC0415 - help need not load readers and databases

    settings = {**as_settings(separation=separation, **chosen), "design": design, "lease": lease}
    make_study(door, network, options=options, network_file=network_file, resume=resume, settings=settings)


@study.command(short_help="Where to measure next.", epilog=EXIT_CODES)
@click.option("-n", "count", type=click.IntRange(min=1), help="Places wanted, to be measured at once.")
@click.option("--worker", help="Who asks; by default user and machine.")
@click.option("--crew", "crews", multiple=True, metavar="NAME[@EDGE:DISTANCE]", help="A place for each crew.")
@click.option("--travel-cost", type=float, help="Of one unit of length, in the unit of the scores.")
@click.option("--radius", type=float, help="Farthest a crew goes along the network.")
@click.option("--lease", type=SECONDS, help="Seconds; by default as the study was made.")
@click.option("--budget", type=click.IntRange(min=1), help="Hand out no more than this many in all.")
@on_a_study
def ask(door: Door, count: int | None, **terms: Any) -> None:
    """Where to measure next; the places are pending until they are told.

    A crew starts at the place of its last trial unless it is said where it is.
    """
    from netbo.cli.study_asking import ask_places  # noqa: PLC0415

    ask_places(door, count, **terms)


@study.command(short_help="Record what was measured.", epilog=EXIT_CODES, context_settings=NUMBERS)
@click.argument("trial", metavar="ID")
@click.argument("value")
@click.option("--noise", type=float, help="Variance of this value.")
@click.option("--at", nargs=2, metavar="EDGE DISTANCE", help="Where it was measured, if elsewhere.")
@click.option("--note", default="", help="A remark.")
@on_a_study
def tell(
    door: Door, trial: str, value: str, noise: float | None, at: tuple[str, str] | None, note: str
) -> None:
    """Record what was measured: a number, or `failed`. It is on the disk when this returns."""
    from netbo.cli.study_telling import tell_value  # noqa: PLC0415

    tell_value(door, trial, value, noise=noise, at=at, note=note)


@study.command(short_help="Record that there is no value.", epilog=EXIT_CODES)
@click.argument("trial", metavar="ID")
@click.option("--note", default="", help="Why.")
@on_a_study
def fail(door: Door, trial: str, note: str) -> None:
    """Record that a place was tried and gave no value."""
    from netbo.cli.study_telling import fail_trial  # noqa: PLC0415

    fail_trial(door, trial, note)


@study.command(short_help="Give up a place.", epilog=EXIT_CODES)
@click.argument("trial", metavar="ID")
@on_a_study
def cancel(door: Door, trial: str) -> None:
    """Give up a place that is pending or in line; a value told for it later still counts."""
    from netbo.cli.study_telling import change_trial  # noqa: PLC0415

    change_trial(door, trial, "cancel")


@study.command(short_help="Give a place to whoever asks next.", epilog=EXIT_CODES)
@click.argument("trial", metavar="ID")
@on_a_study
def release(door: Door, trial: str) -> None:
    """Give a pending place back: whoever asks next gets it."""
    from netbo.cli.study_telling import change_trial  # noqa: PLC0415

    change_trial(door, trial, "release")


@study.command(short_help="Replace a value.", epilog=EXIT_CODES, context_settings=NUMBERS)
@click.argument("trial", metavar="ID")
@click.argument("value")
@click.option("--noise", type=float, help="Variance of the value.")
@on_a_study
def correct(door: Door, trial: str, value: str, noise: float | None) -> None:
    """Replace a value that was told; the old one stays in the storage."""
    from netbo.cli.study_telling import correct_value  # noqa: PLC0415

    correct_value(door, trial, value, noise)


@study.command(short_help="Take a value back.", epilog=EXIT_CODES)
@click.argument("trial", metavar="ID")
@on_a_study
def withdraw(door: Door, trial: str) -> None:
    """Take a value back: it stays in the record and no longer counts."""
    from netbo.cli.study_telling import change_trial  # noqa: PLC0415

    change_trial(door, trial, "withdraw")


@study.command(short_help="Say something of a trial.", epilog=EXIT_CODES)
@click.argument("trial", metavar="ID")
@click.argument("text")
@on_a_study
def note(door: Door, trial: str, text: str) -> None:
    """Say something of a trial; the latest note is shown."""
    from netbo.cli.study_telling import note_trial  # noqa: PLC0415

    note_trial(door, trial, text)


@study.command(short_help="Put a place of your own in line.", epilog=EXIT_CODES, context_settings=NUMBERS)
@click.argument("edge")
@click.argument("distance")
@on_a_study
def enqueue(door: Door, edge: str, distance: str) -> None:
    """Put a place of your own in line: whoever asks next gets it."""
    from netbo.cli.study_asking import enqueue_place  # noqa: PLC0415

    enqueue_place(door, edge, distance)


@study.command("import", short_help="Add measurements of a CSV file.", epilog=EXIT_CODES)
@click.argument("data", metavar="FILE.csv", type=PATH)
@click.option("--value", default="value", show_default=True, help="Column of the values.")
@click.option("--x", help="Column of the first coordinate (longitude, easting).")
@click.option("--y", help="Column of the second coordinate.")
@click.option("--edge", help="Column of edge ids, instead of coordinates.")
@click.option("--distance", help="Column of distances along the edges.")
@click.option("--noise-column", "noise", help="Column of noise variances.")
@click.option("--crs", help="Coordinate system of x and y, if not that of the network: EPSG:4326.")
@click.option("--limit", type=float, help="Farthest a place may lie off the network, in its unit.")
@click.option("--only-new", is_flag=True, help="Leave out rows that are in the study already.")
@click.option("--again", is_flag=True, help="Add every row, also those that are in the study already.")
@on_a_study
def import_(door: Door, data: Path, only_new: bool, again: bool, **columns: Any) -> None:
    """Add measurements that were made before or elsewhere, a line each.

    The whole file is checked before anything is written. Rows with the place and the value of a trial are
    refused unless --only-new or --again says what to do with them: --only-new also completes an import that
    was broken off, and follows a file that grows.
    """
    from netbo.cli.study_importing import import_file  # noqa: PLC0415

    given = {name: each for name, each in columns.items() if each is not None}
    import_file(door, data, given, again=again, only_new=only_new)


@study.command(short_help="How the study stands.", epilog=EXIT_CODES)
@click.option("-n", "count", type=click.IntRange(min=0), help="Last trials to list; 10, in JSON all.")
@on_a_study
def status(door: Door, count: int | None) -> None:
    """How the study stands: trials, the best value, the recommendation, what is pending and since when."""
    from netbo.cli.study_status import show_status  # noqa: PLC0415

    show_status(door, count)


@study.command(short_help="Write tables, maps and pages.", epilog=EXIT_CODES)
@click.argument("out", nargs=-1, required=True, type=PATH)
@on_a_study
def export(door: Door, out: tuple[Path, ...]) -> None:
    r"""Write the study to files for others; the end of a name says what is written.

    \b
    .csv            every trial, a line each
    .gpkg .geojson  a map: mean, sd, acquisition, probability, observations, next places
    .html           a page with summary, pictures and tables
    """
    from netbo.cli.study_outputs import export_study  # noqa: PLC0415

    export_study(door, out)


@study.command(short_help="Draw the network and what is known.", epilog=EXIT_CODES)
@click.argument("out", type=PATH)
@click.option(
    "--what", type=click.Choice(VIEWS), default="mean", show_default=True, help="What to colour by."
)
@click.option("--label", help="Name and unit of the values.")
@on_a_study
def plot(door: Door, out: Path, what: str, label: str | None) -> None:
    """Draw the network coloured by what is known, into OUT (.png, .pdf, .svg)."""
    from netbo.cli.study_outputs import plot_study  # noqa: PLC0415

    plot_study(door, out, what, label)


objective_option = click.option(
    "--objective", required=True, metavar="MODULE:FUNCTION", help="Called with a netbo.Point."
)
budget_option = click.option(
    "--budget", required=True, type=click.IntRange(min=1), help="Evaluations of the study in all, by anybody."
)
timeout_option = click.option(
    "--timeout", type=SECONDS, help="Seconds for one evaluation, then it has failed."
)
lease_option = click.option(
    "--lease", type=SECONDS, help="Seconds after which a silent worker is taken for dead; 60."
)


@study.command(short_help="Evaluate a function until the budget is spent.", epilog=EXIT_CODES)
@objective_option
@budget_option
@click.option("--jobs", type=click.IntRange(min=1), default=1, show_default=True, help="Worker processes.")
@timeout_option
@lease_option
@on_a_study
def run(door: Door, jobs: int, **job: Any) -> None:
    """Evaluate a function where the study asks, until its budget is spent.

    An evaluation that raises, hangs or gives no finite number has failed, with the reason as its note.
    Ctrl-C and SIGTERM lose nothing: run it again to go on.
    """
    from netbo.cli.study_running import Job, run_workers  # noqa: PLC0415

    run_workers(Job(door, **job), jobs=jobs)


@study.command(short_help="Join a shared study until its budget is spent.", epilog=EXIT_CODES)
@objective_option
@budget_option
@timeout_option
@lease_option
@click.option("--worker", help="A name for this worker, unlike all others; by default made up.")
@on_a_study
def worker(door: Door, worker: str | None, **job: Any) -> None:
    """Join a shared study from this machine and work until the budget is spent by all together.

    Start as many as you like, wherever the storage can be reached. If one dies, the next who asks gets its
    place once its lease has run out.
    """
    from netbo.cli.study_running import Job, run_workers  # noqa: PLC0415

    run_workers(Job(door, **job), worker=worker)
