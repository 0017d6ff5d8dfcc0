"""The API of a served study: what crews, managers and programs do over HTTP."""

import json
import math
import re
import socket
from pathlib import Path

import httpx
import numpy as np
import pytest

from netbo.page.lines import PageLines
from netbo.page.roles import Holder, open_doors
from netbo.page.snapshot import take
from netbo.studies import Study
from support.pages import PIPES, await_model, await_places, create, serving, tell


def test_a_crew_asks_goes_and_tells(served):
    north = served.client()
    (place,) = await_places(north)
    answer = tell(north, 31.2, "reading-one", trial=place["id"], note="under the bridge")

    assert place["crew"] == "north"
    assert answer.status_code == 200
    assert answer.json()["trial"]["value"] == 31.2
    assert served.live.study.records[place["id"]].note == "under the bridge"
    assert served.live.study.records[place["id"]].told_by == "north"


def test_the_program_of_the_documentation_asks_tells_and_reads(served):
    """docs/page.md, with the address and the token of this server."""
    page = (Path(__file__).parents[2] / "docs" / "page.md").read_text(encoding="utf-8")
    (program,) = re.findall(r"(?ms)^```python\n(.*?)^```", page)
    first, _ = await_places(served.client(), 2)
    tell(served.client("manager", "boss"), 30.0, "reading-one", at={"edge": "main", "distance": 10.0})
    await_model(served.client(), 1)
    program = program.replace("http://127.0.0.1:8765", served.url)
    names = {"token": served.doors.token(Holder("crew", "north"))}
    exec(compile(program, "docs/page.md", "exec"), names)
    names["api"].close()

    assert first["id"] == 0
    assert served.live.study.records[0].value == 31.2
    assert served.live.study.records[0].told_by == "north"


def test_asking_again_gives_no_more_places(served):
    """A reply that was lost is asked for again."""
    north = served.client()
    first = await_places(north, 2)

    assert [each["id"] for each in await_places(north, 2)] == [each["id"] for each in first]
    assert len(served.live.study.pending) == 2


def test_a_value_sent_twice_is_stored_once_also_after_a_restart(tmp_path):
    create(tmp_path)
    with serving(tmp_path / "leak.journal") as served:
        (place,) = await_places(served.client())
        first = tell(served.client(), 5.0, "the-only-one", trial=place["id"])
    with serving(tmp_path / "leak.journal") as served:
        again = tell(served.client(), 5.0, "the-only-one", trial=place["id"])
        other = tell(served.client(), 6.0, "another-key", trial=place["id"])

    assert (first.status_code, again.status_code, other.status_code) == (200, 200, 409)
    assert "has" in other.json()["detail"] or "cannot be told" in other.json()["detail"]
    assert [r.value for r in Study.load(tmp_path / "leak.journal").records] == [5.0]


def test_a_value_from_elsewhere_is_stored_once(served):
    north = served.client()
    for _ in range(3):
        tell(north, 7.0, "found-it-myself", at={"edge": "west", "distance": 120.0})

    (record,) = served.live.study.records
    assert (record.point.edge_id, record.point.distance, record.value) == ("west", 120.0, 7.0)
    assert record.told_by == "north"


def test_a_place_may_be_measured_beside_where_it_was_asked_and_may_fail(served):
    north = served.client()
    first, second = await_places(north, 2)
    tell(north, 4.0, "a-little-beside", trial=first["id"], at={"index": [0, 12.5]})
    tell(north, None, "no-way-to-it", trial=second["id"], note="dog")
    records = served.live.study.records

    assert records[first["id"]].point.distance == 12.5
    assert records[first["id"]].asked.distance == first["place"]["distance"]
    assert (records[second["id"]].state.value, records[second["id"]].note) == ("failed", "dog")


def test_a_model_is_computed_beside_and_its_fields_are_served(served):
    boss = served.client("manager", "boss")
    for k, at in enumerate((0.0, 150.0, 300.0, 390.0, 200.0, 50.0)):
        tell(boss, 40 - abs(at - 200) / 10, f"reading-{k}", at={"edge": "main", "distance": at})
    state = await_model(boss, 6)
    study = Study.load(served.live.study.storage, "leak")
    pieces = served.live.lines.segments
    levels = {what: boss.get(f"/levels/{what}") for what in ("mean", "sd", "acquisition", "probability")}
    along = boss.get("/field", params={"edge": "west"}).json()
    mean = np.frombuffer(levels["mean"].content, np.uint8) / 254
    legend = state["model"]["legends"]["mean"]

    assert state["model"]["behind"] == 0
    assert state["best"] == {"id": 4, "value": 40.0}
    assert {len(each.content) for each in levels.values()} == {len(pieces.edge)}
    assert legend["low"] + mean * (legend["high"] - legend["low"]) == pytest.approx(
        study.posterior.mean(pieces.middles), abs=(legend["high"] - legend["low"]) / 500
    )
    assert set(along["edge"]) == {2}
    assert {"mean", "sd", "score", "probability", "from", "to"} <= set(along)
    assert "95 %" in state["model"]["sure"]
    assert sum(each["probability"] for each in boss.get("/search-list").json()["rows"]) > 0.5


