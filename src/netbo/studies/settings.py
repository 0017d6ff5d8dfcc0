"""Settings of a study as names and numbers: whoever reads them runs no code."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import asdict, dataclass, fields
from typing import Any

import numpy as np

from netbo.checks import require_positive
from netbo.errors import StudyError
from netbo.fem import FiniteElementSpace
from netbo.geometry import PLACE_TOLERANCE, MetricGraph, Points, as_places
from netbo.optimize import (
    CandidatePlaces,
    Continuum,
    Design,
    Forbidden,
    KMedian,
    Maximin,
    Metric,
    Nodes,
    Optimizer,
    RandomDesign,
    SearchSpace,
)
from netbo.optimize.arguments import CONTINUUM, Candidates
from netbo.optimize.presets import PRESETS

ASKING_SECONDS = 120.0  # a worker that needs longer for one suggestion is taken for dead
_TEXTS = ("preset", "acquisition", "direction", "candidates")
_PLAIN = (str, int, float, bool, type(None))
_DESIGNS: dict[str, type[RandomDesign | KMedian]] = {"random": RandomDesign, "k-median": KMedian}
_WRITTEN = {"candidates": dict, "design": dict}  # settings that may be JSON objects


@dataclass(frozen=True, slots=True, kw_only=True)
class StudySettings:
    """Settings that a study stores beside its network and trials; names as in `Optimizer`.

    Raises
    ------
    StudyError
        A setting is neither a name nor a number, or a lease is not a positive time.

    Examples
    --------
    >>> StudySettings(noise=0.01, direction="minimize").as_dict()["direction"]
    'minimize'
    """

    preset: str = "robust"
    acquisition: str | None = None
    noise: float | None = None
    direction: str = "maximize"
    seed: int = 0
    repeats: bool | None = None
    separation: float | None = None  # None: as the preset has it
    max_cell: float | None = None
    alpha: float | None = (
        None  # of the preset's network kernel, as constant_variance; None: as the preset has it
    )
    constant_variance: bool | None = None
    design: int | dict[str, Any] | None = None  # how many places; or what `write_design` gives
    candidates: dict[str, Any] | None = None
    lease: float | None = None  # seconds that a suggestion belongs to whoever asked; None: until it is told
    asking_lease: float = ASKING_SECONDS  # seconds that computing a suggestion may take

    def __post_init__(self) -> None:
        for field in fields(self):
            value = getattr(self, field.name)
            if not isinstance(value, (*_PLAIN, _WRITTEN.get(field.name, str))):
                raise StudyError(
                    f"a study stores {field.name} as a name or a number, got {type(value).__name__}; "
                    f"{_advice(field.name)}"
                )
            if isinstance(value, str) and field.name not in _TEXTS:
                raise StudyError(f"a study stores {field.name} as a number, got {value!r}")
        require_seconds(self.lease, "lease", or_none=True)
        require_seconds(self.asking_lease, "asking_lease")

    @classmethod
    def of(cls, graph: MetricGraph, candidates: Candidates = None, **options: Any) -> StudySettings:
        """Settings from the arguments of `Study.create`."""
        names = {field.name for field in fields(cls)}
        unknown = sorted(set(options) - names)
        if unknown:
            raise StudyError(f"a study has no setting {unknown[0]!r}; there are {', '.join(sorted(names))}")
        plain = {key: _plain(value) for key, value in options.items()}
        plain["design"] = write_design(plain.get("design"))
        return cls(candidates=write_candidates(candidates, graph), **plain)

    def as_dict(self) -> dict[str, Any]:
        """Settings as a JSON object."""
        return asdict(self)

    @classmethod
    def from_dict(cls, written: Any) -> StudySettings:
        """Settings from what `as_dict` gave; anything else is refused."""
        names = {field.name for field in fields(cls)}
        if not isinstance(written, Mapping) or not set(written) <= names:
            extra = sorted(set(written) - names) if isinstance(written, Mapping) else type(written).__name__
            raise StudyError(f"the settings of the study cannot be read, got {extra}; it needs a later netbo")
        return cls(**written)

    def optimizer(self, graph: MetricGraph) -> Optimizer:
        """Optimizer with these settings and no trials."""
        return Optimizer(
            graph,
            preset=self.preset,
            acquisition=self.acquisition,
            candidates=read_candidates(self.candidates, graph),
            design=read_design(self.design),
            noise=self.noise,
            direction=self.direction,
            seed=self.seed,
            repeats=self.repeats,
            separation=self.separation,
            max_cell=self.max_cell,
            alpha=self.alpha,
            constant_variance=self.constant_variance,
        )


def write_design(design: Any) -> Any:
    """Initial design as JSON: how many places, or kind and size."""
    if isinstance(design, Maximin):
        return {"kind": "maximin", "size": int(design.size), "metric": design.metric.value}
    for kind, made in _DESIGNS.items():
        if isinstance(design, made):
            return {"kind": kind, "size": int(design.size)}
    return design


def read_design(written: int | dict[str, Any] | None) -> Design | int | None:
    """Initial design from what `write_design` gave."""
    if not isinstance(written, dict):
        return written
    try:
        if written["kind"] == "maximin":
            return Maximin(written["size"], Metric(written["metric"]))
        if written["kind"] in _DESIGNS:
            return _DESIGNS[written["kind"]](written["size"])
    except (KeyError, TypeError, ValueError) as cause:
        raise StudyError(f"the design of the study cannot be read: {cause}") from cause
    raise StudyError(
        f"the design of the study is of unknown kind {written['kind']!r}; it needs a later netbo"
    )


def write_candidates(candidates: Candidates, graph: MetricGraph) -> dict[str, Any] | None:
    """Candidates as JSON: edge numbers and distances; None means all nodes of the mesh."""
    if candidates is None:
        return None
    if isinstance(candidates, str):
        if candidates != CONTINUUM:
            raise StudyError(f"candidates by name can only be {CONTINUUM!r}, got {candidates!r}")
        return {"kind": CONTINUUM}
    if isinstance(candidates, list | tuple):
        candidates = as_places(candidates, graph)
    if isinstance(candidates, SearchSpace) and not graph.has_edges_of(candidates.graph):
        raise StudyError(
            f"candidates must lie on {graph!r}, got some on {candidates.graph!r}; build them anew"
        )
    if isinstance(candidates, Points | CandidatePlaces):
        bound = graph.bind(candidates if isinstance(candidates, Points) else candidates.points)
        return {"kind": "points", "edge": bound.edge.tolist(), "distance": bound.z.tolist()}
    if isinstance(candidates, Forbidden):
        return {"kind": "nodes", **_write_forbidden(candidates, graph)}
    if isinstance(candidates, Nodes):
        cells = candidates.space.cells.tolist()
        return {"kind": "mesh", "cells": cells, **_write_forbidden(candidates.forbidden, graph)}
    if isinstance(candidates, Continuum):
        return {
            "kind": CONTINUUM,
            "spacing": None if candidates.spacing is None else float(candidates.spacing),
            "n_points": int(candidates.n_points),
            "n_brackets": int(candidates.n_brackets),
            "rounds": candidates.rounds,
            "arms": candidates.arms,
            **_write_forbidden(candidates.forbidden, graph),
        }
    raise StudyError(
        f"a study stores candidates as points, nodes, what is forbidden or the continuum, got "
        f"{type(candidates).__name__}; pass its points"
    )


def read_candidates(written: dict[str, Any] | None, graph: MetricGraph) -> Candidates:
    """Candidates from what `write_candidates` gave."""
    if written is None:
        return None
    try:
        kind = written["kind"]
        if kind == "points":
            return Points(np.array(written["edge"]), np.array(written["distance"]), graph=graph)
        forbidden = _read_forbidden(written, graph)
        if kind == "nodes":
            return forbidden
        if kind == "mesh":
            return Nodes(FiniteElementSpace(graph, np.array(written["cells"])), forbidden)
        if kind == CONTINUUM:
            keys = ("spacing", "n_points", "n_brackets", "rounds", "arms")
            options = {key: written[key] for key in keys if key in written}
            return Continuum(graph, forbidden=forbidden, **options)
    except (KeyError, TypeError, ValueError, IndexError) as cause:
        raise StudyError(f"the candidates of the study cannot be read: {cause}") from cause
    raise StudyError(f"the candidates of the study are of unknown kind {kind!r}; it needs a later netbo")


def _write_forbidden(forbidden: Forbidden, graph: MetricGraph) -> dict[str, Any]:
    """Numbers of edges, and stretches of them: those of the graph, whatever the user's edges are."""
    _, edge, start, end = graph.intervals(forbidden.edges)
    is_whole = (start == 0) & (end == graph.lengths[edge])
    parts = [(edge[~is_whole], start[~is_whole], end[~is_whole])]
    parts += [graph.intervals([name], first, last)[1:] for name, first, last in forbidden.stretches]
    places = Forbidden(vertices=forbidden.vertices).intervals(graph)
    parts += [(places.edge, places.start, places.end)]
    stretches = [list(each) for part in parts for each in zip(*(c.tolist() for c in part), strict=True)]
    return {"edges": edge[is_whole].tolist(), "stretches": stretches}


