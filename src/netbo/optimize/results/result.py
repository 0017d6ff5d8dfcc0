"""What a run found: the answers of its optimizer, the record as a table, pictures."""

from __future__ import annotations

from collections.abc import Hashable, Sequence
from dataclasses import dataclass
from html import escape
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from netbo.geometry import Points
from netbo.optimize.answers import Mode, SearchList
from netbo.optimize.arguments import as_sign
from netbo.optimize.optimizer import Best, Optimizer, Recommendation
from netbo.optimize.summary import Check, Summary
from netbo.optimize.trials import Status
from netbo.posterior import Surrogate

if TYPE_CHECKING:
    import pandas as pd
    from matplotlib.axes import Axes

    from netbo.adapters.network import Network


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

    def plot(
        self, ax: Axes | None = None, *, what: str = "mean", label: str | None = None, to_scale: bool = True
    ) -> Axes:
        """The network coloured by what is known, with what was measured, failed, is next and is recommended.

        what: "mean" or "sd" of the posterior, "acquisition" (the scores that choose the next place) or
            "probability" (of the best value, per unit of length).
        label: of the values, with their unit.
        to_scale: False stretches a long thin network to fill its axes.

        A network without coordinates is drawn as a profile, its edges laid end to end.
        """
        from netbo.optimize.results.figures import draw_view  # noqa: PLC0415 - needs matplotlib

        return draw_view(self.optimizer, what, ax, label=label, to_scale=to_scale)

    def plot_profile(
        self,
        ax: Axes | None = None,
        *,
        edges: Sequence[Hashable] | None = None,
        between: tuple[Points, Points] | None = None,
        label: str | None = None,
    ) -> Axes:
        """Mean, band and observations along edges, or along the shortest path between two places.

        See `draw_profile`.
        """
        from netbo.plotting import draw_profile  # noqa: PLC0415 - needs matplotlib

        return draw_profile(
            self.optimizer.graph, self.posterior, ax, edges=edges, between=between, label=label
        )

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

    def plot_interactive(self, *, title: str | None = None) -> Any:
        """A plotly Figure to hover over: edge, distance, mean, sd, acquisition, probability.

        `.write_html(path)` makes a page of it. Needs the extra 'plotly'.
        """
        from netbo.optimize.results.figures import draw_pages  # noqa: PLC0415 - needs matplotlib

        return draw_pages(self.optimizer, title=title)

    def export(
        self, path: str | Path, network: Network | None = None, *, max_piece: float | None = None
    ) -> Path:
        """Your map with what is known on it (.gpkg, .geojson), or the trials as a table (.csv).

        network: the network as it was read, for your own edge ids, measures and coordinate system.
        max_piece: longest piece of line with one value, by default about 2,000 pieces in all.

        Layers of a map: `field` (short pieces with mean, sd, acquisition, probability), `observations`,
        `next` (pending), `candidates` (recommendation and modes). Maps need the extra 'geo'.
        """
        from netbo.optimize.results.export import export  # noqa: PLC0415 - needs pandas

        return export(self, Path(path), network, max_piece)

    def write_page(
        self,
        path: str | Path,
        network: Network | None = None,
        *,
        title: str | None = None,
        label: str | None = None,
    ) -> Path:
        """One HTML file with summary, maps, convergence, tables and settings; it refers to nothing outside.

        network: the network as it was read, for your own addresses and its report. label: of the values.
        """
        from netbo.optimize.results.page import write_page  # noqa: PLC0415 - needs matplotlib

        return write_page(self, path, network, title=title, label=label)

    def __repr__(self) -> str:
        history, unit = self.optimizer.history, self.optimizer.graph.unit
        if not history.having(Status.OBSERVED):
            return f"Result(no value; {history!r}; stopped: {self.stopped})"
        best = self.best()
        place = f"edge {best.point.edge_id!r}, {best.point.distance:.6g}{f' {unit}' if unit else ''}"
        return f"Result(best {best.value:.6g} at {place}; {history!r}; stopped: {self.stopped})"

    def _repr_html_(self) -> str:
        return f"<pre>{escape(str(self.summary()))}\n{'stopped':<10} {escape(self.stopped)}</pre>"
