"""The page in a real browser: everybody sees the same, and nobody does more than they may."""

import re

import numpy as np
import pytest

import netbo
from netbo import MetricGraph, grid
from netbo.page.demo import demo_study, loudness, town
from netbo.studies import Study
from support.browsers import ARGUMENTS, DESKTOP, PHONE, becomes, chromium, entered, until
from support.pages import PIPES, await_model, create, serving, tell

pytestmark = pytest.mark.browser

EVIL = '<img src=x onerror="window.hacked=1"></script><script>window.hacked=1</script>\'"&'


def fed(served, n=6):
    """A model of a few values, and a place under way for a crew."""
    boss = served.client("manager", "boss")
    for k in range(n):
        tell(boss, 30.0 + 3 * (k % 4), f"reading-{k}", at={"index": [k % 3, 40.0 * k + 5]})
    served.live.study.ask()
    return await_model(boss, n)


def test_two_browsers_and_a_worker_in_a_shell_see_each_other(own_server, opened):
    north = entered(opened(**PHONE), own_server.links["north"])
    boss = entered(opened(**DESKTOP), own_server.links["manager"])
    north.get_by_role("button", name="Get a place").tap()
    north.wait_for_selector(".place")
    becomes(boss, "window.netbo.state.open.some((row) => row.crew === 'north')")
    north.get_by_role("button", name=re.compile("Measured: enter")).tap()
    north.fill("#value", "33")
    north.get_by_role("button", name="Save").tap()
    becomes(boss, "window.netbo.trials.some((row) => row.value === 33)")
    worker = Study.load(own_server.folder / "leak.journal", worker="shell")
    worker.work(lambda place: 10.0 + place.distance / 100, budget=4)
    for page in (north, boss):
        becomes(page, "window.netbo.state.counts.observed === 4")
        becomes(
            page,
            "window.netbo.state.model?.values === 4 && window.netbo.shown === window.netbo.state.model.id",
        )
    boss.get_by_role("tab", name="History").click()

    assert boss.locator(".history li").count() == 4
    assert boss.locator(".history li", has_text="shell").count() == 3
    assert north.watched.wrong == boss.watched.wrong == []


def test_readers_and_crews_see_no_doors_that_are_closed_to_them(served, opened):
    fed(served)
    reader = entered(opened(**DESKTOP), served.link("reader", "guest"))
    tabs = reader.get_by_role("tab").all_inner_texts()
    reader.get_by_role("tab", name="History").click()
    changes = reader.get_by_role("button", name=re.compile("Correct|Take back|Give up")).count()
    reader.get_by_role("tab", name="More").click()
    links = reader.get_by_role("button", name="Make a link").count()
    stranger = opened(**DESKTOP).new_page()
    stranger.goto(served.url)
    stranger.get_by_text("This page opens by a link").wait_for()

    assert tabs == ["Progress", "Walk", "History", "Table", "More"]
    assert (changes, links) == (0, 0)
    assert "Leaks" not in stranger.content()
    assert reader.watched.wrong == []


def test_a_manager_corrects_makes_links_and_finds_every_answer(served, opened):
    fed(served)
    page = entered(opened(**DESKTOP), served.link("manager", "boss"))
    page.remove_listener("dialog", page.watched.dialog)
    page.on("dialog", lambda dialog: dialog.accept("99,5"))
    page.get_by_role("tab", name="History").click()
    page.get_by_role("button", name="Correct trial 0").click()
    page.get_by_text("corrected to 99.5 dB by boss").wait_for()
    page.get_by_role("tab", name="More").click()
    page.get_by_label("Name").fill("south")
    page.get_by_role("button", name="Make a link").click()
    page.get_by_alt_text("QR code of the link for south").wait_for()
    page.get_by_role("tab", name="Progress").click()
    x, y = page.evaluate(
        """(() => { const { chart, network } = window.netbo;
        const p = chart.map.project(network.degrees(network.at(2, 200)));
        const box = document.querySelector('#map').getBoundingClientRect();
        return [box.x + p.x, box.y + p.y]; })()"""
    )
    page.mouse.click(x, y)
    page.get_by_role("img", name="Estimate along west").wait_for()
    page.get_by_role("tab", name="Walk").click()
    walks = page.locator(".walks li").count()
    page.locator(".walks input").first.check()
    page.reload()
    page.wait_for_selector("body.ready")
    page.get_by_role("tab", name="Walk").click()
    page.wait_for_timeout(500)
    with page.expect_download() as download:
        page.get_by_role("tab", name="More").click()
        page.get_by_role("link", name="CSV").click()

    assert served.live.study.records[0].value == 99.5
    assert walks >= 1
    assert download.value.suggested_filename == "study.csv"
    assert page.watched.wrong == []


