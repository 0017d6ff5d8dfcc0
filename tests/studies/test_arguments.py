"""Arguments of a study that make no sense are refused in a sentence, and change nothing."""

import math

import numpy as np
import optuna
import pytest

from netbo.errors import BaseError
from netbo.studies import Crew, Study, StudyError
from support.studies import GRAPH, SETTINGS

HALF = "\ud800"  # half of a character: no file can hold it
HUGE = 10**400  # beyond every float


class Unspeakable:
    """Neither a number nor a text."""

    def __str__(self):
        raise RuntimeError("no words")

    __repr__ = __str__


NO_NUMBERS = ["x", "", b"x", [], {}, (1,), Unspeakable(), 1j, np.array([1, 2]), np.timedelta64(1, "s"), HALF]
NO_TIMES = [*NO_NUMBERS, True, -1, 0, math.nan, math.inf, HUGE]
NO_COUNTS = [*NO_NUMBERS, True, -1, 0, 1.5, math.nan]
NO_TEXTS = [5, b"x", [], {}, Unspeakable(), 1j, np.array([1, 2]), HALF]
NO_LISTS = [5, "x", b"x", Unspeakable(), 1j, np.array([1, 2]), [5]]
CASES = {
    "ask(n)": ([*NO_COUNTS, HUGE], lambda study, bad: study.ask(bad)),
    "ask(lease=)": (NO_TIMES, lambda study, bad: study.ask(lease=bad)),
    "ask(budget=)": (NO_COUNTS, lambda study, bad: study.ask(budget=bad)),
    "ask(crews=)": (NO_LISTS, lambda study, bad: study.ask(crews=bad)),
    "renew(lease)": (NO_TIMES, lambda study, bad: study.renew(1, bad)),
    "renew": ([-1, "x", None, True, 1.5], lambda study, bad: study.renew(bad)),
    "release_worker": (NO_TEXTS, lambda study, bad: study.release_worker(bad)),
    "tell(note=)": (NO_TEXTS[:-1], lambda study, bad: study.tell(1, 1.0, note=bad)),
    "add_observation(note=)": (
        NO_TEXTS[:-1],
        lambda study, bad: study.add_observation((0, 0.1), 1.0, note=bad),
    ),
    "note": (NO_TEXTS[:-1], lambda study, bad: study.note(0, bad)),
    "Crew(name)": (NO_TEXTS, lambda study, bad: Crew(bad)),
    "Crew(at=)": ([5.5, "x", b"x", [], {}], lambda study, bad: study.ask(crews=[Crew("north", at=bad)])),
    "Crew(travel_cost=)": ([*NO_NUMBERS, -1], lambda study, bad: Crew("north", travel_cost=bad)),
    "Crew(radius=)": (NO_TIMES, lambda study, bad: Crew("north", radius=bad)),
    "work(stop=)": (NO_LISTS, lambda study, bad: study.work(abs, budget=3, stop=bad)),
    "work(callbacks=)": (NO_LISTS, lambda study, bad: study.work(abs, budget=3, callbacks=bad)),
    "work(executor=)": ([5, "x", Unspeakable()], lambda study, bad: study.work(abs, budget=3, executor=bad)),
}


@pytest.fixture(scope="module")
def study():
    """A study with a value and a pending suggestion."""
    storage = optuna.storages.InMemoryStorage()
    study = Study.create(GRAPH, name="walk", storage=storage, **SETTINGS)
    study.tell(study.ask(), 1.0)
    study.ask()
    return study


@pytest.mark.parametrize("what", CASES)
def test_arguments_that_make_no_sense_are_refused_and_change_nothing(study, what):
    before, (values, action) = study.records, CASES[what]
    for bad in values:
        with pytest.raises(BaseError, match=r"got "):
            action(study, bad)
    assert study.records == before


@pytest.mark.parametrize(
    ("name", "values"),
    [
        ("name", NO_TEXTS), ("worker", NO_TEXTS), ("clock", [5, "x", Unspeakable()]),
        ("network_file", [5, True, b"x", [], HALF]), ("lease", NO_TIMES), ("asking_lease", NO_TIMES),
        ("seed", [np.array([1, 2])]), ("storage", [5, HALF]),
    ],
)  # fmt: skip
def test_studies_are_made_of_what_can_be_stored(name, values):
    for bad in values:
        options = {"name": "walk", "storage": optuna.storages.InMemoryStorage(), **SETTINGS, name: bad}
        with pytest.raises(BaseError, match=r"got "):
            Study.create(GRAPH, **options)


@pytest.mark.parametrize("name", ["name", "worker", "clock"])
def test_studies_are_loaded_by_names_and_clocks(study, name):
    for bad in (5, Unspeakable()):
        with pytest.raises(StudyError, match=r"got "):
            Study.load(study.storage, **{"name": "walk", name: bad})
