import os
import subprocess
import sys

import pytest

FIRST_FACTOR = """
import numpy as np
from netbo.linalg import BlockFactor, Topology, hat_elements

for _ in range(2):
    topology = Topology(np.array([0]), np.array([1]), np.array([0, 3]), 2)
    BlockFactor(topology, hat_elements(np.array([0.5]), 1, lumped=True), 1)
"""


def messages(cache):
    """Standard error of a fresh process that factors twice, with a numba cache of its own."""
    environment = os.environ | {"NUMBA_CACHE_DIR": str(cache)}
    done = subprocess.run(
        [sys.executable, "-c", FIRST_FACTOR], env=environment, capture_output=True, text=True, check=True
    )
    return done.stderr


@pytest.mark.slow
def test_the_first_compile_announces_itself_once(tmp_path):
    """A silent wait of seconds looks like a hang; with a compiled kernel on disk there is no wait."""
    first, second = messages(tmp_path), messages(tmp_path)

    assert first == "netbo: compiling the numerical core, once for this machine ...\n"
    assert second == ""
