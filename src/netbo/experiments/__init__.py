"""Replicated experiments on problems with known maxima: specs, runs, metrics; the figures of the paper."""

from netbo.experiments.cell import COLUMNS, Cell, Run, run_cell
from netbo.experiments.comparison import Comparison, compare
from netbo.experiments.definitions import DEFINITIONS, definition, read_spec
from netbo.experiments.runner import claim_folder, run_experiment
from netbo.experiments.searcher import Method, Searcher
from netbo.experiments.spec import Spec
from netbo.experiments.workers import Workers, open_workers

__all__ = [
    "COLUMNS",
    "DEFINITIONS",
    "Cell",
    "Comparison",
    "Method",
    "Run",
    "Searcher",
    "Spec",
    "Workers",
    "claim_folder",
    "compare",
    "definition",
    "open_workers",
    "read_spec",
    "run_cell",
    "run_experiment",
]