def test_the_probability_of_the_maximum_has_no_speckles_and_sums_to_one(tmp_path):
    """Of the few hundred samples many hit one place alone: what is shown is spread over stretches."""
    study = create(tmp_path)
    for k, at in enumerate((0.0, 90.0, 180.0, 260.0, 330.0, 390.0)):
        study.add_observation(("main", at), 10.0 - at / 100 + k % 2)
    lines = PageLines.of(study.network)
    snapshot = take(study.optimizer, lines, "now")
    pieces, density = lines.segments, snapshot.fields["probability"]
    lengths = (pieces.stop - pieces.start) * lines.graph.lengths[pieces.edge]
    score = snapshot.fields["acquisition"]
    step = np.abs(np.diff(score))[np.diff(pieces.edge) == 0]

    assert np.sum(density * lengths) == pytest.approx(1.0, abs=0.02)
    assert len(np.unique(density[pieces.edge == 2])) <= 500.0 / (1200.0 / 200) + 2
    assert step.max() < 0.5 * np.ptp(score)


def test_before_five_values_it_says_that_they_are_too_few(served):
    boss = served.client("manager", "boss")
    for k in range(4):
        tell(boss, float(k), f"reading-{k}", at={"edge": "main", "distance": 100.0 * k})
    model = await_model(boss, 4)["model"]

    assert model["sure"].startswith("Too few values to say")
    assert model["legends"]["sd"]["reason"] == "too few values to say"
    assert set(boss.get("/levels/sd").content) == {255}


def test_corrections_stay_to_be_seen(served):
    boss, north = served.client("manager", "boss"), served.client()
    number = tell(north, 7.0, "found-it-myself", at={"node": "J2"}).json()["trial"]["id"]
    boss.post(f"/trials/{number}/correct", json={"value": 8.0})
    north.post(f"/trials/{number}/withdraw", json={"note": "wrong tap"})
    again = north.post(f"/trials/{number}/withdraw", json={})
    (row,) = boss.get("/history").json()["trials"]

    assert again.status_code == 200
    assert (row["value"], row["status"], row["by"], row["note"]) == (8.0, "withdrawn", "north", "wrong tap")
    assert [(each["kind"], each["by"]) for each in row["changes"]] == [
        ("correct", "boss"), ("withdraw", "north"), ("note", "north"),
    ]  # fmt: skip


def test_places_are_put_in_line_given_back_and_renewed(served):
    boss, north = served.client("manager", "boss"), served.client()
    queued = boss.post("/queue", json={"edge": "east", "distance": 20.0}).json()["trial"]
    boss.post("/queue", json={"edge": "east", "distance": 20.0})
    (place,) = await_places(north)
    renewed = north.post(f"/trials/{place['id']}/renew", json={"lease": 600})
    expires = served.live.study.records[place["id"]].expires
    given_up = north.post(f"/trials/{place['id']}/cancel", json={})
    again = north.post(f"/trials/{place['id']}/cancel", json={})

    assert place["id"] == queued["id"]
    assert renewed.status_code == 200
    assert expires is not None
    assert (given_up.status_code, again.status_code) == (200, 200)
    assert [r.state.value for r in served.live.study.records] == ["cancelled"]


@pytest.mark.parametrize(
    ("body", "status", "words"),
    [
        ({"value": 1.0}, 422, "belongs to a trial or a place"),
        ({"value": 1.0, "trial": 99}, 409, "the trials of"),
        ({"value": 1.0, "at": {"edge": "nowhere", "distance": 1}}, 422, "nowhere"),
        ({"value": 1.0, "at": {"edge": "main"}}, 422, "needs a distance"),
        ({"value": 1.0, "at": {"edge": "main", "distance": 1e9}}, 422, "within the edge"),
        ({"value": 1.0, "at": {"edge": "main", "distance": 1.0, "node": "J0"}}, 422, "said once"),
        ({"value": 1.0, "at": {"index": [7, 0.0]}}, 422, "edge"),
        ({"value": "much", "trial": 0}, 422, ""),
        ({"value": 1.0, "trial": 0, "extra": 1}, 422, ""),
        ({"value": 1.0, "trial": 0, "note": "x" * 2001}, 422, ""),
    ],
)
def test_what_cannot_be_stored_is_refused_with_words(served, body, status, words):
    answer = served.client("manager", "boss").post(
        "/values", json=body, headers={"idempotency-key": "k" * 20}
    )

    assert answer.status_code == status
    assert words in json.dumps(answer.json()["detail"])
    assert not served.live.study.records


