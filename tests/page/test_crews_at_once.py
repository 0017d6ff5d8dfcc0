"""Eight crews send 400 values through a bad net to a server that is killed: each is stored once."""

import random
import threading
import time

import httpx
import pytest

from netbo.studies import State, Study
from support.browsers import OwnServer
from support.pages import create

CREWS, EACH, ASKED = 8, 50, 5  # crews, values of each, and how many of these were asked for
KILLS = 3
pytestmark = pytest.mark.slow


class CrewOnTheRoad(threading.Thread):
    """Sends each value under its key until the server says that it has it, and now and then once more."""

    def __init__(self, number, url, token):
        super().__init__()
        self.name_, self.luck, self.sent, self.wrong = f"crew{number}", random.Random(number), {}, []
        self.token, self.number, self.url = token, number, url

    def run(self):
        for k in range(EACH):
            key, value = f"{self.name_}-value-{k:03d}", 1000.0 * self.number + k
            place = self._ask() if k < ASKED else None
            body = {"value": value, "at": {"index": [k % 3, 4.0 * k + self.number]}} if place is None else {
                "value": value, "trial": place
            }  # fmt: skip
            self._until_stored(key, body)
            self.sent[key] = value

    def _ask(self):
        while True:
            try:
                answer = self._post("/ask", {"count": 1})
                if answer.status_code == 200 and answer.json()["places"]:
                    return answer.json()["places"][0]["id"]
            except httpx.HTTPError:
                pass
            time.sleep(0.1)

    def _post(self, path, body, key="none-at-all"):
        """One request on a connection of its own, which may break before the answer is read."""
        patience = 0.004 if self.luck.random() < 0.15 else 20.0
        headers = {"authorization": f"Bearer {self.token}", "idempotency-key": key}
        return httpx.post(f"{self.url}/api/v1{path}", json=body, headers=headers, timeout=patience)

    def _until_stored(self, key, body):
        copies = 2 if self.luck.random() < 0.2 else 1
        while copies:
            try:
                answer = self._post("/values", body, key)
            except httpx.HTTPError:  # nobody knows whether it arrived
                time.sleep(0.05)
                continue
            if answer.status_code == 200:
                copies -= 1
            elif answer.status_code < 500:
                self.wrong.append((key, answer.status_code, answer.text))
                return
            time.sleep(0.01)


def test_eight_crews_a_bad_net_and_a_killed_server_lose_nothing_and_double_nothing(tmp_path):
    create(tmp_path, preset="calibrated", design=CREWS * EACH)  # the places are not the question here
    names = [word for k in range(CREWS) for word in ("--crew", f"crew{k}")]
    with OwnServer(tmp_path, *names) as server:
        crews = [
            CrewOnTheRoad(k, server.url, server.links[f"crew{k}"].partition("#")[2]) for k in range(CREWS)
        ]
        for crew in crews:
            crew.start()
        for n in range(1, KILLS + 1):
            while sum(len(crew.sent) for crew in crews) < n * CREWS * EACH // (KILLS + 1):
                time.sleep(0.05)
            server.kill()
            time.sleep(0.3)
            server.start()
        for crew in crews:
            crew.join()
        study = Study.load(tmp_path / "leak.journal")
        observed = [record for record in study.records if record.state is State.OBSERVED]
        stored = sorted(record.value for record in observed)

    assert [crew.wrong for crew in crews] == [[]] * CREWS
    assert stored == sorted(1000.0 * c + k for c in range(CREWS) for k in range(EACH))
    assert all(record.told_by == f"crew{int(record.value // 1000)}" for record in observed)
