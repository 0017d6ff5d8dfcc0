"""Conditioning, evidence, fitting of parameters."""

from netbo.posterior.base import (
    ESTIMATED,
    EvidenceDerivatives,
    EvidenceTerms,
    Gradient,
    LeaveOneOut,
    Mean,
    Posterior,
    Surrogate,
)
from netbo.posterior.condition import condition
from netbo.posterior.fitting import (
    Amplitude,
    Belief,
    Beliefs,
    Fit,
    FitBounds,
    Parameters,
    fit_parameters,
)
from netbo.posterior.joint import Joint, JointCandidates, NegatedJoint, joint_with
from netbo.posterior.mixture import MixturePosterior, parts_of, weights_by_evidence
from netbo.posterior.observations import Observations
from netbo.posterior.smoothness import SmoothnessFit, fit_smoothness

__all__ = [
    "ESTIMATED",
    "Amplitude",
    "Belief",
    "Beliefs",
    "EvidenceDerivatives",
    "EvidenceTerms",
    "Fit",
    "FitBounds",
    "Gradient",
    "Joint",
    "JointCandidates",
    "LeaveOneOut",
    "Mean",
    "MixturePosterior",
    "NegatedJoint",
    "Observations",
    "Parameters",
    "Posterior",
    "SmoothnessFit",
    "Surrogate",
    "condition",
    "fit_parameters",
    "fit_smoothness",
    "joint_with",
    "parts_of",
    "weights_by_evidence",
]
