"""Take the pictures of the page in docs/pictures: the demo after 12 values, in Chromium.

Run it after a change of what the page looks like: python tools/page_pictures.py
"""

import re
import shutil
import tempfile
import time
from collections.abc import Mapping
from os import environ
from pathlib import Path
from typing import Any

from playwright.sync_api import Browser, Page, sync_playwright

from netbo.page.demo import demo_study, loudness
from netbo.page.live import LiveStudy
from netbo.page.roles import Doors, Holder
from netbo.page.server import PageServer, make_app

PICTURES = Path(__file__).parents[1] / "docs" / "pictures"
VALUES, CREWS = 12, ("north", "south")
DOORS = Doors(b"a key for pictures alone")
ARGUMENTS = ["--no-sandbox", "--disable-gpu", "--use-angle=swiftshader", "--enable-unsafe-swiftshader"]
DESKTOP = {"viewport": {"width": 1400, "height": 900}}
PHONE = {"viewport": {"width": 390, "height": 844}, "is_mobile": True, "has_touch": True}
KNOWN = "window.netbo.state.model?.behind === 0 && window.netbo.shown === window.netbo.state.model.id"


def opened(browser: Browser, link: str, shape: Mapping[str, Any]) -> Page:
    """The page behind a link, with its model."""
    page = browser.new_context(**shape).new_page()
    page.set_default_timeout(300_000)
    page.goto(link)
    page.wait_for_selector("body.ready")
    becomes(page, KNOWN)
    return page


def becomes(page: Page, truth: str) -> None:
    """Wait until JavaScript is true; the page allows no eval, which Playwright's own way needs."""
    while not page.evaluate(truth):
        page.wait_for_timeout(100)


def take(page: Page, name: str) -> None:
    """One picture, once the map is still."""
    page.wait_for_timeout(1500)
    page.screenshot(path=str(PICTURES / f"page_{name}.png"))


def manager(browser: Browser, link: str) -> None:
    """The overview, and the stretches to walk."""
    page = opened(browser, link, DESKTOP)
    take(page, "manager")
    page.get_by_role("tab", name="Walk").click()
    page.get_by_role("button", name="Where best").click()
    page.locator(".walks input").first.check()
    take(page, "walk")


def crew(browser: Browser, link: str) -> None:
    """Where to go, the form, and a value that waits for a connection."""
    page = opened(browser, link, PHONE)
    for count in (1, 2):
        page.get_by_role("button", name=re.compile("Get a place|One more place")).tap()
        becomes(page, f"document.querySelectorAll('.place').length === {count}")
    becomes(page, KNOWN)
    page.get_by_role("button", name="Show the whole network").tap()
    page.evaluate("document.querySelector('#panel').scrollTop = 0")
    take(page, "phone")
    page.get_by_role("button", name=re.compile("Measured: enter the value of place 1")).tap()
    page.fill("#value", "47.5")
    take(page, "form")
    page.context.set_offline(True)
    page.get_by_role("button", name="Save").tap()
    page.locator("#queue li").wait_for()
    page.get_by_text("No connection").wait_for()
    take(page, "gap")


def main() -> None:
    """Take them all."""
    path = environ.get("NETBO_CHROMIUM") or shutil.which("chromium")
    if path is None:
        raise SystemExit("a browser is needed, got none; apt-get install -y chromium")
    with tempfile.TemporaryDirectory() as folder, sync_playwright() as playwright:
        study = demo_study(Path(folder))
        heard = loudness(study.graph)[1]
        for k in range(VALUES):
            place = study.ask()
            study.tell(place, heard(place.point), by=CREWS[k % 2])
            time.sleep(0.01)
        browser = playwright.chromium.launch(executable_path=path, args=ARGUMENTS)
        with PageServer(make_app(LiveStudy(study), DOORS)) as server:
            links = [f"{server.url}/#{DOORS.token(Holder(*who))}" for who in (
                ("manager", "manager"), ("crew", "north")
            )]  # fmt: skip
            crew(browser, links[1])
            manager(browser, links[0])
        browser.close()


if __name__ == "__main__":
    main()
