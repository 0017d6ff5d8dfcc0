"""A real Chromium, and a server in a process of its own that can be killed."""

import os
import re
import shutil
import signal
import socket
import subprocess
import sys
import time
from pathlib import Path

import httpx
import pytest

CHROMIUM = ("chromium", "chromium-browser", "google-chrome", "google-chrome-stable")
PATIENCE = 120_000  # milliseconds that an action may take: other work may have the machine
INSTALL = "apt-get install -y chromium"
ARGUMENTS = [
    "--no-sandbox", "--disable-gpu", "--disable-quic", "--no-first-run", "--disable-background-networking",
    "--disable-component-update", "--disable-sync", "--use-angle=swiftshader", "--enable-unsafe-swiftshader",
]  # fmt: skip
PHONE = {
    "viewport": {"width": 390, "height": 844}, "device_scale_factor": 2, "is_mobile": True, "has_touch": True,
}  # fmt: skip
DESKTOP = {"viewport": {"width": 1400, "height": 900}}


def chromium():
    """Path of the browser; a failure that says how to get it."""
    given = os.environ.get("NETBO_CHROMIUM")
    found = given if given and Path(given).exists() else next(filter(None, map(shutil.which, CHROMIUM)), None)
    if found is None:
        pytest.fail(
            f"the page is tested in Chromium, got none in NETBO_CHROMIUM or PATH; install it: {INSTALL}"
        )
    return found


def free_port():
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        return probe.getsockname()[1]


class OwnServer:
    """`netbo study serve` as people start it; it can be killed and started again where it was."""

    def __init__(self, folder, *options):
        self.folder, self.port, self.options = folder, free_port(), options
        self.process, self.links = None, {}
        self.start()

    @property
    def url(self):
        return f"http://127.0.0.1:{self.port}"

    def start(self):
        code = "from netbo.cli import main; main()"
        command = [sys.executable, "-c", code, "study", "serve", "--name", "leak", "--port", str(self.port)]
        one = {"OPENBLAS_NUM_THREADS": "1", "NUMBA_NUM_THREADS": "1"}
        self.process = subprocess.Popen(
            [*command, "--crew", "north", "--crew", "south", *self.options], cwd=self.folder, text=True,
            stdout=subprocess.PIPE, stderr=subprocess.STDOUT, env={**os.environ, **one},
            start_new_session=True,
        )  # fmt: skip
        said = ""
        for line in self.process.stdout:
            said += line
            found = re.match(r"(manager|reader|crew (\w+)): (http\S+)", line)
            if found:
                self.links[found[2] or found[1]] = found[3]
            if line.startswith("Make more links"):
                return
        raise AssertionError(f"the server did not start: {said}")

    def kill(self):
        """As when the power goes: the server and the process beside it."""
        os.killpg(self.process.pid, signal.SIGKILL)
        self.process.wait()
        self.process.stdout.close()

    def client(self, who="manager"):
        token = self.links[who].partition("#")[2]
        return httpx.Client(
            base_url=f"{self.url}/api/v1",
            headers={"authorization": f"Bearer {token}"},
            timeout=PATIENCE / 1000,
        )

    def __enter__(self):
        return self

    def __exit__(self, *_):
        if self.process.poll() is None:
            self.kill()


class Watched:
    """Whatever a page must not say: errors, refusals of the policy, dialogs, requests to others."""

    def __init__(self, page, *hosts):
        self.wrong, self.hosts = [], hosts
        page.on("console", lambda m: self._heard(m.type, m.text))
        page.on("pageerror", lambda error: self.wrong.append(str(error)))
        self.dialog = lambda dialog: (self.wrong.append(dialog.message), dialog.dismiss())
        page.on("dialog", self.dialog)
        page.on("request", lambda request: self._asked(request.url))

    def _heard(self, kind, text):
        if "Content Security Policy" in text or (kind == "error" and "Failed to load resource" not in text):
            self.wrong.append(text)

    def _asked(self, url):
        if not url.startswith(("data:", "blob:", "file:", *self.hosts)):
            self.wrong.append(url)


def entered(context, link, *, hosts=None):
    """A page that was opened by a link, ready to use."""
    page = context.new_page()
    page.watched = Watched(page, link.partition("/#")[0], *(hosts or ()))
    page.goto(link)
    page.wait_for_selector("body.ready")
    becomes(page, "window.netbo.chart.map === null || window.netbo.chart.map?.loaded()")
    return page


def becomes(page, truth, seconds=PATIENCE / 1000):
    """Wait until JavaScript is true; Playwright's own way would need eval in the page."""
    end = time.monotonic() + seconds
    while not page.evaluate(truth):
        assert time.monotonic() < end, f"it did not come true within {seconds} s: {truth}"
        page.wait_for_timeout(100)


def until(check, seconds=PATIENCE / 1000):
    """Wait for something another process does."""
    end = time.monotonic() + seconds
    while time.monotonic() < end:
        found = check()
        if found:
            return found
        time.sleep(0.1)
    raise AssertionError(f"it did not come true within {seconds} s: {check}")
