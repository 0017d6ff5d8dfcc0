"""The noise of a measurement that has not been made yet."""

from typing import Any

import numpy as np

from netbo.errors import ObservationError
from netbo.optimize.surrogate import Negated
from netbo.posterior import Surrogate


def new_noise(surrogate: Surrogate) -> float:
    """Noise variance expected of a new measurement: the common one, or the mean of those of their own."""
    common = common_noise(surrogate)
    if common is not None:
        return common
    if not len(surrogate.noise):
        raise ObservationError(
            "the noise of a new measurement is not known, got a model without observations and without "
            "regularization; pass the variances as a tensor"
        )
    return float(surrogate.noise.mean())


def common_noise(surrogate: Surrogate) -> float | None:
    """Noise variance of observations without their own; None if the model has none."""
    has_own = surrogate.observations.has_own_noise
    if not has_own.all():
        return float(surrogate.noise[np.argmin(has_own)])
    upright: Any = surrogate.base if isinstance(surrogate, Negated) else surrogate
    regularization = getattr(upright, "regularization", None)
    return None if regularization is None else float(regularization)
