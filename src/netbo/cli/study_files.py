"""Commands that write files of a study: tables, maps, pages, pictures, a mended journal."""

from collections.abc import Sequence
from pathlib import Path

import click
import pandas as pd

from netbo.adapters.export import GEOJSON, GEOPACKAGE, write_csv
from netbo.adapters.waypoints import WAYPOINTS
from netbo.cli.options import PATH, StudyRef, study_command, study_options
from netbo.cli.output import draw_without_window, print_json, save_picture, trial_rows
from netbo.errors import ParameterError
from netbo.files import replacing
from netbo.optimize import Result
from netbo.studies import Study, repair_journal
from netbo.wording import counted

MAPS, TABLES, PAGES = (*GEOPACKAGE, *GEOJSON), (".csv",), (".html", ".htm")
ASKED_IS_ENOUGH = (*TABLES, *WAYPOINTS)  # what a study without a value can be written to
PICTURES = (".png", ".pdf", ".svg")
VIEWS = ("mean", "sd", "acquisition", "probability")


@study_command()
@click.argument("out", nargs=-1, required=True, type=PATH)
@study_options
def export(ref: StudyRef, out: tuple[Path, ...]) -> None:
    """Write the study to files for others; the end of a name says what is written.

    \b
    .csv            every trial, a line each
    .gpkg .geojson  a map: mean, sd, acquisition, probability, observations,
                    next places
    .gpx .kml       waypoints: next places, what was measured, stretches to search
    .html           a page with summary, pictures and tables
    """  # noqa: D301 - click wraps no paragraph that begins with a backspace
    for path in out:
        _require_suffix(path, (*TABLES, *MAPS, *WAYPOINTS, *PAGES), "OUT")
    study = ref.open()
    if not any(record.point for record in study.records):
        raise ParameterError(
            f"a table needs a trial, got none in the study {study.name!r}; ask or import first"
        )
    if any(path.suffix.lower() not in ASKED_IS_ENOUGH for path in out):
        _require_value(study, "a map or a page")
    draw_without_window()  # pages have pictures
    _print_written(ref, study, [_export(study, path) for path in out])


def _export(study: Study, path: Path) -> Path:
    suffix, unit = path.suffix.lower(), study.value_unit
    if suffix in TABLES:
        table = pd.DataFrame(trial_rows(study)).drop(columns=["age", "expires"])
        return write_csv(path, table if unit is None else table.assign(value_unit=unit))
    if suffix in PAGES:
        return _result(study).write_page(path, study.network, title=study.title or f"Study {study.name}")
    return study.export(path, study.network)


@study_command()
@click.argument("out", type=PATH)
@click.option(
    "--what", type=click.Choice(VIEWS), default="mean", show_default=True, help="What to colour by."
)
@click.option("--label", help="Name and unit of the values.")
@study_options
def plot(ref: StudyRef, out: Path, what: str, label: str | None) -> None:
    """Draw the network coloured by what is known, into OUT (.png, .pdf, .svg)."""
    _require_suffix(out, PICTURES, "a picture")
    study = ref.open()
    _require_value(study, "a picture")
    draw_without_window()
    with replacing(out) as unfinished:
        save_picture(study.plot(what=what, label=label), unfinished)
    _print_written(ref, study, [out])


@study_command()
@click.argument("journal", metavar="[FILE.journal]", type=PATH, required=False)
@click.option("--out", type=PATH, metavar="COPY", help="The copy; by default NAME.mended.journal beside it.")
@study_options
def repair(ref: StudyRef, journal: Path | None, out: Path | None) -> None:
    """Write a mended copy of a damaged journal, and say line by line what was done.

    The file itself is left alone. Lines that are doubled, moved or mixed are put in order, what can be known
    of lost ones is made anew, and a value that cannot be placed is said.
    """
    done = repair_journal(Path(ref.location) if journal is None else journal, out)
    copies = [str(path) for path in (done.path, *done.others)]
    if ref.as_json:
        print_json({"written": copies, "actions": done.actions, "trials": done.trials, "values": done.values})
        return
    for action in done.actions or ("no damage was found",):
        click.echo(action)
    click.echo(
        f"written: {', '.join(copies)}, {counted(done.trials, 'trial')} with {counted(done.values, 'value')}"
    )


def _result(study: Study) -> Result:
    return Result(study.optimizer, f"not yet: {study.n_told} evaluations so far")


def _require_suffix(path: Path, suffixes: Sequence[str], what: str) -> None:
    if path.suffix.lower() not in suffixes:
        raise ParameterError(
            f"{what} must end in {', '.join(suffixes)}, got {path.name!r}; its end says what it is"
        )
    if not path.parent.is_dir():
        raise ParameterError(
            f"{path} must be in a folder that exists, got none at {path.parent}; make it first"
        )


def _require_value(study: Study, what: str) -> None:
    if not study.optimizer.history.observed:
        raise ParameterError(f"{what} needs a value, got none in the study {study.name!r}; tell one first")


def _print_written(ref: StudyRef, study: Study, paths: Sequence[Path]) -> None:
    if ref.as_json:
        print_json({"study": study.name, "written": [str(path) for path in paths]})
        return
    for path in paths:
        click.echo(f"written: {path}")
