"""What the tests of the page share."""

import pytest

from support.pages import create, serving


@pytest.fixture
def served(tmp_path):
    create(tmp_path, value_unit="dB", title="Leaks")
    with serving(tmp_path / "leak.journal") as found:
        yield found
