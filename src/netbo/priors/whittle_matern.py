"""The door to Whittle-Matérn priors on a network."""

import numpy as np
from numpy.typing import ArrayLike

from netbo.arrays import FloatArray, as_float_vector, read_only
from netbo.errors import ParameterError
from netbo.fem import FiniteElementSpace
from netbo.geometry import MetricGraph
from netbo.priors.finite_element import FiniteElementPrior
from netbo.priors.matern import Matern

LARGEST_ORDER = 4  # 2 alpha


def whittle_matern(
    space: FiniteElementSpace,
    matern: Matern,
    *,
    lumped: bool = False,
    vertex_condition: ArrayLike = 0.0,
    constant_variance: bool = False,
) -> FiniteElementPrior:
    """The Whittle-Matérn prior on a finite element space, for 2 alpha = 1, 2, 3, 4.

    lumped: replace the mass C by its row sums, as the paper does for speed; not needed for speed here.
    vertex_condition: theta >= 0 of eq:kirchhoff, one number or one for every vertex; 0 is Kirchhoff.
    constant_variance: divide the field by its standard deviation, which is sqrt(2) larger at dead ends.
    """
    if not isinstance(space, FiniteElementSpace):
        got = "a graph" if isinstance(space, MetricGraph) else repr(type(space).__name__)
        raise ParameterError(
            f"whittle_matern needs a finite element space, got {got}; "
            "make one with FiniteElementSpace.build(graph, max_cell=...)"
        )
    if matern.order > LARGEST_ORDER:
        raise ParameterError(
            f"alpha must be 1/2, 1, 3/2 or 2, got {matern.alpha}; lower alpha or use spectral()"
        )
    return FiniteElementPrior(
        space=space,
        matern=matern,
        is_lumped=lumped,
        vertex_condition=as_vertex_condition(vertex_condition, space.graph),
        is_constant=constant_variance,
    )


def as_vertex_condition(theta: ArrayLike, graph: MetricGraph) -> FloatArray:
    """Robin parameters of all vertices, checked."""
    values = as_float_vector(theta, "vertex_condition", ParameterError)
    if len(values) not in (1, graph.n_vertices):
        raise ParameterError(
            f"vertex_condition must be one number or one for each of {graph.n_vertices} vertices, "
            f"got {len(values)}; 0 is Kirchhoff's condition"
        )
    bad = values[~((values >= 0) & np.isfinite(values))]
    if bad.size:
        raise ParameterError(
            f"vertex_condition must be finite and not negative, got {bad[0]}; 0 is Kirchhoff's condition"
        )
    return read_only(np.broadcast_to(values, (graph.n_vertices,)).copy())
