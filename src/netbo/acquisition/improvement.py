"""Expected improvement on a logarithmic scale, over the best mean or over a noisy incumbent."""

import math
from collections.abc import Callable
from dataclasses import dataclass, field
from functools import cache, cached_property
from typing import ClassVar

import numpy as np
from scipy.special import erfcx, ndtr, ndtri

from netbo.acquisition.base import ScoreFunction
from netbo.arrays import FloatArray, IntArray, read_only
from netbo.checks import explained_class, require_count, require_nonnegative
from netbo.errors import ParameterError
from netbo.geometry import Points, mean_distances
from netbo.posterior import JointCandidates, Surrogate, joint_with, parts_of

DIRECT = -1.0  # above it phi + z Phi loses less than two bits
ASYMPTOTIC = -30.0  # below it nine terms of the series have all digits; above it erfcx loses less than four
SMALLEST = 1e-300  # of a variance by which something is divided
HALF_LOG_2_PI = math.log(2 * math.pi) / 2
# 1 - x M(x) = x^-2 (1 - 3 x^-2 + 15 x^-4 - ...), M the Mills ratio: double factorials
SERIES = tuple((-1.0) ** k * math.prod(range(1, 2 * k + 2, 2)) for k in range(9))


def log_expected_improvement(mean: FloatArray, std: FloatArray, best: FloatArray | float) -> FloatArray:
    """log E max(f - best, 0) for f ~ N(mean, std^2), broadcast.

    log std + log h(z), h(z) = phi(z) + z Phi(z), z = (mean - best) / std. Where std is 0 it is the logarithm
    of the improvement, -inf if there is none.
    """
    gap, std = np.broadcast_arrays(np.asarray(mean - best, dtype=np.float64), std)
    with np.errstate(divide="ignore", over="ignore", invalid="ignore"):
        z = gap / std
        is_sure = (std == 0) | (z == np.inf)
        sure = np.log(np.maximum(gap, 0.0))
        uncertain = np.log(std) + _log_h(np.where(is_sure, 0.0, z))
    return np.where(is_sure, sure, uncertain)


def _log_h(z: FloatArray) -> FloatArray:
    """log(phi(z) + z Phi(z)): for z << 0 both terms cancel, so 1 - x M(x), x = -z, is formed instead."""
    result = np.empty_like(z)
    is_direct, is_far = z >= DIRECT, z < ASYMPTOTIC
    near = z[is_direct]
    result[is_direct] = np.log(np.exp(-near * near / 2 - HALF_LOG_2_PI) + near * ndtr(near))
    middle = z[~is_direct & ~is_far]
    mills = math.sqrt(math.pi / 2) * erfcx(-middle / math.sqrt(2))
    result[~is_direct & ~is_far] = np.log1p(middle * mills) - middle * middle / 2 - HALF_LOG_2_PI
    far = z[is_far]
    series = np.log(np.polynomial.polynomial.polyval(far**-2, SERIES))
    result[is_far] = series - 2 * np.log(-far) - far * far / 2 - HALF_LOG_2_PI
    return result


def log_improvement_bound(gap: FloatArray, variance: FloatArray) -> FloatArray:
    """A number no less than log E max(f, 0) for f ~ N(gap, variance), and seldom a half more.

    h(-x) <= phi(x) / (1 + x^2) for x >= 0, since Mills' ratio is at least x / (1 + x^2); h(x) = x + h(-x).
    """
    variance = np.maximum(variance, SMALLEST)
    square = gap * gap / variance
    bound: FloatArray = (np.log(variance) - square) / 2 - np.log1p(square) - HALF_LOG_2_PI
    ahead = np.flatnonzero(gap > 0)
    bound[ahead] = np.logaddexp(bound[ahead], np.log(gap[ahead]))
    return bound


# The observed places at which the objective may be largest.

OPTIMISM = 2.0  # standard deviations above the mean by which places are ranked


def observed_places(surrogate: Surrogate) -> Points:
    """The observed points, each place once; a vertex is one place, from whichever edge it is addressed."""
    points = surrogate.observations.points
    edge, z = points.edge, points.z
    if points.graph is not None:
        graph = points.graph
        at_head = z == graph.lengths[edge]
        is_vertex = at_head | (z == 0)
        vertex = np.where(at_head, graph.heads[edge], graph.tails[edge])
        edge, z = np.where(is_vertex, -1 - vertex, edge), np.where(is_vertex, 0.0, z)
    _, first = np.unique(np.stack([edge.astype(np.float64), z]), axis=1, return_index=True)
    return points[np.sort(first)]


