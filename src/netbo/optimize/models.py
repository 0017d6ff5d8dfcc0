"""Priors yet to be built: what a preset or a user names before there is a mesh."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Protocol

from netbo.checks import require_positive
from netbo.errors import ParameterError
from netbo.fem import FiniteElementSpace
from netbo.priors import (
    LARGEST_NETWORK,
    DensePrior,
    Matern,
    Prior,
    edgewise_matern,
    euclidean_matern,
    sum_of,
    whittle_matern,
)

START_RANGE = 0.25  # in diameters; where parameters are learned it only names the start


class Model(Protocol):
    """A prior up to the mesh it lives on; its range and amplitude are where learning starts."""

    @property
    def label(self) -> str:
        """What people read in a summary."""

    def build(self, space: FiniteElementSpace) -> Prior:
        """The prior on a mesh."""


@dataclass(frozen=True, slots=True)
class NetworkMatern:
    """Kernel of the Whittle-Matérn field along the network, by finite elements on the mesh.

    Parameters
    ----------
    alpha : float
        Smoothness above 1/4, nu = 2 alpha - 1/2; 1/2, 1, 3/2 and 2 are fast.
    constant_variance : bool
        Dead ends then vary no more than other places.

    Examples
    --------
    >>> NetworkMatern(alpha=2.0).label
    'network alpha=2'
    """

    alpha: float = 1.0
    constant_variance: bool = False  # dead ends then vary no more than other places

    @property
    def label(self) -> str:
        """What people read in a summary."""
        constant = ", constant variance" if self.constant_variance else ""
        return f"network alpha={self.alpha:g}{constant}"

    def build(self, space: FiniteElementSpace) -> Prior:
        """The finite element prior; tau = 1, so that an amplitude that stays fixed is the paper's."""
        matern = _unit_tau(self.alpha, space)
        return whittle_matern(space, matern, constant_variance=self.constant_variance)


@dataclass(frozen=True, slots=True)
class MeshFreeMatern:
    """Kernel of the Whittle-Matérn field of the network itself: no mesh comes between it and the data.

    Parameters
    ----------
    alpha : float
        Smoothness, as for NetworkMatern.
    constant_variance : bool
        Dead ends then vary no more than other places.
    junction_gap : float
        In mean lengths of an edge: keeps the arms of junctions apart, so that values may jump there.

    Examples
    --------
    >>> MeshFreeMatern().label
    'exact network alpha=1'
    """

    alpha: float = 1.0
    constant_variance: bool = False  # dead ends then vary no more than other places
    junction_gap: float = 0.0  # in mean lengths of an edge

    @property
    def label(self) -> str:
        """What people read in a summary."""
        constant = ", constant variance" if self.constant_variance else ""
        apart = ", junctions apart" if self.junction_gap else ""
        return f"exact network alpha={self.alpha:g}{constant}{apart}"

    def build(self, space: FiniteElementSpace) -> Prior:
        """The prior on the network of the mesh; tau = 1, as for NetworkMatern."""
        matern = _unit_tau(self.alpha, space)
        return whittle_matern(
            space.graph,
            matern,
            constant_variance=self.constant_variance,
            junction_gap=self.junction_gap * float(space.graph.lengths.mean()),
        )


@dataclass(frozen=True, slots=True)
class EuclideanMatern:
    """Matérn kernel of straight-line distance, which knows nothing of the network; sigma = 1 unless learned.

    Parameters
    ----------
    nu : float
        Smoothness, 1/2, 3/2 or 5/2.
    tau : float, optional
        Instead of sigma = 1: as NetworkMatern of the same smoothness on a line.

    Examples
    --------
    >>> EuclideanMatern(nu=1.5).label
    'straight-line nu=1.5'
    """

    nu: float = 0.5
    tau: float | None = None  # instead of sigma = 1: as NetworkMatern of the same smoothness on a line

    @property
    def label(self) -> str:
        """What people read in a summary."""
        return f"straight-line nu={self.nu:g}"

    def build(self, space: FiniteElementSpace) -> Prior:
        """The prior on the drawn network."""
        start = START_RANGE * space.graph.diameter
        unit = euclidean_matern(space.graph, nu=self.nu, range=start)
        if self.tau is None:
            return unit
        return unit.rescaled(sigma=Matern(unit.matern.alpha, kappa=unit.matern.kappa, tau=self.tau).sigma)


