"""Observations as a mesh sees them: what depends on their places, and on their values."""

from dataclasses import dataclass
from functools import cached_property
from typing import NamedTuple

import numpy as np

from netbo.arrays import BoolArray, FloatArray, IntArray, sum_by
from netbo.fem import Location, Mesh
from netbo.geometry import Points
from netbo.linalg import Load
from netbo.posterior.base import Mean, MeanSetting
from netbo.posterior.observations import Distinct, Observations


class FlowNodes(NamedTuple):
    """The nearer node of each distinct place, where K x may be read instead of a residual."""

    node: IntArray
    is_alone: BoolArray  # whether the node serves no other place
    share: FloatArray  # of the place that the node has


@dataclass(frozen=True, eq=False)
class MeshData:
    """Where the observations lie in a mesh: the same for all parameters."""

    mesh: Mesh
    at: Location  # of all observations

    @classmethod
    def through(cls, mesh: Mesh, points: Points) -> "MeshData":
        """The points located in the mesh; one at a node has that node on its left and fraction 0."""
        at = mesh.locate(points)
        is_right = at.fraction == 1
        left = np.where(is_right, at.right, at.left)
        fraction = np.where(is_right, 0.0, at.fraction)
        right = np.where(fraction == 0, left, at.right)
        return cls(mesh, Location(cell=at.cell, left=left, right=right, fraction=fraction))

    @cached_property
    def distinct(self) -> Distinct:
        """Which observations share a place."""
        return Distinct.of(self.at.fraction, self.at.right, self.at.left)

    @cached_property
    def places(self) -> Location:
        """Locations of the distinct observations."""
        return self.at[self.distinct.first]

    @cached_property
    def is_at_nodes(self) -> bool:
        """Whether all observations are."""
        return self.places.is_at_nodes

    def flow_nodes(self, border: IntArray) -> FlowNodes:
        """The nodes at which a dual may be read from K x, where those of the border are known."""
        places, rest = self.places, self.places[np.delete(np.arange(len(self.places)), border)]
        ends = np.concatenate([rest.left, rest.right[rest.fraction > 0]])
        visits = np.bincount(ends, minlength=self.mesh.n_nodes)
        to_right = places.fraction > 0.5
        node = np.where(to_right, places.right, places.left)
        share = np.where(to_right, places.fraction, 1 - places.fraction)
        return FlowNodes(node, visits[node] == 1, share)

    def moved(self, points: Points) -> FloatArray:
        """By what share of a cell observations taken for nodes lie beside them, (n,)."""
        x, mesh = self.mesh.graph.bind(points), self.mesh
        lengths, node = mesh.graph.lengths[x.edge], self.at.left
        to_end = np.minimum(x.z, lengths - x.z)
        aside = np.where(node < mesh.graph.n_vertices, to_end, abs(x.z - mesh.nodes.z[node]))
        return np.where(self.at.fraction > 0, 0.0, aside / mesh.cell_ends[2][self.at.cell])

    @cached_property
    def is_crowded(self) -> BoolArray:
        """Which observations lie inside a cell with more than two such places: these depend on each other."""
        inside = self.places.fraction > 0
        count = np.bincount(self.places.cell[inside], minlength=self.mesh.topology.n_cells)
        return (self.at.fraction > 0) & (count[self.at.cell] > 2)

    def spread_to_nodes(self, nodal: FloatArray, weight: FloatArray) -> None:
        """Add sum of weight e(x) over the distinct places to a nodal vector."""
        _spread(nodal, self.places, weight)

    def load(self, weight: FloatArray, without: IntArray) -> Load:
        """D = sum of weight e(x) e(x)' over the distinct places, or over all but some of them.

        Row sums at the nodes, products of both entries inside cells.
        """
        places = self.places
        if len(without):
            rest = np.delete(np.arange(len(places)), without)
            places, weight = places[rest], weight[rest]
        rows, f = np.zeros(self.mesh.n_nodes), places.fraction
        _spread(rows, places, weight)
        if places.is_at_nodes:
            return Load(weight=rows, coupling=np.zeros(1))
        return Load(rows, coupling=sum_by(places.cell, f * (1 - f) * weight, self.mesh.topology.n_cells))


def _spread(nodal: FloatArray, places: Location, weight: FloatArray) -> None:
    if places.is_at_nodes:
        nodal[places.left] += weight  # distinct places at nodes are distinct nodes
        return
    np.add.at(nodal, places.left, (1 - places.fraction) * weight)
    np.add.at(nodal, places.right, places.fraction * weight)


@dataclass(frozen=True, eq=False)
class CentredValues:
    """Values minus a constant, and their means at the distinct places: the same while all noise is equal."""

    data: MeshData
    values: FloatArray  # (n,) minus the centre
    noise: FloatArray  # (n,) variances, by which repeats are weighted
    centre: float  # any number is right; near the mean it keeps digits
    has_ones: bool  # whether the mean is estimated, so that ones are solved for beside the values

    @classmethod
    def of(
        cls,
        observations: Observations,
        data: MeshData,
        noise: FloatArray,
        mean: Mean,
        centre: float | None = None,
    ) -> "CentredValues":
        """The values around the mean, if it is given, else around the centre or their weighted average."""
        if not isinstance(mean, MeanSetting):
            centre = float(mean)
        elif centre is None:
            centre = float(np.average(observations.values, weights=1 / noise))
        return cls(data, observations.values - centre, noise, centre, isinstance(mean, MeanSetting))

    @cached_property
    def merged(self) -> FloatArray:
        """Means of the values at the distinct places and, with an estimated mean, ones: (r, m)."""
        values = self.data.distinct.mean(self.values, self.noise)
        return np.stack([values, np.ones(len(values))]) if self.has_ones else values[None]

    @cached_property
    def deviations(self) -> FloatArray:
        """Values minus the means of their places, (n,): what repeats say against each other."""
        merged: FloatArray = self.merged[0]
        return self.values - merged[self.data.distinct.group]
