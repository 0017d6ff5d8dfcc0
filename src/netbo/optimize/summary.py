"""What is known and how far it can be trusted: the summary, and the leave-one-out check."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from statistics import NormalDist
from typing import TYPE_CHECKING

import numpy as np

from netbo.arrays import BoolArray, FloatArray, IntArray
from netbo.errors import BaseError
from netbo.geometry import Point, Points, thumbnail
from netbo.notebook import card
from netbo.optimize.eligibility import places_of
from netbo.optimize.learning import NUGGET, SurrogateFit
from netbo.optimize.surrogate import in_values
from netbo.optimize.trials import Status, Trial
from netbo.posterior import Posterior, Surrogate
from netbo.wording import counted, in_unit, length

if TYPE_CHECKING:
    import pandas as pd

    from netbo.optimize.answers import Answers
    from netbo.optimize.optimizer import Optimizer


POOR_COVERAGE = 0.75  # of 95 % intervals, below which a model is called overconfident
FEW = 8  # values below which coverage says nothing
FEWEST = 5  # values below which no interval is put into words: a fit to fewer is too sure of itself
TOO_FEW = "too few values to say"
ALL_EQUAL = "all values are equal, too little to say"

_BOUNDS = {
    "range": "the range stopped at its bound: the data do not tell how fast the function varies",
    "sigma": "the standard deviation of the function stopped at its bound: check the unit of the values",
    "noise_ratio": "the noise stopped at its bound: repeat measurements, or give the noise if it is known",
}


@dataclass(frozen=True, slots=True)
class Summary:
    """Facts and warnings; printing it shows both."""

    facts: tuple[str, ...]
    warnings: tuple[str, ...]
    doubt: str | None = None  # why no interval is put into words; None where there may be one

    def __str__(self) -> str:
        return "\n".join([*self.facts, *(f"warning: {text}" for text in self.warnings)])

    __repr__ = __str__

    def _repr_html_(self) -> str:
        return card("Summary", map(_named, self.facts), warnings=self.warnings)


def summary_card(found: Answers) -> str:
    """The summary of a Result, Optimizer or Study beside a picture of what is known, for notebooks."""
    optimizer = found.optimizer
    said = f" {found.name!r}" if hasattr(found, "name") else ""
    title, graph = f"{type(found).__name__}{said}", optimizer.graph
    try:
        summary, marks = summarize(optimizer), marked_places(optimizer)
        mean = optimizer.posterior.mean if "recommended" in marks else None
        seen = thumbnail(graph, mean, marks=marks, alt="posterior mean on the network")
    except BaseError as error:  # an object is shown even if nothing can be said of its model
        facts = [("trials", repr(optimizer.history))]
        return card(title, facts, picture=thumbnail(graph), warnings=[str(error)])
    facts = [*map(_named, summary.facts), ("direction", optimizer.direction)]
    if found.title:
        facts.insert(0, ("title", found.title))
    if hasattr(found, "stopped"):  # only a run has an end
        facts.append(("stopped", found.stopped))
    return card(title, facts, picture=seen, warnings=summary.warnings)


def _named(fact: str) -> tuple[str, str]:
    """Name and text of a line of the summary."""
    name, gap, text = fact.partition("  ")
    return (name, text.strip()) if gap else ("", fact)


def marked_places(optimizer: Optimizer) -> dict[str, Points]:
    """Places that failed, were observed, are next and are recommended; only what there is."""
    graph, history = optimizer.graph, optimizer.history
    places = {
        "failed": places_of(history.having(Status.FAILED), graph),
        "observed": places_of(history.observed, graph),
        "next": places_of(history.pending, graph),
    }
    if len(places["observed"]):
        places["recommended"] = Points.at(optimizer.recommend().point, graph=graph)
    return {name: points for name, points in places.items() if len(points)}


def summarize(optimizer: Optimizer) -> Summary:
    """What an optimizer knows so far."""
    history = optimizer.history
    facts = [f"network    {optimizer.graph!r}", f"trials     {history!r}"]
    if not history.count(Status.OBSERVED):
        return Summary((*facts, "no values yet"), ())
    doubt = doubt_of(optimizer)
    facts += [_best(optimizer), _recommended(optimizer, doubt), *_model(optimizer, doubt)]
    return Summary(tuple(facts), tuple(_warnings(optimizer)), doubt)


def doubt_of(optimizer: Optimizer) -> str | None:
    """Why nothing is said of how sure the model is: from such values it learns no more than a guess."""
    values = [trial.value for trial in optimizer.history.observed]
    if len(values) < FEWEST:
        return TOO_FEW
    return ALL_EQUAL if optimizer.outcome.fits and len(set(values)) == 1 else None


def _place(point: Point, optimizer: Optimizer) -> str:
    return f"edge {point.edge_id!r}, {length(point.distance, optimizer.graph.unit)}"


def _best(optimizer: Optimizer) -> str:
    best = optimizer.best()
    return f"observed   {in_unit(best.value, optimizer.value_unit)} at {_place(best.point, optimizer)}"


def _recommended(optimizer: Optimizer, doubt: str | None) -> str:
    found = optimizer.recommend()
    within, mean = doubt or f"{found.low:.6g} to {found.high:.6g}", in_unit(found.mean, optimizer.value_unit)
    return f"recommend  {_place(found.point, optimizer)}: {mean} (95 %: {within})"


def _model(optimizer: Optimizer, doubt: str | None) -> list[str]:
    outcome, unit = optimizer.outcome, f" {optimizer.graph.unit}" if optimizer.graph.unit else ""
    if not outcome.fits:
        return [f"kernel     {outcome.labels[0]}, known"]
    fit = outcome.fits[outcome.chosen]
    size, mean = outcome.unit * fit.prior.sigma, outcome.unit * fit.mean
    noise = "per value" if fit.regularization is None else f"{outcome.unit * fit.regularization**0.5:.3g}"
    said = {None: "learned", 0.0: "values are exact"}.get(optimizer.noise, "given")
    left_out = [f"without    {each}" for each in outcome.left_out]
    if doubt:
        noise = doubt if optimizer.noise is None and fit.regularization is not None else f"{noise} ({said})"
        return [f"kernel     {_kernel(outcome)}", *left_out, f"range      {doubt}", f"noise sd   {noise}"]
    return [
        f"kernel     {_kernel(outcome)}",
        *left_out,
        f"range      {fit.prior.range:.3g}{unit}: farther apart, values say little of each other",
        f"noise sd   {noise} ({said}); the function varies by sd {size:.3g} around {mean:.3g}",
        f"trust      {optimizer.check()}",
    ]


def _kernel(outcome: SurrogateFit) -> str:
    """The chosen model, and by how much it beats the next."""
    chosen = outcome.chosen
    if len(outcome.labels) == 1:
        return outcome.labels[0]
    log_odds = outcome.log_odds
    second = int(np.argsort(-np.array(log_odds), kind="stable")[1])  # not by weights, which may vanish
    lead = log_odds[chosen] - log_odds[second]
    return (
        f"{outcome.labels[chosen]} (weight {outcome.weights[chosen]:.0%}; "
        f"{lead:.2f} in log odds ahead of {outcome.labels[second]})"
    )


def _warnings(optimizer: Optimizer) -> list[str]:
    outcome = optimizer.outcome
    warnings = []
    if outcome.fits:
        fit = outcome.fits[outcome.chosen]
        warnings += [_BOUNDS[name] for name in fit.at_bound]
        if not fit.converged:
            warnings.append("the search for the parameters did not come to rest; more values will tell")
    if isinstance(outcome.surrogate, Posterior) or outcome.fits:
        warnings += _trust_warnings(optimizer)
    told, taken = optimizer.observations, outcome.surrogate.observations
    with np.errstate(under="ignore"):
        raised = int(np.count_nonzero(told.noise / outcome.unit / outcome.unit < taken.noise))
    if raised:
        warnings.append(
            f"{counted(raised, 'value')} told with less noise than exact values have, "
            f"{NUGGET:g} of the variance of all: so much is taken"
        )
    failed = len(optimizer.history.having(Status.FAILED))
    if failed:
        warnings.append(f"{failed} failed, and their places are not asked for again")
    return warnings


def _trust_warnings(optimizer: Optimizer) -> list[str]:
    if doubt_of(optimizer):
        return []
    found = optimizer.check()
    warnings = [
        f"trial {trial} is wild: {value:.6g}, where all others predict {predicted:.6g} ± {std:.3g}; "
        "correct or withdraw it if it is wrong"
        for trial, value, predicted, std, wild in zip(
            found.id, found.value, found.predicted, found.std, found.is_wild, strict=True
        )
        if wild
    ]
    share = found.coverage[0.95]
    if len(found.value) >= FEW and share < POOR_COVERAGE:
        warnings.append(
            f"only {share:.0%} of the values lie in their 95 % intervals: the model is overconfident; "
            "try a rougher kernel, or several"
        )
    return warnings


# How well a model predicts each value from all others: leave-one-out, in closed form.

LEVELS = (0.5, 0.8, 0.95)
WILD = 0.01  # probability that any value of a right model is called wild


@dataclass(frozen=True, slots=True, eq=False)
class Check:
    """Each value beside its prediction from all others; noise is part of the predicted spread."""

    id: IntArray  # trials
    value: FloatArray
    predicted: FloatArray
    std: FloatArray  # of the predicted measurement; infinite where nothing else was measured

    @property
    def residual(self) -> FloatArray:
        """Value minus prediction."""
        with np.errstate(over="ignore"):  # of values near the largest there are
            return self.value - self.predicted

    @property
    def standardized(self) -> FloatArray:
        """Residuals in predicted standard deviations: standard normal if the model is right."""
        residual = self.residual
        is_known = np.isfinite(self.std) & ((self.std > 0) | (residual != 0))
        with np.errstate(divide="ignore"):  # by a deviation below the smallest number
            return np.divide(residual, self.std, out=np.zeros_like(self.value), where=is_known)

    @property
    def coverage(self) -> dict[float, float]:
        """Share of the values that can be predicted inside their central interval, by its level."""
        size = np.abs(self.standardized[np.isfinite(self.std)])
        limits = {level: NormalDist().inv_cdf((1 + level) / 2) for level in LEVELS}
        return {
            level: float(np.mean(size <= limit)) if len(size) else np.nan for level, limit in limits.items()
        }

    @property
    def is_wild(self) -> BoolArray:
        """Values so far off that a right model would show one in a hundred studies of this size."""
        n = max(len(self.value), 1)
        limit = NormalDist().inv_cdf(1 - WILD / (2 * n))
        return np.abs(self.standardized) > limit

    def table(self) -> pd.DataFrame:
        """One row a value."""
        import pandas as pd  # noqa: PLC0415 - a table is for people

        columns = {
            "value": self.value,
            "predicted": self.predicted,
            "std": self.std,
            "standardized": self.standardized,
            "wild": self.is_wild,
        }
        return pd.DataFrame(columns, index=pd.Index(self.id, name="id"))

    def __str__(self) -> str:
        if not np.isfinite(self.std).any():
            return f"leave-one-out over {len(self.value)} values: too few to predict one from the others"
        if len(self.value) < FEWEST:
            return f"leave-one-out over {len(self.value)} values: {TOO_FEW}"
        shares = ", ".join(f"{share:.0%} within {level:.0%}" for level, share in self.coverage.items())
        wild = ", ".join(str(i) for i in self.id[self.is_wild])
        ending = f"; wild: {wild}" if wild else ""
        return f"leave-one-out over {len(self.value)} values: {shares}{ending}"


def check(surrogate: Surrogate, trials: Sequence[Trial], unit: float = 1.0) -> Check:
    """Leave-one-out predictions of the observed trials, in the order of the surrogate's observations.

    unit: what the surrogate's values are counted in.
    """
    left_out = surrogate.leave_one_out()
    return Check(
        id=np.array([trial.id for trial in trials], dtype=np.int64),
        value=np.array([trial.value for trial in trials], dtype=np.float64),
        predicted=in_values(left_out.mean, unit),
        std=in_values(np.sqrt(left_out.variance), unit),
    )
