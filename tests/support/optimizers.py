"""Optimizers that need not learn, a cheap objective, and acquisitions that remember what they saw."""

import math

import numpy as np

import netbo
from netbo import Matern, Optimizer, Point, Points
from netbo.acquisition import IgpUcb
from netbo.optimize import (
    Given,
    Known,
    Maximin,
)
from support.reference import contract_space

SPACE = contract_space()
KNOWN = Known(Given(netbo.whittle_matern(SPACE, Matern(1.0, range=2.0, sigma=1.0))))


class Spy:
    """An acquisition that remembers what it saw; its scores are those of another."""

    def __init__(self, rule=None):
        self.rule = rule or IgpUcb()
        self.hallucinates = self.rule.hallucinates
        self.seen = []

    def scores(self, surrogate, x, rng):
        self.seen.append(surrogate)
        return self.rule.scores(surrogate, x, rng)


def wave(point: Point) -> float:
    return math.sin(2 * point.z + point.edge)


def quick(space=SPACE, **settings):
    """An optimizer that need not learn parameters."""
    return Optimizer(space, **({"fit": KNOWN, "noise": 0.01, "design": Maximin(4)} | settings))


def advance(optimizer, n, f=wave):
    """Ask and tell n times."""
    for _ in range(n):
        suggestion = optimizer.ask()
        optimizer.tell(suggestion, f(suggestion.point))
    return optimizer


def places(suggestions, graph=None):
    return Points.at([each.point for each in suggestions], graph=graph or SPACE.graph)


def separate(points):
    """Least distance along the network between two of the points."""
    between = SPACE.graph.distance(points, points)
    return between[np.triu_indices(len(points), 1)].min()


def statuses(optimizer):
    return [trial.status.value for trial in optimizer.history]
