"""When enough is known: rules that look at an optimizer and give a reason to stop, or None.

Any function of an optimizer serves as a rule. Rules are asked after each value, once there is one.
"""

import math
from collections.abc import Callable
from dataclasses import dataclass

import numpy as np

from netbo.arrays import FloatArray
from netbo.checks import explained_class, require_count
from netbo.errors import ParameterError
from netbo.optimize.arguments import as_sign
from netbo.optimize.optimizer import Optimizer

StopRule = Callable[[Optimizer], str | None]


@explained_class
@dataclass(frozen=True, slots=True)
class Budget:
    """Stop rule: after so many evaluations in all.

    Parameters
    ----------
    evaluations : int
        Failed ones included.

    Examples
    --------
    >>> import netbo
    >>> Budget(3).left(netbo.Optimizer(netbo.interval(1.0)))
    3
    """

    evaluations: int

    def __post_init__(self) -> None:
        require_count("budget", self.evaluations, "count the evaluations you can afford")

    def left(self, optimizer: Optimizer) -> int:
        """Evaluations that may still be made."""
        return self.evaluations - sum(trial.order is not None for trial in optimizer.history)

    def __call__(self, optimizer: Optimizer) -> str | None:
        """A reason to stop, or None."""
        if self.left(optimizer) > 0:
            return None
        return f"the budget of {self.evaluations} evaluations is spent"


@explained_class
@dataclass(frozen=True, slots=True)
class Target:
    """Stop rule: when the best observation is at or beyond a value, in the direction of the search.

    Parameters
    ----------
    value : float
        What is good enough.

    Examples
    --------
    >>> import netbo
    >>> netbo.maximize(lambda x: x.distance, netbo.interval(1.0), budget=9, stop=Target(0.1)).stopped
    'the target 0.1 is reached'
    """

    value: float

    def __post_init__(self) -> None:
        _require(math.isfinite(self.value), f"a target must be finite, got {self.value}")

    def __call__(self, optimizer: Optimizer) -> str | None:
        """A reason to stop, or None."""
        values, sign = _maximized_values(optimizer), as_sign(optimizer.direction)
        if not len(values) or values.max() < sign * self.value:
            return None
        return f"the target {self.value:g} is reached"


@explained_class
@dataclass(frozen=True, slots=True)
class NoProgress:
    """Stop rule: when the last n values did not improve the best observation.

    Parameters
    ----------
    n : int
        Values without progress.
    tolerance : float
        Least difference that counts as progress.

    Examples
    --------
    >>> import netbo
    >>> netbo.maximize(lambda x: 1.0, netbo.interval(1.0), budget=9, stop=NoProgress(2)).stopped
    'the last 2 values brought no progress'
    """

    n: int
    tolerance: float = 0.0

    def __post_init__(self) -> None:
        require_count("n", self.n, "10 is a start")
        _require(
            0 <= self.tolerance < math.inf,
            f"tolerance must be a difference of values, not negative, got {self.tolerance}",
        )

    def __call__(self, optimizer: Optimizer) -> str | None:
        """A reason to stop, or None."""
        values = _maximized_values(optimizer)
        if len(values) <= self.n or values.max() - values[: -self.n].max() > self.tolerance:
            return None
        return f"the last {self.n} values brought no progress"


@explained_class
@dataclass(frozen=True, slots=True)
class BoundGap:
    """Stop rule: when no candidate can be much better, max(mean + w std) - max(mean - w std) <= gap.

    If all bounds hold, the best place by lower bound is within `gap` of the best candidate there is. Not
    before the design is complete.

    Parameters
    ----------
    gap : float
        A difference of values.
    width : float
        Of the bounds: w, in standard deviations.

    Examples
    --------
    >>> import netbo
    >>> BoundGap(0.5)(netbo.Optimizer(netbo.interval(1.0))) is None
    True
    """

    gap: float
    width: float = 2.0

    def __post_init__(self) -> None:
        _require(
            0 <= self.gap < math.inf, f"gap must be a difference of values, not negative, got {self.gap}"
        )
        _require(
            0 < self.width < math.inf,
            f"width counts standard deviations and must be positive, got {self.width}",
        )

    def __call__(self, optimizer: Optimizer) -> str | None:
        """A reason to stop, or None."""
        if len(optimizer.history.observed) < optimizer.design.size:
            return None
        points, known = optimizer.search.points, optimizer.maximized
        mean, spread = known.mean(points), self.width * known.std(points)
        gap = float((mean + spread).max() - (mean - spread).max())
        return f"no candidate can be better by more than {gap:.3g}" if gap <= self.gap else None


def _maximized_values(optimizer: Optimizer) -> FloatArray:
    """Values that count, in the order told, turned so that more is better."""
    values = np.array([trial.value for trial in optimizer.history.observed], dtype=np.float64)
    return as_sign(optimizer.direction) * values


def _require(holds: bool, message: str) -> None:
    if not holds:
        raise ParameterError(message)