@dataclass(frozen=True, slots=True)
class EdgewiseMatern:
    """Kernel of a level for each edge, alike on near ones, times a profile along it that all edges share.

    For what is constant along an edge or follows its direction, and jumps at junctions.

    Parameters
    ----------
    profile : float
        Share of an edge over which values change; large makes them constant along it.
    odds : float
        How likely this is before there are values, beside 1 for a kernel that passes junctions. Few noisy
        values tell the two hardly apart, and most quantities do not jump.

    Examples
    --------
    >>> EdgewiseMatern().label
    'edge by edge'
    """

    profile: float = 1.0
    odds: float = 0.2

    def __post_init__(self) -> None:
        require_positive("odds", self.odds, "1 says: as likely as another kernel")

    @property
    def label(self) -> str:
        """What people read in a summary."""
        return "edge by edge"

    def obstacle(self, space: FiniteElementSpace) -> str | None:
        """Why the network is no network for it: it has too many edges."""
        n = space.graph.n_edges
        return f"more than {LARGEST_NETWORK} edges ({n})" if n > LARGEST_NETWORK else None

    def build(self, space: FiniteElementSpace) -> Prior:
        """The prior on the network of the mesh."""
        start = START_RANGE * space.graph.diameter
        return edgewise_matern(space.graph, range=start, profile=self.profile)


@dataclass(frozen=True, slots=True, init=False)
class SumOf:
    """Sum of kernels: independent fields, ranges in a fixed proportion and equal shares of the variance.

    Parameters
    ----------
    *parts : Model
        Two or more, whose kernels are dense.

    Raises
    ------
    ParameterError
        There are fewer than two.

    Examples
    --------
    >>> SumOf(EuclideanMatern(), EuclideanMatern(nu=1.5)).label
    'straight-line nu=0.5 + straight-line nu=1.5'
    """

    parts: tuple[Model, ...]

    def __init__(self, *parts: Model) -> None:
        if len(parts) < 2:
            raise ParameterError(f"a sum needs two models or more, got {len(parts)}; pass it alone")
        object.__setattr__(self, "parts", parts)

    @property
    def label(self) -> str:
        """What people read in a summary."""
        return " + ".join(part.label for part in self.parts)

    def build(self, space: FiniteElementSpace) -> Prior:
        """The sum, each part at the start range with standard deviation 1."""
        start = START_RANGE * space.graph.diameter
        built = [part.build(space).rescaled(range=start, sigma=1.0) for part in self.parts]
        return sum_of(*_all_dense(built))


@dataclass(frozen=True, slots=True, eq=False)
class Given:
    """Kernel of a prior that exists already.

    Parameters
    ----------
    prior : Prior
        On the network of the optimizer.
    name : str
        In summaries.

    Examples
    --------
    >>> import netbo
    >>> prior = netbo.whittle_matern(netbo.interval(2.0), netbo.Matern(alpha=1.0, range=0.5, sigma=1.0))
    >>> Given(prior, "mine").label
    'mine (MeshFreePrior)'
    """

    prior: Prior
    name: str = "given"

    @property
    def label(self) -> str:
        """What people read in a summary."""
        return f"{self.name} ({type(self.prior).__name__})"

    def build(self, space: FiniteElementSpace) -> Prior:
        """The prior itself; it must be one of the same network."""
        if not space.graph.has_edges_of(self.prior.graph):
            raise ParameterError(
                f"the prior must live on {space.graph!r}, got one on {self.prior.graph!r}; build it anew"
            )
        return self.prior


def _unit_tau(alpha: float, space: FiniteElementSpace) -> Matern:
    """The start range with tau = 1."""
    kappa = Matern(alpha, range=START_RANGE * space.graph.diameter).kappa
    return Matern(alpha, kappa=kappa, tau=1.0)


def _all_dense(priors: Sequence[Prior]) -> list[DensePrior]:
    dense = [prior for prior in priors if isinstance(prior, DensePrior)]
    if len(dense) < len(priors):
        names = ", ".join(type(prior).__name__ for prior in priors)
        raise ParameterError(f"parts of a sum must know the derivative of their kernel, got {names}")
    return dense