def test_hostile_names_and_notes_stay_text(tmp_path, opened):
    import dataclasses

    graph = dataclasses.replace(
        PIPES, edge_ids=[EVIL, "b", "c"], vertex_ids=[EVIL, "J1", "J2", "J3"], addresses=None
    )
    create(tmp_path, graph, title=EVIL, value_unit=EVIL[:20])
    with serving(tmp_path / "leak.journal") as served:
        north = served.client("crew", EVIL[:60])
        for k in range(6):
            tell(north, float(k), f"reading-{k}", at={"index": [0, 20.0 * k]}, note=EVIL)
        served.live.study.ask()
        await_model(served.client("manager", "boss"), 6)
        page = entered(opened(**DESKTOP), served.link("manager", EVIL[:60]))
        for tab in ("Go", "Progress", "Walk", "History", "Table", "More"):
            page.get_by_role("tab", name=tab).click()
            page.wait_for_timeout(150)
        page.evaluate("window.netbo.select({ edge: 0, z: 10 })")
        page.wait_for_timeout(300)
        served.live.study.explore().write_html(tmp_path / "page.html")
        still = opened(**DESKTOP).new_page()
        still.goto(f"file://{tmp_path / 'page.html'}")
        still.wait_for_selector("body.ready")

        assert page.evaluate("window.hacked") is None
        assert still.evaluate("window.hacked") is None
        assert page.locator("img[src=x]").count() == 0
        assert page.locator("h1").inner_text() == EVIL
        assert page.watched.wrong == []


@pytest.mark.parametrize("shape", [DESKTOP, PHONE], ids=["desktop", "phone"])
def test_axe_finds_nothing_serious(served, opened, shape):
    from axe_playwright_python.sync_playwright import Axe

    fed(served)
    page = entered(opened(**shape), served.link("manager", "boss"))
    found = {}
    for tab in ("Go", "Progress", "Walk", "History", "Table", "More"):
        page.get_by_role("tab", name=tab).click()
        page.wait_for_timeout(200)
        found[tab] = Axe().run(page).response["violations"]
    page.get_by_role("tab", name="Go").click()
    page.get_by_role("button", name="Report a value elsewhere").click()
    found["form"] = Axe().run(page).response["violations"]
    serious = {
        (tab, each["id"], each["nodes"][0]["html"][:80])
        for tab, listed in found.items()
        for each in listed
        if each["impact"] in ("serious", "critical")
    }

    assert serious == set()


def test_everything_to_be_tapped_is_large_enough(served, opened):
    fed(served)
    page = entered(opened(**PHONE), served.link("crew", "north"))
    small = page.evaluate("""() => [...document.querySelectorAll('button, .button, input, select, textarea')]
        .filter((e) => e.offsetParent && !e.matches('.link, [type=checkbox]'))
        .map((e) => [e.textContent || e.id, e.getBoundingClientRect()])
        .filter(([, r]) => r.height < 43.5 || r.width < 40)
        .map(([text, r]) => [text, r.width, r.height])""")
    wide = page.evaluate("document.documentElement.scrollWidth <= innerWidth")

    assert small == []
    assert wide


