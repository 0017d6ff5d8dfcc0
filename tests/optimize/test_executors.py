import os
import subprocess
import sys
import time
from concurrent.futures import Executor, Future, ThreadPoolExecutor
from pathlib import Path
from types import ModuleType

import pytest

from netbo.errors import ParameterError
from netbo.optimize.evaluation import (
    Inline,
    as_completed,
    count_workers,
    first_completed,
    one_thread_per_worker,
    open_executor,
    process_pool,
)
from support.objectives import wave


class Bare(Executor):
    """An executor that does not say how many workers it has."""


def test_inline_runs_at_once_and_keeps_what_was_raised():
    done, failed = Inline().submit(divmod, 7, 2), Inline().submit(divmod, 7, 0)

    assert done.done()
    assert done.result() == (3, 1)
    assert isinstance(failed.exception(), ZeroDivisionError)


def test_workers_are_those_of_the_executor_unless_said_otherwise():
    with ThreadPoolExecutor(3) as threads:
        counts = [count_workers(threads, None), count_workers(threads, 5)]

    assert counts == [3, 5]
    assert count_workers(None, None) == count_workers(None, 1) == 1
    assert count_workers(4, None) == 4
    assert count_workers(Bare(), None) == (os.cpu_count() or 1)


def test_an_executor_of_the_users_is_left_open():
    with ThreadPoolExecutor(1) as threads:
        with open_executor(threads, wave) as executor:
            assert executor is threads

        assert threads.submit(abs, -1).result() == 1


@pytest.mark.parametrize("workers", [0, -1, 1.5, True, "two"])
def test_workers_must_be_counted(workers):
    with pytest.raises(ParameterError, match="workers must be a whole number"):
        count_workers(Bare(), workers)


@pytest.mark.parametrize("n", [0, True])
def test_processes_must_be_counted(n):
    with pytest.raises(ParameterError, match="executor must be a whole number"):
        process_pool(n)
    with pytest.raises(ParameterError, match="executor must be a whole number"):
        count_workers(n, None)


def test_workers_need_an_executor():
    with pytest.raises(ParameterError, match="got 4 and no executor"):
        count_workers(None, 4)


def test_what_cannot_submit_is_no_executor():
    with pytest.raises(ParameterError, match=r"executor must be .*got 'threads'"):
        count_workers("threads", None)


def test_a_local_function_is_refused_before_a_process_starts():
    with (
        pytest.raises(ParameterError, match=r"must be able to import the objective.*lambda"),
        open_executor(2, lambda point: 0.0),
    ):
        pass


def test_a_function_typed_in_is_refused_before_a_process_starts(monkeypatch):
    session = ModuleType("__main__")
    exec("def f(point): return 0.0", session.__dict__)
    monkeypatch.setitem(sys.modules, "__main__", session)

    with pytest.raises(ParameterError, match="interactive session"), open_executor(2, session.f):
        pass


def test_processes_of_a_pool_of_our_own_end_with_a_run_that_is_broken_off():
    opened = open_executor(1, wave)
    pool = opened.__enter__()
    pool.submit(time.sleep, 600)
    (number,), manager = pool._processes, pool._executor_manager_thread
    error = KeyboardInterrupt()

    assert not opened.__exit__(KeyboardInterrupt, error, None)
    assert not is_alive(number)
    assert not manager.is_alive()


BROKEN_OFF = """
import os, signal, sys, time
from pathlib import Path
from netbo.optimize import evaluation

def is_deaf(path):
    signal.signal(signal.SIGTERM, signal.SIG_IGN)
    report_and_wait(path)

def has_sent_half_an_answer(path):
    answers = sys._getframe(1).f_locals["result_queue"]
    answers._writer._send((1000).to_bytes(4, "big") + b"of a thousand bytes")
    report_and_wait(path)

def has_a_child(path):
    if os.fork() == 0:
        report_and_wait(path)
        os._exit(0)
    time.sleep(600)

def report_and_wait(path):
    Path(path + ".new").write_text(str(os.getpid()))
    os.rename(path + ".new", path)
    for _ in range(6000):
        if os.path.exists(path):
            time.sleep(0.1)

if __name__ == "__main__":
    evaluation.GRACE = 0.1
    try:
        with evaluation.open_executor(1, report_and_wait) as pool:
            pool.submit(globals()[sys.argv[1]], sys.argv[2])
            while not os.path.exists(sys.argv[2]):
                time.sleep(0.01)
            raise KeyboardInterrupt
    except KeyboardInterrupt:
        sys.exit(7)
"""


