"""Which way to search is best? Methods on problems, paired by seed: runs, leaderboard, significance.

A method is anything that asks and tells. All of them measure the same problems with the same errors, with as
many evaluations each, and every run is kept on disk, so that a comparison goes on where it was broken off.
"""

import re
import tempfile
from collections.abc import Callable, Iterable, Mapping, Sequence
from contextlib import ExitStack
from dataclasses import dataclass, field, replace
from functools import cached_property
from pathlib import Path
from typing import TYPE_CHECKING, Self

import numpy as np
import pandas as pd
from scipy.stats import binomtest, wilcoxon

from netbo.arrays import BoolArray, FloatArray
from netbo.checks import require_count
from netbo.errors import ParameterError
from netbo.experiments.cell import NO_LABEL, Repeatable, Run
from netbo.experiments.runner import Progress, all_runs, tidy, write_table
from netbo.experiments.searcher import ANSWERS, CPU, Method, Pairing, share_better
from netbo.experiments.statistics import (
    bootstrap_interval,
    effects,
    iterations_to,
    regret_array,
    summarize,
)
from netbo.experiments.workers import open_workers
from netbo.files import replacing
from netbo.optional import require
from netbo.problems import SUITE, Problem, SuiteProblem, suite_problem

if TYPE_CHECKING:
    from matplotlib.figure import Figure

TOLERANCE = 0.01  # of the spread of the values: a regret that people would call found
CHECKPOINTS = (10, 20, 40, 60)  # evaluations after which regrets are compared
TOP = 0.005  # of the length: a place than which less is better would be visited by a crew
RUN = ["problem", "method", "seed"]
PAIR = ["problem", "seed"]


