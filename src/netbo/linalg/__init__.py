"""The block core: chains, vertices, dense tail, the system they make, and forms on it."""

from netbo.linalg.elements import Elements, hat_elements
from netbo.linalg.forms import apply_stiffness, derivative_form, derivative_trace, log_determinant_derivative
from netbo.linalg.noise import FieldNoise
from netbo.linalg.system import (
    BlockFactor,
    Load,
    SelectedInverse,
    SelectedSums,
    Topology,
    field_sign,
    no_load,
)
from netbo.linalg.threads import set_threads, thread_count

__all__ = [
    "BlockFactor",
    "Elements",
    "FieldNoise",
    "Load",
    "SelectedInverse",
    "SelectedSums",
    "Topology",
    "apply_stiffness",
    "derivative_form",
    "derivative_trace",
    "field_sign",
    "hat_elements",
    "log_determinant_derivative",
    "no_load",
    "set_threads",
    "thread_count",
]
