"""Where runs are made: names, order of results, errors."""

import pytest

from netbo.errors import ParameterError
from netbo.experiments.workers import _require_same_version, open_workers


def square(x):
    return x * x


def fail(x):
    raise ZeroDivisionError(f"of {x}")


def test_sequential_workers_make_one_call_after_another():
    seen = []
    with open_workers() as workers:
        for number, result in workers.completed(square, [(2,), (3,), (4,)]):
            seen.append((number, result))

    assert workers.count == 1
    assert seen == [(0, 4), (1, 9), (2, 16)]


def test_a_call_is_made_only_when_its_turn_comes():
    """So that a run broken off has lost nothing."""
    made = []
    with open_workers("sequential") as workers:
        results = workers.completed(made.append, [(1,), (2,), (3,)])
        next(results)

    assert made == [1]


def test_processes_return_every_result():
    with open_workers(jobs=2) as workers:
        results = dict(workers.completed(pow, [(k, 2) for k in range(20)]))

    assert workers.count == 2
    assert results == {k: k**2 for k in range(20)}


def test_an_error_in_a_call_is_raised():
    with open_workers() as workers, pytest.raises(ZeroDivisionError, match="of 5"):
        list(workers.completed(fail, [(5,)]))


@pytest.mark.parametrize("name", ["threads", "tcp://host:1", " "])
def test_an_unknown_executor_is_refused(name):
    with pytest.raises(ParameterError, match="executor must be sequential, processes, dask or dask://"):
        open_workers(name).__enter__()


def test_no_jobs_are_refused():
    with pytest.raises(ParameterError, match="jobs must be a whole number of at least one, got 0"):
        open_workers(jobs=0).__enter__()


def test_workers_of_another_version_are_refused():
    _require_same_version({})
    with pytest.raises(ParameterError, match=r"every worker needs netbo .*, got 0\.0\.1 on tcp://a"):
        _require_same_version({"tcp://a": "0.0.1"})


@pytest.mark.slow
@pytest.mark.filterwarnings("default")  # of dask's own dependencies
def test_a_scheduler_that_does_not_answer_is_refused():
    pytest.importorskip("distributed")
    with pytest.raises(ParameterError, match="executor must be the address of a Dask scheduler"):
        open_workers("dask://127.0.0.1:1").__enter__()
