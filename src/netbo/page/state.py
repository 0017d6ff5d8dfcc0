"""Documents of the page: how the study stands, its history, its fields, as JSON for browsers and programs."""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from typing import Any

import numpy as np

from netbo.optimize.arguments import as_sign
from netbo.page.lines import PageLines
from netbo.page.live import LiveStudy
from netbo.page.roles import Holder
from netbo.page.snapshot import Snapshot
from netbo.studies import State, TrialRecord
from netbo.studies.records import Correction

SHORT = {"acquisition": "score"}  # a view, and what programs call it
DONE = (State.OBSERVED, State.FAILED, State.WITHDRAWN)


def state_document(live: LiveStudy, holder: Holder) -> dict[str, Any]:
    """All that changes often and is small."""
    records, snapshot = live.records, live.snapshot
    is_open = (State.PENDING, State.WAITING, State.ASKING)
    return {
        "version": live.version, "study": live.about,
        "me": {"role": holder.role, "name": holder.name},
        "counts": dict(Counter(record.state.value for record in records)),
        "budget": live.rules.budget, "best": best_of(live.study.settings.direction, records),
        "open": trial_rows(live.lines, [r for r in records if r.state in is_open], live.changes),
        "model": model_document(snapshot, records), "trouble": live.trouble,
    }  # fmt: skip


def best_of(direction: str, records: Iterable[TrialRecord]) -> dict[str, Any] | None:
    """The best value observed."""
    known = [r for r in records if r.state is State.OBSERVED and r.value is not None]
    if not known:
        return None
    best = max(known, key=lambda record: as_sign(direction) * (record.value or 0.0))
    return {"id": best.id, "value": best.value}


def model_document(snapshot: Snapshot | None, records: Sequence[TrialRecord]) -> dict[str, Any] | None:
    """What the newest model says, and how many values it does not know yet."""
    if snapshot is None:
        return None
    n_values = sum(record.state is State.OBSERVED for record in records)
    return {**snapshot_document(snapshot), "behind": n_values - snapshot.n_values}


def snapshot_document(snapshot: Snapshot) -> dict[str, Any]:
    """The answers of a model, with the legends of its views."""
    return {
        "id": snapshot.marks, "values": snapshot.n_values, "made": snapshot.made, "took": snapshot.took,
        "legends": snapshot.legends, **snapshot.answers,
    }  # fmt: skip


def trial_rows(
    lines: PageLines, records: Sequence[TrialRecord], changes: Mapping[int, list[Correction]]
) -> list[dict[str, Any]]:
    """One row a trial: where, what, by whom and when, and what was said of it later."""
    placed = [record for record in records if record.point is not None]
    where = lines.described([record.point for record in placed if record.point is not None])
    return [
        {
            "id": record.id, "place": place, "value": record.value, "noise": record.noise,
            "status": record.state.value, "crew": record.worker, "by": record.told_by or record.worker,
            "began": number(record.began), "ended": number(record.ended), "expires": number(record.expires),
            "note": record.note, "asked": record.asked is not None,
            "changes": [
                {name: each.get(name) for name in ("kind", "time", "value", "note", "by") if name in each}
                for each in changes.get(record.id, ())
            ],
        }
        for record, place in zip(placed, where, strict=True)
    ]  # fmt: skip


def number(value: float | None) -> float | None:
    """A number that JSON can hold."""
    return value if value is not None and math.isfinite(value) else None


def field_document(lines: PageLines, snapshot: Snapshot, edges: Iterable[int]) -> dict[str, Any]:
    """The four fields along edges, at the middles of their pieces."""
    pieces = lines.segments
    rows = np.flatnonzero(np.isin(pieces.edge, list(edges)))
    lengths = lines.graph.lengths[pieces.edge[rows]]
    columns = {
        "edge": pieces.edge[rows].tolist(), "from": (pieces.start[rows] * lengths).tolist(),
        "to": (pieces.stop[rows] * lengths).tolist(),
    }  # fmt: skip
    values = {
        SHORT.get(what, what): [number(each) for each in column[rows].tolist()]
        for what, column in snapshot.fields.items()
    }
    return {"values": snapshot.n_values, "made": snapshot.made, **columns, **values}
