"""The page on a journal and on a database, with another server and a worker on the same study."""

import pytest

from netbo.studies import Study
from support.databases import connections_end, running_postgres
from support.pages import PIPES, await_model, await_places, serving_study, tell


@pytest.fixture(params=["journal", "sqlite", "postgresql"])
def storage(request, tmp_path, monkeypatch):
    files = {"journal": str(tmp_path / "s.journal"), "sqlite": f"sqlite:///{tmp_path / 's.db'}"}
    if request.param in files:
        yield files[request.param]
        return
    with running_postgres() as server, connections_end(monkeypatch):
        yield server.get_uri()


def test_two_servers_and_a_worker_share_a_study(storage):
    Study.create(PIPES, name="leak", storage=storage, noise=0.01, max_cell=20.0, design=3)
    with (
        serving_study(Study.load(storage)) as first,
        serving_study(Study.load(storage)) as second,
    ):
        (place,) = await_places(first.client("crew", "north"))
        told = tell(first.client("crew", "north"), 3.0, "of-the-first", trial=place["id"])
        again = tell(second.client("crew", "north"), 3.0, "of-the-first", trial=place["id"])
        other = tell(second.client("crew", "south"), 4.0, "of-the-second", at={"node": "J3"})
        Study.load(storage, worker="shell").work(lambda point: point.distance, budget=4)
        states = [await_model(each.client("manager", "boss"), 4) for each in (first, second)]

    assert [each.status_code for each in (told, again, other)] == [200, 200, 200]
    assert [state["counts"] for state in states] == [{"observed": 4}] * 2
    assert {record.worker for record in Study.load(storage).records} == {"north", "", "shell"}
