"""Random graphs and data: kernel, posterior and evidence against arbitrary precision.

The truth is dense and knows nothing of the package but its records (graph, points, parameters): element
matrices of hats or exact ones as power series in s = kappa^2 (ball arithmetic of FLINT), K(s)^-1 as a series,
the covariance for p = 2 alpha its coefficient p - 1, and t x t formulas for the rest.
"""

import warnings
from collections.abc import Iterator
from dataclasses import dataclass
from itertools import pairwise
from typing import NamedTuple

import numpy as np
from flint import arb, arb_mat, arb_series, ctx

import netbo
from netbo import ESTIMATED, FiniteElementSpace, Matern, MetricGraph, Observations, Points
from netbo.errors import AccuracyWarning, NumericalError

TOLERANCE = 1e-8  # of the prior's variance, of the largest value, of the evidence or 1
BITS, EXTREME_BITS = 320, 1500
EXTREME_TOLERANCE = 1e-6  # of extreme cases, beyond which there must be a warning
KINDS = ("lumped", "consistent", "exact")


@dataclass(frozen=True)
class Case:
    """One random problem; numbers are taken as they are, so its answers are exact."""

    seed: tuple[int, int]  # of the run, and number of the case
    graph: MetricGraph
    cells: np.ndarray  # of every edge, for hats
    kind: str
    matern: Matern
    data: Observations
    mean: object  # a number or ESTIMATED
    asked: Points

    def __str__(self):
        return (
            f"case {self.seed}: {self.kind}, alpha={self.matern.alpha}, kappa={self.matern.kappa:.3g}, "
            f"{self.graph!r}, {len(self.data)} values"
        )


class Spread(NamedTuple):
    """How far the numbers of random cases go, as powers of ten: least and most."""

    lengths: tuple[float, float] = (-1.0, 1.0)
    ranges: tuple[float, float] = (-1.0, 1.0)  # in total lengths
    noise: tuple[float, float] = (-6.0, 1.0)  # in variances of the field
    near: float = 0.0  # probability that a point lies within 1e-10 of a vertex


MODERATE = Spread()
EXTREME = Spread(lengths=(-12.0, 12.0), ranges=(-4.0, 4.0), noise=(-12.0, 6.0), near=0.2)


def random_case(seed: int, number: int, spread: Spread = MODERATE) -> Case:
    """Up to five vertices, loops, parallel edges, components; up to seven values, repeats among them."""
    rng = np.random.default_rng((seed, number))
    n_vertices = int(rng.integers(1, 6))
    n_edges = int(rng.integers(n_vertices, n_vertices + 4))
    tails, heads = rng.integers(0, n_vertices, (2, n_edges))
    _, ends = np.unique(np.concatenate([tails, heads]), return_inverse=True)
    lengths = 10 ** rng.uniform(*spread.lengths, n_edges)
    graph = MetricGraph(*ends.reshape(2, -1), lengths)
    kind, p = KINDS[int(rng.integers(3))], int(rng.integers(1, 5))
    scale = 10 ** rng.uniform(*spread.ranges) * lengths.sum()
    matern = Matern(alpha=p / 2, range=scale, sigma=10 ** rng.uniform(-2, 2))
    n = int(rng.integers(1, 8))
    points = _random_points(rng, graph, n, spread.near)
    noise = matern.sigma**2 * 10 ** rng.uniform(*spread.noise, n if rng.random() < 0.5 else 1)
    data = Observations(points, matern.sigma * rng.normal(size=n), noise)
    mean = ESTIMATED if rng.random() < 0.5 else float(matern.sigma * rng.normal())
    cells = rng.integers(1, 5, n_edges)
    return Case((seed, number), graph, cells, kind, matern, data, mean, _random_points(rng, graph, 4, 0.0))


def _random_points(rng, graph: MetricGraph, n: int, near: float) -> Points:
    """Anywhere, some at vertices, at nodes, or at one place twice."""
    edge, fraction = rng.integers(0, graph.n_edges, n), rng.random(n)
    fraction = np.where(rng.random(n) < 0.3, rng.integers(0, 5, n) / 4, fraction)
    fraction = np.where(rng.random(n) < near, 1e-10 * rng.random(n), fraction)
    if n > 2 and rng.random() < 0.3:
        edge[-1], fraction[-1] = edge[0], fraction[0]
    return graph.points(edge, fraction=fraction)


@dataclass(frozen=True)
class Answers:
    """What is compared."""

    prior: np.ndarray  # covariances of the points asked about
    mean: np.ndarray
    variance: np.ndarray
    evidence: float