def test_the_colours_are_those_of_the_plain_picture(tmp_path, opened):
    """The own layer beside MapLibre's lines, one feature a piece with the same colours and widths."""
    create(tmp_path, grid(6, 6), max_cell=0.5)
    with serving(tmp_path / "leak.journal") as served:
        boss = served.client("manager", "boss")
        for k in range(8):
            tell(boss, float(k % 5), f"reading-{k}", at={"index": [7 * k, 0.4]})
        await_model(boss, 8)
        page = entered(opened(viewport={"width": 900, "height": 700}), served.link("manager", "boss"))
        page.evaluate("""async () => {
            const { chart, network } = window.netbo, { map, field } = chart, c = network.corners;
            const rows = Array.from({ length: network.pieces }, (_, i) => {
              const [x, y] = network.centre;
              const at = (k) => network.degrees([x + c[4 * i + k], y + c[4 * i + k + 1]]);
              const rgb = field.colours.subarray(4 * field.bytes[i], 4 * field.bytes[i] + 3);
              return { type: 'Feature', properties: { colour: `rgb(${rgb.join()})` },
                geometry: { type: 'LineString', coordinates: [at(0), at(2)] } }; });
            for (const id of ['names', 'marks']) map.setLayoutProperty(id, 'visibility', 'none');
            const data = { type: 'FeatureCollection', features: rows };
            const layout = { 'line-cap': 'round', visibility: 'none' };
            map.addSource('plain', { type: 'geojson', data, maxzoom: 24, tolerance: 0 });
            const wide = field.width(map.getZoom());
            map.addLayer({ id: 'plain-edge', type: 'line', source: 'plain', layout,
              paint: { 'line-color': '#121f2b', 'line-width': wide + 2.4 } });
            map.addLayer({ id: 'plain', type: 'line', source: 'plain', layout,
              paint: { 'line-color': ['get', 'colour'], 'line-width': wide } });
            await new Promise((resolve) => map.once('idle', resolve));
        }""")
        own = pixels(page)
        page.evaluate("""async () => { const { map } = window.netbo.chart;
            for (const [id, shown] of [['field', 'none'], ['plain', 'visible'], ['plain-edge', 'visible']])
              map.setLayoutProperty(id, 'visibility', shown);
            await new Promise((resolve) => map.once('idle', resolve)); }""")
        plain = pixels(page)
        off = np.abs(own.astype(int) - plain.astype(int)).max(axis=2)
        drawn = np.abs(plain.astype(int) - plain[0, 0].astype(int)).max(axis=2) > 20

        assert drawn.mean() > 0.02
        assert np.mean(off[drawn] > 40) < 0.06  # antialiased edges differ by a shade
        assert np.mean(off[~drawn] > 40) < 0.002


def pixels(page):
    """The map without what lies over it, as RGB."""
    import io

    from matplotlib.image import imread

    page.wait_for_timeout(300)
    image = page.locator("#map canvas").screenshot()
    return (imread(io.BytesIO(image))[120:600, 60:780, :3] * 255).astype(np.uint8)


def test_without_webgl_there_are_a_plan_and_everything_else(served, opened):
    fed(served)
    context = opened(**PHONE)
    context.add_init_script(
        "HTMLCanvasElement.prototype.getContext = new Proxy(HTMLCanvasElement.prototype.getContext, "
        "{ apply: (get, canvas, [kind, ...more]) => "
        "/webgl/.test(kind) ? null : get.call(canvas, kind, ...more) });"
    )
    page = context.new_page()
    page.goto(served.link("crew", "north"))
    page.wait_for_selector("canvas.plan")
    page.wait_for_selector("body.ready")
    page.get_by_role("button", name="Report a value elsewhere").tap()
    box = page.locator("canvas.plan").bounding_box()
    page.touchscreen.tap(box["x"] + box["width"] / 2, box["y"] + box["height"] / 2)
    page.locator(".where", has_text="along").wait_for()
    page.fill("#value", "5")
    page.get_by_role("button", name="Save").tap()

    page.get_by_text("Stored: 5 dB.").wait_for()


