"""Large work arrays that outlive their user, so that the next one need not fault its pages in."""

import math
import weakref
from collections import defaultdict

import numpy as np

from netbo.arrays import FloatArray

KEPT = 2  # free arrays kept of each shape: a factor in use and one being built
SMALLEST = 1 << 16  # entries; below it an allocation costs nothing


class Buffers:
    """Arrays lent for the lifetime of an owner; their contents are whatever was left there."""

    def __init__(self) -> None:
        self._free: dict[tuple[int, ...], list[FloatArray]] = defaultdict(list)

    def lend(self, owner: object, *shape: int) -> FloatArray:
        """An uninitialized array that returns here when `owner` is gone; no view of it may live longer."""
        if math.prod(shape) < SMALLEST:
            return np.empty(shape)
        free = self._free[shape]
        array = free.pop() if free else np.empty(shape)
        weakref.finalize(owner, self._take_back, free, array)
        return array

    @staticmethod
    def _take_back(free: list[FloatArray], array: FloatArray) -> None:
        if len(free) < KEPT:
            free.append(array)

    def __reduce__(self) -> tuple[type["Buffers"], tuple[()]]:
        return Buffers, ()