def likely_incumbents(surrogate: Surrogate, places: Points, n: int) -> tuple[Points, FloatArray]:
    """At most n of the places with the largest mean + 2 std, largest first, and their means."""
    means = surrogate.mean(places)
    best = np.argsort(-(means + OPTIMISM * surrogate.std(places)), kind="stable")[:n]
    return places[best], means[best]


# Expected improvement over the best posterior mean, on a logarithmic scale.


@explained_class
@dataclass(frozen=True, slots=True)
class LogExpectedImprovement:
    """log E max(f(x) - best - margin, 0), best = max of the posterior mean over the observed points.

    Taking the mean for the truth at the incumbent, it measures there again and again when there is noise:
    then NoisyExpectedImprovement is better. Without observations it is log std.
    """

    hallucinates: ClassVar[bool] = True

    margin: float = 0.0  # improvements up to this, in the unit of the objective, count for nothing

    def __post_init__(self) -> None:
        require_nonnegative("margin", self.margin, "0 is the usual one")

    def scores(self, surrogate: Surrogate, x: Points, rng: np.random.Generator) -> FloatArray:
        """Log expected improvements at the candidates, (n,); nothing is drawn."""
        mean, std = surrogate.mean(x), surrogate.std(x)
        if not len(surrogate.observations):
            return log_expected_improvement(std, np.zeros(len(x)), 0.0)  # log std
        best = float(surrogate.mean(surrogate.observations.points).max())
        return log_expected_improvement(mean, std, best + self.margin)


# Expected improvement over an incumbent whose value is not known exactly.

SOBOL_SEED = 20240229  # any constant: the score is a function of model and data
SOBOL_BITS = 30
EXPLAINED = 1e-10  # of a variance: what is left below it is rounding
ENTRIES = 1_000_000  # draws times candidates held at once
BOUNDING = 3  # incumbents that bound an improvement
AT_ONCE, MOST_AT_ONCE = 128, 4_096  # candidates scored before the next bound is looked at
MANY = 4_096  # candidates; of more, few are bounded closely
CHUNK = 16_384  # candidates bounded roughly at a time
PLAIN = -8.0  # deviations: improvements from less than that are summed as logarithms


@explained_class
@dataclass(frozen=True, slots=True)
class NoisyExpectedImprovement:
    """log E max(f(x) - max_j f(x_j), 0) over the joint posterior of f(x) and f at the observed places x_j.

    Given values s at those places, f(x) is Gaussian with mean mu(x) + c(x)' A^+ (s - mu) and variance
    sigma^2(x) - c(x)' A^+ c(x), A and c the posterior covariances: the improvement is in closed form, and its
    mean over s is taken with quasi-random draws, always the same. Only the observed places with the largest
    mean + 2 std take part. A query at one of them improves nothing, so no incumbent is measured again; where
    all candidates are such places, all scores are -inf or negligible. Without observations it is log std.
    """

    hallucinates: ClassVar[bool] = True

    n_draws: int = 32
    n_incumbents: int = 16

    def __post_init__(self) -> None:
        require_count("n_incumbents", self.n_incumbents, "16 is the usual one")
        require_count("n_draws", self.n_draws, "32 is the usual one")
        if self.n_draws & (self.n_draws - 1):
            raise ParameterError(
                f"n_draws must be a power of two, where Sobol points are balanced, got {self.n_draws}; try 32"
            )

    def scores(self, surrogate: Surrogate, x: Points, rng: np.random.Generator) -> FloatArray:
        """Log expected improvements at the candidates, (n,); nothing is drawn from `rng`."""
        return _mixed([(log_weight, rule.at(x).exact()) for log_weight, rule in self._rules(surrogate)])

    def begin(self, surrogate: Surrogate, rng: np.random.Generator) -> ScoreFunction:
        """The scores of one decision: exact where a candidate may win, elsewhere a bound below the best.

        The improvement over all incumbents is at most that over any one of them, which has a closed form.
        Candidates are looked at in the order of that bound, until it falls below the best score. Of very many
        only those are bounded so closely whose bound of a bound is not yet below.
        """
        return _Screening(self._rules(surrogate))

    def _rules(self, surrogate: Surrogate) -> list[tuple[float, "_Incumbents"]]:
        """Each model of a mixture with the log of its weight: improvements, not moments, are averaged."""
        places = observed_places(surrogate)
        return [
            (math.log(weight), _Incumbents(part, places, self.n_draws, self.n_incumbents))
            for weight, part in parts_of(surrogate)
        ]


