"""Where to measure next: IGP-UCB, GP-TS, expected improvement, baselines, and the widths beta_t and v_t."""

from netbo.acquisition.expected_improvement import LogExpectedImprovement
from netbo.acquisition.gp_ts import GpTs
from netbo.acquisition.igp_ucb import IgpUcb
from netbo.acquisition.log_improvement import log_expected_improvement
from netbo.acquisition.max_variance import MaxVariance
from netbo.acquisition.noisy_expected_improvement import NoisyExpectedImprovement
from netbo.acquisition.protocol import Acquisition
from netbo.acquisition.random_search import RandomSearch
from netbo.acquisition.sample_path import SamplePath, draw_path
from netbo.acquisition.score_function import ScoreFunction, score_function
from netbo.acquisition.widths import FixedWidth, PaperWidth, ValidWidth, Width

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
    "SamplePath",
    "ScoreFunction",
    "ValidWidth",
    "Width",
    "draw_path",
    "log_expected_improvement",
    "score_function",
]
