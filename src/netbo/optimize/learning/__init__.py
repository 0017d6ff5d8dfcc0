"""How a surrogate comes from data."""

from netbo.optimize.learning.known import Known
from netbo.optimize.learning.learned import Combination, Learned
from netbo.optimize.learning.protocol import NUGGET, Learner, Learning, Outcome
from netbo.optimize.learning.regularization import (
    FixedRegularization,
    GrowingConfidence,
    NoiseVariance,
    RegularizationRule,
)

__all__ = [
    "NUGGET",
    "Combination",
    "FixedRegularization",
    "GrowingConfidence",
    "Known",
    "Learned",
    "Learner",
    "Learning",
    "NoiseVariance",
    "Outcome",
    "RegularizationRule",
]
