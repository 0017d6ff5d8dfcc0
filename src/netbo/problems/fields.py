"""Landscapes without a formula from the paper: a draw of a random field, a needle on a wavy background."""

from dataclasses import dataclass

import numpy as np

from netbo.arrays import FloatArray
from netbo.checks import explained, require_positive, require_seed
from netbo.errors import ParameterError, PointError
from netbo.fem import FiniteElementSpace
from netbo.geometry import MetricGraph, Points, uniform_points
from netbo.priors import Matern, Prior, whittle_matern
from netbo.problems.problem import Problem, nearest_nodes, nodal_problem

CELLS_PER_RANGE = 8  # of the mesh made for a field on a bare graph


@explained
def random_field(
    where: MetricGraph | FiniteElementSpace, prior: Matern | Prior, seed: int, *, noise: float = 0.0
) -> Problem:
    """A draw of the prior at the nodes, linear between them; the maximum is at a node.

    where: a mesh, or a graph, which is meshed with eight cells a range.
    prior: Matern parameters of a Whittle-Matérn prior, or any prior on the same network.
    """
    cell = prior.range / CELLS_PER_RANGE
    space = where if isinstance(where, FiniteElementSpace) else FiniteElementSpace.build(where, max_cell=cell)
    field = whittle_matern(space, prior) if isinstance(prior, Matern) else prior
    values = field.sample(space.nodes, np.random.default_rng(require_seed(seed)))
    return nodal_problem(f"field/{seed}", space, values, noise=noise)


@dataclass(frozen=True, eq=False)
class Needle:
    """background cos^2(pi d / wavelength) + (height - background) (1 - (d / width)^2)_+^2, d = d(x, place).

    Both terms are largest at d = 0 and the second only there, so `height` at the place is the one maximum.
    Rings at multiples of the wavelength reach `background`: hills that lead nowhere. On components without
    the place it is 0.
    """

    graph: MetricGraph
    place: Points  # one point
    width: float
    height: float
    background: float
    wavelength: float

    def __call__(self, x: Points) -> FloatArray:
        """Values at the points, (n,)."""
        reach = self.graph.distance(x, self.place)[:, 0]
        distance = np.where(np.isfinite(reach), reach, 0.0)
        waves = self.background * np.cos(np.pi * distance / self.wavelength) ** 2
        bump = np.maximum(1 - (distance / self.width) ** 2, 0.0) ** 2
        return np.where(np.isfinite(reach), waves + (self.height - self.background) * bump, 0.0)


@explained
def needle(
    graph: MetricGraph,
    *,
    width: float,
    height: float = 1.0,
    background: float = 0.5,
    wavelength: float | None = None,
    place: Points | None = None,
    seed: int = 0,
    noise: float = 0.0,
    space: FiniteElementSpace | None = None,
) -> Problem:
    """A bump that ends `width` away from its place, over a background of rings around it; see `Needle`.

    place: one point; if None, drawn uniformly in length by `seed`, and moved to a node if a space is given.
    wavelength: from ring to ring of the background; half the diameter if None.
    """
    wavelength = graph.diameter / 2 if wavelength is None else wavelength
    for name, value in (("width", width), ("wavelength", wavelength)):
        require_positive(name, value, "use the unit of the graph", kind="a positive length")
    if not 0 <= background < height < np.inf:
        raise ParameterError(
            f"the background must lie in [0, height), got background={background}, height={height}; lower it"
        )
    place = _drawn_place(graph, seed, space) if place is None else graph.bind(place)
    if len(place) != 1:
        raise PointError(f"a needle needs one place, got {len(place)}; pass points[:1]")
    return Problem(
        name="needle",
        graph=graph,
        objective=Needle(graph, place, width, height, background, wavelength),
        maximum=height,
        maximizers=place,
        noise=noise,
        space=space,
    )


def _drawn_place(graph: MetricGraph, seed: int, space: FiniteElementSpace | None) -> Points:
    place = uniform_points(graph, 1, np.random.default_rng(require_seed(seed)))
    return place if space is None else graph.bind(space.nodes[nearest_nodes(space, place)])
