"""Turn-by-turn timing: what every speed benchmark measures with."""

import time
from collections.abc import Callable
from typing import Any

import numpy as np

Timed = dict[str, Callable[[], Any]]


def minima(actions: Timed, budget: float) -> dict[str, float]:
    """Smallest CPU seconds of each action, called turn by turn so that all meet the same machine."""
    best = dict.fromkeys(actions, np.inf)
    for action in actions.values():
        action()
    start, rounds = time.perf_counter(), 0
    while rounds < 3 or (time.perf_counter() - start < budget and rounds < 2000):
        for name, action in actions.items():
            before = time.thread_time()
            action()
            best[name] = min(best[name], time.thread_time() - before)
        rounds += 1
    return best
