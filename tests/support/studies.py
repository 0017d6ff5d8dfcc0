"""A clock that jumps, a small network, and objectives that a fresh process can import."""

import math
import os
import time

import netbo
from netbo.studies import Study

GRAPH = netbo.star(3, length=2.0)
SETTINGS = {"noise": 0.01, "seed": 3, "max_cell": 0.25, "design": 4}


class JumpingClock:
    """Starts now, and moves when somebody sleeps or a test says so."""

    def __init__(self):
        self.time, self.slept = time.time(), 0.0

    def now(self):
        return self.time

    def sleep(self, seconds):
        self.slept += seconds
        self.time += seconds

    def jump(self, seconds):
        self.time += seconds


def height(point):
    """Smooth, another shape on every edge."""
    return math.sin(2.0 * point.distance + point.edge)


def create(folder, **options):
    """A study in a journal file of the folder."""
    return Study.create(GRAPH, name="walk", storage=folder / "walk.journal", **{**SETTINGS, **options})


def load(folder, **options):
    return Study.load(folder / "walk.journal", **options)


def optimizer(**options):
    """An optimizer with the settings of the study."""
    settings = {**SETTINGS, **options}
    settings["design"] = netbo.optimize.Maximin(settings["design"])
    return netbo.Optimizer(GRAPH, **settings)


def uninterrupted(n, *, pair_at=None, **options):
    """The first n places of an optimizer that nobody disturbs; two are asked at once after `pair_at`."""
    bare, places = optimizer(**options), []
    while len(places) < n:
        for suggestion in bare.ask(2 if len(places) == pair_at else 1):
            bare.tell(suggestion, height(suggestion.point))
            places.append(suggestion.point)
    return places


def raises(point):
    raise RuntimeError(f"no signal at {point.distance}")


def hangs(point):
    time.sleep(600)


def hangs_on_the_first_edge(point):
    if point.edge == 0:
        time.sleep(600)
    return height(point)


def dies(point):
    os._exit(3)


def says_text(point):
    return "1.5"


def not_a_number(point):
    return math.nan


def endless(point):
    return math.inf


def with_noise(point):
    return height(point), 0.04


def with_negative_noise(point):
    return height(point), -1.0
