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
