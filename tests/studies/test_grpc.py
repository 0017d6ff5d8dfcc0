"""Optuna's proxy, as its users run it: in a process of its own, in front of a database."""

import pytest

from netbo.studies import State, Study
from studies.stress_crowds import check_all_was_told_once, check_forks, in_a_child, work_together
from support.databases import Proxy, free_port
from support.studies import GRAPH, SETTINGS, RestartClock, height, uninterrupted


@pytest.fixture(scope="module")
def database(tmp_path_factory):
    return f"sqlite:///{tmp_path_factory.mktemp('proxy') / 'walk.db'}"


@pytest.fixture(scope="module")
def url(database):
    """A proxy of the database that several tests share, each with a study of its own."""
    with Proxy(database, free_port()) as proxy:
        proxy.serve()
        yield proxy.url


def test_a_proxy_serves_a_study_to_all_who_open_it(url):
    study = Study.create(GRAPH, name="shared", storage=url, **SETTINGS)
    found, other = [], Study.load(url, "shared")
    for each in (study, study, study, other, other):
        suggestion = each.ask()
        each.tell(suggestion, height(suggestion.point))
        found.append(suggestion.point)
    study.storage.close()
    other.storage.close()

    assert found == uninterrupted(5)


def test_a_worker_behind_a_proxy_works_as_one_at_the_database(url, database):
    study = Study.create(GRAPH, name="worked", storage=url, **SETTINGS)
    work = study.work(height, budget=6)
    study.storage.close()
    kept = Study.load(database, "worked")

    assert (work.told, work.failed) == (6, 0)
    assert [record.point for record in kept.records] == uninterrupted(6)
    assert {record.state for record in kept.records} == {State.OBSERVED}


def test_a_study_goes_to_processes_that_are_not_forked(url):
    """Forked ones are refused: a channel of gRPC need not survive a fork, and now and then it does not."""
    check_forks(url, n_children=1, n_trials=2, method="spawn")
    study = Study.load(url, "crowd")
    said = in_a_child(study.ask)
    study.storage.close()

    assert said.startswith(
        "StudyError: a study behind a gRPC proxy must be loaded in the process that uses it"
    )
    assert said.endswith("start processes with the method 'spawn' or 'forkserver'")


def test_a_proxy_that_is_restarted_in_the_middle_loses_no_value(tmp_path, caplog):
    database, port = f"sqlite:///{tmp_path / 'walk.db'}", free_port()
    with Proxy(database, port) as first, Proxy(database, port) as second:

        def outlives_the_proxy(point):
            if point == uninterrupted(3)[2]:
                first.kill()
            return height(point)

        first.serve()
        clock = RestartClock(second.serve)
        study = Study.create(GRAPH, name="walk", storage=first.url, clock=clock, **SETTINGS)
        work = study.work(outlives_the_proxy, budget=5)
        study.storage.close()

    assert "the storage is away" in caplog.text
    assert (work.told, work.failed) == (5, 0)
    assert [record.point for record in Study.load(database).records] == uninterrupted(5)


@pytest.mark.slow
def test_four_workers_behind_a_proxy_tell_every_trial_once(tmp_path):
    """The proxy's own connections to SQLite are Optuna's; places are handed out in turn all the same."""
    database = f"sqlite:///{tmp_path / 'walk.db'}"
    with Proxy(database, free_port()) as proxy:
        proxy.serve()
        works, diaries = work_together(proxy.url, tmp_path, n_workers=4, n_trials=60)
        check_all_was_told_once(database, works, diaries, 60)
