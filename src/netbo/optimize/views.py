"""What an optimizer knows as functions of places: mean, standard deviation, acquisition, probability."""

from collections.abc import Callable
from dataclasses import dataclass

from netbo.acquisition import score_function
from netbo.arrays import FloatArray
from netbo.errors import ParameterError
from netbo.geometry import Points
from netbo.optimize.answers.density import MaximizerDensity
from netbo.optimize.optimizer import _ASKING, Optimizer

VIEWS = ("mean", "sd", "acquisition", "probability")


@dataclass(frozen=True, slots=True)
class View:
    """A function of places and what to call it."""

    function: Callable[[Points], FloatArray]
    label: str


def view(optimizer: Optimizer, what: str, label: str | None = None) -> View:
    """One of the four views.

    label: of the values, with their unit.
    """
    if what not in VIEWS:
        raise ParameterError(f"a view must be one of {', '.join(VIEWS)}, got {what!r}")
    if what == "mean":
        return View(optimizer.posterior.mean, label or "posterior mean")
    if what == "sd":
        return View(optimizer.posterior.std, _of("standard deviation", label))
    if what == "acquisition":
        name = type(optimizer.acquisition).__name__
        return View(next_scores(optimizer), f"acquisition ({name})")
    unit = optimizer.graph.unit or "unit of length"
    kind = {"maximize": "maximum", "minimize": "minimum"}[optimizer.direction]
    return View(density(optimizer), f"probability of the {kind} per {unit}")


def density(optimizer: Optimizer) -> MaximizerDensity:
    """Where the best value may be; as `modes` and `search_list` see it."""
    return MaximizerDensity.of(optimizer.maximizer(), optimizer.search)


def next_scores(optimizer: Optimizer) -> Callable[[Points], FloatArray]:
    """The scores by which the next place will be chosen: after the design, ask() takes their maximum.

    Thompson sampling draws a function; on a mesh it is the very one that ask() will maximize.
    """
    acquisition = optimizer.acquisition
    surrogate = optimizer._imagining() if acquisition.hallucinates else optimizer.upright
    rng = optimizer._stream(_ASKING, optimizer.history.n_asked)
    return score_function(acquisition, surrogate, rng)


def _of(what: str, label: str | None) -> str:
    return what if label is None else f"{what} of {label}"
