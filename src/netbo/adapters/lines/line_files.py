"""Line files on disk as GeoDataFrames: one layer, feature ids as the index, errors that name the file."""

from __future__ import annotations

from os import PathLike
from pathlib import Path
from typing import Any

from netbo.errors import NetworkError
from netbo.optional import require

PURPOSE = "reading line files"


def read_line_file(path: str | PathLike[str], layer: str | None) -> tuple[Any, str]:
    """Frame of a file's layer, indexed by feature id, and what to call it."""
    geopandas = require("geopandas", extra="geo", purpose=PURPOSE)
    file = Path(path)
    if not file.exists():
        raise NetworkError(f"a line file must exist, got {file}; check the path")
    columnar = {".parquet": geopandas.read_parquet, ".feather": geopandas.read_feather}
    try:
        if file.suffix in columnar:
            return columnar[file.suffix](file), file.name
        chosen, count = _chosen_layer(geopandas, file, layer)
        frame = geopandas.read_file(file, layer=chosen, engine="pyogrio", fid_as_index=True)
    except NetworkError:
        raise
    except Exception as cause:  # drivers raise errors of their own, and hundreds of them
        raise NetworkError(
            f"{file} must be a file of lines that geopandas reads, got {type(cause).__name__}: {cause}; "
            "open it with geopandas.read_file to see what is wrong"
        ) from cause
    return frame, file.name if count == 1 else f"{file.name}, layer {chosen!r}"


def _chosen_layer(geopandas: Any, file: Path, layer: str | None) -> tuple[str, int]:
    """The layer to read, and how many there are; several must be chosen from."""
    layers = geopandas.list_layers(file)
    names = layers["name"].tolist()
    listed = ", ".join(
        f"{name!r} ({kind or 'no geometry'})"
        for name, kind in zip(names, layers["geometry_type"].tolist(), strict=True)
    )
    if layer is None and len(names) > 1:
        raise NetworkError(f"{file} must have one layer, got {listed}; choose with layer=")
    if layer is not None and layer not in names:
        raise NetworkError(
            f"{file} has no layer {layer!r}; there are {listed}: choose among them with layer="
        )
    return (names[0] if layer is None else layer), len(names)
