"""What callers pass, turned into objects: options, domains, names as text, measured values."""

import math
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import replace
from difflib import get_close_matches
from inspect import Parameter, signature
from pathlib import Path
from typing import Any, Literal, TypedDict, TypeVar

import numpy as np

from netbo.acquisition import (
    Acquisition,
    FixedWidth,
    LogExpectedImprovement,
    MaxVariance,
    NoisyExpectedImprovement,
    RandomSearch,
    RestlessImprovement,
    ThompsonSampling,
    UpperConfidenceBound,
    ValidWidth,
)
from netbo.adapters import Network, read
from netbo.adapters.read import recognise
from netbo.checks import is_number, is_whole, optional_line
from netbo.errors import (
    NetworkError,
    ObservationError,
    OptionError,
    ParameterError,
    PointError,
    shown,
)
from netbo.fem import FiniteElementSpace
from netbo.geometry import MetricGraph, Point, Points, as_place, as_places, is_pair
from netbo.optimize.continuum import Continuum
from netbo.optimize.design import Design, default_size
from netbo.optimize.learning import Learned, Learning
from netbo.optimize.models import EdgewiseMatern, Given, MeshFreeMatern, Model, NetworkMatern
from netbo.optimize.presets import PRESETS, Preset
from netbo.optimize.search_space import CandidatePlaces, Forbidden, Nodes, SearchSpace
from netbo.optimize.trials import Suggestion, Told
from netbo.priors import Prior

FAILED = "failed"  # said instead of a value
CONTINUUM: Literal["continuum"] = "continuum"  # the name of Continuum()

Candidates = SearchSpace | Points | Forbidden | Literal["continuum"] | Sequence[Any] | None


class SearchOptions(TypedDict, total=False):
    """Options that can be written down, for whoever makes an optimizer; `Optimizer` explains them."""

    candidates: Candidates
    design: Design | int | None
    noise: float | None
    repeats: bool | None
    separation: float | None
    max_cell: float | None
    alpha: float | None
    constant_variance: bool | None


class OptimizerOptions(SearchOptions, total=False):
    """All options of an optimizer but its direction, seed and history."""

    preset: Preset | str
    acquisition: Acquisition | str | None
    fit: Learning | None
    value_unit: str | None


def require_options(options: Mapping[str, object], function: Callable[..., object], name: str) -> None:
    """Refuse options that a function, which passes them on to an optimizer, does not have."""
    named = signature(function).parameters.values()
    known = [parameter.name for parameter in named if parameter.kind is Parameter.KEYWORD_ONLY]
    known += OptimizerOptions.__annotations__
    for option, value in options.items():
        if option not in known:
            close = get_close_matches(option, known, 1)
            advice = f"did you mean {close[0]}?" if close else "leave it out"
            raise OptionError(
                f"options of {name} are {', '.join(known)}, got {option}={shown(value)}; {advice}"
            )


# Values and places as they are told.


def as_told(value: Any, noise: Any = None, note: str = "") -> Told:
    """One value with its noise variance; NaN, None and 'failed' are failures, infinities are refused."""
    variance = _as_own_noise(noise)
    if value is None or (isinstance(value, str) and value == FAILED):
        return Told(None, variance, note)
    if not is_number(value):
        raise ObservationError(f"a value must be a number, NaN or 'failed', got {shown(value)}; pass a float")
    number = float(value)
    if math.isinf(number):
        raise ObservationError(
            f"a value must be finite, got {number}; tell NaN or 'failed' if the measurement failed"
        )
    return Told(None if math.isnan(number) else number, variance, note)


def _as_own_noise(noise: Any) -> float | None:
    if noise is None:
        return None
    if not is_number(noise):
        raise ObservationError(f"noise must be a variance, got {shown(noise)}; pass a float")
    variance = float(noise)
    if math.isnan(variance):
        return None
    if not 0 < variance < math.inf:
        raise ObservationError(
            f"noise must be a positive variance, got {variance}; leave it out if it is that of all values"
        )
    return variance


def as_subjects(subject: Any, graph: MetricGraph) -> tuple[list[int | Point], bool]:
    """Trial ids and places meant by what was passed to tell, and whether it was one thing."""
    if isinstance(subject, Points):
        return list(graph.bind(subject)), False
    if isinstance(subject, Suggestion | Point) or is_whole(subject):
        return [_as_subject(subject, graph)], True
    if isinstance(subject, str) and graph.has_vertex(subject):
        return [as_place(subject, graph)], True
    if isinstance(subject, str) or not isinstance(subject, Iterable):
        raise ObservationError(
            f"tell needs a suggestion, its id or a point, got {shown(subject)}; pass what ask() returned"
        )
    return [_as_subject(each, graph) for each in subject], False


def _as_subject(subject: Any, graph: MetricGraph) -> int | Point:
    if isinstance(subject, Suggestion):
        return subject.id
    if is_whole(subject):
        return int(subject)
    return as_place(subject, graph)


