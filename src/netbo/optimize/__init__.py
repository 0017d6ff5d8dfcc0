"""Ask and tell, designs, candidates, batches, answers."""

from netbo.optimize.answers import Mode, SearchList, Stretch
from netbo.optimize.candidates import Forbidden, Nodes, Places, SearchSpace
from netbo.optimize.check import Check
from netbo.optimize.continuum import Continuum
from netbo.optimize.design import Design, Maximin, Metric, RandomDesign
from netbo.optimize.executors import process_pool
from netbo.optimize.history import History, Status, Trial
from netbo.optimize.learning import (
    Combination,
    FixedRegularization,
    GrowingConfidence,
    Known,
    Learned,
    Learning,
    NoiseVariance,
    Outcome,
)
from netbo.optimize.loop import maximize, minimize, run
from netbo.optimize.models import EuclideanMatern, Given, MeshFreeMatern, Model, NetworkMatern, SumOf
from netbo.optimize.optimizer import Best, Optimizer, Recommendation
from netbo.optimize.presets import CALIBRATED, PAPER, PAPER_EUCLIDEAN, Preset
from netbo.optimize.result import Result
from netbo.optimize.stopping import BoundGap, Budget, NoProgress, StopRule, Target
from netbo.optimize.suggestion import Suggestion
from netbo.optimize.summary import Summary

__all__ = [
    "CALIBRATED",
    "PAPER",
    "PAPER_EUCLIDEAN",
    "Best",
    "BoundGap",
    "Budget",
    "Check",
    "Combination",
    "Continuum",
    "Design",
    "EuclideanMatern",
    "FixedRegularization",
    "Forbidden",
    "Given",
    "GrowingConfidence",
    "History",
    "Known",
    "Learned",
    "Learning",
    "Maximin",
    "MeshFreeMatern",
    "Metric",
    "Mode",
    "Model",
    "NetworkMatern",
    "NoProgress",
    "Nodes",
    "NoiseVariance",
    "Optimizer",
    "Outcome",
    "Places",
    "Preset",
    "RandomDesign",
    "Recommendation",
    "Result",
    "SearchList",
    "SearchSpace",
    "Status",
    "StopRule",
    "Stretch",
    "Suggestion",
    "SumOf",
    "Summary",
    "Target",
    "Trial",
    "maximize",
    "minimize",
    "process_pool",
    "run",
]
