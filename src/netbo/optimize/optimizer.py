"""Ask where to measure, tell what was found: the loop of the paper's algorithms, driven from outside."""

from collections.abc import Iterable
from contextlib import suppress
from copy import copy
from dataclasses import replace
from functools import partial
from typing import Any, Self, overload

import numpy as np

from netbo.acquisition import Acquisition, ScoreFunction, score_function
from netbo.arrays import BoolArray
from netbo.checks import explained, explained_class, is_whole, require_seed
from netbo.errors import ExhaustedError, ObservationError, ParameterError
from netbo.fem import FiniteElementSpace
from netbo.geometry import MetricGraph, Point, Points, as_place
from netbo.optimize import arguments
from netbo.optimize.answers import Answers
from netbo.optimize.design import Design
from netbo.optimize.eligibility import EligibleCandidates, places_of
from netbo.optimize.learning import Learning, SurrogateFit
from netbo.optimize.maximizer import MaximizerSamples
from netbo.optimize.presets import ROBUST, Preset
from netbo.optimize.surrogate import Negated, scaled
from netbo.optimize.travel import Travel
from netbo.optimize.trials import History, Status, Suggestion, Trial
from netbo.posterior import Observations, Surrogate
from netbo.priors import Prior

_ASKING, _ANSWERING = 0, 1  # random streams