def _read_forbidden(written: dict[str, Any], graph: MetricGraph) -> Forbidden:
    whole = [(int(edge), 0.0, float(graph.lengths[int(edge)])) for edge in written.get("edges", [])]
    listed = np.array([*whole, *written.get("stretches", [])], dtype=np.float64).reshape(-1, 3)
    edge, start, end = listed[:, 0].astype(np.int64), listed[:, 1], listed[:, 2]
    if (start > end).any() or (end > graph.lengths[edge] * (1 + PLACE_TOLERANCE)).any():
        raise ValueError("a stretch does not lie within its edge")  # becomes a StudyError
    number, row, first, last = graph.address_table.stretches(edge, start, end)
    table, edges, stretches = graph.address_table, [], []
    for is_listed_whole, link, begin, stop in zip(
        (number < len(whole)).tolist(), row.tolist(), first.tolist(), last.tolist(), strict=True
    ):
        if is_listed_whole and (begin, stop) == (0.0, float(table.lengths[link])):
            edges.append(table.ids[link])
        else:
            stretches.append((table.ids[link], begin, stop))
    return Forbidden(edges=edges, stretches=stretches)


def require_seconds(seconds: Any, name: str, *, or_none: bool = False) -> None:
    """Raise StudyError unless `seconds` is a positive, finite number."""
    if seconds is None and or_none:
        return
    never = ", or None for one that never ends" if or_none else ""
    kind = f"a positive number of seconds{never}"
    require_positive(name, seconds, "3600 is an hour", kind=kind, error=StudyError)


def _plain(value: Any) -> Any:
    """Python scalar of a numpy scalar."""
    return value.item() if type(value).__module__ == "numpy" and getattr(value, "ndim", 1) == 0 else value


def _advice(name: str) -> str:
    if name == "preset":
        return f"the presets are {', '.join(PRESETS)}"
    if name == "acquisition":
        return "pass one of the names that Optimizer takes"
    if name == "design":
        return "pass its size, a KMedian, a Maximin or a RandomDesign"
    return "objects that are code cannot be stored: use netbo.Optimizer for those"
