"""Bayesian optimization on networks: where along this network is it worst, best, failing.

Names and submodules are loaded when they are first used: importing the package costs next to nothing, and
nothing is compiled before a network or a prior is made.
"""

from importlib import import_module
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from netbo import errors as errors
    from netbo.adapters import Network, NetworkReport, read
    from netbo.experiments import compare
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
    from netbo.priors import Matern, Prior, edgewise_matern, euclidean_matern, spectral, whittle_matern
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
    "compare",
    "condition",
    "edgewise_matern",
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

_HOMES = {
    "geometry": "MetricGraph Point Points circle grid interval merge_vertices narrow_rectangle "
    "open_rectangle road star telecom uniform_points",
    "fem": "FiniteElementSpace",
    "adapters": "Network NetworkReport read",
    "priors": "Matern Prior edgewise_matern euclidean_matern spectral whittle_matern",
    "posterior": "ESTIMATED Amplitude Fit FitBounds Observations Posterior condition fit_parameters",
    "optimize": "Forbidden Optimizer Result Suggestion maximize minimize",
    "studies": "Study",
    "experiments": "compare",
}
_HOME_OF = {name: home for home, names in _HOMES.items() for name in names.split()}
_SUBMODULES = {
    *_HOMES, "acquisition", "arrays", "errors", "integrations", "linalg", "plotting",
    "problems", "testing",
}  # fmt: skip


def __getattr__(name: str) -> Any:
    if name in _HOME_OF:
        found = getattr(import_module(f"netbo.{_HOME_OF[name]}"), name)
    elif name in _SUBMODULES:
        found = import_module(f"netbo.{name}")
    else:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    globals()[name] = found  # the next look-up finds it without coming here
    return found


def __dir__() -> list[str]:
    return sorted({*__all__, *_SUBMODULES, "__version__"})
