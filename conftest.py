"""What every test begins with: numpy prints as it does by default, whatever a package changed on import."""

from collections.abc import Iterator

import numpy as np
import pytest

DEFAULTS = np.get_printoptions()


@pytest.fixture(autouse=True)
def _printed_as_by_default() -> Iterator[None]:
    with np.printoptions(**DEFAULTS):
        yield
