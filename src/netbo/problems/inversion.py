"""Where is the source? Log-posterior of its place given measurements of what it spreads (ssec:MAP)."""

import warnings
from dataclasses import dataclass
from enum import Enum
from functools import cached_property

import numpy as np
from scipy.sparse.linalg import splu

from netbo.arrays import FloatArray, IntArray, SparseMatrix, read_only
from netbo.checks import require_positive
from netbo.errors import ParameterError
from netbo.fem import FiniteElementSpace
from netbo.geometry import MetricGraph, Points
from netbo.optional import require
from netbo.problems.problem import Problem, nodal_problem

COLUMNS = 64  # solutions held at a time: memory grows with the mesh, not with its square


class SourceLoad(Enum):
    """Right-hand side of the discrete equation L_h p = g for a source at node i."""

    POINT = "point"  # e_i: a unit point source, whose integral against e_j is 1 if j = i, else 0
    TENT = "tent"  # C e_i: the tent e_i itself; it weighs (C 1)_i, so much more at vertices of many edges


class SourcePrior(Enum):
    """Prior of the source's place."""

    NODE_MASS = "node-mass"  # pi_i = (C 1)_i / total length: adds log(degree / 2) at vertices
    DENSITY = "density"  # the density of the uniform distribution, one constant


@dataclass(frozen=True, eq=False)
class SourceInversion:
    """Identification of a source from noisy measurements of (chi^2 - Laplacian) p = g (eq:solution p).

    source: the true node, an index into space.nodes.
    n_observed: how many nodes are measured, those where the true solution is largest; N_h // 2 if None.
    noise_sd: standard deviation of a measurement.
    seed: of the measurements' noise. It is drawn in falling order of the solution, so that it does not depend
        on how edges are directed or numbered.

    >>> from netbo import interval
    >>> space = FiniteElementSpace.build(interval(10.0), max_cell=0.5)
    >>> inversion = SourceInversion(space, source=7, noise_sd=1e-4)
    >>> inversion.mode
    7
    """

    space: FiniteElementSpace
    source: int
    chi: float = 0.2
    load: SourceLoad = SourceLoad.POINT
    prior: SourcePrior = SourcePrior.NODE_MASS
    noise_sd: float = 0.1
    n_observed: int | None = None
    seed: int = 0

    def __post_init__(self) -> None:
        n_nodes = self.space.n_nodes
        if not 0 <= self.source < n_nodes:
            raise ParameterError(
                f"the source must be a node in 0..{n_nodes - 1}, got {self.source}; see space.nodes"
            )
        if self.n_observed is not None and not 1 <= self.n_observed <= n_nodes:
            raise ParameterError(
                f"n_observed must lie in 1..{n_nodes}, got {self.n_observed}; leave it out for half of them"
            )
        for name in ("chi", "noise_sd"):
            papers = type(self).__dataclass_fields__[name].default
            require_positive(name, getattr(self, name), f"the paper's is {papers}")

    @cached_property
    def operator(self) -> SparseMatrix:
        """L_h = chi^2 C + G, sparse (N_h, N_h)."""
        return self.chi**2 * self.space.mass + self.space.stiffness

    @cached_property
    def solution(self) -> FloatArray:
        """p_h at the nodes for the true source, (N_h,)."""
        unit = np.zeros(self.space.n_nodes)
        unit[self.source] = 1.0
        load = unit if self.load is SourceLoad.POINT else self.space.mass @ unit
        return np.asarray(read_only(self._factor().solve(load)))

    @cached_property
    def observed(self) -> IntArray:
        """Measured nodes I_obs, in falling order of the true solution."""
        count = max(1, self.space.n_nodes // 2) if self.n_observed is None else self.n_observed
        return np.asarray(read_only(np.argsort(-self.solution, kind="stable")[:count]))

    @cached_property
    def data(self) -> FloatArray:
        """Measurements p_h + N(0, noise_sd^2) at the observed nodes (eq:IP)."""
        noise = np.random.default_rng(self.seed).standard_normal(len(self.observed))
        return np.asarray(read_only(self.solution[self.observed] + self.noise_sd * noise))

    @cached_property
    def log_prior(self) -> FloatArray:
        """log pi at the nodes, (N_h,)."""
        total = self.space.graph.total_length
        if self.prior is SourcePrior.DENSITY:
            return np.full(self.space.n_nodes, -np.log(total))
        return np.log(self.space.lumped_mass / total)

    @cached_property
    def log_posterior(self) -> FloatArray:
        """LP at the nodes up to a constant, (N_h,) (eq:LP)."""
        return np.asarray(read_only(self.log_prior - self._misfits() / (2 * self.noise_sd**2)))

    @property
    def mode(self) -> int:
        """Node of the maximum a posteriori estimate; the first if several."""
        return int(np.argmax(self.log_posterior))

    @property
    def source_point(self) -> Points:
        """Place of the true source, one point."""
        return self.space.nodes[[self.source]]

    def problem(self, *, scaled: bool = True) -> Problem:
        """Maximization of LP, scaled to [-1, 0] or as it is.

        LP is defined at the nodes only; elsewhere the objective is linear between the neighbouring nodes.
        """
        return nodal_problem(f"source/{self.source}", self.space, self.log_posterior, scaled=scaled)

    def _factor(self) -> SparseMatrix:
        # Not kept: it does not pickle, and the solves take longer. Positive definite: no pivoting needed.
        return splu(
            self.operator.tocsc(),
            permc_spec="MMD_AT_PLUS_A",
            diag_pivot_thresh=0.0,
            options={"SymmetricMode": True},
        )

    def _misfits(self) -> FloatArray:
        """|D - G(x_i)|^2 for a source at each node i, (N_h,).

        L_h is symmetric: the row of L_h^-1 at an observed node is the solution for a load there. So only the
        observed half is solved for, and a few columns at a time.
        """
        misfits, factor = np.zeros(self.space.n_nodes), self._factor()
        for first in range(0, len(self.observed), COLUMNS):
            part = slice(first, first + COLUMNS)
            nodes = self.observed[part]
            units = np.zeros((self.space.n_nodes, len(nodes)))
            units[nodes, np.arange(len(nodes))] = 1.0
            response = factor.solve(units)  # (N_h sources, observed nodes)
            if self.load is SourceLoad.TENT:
                response = self.space.mass @ response
            misfits += np.sum((self.data[part] - response) ** 2, axis=1)
        return misfits


# The telecommunication network of New York in SNDlib, and the paper's source problem on it (ssec:MAP).

SCALE = 150.0  # pixels a unit of length; the paper states none, and this one gives 262 nodes at h = 0.25


def new_york(scale: float = SCALE) -> MetricGraph:
    """16 vertices N1..N16 and 49 straight links named by their pairs of vertices.

    Positions are the stored pixels divided by `scale`, lengths those of the straight lines between them. The
    stored `dist` is a great-circle formula applied to pixels and is not used. The second coordinate is kept
    as stored; should it point down, as in images, drawings are mirrored, but no length changes.
    Needs the extra 'telecom'.
    """
    require_positive("scale", scale, "150 gives the paper's size", kind="positive pixels a unit")
    topohub = require("topohub", extra="telecom", purpose="the New York network")
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", ResourceWarning)  # topohub leaves its file to the garbage collector
        stored = topohub.get("sndlib/newyork")
    nodes = sorted(stored["nodes"], key=lambda node: int(node["id"]))
    names = [str(node["name"]) for node in nodes]
    tails, heads = ([int(edge[end]) for edge in stored["edges"]] for end in ("source", "target"))
    return MetricGraph(
        tails,
        heads,
        None,
        positions=np.array([node["pos"] for node in nodes], dtype=np.float64) / scale,
        vertex_ids=names,
        edge_ids=[(names[tail], names[head]) for tail, head in zip(tails, heads, strict=True)],
    )


def new_york_inversion(
    source: int,
    *,
    seed: int = 0,
    scale: float = SCALE,
    max_cell: float = 0.25,
    load: SourceLoad = SourceLoad.POINT,
    prior: SourcePrior = SourcePrior.NODE_MASS,
    noise_sd: float = 0.1,
) -> SourceInversion:
    """The paper's source problem: chi = 0.2, half of the nodes observed, cells of at most 0.25.

    source: index of a node of the mesh. Results differ by source; report several.
    """
    space = FiniteElementSpace.build(new_york(scale), max_cell=max_cell)
    return SourceInversion(space, source, load=load, prior=prior, noise_sd=noise_sd, seed=seed)
