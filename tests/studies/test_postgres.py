"""A study in a real PostgreSQL server that starts and ends with these tests."""

import zlib

import pytest

from netbo.studies import State, Study, StudyFileError
from studies.stress_crowds import check_all_was_told_once, check_forks, take_a_queue, work_together
from support.databases import connections_end, running_postgres
from support.studies import GRAPH, SETTINGS, JumpingClock, RestartClock, height, uninterrupted


@pytest.fixture(scope="module")
def server():
    with running_postgres() as server:
        yield server


@pytest.fixture
def url(server, request, monkeypatch):
    """An empty database of its own, whose connections from this process end with the test."""
    name = f"study_{zlib.crc32(request.node.name.encode())}"
    server.psql(f"CREATE DATABASE {name};")
    with connections_end(monkeypatch):
        yield server.get_uri(database=name)


def run(study, n):
    found = []
    for _ in range(n):
        suggestion = study.ask()
        study.tell(suggestion, height(suggestion.point), note="by hand")
        found.append(suggestion.point)
    return found


def test_postgresql_means_psycopg_3_and_keeps_all_of_it(url):
    clock = JumpingClock()
    study = Study.create(GRAPH, name="walk", storage=url, lease=10.0, clock=clock, **SETTINGS)
    found = run(study, 4)
    study.ask()
    clock.jump(11.0)
    resumed = Study.load(url, clock=clock)
    found += run(resumed, 2)
    resumed.correct(0, 0.5)
    third = Study.load(url)

    assert url.startswith("postgresql://")
    assert study.storage._backend.engine.driver == "psycopg"
    assert found == uninterrupted(6)
    assert (third.records[0].value, third.records[0].note) == (0.5, "by hand")
    assert [record.state for record in third.records].count(State.EXPIRED) == 1


def test_a_database_that_is_not_there_is_named(server):
    with pytest.raises(
        StudyFileError, match=r'cannot be opened: OperationalError: .*database "nowhere" does'
    ):
        Study.load(server.get_uri(database="nowhere"))


def test_a_server_that_restarts_in_the_middle_loses_no_value(server, url, caplog):
    """The third value is found while the server is down; it is told when it is back."""
    clock = RestartClock(server.ensure_postgres_running)
    study = Study.create(GRAPH, name="walk", storage=url, clock=clock, **SETTINGS)

    def outlives_the_server(point):
        if point == uninterrupted(3)[2]:
            server.stop()
        return height(point)

    work = study.work(outlives_the_server, budget=6)
    told = [record.point for record in study.records if record.state is State.OBSERVED]

    assert "the storage is away (OperationalError" in caplog.text
    assert (work.told, work.failed) == (6, 0)
    assert told == uninterrupted(6)


def test_two_workers_tell_every_trial_once(url, tmp_path):
    works, diaries = work_together(url, tmp_path, n_workers=2, n_trials=10)

    check_all_was_told_once(url, works, diaries, 10)


def test_a_study_opened_before_a_fork_serves_children_and_parent(url):
    """They would talk through one connection."""
    check_forks(url)


@pytest.mark.slow
def test_eight_workers_tell_four_hundred_trials_once(url, tmp_path):
    works, diaries = work_together(url, tmp_path, n_workers=8, n_trials=400)

    check_all_was_told_once(url, works, diaries, 400)
    assert sum(told > 0 for told, _, _ in works) > 1


@pytest.mark.slow
def test_four_workers_never_take_one_place_of_the_queue_twice(url, tmp_path):
    taken = take_a_queue(url, tmp_path, n_workers=4, n_places=60)

    assert len(taken) == len(set(taken))
    assert set(range(60)) <= set(taken)
