import os
import subprocess
import sys

import pytest

FIRST_FACTOR = """
import numpy as np
from netbo.linalg import BlockFactor, Topology, hat_elements

for order in (1, 1, 2):
    topology = Topology(np.array([0]), np.array([1]), np.array([0, 3]), 2)
    BlockFactor(topology, hat_elements(np.array([0.5]), order, lumped=True), order)
"""


def messages(cache):
    """Standard error of a fresh process that factors for p = 1, 1 and 2, with a numba cache of its own."""
    environment = os.environ | {"NUMBA_CACHE_DIR": str(cache)}
    done = subprocess.run(
        [sys.executable, "-c", FIRST_FACTOR], env=environment, capture_output=True, text=True, check=True
    )
    return done.stderr


@pytest.mark.slow
def test_the_first_compile_announces_itself_once(tmp_path):
    """A silent wait of seconds looks like a hang; each p has its own, and none once it is on disk."""
    first, second = messages(tmp_path), messages(tmp_path)

    assert first == "".join(
        f"netbo: compiling the numerical core for 2 alpha = {order}, once for this machine, about 10 s ...\n"
        for order in (1, 2)
    )
    assert second == ""