def test_numbers_that_are_none_are_refused(served):
    for text in ('{"value": NaN, "at": {"node": "J0"}}', '{"value": Infinity, "at": {"node": "J0"}}'):
        answer = served.client("manager", "boss").post(
            "/values", content=text, headers={"idempotency-key": "k" * 20, "content-type": "application/json"}
        )
        assert answer.status_code == 422
    assert not served.live.study.records


def test_a_value_needs_a_key_and_a_request_has_a_size(served):
    boss = served.client("manager", "boss")
    large = boss.post("/values", content=b"x" * 70_000)

    def endless():
        for _ in range(100):
            yield b"x" * 1000

    assert boss.post("/values", json={"value": 1.0, "at": {"node": "J0"}}).status_code == 422
    assert large.status_code == 413
    assert boss.post("/values", content=endless()).status_code == 411


def test_a_change_is_announced_with_a_number(served):
    north = served.client()
    with north.stream("GET", "/events") as events:
        lines = (line for line in events.iter_lines() if line.startswith("data:"))
        first = int(next(lines).removeprefix("data:"))
        tell(served.client(), 3.0, "reading-one", at={"node": "J1"})
        later = int(next(lines).removeprefix("data:"))

    assert later > first


def test_what_others_write_is_seen(served, tmp_path):
    """A worker in a shell writes to the journal; the page follows."""
    other = Study.load(tmp_path / "leak.journal")
    suggestion = other.ask()
    other.tell(suggestion, 9.0)
    state = await_model(served.client("reader", "guest"), 1)

    assert state["counts"] == {"observed": 1}
    assert state["model"]["values"] == 1


def test_files_are_exported(served):
    boss = served.client("manager", "boss")
    for k in range(5):
        tell(boss, float(k), f"reading-{k}", at={"edge": "main", "distance": 90.0 * k})
    table, unknown = boss.get("/export/study.csv"), boss.get("/export/study.exe")
    plain = boss.get("/export/study.gpkg")
    refused = boss.get("/export/study.gpx")

    assert table.text.splitlines()[0].startswith("edge,distance")
    assert plain.content.startswith(b"SQLite format 3")
    assert unknown.status_code == 404
    assert refused.status_code == 422
    assert "coordinate system" in refused.json()["detail"]


def test_the_api_describes_itself(served):
    paths = served.client().get("/openapi.json").json()["paths"]

    for path in ("state", "network", "field", "ask", "values", "history", "search-list", "queue", "events"):
        assert f"/api/v1/{path}" in paths


def test_all_documents_are_plain_json(tmp_path):
    """Ids may be anything that can be hashed; NaN is no JSON."""
    import dataclasses

    graph = dataclasses.replace(PIPES, edge_ids=[("a", 1, 0), 7, "</script><b>"], addresses=None)
    create(tmp_path, graph)
    with serving(tmp_path / "leak.journal") as served:
        boss = served.client("manager", "boss")
        told = [
            tell(boss, 1.0, "first-value", at={"edge": ["a", 1, 0], "distance": 5.0}),
            tell(boss, None, "second-value", at={"edge": 7, "distance": 5.0}),
        ]
        for path in ("/state", "/network", "/history"):
            text = boss.get(path).text
            assert json.loads(text, parse_constant=pytest.fail)

    assert [each.status_code for each in told] == [200, 200]
    assert not math.isnan(told[0].json()["trial"]["value"])


def test_an_answer_does_not_wait_for_the_receipt_of_its_headers(served):
    """40 ms of each request, else: asyncio sets this option for sockets of its own alone."""
    assert served.server.listener.getsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY)


def test_one_key_for_several_studies_opens_each_by_its_own_links(tmp_path):
    north = Holder("crew", "north")
    first, second = (open_doors(tmp_path / "key", name) for name in ("first", "second"))

    assert first.holder(first.token(north)) == north
    assert second.holder(first.token(north)) is None
    assert first.cookie != second.cookie


def test_a_port_that_is_taken_is_said(served, tmp_path):
    from netbo.errors import ParameterError

    port = httpx.URL(served.url).port
    with (
        pytest.raises(ParameterError, match="Address already in use"),
        serving(tmp_path / "leak.journal", port=port),
    ):
        pass
