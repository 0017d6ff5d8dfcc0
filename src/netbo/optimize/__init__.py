"""Ask and tell, designs, candidates, batches, answers."""

from netbo.optimize.answers import (
    Answers,
    Best,
    Mode,
    Optimum,
    Recommendation,
    Result,
    SearchList,
    Stretch,
    modes,
    search_list,
)
from netbo.optimize.continuum import Continuum
from netbo.optimize.design import Design, KMedian, Maximin, Metric, RandomDesign
from netbo.optimize.evaluation import process_pool
from netbo.optimize.learning import (
    NUGGET,
    Combination,
    FixedRegularization,
    GrowingConfidence,
    Known,
    Learned,
    Learner,
    Learning,
    NoiseVariance,
    Outcome,
    RegularizationRule,
    SurrogateFit,
)
from netbo.optimize.loop import maximize, minimize, run
from netbo.optimize.maximizer import MaximizerSamples, default_draws
from netbo.optimize.models import (
    EdgewiseMatern,
    EuclideanMatern,
    Given,
    MeshFreeMatern,
    Model,
    NetworkMatern,
    SumOf,
)
from netbo.optimize.optimizer import Optimizer
from netbo.optimize.presets import CALIBRATED, PAPER, PAPER_EUCLIDEAN, ROBUST, Preset
from netbo.optimize.search_space import CandidatePlaces, Forbidden, Nodes, Places, SearchSpace
from netbo.optimize.stopping import BoundGap, Budget, NoProgress, StopRule, Target
from netbo.optimize.summary import Check, Summary
from netbo.optimize.trials import History, Status, Suggestion, Trial

__all__ = [
    "CALIBRATED",
    "NUGGET",
    "PAPER",
    "PAPER_EUCLIDEAN",
    "ROBUST",
    "Answers",
    "Best",
    "BoundGap",
    "Budget",
    "CandidatePlaces",
    "Check",
    "Combination",
    "Continuum",
    "Design",
    "EdgewiseMatern",
    "EuclideanMatern",
    "FixedRegularization",
    "Forbidden",
    "Given",
    "GrowingConfidence",
    "History",
    "KMedian",
    "Known",
    "Learned",
    "Learner",
    "Learning",
    "Maximin",
    "MaximizerSamples",
    "MeshFreeMatern",
    "Metric",
    "Mode",
    "Model",
    "NetworkMatern",
    "NoProgress",
    "Nodes",
    "NoiseVariance",
    "Optimizer",
    "Optimum",
    "Outcome",
    "Places",
    "Preset",
    "RandomDesign",
    "Recommendation",
    "RegularizationRule",
    "Result",
    "SearchList",
    "SearchSpace",
    "Status",
    "StopRule",
    "Stretch",
    "Suggestion",
    "SumOf",
    "Summary",
    "SurrogateFit",
    "Target",
    "Trial",
    "default_draws",
    "maximize",
    "minimize",
    "modes",
    "process_pool",
    "run",
    "search_list",
]
