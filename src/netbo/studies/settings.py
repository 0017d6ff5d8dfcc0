"""Settings of a study as names and numbers: whoever reads them runs no code."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import asdict, dataclass, fields
from typing import Any

import numpy as np

from netbo.checks import require_positive
from netbo.errors import StudyError
from netbo.geometry import MetricGraph, Points
from netbo.optimize import Continuum, Forbidden, Maximin, Optimizer, SearchSpace
from netbo.optimize.presets import PRESETS

CONTINUUM = "continuum"  # the name of Continuum() in arguments and files
ASKING_SECONDS = 120.0  # a worker that needs longer for one suggestion is taken for dead
_TEXTS = ("preset", "acquisition", "direction", "candidates")
_PLAIN = (str, int, float, bool, type(None))

Candidates = SearchSpace | Points | Forbidden | None


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

    preset: str = "calibrated"
    acquisition: str | None = None
    noise: float | None = None
    direction: str = "maximize"
    seed: int = 0
    repeats: bool | None = None
    separation: float = 0.0
    max_cell: float | None = None
    design: int | None = None  # size of a maximin design
    candidates: dict[str, Any] | None = None
    lease: float | None = None  # seconds that a suggestion belongs to whoever asked; None: until it is told
    asking_lease: float = ASKING_SECONDS  # seconds that computing a suggestion may take

    def __post_init__(self) -> None:
        for field in fields(self):
            value = getattr(self, field.name)
            if field.name != "candidates" and not isinstance(value, _PLAIN):
                raise StudyError(
                    f"a study stores {field.name} as a name or a number, got {type(value).__name__}; "
                    f"{_advice(field.name)}"
                )
            if isinstance(value, str) and field.name not in _TEXTS:
                raise StudyError(f"a study stores {field.name} as a number, got {value!r}")
        if self.separation is None:
            raise StudyError("separation must be a length, got None; 0 lets places be as close as they like")
        require_seconds(self.lease, "lease", or_none=True)
        require_seconds(self.asking_lease, "asking_lease")

    @classmethod
    def of(cls, graph: MetricGraph, candidates: Candidates | str = None, **options: Any) -> StudySettings:
        """Settings from the arguments of `Study.create`."""
        names = {field.name for field in fields(cls)}
        unknown = sorted(set(options) - names)
        if unknown:
            raise StudyError(f"a study has no setting {unknown[0]!r}; there are {', '.join(sorted(names))}")
        plain = {key: _plain(value) for key, value in options.items()}
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
            design=None if self.design is None else Maximin(self.design, _metric(self.preset)),
            noise=self.noise,
            direction=self.direction,
            seed=self.seed,
            repeats=self.repeats,
            separation=self.separation,
            max_cell=self.max_cell,
        )


def write_candidates(candidates: Candidates | str, graph: MetricGraph) -> dict[str, Any] | None:
    """Candidates as JSON: edge numbers and distances; None means all nodes of the mesh."""
    if candidates is None:
        return None
    if isinstance(candidates, str):
        if candidates != CONTINUUM:
            raise StudyError(f"candidates by name can only be {CONTINUUM!r}, got {candidates!r}")
        return {"kind": CONTINUUM}
    if isinstance(candidates, Points):
        bound = graph.bind(candidates)
        return {"kind": "points", "edge": bound.edge.tolist(), "distance": bound.z.tolist()}
    if isinstance(candidates, Forbidden):
        return {"kind": "nodes", **_write_forbidden(candidates, graph)}
    if isinstance(candidates, Continuum):
        return {
            "kind": CONTINUUM,
            "spacing": None if candidates.spacing is None else float(candidates.spacing),
            "n_points": int(candidates.n_points),
            **_write_forbidden(candidates.forbidden, graph),
        }
    raise StudyError(
        f"a study stores candidates as points, what is forbidden or the continuum, got "
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
        if kind == CONTINUUM:
            options = {key: written[key] for key in ("spacing", "n_points") if key in written}
            return Continuum(graph, forbidden=forbidden, **options)
    except (KeyError, TypeError, ValueError, IndexError) as cause:
        raise StudyError(f"the candidates of the study cannot be read: {cause}") from cause
    raise StudyError(f"the candidates of the study are of unknown kind {kind!r}; it needs a later netbo")


def _write_forbidden(forbidden: Forbidden, graph: MetricGraph) -> dict[str, Any]:
    whole = graph.edge_indices(forbidden.edges).tolist() if forbidden.edges != () else []
    stretches = [
        [int(graph.edge_indices([edge_id])[0]), start, end] for edge_id, start, end in forbidden.stretches
    ]
    return {"edges": whole, "stretches": stretches}


def _read_forbidden(written: dict[str, Any], graph: MetricGraph) -> Forbidden:
    ids = graph.edge_ids
    return Forbidden(
        edges=[ids[int(edge)] for edge in written.get("edges", [])],
        stretches=[(ids[int(edge)], start, end) for edge, start, end in written.get("stretches", [])],
    )


def require_seconds(seconds: Any, name: str, *, or_none: bool = False) -> None:
    """Raise StudyError unless `seconds` is a positive, finite number."""
    if seconds is None and or_none:
        return
    never = ", or None for one that never ends" if or_none else ""
    kind = f"a positive number of seconds{never}"
    require_positive(name, seconds, "3600 is an hour", kind=kind, error=StudyError)


def _metric(preset: str) -> Any:
    design = PRESETS[preset].design if preset in PRESETS else None
    return design.metric if isinstance(design, Maximin) else Maximin().metric


def _plain(value: Any) -> Any:
    """Python scalar of a numpy scalar."""
    return value.item() if type(value).__module__ == "numpy" and hasattr(value, "item") else value


def _advice(name: str) -> str:
    if name == "preset":
        return f"the presets are {', '.join(PRESETS)}"
    if name == "acquisition":
        return "pass one of the names that Optimizer takes"
    if name == "design":
        return "pass its size"
    return "objects that are code cannot be stored: use netbo.Optimizer for those"
