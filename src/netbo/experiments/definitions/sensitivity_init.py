"""How many initial measurements are needed on which mesh (app:init-sensitivity)."""

from dataclasses import replace

from netbo.experiments.cell import Cell
from netbo.experiments.definitions import benchmarks
from netbo.experiments.definitions.grid import Setting, cell, paper_methods, rectangle_settings
from netbo.experiments.methods import Method
from netbo.experiments.spec import MATCHED, Spec

NAME = "sensitivity-init"


def default_spec() -> Spec:
    """The paper's sizes of the design on its three meshes, for Lévy's function."""
    return replace(
        benchmarks.default_spec(), name=NAME, functions=("levy",), n_init=(1, 2, 4, 8, 10, 12, 16),
        max_cell=(0.5, 0.25, 0.15),
    )  # fmt: skip


def quick_spec() -> Spec:
    """Two sizes on two coarse meshes, two short repetitions."""
    return replace(
        benchmarks.quick_spec(), name=NAME, functions=("levy",), n_init=(1, 8), max_cell=(1.0, 0.5)
    )


def cells(spec: Spec) -> list[Cell]:
    """Every size and mesh with every kernel and acquisition, and the baselines."""
    methods = paper_methods(spec)
    middle = tuple(sizes[len(sizes) // 2] for sizes in (spec.n_init or (), spec.max_cell or ()))
    return [
        cell(spec, setting, method)
        for setting in rectangle_settings(spec)
        for method in methods
        if _is_tried(method, setting, middle)
    ]


def _is_tried(method: Method, setting: Setting, middle: tuple[float, ...]) -> bool:
    """The matched Euclidean kernel is a baseline: with the middle design and mesh only, as it costs most."""
    return method.kernel != MATCHED or (setting.n_init, setting.pose.max_cell) == middle
