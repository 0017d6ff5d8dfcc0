"""Bayesian optimization on networks: where along this network is it worst, best, failing."""

from typing import TYPE_CHECKING, Any

from netbo import errors
from netbo.adapters import Network, NetworkReport, read
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

if TYPE_CHECKING:
    from netbo.studies import Study

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
    "Network",
    "NetworkReport",
    "Observations",
    "Optimizer",
    "Point",
    "Points",
    "Posterior",
    "Prior",
    "Result",
    "Study",
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
    "read",
    "road",
    "spectral",
    "star",
    "telecom",
    "uniform_points",
    "whittle_matern",
]


def __getattr__(name: str) -> Any:
    """Studies are loaded when they are asked for: their storages take a while to import."""
    if name == "Study":
        from netbo.studies import Study  # noqa: PLC0415

        return Study
    raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
