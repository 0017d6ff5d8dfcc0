"""Conditioning, evidence, fitting of parameters."""

from netbo.posterior.condition import condition
from netbo.posterior.fitting import Amplitude, Fit, FitBounds, fit_parameters
from netbo.posterior.observations import Observations
from netbo.posterior.posterior import ESTIMATED, EvidenceDerivatives, EvidenceTerms, Gradient, Mean, Posterior

__all__ = [
    "ESTIMATED",
    "Amplitude",
    "EvidenceDerivatives",
    "EvidenceTerms",
    "Fit",
    "FitBounds",
    "Gradient",
    "Mean",
    "Observations",
    "Posterior",
    "condition",
    "fit_parameters",
]
