"""Reader of EPANET files and wntr models, pipes in metres; leaks simulated on them.

`leak_misfit` and `simulate_leak`: where is the leak that these loggers saw?
"""

from netbo.adapters.wntr.leaks import LeakMisfit, LeakReadings, leak_misfit, simulate_leak
from netbo.adapters.wntr.reader import links_from_wntr, read_wntr

__all__ = [
    "LeakMisfit",
    "LeakReadings",
    "leak_misfit",
    "links_from_wntr",
    "read_wntr",
    "simulate_leak",
]
