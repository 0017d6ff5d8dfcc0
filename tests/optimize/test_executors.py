import os
import sys
import time
from concurrent.futures import Executor, ThreadPoolExecutor
from types import ModuleType

import pytest

from netbo.errors import ParameterError
from netbo.optimize.executors import Inline, count_workers, one_thread_per_worker, open_executor, process_pool
from optimize.objectives import wave


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
    (process,) = pool._processes.values()
    error = KeyboardInterrupt()

    assert not opened.__exit__(KeyboardInterrupt, error, None)
    process.join(60)
    assert process.exitcode is not None


def test_threads_are_limited_for_processes_started_meanwhile_only(monkeypatch):
    monkeypatch.setenv("OMP_NUM_THREADS", "7")
    monkeypatch.delenv("OPENBLAS_NUM_THREADS", raising=False)
    with one_thread_per_worker():
        assert os.environ["OMP_NUM_THREADS"] == os.environ["OPENBLAS_NUM_THREADS"] == "1"

    assert os.environ["OMP_NUM_THREADS"] == "7"
    assert "OPENBLAS_NUM_THREADS" not in os.environ