@dataclass(frozen=True, eq=False)
class _Screening:
    """Scores of one decision, see `NoisyExpectedImprovement.begin`."""

    rules: list[tuple[float, "_Incumbents"]]

    def __call__(self, x: Points) -> FloatArray:
        return self._close(x) if len(x) <= MANY else self._sifted(x)

    def _close(self, x: Points) -> FloatArray:
        """Every candidate bounded by its likeliest incumbents, those that may win exact."""
        views = [(log_weight, rule.at(x)) for log_weight, rule in self.rules]
        scores = _mixed([(log_weight, view.bound()) for log_weight, view in views])
        order = np.argsort(-scores, kind="stable")
        return _settled(scores, order, lambda part: _mixed([(w, view.exact(part)) for w, view in views]))

    def _sifted(self, x: Points) -> FloatArray:
        """Every candidate bounded roughly, those above the best so far closely, those that may win exact.

        A few thousand at a time: what is known of a million candidates at once does not fit beside the rest.
        """
        scores = np.concatenate([self._of(x[part], _Candidates.rough_bound) for part in _parts(len(x))])
        top = np.argpartition(-scores, AT_ONCE)[:AT_ONCE]
        promising = np.flatnonzero(scores > self._close(x[top]).max())
        for part in _parts(len(promising)):
            scores[promising[part]] = self._of(x[promising[part]], _Candidates.bound)
        order = promising[np.argsort(-scores[promising], kind="stable")]
        return _settled(scores, order, lambda part: self._of(x[part], _Candidates.exact), growth=2)

    def _of(self, x: Points, score: Callable[["_Candidates"], FloatArray]) -> FloatArray:
        return _mixed([(log_weight, score(rule.at(x))) for log_weight, rule in self.rules])


def _settled(
    scores: FloatArray, order: IntArray, exact: Callable[[IntArray], FloatArray], growth: int = 1
) -> FloatArray:
    """Bounds, largest first, made exact until they fall below the best of these.

    growth: of how many are before the next bound is looked at; of very many, many may be near the best.
    """
    best, first, size = -np.inf, 0, AT_ONCE
    while first < len(order) and scores[order[first]] > best:
        part = order[first : first + size]
        scores[part] = exact(part)
        best = max(best, scores[part].max())
        first, size = first + size, min(growth * size, MOST_AT_ONCE)
    return scores


def _parts(n: int) -> list[slice]:
    return [slice(first, first + CHUNK) for first in range(0, n, CHUNK)]


class _Incumbents:
    """The observed places that may be best under one model, and joint draws of their values."""

    def __init__(self, surrogate: Surrogate, places: Points, n_draws: int, n_incumbents: int) -> None:
        self.is_first = not len(places)
        self.places, self.mean = places, np.empty(0)
        if not self.is_first:
            self.places, self.mean = likely_incumbents(surrogate, places, n_incumbents)
        self.joint = joint_with(surrogate, self.places)
        self.covariance = np.empty((0, 0)) if self.is_first else self.joint.covariance
        self.draws = _normal_draws(n_draws, n_incumbents)[:, : len(self.places)]

    def at(self, x: Points) -> "_Candidates":
        return _Candidates(self, self.joint.at(x))


