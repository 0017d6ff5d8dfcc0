"""Reader of pandapower nets, lines in kilometres; short-circuit faults simulated on them.

`fault_misfit` and `simulate_fault`: where is the fault that these meters saw?
"""

from netbo.adapters.pandapower.faults import FaultMisfit, FaultReadings, fault_misfit, simulate_fault
from netbo.adapters.pandapower.reader import links_from_pandapower, read_pandapower

__all__ = [
    "FaultMisfit",
    "FaultReadings",
    "fault_misfit",
    "links_from_pandapower",
    "read_pandapower",
    "simulate_fault",
]
