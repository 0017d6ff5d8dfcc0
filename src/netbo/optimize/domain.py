"""What an optimizer works on: a mesh, a way to learn and a search space, from what users have."""

from dataclasses import replace

from netbo.adapters import Network
from netbo.errors import ParameterError
from netbo.fem import FiniteElementSpace
from netbo.geometry import MetricGraph, Points
from netbo.optimize.candidates import Forbidden, Nodes, Places, SearchSpace
from netbo.optimize.learning import Learned, Learning
from netbo.optimize.models import Given
from netbo.priors import Prior

Domain = Network | MetricGraph | FiniteElementSpace | Prior

USUAL_NODES = 2_000  # of a mesh nobody asked for
LEAST_CELLS = 2  # of an edge, so that every edge has a candidate of its own


def usual_mesh(graph: MetricGraph, max_cell: float | None = None) -> FiniteElementSpace:
    """A mesh of about 2,000 nodes with at least two cells an edge, or of the cell size asked for."""
    if max_cell is not None:
        return FiniteElementSpace.build(graph, max_cell=max_cell, min_cells=LEAST_CELLS)
    fewest = graph.n_vertices + (LEAST_CELLS - 1) * graph.n_edges
    return FiniteElementSpace.build(graph, n_nodes=max(USUAL_NODES, fewest), min_cells=LEAST_CELLS)


def as_domain(
    domain: Domain, fit: Learning, *, is_given: bool, max_cell: float | None
) -> tuple[FiniteElementSpace, Learning]:
    """The mesh, and the way to learn; a prior takes the place of the models, unless `fit` was given."""
    if isinstance(domain, Network):
        return usual_mesh(domain.graph, max_cell), fit
    if isinstance(domain, MetricGraph):
        return usual_mesh(domain, max_cell), fit
    if isinstance(domain, FiniteElementSpace):
        _refuse_cells(max_cell)
        return domain, fit
    if not isinstance(domain, Prior):
        raise ParameterError(
            f"an optimizer needs a network, a mesh or a prior, got {type(domain).__name__}; "
            "read a network with netbo.read(path) or make one with MetricGraph(tails, heads, lengths)"
        )
    if is_given:
        raise ParameterError(
            "a prior as domain says what is learned, got fit= as well; "
            "put the prior into it, as in Learned(models=(Given(prior),)), and pass its network"
        )
    space = getattr(domain, "space", None)
    if not isinstance(space, FiniteElementSpace):
        space = usual_mesh(domain.graph, max_cell)
    else:
        _refuse_cells(max_cell)
    if not isinstance(fit, Learned):
        raise ParameterError("a prior as domain needs a preset that learns, got one that does not")
    return space, replace(fit, models=(Given(domain),))


def _refuse_cells(max_cell: float | None) -> None:
    if max_cell is not None:
        raise ParameterError(f"max_cell makes a mesh, got {max_cell} and a mesh; pass the network instead")


def as_search(candidates: SearchSpace | Points | Forbidden | None, space: FiniteElementSpace) -> SearchSpace:
    """Where an optimizer may ask: the nodes, those not forbidden, or places of one's own."""
    if candidates is None:
        return Nodes(space)
    if isinstance(candidates, Forbidden):
        return Nodes(space, candidates)
    if isinstance(candidates, Points):
        return Places(space.graph, candidates)
    if not isinstance(candidates, SearchSpace):
        raise ParameterError(
            f"candidates must be points, what is forbidden, or a search space, got "
            f"{type(candidates).__name__}; make points with graph.points(edges, distances)"
        )
    if not space.graph.has_edges_of(candidates.graph):
        raise ParameterError(
            f"candidates must lie on {space.graph!r}, got some on {candidates.graph!r}; build them anew"
        )
    return candidates
