"""What lies beside the map in a real browser: what somebody types, ticks or presses outlives the news."""

import dataclasses
import io

import matplotlib.pyplot as plt
import numpy as np
import pytest

import netbo
from netbo.page.demo import demo_study, loudness, town
from netbo.page.server import Background
from support.browsers import DESKTOP, PHONE, becomes, entered
from support.pages import PIPES, await_model, create, serving, serving_study, tell

pytestmark = pytest.mark.browser
NEWS = "window.netbo.news()"


def fed(served, n=6):
    """A model of a few values."""
    for k in range(n):
        tell(served.client("manager", "boss"), 30.0 + k % 4, f"reading-{k}", at={"index": [k % 3, 40.0 * k]})
    return await_model(served.client("manager", "boss"), n)


def boss_of(served, opened):
    return entered(opened(**DESKTOP), served.link("manager", "boss"))


def test_what_is_typed_opened_and_focused_outlives_the_news(served, opened):
    """A value that comes in draws the panel anew."""
    fed(served)
    page = boss_of(served, opened)
    page.get_by_role("tab", name="More").click()
    page.get_by_label("Name").fill("south")
    page.get_by_text("Report on the network").click()
    page.get_by_label("Name").focus()
    page.evaluate(NEWS)
    typed, focused = page.get_by_label("Name").input_value(), page.evaluate("document.activeElement.id")
    opened_part = page.locator("details[open] summary").inner_text()
    page.get_by_role("tab", name="History").click()
    links = page.locator(".history .link", has_text="main")
    links.nth(1).focus()
    page.evaluate(NEWS)

    assert (typed, focused, opened_part) == ("south", "link-name", "Report on the network")
    assert links.count() == 2
    assert links.nth(1).evaluate("(link) => link === document.activeElement")


def test_a_button_that_is_pressed_during_the_news_is_pressed(served, opened):
    fed(served)
    page = boss_of(served, opened)
    page.get_by_role("tab", name="More").click()
    page.get_by_label("Name").fill("south")
    page.get_by_role("button", name="Make a link").hover()
    page.mouse.down()
    page.evaluate(NEWS)
    page.mouse.up()

    page.get_by_alt_text("QR code of the link for south").wait_for()
    assert page.watched.wrong == []


def test_ticks_stay_over_a_reload_and_when_stretches_move_a_little(served, opened):
    fed(served)
    page = boss_of(served, opened)
    page.get_by_role("tab", name="Walk").click()
    page.locator(".walks input").first.check()
    page.reload()
    page.wait_for_selector("body.ready")
    page.get_by_role("tab", name="Walk").click()
    kept = page.locator(".walks input").first.is_checked()
    row = "window.netbo.state.model.search.rows[0]"
    page.evaluate(f"{row}.to -= 0.05 * ({row}.to - {row}.from); {NEWS}")
    moved = page.locator(".walks input").first.is_checked()
    page.evaluate(f"{row}.edge = 'another'; {NEWS}")

    assert kept
    assert moved
    assert not page.locator(".walks input").first.is_checked()


def test_a_manager_sends_a_crew_to_a_place_of_the_map(served, opened):
    page = boss_of(served, opened)
    page.evaluate("window.netbo.select({ edge: 1, z: 120 })")
    page.get_by_role("button", name="Send a crew here").click()
    page.get_by_text("In line: whoever asks next").wait_for()
    (record,) = served.live.study.records

    assert record.state.value == "waiting"
    assert (record.point.edge_id, record.point.distance) == ("east", pytest.approx(120.0))


