"""All trials of a study as a table for people."""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

from netbo.studies.records import Record

if TYPE_CHECKING:
    import pandas as pd

COLUMNS = (
    "edge", "distance", "value", "noise", "status", "worker", "began", "ended", "asked_edge",
    "asked_distance", "stands_for", "note",
)  # fmt: skip


def trials_table(records: Sequence[Record]) -> pd.DataFrame:
    """One row a trial, by id: where, what, by whom, when (UTC), and whose place it took over."""
    import pandas as pd  # noqa: PLC0415 - a table is for people

    rows = [_row(record) for record in records]
    index = pd.Index([record.id for record in records], name="id", dtype="int64")
    table = pd.DataFrame(rows, columns=list(COLUMNS), index=index, dtype=object)  # ids stay what they are
    table = table.astype(dict.fromkeys(("distance", "value", "noise", "asked_distance"), float))
    for name in ("began", "ended"):
        table[name] = pd.to_datetime(table[name].astype(float), unit="s", utc=True)
    return table.astype({"stands_for": "Int64"})


def _row(record: Record) -> dict[str, Any]:
    point, asked = record.point, record.asked
    return {
        "edge": None if point is None else point.edge_id,
        "distance": math.nan if point is None else point.distance,
        "value": math.nan if record.value is None else record.value,
        "noise": math.nan if record.noise is None else record.noise,
        "status": record.state.value,
        "worker": record.worker,
        "began": record.began,
        "ended": record.ended,
        "asked_edge": None if asked is None else asked.edge_id,
        "asked_distance": math.nan if asked is None else asked.distance,
        "stands_for": record.stands_for,
        "note": record.note,
    }
