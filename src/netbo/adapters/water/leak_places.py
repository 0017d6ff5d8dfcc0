"""A leak put on a pipe of a wntr model: the pipe split there, what is closed kept closed."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from netbo.adapters.water.epanet import load_wntr

END_TOLERANCE = 1e-6  # of the pipe; a leak this near to an end is at the node
INSIDE = 1e-3  # of the pipe; where no demand can be put on the end itself, the leak is this far inside


def place_leak(model: Any, pipe_name: str, fraction: float, flow: float) -> str:
    """Put a constant demand (m3/s) on a pipe of a WaterNetworkModel, which is changed; the node it is at."""
    pipe = model.get_link(pipe_name)
    node = _end_node(pipe, fraction)
    if node is None:
        node = _split(model, pipe, min(max(fraction, INSIDE), 1 - INSIDE) if _at_end(fraction) else fraction)
    pattern = _free_name("netbo-leak", model.pattern_name_list)
    model.add_pattern(pattern, [1.0])  # without one EPANET applies the file's default pattern
    multiplier = model.options.hydraulic.demand_multiplier
    model.get_node(node).add_demand(flow / multiplier, pattern)
    return node


def _at_end(fraction: float) -> bool:
    return min(fraction, 1 - fraction) <= END_TOLERANCE


def _end_node(pipe: Any, fraction: float) -> str | None:
    """The junction at which the leak is; None if the pipe must be split for it."""
    if not _at_end(fraction):
        return None
    is_head = fraction > 0.5
    if is_head and pipe.initial_status.name == "Closed":
        return None  # before the closed end, not behind it
    node = pipe.end_node if is_head else pipe.start_node
    return str(node.name) if node.node_type == "Junction" else None


def _split(model: Any, pipe: Any, fraction: float) -> str:
    """Split a pipe; the part at its head keeps name, status, controls, check valve and minor loss."""
    node, first = (_free_name("netbo-leak", names) for names in (model.node_name_list, model.link_name_list))
    has_check_valve = pipe.check_valve
    pipe.check_valve = False  # wntr would put one into each part
    load_wntr().morph.split_pipe(
        model, pipe.name, first, node, add_pipe_at_end=False, split_at_point=fraction, return_copy=False
    )
    pipe.check_valve = has_check_valve
    part = model.get_link(first)
    part.initial_status, part.minor_loss = "Open", 0.0  # wntr would have copied both
    return node


def _free_name(wish: str, taken: Sequence[str]) -> str:
    names, count = set(taken), 0
    while f"{wish}{count}" in names:
        count += 1
    return f"{wish}{count}"
