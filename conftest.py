"""What every test begins with: numpy prints as it does by default, whatever a package changed on import.

Examples made up by Hypothesis are the same in every run, and no clock decides whether a test passes.
"""

from collections.abc import Iterator

import numpy as np
import pytest
from hypothesis import HealthCheck, settings

settings.register_profile(
    "netbo", deadline=None, derandomize=True, suppress_health_check=[HealthCheck.too_slow]
)
settings.load_profile("netbo")
DEFAULTS = np.get_printoptions()


@pytest.fixture(autouse=True)
def _printed_as_by_default() -> Iterator[None]:
    with np.printoptions(**DEFAULTS):
        yield