def spread(values: Any, n: int, is_single: bool, name: str) -> Sequence[Any]:
    """One entry for each of n trials."""
    if name == "at" and is_single and is_pair(values):
        return [values]
    if is_single and (not isinstance(values, list | tuple | np.ndarray) or is_number(values)):
        return [values]
    is_one = isinstance(values, str | Point) or not isinstance(values, Iterable) or is_number(values)
    if is_one:
        return [values] * n if name != "values" or n == 1 else _refuse(values, n)
    listed = list(values)
    if len(listed) != n:
        raise ObservationError(f"{name} must be one for each of {n} trials, got {len(listed)}")
    return listed


def _refuse(values: Any, n: int) -> Sequence[Any]:
    raise ObservationError(f"values must be one for each of {n} trials, got {shown(values)}; pass a sequence")


# Names of presets, acquisitions and directions; numbers.


ACQUISITIONS: Mapping[str, Callable[[], Acquisition]] = {
    "ucb": lambda: UpperConfidenceBound(ValidWidth()),
    "thompson": lambda: ThompsonSampling(FixedWidth(1.0)),
    "noisy-ei": NoisyExpectedImprovement,
    "restless": RestlessImprovement,
    "log-ei": LogExpectedImprovement,
    "max-variance": MaxVariance,
    "random": RandomSearch,
}
DIRECTIONS = {"maximize": 1, "minimize": -1}
T = TypeVar("T")


def as_preset(preset: Preset | str) -> Preset:
    """A preset, by itself or by name."""
    return preset if isinstance(preset, Preset) else _named("preset", preset, PRESETS)


def as_acquisition(acquisition: Acquisition | str) -> Acquisition:
    """An acquisition, by itself or by name."""
    if isinstance(acquisition, Acquisition):
        return acquisition
    return _named("acquisition", acquisition, ACQUISITIONS)()


def as_sign(direction: str) -> int:
    """+1 to maximize, -1 to minimize."""
    return _named("direction", direction, DIRECTIONS)


def _named(what: str, name: Any, known: Mapping[str, T]) -> T:
    if not isinstance(name, str) or name not in known:
        raise ParameterError(f"{what} must be one of {', '.join(known)}, or an object, got {shown(name)}")
    return known[name]


def as_noise(noise: float | None) -> float | None:
    """The noise variance of all values; 0 says that they are exact, None that it is learned."""
    if noise is None:
        return None
    if not is_number(noise) or not 0 <= noise < math.inf:
        raise ParameterError(
            f"noise must be a variance, 0.0 for exact values or None to learn it, got {shown(noise)}; "
            "square a standard deviation"
        )
    return float(noise)


def as_value_unit(unit: Any) -> str | None:
    """The unit of the values, for people; None if it was not said."""
    return optional_line("value_unit", unit, "write it as on an axis, as in 'l/s'")


# What an optimizer works on: a mesh, a way to learn, an initial design and a search space.


Domain = Any  # Network, MetricGraph, FiniteElementSpace or Prior, or whatever `read` takes

USUAL_NODES = 2_000  # of a mesh nobody asked for
LEAST_CELLS = 2  # of an edge, so that every edge has a candidate of its own


def as_network_given(domain: Domain) -> Network | None:
    """The network that was given, or is read from a file or an object; None for anything else.

    What its report warns of is shown, once for each network.
    """
    if isinstance(domain, MetricGraph | FiniteElementSpace | Prior):
        return None
    if not isinstance(domain, Network | str | Path):
        try:
            recognise(domain)
        except NetworkError:  # as_domain says what is expected
            return None
    network = read(domain)
    network.warn()
    return network


def usual_mesh(graph: MetricGraph, max_cell: float | None = None) -> FiniteElementSpace:
    """A mesh of about 2,000 nodes with at least two cells an edge, or of the cell size asked for."""
    if max_cell is not None:
        return FiniteElementSpace.build(graph, max_cell=max_cell, min_cells=LEAST_CELLS)
    fewest = graph.n_vertices + (LEAST_CELLS - 1) * graph.n_edges
    return FiniteElementSpace.build(graph, n_nodes=max(USUAL_NODES, fewest), min_cells=LEAST_CELLS)


