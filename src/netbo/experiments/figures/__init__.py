"""The figures of the paper and ours from a tidy table, as PNG and PDF."""

from collections.abc import Callable
from pathlib import Path
from types import MappingProxyType

import pandas as pd

from netbo.errors import ParameterError
from netbo.experiments.cell import draw_sources
from netbo.experiments.figures.comparisons import draw_comparisons, draw_effects, draw_placements
from netbo.experiments.figures.landscapes import draw_inversion, draw_new_york, draw_objectives
from netbo.experiments.figures.sensitivity import draw_b_sensitivity, draw_init_sensitivity
from netbo.experiments.spec import Spec

__all__ = ["draw_all"]

DEFAULT_CELL = 0.25


def _network(spec: Spec, table: pd.DataFrame, out: Path) -> list[Path]:
    return draw_new_york(out, seed=spec.seed)


def _objectives(spec: Spec, table: pd.DataFrame, out: Path) -> list[Path]:
    return draw_objectives(out, functions=spec.functions, placements=spec.placements)


def _inversion(spec: Spec, table: pd.DataFrame, out: Path) -> list[Path]:
    max_cell = (spec.max_cell or (DEFAULT_CELL,))[0]
    return [*draw_inversion(out, draw_sources(1, max_cell)[0]), *draw_comparisons(spec, table, out)]


_DRAWINGS: MappingProxyType[str, Callable[[Spec, pd.DataFrame, Path], list[Path]]] = MappingProxyType(
    {
        "network": _network,
        "objectives": _objectives,
        "benchmarks": draw_comparisons,
        "inversion": _inversion,
        "sensitivity-b": draw_b_sensitivity,
        "sensitivity-init": draw_init_sensitivity,
        "placement": draw_placements,
        "beyond": draw_effects,
    }
)


def draw_all(spec: Spec, table: pd.DataFrame, out: Path) -> list[Path]:
    """Draw every figure of an experiment into a folder; paths of the files, each figure as PNG and PDF."""
    if spec.name not in _DRAWINGS:
        raise ParameterError(f"figures exist for {', '.join(_DRAWINGS)}, got {spec.name!r}")
    return _DRAWINGS[spec.name](spec, table, Path(out))
