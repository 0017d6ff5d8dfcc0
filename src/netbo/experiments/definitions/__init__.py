"""The experiments by name: each module gives a default spec, a quick one, and the cells of a spec."""

from collections.abc import Mapping
from pathlib import Path
from types import MappingProxyType
from typing import Protocol

from netbo.errors import ParameterError
from netbo.experiments.cell import Cell
from netbo.experiments.definitions import (
    benchmarks,
    beyond,
    inversion,
    network,
    objectives,
    placement,
    sensitivity_b,
    sensitivity_init,
)
from netbo.experiments.spec import Spec, read_toml


class Definition(Protocol):
    """A module of this package."""

    NAME: str

    def default_spec(self) -> Spec:
        """The full experiment."""

    def quick_spec(self) -> Spec:
        """A short one, to see that it works."""

    def cells(self, spec: Spec) -> list[Cell]:
        """What a spec asks for."""


DEFINITIONS: Mapping[str, Definition] = MappingProxyType(
    {
        each.NAME: each
        for each in (
            network,
            objectives,
            benchmarks,
            inversion,
            sensitivity_b,
            sensitivity_init,
            placement,
            beyond,
        )
    }
)


def definition(name: str) -> Definition:
    """An experiment by its name."""
    if name not in DEFINITIONS:
        raise ParameterError(f"an experiment must be one of {', '.join(DEFINITIONS)} or all, got {name!r}")
    return DEFINITIONS[name]


def read_spec(path: Path) -> Spec:
    """The spec of a TOML file: the default of the experiment it names, with the fields it changes.

    quick = true starts from the quick spec instead.
    """
    values = read_toml(path)
    chosen = definition(values["name"])
    return (chosen.quick_spec() if values.get("quick") is True else chosen.default_spec()).updated(values)
