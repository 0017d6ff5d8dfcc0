"""The block core: chains, vertices, dense tail, the system they make, and forms on it."""

from netbo.linalg.cells import InCells, cell_forms, cell_moments, find_cells
from netbo.linalg.elements import Elements, hat_elements
from netbo.linalg.factor import (
    BlockFactor,
    CellBlocks,
    Load,
    SelectedInverse,
    SelectedSums,
    Topology,
    field_sign,
    no_load,
)
from netbo.linalg.field_noise import FieldNoise
from netbo.linalg.forms import (
    add_outer_sums,
    apply_stiffness,
    derivative_form,
    derivative_trace,
    end_forms,
    end_values,
    log_determinant_derivative,
)
from netbo.linalg.hyperbolic import hyperbolic_differences, hyperbolic_elements
from netbo.linalg.interpolation import Interpolation, hyperbolic_interpolation
from netbo.linalg.rational import RationalPower, closed_form_power, interpolated_power, rational_power
from netbo.linalg.rational_field import RationalField, ShiftedElements, ShiftedHats, ShiftedHyperbolic
from netbo.linalg.runtime import set_threads, thread_count

__all__ = [
    "BlockFactor",
    "CellBlocks",
    "Elements",
    "FieldNoise",
    "InCells",
    "Interpolation",
    "Load",
    "RationalField",
    "RationalPower",
    "SelectedInverse",
    "SelectedSums",
    "ShiftedElements",
    "ShiftedHats",
    "ShiftedHyperbolic",
    "Topology",
    "add_outer_sums",
    "apply_stiffness",
    "cell_forms",
    "cell_moments",
    "closed_form_power",
    "derivative_form",
    "derivative_trace",
    "end_forms",
    "end_values",
    "field_sign",
    "find_cells",
    "hat_elements",
    "hyperbolic_differences",
    "hyperbolic_elements",
    "hyperbolic_interpolation",
    "interpolated_power",
    "log_determinant_derivative",
    "no_load",
    "rational_power",
    "set_threads",
    "thread_count",
]
