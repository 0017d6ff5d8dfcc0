"""Do our runs agree with the paper? Its printed numbers and its sentences, checked."""

from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from enum import Enum
from itertools import product
from types import MappingProxyType

import numpy as np
import pandas as pd

from netbo.experiments.printed import PRINTED_ITERATIONS, PRINTED_MESHES, PrintedCell, Sentence, printed_cell
from netbo.experiments.spec import EUCLIDEAN, GP_TS, IGP_UCB, SPDE
from netbo.experiments.statistics import Estimate, mean_estimate, mean_iterations, rate_difference, reach_rate

# Does our number agree with the printed one? Said in a sentence that is computed, not written.


class Verdict(Enum):
    """What a comparison with the paper came to."""

    AGREES = "agrees"
    COMPATIBLE = "compatible"  # outside our interval, but the printed number has an error of its own
    DIFFERS = "differs"
    UNDECIDED = "undecided"  # too few runs to say
    FIGURE_ONLY = "figure only"  # no number is printed
    OURS = "ours"  # not in the paper


@dataclass(frozen=True, slots=True)
class Finding:
    """A verdict and its reason."""

    verdict: Verdict
    reason: str

    def __str__(self) -> str:
        return f"{self.verdict.value}: {self.reason}" if self.reason else self.verdict.value


NOT_PRINTED = Finding(Verdict.FIGURE_ONLY, "")
NOT_IN_PAPER = Finding(Verdict.OURS, "")
WIDEST_RATE = 0.5  # an interval that holds half of all shares tells nothing
WIDEST_MEAN = 2.0  # in printed means; likewise


def judge_rate(ours: Estimate, printed: PrintedCell | None) -> Finding:
    """Reach rates: inside our interval, or within the errors of both samples, or neither.

    The printed rate is itself a count of 60 runs; the difference is judged by Newcombe's interval.
    """
    if printed is None:
        return NOT_PRINTED
    number, interval = percent(printed.reach_rate), percent_interval(ours)
    if ours.n == 0:
        return Finding(Verdict.UNDECIDED, "no runs of ours")
    if ours.holds(printed.reach_rate) and ours.width > WIDEST_RATE:
        return Finding(Verdict.UNDECIDED, f"our interval {interval} from {ours.n} run(s) is too wide to tell")
    if ours.holds(printed.reach_rate):
        return Finding(Verdict.AGREES, f"printed {number} lies inside our interval {interval}")
    gap = rate_difference(round(ours.value * ours.n), ours.n, printed.reached, printed.repetitions)
    if gap.holds(0.0):
        reason = (
            f"printed {number} lies outside our interval {interval}, but within the errors of both samples"
        )
        return Finding(Verdict.COMPATIBLE, reason)
    side = "above" if ours.value > printed.reach_rate else "below"
    points = abs(100 * gap.value)
    reason = f"printed {number} lies outside our interval {interval}; ours is {points:.0f} points {side}"
    return Finding(Verdict.DIFFERS, reason)


def judge_iterations(ours: Estimate, printed: PrintedCell | None) -> Finding:
    """Mean iterations of successful runs; the paper prints no spread, so only our interval is known."""
    if printed is None:
        return NOT_PRINTED
    number = f"{printed.mean_iterations:.2f}"
    if np.isnan(ours.low):
        return Finding(Verdict.UNDECIDED, f"{ours.n} successful run(s) of ours give no interval")
    interval = number_interval(ours)
    if ours.holds(printed.mean_iterations) and ours.width > WIDEST_MEAN * printed.mean_iterations:
        reason = f"our interval {interval} from {ours.n} successful run(s) is too wide to tell"
        return Finding(Verdict.UNDECIDED, reason)
    if ours.holds(printed.mean_iterations):
        return Finding(Verdict.AGREES, f"printed {number} lies inside our interval {interval}")
    side = "more" if ours.value > printed.mean_iterations else "fewer"
    gap = abs(ours.value - printed.mean_iterations)
    reason = f"printed {number} lies outside our interval {interval}; ours needs {gap:.1f} {side}"
    return Finding(Verdict.DIFFERS, reason)


def percent(share: float) -> str:
    """A share as percent, with a digit after the point where it is not whole."""
    return f"{_digits(share)} %"


def _digits(share: float) -> str:
    return f"{100 * share:.1f}".removesuffix(".0")


