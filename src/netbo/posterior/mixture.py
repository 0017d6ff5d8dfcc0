"""Several posteriors of the same observations, weighted: when more than one model is believed."""

from collections.abc import Callable
from dataclasses import dataclass, replace
from typing import Protocol, Self, runtime_checkable

import numpy as np
from numpy.typing import ArrayLike

from netbo.arrays import FloatArray, as_float_vector, read_only
from netbo.checks import explained
from netbo.errors import ObservationError, ParameterError
from netbo.geometry import Points
from netbo.posterior.base import LeaveOneOut, Posterior, Surrogate, describe, describe_in_html
from netbo.posterior.observations import Observations
from netbo.priors import Prior

WEIGHTS_TOLERANCE = 1e-9  # by which weights may miss the sum 1
NEGLIGIBLE = 1e-3  # weight of a model that is not asked where to measure next


@dataclass(frozen=True, eq=False, repr=False)
class MixturePosterior:
    """The field of component i with probability w_i; its moments are those of the mixture.

    m = sum_i w_i m_i and cov(x, y) = sum_i w_i (cov_i(x, y) + (m_i(x) - m(x)) (m_i(y) - m(y))).
    """

    components: tuple[Posterior, ...]
    weights: FloatArray  # probabilities of the components, summing to 1

    def __post_init__(self) -> None:
        weights = as_float_vector(self.weights, "weights", ParameterError)
        if not self.components or len(weights) != len(self.components):
            raise ParameterError(
                f"a mixture needs at least one component and a weight for each, got "
                f"{len(self.components)} components and {len(weights)} weights; see weights_by_evidence"
            )
        if not (np.all(weights >= 0) and abs(weights.sum() - 1) <= WEIGHTS_TOLERANCE):
            raise ParameterError(
                f"weights must not be negative and sum to 1, got {weights.tolist()}; "
                "divide them by their sum, or see weights_by_evidence"
            )
        for component in self.components[1:]:
            _require_same(self.observations, component.observations)
        object.__setattr__(self, "components", tuple(self.components))
        object.__setattr__(self, "weights", read_only(weights))

    def __repr__(self) -> str:
        return describe(self)

    def _repr_html_(self) -> str:
        return describe_in_html(self)

    @property
    def heaviest(self) -> Posterior:
        """The component with the largest weight, the first of equals."""
        return self.components[int(np.argmax(self.weights))]

    @property
    def observations(self) -> Observations:
        """What all components were conditioned on."""
        return self.components[0].observations

    @property
    def prior(self) -> Prior:
        """The prior of the heaviest component."""
        return self.heaviest.prior

    @property
    def regularization(self) -> float | None:
        """The noise variance of observations without their own, in the heaviest component."""
        return self.heaviest.regularization

    @property
    def noise(self) -> FloatArray:
        """Noise variance of every observation, (n,), weighted over the components."""
        return self._weighted(lambda component: component.noise)

    @property
    def estimated_mean(self) -> float:
        """The constant mean, weighted over the components."""
        return float(self.weights @ [component.estimated_mean for component in self.components])

    def _weighted(self, question: Callable[[Posterior], FloatArray]) -> FloatArray:
        """sum_i w_i question(component_i); a component without weight is not asked."""
        answers = (w * question(c) for c, w in zip(self.components, self.weights, strict=True) if w > 0)
        total: FloatArray = next(answers)
        for answer in answers:
            total = total + answer
        return total

    def mean(self, x: Points) -> FloatArray:
        """Mean of the mixture, (n,)."""
        return self._weighted(lambda component: component.mean(x))

    def variance(self, x: Points) -> FloatArray:
        """Variance within the components plus that between their means, (n,)."""
        mean = self.mean(x)
        return self._weighted(lambda component: component.variance(x) + (component.mean(x) - mean) ** 2)

    def std(self, x: Points) -> FloatArray:
        """Standard deviation of the objective (not of a new measurement), (n,)."""
        return np.sqrt(self.variance(x))

    def covariance(self, x: Points, y: Points) -> FloatArray:
        """Covariance within the components plus that between their means, (n, m)."""
        at_x, at_y = self.mean(x), self.mean(y)

        def about_the_mean(component: Posterior) -> FloatArray:
            between = np.outer(component.mean(x) - at_x, component.mean(y) - at_y)
            return component.covariance(x, y) + between

        return self._weighted(about_the_mean)

    def sample(
        self, x: Points, rng: np.random.Generator, *, scale: float = 1.0, n: int | None = None
    ) -> FloatArray:
        """A sample path at x, (len(x),); n paths, (n, len(x)): each of a component drawn by its weight.

        scale: multiplies the deviation from the mean of the mixture, so also that of the component's mean.
        """
        paths = np.empty((1 if n is None else n, len(x)))
        drawn = rng.choice(len(self.components), size=len(paths), p=self.weights)
        for index in np.unique(drawn):
            mine = drawn == index
            paths[mine] = self.components[index].sample(x, rng, n=int(mine.sum()))
        mean = self.mean(x)
        paths = mean + scale * (paths - mean)
        return paths[0] if n is None else paths

    def information_gain(self) -> float:
        """Mutual information of data and field, weighted over the components (rmk:maximin design).

        What the data say of the weights is not in it.
        """
        return float(self.weights @ [component.information_gain() for component in self.components])

    def leave_one_out(self) -> LeaveOneOut:
        """Mean and variance of every measurement given all others, weights and parameters as they are.

        inf and NaN where a component with weight has them.
        """
        answers = [c.leave_one_out() for c, w in zip(self.components, self.weights, strict=True) if w > 0]
        weights = self.weights[self.weights > 0]
        means = np.array([answer.mean for answer in answers])
        variances = np.array([answer.variance for answer in answers])
        mean = weights @ means
        variance = weights @ (variances + (means - mean) ** 2)
        return LeaveOneOut(mean, np.where(np.isnan(mean), np.inf, variance))

    def parts(self) -> list[tuple[float, Surrogate]]:
        """The components with their weights, without those that hardly count."""
        return [(float(w), c) for c, w in zip(self.components, self.weights, strict=True) if w > NEGLIGIBLE]

    def extend(self, new: Observations) -> Self:
        """The mixture after more observations, parameters and weights as they are."""
        return replace(self, components=tuple(component.extend(new) for component in self.components))


