"""What the tests of the page share."""

import pytest

from support.browsers import ARGUMENTS, PATIENCE, OwnServer, chromium
from support.pages import create, serving


@pytest.fixture
def served(tmp_path):
    create(tmp_path, value_unit="dB", title="Leaks")
    with serving(tmp_path / "leak.journal") as found:
        yield found


@pytest.fixture(scope="session")
def browser():
    """One Chromium for all tests; each opens contexts of its own."""
    from playwright.sync_api import sync_playwright

    path = chromium()
    with sync_playwright() as playwright:
        opened = playwright.chromium.launch(executable_path=path, args=ARGUMENTS)
        yield opened
        opened.close()


@pytest.fixture
def opened(browser):
    """Contexts of the browser, closed at the end."""
    contexts = []

    def make(**options):
        contexts.append(browser.new_context(**options))
        contexts[-1].set_default_timeout(PATIENCE)
        return contexts[-1]

    yield make
    for context in contexts:
        context.close()


@pytest.fixture
def own_server(tmp_path):
    """A server in a process of its own, with a study of three pipes."""
    create(tmp_path, value_unit="dB", title="Leaks in zone 3")
    with OwnServer(tmp_path) as server:
        yield server