def percent_interval(estimate: Estimate) -> str:
    """The interval of a share in percent."""
    return f"{_digits(estimate.low)}-{_digits(estimate.high)} %"


def number_interval(estimate: Estimate) -> str:
    """The interval of a mean."""
    return f"{estimate.low:.2f}-{estimate.high:.2f}"


def show_rate(estimate: Estimate) -> str:
    """A reach rate with its interval, as tables have it."""
    return "-" if estimate.n == 0 else f"{percent(estimate.value)} ({percent_interval(estimate)})"


def show_mean(estimate: Estimate) -> str:
    """A mean with its interval, as tables have it."""
    if estimate.n == 0:
        return "-"
    return f"{estimate.value:.2f}" + ("" if np.isnan(estimate.low) else f" ({number_interval(estimate)})")


RELIABLE = 0.95  # what "approaching 1" is taken to mean
MESH_TOLERANCE = 0.02  # relative, of "approximately 300 nodes"
BASELINE_INIT = 8

Check = Callable[[pd.DataFrame], Finding]
TOO_LITTLE = Finding(Verdict.UNDECIDED, "the runs it speaks of are not part of this spec")


def check(sentence: Sentence, runs: pd.DataFrame) -> Finding:
    """What our runs say to a sentence of the paper."""
    return _CHECKS[sentence.key](runs)


def _select(runs: pd.DataFrame, **labels: object) -> pd.DataFrame:
    for name, value in labels.items():
        runs = runs[runs[name] == value]
    return runs


def rate_gap(ours: pd.DataFrame, theirs: pd.DataFrame) -> Estimate | None:
    """Difference of two reach rates; over several sources that of the sources' own differences."""
    if not len(ours) or not len(theirs):
        return None
    first, second = ours["iterations"].notna(), theirs["iterations"].notna()
    if ours["source"].nunique() > 1:
        shares = (
            each.astype(float).groupby(runs["source"]).mean()
            for each, runs in ((first, ours), (second, theirs))
        )
        return mean_estimate(next(shares) - next(shares))
    return rate_difference(int(first.sum()), len(first), int(second.sum()), len(second))


def _judge_gaps(gaps: Iterable[Estimate | None], what: str) -> Finding:
    """Whether every difference is positive beyond its error, some negative, or it cannot be said."""
    known = [gap for gap in gaps if gap is not None]
    if not known:
        return TOO_LITTLE
    above, below = sum(gap.low > 0 for gap in known), sum(gap.high < 0 for gap in known)
    spread = (
        f"{100 * min(gap.value for gap in known):+.0f} to {100 * max(gap.value for gap in known):+.0f} points"
    )
    reason = (
        f"{what} in {above} of {len(known)} comparisons beyond the error of the runs, against it in {below}"
    )
    verdict = Verdict.AGREES if above == len(known) else Verdict.DIFFERS if below else Verdict.UNDECIDED
    return Finding(verdict, f"{reason} ({spread})")


def _kernel_gaps(runs: pd.DataFrame, factors: Sequence[str]) -> list[Estimate | None]:
    """SPDE less Euclidean for every acquisition and every value of the factors."""
    pairs = runs[runs["kernel"].isin([SPDE, EUCLIDEAN]) & runs["acquisition"].isin([IGP_UCB, GP_TS])]
    return [
        rate_gap(_select(part, kernel=SPDE), _select(part, kernel=EUCLIDEAN))
        for _, part in pairs.groupby(["acquisition", *factors], sort=False)
    ]


def _spde_outperforms(runs: pd.DataFrame) -> Finding:
    return _more_often_and_sooner(runs, ["problem"])


def _spde_higher_for_all_b(runs: pd.DataFrame) -> Finding:
    return _more_often_and_sooner(runs, ["problem", "b"])


def _more_often_and_sooner(runs: pd.DataFrame, factors: Sequence[str]) -> Finding:
    """Judged by reach rates; successful runs of a method that rarely succeeds say little of its speed."""
    found = _judge_gaps(_kernel_gaps(runs, factors), "the SPDE kernel reaches Tol more often")
    means = runs[runs["acquisition"].isin([IGP_UCB, GP_TS])].pivot_table(
        index=["acquisition", *factors], columns="kernel", values="iterations"
    )
    if found is TOO_LITTLE or not {SPDE, EUCLIDEAN} <= set(means):
        return found
    both = means[[SPDE, EUCLIDEAN]].dropna()
    sooner = int((both[SPDE] < both[EUCLIDEAN]).sum())
    return Finding(
        found.verdict, f"{found.reason}; its successful runs are sooner in {sooner} of {len(both)}"
    )


