"""A crew in a real browser: its round by touch and by keyboard, through gaps, kills and lost replies."""

import re

import pytest

from netbo.studies import State, Study
from support.browsers import PHONE, becomes, entered, until

pytestmark = pytest.mark.browser


def records(server):
    return Study.load(server.folder / "leak.journal").records


def told(server):
    return [record for record in records(server) if record.value is not None]


def get_a_place(page):
    before = page.locator(".place").count()
    page.get_by_role("button", name=re.compile("Get a place|One more place")).tap()
    becomes(page, f"document.querySelectorAll('.place').length > {before}")


def type_value(page, value):
    page.get_by_role("button", name=re.compile("Measured: enter the value of place 1")).tap()
    page.fill("#value", value)
    page.get_by_role("button", name="Save").tap()


def map_place(page, edge, z):
    """Pixels of a place of the network."""
    return page.evaluate(
        """([edge, z]) => {
        const { chart, network } = window.netbo, box = document.querySelector('#map').getBoundingClientRect();
        const at = chart.map.project(network.degrees(network.at(edge, z)));
        return [box.x + at.x, box.y + at.y]; }""",
        [edge, z],
    )


FOCUSED = """(() => { const e = document.activeElement;
    if (e === document.body) return '';
    return e.getAttribute('aria-label') ?? e.labels?.[0]?.innerText ?? e.innerText ?? e.id; })()"""


def test_a_round_on_a_phone_by_touch(own_server, opened):
    page = entered(opened(**PHONE), own_server.links["north"])
    get_a_place(page)
    page.get_by_role("button", name="Show place 1 on the map").tap()
    type_value(page, "31,5")
    page.get_by_text("Stored: 31.5 dB.").wait_for()
    get_a_place(page)
    page.get_by_role("button", name=re.compile("Measured: enter")).tap()
    page.get_by_role("button", name="No value").tap()
    page.get_by_role("button", name="cover stuck").tap()
    page.fill("#note", "came back twice")
    page.get_by_role("button", name="Save").tap()
    page.get_by_text("Stored: no value.").wait_for()
    page.get_by_role("button", name="Report a value elsewhere").tap()
    page.get_by_role("button", name="Show the whole network").tap()
    page.wait_for_timeout(600)
    page.touchscreen.tap(*map_place(page, 2, 250.0))
    page.locator(".where", has_text="west").wait_for()
    page.fill("#value", "40.25")
    page.get_by_role("button", name="Save").tap()
    page.get_by_text("Stored: 40.25 dB.").wait_for()
    first, failed, elsewhere = records(own_server)

    assert (first.value, first.worker, first.told_by) == (31.5, "north", "north")
    assert (failed.state, failed.note) == (State.FAILED, "cover stuck; came back twice")
    assert elsewhere.point.edge_id == "west"
    assert elsewhere.point.distance == pytest.approx(250, abs=8)
    assert page.watched.wrong == []
    page.get_by_role("button", name=re.compile("Undo")).last.tap()
    until(lambda: records(own_server)[2].state is State.WITHDRAWN)


def test_a_place_is_taken_by_a_tap_on_its_number(own_server, opened):
    page = entered(opened(**PHONE), own_server.links["north"])
    get_a_place(page)
    page.wait_for_timeout(800)
    edge, z = page.evaluate("window.netbo.state.open[0].place.index")
    page.touchscreen.tap(*map_place(page, edge, z))

    page.locator("#value").wait_for()
    assert page.watched.wrong == []


def test_values_survive_a_killed_server_and_a_closed_page(own_server, opened):
    """The queue is in the browser: the page may even be opened again without the server."""
    context = opened(**PHONE)
    page = entered(context, own_server.links["north"])
    get_a_place(page)
    becomes(page, "navigator.serviceWorker.ready.then(() => true)")
    page.reload()
    page.wait_for_selector("body.ready")
    page.wait_for_selector(".place")
    own_server.kill()
    type_value(page, "12.5")
    page.get_by_text("No connection: kept on this phone").wait_for()
    waiting = page.locator("#status").inner_text()
    page.close()
    page = context.new_page()
    page.goto(own_server.url)
    page.wait_for_selector("body.ready")
    page.locator("#queue li").wait_for()
    own_server.start()
    until(lambda: len(told(own_server)) == 1)
    becomes(page, "window.netbo.queue.items.length === 0")

    assert waiting == "1 to send"
    assert [record.value for record in told(own_server)] == [12.5]


def test_a_value_whose_reply_was_lost_is_stored_once(own_server, opened):
    page = entered(opened(**PHONE), own_server.links["north"])
    get_a_place(page)
    posts = []

    def lose(route):
        posts.append(route.request.headers["idempotency-key"])
        if len(posts) == 1:
            route.fetch()  # the server stores it, and nobody hears of it
            route.abort()
        else:
            route.continue_()

    page.route("**/api/v1/values", lose)
    type_value(page, "7.5")
    for _ in range(300):
        page.wait_for_timeout(100)  # the page's requests are handled meanwhile
        if len(posts) == 2:
            break
    becomes(page, "window.netbo.queue.items.length === 0")

    assert len(posts) == 2
    assert len(set(posts)) == 1
    assert [record.value for record in records(own_server)] == [7.5]


def test_what_the_server_refuses_is_told_and_not_thrown_away(own_server, opened):
    """Somebody else told the trial during the gap: the value can be kept as one of its own."""
    context = opened(**PHONE)
    page = entered(context, own_server.links["north"])
    get_a_place(page)
    context.set_offline(True)
    type_value(page, "20")
    page.get_by_text("No connection: kept on this phone").wait_for()
    with own_server.client() as boss:
        boss.post("/values", json={"trial": 0, "value": 19.0}, headers={"idempotency-key": "of-the-boss"})
    context.set_offline(False)
    page.locator("#queue .wrong", has_text="the server refused it").wait_for()
    page.get_by_role("button", name="Store as a value of its own").tap()
    until(lambda: len(told(own_server)) == 2)

    assert sorted(record.value for record in told(own_server)) == [19.0, 20.0]
    assert len({(record.point.edge, record.point.z) for record in told(own_server)}) == 1


def test_a_round_by_keyboard_alone(own_server, opened):
    page = entered(opened(viewport={"width": 1400, "height": 900}), own_server.links["south"])

    def reach(name):
        """Press Tab until a control has the focus."""
        for _ in range(60):
            page.keyboard.press("Tab")
            said = page.evaluate(FOCUSED)
            if re.search(name, said or ""):
                return
        raise AssertionError(f"no way by keyboard to {name}")

    reach("Get a place")
    page.keyboard.press("Enter")
    page.wait_for_selector(".place")
    reach("Measured: enter")
    page.keyboard.press("Enter")
    page.wait_for_selector("#value")
    assert page.evaluate("document.activeElement.id") == "value"
    page.keyboard.type("18")
    reach("Measured elsewhere")
    page.keyboard.press("Space")
    reach("Street or pipe")
    page.keyboard.type("east")
    reach("Distance")
    page.keyboard.type("120")
    reach("Note")
    page.keyboard.type("by hand")
    reach("^Save")
    page.keyboard.press("Enter")
    page.get_by_text("Stored: 18 dB.").wait_for()
    page.locator("#tab-go").focus()
    page.keyboard.press("ArrowRight")
    (record,) = told(own_server)

    assert (record.value, record.note) == (18.0, "by hand")
    assert (record.point.edge_id, record.point.distance) == ("east", pytest.approx(120.0, abs=1e-3))
    assert page.locator("#tab-progress").get_attribute("aria-selected") == "true"
    assert page.watched.wrong == []