def ours(case: Case) -> Answers:
    """The answers of the package."""
    domain = case.graph if case.kind == "exact" else FiniteElementSpace(case.graph, case.cells)
    options = {} if case.kind == "exact" else {"lumped": case.kind == "lumped"}
    prior = netbo.whittle_matern(domain, case.matern, **options)
    posterior = netbo.condition(prior, case.data, mean=case.mean)
    x = case.asked
    return Answers(prior.covariance(x, x), posterior.mean(x), posterior.variance(x), posterior.log_evidence())


def truth(case: Case, bits: int = BITS) -> Answers:
    """The answers in arbitrary precision."""
    ctx.prec = bits
    points = Points.concatenate([case.data.points, case.asked])
    basis, elements, size = (_exact_mesh if case.kind == "exact" else _hat_mesh)(case, points)
    kernel = basis * _covariance(case, elements, size) * basis.transpose()
    t, m = len(case.data), len(points)
    T = arb_mat([[kernel[i, j] for j in range(t)] for i in range(t)])
    for i, noise in enumerate(case.data.noise):
        T[i, i] += arb(float(noise))
    k = arb_mat([[kernel[i, j] for j in range(t)] for i in range(t, m)])
    y, ones = arb_mat([[arb(float(v))] for v in case.data.values]), arb_mat([[arb(1)]] * t)
    inverse = T.inv()
    dual_of_ones = inverse * ones
    precision = (ones.transpose() * dual_of_ones)[0, 0]
    is_estimated = case.mean is ESTIMATED
    centre = (y.transpose() * dual_of_ones)[0, 0] / precision if is_estimated else arb(float(case.mean))
    rest = y - ones * centre
    mean = k * (inverse * rest)
    reduction, explained = k * inverse * k.transpose(), k * dual_of_ones
    variances = [kernel[t + i, t + i] - reduction[i, i] for i in range(m - t)]
    if is_estimated:
        variances = [v + (1 - explained[i, 0]) ** 2 / precision for i, v in enumerate(variances)]
    quadratic = (rest.transpose() * inverse * rest)[0, 0]
    evidence = -(T.det().log() + quadratic + t * (2 * arb.pi()).log()) / 2
    return Answers(
        np.array([[_float(kernel[t + i, t + j]) for j in range(m - t)] for i in range(m - t)]),
        np.array([_float(centre + mean[i, 0]) for i in range(m - t)]),
        np.array([_float(v) for v in variances]),
        _float(evidence),
    )


def _float(ball: arb) -> float:
    """A ball's middle; it must be known to far more digits than are compared."""
    value = float(ball)
    assert float(ball.rad()) <= 1e-20 * max(abs(value), 1e-200), f"{ctx.prec} bits are not enough: {ball}"
    return value


Element = tuple[int, int, float]  # nodes and length


def _exact_mesh(case: Case, points: Points) -> tuple[arb_mat, list[Element], int]:
    """Vertices and points as nodes: the kernel at nodes is that of the network."""
    graph, number = case.graph, {}
    for vertex in range(graph.n_vertices):
        number[vertex] = vertex
    inside: dict[tuple[int, float], int] = {}
    nodes = []
    for edge, z in zip(points.edge.tolist(), points.z.tolist(), strict=True):
        length = float(graph.lengths[edge])
        if z == 0:
            nodes.append(int(graph.tails[edge]))
        elif z == length:
            nodes.append(int(graph.heads[edge]))
        else:
            nodes.append(inside.setdefault((edge, z), graph.n_vertices + len(inside)))
    elements: list[Element] = []
    for edge in range(graph.n_edges):
        stops = sorted((z, node) for (e, z), node in inside.items() if e == edge)
        ends = [(0.0, int(graph.tails[edge])), *stops, (float(graph.lengths[edge]), int(graph.heads[edge]))]
        elements += [(a, b, arb(w) - arb(z)) for (z, a), (w, b) in pairwise(ends)]
    size = graph.n_vertices + len(inside)
    basis = arb_mat(len(points), size)
    for row, node in enumerate(nodes):
        basis[row, node] = arb(1)
    return basis, elements, size


def _hat_mesh(case: Case, points: Points) -> tuple[arb_mat, list[Element], int]:
    """Hat functions on equal cells, interpolated at the points."""
    graph, first = case.graph, case.graph.n_vertices
    elements: list[Element] = []
    chains = []
    for edge, count in enumerate(case.cells.tolist()):
        chain = [int(graph.tails[edge]), *range(first, first + count - 1), int(graph.heads[edge])]
        first += count - 1
        cell = arb(float(graph.lengths[edge])) / count
        elements += [(a, b, cell) for a, b in pairwise(chain)]
        chains.append(chain)
    basis = arb_mat(len(points), first)
    for row, (edge, z) in enumerate(zip(points.edge.tolist(), points.z.tolist(), strict=True)):
        chain, count = chains[edge], int(case.cells[edge])
        place = arb(z) / arb(float(graph.lengths[edge])) * count
        cell = min(int(float(place)), count - 1)
        f = place - cell
        basis[row, chain[cell]] += 1 - f
        basis[row, chain[cell + 1]] += f
    return basis, elements, first