@runtime_checkable
class Mixed(Protocol):
    """A surrogate of several models."""

    def parts(self) -> list[tuple[float, Surrogate]]:
        """Each model with its weight."""


def parts_of(surrogate: Surrogate) -> list[tuple[float, Surrogate]]:
    """The models of a mixture with their weights, or the surrogate itself with weight 1."""
    return surrogate.parts() if isinstance(surrogate, Mixed) else [(1.0, surrogate)]


@explained
def weights_by_evidence(log_evidences: ArrayLike) -> FloatArray:
    """Probabilities of models that were equally likely before the data: exp(log p_i) / sum_j exp(log p_j).

    >>> weights_by_evidence([-1000.0, -1000.0]).tolist()
    [0.5, 0.5]
    """
    logs = as_float_vector(log_evidences, "log evidences", ParameterError)
    if not len(logs) or not np.isfinite(logs.max()):
        raise ParameterError(
            f"log evidences must be numbers, at least one of them finite, got {logs.tolist()}; "
            "leave out models that failed"
        )
    odds = np.exp(logs - logs.max())
    weights: FloatArray = odds / odds.sum()
    return weights


def _require_same(one: Observations, other: Observations) -> None:
    """Refuse components that saw different data."""
    is_same = (
        one.points == other.points
        and np.array_equal(one.values, other.values)
        and np.array_equal(one.noise, other.noise, equal_nan=True)
    )
    if not is_same:
        raise ObservationError(
            f"components of a mixture must have the same observations, got {len(one)} and {len(other)} "
            "that differ; condition each prior on all of them"
        )