def _ucb_outperforms(runs: pd.DataFrame) -> Finding:
    spde = _select(runs, kernel=SPDE)
    gaps = [
        rate_gap(_select(part, acquisition=IGP_UCB), _select(part, acquisition=GP_TS))
        for _, part in spde.groupby("problem", sort=False)
    ]
    return _judge_gaps(gaps, "with the SPDE kernel IGP-UCB reaches Tol more often than GP-TS")


def _rastrigin_easier(runs: pd.DataFrame) -> Finding:
    euclidean = _select(runs, kernel=EUCLIDEAN)
    gaps = [
        rate_gap(
            _select(euclidean, acquisition=rule, problem="rastrigin"),
            _select(euclidean, acquisition=rule, problem=other),
        )
        for rule, other in product((IGP_UCB, GP_TS), ("ackley", "levy"))
    ]
    found = _judge_gaps(gaps, "the Euclidean kernel reaches Tol more often on Rastrigin")
    printed = [printed_cell(IGP_UCB, name, EUCLIDEAN) for name in ("ackley", "rastrigin")]
    ackley, rastrigin = (percent(cell.reach_rate) for cell in printed if cell is not None)
    note = f"the printed table has Ackley {ackley} above Rastrigin {rastrigin} (IGP-UCB)"
    return Finding(found.verdict, f"{found.reason}; {note}")


def _euclidean_rarely(runs: pd.DataFrame) -> Finding:
    return _judge_gaps(_kernel_gaps(runs, []), "the Euclidean kernel reaches Tol less often")


def _of_both_rules(runs: pd.DataFrame) -> dict[str, pd.DataFrame]:
    parts = {rule: _select(runs, kernel=SPDE, acquisition=rule) for rule in (IGP_UCB, GP_TS)}
    return {rule: part for rule, part in parts.items() if len(part)}


def _spde_reliable(runs: pd.DataFrame) -> Finding:
    rates = {rule: reach_rate(part) for rule, part in _of_both_rules(runs).items()}
    if not rates:
        return TOO_LITTLE
    text = ", ".join(f"{rule} {show_rate(rate)}" for rule, rate in rates.items())
    is_high = all(rate.high >= RELIABLE for rate in rates.values())
    if not is_high:
        return Finding(Verdict.DIFFERS, f"{text}; not every interval reaches {percent(RELIABLE)}")
    is_told = all(rate.width <= WIDEST_RATE for rate in rates.values())
    reason = f"{text}; every interval reaches {percent(RELIABLE)}" + ("" if is_told else ", but is wide")
    return Finding(Verdict.AGREES if is_told else Verdict.UNDECIDED, reason)


def _spde_iterations(runs: pd.DataFrame) -> Finding:
    means = {rule: mean_iterations(part) for rule, part in _of_both_rules(runs).items()}
    if not means or any(np.isnan(mean.low) for mean in means.values()):
        return TOO_LITTLE
    low, high = PRINTED_ITERATIONS
    text = ", ".join(f"{rule} {mean.value:.1f} ({number_interval(mean)})" for rule, mean in means.items())
    meets = all(mean.low <= high and mean.high >= low for mean in means.values())
    if not meets:
        return Finding(Verdict.DIFFERS, f"{text}; not every interval meets 20-30")
    is_told = all(mean.width <= high for mean in means.values())
    reason = f"{text}; every interval meets 20-30" + ("" if is_told else ", but is wide")
    return Finding(Verdict.AGREES if is_told else Verdict.UNDECIDED, reason)


def _changes_with_b(runs: pd.DataFrame, rule: str) -> list[Estimate]:
    """Reach rate at the largest b less that at the smallest, on every problem, SPDE kernel."""
    mine = _select(runs, kernel=SPDE, acquisition=rule)
    least, most = mine["b"].min(), mine["b"].max()
    if not least < most:
        return []
    parts = (part for _, part in mine.groupby("problem", sort=False))
    gaps = (rate_gap(_select(part, b=most), _select(part, b=least)) for part in parts)
    return [gap for gap in gaps if gap is not None]


