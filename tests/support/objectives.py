"""Objectives that a fresh process can import."""

import math
import os


def wave(point):
    """Smooth, with its largest value 1 at distance 1 of every edge."""
    return math.cos(point.distance - 1.0)


def negated_wave(point):
    return -wave(point)


def fails_near_the_tail(point):
    if point.distance < 0.5:
        raise RuntimeError(f"no signal at {point.distance}")
    return wave(point)


def dies(point):
    os._exit(1)


class Unreadable:
    """An answer that raises whatever is done with it, also when it is sent to another process."""

    def __float__(self):
        raise RuntimeError("no float")

    def __array__(self, dtype=None, copy=None):
        raise RuntimeError("no array")

    def __repr__(self):
        raise RuntimeError("no repr")

    def __reduce__(self):
        raise RuntimeError("no pickle")


def sometimes_unreadable(point):
    """A wave, but beyond every float before distance 0.5 and an object that raises after 1.5."""
    if point.distance < 0.5:
        return 10**400 if point.distance < 0.25 else 10**5000
    return Unreadable() if point.distance > 1.5 else wave(point)
