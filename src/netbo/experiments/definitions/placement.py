"""Does it matter where the optimum sits? Five places, every algorithm, both presets: our own question."""

from dataclasses import replace

from netbo.experiments.cell import Cell
from netbo.experiments.definitions import benchmarks
from netbo.experiments.definitions.grid import ACQUISITIONS, cell, paper_methods, rectangle_settings
from netbo.experiments.methods import calibrated_euclidean, calibrated_method
from netbo.experiments.spec import EUCLIDEAN, SPDE, Spec
from netbo.problems import Placement

NAME = "placement"


def default_spec() -> Spec:
    """The benchmarks at every placement."""
    places = tuple(placement.value for placement in Placement)
    spec = benchmarks.default_spec()
    return replace(spec, name=NAME, repetitions=20, placements=places)


def quick_spec() -> Spec:
    """Two placements of one function."""
    spec = benchmarks.quick_spec()
    return replace(
        spec, name=NAME, functions=("ackley",), placements=("gap-end", "interior"), kernels=(SPDE, EUCLIDEAN)
    )


def cells(spec: Spec) -> list[Cell]:
    """Both presets with every acquisition, Euclidean twins and baselines at every placement."""
    ours = [calibrated_method(acquisition) for acquisition in spec.acquisitions or ACQUISITIONS]
    methods = [*paper_methods(spec), *ours, calibrated_euclidean()]
    return [cell(spec, setting, method) for setting in rectangle_settings(spec) for method in methods]