def test_a_street_of_several_blocks_is_measured_from_its_end(tmp_path, opened):
    """300 m along a street lie beyond its first block; where there is no such place nothing is stored."""
    with serving_study(demo_study(tmp_path)) as served:
        page = entered(opened(**PHONE), served.link())
        page.get_by_role("button", name="Report a value elsewhere").tap()

        def said(street, distance):
            page.fill("#street", street)
            page.fill("#along", distance)
            page.locator("#note").focus()
            page.wait_for_timeout(100)
            return page.locator(".where").inner_text()

        words = said("Canal Street", "300")
        page.fill("#value", "41")
        page.get_by_role("button", name="Save").tap()
        page.get_by_text("Stored: 41 dB").wait_for()
        (record,) = served.live.study.records
        blocks = page.evaluate(
            "window.netbo.network.street(window.netbo.network.names.indexOf('Canal Street'))"
        )
        lengths = [served.live.study.graph.lengths[block["edge"]] for block in blocks]
        k = [block["edge"] for block in blocks].index(record.point.edge)
        before, z = sum(lengths[:k]), record.point.z
        page.get_by_role("button", name="Report a value elsewhere").tap()

        assert words.startswith("Canal Street, 300 m")
        assert len(blocks) > 2
        assert before + (lengths[k] - z if blocks[k]["back"] else z) == pytest.approx(300.0, abs=0.01)
        assert "tap the map instead" in said("Canal Street", "9000")
        assert "No street or pipe is called" in said("Nowhere Street", "10")
        assert "A distance is a number" in said("Canal Street", "far")
        page.get_by_role("button", name="Save").tap()
        assert len(served.live.study.records) == 1


def test_values_that_wait_are_sent_to_their_own_study_only(own_server, opened, tmp_path):
    """Another study may be served at the same address later: trial 0 is somebody else's place there."""
    page = entered(opened(**PHONE), own_server.links["north"])
    own_server.kill()
    page.get_by_role("button", name="Report a value elsewhere").tap()
    page.fill("#street", "main")
    page.fill("#along", "10")
    page.fill("#value", "12")
    page.get_by_role("button", name="Save").tap()
    page.get_by_text("No connection: kept on this phone").wait_for()
    other = tmp_path / "other"
    other.mkdir()
    create(other)
    with serving(other / "leak.journal", port=own_server.port) as served:
        page.goto(served.link())
        page.reload()
        page.wait_for_selector("body.ready")
        becomes(page, "window.netbo.queue.base !== undefined")
        page.evaluate("window.netbo.queue.flush()")

        assert page.evaluate("window.netbo.queue.items.length") == 0
        assert not served.live.study.records


def test_a_background_lies_behind_a_network_on_earth_and_is_credited(tmp_path, opened):
    positions = np.array([[0, 0], [400, 0], [700, 0], [400, 500]]) + np.array([5e5, 5.6e6])
    create(tmp_path, dataclasses.replace(PIPES, positions=positions, crs="EPSG:32632"))
    image = io.BytesIO()
    plt.imsave(image, np.full((256, 256, 3), 0.5))
    tiles = Background("https://tiles.example/{z}/{x}/{y}.png", "<b>Surveyors & co</b>")
    with serving(tmp_path / "leak.journal", background=tiles) as served:
        context, asked = opened(**DESKTOP), []

        def answer(route):
            asked.append(route.request.url)
            route.fulfill(
                body=image.getvalue(), content_type="image/png", headers={"access-control-allow-origin": "*"}
            )

        context.route("https://tiles.example/**", answer)
        page = entered(context, served.link("manager", "boss"), hosts=("https://tiles.example/",))
        page.get_by_text("<b>Surveyors & co</b>").wait_for()

        assert asked
        assert page.watched.wrong == []


def test_a_notebook_shows_the_page_in_a_frame_without_rights(tmp_path, opened):
    """Scripts of the page run; the frame has no origin, so it reaches neither notebook nor cookies."""
    graph = town()
    result = netbo.maximize(loudness(graph)[1], graph, budget=6, noise=2.25, design=3)
    path = tmp_path / "notebook.html"
    path.write_text(f"<!DOCTYPE html><title>n</title>{result.explore()._repr_html_()}", encoding="utf-8")
    page = opened(**DESKTOP).new_page()
    wrong = []
    page.on("pageerror", lambda error: wrong.append(str(error)))
    page.goto(f"file://{path}")
    frame = page.frame_locator("iframe")
    frame.locator("body.ready").wait_for()
    frame.get_by_role("tab", name="Walk").click()
    frame.locator(".walks input").first.check()

    assert frame.locator("#map canvas").count() == 1
    assert frame.locator("canvas.plan").count() == 0
    assert wrong == []
