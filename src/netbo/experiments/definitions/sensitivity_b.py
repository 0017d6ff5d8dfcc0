"""How much the misspecification term matters (app:b-sensitivity): both tables and their figures."""

from dataclasses import replace

from netbo.experiments.cell import Cell
from netbo.experiments.definitions import benchmarks
from netbo.experiments.definitions.grid import cell, paper_methods, rectangle_settings
from netbo.experiments.methods import Method
from netbo.experiments.spec import MATCHED, Spec

NAME = "sensitivity-b"


def default_spec() -> Spec:
    """The paper's grid of b, everything else as in the benchmarks."""
    return replace(benchmarks.default_spec(), name=NAME, b=(0.0, 0.05, 0.1, 0.2, 0.5))


def quick_spec() -> Spec:
    """One function, two values of b, two short repetitions on a coarse mesh."""
    return replace(benchmarks.quick_spec(), name=NAME, functions=("ackley",), b=(0.0, 0.5))


def cells(spec: Spec) -> list[Cell]:
    """Every function with every kernel, acquisition and b; baselines once, as they do not know b."""
    b = spec.b or (0.0,)
    methods = [method for method in paper_methods(spec, b=b) if _is_tried(method, b[0])]
    return [cell(spec, setting, method) for setting in rectangle_settings(spec) for method in methods]


def _is_tried(method: Method, first: float) -> bool:
    """The matched Euclidean kernel is a baseline: at the first b only."""
    return method.kernel != MATCHED or method.b == first
