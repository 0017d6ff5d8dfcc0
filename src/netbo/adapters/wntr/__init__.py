"""Reader of EPANET files and wntr models, pipes in metres; leaks and contaminations simulated on them.

`leak_misfit` and `simulate_leak`: where is the leak that these loggers saw? `contamination_misfit` and
`simulate_contamination`: where was it let in, what these sensors saw?
"""

from netbo.adapters.wntr.contamination import (
    ContaminationMisfit,
    contamination_misfit,
    simulate_contamination,
)
from netbo.adapters.wntr.leaks import LeakMisfit, LeakReadings, leak_misfit, simulate_leak
from netbo.adapters.wntr.reader import links_from_wntr, read_wntr

__all__ = [
    "ContaminationMisfit",
    "LeakMisfit",
    "LeakReadings",
    "contamination_misfit",
    "leak_misfit",
    "links_from_wntr",
    "read_wntr",
    "simulate_contamination",
    "simulate_leak",
]
