"""Where a study may ask, as plain numbers: what is written can be read without running anything."""

from __future__ import annotations

from typing import Any

import numpy as np

from netbo.errors import StudyError
from netbo.geometry import MetricGraph, Points
from netbo.optimize import Continuum, Forbidden, SearchSpace

CONTINUUM = "continuum"  # the name of Continuum() at the public door

Candidates = SearchSpace | Points | Forbidden | None


def write_candidates(candidates: Candidates | str, graph: MetricGraph) -> dict[str, Any] | None:
    """Candidates by edge numbers and distances; None means all nodes of the mesh."""
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
    """The candidates that were written."""
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
