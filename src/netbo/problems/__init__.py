"""Objectives on networks whose maxima are known: benchmarks, source identification, random landscapes."""

from netbo.problems.benchmarks import Placement, open_rectangle_benchmark
from netbo.problems.composition import (
    ACKLEY,
    LEVY,
    OUTER_FUNCTIONS,
    RASTRIGIN,
    Ackley,
    Composition,
    Extremes,
    Levy,
    OuterFunction,
    Rastrigin,
    composed,
    extremes,
    placed_anchors,
)
from netbo.problems.fields import Needle, needle, random_field
from netbo.problems.inversion import SourceInversion, SourceLoad, SourcePrior, new_york, new_york_inversion
from netbo.problems.problem import (
    EdgewiseFunction,
    NodalFunction,
    Objective,
    Problem,
    edgewise_problem,
    nearest_nodes,
    nodal_problem,
)
from netbo.problems.suite import SUITE, SuiteProblem, suite_problem

__all__ = [
    "ACKLEY",
    "LEVY",
    "OUTER_FUNCTIONS",
    "RASTRIGIN",
    "SUITE",
    "Ackley",
    "Composition",
    "EdgewiseFunction",
    "Extremes",
    "Levy",
    "Needle",
    "NodalFunction",
    "Objective",
    "OuterFunction",
    "Placement",
    "Problem",
    "Rastrigin",
    "SourceInversion",
    "SourceLoad",
    "SourcePrior",
    "SuiteProblem",
    "composed",
    "edgewise_problem",
    "extremes",
    "nearest_nodes",
    "needle",
    "new_york",
    "new_york_inversion",
    "nodal_problem",
    "open_rectangle_benchmark",
    "placed_anchors",
    "random_field",
    "suite_problem",
]