@dataclass(frozen=True, eq=False)
class Comparison:
    """Runs of methods on problems.

    table: one row an evaluation, in the columns of every experiment; `regret` is a share of the spread of the
        problem's values, `better` the share of the length with better values, `iteration` counts evaluations
        from 1. Evaluations that were no improvement may be left out.
    answers: one row a run: seconds of processor time an evaluation, and what the methods that answer said at
        the end.
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

    def among(self, methods: Iterable[str] | None = None, problems: Iterable[str] | None = None) -> Self:
        """The runs of some methods and problems alone."""
        names = {"method": methods, "problem": problems}
        wanted = {column: list(each) for column, each in names.items() if each is not None}
        found = self._kept(
            lambda rows: np.all([rows[name].isin(each) for name, each in wanted.items()], axis=0)
        )
        if wanted and found.table.empty:
            raise ParameterError(f"some runs must be left, got none of {wanted}; see methods and table")
        return found if wanted else self

    def paired(self) -> Self:
        """The runs of those pairs of problem and seed that every method has: what is fair to compare."""
        counts = self.needed.groupby(PAIR)["method"].nunique()
        common = counts.index[counts == len(self.methods)]
        if len(common) == len(counts):
            return self
        return self._kept(lambda rows: pd.MultiIndex.from_frame(rows[PAIR]).isin(common))

    def _kept(self, is_kept: Callable[[pd.DataFrame], BoolArray]) -> Self:
        answers = self.answers if self.answers.empty else self.answers[is_kept(self.answers)]
        return replace(self, table=self.table[is_kept(self.table)], answers=answers)

    # What each run amounts to

    @cached_property
    def needed(self) -> pd.DataFrame:
        """Evaluations each run needed, NaN if it did not arrive: problem, method, seed, iterations."""
        labels = self.table[["cell", *RUN]].drop_duplicates()
        return iterations_to(self.table, self.tolerance, count_init=True).merge(labels, on=["cell", "seed"])

    def visits(self, share: float = TOP) -> pd.DataFrame:
        """Evaluations until a place was measured than which less than a share of the length is better.

        A row a run; NaN if there was none. On a flat top any place of it will do.
        """
        is_there = self.table["better"] < share
        first = self.table[is_there].groupby(RUN)["iteration"].min().astype(float).rename("evaluations")
        return self.needed[RUN].merge(first.reset_index(), on=RUN, how="left")

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
        both = self.needed.merge(last, on=RUN)
        missed = both["iterations"].isna()
        both["order"] = both["iterations"].fillna(2 * self.budget) + np.where(missed, both["regret"], 0.0)
        both["rank"] = both.groupby(PAIR)["order"].rank()
        return both[[*RUN, "rank"]]

    # What each method amounts to

    def rates(self) -> pd.DataFrame:
        """Share of runs that arrived, with Wilson's interval, a row a problem and method."""
        return summarize(self.table, self.tolerance, by=("problem", "method"), count_init=True)

    def leaderboard(self) -> pd.DataFrame:
        """One row a method, best mean rank first, over the pairs of problem and seed that all of them have.

        reached, low, high: share of runs that arrived, mean over problems, with the 95 % interval of a
            bootstrap over problems and seeds.
        evaluations: geometric mean of those needed, twice the budget for a run that did not arrive.
        ms an ask: processor time, the median of the runs.
        """
        found = self.paired()
        arrived = found.needed["iterations"].notna().astype(float)
        rows = []
        for method, runs in found.needed.assign(arrived=arrived).groupby("method"):
            groups = [part.to_numpy() for _, part in runs.groupby("problem")["arrived"]]
            interval = bootstrap_interval(groups, np.random.default_rng(0))
            rate = float(np.mean([part.mean() for part in groups]))
            rows.append((method, rate, *interval, float(np.exp(_mean_log(runs, self.budget).mean()))))
        table = pd.DataFrame(rows, columns=["method", "reached", "low", "high", "evaluations"])
        table = table.set_index("method")
        table["rank"] = found.ranks().groupby("method")["rank"].mean()
        medians = found.regrets().groupby(["method", "evaluations"])["regret"].median().unstack()
        for mark in medians:
            table[f"regret after {mark}"] = medians[mark]
        if CPU in found.answers:
            table["ms an ask"] = 1e3 * found.answers.groupby("method")[CPU].median()
        return table.sort_values("rank").reset_index()

    def answered(self) -> pd.DataFrame:
        """How good the answers were at the end, one row a method that answers.

        covers: share of runs whose 95 % interval at the recommended place held the maximum; holds: that of
        the best value; listed: share whose list of stretches held a maximizer; recommended, distance,
        best_distance: medians.
        """
        said = self.answers.dropna(subset=["recommended"]).groupby("method", sort=False)
        parts = [
            said[["covers", "holds", "listed"]].mean(),
            said[["recommended", "distance", "best_distance"]].median(),
        ]
        return pd.concat([said.size().rename("runs"), *parts], axis=1).reset_index()

    # Two methods, in pairs

    def effects(self, reference: str) -> pd.DataFrame:
        """By how much other methods arrive more often than one, in pairs, with bootstrap intervals."""
        return effects(self.table, reference, self.tolerance, count_init=True)

    def losses(self, method: str) -> pd.DataFrame:
        """Where a method arrives less often than another, a row a problem and rival: Holm-adjusted p-values.

        One-sided exact McNemar tests of the pairs of seeds in which one of both arrived.
        """
        arrived = self.needed.assign(arrived=self.needed["iterations"].notna())
        wide = arrived.pivot(index=PAIR, columns="method", values="arrived")
        rows = []
        for rival in self._rivals(method):
            for problem, pairs in wide[[method, rival]].dropna().astype(bool).groupby("problem"):
                won, lost = (pairs[method] & ~pairs[rival]).sum(), (pairs[rival] & ~pairs[method]).sum()
                p = binomtest(int(lost), int(won + lost), alternative="greater").pvalue if won + lost else 1.0
                gain = float(pairs[method].mean() - pairs[rival].mean())
                rows.append({"problem": problem, "rival": rival, "difference": gain, "p": p})
        return _adjusted(pd.DataFrame(rows, columns=["problem", "rival", "difference", "p"]))

    def behind(self, method: str, rival: str) -> pd.DataFrame:
        """Where a method's regret is larger than a rival's, a row a problem and checkpoint: Holm-adjusted.

        One-sided Wilcoxon tests of the pairs of seeds; `difference` is the median of theirs.
        """
        self._rivals(method)
        self._rivals(rival)
        by, rows = ["problem", "evaluations"], []
        wide = self.regrets().pivot(index=[*by, "seed"], columns="method", values="regret")
        for (problem, mark), gap in (wide[method] - wide[rival]).dropna().groupby(by):
            p = float(wilcoxon(gap, alternative="greater").pvalue) if np.any(gap != 0) else 1.0
            rows.append({"problem": problem, "evaluations": mark, "difference": gap.median(), "p": p})
        return _adjusted(pd.DataFrame(rows, columns=["problem", "evaluations", "difference", "p"]))

    def duels(self, method: str) -> pd.DataFrame:
        """A method against each other one, on the pairs that both have, a row a rival.

        effect, low, high: by how much it arrives more often, with its interval; worst, on: the smallest
        difference on a problem, and which; p_holm: the smallest of `losses`; evaluations: geometric mean of
        those needed over that of the rival.
        """
        losses, rows = self.losses(method), []
        for rival in self._rivals(method):
            both = self.among([method, rival]).paired()
            gain = both.effects(rival).iloc[0]
            each = losses[losses["rival"] == rival]
            worst = each.sort_values("difference", kind="stable").iloc[0]
            needed = dict(list(both.needed.groupby("method")))
            logged = [_mean_log(needed[name], self.budget) for name in (method, rival)]
            rows.append(
                {
                    "rival": rival, "problems": len(each), "pairs": gain["pairs"], "effect": gain["effect"],
                    "low": gain["low"], "high": gain["high"], "worst": worst["difference"],
                    "on": worst["problem"], "p_holm": each["p_holm"].min(),
                    "evaluations": float(np.exp((logged[0] - logged[1]).mean())),
                }
            )  # fmt: skip
        return pd.DataFrame(rows)

    def _rivals(self, method: str) -> list[str]:
        if method not in self.methods:
            raise ParameterError(f"a method must be one of {', '.join(self.methods)}, got {method!r}")
        return [each for each in self.methods if each != method]

    # Pictures and files

    def plot(self) -> "Figure":
        """The leaderboard: reach rates with intervals, and regrets over evaluations."""
        from netbo.experiments.figures.leaderboard import draw_leaderboard  # noqa: PLC0415 - draws, so late

        return draw_leaderboard(self)

    def write(self, folder: Path | str) -> None:
        """Keep every run as small as it can be, one Parquet file a method: improvements and answers."""
        require("pyarrow", extra="paper", purpose="writing Parquet")
        rows = self.table.sort_values([*RUN, "iteration"], kind="stable")
        before = rows.groupby(RUN, sort=False)["regret"].transform(lambda each: each.cummin().shift())
        kept = rows[~(rows["regret"] >= before)][[*RUN, "iteration", "regret", "better"]]
        small = kept.merge(self.answers, on=RUN, how="left").assign(budget=self.budget)
        figures = dict.fromkeys(small.select_dtypes("float"), np.float32)
        small = small.astype(figures | dict.fromkeys(["seed", "iteration", "budget"], np.int32))
        Path(folder).mkdir(parents=True, exist_ok=True)
        for method, part in small.groupby("method", sort=False):
            with replacing(Path(folder) / f"{_file_name(str(method))}.parquet") as unfinished:
                part.to_parquet(unfinished, index=False, compression="zstd")

    @classmethod
    def read(cls, folder: Path | str) -> Self:
        """The comparison of all runs that `write` has put into a folder, methods by name."""
        require("pyarrow", extra="paper", purpose="reading Parquet")
        paths = sorted(Path(folder).glob("*.parquet"))
        if not paths:
            raise ParameterError(f"a folder of a comparison holds Parquet files, got none in {folder}")
        rows = pd.concat([pd.read_parquet(path) for path in paths], ignore_index=True)
        rows = rows.astype(dict.fromkeys(rows.select_dtypes("float32"), np.float64))
        rows = rows.astype(dict.fromkeys(rows.select_dtypes("int32"), np.int64))
        labels = {name: value for name, value in NO_LABEL.items() if name not in rows}
        table = rows.drop(columns=["budget", CPU, *ANSWERS], errors="ignore").assign(
            **labels, is_design=False
        )
        table["cell"] = table["problem"] + " " + table["method"]
        answers = rows.reindex(columns=[*RUN, CPU, *ANSWERS]).drop_duplicates(RUN, ignore_index=True)
        return cls(table, answers, int(rows["budget"].max()))