@pytest.mark.parametrize("worker", ["is_deaf", "has_sent_half_an_answer", "has_a_child"])
def test_the_interpreter_ends_after_a_run_that_is_broken_off_when_its_worker(worker, tmp_path):
    """At exit the thread of the pool is joined, and it waits for an answer or a death that may never come."""
    script, number = tmp_path / "broken_off.py", tmp_path / "worker"
    script.write_text(BROKEN_OFF)
    try:
        ended = subprocess.run([sys.executable, str(script), worker, str(number)], timeout=240, check=False)
    finally:
        number.unlink(missing_ok=True)  # the child of a worker ends by this

    assert ended.returncode == 7


def test_what_is_done_comes_in_the_order_of_its_submission():
    first, second, third = in_flight = {Future(): name for name in "abc"}
    third.set_result(3)
    first.set_result(1)

    assert first_completed(in_flight) == [first, third]
    assert first_completed({second: "b"}, timeout=0.01) == []


def test_calls_are_in_flight_until_there_are_no_more():
    waiting, in_flight, most = list(range(5)), {}, []

    def fill():
        while waiting and len(in_flight) < 2:
            in_flight[Inline().submit(abs, -waiting.pop(0))] = None
        most.append(len(in_flight))

    taken = []
    for future in as_completed(in_flight, fill):
        del in_flight[future]
        taken.append(future.result())

    assert taken == [0, 1, 2, 3, 4]
    assert most == [2, 2, 1, 0]


def test_threads_are_limited_for_processes_started_meanwhile_only(monkeypatch):
    monkeypatch.setenv("OMP_NUM_THREADS", "7")
    monkeypatch.delenv("OPENBLAS_NUM_THREADS", raising=False)
    with one_thread_per_worker():
        assert os.environ["OMP_NUM_THREADS"] == os.environ["OPENBLAS_NUM_THREADS"] == "1"

    assert os.environ["OMP_NUM_THREADS"] == "7"
    assert "OPENBLAS_NUM_THREADS" not in os.environ


KILLED = """
import os, sys, time
from netbo.optimize import process_pool

def report_and_wait(path):
    with open(path, "w") as file:
        file.write(str(os.getpid()))
    time.sleep(600)

if __name__ == "__main__":
    process_pool(1).submit(report_and_wait, sys.argv[1]).result()
"""


def test_a_worker_ends_when_its_parent_is_killed(tmp_path):
    """Otherwise it would go on for nobody; a worker that lives would be seen for 600 s."""
    script, number = tmp_path / "killed.py", tmp_path / "worker"
    script.write_text(KILLED)
    parent = subprocess.Popen([sys.executable, str(script), str(number)])
    try:
        assert eventually(lambda: number.exists() and number.read_text() != "")
    finally:
        parent.kill()
        parent.wait()

    assert eventually(lambda: not is_alive(int(number.read_text())))


def eventually(holds) -> bool:
    """Whether it comes true before a machine under heavy load would have done it."""
    for _ in range(1200):
        if holds():
            return True
        time.sleep(0.1)
    return False


def is_alive(number: int) -> bool:
    """Whether there is such a process; one that ended and was not waited for has ended."""
    try:
        status = Path(f"/proc/{number}/stat").read_text()
    except OSError:  # it is gone, or there is no such folder
        try:
            os.kill(number, 0)
        except OSError:
            return False
        return True
    return status.rpartition(")")[2].split()[0] != "Z"
