"""Commands between a study and files: measurements in from CSV, tables, maps, pages and pictures out."""

from collections import Counter
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import click
import numpy as np
import pandas as pd

from netbo.adapters import Measurements
from netbo.adapters.export import GEOJSON, GEOPACKAGE, write_csv
from netbo.adapters.waypoints import WAYPOINTS
from netbo.arrays import BoolArray
from netbo.cli.options import PATH, StudyRef, column_options, read_measurements, study_command, study_options
from netbo.cli.output import draw_without_window, print_json, save_picture, trial_rows
from netbo.errors import ObservationError, ParameterError
from netbo.files import replacing
from netbo.geometry import Point
from netbo.optimize import Result
from netbo.optimize.arguments import as_told
from netbo.studies import Study, repair_journal
from netbo.wording import counted

DIGITS = 9  # of a position along its edge: files round
MAPS, TABLES, PAGES = (*GEOPACKAGE, *GEOJSON), (".csv",), (".html", ".htm")
ASKED_IS_ENOUGH = (*TABLES, *WAYPOINTS)  # what a study without a value can be written to
PICTURES = (".png", ".pdf", ".svg")
VIEWS = ("mean", "sd", "acquisition", "probability")

Key = tuple[int, float, float]


@study_command("import")
@click.argument("data", metavar="FILE.csv", type=PATH)
@column_options("noise")
@click.option("--only-new", is_flag=True, help="Leave out rows that are in the study already.")
@click.option("--again", is_flag=True, help="Add every row, also those that are in the study already.")
@study_options
def import_(ref: StudyRef, data: Path, only_new: bool, again: bool, **columns: Any) -> None:
    """Add measurements that were made before or elsewhere, a line each.

    The whole file is checked before anything is written. Rows with the place and the value of a trial are
    refused unless --only-new or --again says what to do with them: --only-new also completes an import that
    was broken off, and follows a file that grows.
    """
    if again and only_new:
        raise ParameterError("--again adds every row and --only-new does not, got both; choose one")
    study = ref.open()
    measured = read_measurements(study.network, data, columns)
    noise, known = _checked_noise(measured), _known_rows(study, measured)
    if known.any() and not (again or only_new):
        raise ParameterError(
            f"{int(known.sum())} of {len(known)} rows of {data} are in the study already, with the same "
            "place and value; --only-new adds the others, --again adds all of them once more"
        )
    points = list(measured.points)
    added = [
        study.add_observation(
            points[k], measured.values[k], noise[k], note=f"{data.name}, {measured.where(k)}"
        )
        for k in range(len(known))
        if not (only_new and known[k])
    ]
    _print_import(ref, study, measured, added, data)


def _checked_noise(measured: Measurements) -> list[float | None]:
    """Noise variances; a row that could not be told is named before any is."""
    noise = measured.noise
    variances: list[float | None] = [None] * len(measured) if noise is None else noise.tolist()
    for k, (value, variance) in enumerate(zip(measured.values.tolist(), variances, strict=True)):
        try:
            as_told(value, variance)
        except ObservationError as cause:
            raise ObservationError(f"{measured.where(k)}: {cause}") from cause
    return variances


def _known_rows(study: Study, measured: Measurements) -> BoolArray:
    """Which rows the study has; a row that is twice in the file is known only if it is twice in the study."""
    lengths = study.graph.lengths

    def key(point: Point, value: float) -> Key:
        return int(point.edge), round(point.z / float(lengths[point.edge]), DIGITS), value

    number = study.storage.get_study_id_from_name(study.name)
    trials = study.storage.get_all_trials(number, deepcopy=False)
    there: Counter[Key] = Counter()
    for record in study.records:
        first = trials[record.id].values  # as first told: a correction leaves it
        values = {*([] if record.value is None else [record.value]), *(first or [])}
        if record.point is not None:
            there.update(key(record.point, value) for value in values)
    known = np.zeros(len(measured), dtype=np.bool_)
    for k, (point, value) in enumerate(zip(measured.points, measured.values.tolist(), strict=True)):
        found = key(point, value)
        known[k] = there[found] > 0
        there[found] -= 1
    return known


def _print_import(ref: StudyRef, study: Study, measured: Measurements, added: list[int], data: Path) -> None:
    left_out, off = len(measured) - len(added), float(measured.off.max())
    if ref.as_json:
        print_json({
            "study": study.name, "unit": study.graph.unit,
            "added": added, "left_out": left_out, "skipped": measured.skipped, "farthest_off": off,
        })  # fmt: skip
        return
    unit = f" {study.graph.unit}" if study.graph.unit else ""
    ids = f", the last as trial {added[-1]}" if added else ""
    click.echo(f"{counted(len(added), 'measurement')} of {data.name} added{ids}")
    if left_out:
        click.echo(f"{counted(left_out, 'row')} left out: in the study already")
    if off:
        click.echo(f"snapped from up to {off:.4g}{unit} off the network")


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