def _points(gaps: Sequence[Estimate]) -> str:
    return ", ".join(
        f"{100 * gap.value:+.0f} ({100 * gap.low:+.0f} to {100 * gap.high:+.0f})" for gap in gaps
    )


def _unless_wide(gaps: Sequence[Estimate], *, is_so: bool) -> Verdict:
    """That nothing was seen to change counts only if a change would have been seen."""
    if not is_so:
        return Verdict.DIFFERS
    return Verdict.UNDECIDED if any(gap.width > WIDEST_RATE for gap in gaps) else Verdict.AGREES


def _ucb_insensitive(runs: pd.DataFrame) -> Finding:
    changes = _changes_with_b(runs, IGP_UCB)
    if not changes:
        return TOO_LITTLE
    reason = f"from the smallest b to the largest reach rates change by {_points(changes)} points (SPDE)"
    return Finding(_unless_wide(changes, is_so=all(gap.holds(0.0) for gap in changes)), reason)


def _ts_more_sensitive(runs: pd.DataFrame) -> Finding:
    sampled, bounded = (_changes_with_b(runs, rule) for rule in (GP_TS, IGP_UCB))
    if not sampled or not bounded:
        return TOO_LITTLE
    reason = f"from the smallest b to the largest GP-TS changes by {_points(sampled)} points (SPDE)"
    if all(gap.holds(0.0) for gap in sampled):
        return Finding(Verdict.UNDECIDED, f"{reason}, none beyond the error of the runs")
    most, others = (max(abs(gap.value) for gap in changes) for changes in (sampled, bounded))
    reason += f", IGP-UCB by at most {100 * others:.0f}"
    return Finding(Verdict.AGREES if most > others else Verdict.DIFFERS, reason)


def _init_gaps(runs: pd.DataFrame, more: int, fewer: int) -> list[Estimate | None]:
    spde = _select(runs, kernel=SPDE)
    parts = spde[spde["acquisition"].isin([IGP_UCB, GP_TS])].groupby(["acquisition", "max_cell"])
    return [rate_gap(_select(part, n_init=more), _select(part, n_init=fewer)) for _, part in parts]


def _more_init_helps(runs: pd.DataFrame) -> Finding:
    least = int(runs["n_init"].min())
    if least == BASELINE_INIT:
        return TOO_LITTLE
    what = f"N_init = {BASELINE_INIT} reaches Tol more often than {least} (SPDE)"
    return _judge_gaps(_init_gaps(runs, BASELINE_INIT, least), what)


def _eight_is_stable(runs: pd.DataFrame) -> Finding:
    most = int(runs["n_init"].max())
    gaps = [gap for gap in _init_gaps(runs, most, BASELINE_INIT) if gap is not None]
    if not gaps or most == BASELINE_INIT:
        return TOO_LITTLE
    gains = sum(gap.low > 0 for gap in gaps)
    verdict = _unless_wide(gaps, is_so=gains == 0)
    reason = (
        f"N_init = {most} reaches Tol more often beyond the error of the runs in {gains} of {len(gaps)} cases"
    )
    return Finding(verdict, reason)


def _mesh_sizes(runs: pd.DataFrame) -> Finding:
    sizes = runs.groupby("max_cell")["n_nodes"].first()
    known = [(h, int(sizes[h]), n) for h, n in PRINTED_MESHES.items() if h in sizes.index]
    if not known:
        return TOO_LITTLE
    text = ", ".join(f"h = {h:g}: {n}" for h, n, _ in known)
    is_near = all(abs(n - printed) <= MESH_TOLERANCE * printed for _, n, printed in known)
    return Finding(Verdict.AGREES if is_near else Verdict.DIFFERS, f"our meshes have {text} nodes")


_CHECKS: MappingProxyType[str, Check] = MappingProxyType(
    {
        "spde-outperforms": _spde_outperforms,
        "ucb-outperforms": _ucb_outperforms,
        "rastrigin-easier": _rastrigin_easier,
        "euclidean-rarely": _euclidean_rarely,
        "spde-reliable": _spde_reliable,
        "spde-iterations": _spde_iterations,
        "ucb-insensitive": _ucb_insensitive,
        "ts-more-sensitive": _ts_more_sensitive,
        "spde-higher-for-all-b": _spde_higher_for_all_b,
        "more-init-helps": _more_init_helps,
        "eight-is-stable": _eight_is_stable,
        "mesh-sizes": _mesh_sizes,
    }
)