def _element(kind: str, s: arb_series, h: arb) -> tuple[arb_series, arb_series]:
    """Diagonal and off-diagonal of K_e(s), as power series."""
    if kind == "lumped":
        return s * (h / 2) + 1 / h, -1 / h + 0 * s
    if kind == "consistent":
        return s * (h / 3) + 1 / h, s * (h / 6) - 1 / h
    kappa = s.sqrt()
    decay = (kappa * (-h)).exp()
    bottom = 1 - decay * decay
    return kappa * (1 + decay * decay) / bottom, kappa * (-2) * decay / bottom


def _covariance(case: Case, elements: list[Element], size: int) -> arb_mat:
    """tau^-2 (-1)^(p-1) times coefficient p - 1 of K(s)^-1 around s = kappa^2."""
    p, kappa, tau = round(2 * case.matern.alpha), arb(case.matern.kappa), arb(case.matern.tau)
    ctx.cap = p
    s = arb_series([kappa * kappa, 1], prec=p)
    K = [arb_mat(size, size) for _ in range(p)]
    for a, b, h in elements:
        diagonal, off = (_coefficients(series, p) for series in _element(case.kind, s, h))
        for j in range(p):
            K[j][a, a] += diagonal[j]
            K[j][b, b] += diagonal[j]
            K[j][a, b] += off[j]
            K[j][b, a] += off[j]
    start = K[0].inv()
    X = [start]
    for n in range(1, p):
        source = arb_mat(size, size)
        for j in range(1, n + 1):
            source += K[j] * X[n - j]
        X.append(-start * source)
    return X[p - 1] * ((-1) ** (p - 1) / (tau * tau))


def _coefficients(series: arb_series, p: int) -> list[arb]:
    found = series.coeffs()
    return found + [arb(0)] * (p - len(found))


def errors(case: Case, bits: int = BITS) -> dict[str, float]:
    """By how much the answers differ, each in its own unit."""
    found, exact = ours(case), truth(case, bits)
    size = float(np.diag(exact.prior).max())
    spread = float(np.append(exact.variance, size).max())
    value = float(np.abs(np.append(case.data.values, exact.mean)).max(initial=case.matern.sigma))
    return {
        "kernel": float(np.abs(found.prior - exact.prior).max()) / size,
        "mean": float(np.abs(found.mean - exact.mean).max()) / value,
        "variance": float(np.abs(found.variance - exact.variance).max()) / spread,
        "evidence": abs(found.evidence - exact.evidence) / max(abs(exact.evidence), 1.0),
    }


def wrong_cases(n: int, seed: int, spread: Spread = MODERATE) -> Iterator[tuple[Case, dict[str, float]]]:
    """Cases in which an answer is farther from the truth than the tolerance."""
    for number in range(n):
        case = random_case(seed, number, spread)
        found = errors(case)
        if not max(found.values()) <= TOLERANCE:
            yield case, found


def extreme_cases(n: int, seed: int) -> Iterator[tuple[Case, dict[str, float], bool]]:
    """Extreme cases farther from the truth than their tolerance, and whether that was said."""
    for number in range(n):
        case = random_case(seed, number, EXTREME)
        with warnings.catch_warnings(record=True) as said:
            warnings.simplefilter("always")
            try:
                found = errors(case, EXTREME_BITS)
            except NumericalError:  # no answer is no wrong answer
                continue
        if not max(found.values()) <= EXTREME_TOLERANCE:
            yield case, found, any(issubclass(each.category, AccuracyWarning) for each in said)


def fuzz(n: int = 10_000, seed: int = 0) -> dict[str, object]:
    """The long form: how many cases, and those that are wrong; of half as many extreme ones, wrong unsaid."""
    wrong = [f"{case}: {found}" for case, found in wrong_cases(n, seed)]
    extreme = list(extreme_cases(n // 2, seed))
    return {
        "cases": n,
        "seed": seed,
        "tolerance": TOLERANCE,
        "extreme": {
            "cases": n // 2,
            "tolerance": EXTREME_TOLERANCE,
            "beyond it": len(extreme),
            "of these with a warning": sum(is_said for _, _, is_said in extreme),
        },
        "wrong": wrong + [f"{case}: {found}, not a word" for case, found, is_said in extreme if not is_said],
    }
