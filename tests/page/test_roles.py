"""Doors: links with roles, cookies, and what nobody else may do."""

import stat

import httpx
import pytest

from netbo.errors import ParameterError
from netbo.page.roles import Doors, Holder, open_doors
from support.pages import await_places, tell

DOORS = Doors(b"k" * 32)


def test_a_token_says_who_holds_it_and_cannot_be_changed():
    token = DOORS.token(Holder("crew", "Süd: 2"))

    assert DOORS.holder(token) == Holder("crew", "Süd: 2")
    assert Doors(b"q" * 32).holder(token) is None
    for wrong in ("", ".", token[:-1], "x" + token, token.replace(".", ""), "Ym9zcw.", "é.é"):
        assert DOORS.holder(wrong) is None


@pytest.mark.parametrize(
    ("role", "name"), [("owner", "x"), ("crew", ""), ("crew", "a\nb"), ("crew", "x" * 61)]
)
def test_who_gets_a_link_has_a_role_and_a_name(role, name):
    with pytest.raises(ParameterError):
        Holder(role, name)


def test_the_key_stays_and_only_its_owner_reads_it(tmp_path, monkeypatch):
    first, second = open_doors(tmp_path / "leak.key"), open_doors(tmp_path / "leak.key")
    mode = stat.S_IMODE((tmp_path / "leak.key").stat().st_mode)
    monkeypatch.setenv("NETBO_PAGE_KEY", "short")

    assert first == second
    assert mode == 0o600
    with pytest.raises(ParameterError, match="16 characters"):
        open_doors(tmp_path / "leak.key")


def test_without_a_link_nothing_is_told(served):
    for path in (
        "state",
        "network",
        "network/lines",
        "levels/mean",
        "field",
        "history",
        "search-list",
        "events",
    ):
        assert httpx.get(f"{served.url}/api/v1/{path}", timeout=300).status_code == 401
    for path in ("ask", "values", "queue", "links", "trials/0/withdraw"):
        assert httpx.post(f"{served.url}/api/v1/{path}", json={}, timeout=300).status_code in (401, 422)
    assert httpx.get(f"{served.url}/api/v1/export/study.csv", timeout=300).status_code == 401
    page = httpx.get(served.url, timeout=300).text
    assert "Leaks" not in page


def test_readers_change_nothing_and_crews_only_their_own(served):
    reader, south = served.client("reader", "guest"), served.client("crew", "south")
    (place,) = await_places(served.client("crew", "north"))
    number = place["id"]
    tries = {
        reader: [
            ("/ask", {}), ("/values", {"value": 1.0, "trial": number}), (f"/trials/{number}/cancel", {}),
        ],
        south: [
            ("/values", {"value": 1.0, "trial": number}), (f"/trials/{number}/cancel", {}),
            ("/ask", {"crew": "north"}), ("/queue", {"node": "J0"}),
            ("/links", {"role": "manager", "name": "me"}),
        ],
    }  # fmt: skip
    for client, requests in tries.items():
        for path, body in requests:
            answer = client.post(path, json=body, headers={"idempotency-key": "k" * 12})
            assert answer.status_code == 403, (path, answer.text)

    assert [r.state.value for r in served.live.study.records] == ["pending"]
    assert tell(served.client("manager", "boss"), 2.0, "for-them-all", trial=number).status_code == 200


def test_a_link_becomes_a_cookie_that_scripts_and_other_sites_cannot_use(served):
    browser = served.browser()
    answer = browser.post("/session", json={"token": served.link().partition("#")[2]})
    cookie = answer.headers["set-cookie"].lower()
    refused = browser.post("/ask", json={})
    allowed = browser.post("/ask", json={}, headers={"x-netbo": "1"})

    assert answer.json() == {"role": "crew", "name": "north"}
    assert "httponly" in cookie
    assert "samesite=strict" in cookie
    assert refused.status_code == 403
    assert allowed.status_code in (200, 202)
    assert browser.get("/state").json()["me"] == {"role": "crew", "name": "north"}
    browser.delete("/session")
    assert browser.get("/state").status_code == 401
    assert browser.post("/session", json={"token": "nobody.x"}).status_code == 401


def test_a_manager_makes_links_with_codes(served):
    made = served.client("manager", "boss").post("/links", json={"role": "crew", "name": "south"}).json()

    assert made["url"] == served.link("crew", "south")
    assert made["qr"].startswith("data:image/svg+xml")


def test_the_policy_is_strict_everywhere(served):
    for path in (
        "/",
        "/static/app.js",
        "/static/page.css",
        "/api/v1/state",
        "/maplibre/maplibre-gl.js",
        "/nothing",
    ):
        headers = httpx.get(f"{served.url}{path}", timeout=300).headers
        policy = headers["content-security-policy"]
        assert "default-src 'none'" in policy
        assert "unsafe" not in policy
        assert headers["x-content-type-options"] == "nosniff"
    for path in (
        "/static/..%2f__init__.py",
        "/static/%2e%2e/roles.py",
        "/maplibre/pywidget.js",
        "/static/x.py",
    ):
        assert httpx.get(f"{served.url}{path}", timeout=300).status_code == 404
