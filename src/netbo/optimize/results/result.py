"""What a run found: the answers of its optimizer, and the record as a table."""

from __future__ import annotations

from dataclasses import dataclass
from html import escape
from typing import TYPE_CHECKING

import numpy as np

from netbo.optimize.answers import Answers
from netbo.optimize.arguments import as_sign
from netbo.optimize.optimizer import Optimizer
from netbo.optimize.trials import Status

if TYPE_CHECKING:
    import pandas as pd


@dataclass(frozen=True, slots=True, eq=False, repr=False)
class Result(Answers):
    """What a run found; its optimizer can be asked and told on.

    It answers as `Optimizer` does: best, recommend, modes, search_list, check, summary, plot, export.

    Attributes
    ----------
    optimizer : Optimizer
        With all trials of the run.
    stopped : str
        Why the run ended.

    Examples
    --------
    >>> import netbo
    >>> result = netbo.maximize(lambda x: x.distance, netbo.interval(3.0), budget=4, noise=0.0)
    >>> result.stopped
    'the budget of 4 evaluations is spent'
    >>> len(result.history)
    4
    """

    optimizer: Optimizer
    stopped: str  # why

    @property
    def history(self) -> pd.DataFrame:
        """All trials, one a row; `best` is the best value among those told up to it."""
        table = self.optimizer.history.table()
        told = table.loc[table["order"].notna()].sort_values("order")
        sign = as_sign(self.optimizer.direction)
        values = told["value"].where(told["status"] == Status.OBSERVED.value).to_numpy(dtype=np.float64)
        table["best"] = np.nan
        table.loc[told.index, "best"] = sign * np.fmax.accumulate(sign * values)
        return table

    def __repr__(self) -> str:
        history, unit = self.optimizer.history, self.optimizer.graph.unit
        if not history.having(Status.OBSERVED):
            return f"Result(no value; {history!r}; stopped: {self.stopped})"
        best = self.best()
        place = f"edge {best.point.edge_id!r}, {best.point.distance:.6g}{f' {unit}' if unit else ''}"
        return f"Result(best {best.value:.6g} at {place}; {history!r}; stopped: {self.stopped})"

    def _repr_html_(self) -> str:
        return f"<pre>{escape(str(self.summary()))}\n{'stopped':<10} {escape(self.stopped)}</pre>"
