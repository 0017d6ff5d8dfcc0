"""Answers of whatever has an optimizer: best value, where it may be, how far to trust it, pictures, maps."""

from __future__ import annotations

import math
from collections.abc import Hashable, Sequence
from dataclasses import dataclass
from pathlib import Path
from statistics import NormalDist
from typing import TYPE_CHECKING, Any

import numpy as np

from netbo.checks import explained
from netbo.errors import ParameterError
from netbo.geometry import Point, Points
from netbo.notebook import page_layer
from netbo.optimize.arguments import as_sign
from netbo.optimize.maximizer import (
    USUAL_SEPARATION,
    MaximizerSamples,
    Mode,
    SearchList,
    Stretch,
    default_draws,
    modes,
    search_list,
)
from netbo.optimize.search_space import Surroundings
from netbo.optimize.summary import Check, Summary, check, summarize, summary_card
from netbo.optimize.surrogate import in_values, scaled
from netbo.optimize.trials import Status
from netbo.posterior import Surrogate
from netbo.wording import in_unit, length, value_label

if TYPE_CHECKING:
    import pandas as pd
    from matplotlib.axes import Axes
    from matplotlib.colors import Normalize

    from netbo.adapters.network import Network
    from netbo.optimize.optimizer import Optimizer

__all__ = [
    "Answers",
    "Best",
    "MaximizerSamples",
    "Mode",
    "Optimum",
    "Recommendation",
    "Result",
    "SearchList",
    "Stretch",
    "default_draws",
    "modes",
    "search_list",
]


KNOWN = 1e-4  # of the variance at another place: what a value that is known has left
LEAST_SURPRISE = 1.3  # deviations; measured: from there on the largest leave-one-out error widens `optimum`
UNEXPLAINED = 4.0  # standard deviations of the noise by which a value may be above the mean


@dataclass(frozen=True, slots=True)
class Best:
    """The best value observed; under noise it flatters, see `Recommendation`."""

    id: int
    point: Point
    value: float


@dataclass(frozen=True, slots=True)
class Recommendation:
    """The place of the best posterior mean, and what is believed of the objective there."""

    point: Point
    mean: float
    std: float
    low: float  # ends of the 95 % credible interval
    high: float


@dataclass(frozen=True, slots=True)
class Optimum:
    """What is believed of the best value that the objective has, wherever that is."""

    mean: float
    low: float  # ends of the credible interval
    high: float


