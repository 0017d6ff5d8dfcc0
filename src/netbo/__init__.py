"""Bayesian optimization on networks: where along this network is it worst, best, failing."""

from netbo import errors
from netbo.fem import FiniteElementSpace
from netbo.geometry import (
    MetricGraph,
    Point,
    Points,
    circle,
    grid,
    interval,
    merge_vertices,
    narrow_rectangle,
    open_rectangle,
    road,
    star,
    telecom,
    uniform_points,
)
from netbo.optimize import Forbidden, Optimizer, Result, Suggestion, maximize, minimize
from netbo.posterior import (
    ESTIMATED,
    Amplitude,
    Fit,
    FitBounds,
    Observations,
    Posterior,
    condition,
    fit_parameters,
)
from netbo.priors import Matern, Prior, euclidean_matern, spectral, whittle_matern

__version__ = "0.1.0"

__all__ = [
    "ESTIMATED",
    "Amplitude",
    "FiniteElementSpace",
    "Fit",
    "FitBounds",
    "Forbidden",
    "Matern",
    "MetricGraph",
    "Observations",
    "Optimizer",
    "Point",
    "Points",
    "Posterior",
    "Prior",
    "Result",
    "Suggestion",
    "circle",
    "condition",
    "errors",
    "euclidean_matern",
    "fit_parameters",
    "grid",
    "interval",
    "maximize",
    "merge_vertices",
    "minimize",
    "narrow_rectangle",
    "open_rectangle",
    "road",
    "spectral",
    "star",
    "telecom",
    "uniform_points",
    "whittle_matern",
]
