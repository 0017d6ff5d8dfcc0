"""Gaussian priors on a network: one file a prior."""

from netbo.priors.base import ConstantVariance, DensePrior, KernelPrior, Prior, gaussian_samples
from netbo.priors.edgewise import LARGEST_NETWORK, EdgewisePrior, edgewise_matern
from netbo.priors.euclidean import EuclideanPrior, euclidean_matern
from netbo.priors.finite_element import (
    FiniteElementPrior,
    UnitField,
    field_columns,
    field_covariance,
    field_sources,
    interpolated_variance,
)
from netbo.priors.fractional import FractionalPrior
from netbo.priors.matern import Matern
from netbo.priors.mesh_free import ExactPrior, MeshFreeFractionalPrior, MeshFreePrior
from netbo.priors.spectral import SpectralPrior, spectral
from netbo.priors.sum import SumPrior, sum_of
from netbo.priors.whittle_matern import whittle_matern

__all__ = [
    "LARGEST_NETWORK",
    "ConstantVariance",
    "DensePrior",
    "EdgewisePrior",
    "EuclideanPrior",
    "ExactPrior",
    "FiniteElementPrior",
    "FractionalPrior",
    "KernelPrior",
    "Matern",
    "MeshFreeFractionalPrior",
    "MeshFreePrior",
    "Prior",
    "SpectralPrior",
    "SumPrior",
    "UnitField",
    "edgewise_matern",
    "euclidean_matern",
    "field_columns",
    "field_covariance",
    "field_sources",
    "gaussian_samples",
    "interpolated_variance",
    "spectral",
    "sum_of",
    "whittle_matern",
]
