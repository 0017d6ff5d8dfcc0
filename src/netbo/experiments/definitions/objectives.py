"""The three benchmark functions on the open rectangle (fig:true-benchmarks-openrectangle): pictures only."""

from dataclasses import replace

from netbo.experiments.cell import Cell
from netbo.experiments.definitions.grid import FUNCTIONS
from netbo.experiments.spec import Spec

NAME = "objectives"


def default_spec() -> Spec:
    """The functions of the paper, largest at an end of the opening."""
    return Spec(NAME, repetitions=1, functions=FUNCTIONS, placements=("gap-end",), max_cell=(0.25,))


def quick_spec() -> Spec:
    """A coarse mesh."""
    return replace(default_spec(), quick=True, max_cell=(0.5,))


def cells(spec: Spec) -> list[Cell]:
    """None: nothing is optimized."""
    return []
