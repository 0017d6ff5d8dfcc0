"""Which way to search is best? Methods on problems, paired by seed: runs, leaderboard, significance.

A method is anything that asks and tells. All of them measure the same problems with the same errors, with as
many evaluations each, and every run is kept on disk, so that a comparison goes on where it was broken off.
"""

import hashlib
import re
import tempfile
from collections.abc import Callable, Mapping, Sequence
from contextlib import ExitStack
from dataclasses import dataclass, field
from functools import cached_property
from pathlib import Path
from typing import Any, Protocol

import numpy as np
import pandas as pd
from scipy.stats import binomtest

import netbo
from netbo.arrays import FloatArray
from netbo.checks import require_count
from netbo.errors import ParameterError
from netbo.experiments.cell import Label, Queries, Repeatable, Run
from netbo.experiments.runner import Progress, all_runs, tidy, write_table
from netbo.experiments.statistics import effects, iterations_to, regret_array, summarize
from netbo.experiments.workers import open_workers
from netbo.geometry import Point, Points
from netbo.optimize import Optimizer
from netbo.problems import SUITE, Problem, SuiteProblem, suite_problem

TOLERANCE = 0.01  # of the spread of the values: a regret that people would call found
CHECKPOINTS = (10, 20, 40, 60)  # evaluations after which regrets are compared
ANSWERS = ("recommended", "covers")  # of what a method that answers says at the end


class Searcher(Protocol):
    """Anything that says where to measure next and takes the value."""

    def ask(self) -> Any:
        """A `Point`, or a suggestion with one."""

    def tell(self, suggestion: Any, value: float) -> Any:
        """The value measured there, or at `Points` that were never asked for."""


Method = Mapping[str, Any] | Callable[[Problem, int], Searcher]


@dataclass(frozen=True, eq=False)
class Pairing:
    """A method on a problem; what `compare` repeats over seeds."""

    name: str
    method: Method
    posed: SuiteProblem | Problem
    budget: int
    n_init: int = 0  # places of a design that all methods share

    @property
    def key(self) -> str:
        """A folder's name."""
        return re.sub(r"[^a-z0-9.]+", "-", f"{self.posed.name} {self.name}".lower())

    @property
    def labels(self) -> Mapping[str, Label]:
        """Columns of the table."""
        return {"problem": self.posed.name, "method": self.name, "n_init": self.n_init}

    @cached_property
    def problem(self) -> Problem:
        """The problem itself."""
        return self.posed.build() if isinstance(self.posed, SuiteProblem) else self.posed

    @property
    def spread(self) -> float:
        """Regrets are shares of it."""
        return self.problem.spread

    def fingerprint(self) -> str:
        """Hash of everything that decides its runs."""
        method = sorted(self.method.items()) if isinstance(self.method, Mapping) else self.method
        posed = self.posed if isinstance(self.posed, SuiteProblem) else self.posed.name
        content = repr((netbo.__version__, method, posed, self.budget, self.n_init))
        return hashlib.sha256(re.sub(r" at 0x[0-9a-f]+", "", content).encode()).hexdigest()

    def run(self, seed: int) -> Run:
        """Evaluations up to the budget; the errors of measurements depend on seed and count alone."""
        problem, made, rng = self.problem, Queries(), np.random.default_rng([seed, 1])
        searcher = self._start(seed)
        for place in self._shared(seed):
            searcher.tell(Points.at(place, graph=problem.graph), made.add(problem, place, rng))
        while len(made.value) < self.budget:
            suggestion = searcher.ask()
            place = suggestion if isinstance(suggestion, Point) else suggestion.point
            searcher.tell(suggestion, made.add(problem, place, rng))
        return made.run(problem, 0, answers_of(searcher, problem))

    def _start(self, seed: int) -> Searcher:
        if not isinstance(self.method, Mapping):
            return self.method(self.problem, seed)
        told = {} if self._is_noise_hidden else {"noise": self.problem.noise}
        return Optimizer(self.problem.graph, seed=seed, **told | dict(self.method))

    @property
    def _is_noise_hidden(self) -> bool:
        return isinstance(self.posed, SuiteProblem) and not self.posed.is_noise_known

    def _shared(self, seed: int) -> list[Point]:
        """The first places, equal for all methods: random, uniform in length."""
        rng = np.random.default_rng([seed, 2])
        return list(netbo.uniform_points(self.problem.graph, self.n_init, rng))


