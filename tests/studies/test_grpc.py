"""Optuna's proxy, as its users run it: in a process of its own, in front of a database."""

import socket
import subprocess
import sys
import threading
import time
from contextlib import contextmanager

import pytest

from netbo.studies import State, Study
from studies.stress_crowds import check_all_was_told_once, work_together
from support.studies import GRAPH, SETTINGS, height, uninterrupted

SERVER = """
import sys, warnings, optuna
warnings.simplefilter("ignore", optuna.exceptions.ExperimentalWarning)
storage = optuna.storages.get_storage(sys.argv[1])
print("ready", flush=True)
optuna.storages.run_grpc_proxy_server(storage, host="localhost", port=int(sys.argv[2]))
"""


def free_port():
    with socket.socket() as probe:
        probe.bind(("localhost", 0))
        return probe.getsockname()[1]


@contextmanager
def proxy(database, port):
    """A proxy that is killed at the end."""
    command = [sys.executable, "-c", SERVER, database, str(port)]
    with subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, text=True) as server:
        try:
            assert server.stdout.readline() == "ready\n"
            deadline = time.monotonic() + 60.0
            while not answers(port) and time.monotonic() < deadline:
                time.sleep(0.05)
            yield server
        finally:
            server.kill()


def answers(port):
    try:
        socket.create_connection(("localhost", port), timeout=1.0).close()
    except OSError:
        return False
    return True


@pytest.fixture
def database(tmp_path):
    return f"sqlite:///{tmp_path / 'walk.db'}"


def test_a_worker_behind_a_proxy_works_as_one_at_the_database(tmp_path, database):
    port = free_port()
    with proxy(database, port):
        url = f"grpc://localhost:{port}"
        study = Study.create(GRAPH, name="walk", storage=url, **SETTINGS)
        work = study.work(height, budget=6)
        study.storage.close()
    kept = Study.load(database)

    assert (work.told, work.failed) == (6, 0)
    assert [record.point for record in kept.records] == uninterrupted(6)
    assert {record.state for record in kept.records} == {State.OBSERVED}


def test_a_proxy_that_is_restarted_in_the_middle_loses_no_value(tmp_path, database, caplog):
    port = free_port()
    killed, back, ended = threading.Event(), threading.Event(), threading.Event()

    def run_again():
        killed.wait(60.0)
        time.sleep(1.0)
        with proxy(database, port):
            back.set()
            ended.wait(300.0)

    with proxy(database, port) as first:

        def outlives_the_proxy(point):
            if point == uninterrupted(3)[2] and not killed.is_set():
                first.kill()
                first.wait()
                killed.set()
            return height(point)

        second = threading.Thread(target=run_again)
        second.start()
        study = Study.create(GRAPH, name="walk", storage=f"grpc://localhost:{port}", **SETTINGS)
        try:
            work = study.work(outlives_the_proxy, budget=5)
            study.storage.close()
        finally:
            ended.set()
            killed.set()
            second.join()

    assert back.is_set()
    assert "the storage is away" in caplog.text
    assert (work.told, work.failed) == (5, 0)
    assert [record.point for record in Study.load(database).records] == uninterrupted(5)


@pytest.mark.slow
def test_four_workers_behind_a_proxy_tell_every_trial_once(tmp_path, database):
    """The proxy's own connections to SQLite are Optuna's; places are handed out in turn all the same."""
    port = free_port()
    with proxy(database, port):
        url = f"grpc://localhost:{port}"
        works, diaries = work_together(url, tmp_path, n_workers=4, n_trials=60)
        check_all_was_told_once(database, works, diaries, 60)
