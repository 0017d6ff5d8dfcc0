"""Which colours numbers get where they are spread unevenly."""

import numpy as np
from matplotlib.colors import Normalize, PowerNorm

from netbo.arrays import FloatArray

POWER = 0.5  # of probabilities: small ones stay visible


def probability_norm() -> Normalize:
    """Square roots from 0 to the largest value."""
    return PowerNorm(POWER, vmin=0.0)


def floored_norm(values: FloatArray, share: float) -> Normalize:
    """Even from the value that this share of the finite ones lies below, to the largest."""
    known = values[np.isfinite(values)]
    return Normalize(vmin=float(np.quantile(known, share)) if known.size else 0.0)
