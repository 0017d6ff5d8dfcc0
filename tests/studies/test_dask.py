"""A real Dask cluster on this machine evaluates what a study asks."""

import os

import pytest

from netbo.studies import State
from support.studies import create, height, load, raises

pytestmark = [
    # Dask's server and its diagnostics leave sockets to the end of the process.
    pytest.mark.filterwarnings("ignore::ResourceWarning"),
    pytest.mark.filterwarnings("ignore::pytest.PytestUnraisableExceptionWarning"),
]


@pytest.fixture(scope="module")
def client():
    """Two processes, reached over the loopback interface."""
    from dask.distributed import Client, LocalCluster

    with (
        LocalCluster(
            n_workers=2, threads_per_worker=1, processes=True, host="127.0.0.1", dashboard_address=None
        ) as cluster,
        Client(cluster) as client,
    ):
        yield client


def height_and_process(point):
    """The value, with the number of the process hidden in a noise variance that is otherwise small."""
    return height(point), 1e-6 * os.getpid()


def test_dask_evaluates_and_every_trial_is_told_once(client, tmp_path):
    study = create(tmp_path)
    with client.get_executor() as executor:
        work = study.work(height_and_process, budget=12, executor=executor, workers=2)
    told = [record for record in load(tmp_path).records if record.state is State.OBSERVED]
    processes = {round(1e6 * record.noise) for record in told}

    assert (work.told, work.failed) == (12, 0)
    assert len(told) == len(study.records) == 12
    assert [record.value for record in told] == [height(record.point) for record in told]
    assert processes <= set(client.run(os.getpid).values())
    assert os.getpid() not in processes


def test_an_objective_that_raises_on_dask_is_a_failure_with_its_reason(client, tmp_path):
    study = create(tmp_path)
    with client.get_executor() as executor:
        work = study.work(raises, budget=2, executor=executor, workers=2)

    assert (work.told, work.failed) == (0, 2)
    assert all("RuntimeError: no signal at" in record.note for record in study.records)
