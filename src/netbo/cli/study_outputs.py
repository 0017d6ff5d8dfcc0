"""A study for others: tables, maps, pages and pictures."""

from collections.abc import Sequence
from pathlib import Path

import click
import matplotlib as mpl
import pandas as pd
from matplotlib import pyplot as plt

from netbo.adapters.export import GEOJSON, GEOPACKAGE, replacing, write_csv
from netbo.cli.outputs import DPI
from netbo.cli.study_door import Door
from netbo.cli.study_opening import open_study
from netbo.cli.study_rows import print_json, trial_rows
from netbo.errors import ParameterError
from netbo.optimize import Result
from netbo.studies import Study

MAPS, TABLES, PAGES = (*GEOPACKAGE, *GEOJSON), (".csv",), (".html", ".htm")
PICTURES = (".png", ".pdf", ".svg")


def export_study(door: Door, paths: Sequence[Path]) -> None:
    """Write tables, maps and pages; each appears whole or not at all."""
    for path in paths:
        _require_suffix(path, (*TABLES, *MAPS, *PAGES), "OUT")
    study = open_study(door)
    if not any(record.point for record in study.records):
        raise ParameterError(
            f"a table needs a trial, got none in the study {study.name!r}; ask or import first"
        )
    if any(path.suffix.lower() not in TABLES for path in paths):
        _require_value(study, "a map or a page")
    mpl.use("agg")  # pages have pictures, and need no window system
    _say_written(door, study, [_export(study, path) for path in paths])


def _export(study: Study, path: Path) -> Path:
    suffix = path.suffix.lower()
    if suffix in TABLES:
        return write_csv(path, pd.DataFrame(trial_rows(study)).drop(columns=["age", "expires"]))
    result = _result(study)
    if suffix in PAGES:
        return result.write_page(path, study.network, title=f"Study {study.name}")
    return result.export(path, study.network)


def plot_study(door: Door, path: Path, what: str, label: str | None) -> None:
    """Draw the network coloured by what is known."""
    _require_suffix(path, PICTURES, "a picture")
    study = open_study(door)
    _require_value(study, "a picture")
    mpl.use("agg")
    figure = _result(study).plot(what=what, label=label).get_figure(root=True)
    assert figure is not None
    with replacing(path) as unfinished:
        figure.savefig(unfinished, dpi=DPI, bbox_inches="tight")
    plt.close(figure)
    _say_written(door, study, [path])


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


def _say_written(door: Door, study: Study, paths: Sequence[Path]) -> None:
    if door.as_json:
        print_json({"study": study.name, "written": [str(path) for path in paths]})
        return
    for path in paths:
        click.echo(f"written: {path}")
