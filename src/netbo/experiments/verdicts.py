"""Does our number agree with the printed one? Said in a sentence that is computed, not written."""

from dataclasses import dataclass
from enum import Enum

import numpy as np

from netbo.experiments.printed import PrintedCell
from netbo.experiments.summaries import Estimate, rate_difference


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