def as_domain(
    domain: Domain, fit: Learning, *, is_given: bool, max_cell: float | None
) -> tuple[FiniteElementSpace, Learning]:
    """The mesh, and the way to learn; a prior takes the place of the models, unless `fit` was given."""
    if isinstance(domain, Network):
        return usual_mesh(domain.graph, max_cell), fit
    if isinstance(domain, MetricGraph):
        return usual_mesh(domain, max_cell), fit
    if isinstance(domain, FiniteElementSpace):
        _refuse_cells(max_cell)
        return domain, fit
    if not isinstance(domain, Prior):
        raise ParameterError(
            f"an optimizer needs a network, a mesh or a prior, got {type(domain).__name__}; "
            "read a network with netbo.read(path) or make one with MetricGraph(tails, heads, lengths)"
        )
    if is_given:
        raise ParameterError(
            "a prior as domain says what is learned, got fit= as well; "
            "put the prior into it, as in Learned(models=(Given(prior),)), and pass its network"
        )
    space = getattr(domain, "space", None)
    if not isinstance(space, FiniteElementSpace):
        space = usual_mesh(domain.graph, max_cell)
    else:
        _refuse_cells(max_cell)
    if not isinstance(fit, Learned):
        raise ParameterError("a prior as domain needs a preset that learns, got one that does not")
    return space, replace(fit, models=(Given(domain),))


def with_kernel(
    fit: Learning, alpha: float | None, constant_variance: bool | None, *, is_own: bool
) -> Learning:
    """The preset's way to learn with another smoothness or variance of its network kernel; `is_own`: none."""
    wanted: dict[str, Any] = {"alpha": alpha, "constant_variance": constant_variance}
    wanted = {name: value for name, value in wanted.items() if value is not None}
    if not wanted:
        return fit
    if not isinstance(constant_variance, bool | None):
        raise ParameterError(f"constant_variance must be True or False, got {constant_variance!r:.80}")
    models = () if is_own or not isinstance(fit, Learned) else fit.models
    if not any(isinstance(model, NetworkMatern | MeshFreeMatern) for model in models):
        raise ParameterError(
            f"only the network kernel of a preset is changed by {' and '.join(wanted)}, got a surrogate "
            "without one or of your own; leave it out: a kernel of your own says so itself"
        )
    if alpha is not None:  # one smoothness, every one of which the network itself bears
        models = tuple(model for model in models if not _jumps(model))
    changed = [
        replace(model, **wanted) if isinstance(model, NetworkMatern | MeshFreeMatern) else model
        for model in models
    ]
    return replace(fit, models=tuple(dict.fromkeys(changed)))  # type: ignore[type-var]


def _jumps(model: Model) -> bool:
    """Whether a model has values that jump at junctions."""
    return isinstance(model, EdgewiseMatern) or bool(getattr(model, "junction_gap", 0.0))


def _refuse_cells(max_cell: float | None) -> None:
    if max_cell is not None:
        raise ParameterError(f"max_cell makes a mesh, got {max_cell} and a mesh; pass the network instead")


def as_design(design: Design | int | None, preset: Preset, graph: MetricGraph) -> Design:
    """An initial design: by itself, the preset's own, or one of the preset's kind with so many places."""
    usual = preset.design
    if isinstance(usual, type):
        usual = usual(default_size(graph, usual().size))
    if design is None:
        return usual
    if isinstance(design, int | np.integer) and is_whole(design):
        try:
            return replace(usual, size=int(design))  # type: ignore[type-var]
        except TypeError as cause:
            raise ParameterError(
                f"a number as design needs a preset whose design has a size to set, got {shown(usual)}; "
                f"pass a design, as in Maximin({design})"
            ) from cause
    if not isinstance(design, Design):
        raise ParameterError(
            f"design must be a design or how many places it has, got {shown(design)}; pass 8"
        )
    return design


def as_search(
    candidates: Candidates,
    space: FiniteElementSpace,
    *,
    everywhere: bool = False,
    max_cell: float | None = None,
) -> SearchSpace:
    """Where an optimizer may ask: the nodes, those not forbidden, places of one's own, or everywhere."""
    if candidates is None:
        candidates = Forbidden()
    if isinstance(candidates, str) and candidates == CONTINUUM:
        return Continuum(space.graph)
    if isinstance(candidates, Forbidden):
        if not everywhere:
            return Nodes(space, candidates)
        return Continuum(
            space.graph,
            forbidden=candidates,
            spacing=max_cell,
            n_points=USUAL_NODES,
            n_brackets=1,
            rounds=1,
            arms=True,
        )
    if isinstance(candidates, list | tuple):
        try:
            candidates = as_places(candidates, space.graph)
        except PointError as cause:
            raise ParameterError(
                f"candidates must be points, what is forbidden, a search space or 'continuum', got "
                f"{shown(candidates)}: {cause}"
            ) from cause
    if isinstance(candidates, Points):
        return CandidatePlaces(space.graph, candidates)
    if not isinstance(candidates, SearchSpace):
        raise ParameterError(
            f"candidates must be points, what is forbidden, a search space or 'continuum', got "
            f"{shown(candidates)}; make points with graph.points(edges, distances)"
        )
    if not space.graph.has_edges_of(candidates.graph):
        raise ParameterError(
            f"candidates must lie on {space.graph!r}, got some on {candidates.graph!r}; build them anew"
        )
    return candidates
