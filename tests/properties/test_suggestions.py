"""What no change of description may change: the next suggestion, given the same data.

Values carry random noise, and one of them lies on the loop, which is symmetric without any: so ties have
probability zero.
"""

from dataclasses import dataclass
from functools import cached_property

import numpy as np
import pytest
from scipy.stats import chi2_contingency, chisquare

import netbo
from netbo import FiniteElementSpace, Matern, MetricGraph, Optimizer, Points
from netbo.acquisition import GpTs, IgpUcb, LogExpectedImprovement, NoisyExpectedImprovement, RandomSearch
from netbo.optimize import EuclideanMatern, Given, Known, Learned, Maximin, MeshFreeMatern
from netbo.optimize.presets import STEADY

BEND = np.array([[1.0, 0.0], [1.6, 0.8], [2.0, 0.0]])
RING = np.array([[2.0, 0.0], [2.7, 0.5], [2.9, 0.0], [2.6, -0.4], [2.0, 0.0]])
POSITIONS = np.array([[0.0, 0.0], [1.0, 0.0], [2.0, 0.0], [2.0, -1.5], [0.3, 1.1]])
ENDS = [(0, 1), (1, 2), (1, 2), (2, 2), (2, 3), (0, 4), (4, 1)]  # parallel, a loop, a dead end, a cycle
CURVES = [None, None, BEND, RING, None, None, None]
CELLS = np.array([8, 8, 10, 12, 9, 8, 8])
N_EDGES, N_VERTICES, LOOP = len(ENDS), len(POSITIONS), 3


@dataclass(frozen=True)
class Description:
    """The same network in other words; points of the first description are (edge, fraction)."""

    unit: float = 1.0
    is_flipped: tuple[bool, ...] = (False,) * N_EDGES
    edges: tuple[int, ...] = tuple(range(N_EDGES))  # the old number of each new edge
    vertices: tuple[int, ...] = tuple(range(N_VERTICES))  # the new number of each old vertex

    @cached_property
    def space(self) -> FiniteElementSpace:
        positions = np.empty_like(POSITIONS)
        positions[list(self.vertices)] = self.unit * POSITIONS
        ends, curves = [], []
        for edge in self.edges:
            step = -1 if self.is_flipped[edge] else 1
            ends.append([self.vertices[vertex] for vertex in ENDS[edge][::step]])
            curves.append(None if CURVES[edge] is None else self.unit * CURVES[edge][::step])
        tails, heads = np.array(ends).T
        graph = MetricGraph(tails, heads, None, positions=positions, curves=curves)
        return FiniteElementSpace(graph, CELLS[list(self.edges)])

    def points(self, edge, fraction) -> Points:
        """Points of the first description in this one."""
        flips = np.array(self.is_flipped)[edge]
        number = np.argsort(self.edges)[edge]
        return self.space.graph.points(number, fraction=np.where(flips, 1 - fraction, fraction))

    def recovered(self, x: Points) -> Points:
        """Points of this description in the first one."""
        old = np.array(self.edges)[x.edge]
        fraction = x.z / self.space.graph.lengths[x.edge]
        flips = np.array(self.is_flipped)[old]
        return PLAIN.space.graph.points(old, fraction=np.where(flips, 1 - fraction, fraction))


PLAIN = Description()
FLIPPED = Description(is_flipped=(True, False, True, True, True, False, True))
DESCRIPTIONS = {
    "unit of length": Description(unit=1000.0),
    "flipped edges": FLIPPED,
    "renamed": Description(edges=(4, 2, 6, 0, 1, 3, 5), vertices=(3, 1, 4, 0, 2)),
    "all of them": Description(1e-3, FLIPPED.is_flipped, (6, 5, 4, 3, 2, 1, 0), (4, 3, 2, 1, 0)),
}
ACQUISITIONS = [IgpUcb(), LogExpectedImprovement(), NoisyExpectedImprovement()]


# Without the default's kernel of edges, for which the way an edge runs makes a difference.
OF_THE_NETWORK = Learned(models=(MeshFreeMatern(),), beliefs=STEADY)


def measured(seed):
    """Edges, fractions and noisy values at twelve nodes, no two of them the same: values may be exact."""
    rng, nodes = np.random.default_rng(seed), PLAIN.space.nodes
    is_looped = nodes.edge == LOOP
    chosen = np.r_[rng.choice(np.flatnonzero(~is_looped), 11, replace=False), np.flatnonzero(is_looped)[2]]
    chosen = nodes[chosen]
    edge, fraction = chosen.edge, chosen.z / PLAIN.space.graph.lengths[chosen.edge]
    return edge, fraction, np.sin(5 * fraction + edge) + 0.3 * rng.standard_normal(12)


def suggestions(data, description=PLAIN, *, values=lambda y: y, n=3, **settings) -> Points:
    """The next n places, in the first description."""
    edge, fraction, y = measured(data)
    settings = {"fit": OF_THE_NETWORK} | settings
    optimizer = Optimizer(description.space, design=Maximin(4), **settings)
    optimizer.tell(description.points(edge, fraction), values(y))
    asked = Points.at([each.point for each in optimizer.ask(n)], graph=description.space.graph)
    return description.recovered(asked)


def assert_same_places(one: Points, two: Points):
    graph = PLAIN.space.graph

    assert np.diag(graph.distance(one, two)).max() < 1e-6


