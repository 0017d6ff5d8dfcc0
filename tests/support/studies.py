"""A clock that jumps, a small network, and objectives that a fresh process can import."""

import math
import os
import time
from functools import cache

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


class RestartClock:
    """The clock of this machine with short waits; the first of them brings a storage back."""

    def __init__(self, restart):
        self.restart = restart

    def now(self):
        return time.time()

    def sleep(self, seconds):
        restart, self.restart = self.restart, None
        if restart is not None:
            restart()
        time.sleep(min(seconds, 0.05))


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
    return netbo.Optimizer(GRAPH, **settings)


class Undisturbed:
    """The places of an optimizer that nobody disturbs; two are asked at once after `pair_at`."""

    def __init__(self, *, pair_at=None, noise=None, **options):
        self.optimizer, self.pair_at, self.noise, self.places = optimizer(**options), pair_at, noise, []

    def first(self, n):
        while len(self.places) < n:
            for suggestion in self.optimizer.ask(2 if len(self.places) == self.pair_at else 1):
                self.optimizer.tell(suggestion, height(suggestion.point), noise=self.noise)
                self.places.append(suggestion.point)
        return self.places[:n]


@cache  # most tests compare with the same places
def undisturbed(pair_at):
    return Undisturbed(pair_at=pair_at)


def uninterrupted(n, *, pair_at=None):
    """The first n places of a study that nobody disturbs."""
    return undisturbed(pair_at).first(n)


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


def raises_says_text_or_dies(point):
    """By edge."""
    return (raises, says_text, dies)[point.edge](point)


def not_a_number(point):
    return math.nan


def endless(point):
    return math.inf


def with_noise(point):
    return height(point), 0.04


def with_negative_noise(point):
    return height(point), -1.0


def misbehaves(point):
    """Another misfortune in each quarter of an edge; the others work."""
    kind = int(point.distance / 0.5)
    if point.edge == 0:
        return [lambda: 1 / 0, lambda: float("nan"), lambda: "1.5", lambda: dies(point)][kind]()
    if point.edge == 1 and kind == 0:
        return hangs(point)
    if point.edge == 1 and kind == 1:
        raise SystemExit("enough")
    return height(point)
