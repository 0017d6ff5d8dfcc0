"""Pictures of networks and of what is known about functions on them; needs matplotlib.

Every function draws into the axes it is given, or into new ones, and returns them, so that pictures are
composed by calling several:

    ax = draw_field(graph, posterior.mean, label="pressure (bar)")
    draw_points(graph, observations.points, ax)
"""

from netbo.plotting.convergence import draw_convergence
from netbo.plotting.network import draw_edge_ids, draw_field, draw_network, draw_points
from netbo.plotting.profile import draw_profile
from netbo.plotting.regret import draw_regret

__all__ = [
    "draw_convergence",
    "draw_edge_ids",
    "draw_field",
    "draw_network",
    "draw_points",
    "draw_profile",
    "draw_regret",
]