def answers_of(searcher: Any, problem: Problem) -> dict[str, float]:
    """What a method that answers recommends: its regret, and whether its interval holds the maximum."""
    if not isinstance(searcher, Optimizer):
        return {}
    found = searcher.recommend()
    regret = problem.regret(found.point) / problem.spread
    return dict(zip(ANSWERS, (regret, float(found.low <= problem.maximum <= found.high)), strict=True))


@dataclass(frozen=True, eq=False)
class Comparison:
    """Runs of methods on problems.

    table: one row an evaluation, in the columns of every experiment; `regret` is a share of the spread of the
        problem's values, `iteration` counts evaluations from 1.
    answers: one row a run, what the methods that answer said at the end.
    """

    table: pd.DataFrame
    answers: pd.DataFrame
    budget: int
    tolerance: float = TOLERANCE
    checkpoints: tuple[int, ...] = field(default=CHECKPOINTS)

    @property
    def methods(self) -> list[str]:
        """Names, in the order given."""
        return list(pd.unique(self.table["method"]))

    @cached_property
    def needed(self) -> pd.DataFrame:
        """Evaluations each run needed, NaN if it did not arrive: problem, method, seed, iterations."""
        labels = self.table[["cell", "seed", "problem", "method"]].drop_duplicates()
        return iterations_to(self.table, self.tolerance, count_init=True).merge(labels, on=["cell", "seed"])

    def rates(self) -> pd.DataFrame:
        """Share of runs that arrived, with Wilson's interval, a row a problem and method."""
        return summarize(self.table, self.tolerance, by=("problem", "method"), count_init=True)

    def effects(self, reference: str) -> pd.DataFrame:
        """By how much other methods arrive more often than one, in pairs, with bootstrap intervals."""
        return effects(self.table, reference, self.tolerance, count_init=True)

    def regrets(self) -> pd.DataFrame:
        """Regret of every run after each checkpoint and at its end, a row each."""
        marks = [mark for mark in self.checkpoints if mark < self.budget] + [self.budget]
        parts = []
        for (problem, method), runs in self.table.groupby(["problem", "method"], sort=False):
            best: FloatArray = regret_array(runs.assign(is_design=False), self.budget)
            seeds = np.sort(runs["seed"].unique())
            for mark in marks:
                rows = {"problem": problem, "method": method, "seed": seeds, "evaluations": mark}
                parts.append(pd.DataFrame(rows | {"regret": best[:, mark - 1]}))
        return pd.concat(parts, ignore_index=True)

    def ranks(self) -> pd.DataFrame:
        """Rank of each method in every pair of problem and seed, by evaluations needed, then by regret.

        Equal ones share their ranks; a run that did not arrive comes after all that did.
        """
        last = self.regrets().query("evaluations == evaluations.max()")
        both = self.needed.merge(last, on=["problem", "method", "seed"])
        missed = both["iterations"].isna()
        both["order"] = both["iterations"].fillna(2 * self.budget) + np.where(missed, both["regret"], 0.0)
        both["rank"] = both.groupby(["problem", "seed"])["order"].rank()
        return both[["problem", "method", "seed", "rank"]]

    def leaderboard(self) -> pd.DataFrame:
        """One row a method, best mean rank first.

        evaluations: geometric mean of those needed, twice the budget for a run that did not arrive.
        """
        needed = self.needed.assign(
            arrived=self.needed["iterations"].notna(),
            logged=np.log(self.needed["iterations"].fillna(2.0 * self.budget)),
        )
        by_problem = needed.groupby(["method", "problem"])[["arrived", "logged"]].mean()
        board = by_problem.groupby("method").mean()
        table = pd.DataFrame({"reached": board["arrived"], "evaluations": np.exp(board["logged"])})
        table["rank"] = self.ranks().groupby("method")["rank"].mean()
        medians = self.regrets().groupby(["method", "evaluations"])["regret"].median().unstack()
        for mark in medians:
            table[f"regret after {mark}"] = medians[mark]
        return table.sort_values("rank").reset_index()

    def losses(self, method: str) -> pd.DataFrame:
        """Where a method arrives less often than another, a row a problem and rival: Holm-adjusted p-values.

        One-sided exact McNemar tests of the pairs of seeds in which one of both arrived.
        """
        arrived = self.needed.assign(arrived=self.needed["iterations"].notna())
        wide = arrived.pivot(index=["problem", "seed"], columns="method", values="arrived")
        rows = []
        for rival in [each for each in self.methods if each != method]:
            for problem, pairs in wide[[method, rival]].dropna().groupby("problem"):
                won, lost = (pairs[method] & ~pairs[rival]).sum(), (pairs[rival] & ~pairs[method]).sum()
                p = binomtest(int(lost), int(won + lost), alternative="greater").pvalue if won + lost else 1.0
                gain = float(pairs[method].mean() - pairs[rival].mean())
                rows.append({"problem": problem, "rival": rival, "difference": gain, "p": p})
        found = pd.DataFrame(rows, columns=["problem", "rival", "difference", "p"]).sort_values("p")
        found["p_holm"] = np.minimum(1.0, (found["p"] * np.arange(len(found), 0, -1)).cummax())
        return found.reset_index(drop=True)


