"""Pictures of networks and of what is known about functions on them; needs matplotlib.

Every function draws into the axes it is given, or into new ones, and returns them, so that pictures are
composed by calling several:

    ax = draw_field(graph, posterior.mean, label="pressure (bar)")
    draw_points(graph, observations.points, ax)
"""

from netbo.plotting.diagnostics import draw_calibration, draw_convergence, draw_regret
from netbo.plotting.field import draw_field, draw_stretches
from netbo.plotting.network import draw_edge_ids, draw_labels, draw_network, draw_points
from netbo.plotting.profile import draw_profile
from netbo.plotting.scale import draw_legend, draw_scale

__all__ = [
    "draw_calibration",
    "draw_convergence",
    "draw_edge_ids",
    "draw_field",
    "draw_labels",
    "draw_legend",
    "draw_network",
    "draw_points",
    "draw_profile",
    "draw_regret",
    "draw_scale",
    "draw_stretches",
]
