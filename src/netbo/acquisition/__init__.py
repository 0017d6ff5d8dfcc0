"""Where to measure next: IGP-UCB, GP-TS, expected improvement, baselines, and the widths beta_t and v_t."""

from netbo.acquisition.base import Acquisition, ScoreFunction, score_function
from netbo.acquisition.baselines import MaxVariance, RandomSearch
from netbo.acquisition.improvement import (
    LogExpectedImprovement,
    NoisyExpectedImprovement,
    RestlessImprovement,
    log_expected_improvement,
)
from netbo.acquisition.thompson import GpTs, SamplePath, ThompsonSampling, draw_path
from netbo.acquisition.ucb import (
    FixedWidth,
    IgpUcb,
    PaperWidth,
    UpperConfidenceBound,
    ValidWidth,
    Width,
)

__all__ = [
    "Acquisition",
    "FixedWidth",
    "GpTs",
    "IgpUcb",
    "LogExpectedImprovement",
    "MaxVariance",
    "NoisyExpectedImprovement",
    "PaperWidth",
    "RandomSearch",
    "RestlessImprovement",
    "SamplePath",
    "ScoreFunction",
    "ThompsonSampling",
    "UpperConfidenceBound",
    "ValidWidth",
    "Width",
    "draw_path",
    "log_expected_improvement",
    "score_function",
]
