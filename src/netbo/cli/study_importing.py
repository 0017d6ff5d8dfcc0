"""Measurements of a CSV file, added to a study: all are checked before the first is written."""

from collections import Counter
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import click
import numpy as np

from netbo.adapters import Measurements, snap_measurements
from netbo.cli.study_door import Door
from netbo.cli.study_opening import open_study
from netbo.cli.study_rows import print_json
from netbo.errors import ObservationError, ParameterError
from netbo.geometry import Point
from netbo.geometry.identifiers import counted
from netbo.optimize.arguments import as_told
from netbo.studies import Study

DIGITS = 9  # of a position along its edge: files round

Key = tuple[int, float, float]


def import_file(
    door: Door, data: Path, columns: Mapping[str, Any], *, again: bool = False, only_new: bool = False
) -> None:
    """Add the measurements of a file; those the study has already need a word on what to do with them."""
    if again and only_new:
        raise ParameterError("--again adds every row and --only-new does not, got both; choose one")
    study = open_study(door)
    measured = snap_measurements(study.network, data, **columns)
    told = _checked(measured)
    known = _known_rows(study, measured)
    if known.any() and not (again or only_new):
        raise ParameterError(
            f"{int(known.sum())} of {len(known)} rows of {data} are in the study already, with the same "
            "place and value; --only-new adds the others, --again adds all of them once more"
        )
    chosen = np.flatnonzero(~known) if only_new else np.arange(len(known))
    points = list(measured.points)
    added = [
        study.add_observation(
            points[k], measured.values[k], told[k], note=f"{data.name}, row {measured.rows[k]}"
        )
        for k in chosen.tolist()
    ]
    _print(door, study, measured, added, data)


def _checked(measured: Measurements) -> list[float | None]:
    """Noise variances; a row that could not be told is named before any is."""
    noise = measured.noise
    variances: list[float | None] = [None] * len(measured) if noise is None else noise.tolist()
    for row, value, variance in zip(measured.rows.tolist(), measured.values.tolist(), variances, strict=True):
        try:
            as_told(value, variance)
        except ObservationError as cause:
            raise ObservationError(f"row {row}: {cause}") from cause
    return variances


def _known_rows(study: Study, measured: Measurements) -> np.ndarray[Any, np.dtype[np.bool_]]:
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


def _print(door: Door, study: Study, measured: Measurements, added: list[int], data: Path) -> None:
    left_out, off = len(measured) - len(added), float(measured.off.max())
    if door.as_json:
        print_json({
            "study": study.name, "unit": study.graph.unit,
            "added": added, "left_out": left_out, "farthest_off": off,
        })  # fmt: skip
        return
    unit = f" {study.graph.unit}" if study.graph.unit else ""
    ids = f", the last as trial {added[-1]}" if added else ""
    click.echo(f"{counted(len(added), 'measurement')} of {data.name} added{ids}")
    if left_out:
        click.echo(f"{counted(left_out, 'row')} left out: in the study already")
    if off:
        click.echo(f"snapped from up to {off:.4g}{unit} off the network")