class _Candidates:
    """Candidates and what they have to do with the incumbents."""

    def __init__(self, incumbents: _Incumbents, joint: JointCandidates) -> None:
        self.incumbents, self.joint = incumbents, joint
        self.mean, self.variance = joint.mean, joint.variance
        self.is_first = incumbents.is_first
        if self.is_first:
            return
        self.own = np.diag(incumbents.covariance)
        self.cut = EXPLAINED * max(self.variance.max(initial=0.0), self.own.max())
        self.is_known = bool(self.own.max() <= self.cut)  # values without noise: there is nothing to draw

    def _differences(self, n: int) -> tuple[FloatArray, FloatArray]:
        """Mean and variance of what candidates have over the first n incumbents, (n, len(x)) each."""
        shared = self.joint.covariance(n).T
        joint = np.maximum(self.variance + self.own[:n, None] - 2 * shared, 0.0)
        return self.mean - self.incumbents.mean[:n, None], joint

    def bound(self) -> FloatArray:
        """Log of the least improvement over one of the likeliest incumbents, (n,): no less than `exact`."""
        if self.is_first or self.is_known:
            return self.exact()
        gap, joint = self._differences(min(BOUNDING, len(self.own)))
        bounds: FloatArray = log_expected_improvement(gap, np.sqrt(joint), 0.0).min(axis=0)
        return bounds

    def rough_bound(self) -> FloatArray:
        """A number no less than `bound`, quickly, (n,)."""
        if self.is_first:
            return self.exact()
        if self.is_known:
            return log_improvement_bound(self.mean - self.incumbents.mean.max(), self.variance)
        gap, joint = self._differences(1)
        return log_improvement_bound(gap[0], joint[0])

    @cached_property
    def _drawn(self) -> tuple[FloatArray, FloatArray]:
        """The best of each draw of the incumbents' values, (n_draws, 1), and A^(-1/2) of their covariance."""
        incumbents = self.incumbents
        root, inverse_root = _square_roots(incumbents.covariance, self.cut)
        return (incumbents.mean + incumbents.draws @ root).max(axis=1, keepdims=True), inverse_root

    def exact(self, part: IntArray | None = None) -> FloatArray:
        """Log expected improvements of some of the candidates, or of all."""
        mean, variance = self.mean, self.variance
        if part is not None:
            mean, variance = mean[part], variance[part]
        if self.is_first:
            return log_expected_improvement(np.sqrt(variance), np.zeros(len(mean)), 0.0)  # log std
        incumbents = self.incumbents
        if self.is_known:
            return log_expected_improvement(mean, np.sqrt(variance), float(incumbents.mean.max()))
        draws, (bests, inverse_root) = incumbents.draws, self._drawn
        weights = self.joint.covariance(len(self.own), part) @ inverse_root  # (n, m)
        left = variance - np.einsum("ij,ij->i", weights, weights)
        std = np.sqrt(np.where(left > EXPLAINED * variance, left, 0.0))
        scores = np.empty(len(mean))
        step = max(1, ENTRIES // len(draws))
        for first in range(0, len(mean), step):
            some = slice(first, first + step)
            scores[some] = _mean_improvement(mean[some] + draws @ weights[some].T - bests, std[some])
        return scores


def _mean_improvement(gap: FloatArray, std: FloatArray) -> FloatArray:
    """Log of the mean over draws of expected improvements 0 by gap (n_draws, n) and std (n,).

    Sums of what is no tiny number are formed as they are: h(z) = phi(z) + z Phi(z) loses eps z^2 of itself.
    """
    with np.errstate(divide="ignore", invalid="ignore"):
        z = gap / std
    is_plain = (std > 0) & (z.max(axis=0) > PLAIN)
    scores = np.empty(len(std))
    plain = z if is_plain.all() else z[:, is_plain]
    plain = np.maximum(plain, ASYMPTOTIC)
    terms = np.exp(plain * plain / -2 - HALF_LOG_2_PI) + plain * ndtr(plain)
    scores[is_plain] = np.log(std[is_plain] * (terms.sum(axis=0) / len(gap)))
    if not is_plain.all():
        rest = ~is_plain
        given = log_expected_improvement(gap[:, rest], std[rest], 0.0)
        scores[rest] = np.logaddexp.reduce(given, axis=0) - np.log(len(gap))
    return scores


def _mixed(scores: list[tuple[float, FloatArray]]) -> FloatArray:
    """log of the weighted mean of exponentials."""
    if len(scores) == 1:
        return scores[0][1]
    mixed: FloatArray = np.logaddexp.reduce([log_weight + each for log_weight, each in scores], axis=0)
    return mixed


def _square_roots(covariance: FloatArray, cut: float) -> tuple[FloatArray, FloatArray]:
    """A^(1/2) and its pseudo-inverse without eigenvalues up to `cut`.

    The symmetric root is one matrix, whatever signs and bases the eigenvectors come with.
    """
    values, vectors = np.linalg.eigh((covariance + covariance.T) / 2)
    roots, kept = np.sqrt(values[values > cut]), vectors[:, values > cut]
    return (kept * roots) @ kept.T, (kept / roots) @ kept.T


@cache
def _normal_draws(n: int, dimension: int) -> FloatArray:
    """Standard normal scrambled Sobol points, (n, dimension)."""
    from scipy.stats.qmc import Sobol  # noqa: PLC0415 - scipy.stats takes most of a second to import

    uniform = Sobol(dimension, scramble=True, bits=SOBOL_BITS, seed=SOBOL_SEED).random(n)
    half_cell = 0.5 / 2**SOBOL_BITS  # keeps 0 from becoming -inf
    draws: FloatArray = ndtri(uniform + half_cell)
    read_only(draws)
    return draws


# Improvement while it is worth a look, exploration when it is not.

AFTER_ALL = 1e6  # below every mean distance: where exploring leads nowhere, improvements still decide


@explained_class
@dataclass(frozen=True, slots=True)
class RestlessImprovement:
    """Noisy expected improvement; when it comes to next to nothing, many queries go where nobody was.

    A model fitted to few values can be sure of itself and wrong, and improvement alone then never finds out:
    with fitted parameters it need not converge, unless a share of the queries does not depend on them. Every
    other query, or three of four, goes where another place brings the network nearest on average. Not so
    under much noise: there a small gain says that little is known near the best, and nothing about elsewhere.

    Parameters
    ----------
    improvement : NoisyExpectedImprovement
        Where queries go otherwise.
    worth : float
        Share of the spread of the means so far below which an expected gain has every other query explore.
    trifle : float
        Share below which three of four do; and a last place believed to gain more than that on all before
        has the search go on there.
    quiet : float
        Share of the spread up to which the standard deviation of a measurement leaves room for exploration.
    """

    hallucinates: ClassVar[bool] = True

    improvement: NoisyExpectedImprovement = field(default_factory=NoisyExpectedImprovement)
    worth: float = 0.02
    trifle: float = 0.002
    quiet: float = 0.1

    def __post_init__(self) -> None:
        require_nonnegative("worth", self.worth, "0.02 is the usual one")
        require_nonnegative("trifle", self.trifle, "0.002 is the usual one")
        require_nonnegative("quiet", self.quiet, "0.1 is the usual one")

    def least(self, means: FloatArray, noise_sd: float = 0.0) -> float:
        """The gain that must be expected, or the query explores; 0: it never does.

        means: what is believed of the places so far, in order, not their values: noise would widen the
        spread and pass for gains.
        """
        spread = float(np.ptp(means)) if len(means) > 1 else 0.0
        if not spread or noise_sd > self.quiet * spread:
            return 0.0
        if means[-1] - means[:-1].max() > self.trifle * spread:
            return 0.0
        trifle = min(self.worth, self.trifle)
        return spread * (self.worth, 0.0, self.worth, trifle)[len(means) % 4]

    def scores(self, surrogate: Surrogate, x: Points, rng: np.random.Generator) -> FloatArray:
        """Scores of the candidates, (n,)."""
        return self.begin(surrogate, rng)(x)

    def begin(self, surrogate: Surrogate, rng: np.random.Generator) -> ScoreFunction:
        """The scores of one decision, whose kind the candidates of the first question decide."""
        return _Restless(self, surrogate, rng)


class _Restless:
    """One decision: improvements, or how near a place brings the network and improvements after all."""

    def __init__(self, rule: RestlessImprovement, surrogate: Surrogate, rng: np.random.Generator) -> None:
        self.improvement = rule.improvement.begin(surrogate, rng)
        self.known, self.rng = surrogate.observations, rng
        noise_sd = math.sqrt(float(surrogate.noise.mean())) if len(self.known) else 0.0
        least = rule.least(surrogate.mean(self.known.points), noise_sd)
        self.least = math.log(least) if least > 0 else -math.inf
        self.is_exploring: bool | None = None

    def __call__(self, x: Points) -> FloatArray:
        scores, graph, is_first = self.improvement(x), x.graph, self.is_exploring is None
        if is_first:
            self.is_exploring = graph is not None and bool(scores.max(initial=-math.inf) < self.least)
        if graph is None or not self.is_exploring:
            return scores
        scores = scores - AFTER_ALL
        if is_first:
            places, far = mean_distances(graph, x, self.known.points, np.arange(len(x)), self.rng)
            scores[places] = -far / graph.diameter
        return scores
