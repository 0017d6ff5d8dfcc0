"""The network of New York and a draw of the prior on it (fig:metric graph example): pictures only."""

from dataclasses import replace

from netbo.experiments.cell import Cell
from netbo.experiments.spec import Spec

NAME = "network"


def default_spec() -> Spec:
    """The mesh of the paper; the seed draws the sample of the prior."""
    return Spec(NAME, repetitions=1, max_cell=(0.25,))


def quick_spec() -> Spec:
    """A coarse mesh."""
    return replace(default_spec(), quick=True, max_cell=(0.5,))


def cells(spec: Spec) -> list[Cell]:
    """None: nothing is optimized."""
    return []
