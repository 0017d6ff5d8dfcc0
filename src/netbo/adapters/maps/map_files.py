"""Maps and tables on disk: whole or not at all."""

from __future__ import annotations

import os
import warnings
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from netbo.errors import NetworkError

if TYPE_CHECKING:
    import pandas as pd

GEOPACKAGE, GEOJSON = (".gpkg",), (".geojson", ".json")
LONGITUDE_LATITUDE = "EPSG:4326"  # all that RFC 7946 allows
DIGITS = 9  # of a degree: a tenth of a millimetre


@contextmanager
def replacing(path: Path) -> Iterator[Path]:
    """A file to write to that becomes `path` at the end, and vanishes if there is an error on the way."""
    if not path.parent.is_dir():
        raise NetworkError(
            f"{path} must be in a folder that exists, got none at {path.parent}; make it first"
        )
    unfinished = path.with_name(f".{path.stem}.{os.getpid()}.unfinished{path.suffix}")
    try:
        yield unfinished
        os.replace(unfinished, path)
    finally:
        unfinished.unlink(missing_ok=True)


def write_layers(path: Path, layers: Mapping[str, Any]) -> Path:
    """GeoDataFrames as layers of a GeoPackage, or as the features of one GeoJSON file."""
    suffix = path.suffix.lower()
    if suffix not in (*GEOPACKAGE, *GEOJSON):
        raise NetworkError(
            f"a map must be a file {', '.join((*GEOPACKAGE, *GEOJSON))}, got {path.name!r}; "
            "GeoPackage keeps the coordinate system"
        )
    if not layers:
        raise NetworkError(f"a map needs at least one layer, got none for {path.name!r}; pass columns")
    finite = {name: _without_infinities(frame) for name, frame in layers.items()}
    with replacing(path) as unfinished, warnings.catch_warnings():
        # A network without a coordinate system is the user's own, and no reason to warn.
        warnings.filterwarnings("ignore", message="'crs' was not provided")
        if suffix in GEOPACKAGE:
            for name, frame in finite.items():
                frame.to_file(unfinished, layer=name, driver="GPKG", index=False)
        else:
            together = _together(finite)
            together.to_file(
                unfinished, layer=path.stem, driver="GeoJSON", index=False, RFC7946="YES",
                COORDINATE_PRECISION=str(DIGITS),
            )  # fmt: skip
    return path


def write_csv(path: Path, table: pd.DataFrame) -> Path:
    """A table as CSV, without its index; numbers with all their digits."""
    with replacing(path) as unfinished:
        table.to_csv(unfinished, index=False)
    return path


def _together(layers: Mapping[str, Any]) -> Any:
    """All layers in one frame, in longitude and latitude, told apart by the column `layer`."""
    import pandas as pd  # noqa: PLC0415 - reading networks needs none

    frames = []
    for name, frame in layers.items():
        if frame.crs is None:
            raise NetworkError(
                "GeoJSON is in longitude and latitude (RFC 7946), got a network without a coordinate system; "
                "write .gpkg, or pass crs= where the network is read"
            )  # fmt: skip
        located = frame.to_crs(LONGITUDE_LATITUDE)
        located.insert(0, "layer", name)
        frames.append(located)
    first = frames[0]
    return type(first)(pd.concat(frames, ignore_index=True), crs=LONGITUDE_LATITUDE)


def _without_infinities(frame: Any) -> Any:
    """The same with nothing in place of infinities, which no file format has."""
    numbers = frame.select_dtypes("floating").columns
    return frame.assign(**{name: frame[name].where(np.isfinite(frame[name])) for name in numbers})
