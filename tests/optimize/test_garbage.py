"""What a search leaves behind when it is let go: on a large network, or after many searches, gigabytes."""

import gc
from itertools import count

import pytest

import netbo
from netbo import Optimizer, Study


def left_behind(function):
    """Names of our classes of which the function leaves objects that refer to each other in a ring.

    Only the garbage collector finds these, and it looks seldom. What is kept once for all, such as tables, is
    made in a first call.
    """
    function()
    gc.collect()
    gc.disable()
    gc.set_debug(gc.DEBUG_SAVEALL)
    try:
        function()
        gc.collect()
        kinds = {type(each) for each in gc.garbage}
        return sorted(kind.__name__ for kind in kinds if kind.__module__.startswith("netbo"))
    finally:
        gc.set_debug(0)
        gc.garbage.clear()
        gc.enable()


def search(optimizer):
    for _ in range(8):
        suggestion = optimizer.ask()
        optimizer.tell(suggestion, suggestion.point.z)
    optimizer.recommend()
    optimizer.optimum()
    optimizer.search_list(draws=64)


@pytest.mark.parametrize(("preset", "noise"), [("robust", None), ("calibrated", 0.01), ("paper", None)])
def test_a_search_is_gone_when_nobody_holds_it(preset, noise):
    graph = netbo.road(12, seed=0)

    assert left_behind(lambda: search(Optimizer(graph, seed=0, noise=noise, preset=preset))) == []


def test_a_study_is_gone_when_nobody_holds_it(tmp_path):
    graph = netbo.road(12, seed=0)
    numbers = count()

    def studied():
        number = next(numbers)
        search(Study.create(graph, name="leaks", storage=tmp_path / f"{number}.journal"))

    assert left_behind(studied) == []