def _mean_log(runs: pd.DataFrame, budget: int) -> pd.Series:
    """Mean logarithm of the evaluations needed on each problem, twice the budget if it did not arrive."""
    logged = pd.Series(np.log(runs["iterations"].fillna(2.0 * budget)), index=runs.index)
    return logged.groupby(runs["problem"]).mean()


def _adjusted(tests: pd.DataFrame) -> pd.DataFrame:
    """Tests with their p-values adjusted by Holm's method, the smallest first."""
    found = tests.sort_values("p", kind="stable")
    found["p_holm"] = np.minimum(1.0, (found["p"] * np.arange(len(found), 0, -1)).cummax())
    return found.reset_index(drop=True)


def _file_name(method: str) -> str:
    return re.sub(r"[^a-z0-9.]+", "-", method.lower()).strip("-")


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
        and tell; in other processes it must be importable. If it has a parameter `noise`, it is told the
        variance of a measurement, None where that is not known.
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
        Folder for the runs and their tables; a comparison goes on with those it finds there, so that methods,
        problems and repetitions can be added later.
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
    if not chosen:
        raise ParameterError("a comparison needs problems, got none; leave problems out for the suite's")
    posed = [suite_problem(each) if isinstance(each, str) else each for each in chosen]
    cells = [Pairing(name, way, each, budget, shared) for each in posed for name, way in methods.items()]
    with ExitStack() as stack:
        folder = Path(stack.enter_context(tempfile.TemporaryDirectory()) if out is None else out)
        workers = stack.enter_context(open_workers(executor, jobs))
        seeds = range(seed, seed + repetitions)
        runs = all_runs(cells, seeds, folder, workers=workers, progress=progress)
        found = Comparison(_table(cells, seeds, runs), _answers(runs), budget)
        if out is not None:
            write_table(found.table, folder)
            write_table(found.answers, folder, "answers")
    return found


def _table(
    cells: Sequence[Pairing], seeds: Sequence[int], runs: dict[tuple[Repeatable, int], Run]
) -> pd.DataFrame:
    """One row an evaluation."""
    table = tidy(cells, seeds, runs).assign(experiment="comparison", is_design=False)
    table["iteration"] = table["query"] + 1
    for name, problem in {cell.posed.name: cell.problem for cell in cells}.items():
        here = table["problem"] == name
        table.loc[here, "better"] = share_better(problem, table.loc[here, "value"].to_numpy())
    return table


def _answers(runs: Mapping[tuple[Repeatable, int], Run]) -> pd.DataFrame:
    rows = [{**cell.labels, "seed": seed, **run.answers} for (cell, seed), run in runs.items()]
    return pd.DataFrame(rows, columns=[*RUN, CPU, *ANSWERS])
