"""What a run found: the answers of its optimizer, the record as a table, pictures."""

from __future__ import annotations

from dataclasses import dataclass
from html import escape
from typing import TYPE_CHECKING, cast

import numpy as np

from netbo.geometry import Points
from netbo.optimize.answers import Mode, SearchList
from netbo.optimize.check import Check
from netbo.optimize.history import Status
from netbo.optimize.names import as_sign
from netbo.optimize.optimizer import Best, Optimizer, Recommendation
from netbo.optimize.summary import Summary
from netbo.posterior import Posterior, Surrogate

if TYPE_CHECKING:
    import pandas as pd
    from matplotlib.axes import Axes

FOUND = "#c0392b"  # the recommended place: no colour of the map is near it


@dataclass(frozen=True, slots=True, eq=False, repr=False)
class Result:
    """The end of a run; its optimizer can be asked and told on."""

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

    @property
    def posterior(self) -> Surrogate:
        """The objective given the observations."""
        return self.optimizer.posterior

    def best(self) -> Best:
        """The best observation; under noise it flatters, see `recommend`."""
        return self.optimizer.best()

    def recommend(self) -> Recommendation:
        """The candidate with the best posterior mean."""
        return self.optimizer.recommend()

    def modes(
        self, k: int = 3, separation: float | None = None, *, level: float = 0.95, draws: int | None = None
    ) -> list[Mode]:
        """Up to k separate places where the best value may be, each with its probability."""
        return self.optimizer.modes(k, separation, level=level, draws=draws)

    def search_list(self, mass: float = 0.8, *, draws: int | None = None) -> SearchList:
        """The shortest set of stretches that holds `mass` of the probability of the best value."""
        return self.optimizer.search_list(mass, draws=draws)

    def check(self) -> Check:
        """How well the model predicts each value from all others."""
        return self.optimizer.check()

    def summary(self) -> Summary:
        """What is known and how far it can be trusted, to be printed."""
        return self.optimizer.summary()

    def plot(self, ax: Axes | None = None, *, label: str | None = None) -> Axes:
        """The network coloured by the posterior mean, with what was measured, failed and is recommended.

        A network without coordinates is drawn as a profile, its edges laid end to end. label: of the values.
        """
        from netbo.plotting import draw_field, draw_points, draw_profile  # noqa: PLC0415 - needs matplotlib

        graph, posterior = self.optimizer.graph, self.posterior
        if graph.dimension is None:
            return draw_profile(graph, cast("Posterior", posterior), ax, label=label)
        ax = draw_field(graph, posterior.mean, ax, label=label or "posterior mean")
        failed = [trial.point for trial in self.optimizer.history.having(Status.FAILED)]
        if failed:
            draw_points(graph, Points.at(failed, graph=graph), ax, marker="X", size=9, label="failed")
        draw_points(graph, posterior.observations.points, ax, label="observed")
        best = Points.at(self.recommend().point, graph=graph)
        draw_points(graph, best, ax, marker="*", color=FOUND, size=13, label="recommended")
        ax.legend(loc="upper center", bbox_to_anchor=(0.5, 0.0), ncols=3, frameon=False)
        return ax

    def plot_convergence(
        self, ax: Axes | None = None, *, reference: float | None = None, label: str | None = None
    ) -> Axes:
        """Values in the order told, and the best so far; see `draw_convergence`."""
        from netbo.plotting import draw_convergence  # noqa: PLC0415 - needs matplotlib

        counted = (Status.OBSERVED, Status.FAILED)
        told = sorted((t for t in self.optimizer.history if t.status in counted), key=lambda t: t.order or 0)
        values = [np.nan if trial.value is None else trial.value for trial in told]
        return draw_convergence(
            values, ax, direction=self.optimizer.direction, reference=reference, label=label
        )

    def __repr__(self) -> str:
        history, unit = self.optimizer.history, self.optimizer.graph.unit
        if not history.having(Status.OBSERVED):
            return f"Result(no value; {history!r}; stopped: {self.stopped})"
        best = self.best()
        place = f"edge {best.point.edge_id!r}, {best.point.distance:.6g}{f' {unit}' if unit else ''}"
        return f"Result(best {best.value:.6g} at {place}; {history!r}; stopped: {self.stopped})"

    def _repr_html_(self) -> str:
        return f"<pre>{escape(str(self.summary()))}\n{'stopped':<10} {escape(self.stopped)}</pre>"