def test_the_network_has_edges_of_all_kinds():
    graph = PLAIN.space.graph

    assert np.any(graph.tails == graph.heads)
    assert np.any(graph.degrees == 1)
    assert 50 < PLAIN.space.n_nodes < 70
    for description in DESCRIPTIONS.values():
        scaled = description.space.graph.diameter / description.unit
        assert scaled == pytest.approx(graph.diameter)


@pytest.mark.parametrize("noise", [None, 0.0, 0.09])
@pytest.mark.parametrize("acquisition", ACQUISITIONS, ids=lambda rule: type(rule).__name__)
@pytest.mark.parametrize("name", DESCRIPTIONS)
def test_another_description_of_the_network_changes_no_suggestion(name, acquisition, noise):
    for data in range(2):
        settings = {"acquisition": acquisition, "noise": noise}
        other = suggestions(data, DESCRIPTIONS[name], **settings)

        assert_same_places(suggestions(data, **settings), other)


@pytest.mark.parametrize("name", DESCRIPTIONS)
def test_another_description_changes_no_suggestion_of_a_straight_line_model(name):
    settings = {"acquisition": IgpUcb(), "fit": Learned(models=(EuclideanMatern(1.5),)), "noise": 0.09}

    assert_same_places(suggestions(0, **settings), suggestions(0, DESCRIPTIONS[name], **settings))


@pytest.mark.parametrize("noise", [None, 0.0, 0.09])
@pytest.mark.parametrize("acquisition", ACQUISITIONS, ids=lambda rule: type(rule).__name__)
@pytest.mark.parametrize(("a", "b"), [(1000.0, -50.0), (1e-3, 7.0), (2.0, 0.0)])
def test_another_unit_of_values_changes_no_suggestion(a, b, acquisition, noise):
    """y -> a y + b, and a noise that is given with it: a^2 noise."""
    for data in range(2):
        one = suggestions(data, acquisition=acquisition, noise=noise)
        two = suggestions(
            data,
            values=lambda y: a * y + b,
            acquisition=acquisition,
            noise=None if noise is None else a**2 * noise,
        )

        assert_same_places(one, two)


@pytest.mark.parametrize("noise", [None, 0.0, 0.09])
@pytest.mark.parametrize("acquisition", [*ACQUISITIONS, GpTs()], ids=lambda rule: type(rule).__name__)
@pytest.mark.parametrize("preset", ["calibrated", "paper"])
def test_minimizing_minus_f_is_maximizing_f(preset, acquisition, noise):
    settings = {"acquisition": acquisition, "noise": noise, "preset": preset}
    down = suggestions(1, values=lambda y: -y, direction="minimize", **settings)

    assert suggestions(1, **settings) == down


# Distributions

N_DRAWS = 300
LEVEL = 1e-3  # of each chi-square test; independent seeds on both sides


def drawn(acquisition, description, seeds) -> Points:
    """First suggestions by seed, under a kernel that is known."""
    unit = description.unit
    prior = netbo.whittle_matern(description.space, Matern(1.0, range=2.0 * unit, sigma=1.0))
    fit = Known(Given(prior))
    found = [
        suggestions(0, description, acquisition=acquisition, fit=fit, noise=0.09, seed=seed, n=1)
        for seed in seeds
    ]
    return Points.concatenate(found)


def bins(x: Points) -> np.ndarray:
    """Counts by vertex, and by halves of edges without their ends."""
    graph = PLAIN.space.graph
    at_vertex = graph.distance(x, graph.vertex_points())
    nearest = at_vertex.argmin(axis=1)
    half = N_VERTICES + 2 * x.edge + (x.z > graph.lengths[x.edge] / 2)
    label = np.where(at_vertex.min(axis=1) < 1e-9, nearest, half)
    return np.bincount(label, minlength=N_VERTICES + 2 * N_EDGES)


def pooled(counts: np.ndarray, least=10) -> np.ndarray:
    """Rows of counts with the rare columns put into one."""
    is_rare = counts.sum(axis=0) < least
    rest = counts[:, is_rare].sum(axis=1, keepdims=True)
    common = counts[:, ~is_rare]
    return np.hstack([common, rest]) if rest.sum() >= least else common


@pytest.mark.parametrize("acquisition", [GpTs(), RandomSearch()], ids=lambda rule: type(rule).__name__)
@pytest.mark.parametrize("name", ["flipped edges", "all of them"])
def test_another_description_changes_no_distribution(name, acquisition):
    """300 draws each; a right one fails with probability 1e-3."""
    one = drawn(acquisition, PLAIN, range(N_DRAWS))
    two = drawn(acquisition, DESCRIPTIONS[name], range(N_DRAWS, 2 * N_DRAWS))
    counts = pooled(np.array([bins(one), bins(two)]))

    assert counts.shape[1] >= 4
    assert chi2_contingency(counts).pvalue > LEVEL


def test_random_search_is_uniform_over_the_nodes():
    """Every node is equally likely, so a bin is as likely as it has nodes; at level 1e-3."""
    counts = bins(drawn(RandomSearch(), PLAIN, range(N_DRAWS)))
    nodes = bins(PLAIN.space.nodes)
    together = pooled(np.array([counts, nodes * N_DRAWS / nodes.sum()]), least=20)

    assert chisquare(together[0], together[1]).pvalue > LEVEL
