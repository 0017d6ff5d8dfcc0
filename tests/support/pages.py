"""A study that is served: the real server, a real process beside, real HTTP."""

import time
from contextlib import contextmanager

import httpx

import netbo
from netbo.page.live import CrewRules, LiveStudy
from netbo.page.roles import Doors, Holder
from netbo.page.server import PageServer, make_app
from netbo.studies import Study

PATIENCE = 300.0  # seconds: other work may have the machine, and kernels may have to be compiled
KEY = b"a key for tests, not a secret"
PIPES = netbo.MetricGraph(
    [0, 1, 1], [1, 2, 3], [400.0, 300.0, 500.0], edge_ids=["main", "east", "west"], unit="m",
    positions=[[0, 0], [400, 0], [700, 0], [400, 500]], vertex_ids=["J0", "J1", "J2", "J3"],
)  # fmt: skip


class Served:
    """A server with clients by role."""

    def __init__(self, server, live, doors):
        self.server, self.live, self.doors = server, live, doors
        self.url, self.clients = server.url, {}

    def client(self, role="crew", name="north"):
        if (role, name) not in self.clients:
            self.clients[role, name] = httpx.Client(
                base_url=f"{self.url}/api/v1", timeout=PATIENCE,
                headers={"authorization": f"Bearer {self.doors.token(Holder(role, name))}"},
            )  # fmt: skip
        return self.clients[role, name]

    def browser(self):
        """A client without a token."""
        return self.clients.setdefault(
            "browser", httpx.Client(base_url=f"{self.url}/api/v1", timeout=PATIENCE)
        )

    def link(self, role="crew", name="north"):
        return f"{self.url}/#{self.doors.token(Holder(role, name))}"


@contextmanager
def serving(storage, *, port=0, rules=None, name=None, **options):
    """A server of the study of a storage, from another process's point of view."""
    with serving_study(Study.load(storage, name), port=port, rules=rules, **options) as served:
        yield served


@contextmanager
def serving_study(study, *, port=0, rules=None, **options):
    live = LiveStudy(study, rules or CrewRules())
    doors = Doors(KEY)
    with PageServer(make_app(live, doors, **options), port=port) as server:
        found = Served(server, live, doors)
        try:
            yield found
        finally:
            for client in found.clients.values():
                client.close()


def create(folder, graph=PIPES, **options):
    settings = {"noise": 0.01, "max_cell": 20.0, "seed": 0, "design": 3, **options}
    return Study.create(graph, name="leak", storage=folder / "leak.journal", **settings)


def await_places(client, count=1, **more):
    """Places of a crew, once they are computed."""
    end = time.monotonic() + PATIENCE
    while time.monotonic() < end:
        answer = client.post("/ask", json={"count": count, **more})
        assert answer.status_code in (200, 202), answer.text
        found = answer.json()
        if len(found["places"]) >= count or (answer.status_code == 200 and found["reason"]):
            return found["places"]
    raise AssertionError("no places came")


def await_model(client, n_values):
    """The state once the newest model knows so many values."""
    end = time.monotonic() + PATIENCE
    while time.monotonic() < end:
        state = client.get("/state").json()
        model = state["model"]
        if model is not None and model["values"] >= n_values and not state["computing"]:
            return state
        time.sleep(0.05)
    raise AssertionError(f"no model came: {state}")


def tell(client, value, key, **said):
    return client.post("/values", json={"value": value, **said}, headers={"idempotency-key": key})
