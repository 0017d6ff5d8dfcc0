"""A pandapower net, from itself or from a file, and its switches."""

from __future__ import annotations

import logging
import warnings
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import pandas as pd

from netbo.errors import NetworkError
from netbo.optional import require

PURPOSE = "reading power networks"


def load_pandapower(module: str = "pandapower") -> Any:
    """The pandapower package or one of its modules."""
    return require(module, extra="power", purpose=PURPOSE)


def open_net(source: Any) -> tuple[Any, str]:
    """A pandapower net of a JSON file or of itself, and its name for people."""
    pandapower = load_pandapower()
    if isinstance(source, pandapower.pandapowerNet):
        return source, f"pandapower net {source.name!r}" if source.name else "pandapower net"
    path = Path(source)
    if not path.is_file():
        raise NetworkError(f"a pandapower file must exist, got {path}; check the path")
    try:
        with quiet():
            net = pandapower.from_json(str(path))
    except Exception as cause:  # the parser raises whatever the broken file provokes
        raise NetworkError(
            f"a pandapower file must be JSON written by pandapower.to_json, got {type(cause).__name__} in "
            f"{path.name}; write it again"
        ) from cause
    return net, f"pandapower file {path.name}"


def open_ends(net: Any) -> dict[int, set[int]]:
    """Buses at which a line is switched off, by line."""
    ends: dict[int, set[int]] = {}
    for bus, line in _switches(net, "l", closed=False)[["bus", "element"]].itertuples(index=False):
        ends.setdefault(int(line), set()).add(int(bus))
    return ends


def open_elements(net: Any, kind: str) -> set[int]:
    """Transformers ('t') or three-winding transformers ('t3') with an open switch."""
    return {int(element) for element in _switches(net, kind, closed=False)["element"]}


def bus_switches(net: Any, *, closed: bool) -> pd.DataFrame:
    """Switches between buses."""
    return _switches(net, "b", closed=closed)


def _switches(net: Any, kind: str, *, closed: bool) -> pd.DataFrame:
    table: pd.DataFrame = net.switch
    return table[(table["et"] == kind) & (table["closed"].astype(bool) == closed)]


@contextmanager
def quiet() -> Iterator[None]:
    """pandapower warns of its own old tables and of pandas to come, and that branch results are new."""
    logger = logging.getLogger("pandapower")
    level = logger.level
    logger.setLevel(logging.CRITICAL)
    try:
        with warnings.catch_warnings():
            warnings.filterwarnings("ignore", module=r"pandapower\..*")
            yield
    finally:
        logger.setLevel(level)