@pytest.mark.parametrize("shape", [DESKTOP, PHONE], ids=["desktop", "phone"])
def test_the_report_opens_offline_and_prints(tmp_path, opened, shape):
    graph = town()
    result = netbo.maximize(loudness(graph)[1], graph, budget=9, noise=2.25)
    path = result.write_page(tmp_path / "report.html", title="Where is the leak?")
    context = opened(**shape)
    context.set_offline(True)
    page = entered(context, f"file://{path}", hosts=())
    tabs = page.get_by_role("tab").all_inner_texts()
    for tab in tabs:
        page.get_by_role("tab", name=tab).click()
    page.evaluate("void (window.print = () => { window.printed = true; })")
    page.get_by_role("button", name="Print sheet").click()
    becomes(page, "window.printed === true")
    page.emulate_media(media="print")
    page.locator("#sheet h1").wait_for()
    sheet = page.locator("#sheet").inner_text()

    assert tabs == ["Progress", "Walk", "History", "Table", "More"]
    assert "Stretches to walk" in sheet
    assert re.search(r"Colours: Estimate, [\d.]+ to [\d.]+", sheet)
    assert page.locator("#sheet img").evaluate("(image) => image.naturalWidth") > 300
    assert page.evaluate("document.documentElement.scrollWidth <= innerWidth")
    assert page.watched.wrong == []


def test_a_network_without_positions_is_drawn(tmp_path, opened):
    graph = MetricGraph([0, 1, 2, 0], [1, 2, 3, 2], [3.0, 4.0, 2.0, 6.0], edge_ids=["a", "b", "c", "d"])
    create(tmp_path, graph, max_cell=0.5)
    with serving(tmp_path / "leak.journal") as served:
        page = entered(opened(**DESKTOP), served.link("manager", "boss"))

        assert page.evaluate("window.netbo.network.drawn") is False
        assert page.locator("#scale").is_hidden()
        assert page.watched.wrong == []


def test_the_demo_moves_by_itself(tmp_path, opened):
    from netbo.page.demo import DemoCrew
    from support.pages import serving_study

    with serving_study(demo_study(tmp_path)) as served:
        crew = DemoCrew(served.live, pace=0.1)
        try:
            page = entered(opened(**DESKTOP), served.link("manager", "boss"))
            becomes(page, "window.netbo.state.counts.observed >= 3 && window.netbo.state.model?.values >= 3")
        finally:
            crew.close()
            crew.thread.join(30)

        assert page.watched.wrong == []


def test_a_missing_browser_is_said_with_the_command(monkeypatch):
    monkeypatch.setenv("PATH", "")
    monkeypatch.delenv("NETBO_CHROMIUM", raising=False)
    with pytest.raises(pytest.fail.Exception, match="apt-get install -y chromium"):
        chromium()
    assert ARGUMENTS
    assert until(lambda: True)


def test_gps_puts_the_crew_on_the_map_and_orders_its_places(tmp_path, opened):
    import dataclasses

    positions = np.array([[0, 0], [400, 0], [700, 0], [400, 500]]) + np.array([5e5, 5.6e6])
    graph = dataclasses.replace(PIPES, positions=positions, crs="EPSG:32632")
    create(tmp_path, graph)
    with serving(tmp_path / "leak.journal") as served:
        for z in (10.0, 290.0):
            served.live.study.enqueue(("east", z))
        places = served.client()
        while len(places.post("/ask", json={"count": 2}).json()["places"]) < 2:
            pass
        lon, lat = served.live.study.network.coordinates(graph.points("east", 280.0), crs="EPSG:4326")[0]
        context = opened(
            **PHONE, permissions=["geolocation"], geolocation={"longitude": lon, "latitude": lat}
        )
        page = entered(context, served.link())
        page.get_by_role("button", name="Where am I?").tap()
        becomes(page, "window.netbo.crew.here !== null")
        first = page.locator(".place").first.inner_text()

        assert page.evaluate("window.netbo.crew.here[1]") == pytest.approx(280.0, abs=0.5)
        assert "10 m from J2" in first
        assert "10 m from here" in first
        assert page.watched.wrong == []
