"""Benchmark functions of one real number, to be minimized (ssec:benchmarks).

They are written so that nothing cancels: each is exactly 0 at its minimizer and nowhere negative.
"""

from collections.abc import Mapping
from dataclasses import dataclass
from types import MappingProxyType
from typing import Protocol

import numpy as np

from netbo.arrays import FloatArray


class OuterFunction(Protocol):
    """A function g on the real line with one global minimizer; it oscillates with a period of 1 or more."""

    @property
    def name(self) -> str:
        """What tables and legends call it."""

    @property
    def minimizer(self) -> float:
        """Where it is smallest."""

    def __call__(self, a: FloatArray) -> FloatArray:
        """g(a), number by number."""


@dataclass(frozen=True)
class Ackley:
    """-20 exp(-0.2 |a|) - exp(cos(2 pi a)) + 20 + e: many narrow valleys around one at 0 with a cusp."""

    name: str = "ackley"
    minimizer: float = 0.0

    def __call__(self, a: FloatArray) -> FloatArray:
        """g(a), number by number."""
        # exp(cos t) - e = e (exp(cos t - 1) - 1), and cos t - 1 = -2 sin^2(t/2)
        ripple = np.e * np.expm1(-2 * np.sin(np.pi * a) ** 2)
        return np.asarray(-20 * np.expm1(-0.2 * np.abs(a)) - ripple)


@dataclass(frozen=True)
class Rastrigin:
    """a^2 - 10 cos(2 pi a) + 10: a parabola under waves of height 20."""

    name: str = "rastrigin"
    minimizer: float = 0.0

    def __call__(self, a: FloatArray) -> FloatArray:
        """g(a), number by number."""
        return np.asarray(a**2 + 20 * np.sin(np.pi * a) ** 2)


@dataclass(frozen=True)
class Levy:
    """sin^2(pi w) + (w - 1)^2 (1 + sin^2(2 pi w)), w = 1 + (a - 1)/4: wide waves, smallest at 1."""

    name: str = "levy"
    minimizer: float = 1.0

    def __call__(self, a: FloatArray) -> FloatArray:
        """g(a), number by number."""
        v = (a - 1) / 4  # w - 1; both squared sines have period 1 in w
        return np.asarray(np.sin(np.pi * v) ** 2 + v**2 * (1 + np.sin(2 * np.pi * v) ** 2))


ACKLEY, RASTRIGIN, LEVY = Ackley(), Rastrigin(), Levy()

OUTER_FUNCTIONS: Mapping[str, OuterFunction] = MappingProxyType(
    {outer.name: outer for outer in (ACKLEY, RASTRIGIN, LEVY)}
)