class Answers:
    """What is known so far: the same questions to an `Optimizer`, a `Result` and a `Study`."""

    __slots__ = ()

    if TYPE_CHECKING:

        @property
        def optimizer(self) -> Optimizer:
            """The optimizer that is asked."""

    @property
    def title(self) -> str | None:
        """What it is about, in words for people; only a study has one."""
        return None

    @property
    def posterior(self) -> Surrogate:
        """The surrogate: the objective given the observations, in their own unit and direction."""
        outcome = self.optimizer.outcome
        return scaled(outcome.surrogate, outcome.unit)

    def _repr_html_(self) -> str:
        return summary_card(self)

    def best(self) -> Best:
        """The best observation; under noise it flatters, see `recommend`.

        Returns
        -------
        Best
            Its trial, place and value.

        Raises
        ------
        ObservationError
            There is no value yet.

        Examples
        --------
        >>> import netbo
        >>> optimizer = netbo.Optimizer(netbo.interval(2.0), noise=0.01)
        >>> _ = optimizer.tell(optimizer.graph.points(0, [0.5, 1.5]), [1.0, 2.0])
        >>> optimizer.best().value
        2.0
        """
        optimizer = self.optimizer
        optimizer.history.require_observed("a best value")
        sign = as_sign(optimizer.direction)
        trial = max(optimizer.history.observed, key=lambda trial: sign * (trial.value or 0.0))
        return Best(trial.id, trial.point, float(trial.value or 0.0))

    def recommend(self) -> Recommendation:
        """Where to go if nothing more is measured: the place that is most surely good.

        The place with the best posterior mean. Between nodes a place nobody measured goes before the best one
        whose value is known exactly only if it is better by a standard deviation. A best value so far above
        the mean that noise does not explain it is taken at its word: then the model does not know the peak.

        Returns
        -------
        Recommendation
            The place, and mean, standard deviation and 95 % credible interval of the objective there.

        Raises
        ------
        ObservationError
            There is no value yet.

        Examples
        --------
        >>> import netbo
        >>> optimizer = netbo.Optimizer(netbo.interval(2.0), noise=0.01)
        >>> _ = optimizer.tell(optimizer.graph.points(0, [0.5, 1.5]), [1.0, 2.0])
        >>> optimizer.recommend().point.distance > 1
        True
        """
        optimizer = self.optimizer
        search, posterior = optimizer.search, optimizer.posterior

        def around() -> Surroundings:
            return Surroundings(optimizer.graph, optimizer.history.measured.places(optimizer.graph))

        everywhere = np.ones(len(search.points), dtype=np.bool_)
        place = self._unexplained_best()
        if place is None:
            place = self._surer(search.maximize(optimizer.modelled.mean, everywhere, around))
        mean, std = float(posterior.mean(place)[0]), float(posterior.std(place)[0])
        half = NormalDist().inv_cdf(0.975) * std
        return Recommendation(place[0], mean, std, mean - half, mean + half)

    def _surer(self, place: Points) -> Points:
        """A place or, unless it is surely better, the measured one of best mean, if its value is known.

        On a mesh a place is a node, and neighbours are told apart: there it is the place.
        """
        optimizer = self.optimizer
        if not optimizer.search.is_continuous:
            return place
        known, measured = optimizer.modelled, optimizer.modelled.observations.points
        measured = measured[optimizer.search.holds(measured)]
        if not len(measured):
            return place
        best = int(np.argmax(known.mean(measured)))
        both = Points.concatenate([place, measured[best : best + 1]])
        (here, shared), (_, there) = known.covariance(both, both)
        gain, doubt = float(np.subtract(*known.mean(both))), math.sqrt(max(here + there - 2 * shared, 0.0))
        return place if there > KNOWN * here or gain > doubt else both[1:]

    @explained
    def optimum(self, level: float = 0.95, *, draws: int | None = None) -> Optimum:
        """How large the best value of the objective is (how small, when minimizing).

        At one end is what the recommended place has at least, at the other what the best values of sample
        paths reach; both lie farther apart the worse the model predicts one of the values from the others,
        since the best place is where a model is most easily wrong.

        Parameters
        ----------
        level : float
            Of the interval.
        draws : int, optional
            Sample paths of the posterior; by default as many as take about a second.

        Returns
        -------
        Optimum
            Mean and interval of the paths' best values.

        Raises
        ------
        ObservationError
            There is no value yet.
        ParameterError
            The level is no probability.

        Examples
        --------
        >>> import netbo
        >>> optimizer = netbo.Optimizer(netbo.interval(2.0), noise=0.0)
        >>> _ = optimizer.tell(optimizer.graph.points(0, [0.5, 1.5]), [1.0, 2.0])
        >>> optimizer.optimum(draws=50).low >= 2.0 - 1e-3
        True
        """
        optimizer = self.optimizer
        if not 0 < level < 1:
            raise ParameterError(f"level must be a probability between 0 and 1, got {level}; 0.95 is usual")
        sign, sure = as_sign(optimizer.direction), self.recommend()
        values = in_values(optimizer.maximizer(draws).value, optimizer.outcome.unit)
        quantile = NormalDist().inv_cdf((1 + level) / 2)
        wrong = np.abs(self.check().standardized)
        wider = max(1.0, float(wrong[np.isfinite(wrong)].max(initial=0.0)) / LEAST_SURPRISE)
        half = quantile * sure.std
        reached = float(np.quantile(values, (1 + level) / 2)) - sign * sure.mean
        ends = sure.mean - sign * wider * half, sure.mean + sign * wider * max(half, reached)
        return Optimum(sign * float(values.mean()), min(ends), max(ends))

    def _unexplained_best(self) -> Points | None:
        """Place of the best value, if noise does not explain how far it is above the mean: a missed peak."""
        optimizer = self.optimizer
        modelled, data = optimizer.modelled, optimizer.modelled.observations
        best = int(np.argmax(data.values))
        place = data.points[best : best + 1]
        above = data.values[best] - modelled.mean(place)[0]
        is_explained = above <= UNEXPLAINED * math.sqrt(modelled.noise[best])
        return None if is_explained or not optimizer.search.holds(place)[0] else place

    @explained
    def modes(
        self, k: int = 3, separation: float | None = None, *, level: float = 0.95, draws: int | None = None
    ) -> list[Mode]:
        """Up to k separate places where the best value may be, each with its probability.

        Parameters
        ----------
        k : int
            How many, at most.
        separation : float, optional
            Least distance between them along the network; by default a twentieth of the diameter.
        level : float
            Of the credible interval of the objective at each.
        draws : int, optional
            Sample paths of the posterior; by default as many as take about a second.

        Returns
        -------
        list of Mode
            The most probable first.

        Raises
        ------
        ObservationError
            There is no value yet.

        Examples
        --------
        >>> import netbo
        >>> optimizer = netbo.Optimizer(netbo.interval(2.0), noise=0.01)
        >>> _ = optimizer.tell(optimizer.graph.points(0, [0.5, 1.5]), [1.0, 2.0])
        >>> sum(mode.probability for mode in optimizer.modes(draws=50)) <= 1
        True
        """
        optimizer = self.optimizer
        apart = USUAL_SEPARATION * optimizer.graph.diameter if separation is None else separation
        samples = optimizer.maximizer(draws)
        return modes(samples, optimizer.posterior, optimizer.search, k, apart, level=level)

    @explained
    def search_list(self, mass: float = 0.8, *, draws: int | None = None) -> SearchList:
        """The shortest set of stretches that holds `mass` of the probability of the best value.

        Parameters
        ----------
        mass : float
            Probability to be covered.
        draws : int, optional
            Sample paths of the posterior; by default as many as take about a second.

        Returns
        -------
        SearchList
            The most probable stretch first; print it to read it.

        Raises
        ------
        ObservationError
            There is no value yet.

        Examples
        --------
        >>> import netbo
        >>> optimizer = netbo.Optimizer(netbo.interval(2.0), noise=0.01)
        >>> _ = optimizer.tell(optimizer.graph.points(0, [0.5, 1.5]), [1.0, 2.0])
        >>> optimizer.search_list(0.5, draws=50).probability >= 0.5
        True
        """
        optimizer = self.optimizer
        return search_list(optimizer.maximizer(draws), optimizer.search, mass)

    def check(self) -> Check:
        """Leave-one-out check: how well the model predicts each value from all others.

        Returns
        -------
        Check
            Values beside their predictions; print it, or see its `coverage` and `table()`.

        Raises
        ------
        ObservationError
            There is no value yet.

        Examples
        --------
        >>> import netbo
        >>> optimizer = netbo.Optimizer(netbo.interval(2.0), noise=0.01)
        >>> _ = optimizer.tell(optimizer.graph.points(0, [0.5, 1.5]), [1.0, 2.0])
        >>> bool(optimizer.check().is_wild.any())
        False
        """
        optimizer = self.optimizer
        outcome = optimizer.outcome
        return check(outcome.surrogate, optimizer.history.observed, outcome.unit)

    def summary(self) -> Summary:
        """What is known and how far it can be trusted.

        Returns
        -------
        Summary
            Facts and warnings; print it to read it.

        Examples
        --------
        >>> import netbo
        >>> netbo.Optimizer(netbo.interval(2.0)).summary().facts[-1]
        'no values yet'
        """
        return summarize(self.optimizer)

    def plot(
        self,
        ax: Axes | None = None,
        *,
        what: str = "mean",
        label: str | None = None,
        norm: Normalize | None = None,
        to_scale: bool = True,
    ) -> Axes:
        """The network coloured by what is known, with what was measured, failed, is next and is recommended.

        A network without coordinates is drawn as a profile, its edges laid end to end.

        Parameters
        ----------
        ax : matplotlib Axes, optional
            Where to draw; by default a new figure.
        what : {"mean", "sd", "acquisition", "probability"}
            Mean or standard deviation of the posterior, the scores that choose the next place, or the
            probability of the best value per unit of length.
        label : str, optional
            Of the values, with their unit; by default the unit of the optimizer, if it has one.
        norm : matplotlib Normalize, optional
            Limits of the colours; the same for two pictures lets them be compared.
        to_scale : bool
            False stretches a long thin network to fill its axes.

        Returns
        -------
        matplotlib Axes

        Raises
        ------
        ObservationError
            There is no value yet.
        """
        from netbo.optimize.results.figures import draw_view  # noqa: PLC0415 - needs matplotlib

        drawn = draw_view(self.optimizer, what, ax, label=label, norm=norm, to_scale=to_scale)
        if self.title:
            drawn.set_title(self.title, parse_math=False)
        return drawn

    def plot_profile(
        self,
        ax: Axes | None = None,
        *,
        edges: Sequence[Hashable] | None = None,
        between: tuple[Points, Points] | None = None,
        label: str | None = None,
    ) -> Axes:
        """Mean, band and observations along edges, or along the shortest path between two places.

        Parameters
        ----------
        ax : matplotlib Axes, optional
            Where to draw; by default a new figure.
        edges : sequence of edge ids, optional
            Laid end to end; by default all edges.
        between : pair of Points, optional
            Ends of the path, instead of edges.
        label : str, optional
            Of the values, with their unit; by default the unit of the optimizer, if it has one.

        Returns
        -------
        matplotlib Axes
        """
        from netbo.plotting import draw_profile  # noqa: PLC0415 - needs matplotlib

        optimizer = self.optimizer
        said = value_label(label, optimizer.value_unit)
        return draw_profile(
            optimizer.graph, optimizer.posterior, ax, edges=edges, between=between, label=said
        )

    def plot_convergence(
        self, ax: Axes | None = None, *, reference: float | None = None, label: str | None = None
    ) -> Axes:
        """Values in the order told, and the best so far.

        Parameters
        ----------
        ax : matplotlib Axes, optional
            Where to draw; by default a new figure.
        reference : float, optional
            A value to compare with, such as the optimum.
        label : str, optional
            Of the values, with their unit; by default the unit of the optimizer, if it has one.

        Returns
        -------
        matplotlib Axes
        """
        from netbo.plotting import draw_convergence  # noqa: PLC0415 - needs matplotlib

        optimizer, counted = self.optimizer, (Status.OBSERVED, Status.FAILED)
        told = sorted((t for t in optimizer.history if t.status in counted), key=lambda t: t.order or 0)
        values = [np.nan if trial.value is None else trial.value for trial in told]
        said = value_label(label, optimizer.value_unit)
        return draw_convergence(values, ax, direction=optimizer.direction, reference=reference, label=said)

    def explore(self, *, title: str | None = None) -> Any:
        """The page to look around in: a map with four views, tables, how sure; a notebook shows it.

        Parameters
        ----------
        title : str, optional
            Of the page.

        Returns
        -------
        Explored
            Its `write_html(path)` writes the page.
        """
        return page_layer().explore(self, title=title)

    plot_interactive = explore  # its earlier name, until 1.0

    def export(
        self, path: str | Path, network: Network | None = None, *, max_piece: float | None = None
    ) -> Path:
        """Your map with what is known on it (.gpkg, .geojson), all trials as a table (.csv), or waypoints.

        Waypoints for handhelds and globes (.gpx, .kml) are the next places, what was measured, and the
        stretches to search; they need a coordinate system. Layers of a map: `field` (short pieces with mean,
        sd, acquisition, probability), `observations`, `next` (pending), `candidates` (recommendation and
        modes). Maps and waypoints need the extra 'geo'.

        Parameters
        ----------
        path : path
            File to write; its suffix says what.
        network : Network, optional
            By default the one that was searched, in its coordinate system and with its report.
        max_piece : float, optional
            Longest piece of line with one value; by default about 2,000 pieces in all.

        Returns
        -------
        Path
            The file.
        """
        from netbo.optimize.results.export import export  # noqa: PLC0415 - needs pandas

        return export(self.optimizer, Path(path), network, max_piece, self.title)

    def write_page(
        self,
        path: str | Path,
        network: Network | None = None,
        *,
        title: str | None = None,
        label: str | None = None,
    ) -> Path:
        """The page in one HTML file: map, tables, how sure, history, settings; it refers to nothing outside.

        Parameters
        ----------
        path : path
            File to write.
        network : Network, optional
            By default the one that was searched, in its coordinate system and with its report.
        title : str, optional
            Of the page.
        label : str, optional
            Of the values, with their unit; by default the unit of the optimizer, if it has one.

        Returns
        -------
        Path
            The file.
        """
        written: Path = page_layer().write_page(self, path, network, title=title, label=label)
        return written


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
    def network(self) -> Network | None:
        """The network that was searched, as it was given; None if that was a graph, a mesh or a prior."""
        return self.optimizer.network

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
        if not history.count(Status.OBSERVED):
            return f"Result(no value; {history!r}; stopped: {self.stopped})"
        best = self.best()
        place = f"edge {best.point.edge_id!r}, {length(best.point.distance, unit)}"
        value = in_unit(best.value, self.optimizer.value_unit)
        return f"Result(best {value} at {place}; {history!r}; stopped: {self.stopped})"
