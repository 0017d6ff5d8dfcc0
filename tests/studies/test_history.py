"""The history of a study, brought up to date by what changed, is the one made of all records."""

import math
import random
from dataclasses import replace

import pytest

from netbo.geometry import Points
from netbo.studies.history import StudyHistory
from netbo.studies.records import State, TrialRecord
from support.histories import assert_views_hold
from support.studies import GRAPH

KINDS = ["new", "new", "asking", "tell", "tell", "expire", "take over", "correct", "place", "read again"]
PLACES = list(Points([0, 1, 2, 0, 1], [0.1, 0.5, 1.0, 1.5, 1.9], graph=GRAPH))


def next_records(records, chance):
    """What another worker might have written meanwhile."""
    records = list(records)
    for _ in range(chance.randrange(4)):
        kind = chance.choice(
            ["new", "new", "asking", "tell", "tell", "expire", "take over", "correct", "place"]
        )
        number, at = len(records), chance.randrange(len(records)) if records else None
        place = chance.choice(PLACES)
        orphans = [r.id for r in records if r.state in (State.EXPIRED, State.RELEASED)]
        if kind == "new" or at is None:
            records.append(TrialRecord(number, State.PENDING, point=place, asked=place))
        elif kind == "asking":
            records.append(TrialRecord(number, State.ASKING))
        elif kind == "take over" and orphans:
            records.append(
                TrialRecord(number, State.PENDING, place, place, stands_for=chance.choice(orphans))
            )
        elif kind == "tell" and records[at].state in (State.PENDING, State.EXPIRED):
            ended = math.nan if chance.random() < 0.01 else chance.uniform(0, 100)
            records[at] = replace(records[at], state=State.OBSERVED, value=chance.random(), ended=ended)
        elif kind == "expire" and records[at].state is State.PENDING:
            records[at] = replace(records[at], state=chance.choice([State.EXPIRED, State.CANCELLED]))
        elif kind == "correct" and records[at].state is State.OBSERVED:
            state = chance.choice([State.OBSERVED, State.WITHDRAWN])
            records[at] = replace(records[at], state=state, value=chance.random())
        elif kind == "place" and records[at].state is State.ASKING:
            records[at] = replace(records[at], state=chance.choice([State.PENDING, State.VOID]), point=place)
        elif records[at].state is State.PENDING:
            records[at] = replace(records[at])  # read again
    return records


@pytest.mark.parametrize("seed", range(40))
def test_a_history_that_follows_is_the_one_made_anew(seed):
    """Trials, order of telling, and whether what is modelled changed."""
    chance, records, history = random.Random(seed), [], StudyHistory()
    for _ in range(40):
        records = next_records(records, chance)
        anew, before = StudyHistory(records), StudyHistory(history._records)
        before.version_of_values = version = history.version_of_values
        anew.follow(before)
        following = history.after(records)
        following.follow(history)

        assert list(following) == list(anew)
        assert [trial.id for trial in following.observed] == [trial.id for trial in anew.observed]
        assert_views_hold(following)
        assert_views_hold(anew)
        assert following.version_of_values - version == anew.version_of_values - version
        assert all(following[trial.id] is trial for trial in following)
        history = following