def compare(
    methods: Mapping[str, Method],
    problems: Sequence[str | SuiteProblem | Problem] | None = None,
    repetitions: int = 20,
    *,
    budget: int = 60,
    shared: int = 0,
    seed: int = 0,
    out: Path | str | None = None,
    jobs: int = 1,
    executor: str | None = None,
    progress: Progress = lambda done, total: None,
) -> Comparison:
    """Compare ways to search, on the suite of named problems or on problems of your own.

    Parameters
    ----------
    methods : mapping
        Name to options of `Optimizer`, or to a function of (problem, seed) that returns an object with ask
        and tell; in other processes it must be importable.
    problems : sequence, optional
        Names of the suite, its problems, or a `Problem` each; by default those of the suite that are not
        locked.
    repetitions : int
        Seeds of each method on each problem.
    budget : int
        Evaluations of a run.
    shared : int
        Random places all methods begin with; 0 lets each use its own design.
    seed : int
        Of the first repetition; the others count on from it.
    out : path, optional
        Folder for the runs and their table; a comparison goes on with those it finds there.
    jobs, executor
        Runs at a time, and where: "processes", "dask" or "dask://host:port".
    progress : callable
        Called with the runs done and all runs.

    Returns
    -------
    Comparison
        Table of all evaluations, leaderboard, paired effects.

    Raises
    ------
    ParameterError
        A problem is unknown, or there are no methods.

    Examples
    --------
    >>> import netbo
    >>> ways = {"random": {"acquisition": "random"}, "default": {}}
    >>> found = netbo.compare(ways, ["tree-40/ackley"], repetitions=1, budget=10)
    >>> sorted(found.leaderboard()["method"])
    ['default', 'random']
    """
    require_count("repetitions", repetitions, "20 tell methods apart")
    require_count("budget", budget, "60 is the usual one")
    if not methods:
        raise ParameterError("a comparison needs methods, got none; give {'default': {}}")
    chosen = [each for each in SUITE if not each.is_locked] if problems is None else problems
    posed = [suite_problem(each) if isinstance(each, str) else each for each in chosen]
    cells = [Pairing(name, way, each, budget, shared) for each in posed for name, way in methods.items()]
    with ExitStack() as stack:
        folder = Path(stack.enter_context(tempfile.TemporaryDirectory()) if out is None else out)
        workers = stack.enter_context(open_workers(executor, jobs))
        seeds = range(seed, seed + repetitions)
        runs = all_runs(cells, seeds, folder, workers=workers, progress=progress)
        table = tidy(cells, seeds, runs).assign(experiment="comparison", is_design=False)
        table["iteration"] = table["query"] + 1
        if out is not None:
            write_table(table, folder)
    return Comparison(table, _answers(runs), budget)


def _answers(runs: Mapping[tuple[Repeatable, int], Run]) -> pd.DataFrame:
    rows = [{**cell.labels, "seed": seed, **run.answers} for (cell, seed), run in runs.items()]
    return pd.DataFrame(rows, columns=["problem", "method", "seed", *ANSWERS])
