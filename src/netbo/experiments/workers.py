"""Where the runs of an experiment are made: here, in processes, or on a Dask cluster."""

from collections import deque
from collections.abc import Callable, Iterator, Sequence
from concurrent.futures import Executor, Future
from contextlib import contextmanager
from dataclasses import dataclass
from typing import Any, TypeVar

import netbo
from netbo.checks import require_count
from netbo.errors import ParameterError
from netbo.experiments.cell import run_cell
from netbo.optimize.evaluation import Inline, as_completed, one_thread_per_worker, open_executor
from netbo.optional import require

SEQUENTIAL, PROCESSES, DASK, SCHEME = "sequential", "processes", "dask", "dask://"
AHEAD = 4  # calls a worker has in its queue: enough not to wait, few enough to be broken off
T = TypeVar("T")


@dataclass(frozen=True, slots=True)
class Workers:
    """An executor and how many calls it works on at a time."""

    executor: Executor
    count: int

    def completed(
        self, function: Callable[..., T], calls: Sequence[tuple[Any, ...]]
    ) -> Iterator[tuple[int, T]]:
        """Number of the call and its result, as they come in; few calls are ahead of those at work."""
        waiting, in_flight = deque(enumerate(calls)), dict[Future[T], int]()

        def fill() -> None:
            while waiting and len(in_flight) < self._window:
                number, arguments = waiting.popleft()
                in_flight[self.executor.submit(function, *arguments)] = number

        for future in as_completed(in_flight, fill):
            yield in_flight.pop(future), future.result()

    @property
    def _window(self) -> int:
        return 1 if self.count == 1 else AHEAD * self.count


@contextmanager
def open_workers(executor: str | None = None, jobs: int = 1) -> Iterator[Workers]:
    """The workers meant; those that were started here are ended here.

    executor: "sequential", "processes", "dask" for a cluster on this machine, or "dask://host:port" for one
        that is running; by default processes if there are several jobs.
    """
    require_count("jobs", jobs, "1 makes one run after another")
    name = executor or (PROCESSES if jobs > 1 else SEQUENTIAL)
    if name == SEQUENTIAL:
        yield Workers(Inline(), 1)
    elif name == PROCESSES:
        with one_thread_per_worker(), open_executor(jobs, run_cell) as pool:
            yield Workers(pool, jobs)
    elif name == DASK or name.startswith(SCHEME):
        with one_thread_per_worker(), _dask_client(name, jobs) as client:
            yield Workers(client.get_executor(pure=False), max(1, sum(client.nthreads().values())))
    else:
        raise ParameterError(
            f"executor must be sequential, processes, dask or dask://host:port, got {name!r}; "
            "leave it out for processes"
        )


@contextmanager
def _dask_client(name: str, jobs: int) -> Iterator[Any]:
    distributed = require("distributed", extra="dask", purpose="running on a cluster")
    if name == DASK:
        settings = {
            "n_workers": jobs,
            "threads_per_worker": 1,
            "host": "127.0.0.1",
            "dashboard_address": None,
        }
        with distributed.LocalCluster(**settings) as cluster, distributed.Client(cluster) as client:
            yield client
        return
    address = f"tcp://{name.removeprefix(SCHEME)}"
    try:
        client = distributed.Client(address, timeout=10)
    except (OSError, ValueError) as reason:
        raise ParameterError(
            f"executor must be the address of a Dask scheduler, got {name}: {reason}; start one with "
            "`dask scheduler`"
        ) from reason
    with client:
        _require_same_version(client.run(_version))
        yield client


def _version() -> str:
    return netbo.__version__


def _require_same_version(found: dict[str, str]) -> None:
    """Other versions may give other tables."""
    for worker, version in found.items():
        if version != netbo.__version__:
            raise ParameterError(
                f"every worker needs netbo {netbo.__version__}, got {version} on {worker}; install that there"
            )
