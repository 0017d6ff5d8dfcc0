"""Conditioning, evidence, fitting of parameters."""

from netbo.posterior.beliefs import Belief, Beliefs
from netbo.posterior.condition import condition
from netbo.posterior.fitting import Amplitude, Fit, FitBounds, Parameters, fit_parameters
from netbo.posterior.leave_one_out import LeaveOneOut
from netbo.posterior.mixture import MixturePosterior, weights_by_evidence
from netbo.posterior.observations import Observations
from netbo.posterior.posterior import ESTIMATED, EvidenceDerivatives, EvidenceTerms, Gradient, Mean, Posterior
from netbo.posterior.smoothness import SmoothnessFit, fit_smoothness
from netbo.posterior.surrogate import Surrogate

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
    "LeaveOneOut",
    "Mean",
    "MixturePosterior",
    "Observations",
    "Parameters",
    "Posterior",
    "SmoothnessFit",
    "Surrogate",
    "condition",
    "fit_parameters",
    "fit_smoothness",
    "weights_by_evidence",
]