@explained_class
class Optimizer(Answers):
    """Bayesian optimization on a network by ask and tell: suggests where to measure, learns from values.

    A suggestion is a function of the network, the options, the seed and the history: an optimizer rebuilt
    with `history=` goes on as the first would have.

    Parameters
    ----------
    domain : Network, MetricGraph, FiniteElementSpace, Prior, path or object
        A network, or what `netbo.read` makes one of; a mesh on it; or a prior, whose parameters are then the
        ones that are learned. What the report on a network warns of is shown, once (`NetworkWarning`).
    preset : Preset or str
        Surrogate, acquisition and design: "robust", "calibrated" or "paper"; the next options replace parts
        of it.
    acquisition : Acquisition or str, optional
        "noisy-ei", "restless", "thompson", "ucb", "log-ei", "max-variance", "random", or an object.
    candidates : SearchSpace, Points, Forbidden, list or "continuum", optional
        Where it may ask: by default anywhere, or at all nodes of a mesh; without what is forbidden; points of
        your own, also as a list of names of vertices and pairs (edge id, distance).
    design : Design or int, optional
        Initial design, or how many places it has.
    fit : Learning, optional
        Surrogate model: kernels and how their parameters are fitted.
    noise : float, optional
        Variance of a measurement; by default it is learned, 0.0 says that values are exact.
    direction : {"maximize", "minimize"}
        What is wanted.
    seed : int
        Of all randomness.
    repeats : bool, optional
        Whether a place may be asked for twice; by default unless values are exact.
    separation : float, optional
        Least distance along the network between suggestions that are pending; by default a fiftieth of the
        diameter.
    max_cell : float, optional
        Largest cell of mesh and grid; by default about 2,000 points, at least two cells an edge.
    alpha : float, optional
        Smoothness of the preset's network kernel, above 1/4: 1/2, 1, 3/2 and 2 are fast.
    constant_variance : bool, optional
        Whether the preset's network kernel varies no more at dead ends than elsewhere.
    value_unit : str, optional
        Unit of the values, such as "l/s": said beside them in words, pictures and files.
    history : iterable of Trial
        Trials of an earlier optimizer.

    Raises
    ------
    ParameterError
        An option is outside its domain; the message says what it may be.

    Examples
    --------
    >>> import netbo
    >>> optimizer = netbo.Optimizer(netbo.star(3, length=2.0), noise=0.01, seed=1)
    >>> suggestion = optimizer.ask()
    >>> suggestion.id
    0
    >>> optimizer.tell(suggestion, 0.3)
    [0]
    """

    def __init__(
        self,
        domain: arguments.Domain,
        *,
        preset: Preset | str = ROBUST,
        acquisition: Acquisition | str | None = None,
        candidates: arguments.Candidates = None,
        design: Design | int | None = None,
        fit: Learning | None = None,
        noise: float | None = None,
        direction: str = "maximize",
        seed: int = 0,
        repeats: bool | None = None,
        separation: float | None = None,
        max_cell: float | None = None,
        alpha: float | None = None,
        constant_variance: bool | None = None,
        value_unit: str | None = None,
        history: Iterable[Trial] = (),
    ) -> None:
        chosen = arguments.as_preset(preset)
        self.noise, self.seed, self.direction = arguments.as_noise(noise), require_seed(seed), direction
        self._sign = arguments.as_sign(direction)
        self.value_unit = arguments.as_value_unit(value_unit)
        is_given = fit is not None
        learning = arguments.with_kernel(
            fit or chosen.fit, alpha, constant_variance, is_own=is_given or isinstance(domain, Prior)
        )
        self.network = arguments.as_network_given(domain)
        self.space, self.fit = arguments.as_domain(
            self.network or domain, learning, is_given=is_given, max_cell=max_cell
        )
        has_mesh = isinstance(getattr(domain, "space", domain), FiniteElementSpace)
        self.search = arguments.as_search(
            candidates, self.space, everywhere=chosen.everywhere and not has_mesh, max_cell=max_cell
        )
        self.acquisition = arguments.as_acquisition(
            chosen.acquisition if acquisition is None else acquisition
        )
        self.design = arguments.as_design(design, chosen, self.graph)
        allowed = chosen.repeats if repeats is None else repeats
        self.repeats = self.noise != 0 if allowed is None else allowed
        apart = chosen.separation * self.graph.diameter if separation is None else separation
        self._eligible = EligibleCandidates(self.search, self.repeats, apart)
        self._learner = self.fit.start(self.space, self.noise)
        self.history = History(history)
        self._learned: tuple[int, SurrogateFit] | None = None  # with the version of the history it belongs to
        self._negated: Negated | None = None
        self._fantasies: tuple[Surrogate, tuple[Point, ...], Surrogate] | None = None

    def __repr__(self) -> str:
        return f"Optimizer({self.graph!r}, {len(self.search.points)} candidates, {self.history!r})"

    def __copy__(self) -> Self:
        """An optimizer that goes on by itself from the same history."""
        twin = object.__new__(type(self))
        twin.__dict__.update(self.__dict__)
        twin.history = copy(self.history)
        twin._learner, twin._learned = self.fit.start(self.space, self.noise), None
        twin._negated = twin._fantasies = None
        return twin

    @property
    def optimizer(self) -> Self:
        """Itself: whom the answers ask."""
        return self

    @property
    def graph(self) -> MetricGraph:
        """The metric graph of the network; `network` is the whole of it, None if only a graph was given."""
        return self.space.graph

    # Asking

    @overload
    def ask(self, *, travel: Travel | None = None) -> Suggestion: ...
    @overload
    def ask(self, n: int, *, travel: Travel | None = None) -> list[Suggestion]: ...
    @explained
    def ask(self, n: int | None = None, *, travel: Travel | None = None) -> Suggestion | list[Suggestion]:
        """The next place to measure, or a batch of n; they are pending until told.

        Parameters
        ----------
        n : int, optional
            Size of a batch; fewer come if there are no more to ask for.
        travel : Travel, optional
            Where whoever measures comes from, and what the way costs.

        Returns
        -------
        Suggestion or list of Suggestion
            One without n, else a list.

        Raises
        ------
        ExhaustedError
            There is nothing left to ask for.

        Examples
        --------
        >>> import netbo
        >>> optimizer = netbo.Optimizer(netbo.interval(2.0))
        >>> [suggestion.id for suggestion in optimizer.ask(2)]
        [0, 1]
        """
        if n is None:
            return self._suggest(travel)
        if not is_whole(n) or n < 1:
            raise ParameterError(f"n counts suggestions, got {n!r}; ask for one or more")
        suggestions = [self._suggest(travel)]
        with suppress(ExhaustedError):
            while len(suggestions) < n:
                suggestions.append(self._suggest(travel))
        return suggestions

    def _suggest(self, travel: Travel | None) -> Suggestion:
        trial = self.history.ask(self.propose(travel))
        return Suggestion(trial.id, trial.point)

    def eligible(self) -> BoolArray:
        """Which candidates may be asked for now, (n_candidates,); ExhaustedError if there is none."""
        return self._eligible.after(self.history)

    openings = eligible  # its earlier name, until 1.0

    def propose(self, travel: Travel | None = None) -> Point:
        """The place that `ask` would hand out now; nothing is recorded."""
        is_open = self.eligible()
        if travel is not None:
            travel = replace(travel, start=as_place(travel.start, self.graph))
            is_open = travel.restrict(is_open, self.search.points, self.graph)
        if self._is_designing:
            places = self._places(Status.OBSERVED, Status.FAILED, Status.PENDING)
            rng = self._stream(_ASKING, self.history.n_asked)
            index = self.design.next(self.graph, self.search.points, places, is_open, rng)
            place = self.search.points[index : index + 1]
        else:
            scores = self.next_scores()
            if travel is not None:
                scores = travel.charge(scores, self.graph)
            around = partial(self._eligible.surroundings, self.history, is_open)
            place = self.search.maximize(scores, is_open, around)  # alg:GP-bandits-FEM, Select
        return place[0]

    def next_scores(self) -> ScoreFunction:
        """The acquisition as a function of places: after the design, `ask` takes its maximum.

        Thompson sampling draws a function; on a mesh it is the very one that `ask` will maximize.
        """
        surrogate = self.with_pending() if self.acquisition.hallucinates else self.modelled
        return score_function(self.acquisition, surrogate, self._stream(_ASKING, self.history.n_asked))

    @property
    def _is_designing(self) -> bool:
        """Until enough places are known or pending, and half of them have values to learn from."""
        observed, pending = self.history.count(Status.OBSERVED), self.history.count(Status.PENDING)
        return observed + pending < self.design.size or observed < (self.design.size + 1) // 2

    def with_pending(self) -> Surrogate:
        """The surrogate with fantasies: pending places are taken to have their posterior mean.

        So the variance shrinks there and the mean stays. With several models averaged it moves a little:
        all of them are given the mean of the mixture.
        """
        pending = self.history.pending
        known, places = self.modelled, tuple(trial.point for trial in pending)
        base, done = known, 0
        if self._fantasies is not None and self._fantasies[0] is known:
            earlier = self._fantasies[1]
            if places[: len(earlier)] == earlier:
                base, done = self._fantasies[2], len(earlier)
        for trial in pending[done:]:  # one by one, as they were asked for: rounding is then the same
            place = places_of([trial], self.graph)
            base = base.extend(Observations(place, base.mean(place), self._fantasy_noise(known, place)))
        self._fantasies = (known, places, base)
        return base

    def _fantasy_noise(self, known: Surrogate, places: Points) -> np.ndarray | None:
        """Noise of values yet to come: the common one, or the mean of those that have their own."""
        if not known.observations.has_own_noise.all():
            return None
        return np.full(len(places), float(known.noise.mean()))

    # Telling

    @explained
    def tell(
        self, subject: Any, values: Any, noise: Any = None, at: Any = None, *, note: str = ""
    ) -> list[int]:
        """Record what was measured: all of it or, on an error, nothing.

        Parameters
        ----------
        subject : Suggestion, int, Point, Points, str or a sequence of them
            A suggestion, its id, or places that were never asked for: points, names of vertices, in a
            sequence also pairs (edge id, distance).
        values : float, "failed" or a sequence of them
            One value for each; NaN or "failed" is recorded and not modelled.
        noise : float or sequence of float, optional
            Noise variances of their own.
        at : Point, Points, (edge id, distance), name of a vertex, or a sequence, optional
            Where they were measured, if not where they were asked for.
        note : str
            A remark, such as why it failed.

        Returns
        -------
        list of int
            Ids of the trials.

        Raises
        ------
        ObservationError
            A value is infinite or no number, or its trial was told before.

        Examples
        --------
        >>> import netbo
        >>> optimizer = netbo.Optimizer(netbo.interval(2.0))
        >>> optimizer.tell(optimizer.graph.points(0, [0.5, 1.5]), [1.0, "failed"])
        [0, 1]
        """
        subjects, is_single = arguments.as_subjects(subject, self.graph)
        n = len(subjects)
        told = [
            arguments.as_told(value, variance, note)
            for value, variance in zip(
                arguments.spread(values, n, is_single, "values"),
                arguments.spread(noise, n, is_single, "noise"),
                strict=True,
            )
        ]
        places = [
            None if place is None else as_place(place, self.graph)
            for place in arguments.spread(at, n, is_single, "at")
        ]
        ids = [each for each in subjects if isinstance(each, int)]
        if len(set(ids)) < len(ids):
            raise ObservationError(f"each trial is told once, got the ids {ids}; tell a repeat by its point")
        for trial_id in ids:
            self.history.require_open(trial_id)
        trials = [
            self.history.tell(each, what, place)
            if isinstance(each, int)
            else self.history.add(each if place is None else place, what)
            for each, what, place in zip(subjects, told, places, strict=True)
        ]
        return [trial.id for trial in trials]

    @explained
    def cancel(self, suggestion: Suggestion | int) -> None:
        """Give up a pending suggestion; a value told for it later is still welcome.

        Parameters
        ----------
        suggestion : Suggestion or int
            It, or its id.

        Raises
        ------
        ObservationError
            It is not pending.

        Examples
        --------
        >>> import netbo
        >>> optimizer = netbo.Optimizer(netbo.interval(2.0))
        >>> optimizer.cancel(optimizer.ask())
        >>> optimizer.history
        History(1 cancelled)
        """
        self.history.cancel(_id_of(suggestion))

    @explained
    def correct(self, suggestion: Suggestion | int, value: float, noise: float | None = None) -> None:
        """Replace the value of a trial that was told.

        Parameters
        ----------
        suggestion : Suggestion or int
            The trial, or its id.
        value : float
            What is right.
        noise : float, optional
            Noise variance of its own; by default as it was.

        Raises
        ------
        ObservationError
            The value is no number, or the trial was not told.

        Examples
        --------
        >>> import netbo
        >>> optimizer = netbo.Optimizer(netbo.interval(2.0))
        >>> [trial] = optimizer.tell(optimizer.ask(), 30.0)
        >>> optimizer.correct(trial, 3.0)
        >>> optimizer.best().value
        3.0
        """
        told = arguments.as_told(value, noise)
        if told.value is None:
            raise ObservationError(f"a correction must be a number, got {value!r}; try withdraw(id)")
        self.history.correct(_id_of(suggestion), told)

    @explained
    def withdraw(self, suggestion: Suggestion | int) -> None:
        """Take a value back: it stays in the history and no longer counts.

        Parameters
        ----------
        suggestion : Suggestion or int
            The trial, or its id.

        Raises
        ------
        ObservationError
            The trial has no value that counts.

        Examples
        --------
        >>> import netbo
        >>> optimizer = netbo.Optimizer(netbo.interval(2.0))
        >>> [trial] = optimizer.tell(optimizer.ask(), 30.0)
        >>> optimizer.withdraw(trial)
        >>> optimizer.history
        History(1 withdrawn)
        """
        self.history.withdraw(_id_of(suggestion))

    @explained
    def replace_history(self, history: Iterable[Trial]) -> None:
        """Go on from another record; what was learned is kept as far as the values are the same.

        A History is taken over, not copied: leave it to this optimizer.
        """
        record = history if isinstance(history, History) else History(history)
        record.follow(self.history)
        self.history = record

    # What was learned; `Answers` has the rest

    @property
    def observations(self) -> Observations:
        """The values that count, in the order they were told."""
        measured = self.history.measured
        return Observations(measured.places(self.graph), measured.value, measured.noise)

    @property
    def outcome(self) -> SurrogateFit:
        """What was learned, in the unit of the model: surrogate, fits of all models and their weights."""
        if self._learned is None or self._learned[0] != self.history.version_of_values:
            self.history.require_observed("a model")
            self._learned = (self.history.version_of_values, self._learner.learn(self.observations))
        return self._learned[1]

    @property
    def maximized(self) -> Surrogate:
        """The surrogate of the maximization form: of f, or of -f when minimizing."""
        return scaled(self.modelled, self.outcome.unit)

    @property
    def modelled(self) -> Surrogate:
        """The same in the unit of the model, where scores and sample paths are compared."""
        outcome = self.outcome
        if self._sign > 0:
            return outcome.surrogate
        if self._negated is None or self._negated.base is not outcome.surrogate:
            self._negated = Negated(outcome.surrogate)
        return self._negated

    upright = maximized  # its earlier name, until 1.0

    @explained
    def maximizer(self, draws: int | None = None) -> MaximizerSamples:
        """Where joint samples of the posterior have their best value (the largest, or smallest)."""
        rng = self._stream(_ANSWERING, self.history.count(Status.OBSERVED))
        places = Points.concatenate(
            [self.observations.points, Points.at(self.recommend().point, graph=self.graph)]
        )
        return MaximizerSamples.draw(self.modelled, self.search, rng, draws, places=places)

    def standing(self) -> tuple[int, float | None]:
        """Evaluations made, failed ones included, and the best value so far: what a bar shows."""
        made = sum(trial.order is not None for trial in self.history)
        return made, self.best().value if self.history.count(Status.OBSERVED) else None

    # Inside

    def _stream(self, purpose: int, counter: int) -> np.random.Generator:
        """Randomness that depends on the seed and on how far the study has come, on nothing else."""
        return np.random.default_rng(np.random.SeedSequence(self.seed, spawn_key=(purpose, counter)))

    def _places(self, *statuses: Status) -> Points:
        trials = [trial for trial in self.history if trial.status in statuses]
        return places_of(trials, self.graph)


def _id_of(suggestion: Suggestion | int) -> int:
    return suggestion.id if isinstance(suggestion, Suggestion) else suggestion
