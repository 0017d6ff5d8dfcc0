"""The door to Whittle-Matérn priors on a network."""

import math

import numpy as np
from numpy.typing import ArrayLike

from netbo.arrays import FloatArray, as_float_vector, read_only
from netbo.checks import explained, require_nonnegative
from netbo.errors import ParameterError
from netbo.fem import FiniteElementSpace
from netbo.geometry import MetricGraph
from netbo.priors.base import ConstantVariance, Prior
from netbo.priors.finite_element import FiniteElementPrior
from netbo.priors.fractional import FractionalPrior
from netbo.priors.matern import Matern
from netbo.priors.mesh_free import MeshFreeFractionalPrior, MeshFreePrior

LARGEST_ORDER = 4  # 2 alpha
LARGEST_LOG_VARIANCE = 600.0  # below the overflow of double precision, with room for products


@explained
def whittle_matern(
    where: FiniteElementSpace | MetricGraph,
    matern: Matern,
    *,
    lumped: bool = False,
    vertex_condition: ArrayLike = 0.0,
    constant_variance: bool = False,
    junction_gap: float = 0.0,
    tolerance: float = 1e-8,
) -> Prior:
    """The Whittle-Matérn prior for alpha > 1/4: on a finite element space, or exact on a network.

    Parameters
    ----------
    where : FiniteElementSpace or MetricGraph
        A finite element space gives the paper's k_h; a network gives the true kernel, without a mesh.
    matern : Matern
        Smoothness, range and amplitude.
    lumped : bool, default False
        Replace the mass C by its row sums, as the paper does for speed; not needed for speed here.
    vertex_condition : array_like, default 0.0
        theta >= 0 of eq:kirchhoff, one number or one for every vertex; 0 is Kirchhoff.
    constant_variance : bool, default False
        Divide the field by its standard deviation, which is sqrt(2) larger at dead ends.
    junction_gap : float, default 0.0
        Length that keeps every arm of a junction apart from it, as if edges were that much longer there:
        values may then differ from arm to arm. For networks and whole 2 alpha.
    tolerance : float, default 1e-8
        Kernel error relative to the variance, where 2 alpha is no whole number up to 4 and x^(2 alpha) is
        approximated; the prior's `error` says what was reached.

    Returns
    -------
    Prior
        Its posterior's cost does not grow with the data for whole 2 alpha <= 4; otherwise it does.

    Raises
    ------
    ParameterError
        If `where` is neither, a vertex condition is negative, the mass of a network is to be lumped, 2 alpha
        is a whole number above 4, or the range is so long that the variance has no number.

    Examples
    --------
    >>> import netbo
    >>> graph = netbo.interval(3.0)
    >>> matern = netbo.Matern(alpha=1.0, range=1.0)
    >>> x = graph.points(0, [0.0, 1.5])  # a dead end, and far from all of them
    >>> netbo.whittle_matern(graph, matern).variance(x).round(3).tolist()
    [2.0, 1.001]
    >>> netbo.whittle_matern(graph, matern, constant_variance=True).variance(x).round(3).tolist()
    [1.0, 1.0]
    """
    if not isinstance(where, FiniteElementSpace | MetricGraph):
        raise ParameterError(
            f"whittle_matern needs a network or a finite element space, got {type(where).__name__}; "
            "make one with MetricGraph(...) or FiniteElementSpace.build(graph, max_cell=...)"
        )
    graph = where if isinstance(where, MetricGraph) else where.graph
    theta = as_vertex_condition(vertex_condition, graph)
    if isinstance(where, MetricGraph):
        if lumped:
            raise ParameterError("lumped mass belongs to a mesh, got a network; leave lumped out")
        _require_bounded(graph, matern)
    require_nonnegative("junction_gap", junction_gap, "0 is the network itself", kind="a finite length")
    if junction_gap and not (isinstance(where, MetricGraph) and is_whole(matern)):
        raise ParameterError(
            f"a junction gap needs a network and alpha 1/2, 1, 3/2 or 2, got {type(where).__name__} and "
            f"{matern.alpha}; leave junction_gap out"
        )
    if is_whole(matern):
        if isinstance(where, MetricGraph):
            return MeshFreePrior(
                graph=where,
                matern=matern,
                vertex_condition=theta,
                is_constant=constant_variance,
                junction_gap=float(junction_gap),
            )
        return FiniteElementPrior(
            space=where,
            matern=matern,
            is_lumped=lumped,
            vertex_condition=theta,
            is_constant=constant_variance,
        )
    _require_fractional(matern)
    prior: FractionalPrior | MeshFreeFractionalPrior
    if isinstance(where, MetricGraph):
        prior = MeshFreeFractionalPrior(where, matern, theta, tolerance)
    else:
        prior = FractionalPrior(where, matern, lumped, theta, tolerance)
    return ConstantVariance(prior) if constant_variance else prior


def is_whole(matern: Matern) -> bool:
    """Whether 2 alpha is 1, 2, 3 or 4, where block systems exist without approximation."""
    p = round(2 * matern.alpha)
    return 1 <= p <= LARGEST_ORDER and abs(2 * matern.alpha - p) <= 1e-12


def _require_fractional(matern: Matern) -> None:
    """Refuse whole 2 alpha beyond the largest order: neither a block system nor an approximation has them."""
    if abs(2 * matern.alpha - round(2 * matern.alpha)) <= 1e-12:
        raise ParameterError(
            f"alpha must be 1/2, 1, 3/2, 2 or fractional, got {matern.alpha}; lower alpha or use spectral()"
        )


def _require_bounded(graph: MetricGraph, matern: Matern) -> None:
    """Refuse a range so long that the variance, at least kappa^(-4 alpha) / length, has no number."""
    log_variance = -4 * matern.alpha * math.log(matern.kappa) - math.log(graph.total_length)
    log_variance -= 2 * math.log(matern.tau)
    if not log_variance < LARGEST_LOG_VARIANCE:
        raise ParameterError(
            f"the prior variance must be a number, got about exp({log_variance:.0f}) for "
            f"kappa={matern.kappa:.3g} on a network of length {graph.total_length:.3g}; shorten the range"
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
