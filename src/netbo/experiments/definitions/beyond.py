"""What does each departure from the paper bring? All placements and many sources: our own question."""

from dataclasses import replace

from netbo.experiments.cell import Cell
from netbo.experiments.definitions import inversion, placement
from netbo.experiments.definitions.grid import NUGGET, cell, paper_methods, rectangle_settings
from netbo.experiments.methods import calibrated_euclidean, calibrated_method, calibrated_variants
from netbo.experiments.spec import Spec

NAME = "beyond"
HORIZON = 40  # of all methods: differences are to be theirs


def default_spec() -> Spec:
    """Every placement of every function, and twelve sources."""
    return replace(placement.default_spec(), name=NAME, sources=12, horizon_ts=HORIZON, horizon_ucb=HORIZON)


def quick_spec() -> Spec:
    """One placement of one function and one source."""
    return replace(placement.quick_spec(), name=NAME, placements=("interior",), sources=1)


def cells(spec: Spec) -> list[Cell]:
    """The paper's preset, the calibrated one, and what may be changed about it; baselines."""
    ours = [calibrated_method(), *calibrated_variants(), calibrated_euclidean()]
    on_rectangle = [
        cell(spec, setting, method)
        for setting in rectangle_settings(spec)
        for method in [*paper_methods(spec), *ours]
    ]
    exact = replace(spec, noise=NUGGET)  # values are computed there: R = 0 and a nugget
    on_new_york = [
        cell(exact, setting, method)
        for setting in inversion.source_settings(spec)
        for method in [*paper_methods(spec, noise_bound=0.0), *ours]
    ]
    return [*on_rectangle, *on_new_york]
